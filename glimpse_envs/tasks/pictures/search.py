"""Search: find the image of the class that is asked for, and stop there."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from gymnasium import spaces

from glimpse_envs.core.arguments import check_choice
from glimpse_envs.core.arrays import Bools, Floats, Ints
from glimpse_envs.core.boxes import middles_of
from glimpse_envs.sources import SPLITS
from glimpse_envs.task import Arrays, Component, Outcome, Rows
from glimpse_envs.tasks.pictures.search_returns import SearchReturns
from glimpse_envs.vision.picture_task import LOOKS, VIEWS, Looking, PictureTask
from glimpse_envs.vision.scenes.image_search import ImageSearch
from glimpse_envs.vision.sensors.retina import Retina

if TYPE_CHECKING:
    from glimpse_envs.rendering import Picture


class Search(PictureTask):
    """Find the image of the class that is asked for among others, and stop there.

    ## Description

    The scene shows `images` images that do not overlap, on black. Each observation names a class.
    Exactly one of the images is of this class: the target. Nothing is answered. The agent takes
    glimpses, and stops when its gaze, the location of its latest glimpse, lies on the target.

    The target's location is uniform over all at which it lies completely in the scene; each other
    image's is uniform over those at which it overlaps none of the images placed before it. The
    others are of other classes than the target's, and several of them may be of one class.

    The finest window of a glimpse is less than half as wide as a digit of 28 pixels, as in
    ClutteredMNIST. The coarsest of five windows has 192 pixels, four fifths of the scene's side. In
    it a digit is one or two cells wide: enough to see where something is, but not what.

    ## Action Space

    A `Dict`:

    - `look`: where to take the next glimpse. With `look="continuous"` a location (x, y) in [-1, 1],
      where (-1, -1) is the scene's top-left corner and (1, 1) its bottom-right corner; with
      `"tiles"` the number of a tile, row by row; with `"relative"` a move, projected into the unit
      disc and scaled by `max_move`. With `inside=True` [-1, 1] spans the places from which all of a
      glimpse lies in the scene, and a tile is seen from the nearest of them.
    - `stop`: 1 ends the episode where the gaze is now.

    With `view="full"` there is only `look`, a location or a tile, which points at the target.

    ## Observation Space

    A `Dict` of float32:

    - `glimpse`, in [0, 1], from the retina: (K C, g, g), scale by scale, finest first, each with
      its C channels. Scale k shows a window of side g 2**k pixels; what lies outside the scene is
      0.
    - `question` (classes,): the class that is searched for, one-hot, at every step.
    - `location` (2,): where the glimpse was taken.
    - `remaining` (1,): glimpses left / budget.
    - `context` (C, 12, 12), with `context=True`: the whole scene in area means, with the first
      glimpse, and zeros later. It is DRAM's context, which serves to choose looks, not answers.

    With `history=True`, `glimpse` (T, ...) and `location` (T, 2) hold all glimpses so far, and
    zeros where none was taken yet. With `view="full"` there are only `scene` (C, H, W) and
    `question`.

    ## Rewards

    1 for stopping with the gaze in the target's box (left and top edges included), 0 for stopping
    elsewhere or not at all. With `view="full"`, 1 for a look in the box. `glimpse_cost` is
    subtracted for every glimpse after the first.

    ## Episode End

    The first glimpse is given by `reset`, at a uniformly random location, and counts towards the
    `budget` T. An episode ends when the agent stops, or with the T-th action, which may still be a
    stop. A spent budget terminates the episode, because the agent can see it. Episodes are never
    truncated.

    ## Information

    After a step:

    - `success`: whether the agent has stopped on the target.
    - `target`, not with `view="full"`: 1 where the gaze lay on the target, so that the action
      should have stopped, and 0 elsewhere.
    - `target_mask`, not with `view="full"`: True.

    Always:

    - `target_box` (4,): x0, y0, x1, y1 of the target in look coordinates.
    - `scene`, in a fixed split: the scene's number.
    - `waiting`, with `copies` of more than 1: whether the row waits because its episode has ended
      and that of a copy has not.

    ## References

    The scene is this suite's; its glimpses are those of Mnih et al., Recurrent Models of Visual
    Attention, NIPS 2014.

    ## Version History

    v0: initial version.

    Args:
        source: "glyphs" (built in), "mnist", or another source of at least two classes (see
            `ImageClassification`).
        split: "train" deals new scenes without end; under "validation" and "test" image k is scene
            k's target; scenes are dealt in turn, and after the last from 0 again.
        scene_size: the scene's side in pixels.
        images: their number, the target included.
        budget: T, glimpses in an episode, the first included.
        glimpse_size: g, the side of a glimpse in cells.
        scales: K, each covering twice the side of the last; None: the fewest of which the widest is
            1.6 times as wide as the scene, and shows nearly all of it from any place.
        glimpse_cost: price of a glimpse, >= 0.
        **looking: inside, look, max_move, view, history and context, as of `PictureTask`.

    Raises:
        ValueError: an argument is out of its range or does not fit the others; the images may find
            no room.
        glimpse_envs.sources.SourceError: files are missing or damaged, or a class has no image (at
            the first reset).
    """

    how_to_play = (
        "Look around until the gaze, the middle of the glimpse, lies on what is asked for, and "
        "stop there."
    )

    def __init__(
        self,
        *,
        source: str = "glyphs",
        split: str = "train",
        scene_size: int = 240,
        images: int = 12,
        budget: int = 16,
        glimpse_size: int = 12,
        scales: int | None = 5,
        glimpse_cost: float = 0.0,
        **looking: Unpack[Looking],
    ) -> None:
        check_choice("split", split, SPLITS)
        check_choice("view", looking.get("view", VIEWS[0]), VIEWS)
        check_choice("look", looking.get("look", LOOKS[0]), LOOKS)
        full = looking.get("view") == "full"
        if full and looking.get("look") == "relative":
            raise ValueError(
                "view='full' points at a place, and has no gaze to move: choose look='continuous' "
                "or 'tiles'"
            )
        scene = ImageSearch(split=split, source=source, scene_size=scene_size, images=images)
        super().__init__(
            scene,
            sensor=Retina(scene.shape, glimpse_size=glimpse_size, scales=scales),
            budget=budget,
            stop=not full,
            glimpse_cost=glimpse_cost,
            **looking,
        )
        self.question, self._names = scene.question, scene.answers
        self._levels = SearchReturns(
            self._view, scene.image_shape, self.glimpse_cost, self.budget > 1, self._full
        )
        look_space = self._view.action_space
        self.components = {"look": Component(look_space)}
        if not self._full:
            # With a spent budget a stop still counts: it says that the gaze lies on the target.
            stop = Component(spaces.Discrete(2), taught=True, ending=1)
            self.components = {"look": Component(look_space, effect="continuing"), "stop": stop}

    @classmethod
    def in_full_view(cls, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of the full view, in which moves become locations."""
        kept = super().in_full_view(arguments)
        if kept.get("look") != "relative":
            return kept
        return {name: value for name, value in kept.items() if name not in ("look", "max_move")}

    def _further_parts(self) -> dict[str, spaces.Box]:
        classes = len(self._hidden.answers)
        return {"question": spaces.Box(0.0, 1.0, (classes,), np.float32)}

    @property
    def chance(self) -> float:
        """Mean return of the best blind policy: it goes where the target is likeliest, and stops.
        With relative looks it is an upper bound."""
        return self._levels.chance

    @property
    def ceiling(self) -> float:
        """Mean return of looking at the target and stopping. With relative looks it is an upper
        bound: it takes moves, which may cost or be too few, to get there."""
        return self._levels.ceiling

    def act(self, rows: Rows, actions: Arrays, last: Bools) -> Outcome:
        if self._full:
            aimed = self._view.space.to_pixels(self._view.places_of(actions["look"])[rows])
            found = self._within_target(rows, aimed)
            self._answers[rows] = found
            return Outcome(found.astype(np.float64), success=found)
        stopped = actions["stop"][rows] == 1
        there = self._within_target(rows, self._gaze.centres[rows])
        found = stopped & there
        self._answers[rows] = np.where(stopped, found, -1)
        always = np.ones(len(rows), np.bool_)
        return Outcome(found.astype(np.float64), found, there.astype(np.int64), always)

    def _within_target(self, rows: Rows, gazes: Floats) -> Bools:
        """Return whether `gazes` (m, 2), (x, y) in pixels, lie on the targets of `rows` (m,)."""
        boxes = self._stage.boxes[self._stage.scene_of[rows]]
        return np.asarray(((boxes[:, :2] <= gazes) & (gazes < boxes[:, 2:])).all(axis=1))

    def _further(self, rows: Rows) -> Arrays:
        classes = np.eye(len(self._names), dtype=np.float32)
        return {"question": classes[self._labels_of(rows)]}

    def _labels_of(self, rows: Rows) -> Ints:
        return self._stage.labels[self._stage.scene_of[rows]]

    def oracle(self) -> Arrays:
        rows = np.arange(len(self._taken))
        boxes = self._target_boxes[self._stage.scene_of].astype(np.float64)
        looks = self._view.looks_at(middles_of(boxes), self._gaze.locations)
        if self._full:
            return {"look": looks}
        stop = self._within_target(rows, self._gaze.centres)
        if self._view.look != "relative":  # a look that misses the target is not worth its price
            aimed = self._view.space.to_pixels(self._view.places_of(looks))
            stop |= ~self._within_target(rows, aimed) | (self.glimpse_cost >= 1.0)
        return {"look": looks, "stop": stop.astype(np.int64)}

    def state_bounds(self) -> dict[str, tuple[float, float]]:
        return super().state_bounds() | {"answers": (-1, 1)}

    def picture(self, row: int, caption: str) -> "Picture":
        (label,), answer = self._labels_of(np.array([row])), int(self._answers[row])
        target = f"on {self._names[label]}"
        return self.picture_of(
            row,
            caption,
            question=f"Where is {self._names[label]}?",
            answer=(None, "elsewhere", target)[answer + 1],
            target=target,
            boxes=self._stage.boxes[[int(self._stage.scene_of[row])]],
        )
