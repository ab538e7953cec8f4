"""A question about a picture that is seen through glimpses."""

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from glimpse_envs.core.arguments import (
    check_choice,
    enter_arguments,
    keyword_parameters,
    shown,
)
from glimpse_envs.core.arrays import Bools
from glimpse_envs.sources import SPLITS
from glimpse_envs.task import Arrays, Component, Outcome, Rows
from glimpse_envs.vision.picture_task import MAX_MOVE, PictureTask
from glimpse_envs.vision.scenes import SCENES, find_scene, make_scene
from glimpse_envs.vision.sensors import find_sensor, make_sensor

if TYPE_CHECKING:
    from glimpse_envs.rendering import Picture

_SCENES_OWN = ("source", "clutter", "clutter_size")
"""Arguments of the task that only some scenes take."""


class ImageClassification(PictureTask):
    """Answer a question about a picture that is seen through glimpses of the agent's choice.

    ## Description

    A picture is hidden. By default it shows one image of a `source`: centred, at a uniformly random
    location, or among pieces of other images. Another `scene` shows something else, and says what
    is asked about it. At each step the agent looks at one location and answers. It sees the
    location through a retina, sharp in the middle and coarse around, or through another `sensor`.
    Scenes stand still, or move by one frame a step.

    ## Action Space

    A `Dict`:

    - `look`: where to take the next glimpse. With `look="continuous"` a location (x, y) in [-1, 1],
      where (-1, -1) is the scene's top-left corner and (1, 1) its bottom-right corner; with
      `"tiles"` the number of a tile, row by row; with `"relative"` a move, projected into the unit
      disc and scaled by `max_move`. With `inside=True` [-1, 1] spans the places from which all of a
      glimpse lies in the scene, and a tile is seen from the nearest of them.
    - `answer`: the number of the answer.
    - `stop`, with `stop=True`: 1 ends the episode with this answer.

    ## Observation Space

    A `Dict` of float32:

    - `glimpse`, in [0, 1], from the retina: (K C, g, g), scale by scale, finest first, each with
      its C channels. Scale k shows a window of side g 2**k pixels; what lies outside the scene is
      0.
    - `location` (2,): where the glimpse was taken.
    - `remaining` (1,): glimpses left / budget.
    - `context` (C, 12, 12), with `context=True`: the whole scene in area means, with the first
      glimpse, and zeros later. It is DRAM's context, which serves to choose looks, not answers.

    With `history=True`, `glimpse` (T, ...) and `location` (T, 2) hold all glimpses so far, and
    zeros where none was taken yet. With `view="full"` there is only `scene` (C, H, W), and an
    episode is one answer, or T answers if the scene moves.

    ## Rewards

    With `reward="final"`, 1 for a right answer at the episode's last step. With `reward="dense"`, 1
    / T for every right answer. `glimpse_cost` is subtracted for every glimpse after the first.

    ## Episode End

    The first glimpse is given by `reset`, at a uniformly random location, and counts towards the
    `budget` T. An episode has T steps, or fewer with `stop`; the look of the last step is ignored.
    A spent budget terminates the episode, because the agent can see it; in the full view of a scene
    that moves it cannot, and the episode is truncated.

    ## Information

    After a step:

    - `target`: the right answer.
    - `target_mask`: whether the answer was scored.
    - `success`: whether the answer was right, scored or not.

    Always:

    - `target_box` (4,): x0, y0, x1, y1 of the target in look coordinates (it may extend beyond [-1,
      1]). For a scene with several targets (targets, 4), in the order in which to look at them, and
      NaN after the last.
    - `scene`, in a fixed split: the scene's number.
    - `waiting`, with `copies` of more than 1: whether the row waits because its episode has ended
      and that of a copy has not.

    ## References

    The retina is that of Mnih et al., Recurrent Models of Visual Attention, NIPS 2014.

    ## Version History

    v0: initial version.

    Args:
        scene: "images", one of `source`; "moving_images", the same drifting, one frame per glimpse;
            "image_pairs", two of them; "image_majority", several, most of one class, among strokes;
            "circle_square"; a name given to `glimpse_envs.register_scene`; or a class,
            "module:Class". A scene is given those of `source`, `split`, `scene_size`, `clutter` and
            `clutter_size` that it takes, and its own arguments.
        source: "glyphs" (built in), "mnist", "fashion_mnist", "cifar10", or "folder:PATH", a folder
            of class-named folders of images ("folder:PATH?resize=28" where their sizes differ); a
            name given to `glimpse_envs.register_source`, or in this process to
            `glimpse_envs.sources.from_arrays` or `from_dataset`; or a class, "module:Class".
            A scene without one, such as "circle_square", refuses it; None removes an id's source.
        split: "train" deals new scenes without end; under "validation" and "test" scene k is image
            k; scenes are dealt in turn, and after the last from 0 again.
        scene_size: the scene's side in pixels.
        clutter: pieces of other images in the scene.
        clutter_size: a piece's side in pixels.
        budget: T, glimpses in an episode, the first included.
        glimpse_size: g, the side of a glimpse in cells.
        scales: K, each covering twice the side of the last; None: the fewest of which the widest is
            1.6 times as wide as the scene, and shows nearly all of it from any place.
        sensor: "retina"; a name given to `glimpse_envs.register_sensor`; or a class,
            "module:Class". A sensor is given those of `glimpse_size` and `scales` that it takes,
            and its own arguments.
        inside: keep the whole glimpse inside the scene.
        look: "continuous", "tiles" or "relative".
        max_move: the longest relative move, in look coordinates.
        reward: "final" or "dense".
        first_glimpse: "uniform" in the scene; or "near", for curricula: level k of 1 to 16 moves it
            to (k / 16)² of the way from the target to the uniform place, and `info["length"]` is k.
        view: "glimpse", or "full" for the whole scene in one step.
        history: observe all glimpses so far.
        context: observe a coarse view of the whole scene with the first glimpse.
        stop: let the agent end the episode.
        glimpse_cost: price of a glimpse, >= 0.

    Raises:
        ValueError: an argument is out of its range or does not fit the others.
        TypeError: task, scene and sensor have no such argument.
        glimpse_envs.sources.SourceError: files are missing or damaged (at the first reset).
    """

    answer_reward: float

    def __init__(
        self,
        *,
        scene: str = "images",
        source: str | None = "glyphs",
        split: str = "train",
        scene_size: int = 60,
        clutter: int = 0,
        clutter_size: int = 8,
        budget: int,
        glimpse_size: int = 12,
        scales: int | None = 3,
        sensor: str = "retina",
        inside: bool = False,
        look: str = "continuous",
        max_move: float = MAX_MOVE,
        first_glimpse: str = "uniform",
        reward: str = "final",
        view: str = "glimpse",
        history: bool = False,
        context: bool = False,
        stop: bool = False,
        glimpse_cost: float = 0.0,
        **own: Any,
    ) -> None:
        check_choice("split", split, SPLITS)
        check_choice("reward", reward, ("final", "dense"))
        own = enter_arguments(self.parameters({"scene": scene, "sensor": sensor}), own)
        pictures = make_scene(
            scene,
            dict(
                source=source,
                split=split,
                scene_size=scene_size,
                clutter=clutter,
                clutter_size=clutter_size,
                **own,
            ),
        )
        if not pictures.answers:
            raise ValueError(
                f"scene={scene!r}: it has no answers; it must name them, one for each label"
            )
        if pictures.parts != 1:
            raise ValueError(
                f"scene={scene!r}: it has {pictures.parts} labels a picture; this task asks for one"
            )
        super().__init__(
            pictures,
            sensor=make_sensor(
                sensor, pictures.shape, dict(glimpse_size=glimpse_size, scales=scales, **own)
            ),
            inside=inside,
            look=look,
            max_move=max_move,
            first_glimpse=first_glimpse,
            budget=budget,
            view=view,
            history=history,
            context=context,
            stop=stop,
            glimpse_cost=glimpse_cost,
        )
        self._dense = reward == "dense"
        self.answer_reward = 1.0 / self.budget if self._dense else 1.0
        self.question = pictures.question
        answer = Component(
            spaces.Discrete(len(pictures.answers)),
            effect="scored",
            taught=True,
            entropy=False,
            names=tuple(pictures.answers),
            every=int(self._dense),
        )
        self.components = self.components_with(answer=answer)

    @classmethod
    def parts(cls, arguments: Mapping[str, Any]) -> tuple[type, ...]:
        return (
            find_scene(arguments.get("scene", "images")),
            find_sensor(arguments.get("sensor", "retina")),
        )

    @classmethod
    def parameters(cls, arguments: Mapping[str, Any]) -> dict[str, inspect.Parameter]:
        """Return the parameters of the task, its scene and its sensor, without those that the scene
        does not take, unless they are given.

        Raises:
            ValueError: there is no such scene or sensor, or a source or clutter is given to a scene
                that has none.
        """
        found = super().parameters(arguments)
        scene = arguments.get("scene", "images")
        taken = keyword_parameters(find_scene(scene))
        for name in _SCENES_OWN:
            if name in taken:
                continue
            if name not in arguments:
                del found[name]
                continue
            given = arguments[name]
            taken_back = None if name == "source" else found[name].default
            if given is not None and given != taken_back:
                raise ValueError(
                    f"{name}={shown(given)} must be {taken_back}, also where the id "
                    f"sets it: scene={scene!r} takes no {name}"
                )
        return found

    @classmethod
    def hint_of(cls, argument: str, arguments: Mapping[str, Any]) -> str:
        asked = arguments.get("scene", "images")
        for scene, path in SCENES.items():
            # A scene of another package may be missing, or slow to import.
            if path.startswith("glimpse_envs.") and argument in keyword_parameters(
                find_scene(scene)
            ):
                return f"scene={scene!r} has it, and not scene={asked!r}"
        return ""

    @property
    def chance(self) -> float:
        """Mean return of one constant answer, in the fewest glimpses, if all are equally frequent.
        With a source of unequal classes a blind agent's normalised score is above 0."""
        return self._return_of(self._hidden.chance)

    @property
    def ceiling(self) -> float:
        """Mean return if all answers are right."""
        return self._return_of(1.0)

    def _return_of(self, accuracy: float) -> float:
        """Return the best mean return if answers are right with probability `accuracy`."""
        in_full = accuracy - self.glimpse_cost * (self.budget - 1)
        if not self._stop:
            return in_full
        return max(in_full, accuracy * self.answer_reward)

    def act(self, rows: Rows, actions: Arrays, last: Bools) -> Outcome:
        target = self._stage.labels[self._stage.scene_of[rows]]
        self._answers[rows] = actions["answer"][rows]
        right = self._answers[rows] == target
        if self._dense:
            return Outcome(right / self.budget, right, target, np.ones(len(rows), np.bool_))
        return Outcome((right & last).astype(np.float64), right, target, last)

    def oracle(self) -> Arrays:
        labels = self._stage.labels[self._stage.scene_of]
        actions = self._looks_at_target() | {"answer": labels}
        if self._stop and self._return_of(1.0) == self.answer_reward:
            actions["stop"] = np.ones_like(labels)
        return actions

    def state_bounds(self) -> dict[str, tuple[float, float]]:
        return super().state_bounds() | {"answers": (-1, len(self._hidden.answers) - 1)}

    def picture(self, row: int, caption: str) -> "Picture":
        answer, names = int(self._answers[row]), self._hidden.answers
        return self.picture_of(
            row,
            caption,
            answer=None if answer < 0 else names[answer],
            target=names[self._stage.labels[self._stage.scene_of[row]]],
        )
