"""Which class is it? Pictures that the agent sees through glimpses."""

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.arguments import check_choice, check_flags, check_integers, is_number
from glimpse_envs.core.geometry import LookSpace
from glimpse_envs.core.keys import Keys
from glimpse_envs.core.randomness import draw_starts
from glimpse_envs.sources import SPLITS
from glimpse_envs.task import Arrays, Judgement, Rows, Task
from glimpse_envs.vision.gaze import Gaze
from glimpse_envs.vision.scenes import make_scene
from glimpse_envs.vision.scenes.stage import Stage
from glimpse_envs.vision.sensors import make_sensor

if TYPE_CHECKING:
    from glimpse_envs.rendering import Picture


class ImageClassification(Task):
    """Say which class a picture belongs to, seeing it only through glimpses of your choice.

    ## Description

    A picture is hidden: an image of a source, centred, at a uniform place, or among pieces of other
    images. The agent looks at one place a step, sees a retina's view of it (fine in the middle,
    coarser around) and says at every step which class it believes the picture to belong to. The
    tasks are those of Recurrent Models of Visual Attention (Mnih et al., NIPS 2014), and
    CircleSquare of ap_gym (APPLE, ICLR 2026).

    ## Action Space

    `Dict`: `look`, where to take the next glimpse: with `look="continuous"` a place (x, y) in
    [-1, 1], where (-1, -1) is the scene's top-left corner, or, with `inside=True`, the place
    nearest to it at which the whole glimpse lies inside; with `"tiles"` the number of a tile, row
    by row; with `"relative"` a move, projected into the unit disc and scaled by `max_move`.
    `answer`: the class. With `stop=True` also `stop`: 1 ends the episode with this answer.

    ## Observation Space

    `Dict` of float32: `glimpse` in [0, 1], (K C, g, g): scale by scale, finest first, each with its
    C channels, zeros outside the scene; scale k shows a window of side g 2**k pixels. `location`
    (2,): where it was taken. `remaining` (1,): glimpses left / budget. With `history=True`,
    `glimpse` (T, K C, g, g) and `location` (T, 2) hold all glimpses so far, zeros where none was
    taken yet.
    With `view="full"` `scene` (C, H, W) alone, and an episode is one answer.

    ## Rewards

    `reward="final"`: 1 for a right answer at the episode's last step. `reward="dense"`: 1 / T for
    every right answer. `glimpse_cost` is subtracted for every glimpse after the first.

    ## Episode End

    The first glimpse is given by `reset`, at a uniform place, and counts towards the `budget` T. An
    episode is T steps, or fewer with `stop`; the look of the last step is ignored. A spent budget
    terminates: the agent can see it. Episodes are never truncated.

    ## Information

    After a step `target`, the right answer, and `target_mask`, whether the answer counted; always
    `target_box` (4,): x0, y0, x1, y1 of the evidence in look coordinates (it may stick out of
    [-1, 1]); in a fixed split `scene`, the scene's number; with `copies` of more than 1 `waiting`,
    whether the row stood still because its episode has ended and that of a copy has not.

    ## References

    Mnih et al., Recurrent Models of Visual Attention, NIPS 2014; for CircleSquare APPLE (ICLR
    2026), whose environment is ap_gym's.

    ## Version History

    v0: first.

    Args:
        source: "glyphs" (built in), "mnist", "fashion_mnist", "cifar10", "circle_square", or
            "folder:PATH", a folder of class-named folders of images.
        split: "train" deals fresh scenes for ever; under "validation" and "test" scene k is image
            k, dealt once each.
        scene_size: the scene's side in pixels.
        clutter: pieces of other images in the scene.
        clutter_size: a piece's side in pixels.
        budget: T, glimpses in an episode, the first included.
        glimpse_size: g, the side of a glimpse in cells.
        scales: K, each covering twice the side of the last.
        sensor: "retina", the only one yet.
        inside: keep the whole glimpse inside the scene.
        look: "continuous", "tiles" or "relative".
        max_move: the longest relative move, in look coordinates.
        reward: "final" or "dense".
        view: "glimpse", or "full" for the whole scene in one step.
        history: observe all glimpses so far.
        stop: let the agent end the episode.
        glimpse_cost: price of a glimpse, >= 0.

    Raises:
        ValueError: an argument is not one of these or does not fit the others.
        glimpse_envs.sources.SourceError: files are missing or damaged (at the first reset).
    """

    scene_shape: tuple[int, int, int]
    """(C, H, W) of what is hidden, in pixels."""
    look_kind: str
    """What a look is: "continuous", "tiles" or "relative"."""
    tile_locations: NDArray[np.float64]
    """(n, 2) in [-1, 1], (x, y) of the tiles' centres, row by row, whatever `look_kind` is."""
    window_sides: tuple[float, ...]
    """In pixels, of each of the windows that a glimpse shows, finest first."""
    glimpse_size: int
    """g, the side of each window in cells."""
    look_margin: float
    """Pixels along the scene's edges that looks in [-1, 1] leave out."""
    max_move: float
    """The longest relative move, in look coordinates, whatever `look_kind` is."""
    class_names: tuple[str, ...]
    """What the answers stand for."""

    def __init__(
        self,
        *,
        source: str,
        split: str = "train",
        scene_size: int,
        clutter: int = 0,
        clutter_size: int = 8,
        budget: int,
        glimpse_size: int,
        scales: int,
        sensor: str = "retina",
        inside: bool = False,
        look: str = "continuous",
        max_move: float = 0.2,
        reward: str = "final",
        view: str = "glimpse",
        history: bool = False,
        stop: bool = False,
        glimpse_cost: float = 0.0,
    ) -> None:
        check_choice("split", split, SPLITS)
        check_choice("look", look, ("continuous", "tiles", "relative"))
        check_choice("reward", reward, ("final", "dense"))
        check_choice("view", view, ("glimpse", "full"))
        check_integers(1, scene_size=scene_size, clutter_size=clutter_size, budget=budget)
        check_integers(1, glimpse_size=glimpse_size, scales=scales)
        check_integers(0, clutter=clutter)
        check_flags(inside=inside, history=history, stop=stop)
        if scales > 12:
            raise ValueError(f"scales={scales} must be at most 12: scale k is 2**k pixels a cell")
        if not is_number(max_move) or not 0.0 < max_move <= 2.0:
            raise ValueError(
                f"max_move={max_move!r} must be a number above 0 and at most 2, the whole scene"
            )
        if not is_number(glimpse_cost) or not 0.0 <= glimpse_cost < np.inf:
            raise ValueError(f"glimpse_cost={glimpse_cost!r} must be a number of at least 0")
        if view == "full" and (history or stop or glimpse_cost):
            raise ValueError("view='full' shows no glimpses: leave history, stop and glimpse_cost")

        self._scene = make_scene(source, split, scene_size, clutter, clutter_size)
        seeing = make_sensor(sensor, self._scene.shape, glimpse_size, scales)
        self.scene_shape = self._scene.shape
        self.look_margin = max(seeing.sides) / 2 if inside else 0.0
        self._space = LookSpace(*self._scene.shape[1:], self.look_margin)
        self.window_sides, self.glimpse_size = seeing.sides, int(glimpse_size)
        self.tile_locations = self._space.tile_centres(glimpse_size)
        self._full, self._with_history = view == "full", history
        # The full view reads no glimpses: the coarser scales need not be summed for it.
        self._sensor = (
            make_sensor(sensor, self._scene.shape, glimpse_size, 1) if self._full else seeing
        )
        self.look_kind, self.max_move, self._dense = look, max_move, reward == "dense"
        self.budget = 1 if self._full else int(budget)
        self.glimpse_cost = float(glimpse_cost)
        self.answer_reward = 1.0 / self.budget if self._dense else 1.0
        self.class_names = self._scene.class_names
        self.action_space = self._make_action_space(stop)
        self.observation_space = self._make_observation_space()

    @property
    def num_scenes(self) -> int | None:
        return self._scene.num_scenes

    def _make_action_space(self, stop: bool) -> spaces.Dict:
        answer = spaces.Discrete(len(self.class_names))
        if self._full:
            return spaces.Dict(answer=answer)
        look: spaces.Space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        if self.look_kind == "tiles":
            look = spaces.Discrete(len(self.tile_locations))
        if stop:
            return spaces.Dict(look=look, answer=answer, stop=spaces.Discrete(2))
        return spaces.Dict(look=look, answer=answer)

    def _make_observation_space(self) -> spaces.Dict:
        def box(low: float, *shape: int) -> spaces.Box:
            return spaces.Box(low, 1.0, shape, np.float32)

        if self._full:
            return spaces.Dict(scene=box(0.0, *self._scene.shape))
        steps = (self.budget,) if self._with_history else ()
        return spaces.Dict(
            glimpse=box(0.0, *steps, *self._sensor.glimpse_shape),
            location=box(-1.0, *steps, 2),
            remaining=box(0.0, 1),
        )

    def allocate(self, num_envs: int, copies: int) -> None:
        self._copies = copies
        self._stage = Stage(self._scene, self._sensor, num_envs, copies)
        self.budgets = np.full(num_envs, self.budget)
        groups = num_envs // copies
        self._target_boxes = np.zeros((groups, 4), np.float32)  # in look coordinates
        self._starts = np.zeros((groups, 2))
        self._indices = np.full(groups, -1, np.int64)
        max_move = self.max_move if self.look_kind == "relative" else 0.0
        self._gaze = Gaze(num_envs, self.budget, self._space, max_move)
        self._answers = np.full(num_envs, -1, np.int64)
        if self._with_history:
            shape = (num_envs, self.budget, *self._sensor.glimpse_shape)
            self._glimpses = np.zeros(shape, np.float32)
            self._seen_from = np.zeros((num_envs, self.budget, 2), np.float32)

    def deal(self, groups: Rows, keys: Keys) -> None:
        self._stage.draw(groups, keys)
        streams = (keys.seeds, keys.streams, keys.episodes, keys.indices)
        draw_starts(groups, streams, self._starts)
        self._indices[groups] = keys.indices[groups]
        corners = self._space.to_locations(self._stage.boxes[groups].reshape(-1, 2, 2))
        self._target_boxes[groups] = corners.reshape(-1, 4)
        rows = groups
        if self._copies > 1:
            rows = (groups[:, None] * self._copies + np.arange(self._copies)).ravel()
        starts = self._starts
        if self.look_kind == "tiles":
            tiles = (starts[:, 0] + 1) / 2 * len(self.tile_locations)
            starts = self.tile_locations[tiles.astype(np.int64)]
        self._gaze.start(rows, starts, self._copies)
        self._answers[rows] = -1
        if self._with_history:
            self._glimpses[rows] = 0.0
            self._seen_from[rows] = 0.0
            self._remember(rows)

    def look(self, rows: Rows, actions: Arrays, taken: NDArray[np.int64]) -> None:
        looks = actions["look"]
        if self.look_kind == "tiles":
            looks = self.tile_locations[looks]
        self._gaze.move(rows, looks)
        if self._with_history:
            self._remember(rows)

    def _remember(self, rows: Rows) -> None:
        latest = self._gaze.taken[rows] - 1
        self._glimpses[rows, latest] = self._stage.read(rows, self._gaze.centres)
        self._seen_from[rows, latest] = self._gaze.locations[rows]

    def judge(self, rows: Rows, actions: Arrays, last: NDArray[np.bool_]) -> Judgement:
        target = self._stage.labels[self._stage.group_of[rows]]
        self._answers[rows] = actions["answer"][rows]
        right = self._answers[rows] == target
        if self._dense:
            return Judgement(right / self.budget, target, np.ones(len(rows), np.bool_))
        return Judgement((right & last).astype(np.float64), target, last)

    def observe(self, rows: Rows, remaining: NDArray[np.float32]) -> Arrays:
        if self._full:
            return {"scene": self._stage.whole(self._stage.group_of[rows])}
        if self._with_history:
            return {
                "glimpse": self._glimpses[rows],
                "location": self._seen_from[rows],
                "remaining": remaining,
            }
        return {
            "glimpse": self._stage.read(rows, self._gaze.centres),
            "location": self._gaze.locations[rows].astype(np.float32),
            "remaining": remaining,
        }

    def evidence(self, rows: Rows) -> Arrays:
        groups = self._stage.group_of[rows]
        evidence: Arrays = {"target_box": self._target_boxes[groups]}
        if self.num_scenes is not None:
            evidence["scene"] = self._indices[groups]
        return evidence

    def _state(self) -> Arrays:
        gaze = self._gaze
        state: Arrays = {
            "locations": gaze.locations,
            "centres": gaze.centres,
            "path": gaze.path,
            "taken": gaze.taken,
            "answers": self._answers,
        }
        if self._with_history:
            state |= {"glimpses": self._glimpses, "seen_from": self._seen_from}
        return state

    def state_dict(self) -> dict[str, Any]:
        return {name: value.copy() for name, value in self._state().items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for name, value in self._state().items():
            value[:] = state[name]

    def picture(self, row: int, caption: str) -> "Picture":
        from glimpse_envs.rendering import Picture

        stage, answer = self._stage, int(self._answers[row])
        group = int(stage.group_of[row])
        glimpse = np.zeros((0, 1, 1), np.float32)
        if not self._full:
            (glimpse,) = stage.read(np.array([row]), self._gaze.centres)
        return Picture(
            scene=stage.whole(np.array([group]))[0],
            path=self._gaze.path[row, : self._gaze.taken[row]],
            sides=() if self._full else self._sensor.sides,
            glimpse=glimpse,
            answer=None if answer < 0 else self.class_names[answer],
            target=self.class_names[stage.labels[group]],
            caption=caption,
        )
