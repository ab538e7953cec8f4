"""The playing of a batch of episodes, each to its end, and what is kept of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from glimpse_envs.core.boxes import in_any_box
from glimpse_envs.episodes.infos import read_outcome, success_in, told_in
from glimpse_envs.evaluation.acting import Act
from glimpse_envs.evaluation.endless import check_ends
from glimpse_envs.evaluation.policy import Action, Observation
from glimpse_envs.evaluation.scanpaths import ScanpathDiagnostics, diagnose, latest_location


class Watcher(Protocol):
    """Receives what happens in an evaluation. It must copy arrays that it keeps, since the
    environment may reuse them; entries of rows that are not `alive` mean nothing.

    At the first step of each batch `start` is true in all rows, and at no other step.
    """

    def sees(
        self,
        observation: Observation,
        state: Any,
        start: NDArray[np.bool_],
        info: dict[str, Any],
        alive: NDArray[np.bool_],
    ) -> None:
        """Called before each step, with what the policy is given, name -> (n, ...); `alive` (n,)
        are the rows whose scored episode has not ended."""

    def acts(self, action: Action, outcome: Observation, alive: NDArray[np.bool_]) -> None:
        """Called after the step, with the action, its `info` (see `read_outcome`), name ->
        (n, ...), and the same `alive`."""


@dataclass(frozen=True)
class Episodes:
    """Results of n episodes; T is the number of steps of the longest."""

    returns: NDArray[np.float64]  # (n,)
    glimpses: NDArray[np.int64]  # (n,)
    # (n, T), an ended row keeps its last; None where no answer is scored.
    correct: NDArray[np.bool_] | None
    targets: NDArray[Any]  # (n,) of the last answer
    locations: NDArray[np.float32] | None  # (n, T, 2), None where glimpses have no place (x, y)
    on_target: NDArray[np.bool_] | None  # (n, T), None where the target has no place

    @staticmethod
    def concatenate(batches: list[Episodes]) -> Episodes:
        """Concatenate batches, each extended to the longest one by repeating its last step."""
        longest = max(int(batch.glimpses.max()) for batch in batches)

        def joined(name: str) -> Any:
            arrays = [getattr(batch, name) for batch in batches]
            if all(array is None for array in arrays):
                return None
            # Other packages' worlds may tell of success alone, which a batch may be without.
            nothing = (np.zeros((len(batch.returns), 1), np.bool_) for batch in batches)
            arrays = [a if a is not None else b for a, b in zip(arrays, nothing, strict=True)]
            steps = np.arange(longest)
            return np.concatenate([a[:, np.minimum(steps, a.shape[1] - 1)] for a in arrays])

        return Episodes(
            returns=np.concatenate([batch.returns for batch in batches]),
            glimpses=np.concatenate([batch.glimpses for batch in batches]),
            correct=joined("correct"),
            targets=np.concatenate([batch.targets for batch in batches]),
            locations=joined("locations"),
            on_target=joined("on_target"),
        )

    def with_inner_glimpses(self, answers: NDArray[np.int64]) -> Episodes:
        """Return these episodes of the full view, of one step each, with `answers` (rows, T) after
        each internal glimpse.

        Raises:
            ValueError: the answers do not fit the episodes.
        """
        if answers.ndim != 2:
            raise ValueError(
                f"the policy's `answers` must be (n, T), not of the shape {answers.shape}"
            )
        if self.correct is None or (self.glimpses != 1).any():
            raise ValueError(
                "the policy has `answers`, which are of one answer to a scene that is shown at "
                "once: here episodes take several steps, or have no success; return None"
            )
        count, glimpses = len(self.correct), answers.shape[1]
        correct = answers[:count] == self.targets[:, None]
        if not np.array_equal(correct[:, -1], self.correct[:, -1]):
            raise ValueError("the policy's last of `answers` differs from what `predict` answered")
        return replace(self, correct=correct, glimpses=np.full(count, glimpses))

    def diagnose(self) -> ScanpathDiagnostics | None:
        """Return what the scanpaths were like; None where glimpses have no place."""
        if self.locations is None:
            return None
        visited = np.arange(self.locations.shape[1]) < self.glimpses[:, None]  # (n, T)
        if self.on_target is None:
            return replace(diagnose(self.locations, visited, visited), share_on_target=np.nan)
        return diagnose(self.locations, visited, self.on_target)


def play(
    env: VectorEnv,
    act: Act,
    observation: Observation,
    info: dict[str, Any],
    count: int,
    places: bool,
    watcher: Watcher | None,
) -> Episodes:
    """Play every row's first episode to its end and return those of the first `count` rows; with
    `places` observations say where glimpses were taken."""
    alive = np.arange(env.num_envs) < count  # (n,) as all below
    right = np.zeros(env.num_envs, np.bool_)
    targets = np.zeros(env.num_envs, np.int64)
    returns = np.zeros(env.num_envs)
    glimpses = np.zeros(env.num_envs, np.int64)
    state, episode_start = None, np.ones(env.num_envs, np.bool_)
    # One array a step.
    correct: list[NDArray[np.bool_]] = []
    locations, on_target = [], []
    judged = False
    while alive.any():
        place = latest_location(observation) if places else None
        if place is not None:
            locations.append(place.copy())  # the environment may reuse its arrays
            if "target_box" in info:
                on_target.append(in_any_box(place, info["target_box"]))
        if watcher is not None:
            watcher.sees(observation, state, episode_start, info, alive)
        action, state = act(observation, state, episode_start, info)
        observation, reward, terminated, truncated, info = env.step(action)
        check_ends(env, len(correct) + 1)
        ended = terminated | truncated
        outcome = read_outcome(info, ended)
        if watcher is not None:
            watcher.acts(action, outcome, alive)
        success = success_in(outcome, len(alive))
        if success is not None:
            judged = True
            right = np.where(alive & told_in(info, ended, "success"), success, right)
        correct.append(right)
        if "target" in outcome and _are_answers(outcome["target"], len(alive)):
            targets = np.where(alive, outcome["target"], targets)
        returns += np.where(alive, reward, 0)
        glimpses += alive
        alive = alive & ~ended
        episode_start = ended
    return Episodes(
        returns=returns[:count],
        glimpses=glimpses[:count],
        correct=np.stack(correct, axis=1)[:count] if judged else None,
        targets=targets[:count],
        locations=np.stack(locations, axis=1)[:count] if locations else None,
        on_target=np.stack(on_target, axis=1)[:count] if on_target else None,
    )


def _are_answers(targets: NDArray, rows: int) -> bool:
    """Whether `targets` are a right answer of each row, as those of another package may not be."""
    return targets.shape == (rows,) and targets.dtype.kind in "iu"
