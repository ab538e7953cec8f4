"""The base of all picture tasks: scenes, looks, glimpses and their history."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict

import numpy as np
from gymnasium import spaces

from glimpse_envs.core.arguments import (
    check_choice,
    check_flags,
    check_integers,
    check_move,
    check_numbers,
)
from glimpse_envs.core.arrays import Float32s, Ints
from glimpse_envs.core.boxes import box_in_turn, middles_of, places_at
from glimpse_envs.core.keys import Keys
from glimpse_envs.core.memory import check_memory
from glimpse_envs.core.randomness import draw_starts
from glimpse_envs.core.spaces import ordered
from glimpse_envs.task import COMPONENTS, Arrays, Component, Reading, Rows, Task, rows_of
from glimpse_envs.vision.context import CONTEXT_SIDE, coarse_views
from glimpse_envs.vision.gaze import Gaze, view_through
from glimpse_envs.vision.history import History
from glimpse_envs.vision.scenes.scene import Hidden
from glimpse_envs.vision.scenes.stage import Stage
from glimpse_envs.vision.sensors.sensor import Sensor

if TYPE_CHECKING:
    from glimpse_envs.rendering import Picture


MAX_MOVE = 0.2
"""The default of `max_move`, in look coordinates."""
LOOKS = ("continuous", "tiles", "relative")
VIEWS = ("glimpse", "full")
FARTHEST = 16
"""The greatest level of first glimpses near the target; at this level they are uniform."""


class Looking(TypedDict, total=False):
    """How a scene may be looked at: arguments that all picture tasks pass on to `PictureTask`."""

    inside: bool
    look: str
    max_move: float
    view: str
    history: bool
    context: bool


class PictureTask(Task):
    """A picture that is seen through glimpses, or whole.

    Subclasses set `components` (`components_with` adds their own) and reward answers in `act`.

    Args:
        hidden: the pictures, which may move.
        sensor: reads the glimpses.
        inside: keep the whole glimpse inside the scene.
        look: "continuous", "tiles" or "relative".
        max_move: the longest relative move, in look coordinates.
        budget: T, glimpses in an episode, the first included.
        full_budget: steps in the full view of a scene that stands still; of one that moves, T.
        fixed_steps: whether every episode that is not stopped takes all steps of its budget.
        first_glimpse: "uniform" in the scene, or "near" the target, for training.
        view: "glimpse", or "full" for the whole scene.
        history: observe all glimpses so far.
        context: observe a coarse view of the whole scene with the first glimpse.
        stop: let the agent end the episode.
        glimpse_cost: price of a glimpse, >= 0.

    Raises:
        ValueError: an argument is not one of these or does not fit the others.
    """

    view_arguments: ClassVar[frozenset[str]] = Task.view_arguments | {
        "sensor",
        "glimpse_size",
        "scales",
        "max_move",
        "first_glimpse",
        "history",
        "context",
        "stop",
    }
    glimpse_arguments: ClassVar[frozenset[str]] = frozenset(
        {"first_glimpse", "history", "context", "stop", "glimpse_cost"}
    )

    def __init__(
        self,
        hidden: Hidden,
        *,
        sensor: Sensor,
        budget: int,
        full_budget: int = 1,
        fixed_steps: bool = True,
        inside: bool = False,
        look: str = "continuous",
        max_move: float = MAX_MOVE,
        first_glimpse: str = "uniform",
        view: str = "glimpse",
        history: bool = False,
        context: bool = False,
        stop: bool = False,
        glimpse_cost: float = 0.0,
    ) -> None:
        check_choice("look", look, LOOKS)
        check_choice("first_glimpse", first_glimpse, ("uniform", "near"))
        check_choice("view", view, VIEWS)
        check_integers(1, budget=budget)
        check_flags(inside=inside, history=history, context=context, stop=stop)
        check_move(look, max_move, default=MAX_MOVE)
        check_numbers(0, glimpse_cost=glimpse_cost)
        near = first_glimpse == "near"
        if view == "full" and (near or history or context or stop or glimpse_cost):
            raise ValueError(
                "view='full' shows no glimpses: leave first_glimpse, history, context, stop and "
                "glimpse_cost"
            )
        if near and look == "tiles":
            raise ValueError("first_glimpse='near' needs looks that are places or moves, not tiles")

        self._full, self._with_history, self._stop = view == "full", history, stop
        self.budget = int(full_budget if self._full and not hidden.moves else budget)
        self.budget_is_seen = not (self._full and hidden.moves)
        # A glimpse and the arrays of its computation, for each step that is kept.
        glimpse = 12 * math.prod(sensor.glimpse_shape) + 24
        steps = self.budget
        check_memory(glimpse * (steps if history else 1) + 8 * steps, budget=steps)
        self._hidden = hidden
        self._near, self._with_context = near, context
        if near:
            self.levels = (1, FARTHEST)
        self.fixed_steps = fixed_steps and not stop
        self.glimpse_cost = float(glimpse_cost)
        self._sensor = sensor
        self._view = view_through(sensor, hidden.shape, look, max_move, inside)
        if not self._full:
            self.picture_view = self._view
            values = math.prod(sensor.glimpse_shape)
            coarse = hidden.shape[0] * CONTEXT_SIDE**2 if context else 0
            self.reading = Reading(
                values,
                multiply_adds=sensor.multiply_adds,
                context=coarse,
                context_multiply_adds=4 * coarse,  # each mean adds up four sums of pixels
            )
        self.observation_space = self._make_observation_space()

    @property
    def look_components(self) -> dict[str, Component]:
        """The components of looking and of stopping; neither in the full view."""
        if self._full:
            return {}
        parts = {"look": Component(self._view.action_space, effect="continuing")}
        if self._stop:
            parts["stop"] = Component(spaces.Discrete(2), effect="stoppable")
        return parts

    def components_with(self, **own: Component) -> dict[str, Component]:
        """Return `look_components` and the task's `own`, in the order of `COMPONENTS`."""
        parts = self.look_components | own
        return {name: parts[name] for name in COMPONENTS if name in parts}

    @property
    def num_scenes(self) -> int | None:
        return self._hidden.num_scenes

    def _make_observation_space(self) -> spaces.Dict:
        def box(low: float, *shape: int) -> spaces.Box:
            return spaces.Box(low, 1.0, shape, np.float32)

        if self._full:
            scene = box(0.0, *self._hidden.shape)
            return ordered({"scene": scene} | self._further_parts())
        steps = (self.budget,) if self._with_history else ()
        parts = {"glimpse": box(0.0, *steps, *self._sensor.glimpse_shape)} | self._further_parts()
        parts |= {"location": box(-1.0, *steps, 2), "remaining": box(0.0, 1)}
        if self._with_context:
            parts["context"] = box(0.0, self._hidden.shape[0], CONTEXT_SIDE, CONTEXT_SIDE)
        return ordered(parts)

    def _further_parts(self) -> dict[str, spaces.Box]:
        """Return the spaces of an observation's parts that the task adds, such as its question."""
        return {}

    def _further(self, rows: Rows) -> Arrays:
        """Return the parts named in `_further_parts` of `rows` (m,), name -> (m, ...)."""
        return {}

    # --- the episode -------------------------------------------------------------------------

    def allocate(self, num_envs: int, copies: int, taken: Ints) -> None:
        self._copies, self._taken = copies, taken
        self._stage: Stage = self._hidden.stage(
            None if self._full else self._sensor, num_envs, copies
        )
        self.budgets = np.full(num_envs, self.budget)
        groups = num_envs // copies
        self._target_boxes = np.zeros_like(self._stage.boxes, np.float32)  # in look coordinates
        self._starts = np.zeros((groups, 2))
        self._distances = np.full(groups, FARTHEST)
        max_move = self._view.max_move if self._view.look == "relative" else 0.0
        self._gaze = Gaze(self.budget, self._view.space, max_move, taken)
        self._answers = np.full(num_envs, -1, np.int64)
        self._history: History | None = None
        if self._with_history:
            self._history = History(num_envs, self.budget, self._sensor.glimpse_shape)

    def deal(self, groups: Rows, keys: Keys) -> None:
        self._place_targets(self._stage.draw(groups, keys))
        draw_starts(groups, keys.arrays, self._starts)
        if self._near:
            self._distances[groups] = keys.levels[groups]
            self._approach_target(groups)
        rows = rows_of(groups, self._copies)
        self._gaze.start(rows, self._view.first_places(self._starts), self._copies)
        self._answers[rows] = -1
        if self._history is not None:
            self._history.begin(rows)
        self._remember(rows, np.zeros_like(rows))

    def _approach_target(self, groups: Rows) -> None:
        """Move the first glimpses of `groups` (m,) from uniform places towards the middle of their
        (first) target, so that (distance / `FARTHEST`)² of the way to it remains; without a target
        they stay."""
        boxes = self._target_boxes[self._stage.scene_of[groups * self._copies]]
        first = boxes if boxes.ndim == 2 else boxes[:, 0]
        middles, exists = middles_of(first), ~np.isnan(first[:, :1])
        share = (self._distances[groups, None] / FARTHEST) ** 2
        near = middles + share * (self._starts[groups] - middles)
        self._starts[groups] = np.where(exists, near, self._starts[groups])

    def _place_targets(self, scenes: Ints) -> None:
        """Update the look coordinates of the targets of `scenes` (m,)."""
        boxes = self._stage.boxes[scenes]
        corners = self._view.space.to_locations(boxes.reshape(-1, 2, 2))
        self._target_boxes[scenes] = corners.reshape(boxes.shape)

    def look(self, rows: Rows, actions: Arrays) -> None:
        if self._hidden.moves:
            self._show(rows)
        if self._full:
            return
        self._gaze.move(rows, self._view.places_of(actions["look"]))
        self._remember(rows, self._taken[rows] - 1)

    def _show(self, rows: Rows) -> None:
        """Show a moving picture as it is at the latest glimpse of `rows` (m,)."""
        self._stage.show(rows, self._taken[rows] - 1)
        self._place_targets(rows)

    def _remember(self, rows: Rows, steps: Ints) -> None:
        """Add the latest glimpses of `rows` (m,), the `steps`-th (m,) from 0 on, to the history, if
        there is one."""
        if self._history is not None:
            glimpses = self._stage.read(rows, self._gaze.centres)
            self._history.add(rows, steps, glimpses, self._gaze.locations[rows])

    def observe(self, rows: Rows, remaining: Float32s) -> Arrays:
        further = self._further(rows)
        if self._full:
            return {"scene": self._stage.whole(self._stage.scene_of[rows])} | further
        if self._with_context:
            scenes, first = self._stage.scene_of[rows], self._taken[rows] <= 1
            context = coarse_views(self._stage, scenes, first, self._hidden.shape[0])
            further = further | {"context": context}
        if self._history is not None:
            return further | self._history.observed(rows) | {"remaining": remaining}
        return further | {
            "glimpse": self._stage.read(rows, self._gaze.centres),
            "location": self._gaze.locations[rows].astype(np.float32),
            "remaining": remaining,
        }

    def info(self, rows: Rows) -> Arrays:
        entries: Arrays = {"target_box": self._target_boxes[self._stage.scene_of[rows]]}
        if self._near:
            entries["length"] = self._distances[rows // self._copies]
        return entries

    def _looks_at_target(self) -> Arrays:
        """Return the parts of an oracle's action that `look_components` has: it looks at the
        middles of the target's boxes in turn until its budget is spent, and never stops; without a
        target at the scene's middle."""
        if self._full:
            return {}
        boxes = self._target_boxes[self._stage.scene_of].astype(np.float64)
        # Before the first look no glimpse counts yet.
        boxes = box_in_turn(boxes, np.maximum(self._taken - 1, 0), self.budget - 1)
        parts = {"look": self._view.looks_at(places_at(boxes), self._gaze.locations)}
        if self._stop:
            parts["stop"] = np.zeros(len(boxes), np.int64)
        return parts

    # --- state and pictures ------------------------------------------------------------------

    def state_arrays(self) -> Arrays:
        arrays: Arrays = {
            "locations": self._gaze.locations,
            "centres": self._gaze.centres,
            "path": self._gaze.path,
            "answers": self._answers,
        }
        return arrays if self._history is None else arrays | self._history.state_arrays()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        if self._hidden.moves:
            self._show(np.flatnonzero(self._taken > 0))

    def identity(self) -> dict[str, str]:
        fingerprint = self._hidden.fingerprint
        return {"content of its source": fingerprint} if fingerprint else {}

    def state_bounds(self) -> dict[str, tuple[float, float]]:
        side = max(self._hidden.shape[1:])
        return {
            "locations": (-1.0, 1.0),
            "centres": (0.0, side),
            "path": (0.0, side),
            "glimpses": (0.0, 1.0),
            "seen_from": (-1.0, 1.0),
        }

    def picture_of(self, row: int, caption: str, **answers: Any) -> "Picture":
        """Return the picture of `row`; `answers` are `answer`, `target`, `question`, `pending` and,
        of one target, `boxes` of `Picture`."""
        from glimpse_envs.rendering import Picture

        scene = int(self._stage.scene_of[row])
        seen: dict[str, Any] = {}
        if not self._full:
            (glimpse,) = self._stage.read(np.array([row]), self._gaze.centres)
            seen = {
                "outlines": self._sensor.outlines,
                "panels": self._sensor.panels(glimpse),
                "window_sides": self._sensor.window_sides,
            }
        if self._hidden.targets > 1:
            seen["boxes"] = self._stage.boxes[scene]
        return Picture(
            scene=self._stage.whole(np.array([scene]))[0],
            path=self._gaze.path[row, : self._taken[row]],
            **seen,
            caption=caption,
            **answers,
        )
