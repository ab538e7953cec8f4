"""Everything that a policy saw, believed and did in an evaluation, as arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.boxes import in_boxes
from glimpse_envs.evaluation.outlook import Probabilities
from glimpse_envs.evaluation.policy import Action, Observation, Policy
from glimpse_envs.evaluation.scanpaths import latest_location


@dataclass(frozen=True)
class Trace:
    """Steps of E episodes, T being the number of steps of the longest.

    Attributes:
        alive: (E, T) whether the episode had this step; all else means nothing where it had not.
        answers: (E, T) the choice of "answer"; -1 where there is none, or it is not one number.
        probabilities: (E, T) of that choice, by the policy; NaN where unknown.
        targets: (E, T) the right answer; -1 where nothing was scored.
        right: (E, T) whether the answer was the target, where it was scored.
        offsets: (E, T, 2) place of the glimpse less the middle of the nearest target box, in look
            units; NaN where either has no place.
        boxes: (E, T, 2) width and height of that box, in look units.
        lies_on: (E, T, K) whether the middle of the glimpse lies in each of the K target boxes that
            scenes have at most; K is 0 where either has no place.
        exists: (E, T, K) whether the scene has this target.
        lengths: (E,) of what is hidden; 0 where nothing has a length.
        attention: (T', H, W) mean share of attention of a pixel at each glimpse that a model of the
            full view takes inside itself, all steps one after another, over the episodes that had
            the step; None where it takes none.
        in_turn: whether the one target is that of the answer whose turn it is, of several.
    """

    alive: NDArray[np.bool_]
    answers: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    targets: NDArray[np.int64]
    offsets: NDArray[np.float64]
    boxes: NDArray[np.float64]
    lies_on: NDArray[np.bool_]
    exists: NDArray[np.bool_]
    lengths: NDArray[np.int64]
    attention: NDArray[np.float64] | None
    in_turn: bool = False

    @property
    def scored(self) -> NDArray[np.bool_]:
        """(E, T) whether an answer was scored and is one number."""
        return self.alive & (self.targets >= 0) & (self.answers >= 0)

    @property
    def right(self) -> NDArray[np.bool_]:
        return self.scored & (self.answers == self.targets)

    @property
    def on_target(self) -> NDArray[np.bool_]:
        """(E, T) whether the middle of the glimpse lies in a target's box."""
        return self.alive & self.lies_on.any(axis=2)

    @property
    def first_visits(self) -> NDArray[np.bool_]:
        """(E, T) whether the glimpse is the first of its episode on a target."""
        visits = self.lies_on & self.alive[..., None]
        first: NDArray[np.bool_] = (visits & (visits.cumsum(axis=1) == 1)).any(axis=2)
        return first

    @property
    def arrival(self) -> NDArray[np.int64]:
        """(E,) number of the first glimpse on a target, counted from 1; 0 where none lay on one."""
        on_target = self.on_target
        return np.where(on_target.any(axis=1), on_target.argmax(axis=1) + 1, 0)

    @property
    def visited(self) -> NDArray[np.int64]:
        """(E,) number of targets on which a glimpse lay, the dealt one too."""
        return np.asarray(self._visits.sum(axis=1))

    @property
    def visited_all(self) -> NDArray[np.bool_]:
        """(E,) whether the scene has targets, and a glimpse lay on each of them."""
        exists = (self.exists & self.alive[..., None]).any(axis=1)
        found = (self._visits | ~exists).all(axis=1)
        return np.asarray(found & np.any(exists, axis=1))

    @property
    def _visits(self) -> NDArray[np.bool_]:
        """(E, K) whether a glimpse lay on the target."""
        return np.asarray((self.lies_on & self.alive[..., None]).any(axis=1))


class Witness:
    """Watches an evaluation of `policy` and makes a `Trace` of it."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._batches: list[list[dict[str, NDArray[Any]]]] = []
        self._maps: list[tuple[NDArray[np.float64], int]] = []  # of each step, sum and rows
        self._lengths: list[NDArray[np.int64]] = []
        self._in_turn = False

    def sees(
        self,
        observation: Observation,
        state: Any,
        start: NDArray[np.bool_],
        info: dict[str, Any],
        alive: NDArray[np.bool_],
    ) -> None:
        """Note what the policy is given and what it expects."""
        if start.all():
            self._batches.append([])
            lengths = info.get("length", np.zeros(len(alive), np.int64))
            self._lengths.append(np.asarray(lengths)[alive])  # a copy
        maps = self._policy.attention(observation, state, start)
        if maps is not None:
            step = len(self._batches[-1])
            before, rows = self._maps[step] if step < len(self._maps) else (0.0, 0)
            total = before + maps[alive].sum(axis=0, dtype=np.float64)
            self._maps[step : step + 1] = [(total, rows + int(alive.sum()))]
        outlook = self._policy.outlook(observation, state, start)
        choice = None if outlook is None else outlook.choices.get("answer")
        self._in_turn = "answers" in info
        place, boxes = latest_location(observation), info.get("target_box")
        self._step = {**_by_targets(place, boxes, len(alive)), "alive": alive.copy()}
        # One choice of many; several at once have no single probability here.
        single = isinstance(choice, Probabilities) and len(choice.parts) == 1
        self._beliefs = choice.parts[0] if single and isinstance(choice, Probabilities) else None
        if outlook is None:  # a model that reads inside itself: `predict` gives its last answer
            beliefs = self._policy.beliefs(observation)
            self._beliefs = None if beliefs is None else beliefs[:, -1].astype(np.float64)

    def acts(self, action: Action, outcome: Observation, alive: NDArray[np.bool_]) -> None:
        """Note what was chosen and whether it was right."""
        rows = np.arange(len(alive))
        unknown = np.full(len(rows), -1, np.int64)
        answers = np.asarray(action.get("answer", unknown))
        answers = answers.astype(np.int64) if answers.ndim == 1 else unknown
        targets = outcome.get("target", unknown)
        if targets.ndim == 1:
            targets = np.where(outcome.get("target_mask", alive), targets, -1)
        else:
            targets = unknown
        probabilities = np.full(len(rows), np.nan)
        if self._beliefs is not None and (answers >= 0).all():
            probabilities = self._beliefs[rows, answers]
        self._step |= {"answers": answers, "targets": targets, "probabilities": probabilities}
        self._batches[-1].append(self._step)

    def trace(self) -> Trace:
        """Everything noted so far; episodes in the order in which they were played."""
        longest = max(map(len, self._batches))
        joined: dict[str, NDArray[Any]] = {}
        for name in self._batches[0][0]:
            batches = []
            for steps in self._batches:
                kept = steps[0]["alive"]  # the rows beyond an evaluation's last episode are not
                array = np.stack([step[name] for step in steps], axis=1)[kept]
                spare = [(0, 0)] * array.ndim
                spare[1] = (0, longest - len(steps))
                batches.append(np.pad(array, spare))  # False in `alive`
            joined[name] = np.concatenate(batches)
        means = [total / rows for total, rows in self._maps]
        attention = np.concatenate(means) if means else None
        return Trace(
            lengths=np.concatenate(self._lengths),
            attention=attention,
            in_turn=self._in_turn,
            **joined,
        )


def _by_targets(
    place: NDArray[np.float32] | None, target_box: NDArray[Any] | None, rows: int
) -> dict[str, NDArray[Any]]:
    """What a `Trace` says of the present place (n, 2) and the target boxes (n, ..., 4)."""
    if place is None or target_box is None:
        unknown = np.full((rows, 2), np.nan)
        none = np.zeros((rows, 0), np.bool_)
        return {"offsets": unknown, "boxes": unknown, "lies_on": none, "exists": none}
    boxes = np.asarray(target_box, np.float64).reshape(rows, -1, 4)
    offsets = place[:, None] - (boxes[..., :2] + boxes[..., 2:]) / 2  # (n, K, 2)
    distances = np.nan_to_num((offsets**2).sum(axis=-1), nan=np.inf)
    nearest = np.arange(rows), distances.argmin(axis=1)
    return {
        "offsets": offsets[nearest],
        "boxes": (boxes[..., 2:] - boxes[..., :2])[nearest],
        "lies_on": in_boxes(place, target_box),
        "exists": np.isfinite(boxes).all(axis=-1),
    }
