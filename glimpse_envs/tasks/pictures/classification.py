"""Classification of a picture that is seen through glimpses."""

from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces

from glimpse_envs.core.arguments import check_choice, check_integers
from glimpse_envs.core.arrays import Bools
from glimpse_envs.sources import SPLITS
from glimpse_envs.task import COMPONENTS, Arrays, Component, Outcome, Rows
from glimpse_envs.vision.picture_task import PictureTask
from glimpse_envs.vision.scenes import make_scene

if TYPE_CHECKING:
    from glimpse_envs.rendering import Picture


class ImageClassification(PictureTask):
    """Answer with the class of a picture that is seen through glimpses of the agent's choice.

    ## Description

    A picture is hidden: an image of a source, centred, at a uniform place, or among pieces of other
    images. The agent looks at one place a step, sees a retina's view of it (fine in the middle,
    coarser around) and answers at every step with a class. The tasks are those of Recurrent Models
    of Visual Attention (Mnih et al., NIPS 2014), and CircleSquare of ap_gym (APPLE, ICLR 2026).

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

    After a step `target`, the right answer, `target_mask`, whether the answer was scored,
    and `success`, whether it was right; always `target_box` (4,): x0, y0, x1, y1 of the target in
    look coordinates (it may stick out of [-1, 1]); in a fixed split `scene`, the scene's number;
    with `copies` of more than 1 `waiting`, whether the row stood still because its episode has
    ended and that of a copy has not.

    ## References

    Mnih et al., Recurrent Models of Visual Attention, NIPS 2014; for CircleSquare APPLE (ICLR
    2026), whose environment is ap_gym's.

    ## Version History

    v0: first.

    Args:
        source: "glyphs" (built in), "mnist", "fashion_mnist", "cifar10", "circle_square", or
            "folder:PATH", a folder of class-named folders of images ("folder:PATH?resize=28" where
            their sizes differ), or a name given to `glimpse_envs.sources.from_arrays` or
            `from_dataset` in this process.
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
        check_choice("reward", reward, ("final", "dense"))
        check_integers(1, scene_size=scene_size, clutter_size=clutter_size)
        check_integers(0, clutter=clutter)
        scene = make_scene(source, split, scene_size, clutter, clutter_size)
        super().__init__(
            scene,
            sensor=sensor,
            glimpse_size=glimpse_size,
            scales=scales,
            inside=inside,
            look=look,
            max_move=max_move,
            budget=budget,
            view=view,
            history=history,
            stop=stop,
            glimpse_cost=glimpse_cost,
            class_names=scene.class_names,
        )
        self._dense = reward == "dense"
        self.answer_reward = self._paid = 1.0 / self.budget if self._dense else 1.0
        self._class_names = scene.class_names
        answer = Component(
            spaces.Discrete(len(scene.class_names)), effect="scored", taught=True, entropy=False
        )
        parts = self.look_components | {"answer": answer}
        self.components = {name: parts[name] for name in COMPONENTS if name in parts}

    @property
    def chance(self) -> float:
        """Mean return of answering any one class in the fewest glimpses."""
        return self._return_of(1.0 / len(self._class_names))

    @property
    def ceiling(self) -> float:
        """Mean return of answers that are all right."""
        return self._return_of(1.0)

    def _return_of(self, accuracy: float) -> float:
        """Return the best mean return of answers that are right with probability `accuracy`."""
        in_full = accuracy - self.glimpse_cost * (self.budget - 1)
        if not self._stop:
            return in_full
        return max(in_full, accuracy * self._paid)

    def act(self, rows: Rows, actions: Arrays, last: Bools) -> Outcome:
        target = self._stage.labels[self._stage.group_of[rows]]
        self._answers[rows] = actions["answer"][rows]
        right = self._answers[rows] == target
        if self._dense:
            return Outcome(right / self.budget, right, target, np.ones(len(rows), np.bool_))
        return Outcome((right & last).astype(np.float64), right, target, last)

    def oracle(self) -> Arrays:
        labels = self._stage.labels[self._stage.group_of]
        actions = self._looks_at_target() | {"answer": labels}
        if self._stop and self._return_of(1.0) == self._paid:
            actions["stop"] = np.ones_like(labels)
        return actions

    def state_bounds(self) -> dict[str, tuple[float, float]]:
        return super().state_bounds() | {"answers": (-1, len(self._class_names) - 1)}

    def picture(self, row: int, caption: str) -> "Picture":
        answer = int(self._answers[row])
        return self.picture_of(
            row,
            caption,
            answer=None if answer < 0 else self._class_names[answer],
            target=self._class_names[self._stage.labels[self._stage.group_of[row]]],
        )
