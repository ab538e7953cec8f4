"""The scoring of policies: every episode of a split is played once.

An episode has success if all that was asked had been done at its end; where a task does not define
success, the return alone is the score. Which episodes are played, with what clutter and from where,
depends on the seed alone, so that policies are compared on the very same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from glimpse_envs.core.arguments import (
    check_integers,
    check_seed,
    keyword_parameters,
    nearest_of,
)
from glimpse_envs.core.boxes import in_any_box
from glimpse_envs.env import OF_EVERY_TASK
from glimpse_envs.episodes.description import describe
from glimpse_envs.episodes.infos import read_outcome, success_in
from glimpse_envs.episodes.lookup import arguments_of, spec_of
from glimpse_envs.evaluation.batches import make_batch
from glimpse_envs.evaluation.counting import count_episodes
from glimpse_envs.evaluation.dealing import deal
from glimpse_envs.evaluation.endless import check_ends
from glimpse_envs.evaluation.fitting import check_spaces
from glimpse_envs.evaluation.policy import Act, Action, Observation, Predicts, as_act, as_policy
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.evaluation.scanpaths import (
    ScanpathDiagnostics,
    diagnose,
    latest_location,
    shows_places,
)
from glimpse_envs.evaluation.statistics import normalised_score, student_interval, wilson_interval


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


def evaluate(
    policy: Predicts | Callable[..., Action],
    env_id: str,
    *,
    split: str = "test",
    episodes: int | None = None,
    at_most: bool = False,
    batch_size: int = 1000,
    seed: int = 0,
    deterministic: bool = True,
    progress: bool = False,
    watcher: Watcher | None = None,
    **env_kwargs: Any,
) -> Evaluation:
    """Play each episode of a split once and score it.

    Args:
        policy: anything with `predict` (see `glimpse_envs.evaluation.policy.Policy`), or a callable
            from observation to action. Actions are Dicts, or plain as `flat=True` and
            `flat="discrete"` have them, so that models of other libraries are scored as they are.
        env_id: a registered id.
        split: "test" or "validation", whose episodes are fixed; or "train", drawn afresh by `seed`.
        episodes: number of episodes to play, the first ones; None plays all, and is refused on
            "train" and in worlds without fixed scenes.
        at_most: play all of a split that has fewer than `episodes`, in place of an error.
        batch_size: the most rows played at once; fewer are played if scenes are large (see
            `glimpse_envs.evaluation.counting`). The score of a deterministic policy does not depend
            on it.
        seed: of clutter, places and first glimpses.
        deterministic: passed on to `predict`; a callable decides for itself.
        progress: show a bar (needs tqdm).
        watcher: called at every step.
        **env_kwargs: flat scalars for the environment, such as `budget=6`; `view`, where it is not
            given, is "full" for a policy that declares it.

    Raises:
        ImportError: SciPy is not installed, which the extra "evaluation" installs.
        TypeError: `policy` is a class or has neither form, `env_id` is not a string, or the policy
            does not return an action.
        ValueError: `episodes`, `batch_size`, `seed` or `env_kwargs` do not fit, the policy's
            `view` does not exist, it was made for other spaces, or its `answers` are of another
            shape, of episodes of several steps, or end otherwise than with `predict`'s; or rewards
            are not finite. Errors of the environment about a bad action pass through.
    """
    if find_spec("scipy") is None:  # before the episodes are played
        raise ImportError("scores need SciPy: pip install 'glimpse-envs[evaluation]'")
    played_by = as_policy(policy)
    if played_by.view == "full":
        env_kwargs.setdefault("view", "full")
    _check_arguments(split, episodes, batch_size, seed, env_kwargs)
    _check_id(env_id)
    _check_meant(env_id, env_kwargs)
    total, rows = count_episodes(
        env_id,
        env_kwargs,
        split=split,
        episodes=episodes,
        at_most=at_most,
        batch_size=batch_size,
    )
    with closing(make_batch(env_id, rows, split, **env_kwargs)) as env:
        check_spaces(played_by, env, env_id)
        seen = describe(env)
        places = shows_places(seen.observation_space)
        act = as_act(played_by, env, deterministic)
        batches = []
        for start in _with_bar(range(0, total, rows), progress):
            # The last batch is filled up with the last scene; only its first deal counts.
            indices = np.minimum(np.arange(start, start + rows), total - 1)
            observation, info = deal(env, split, seed, indices)
            count = min(rows, total - start)
            batch = _play(env, act, observation, info, count, places, watcher)
            answers = played_by.answers(observation)
            if answers is not None:
                batch = _with_inner_glimpses(batch, answers)
            batches.append(batch)

    played = _Episodes.concatenate(batches)
    _check_returns(env_id, played.returns)
    successes = None if played.correct is None else played.correct[:, -1]
    mean_return = float(played.returns.mean())
    return Evaluation(
        env_id=env_id,
        env_kwargs=env_kwargs,
        split=split,
        seed=seed,
        episodes=total,
        success=None if successes is None else float(successes.mean()),
        success_interval=(
            None if successes is None else wilson_interval(int(successes.sum()), total)
        ),
        success_by_glimpse=(
            () if played.correct is None else tuple(played.correct.mean(axis=0).tolist())
        ),
        mean_return=mean_return,
        return_interval=student_interval(played.returns) if total > 1 else None,
        normalised_score=(
            np.nan
            if seen.chance == seen.ceiling  # nothing is left to learn
            else normalised_score(mean_return, seen.chance, seen.ceiling)
        ),
        mean_glimpses=float(played.glimpses.mean()),
        # Where the gaze follows a rule, nothing was chosen.
        scanpaths=played.diagnose() if "look" in seen.components else None,
        scale=(seen.chance, seen.ceiling),
        returns=played.returns,
        successes=successes,
        glimpses=played.glimpses,
        locations=played.locations,
        actions="likeliest" if deterministic else "sampled",
    )


@dataclass(frozen=True)
class _Episodes:
    """Results of n episodes; T is the number of steps of the longest."""

    returns: NDArray[np.float64]  # (n,)
    glimpses: NDArray[np.int64]  # (n,)
    # (n, T), an ended row keeps its last; None where no answer is scored.
    correct: NDArray[np.bool_] | None
    targets: NDArray[Any]  # (n,) of the last answer
    locations: NDArray[np.float32] | None  # (n, T, 2), None where glimpses have no place (x, y)
    on_target: NDArray[np.bool_] | None  # (n, T), None where the target has no place

    @staticmethod
    def concatenate(batches: list[_Episodes]) -> _Episodes:
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

        return _Episodes(
            returns=np.concatenate([batch.returns for batch in batches]),
            glimpses=np.concatenate([batch.glimpses for batch in batches]),
            correct=joined("correct"),
            targets=np.concatenate([batch.targets for batch in batches]),
            locations=joined("locations"),
            on_target=joined("on_target"),
        )

    def diagnose(self) -> ScanpathDiagnostics | None:
        if self.locations is None:
            return None
        visited = np.arange(self.locations.shape[1]) < self.glimpses[:, None]  # (n, T)
        if self.on_target is None:
            return replace(diagnose(self.locations, visited, visited), share_on_target=np.nan)
        return diagnose(self.locations, visited, self.on_target)


def _play(
    env: VectorEnv,
    act: Act,
    observation: Observation,
    info: dict[str, Any],
    count: int,
    places: bool,
    watcher: Watcher | None,
) -> _Episodes:
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
            right = np.where(alive, success, right)
        correct.append(right)
        if "target" in outcome and _are_answers(outcome["target"], len(alive)):
            targets = np.where(alive, outcome["target"], targets)
        returns += np.where(alive, reward, 0)
        glimpses += alive
        alive = alive & ~ended
        episode_start = ended
    return _Episodes(
        returns=returns[:count],
        glimpses=glimpses[:count],
        correct=np.stack(correct, axis=1)[:count] if judged else None,
        targets=targets[:count],
        locations=np.stack(locations, axis=1)[:count] if locations else None,
        on_target=np.stack(on_target, axis=1)[:count] if on_target else None,
    )


def _check_returns(env_id: str, returns: NDArray[np.float64]) -> None:
    """Raise a ValueError where the `returns` (n,) of the episodes are not all finite."""
    wrong = np.flatnonzero(~np.isfinite(returns))
    if len(wrong):
        raise ValueError(
            f"{env_id}: the return of episode {wrong[0] + 1} of {len(returns)} is "
            f"{returns[wrong[0]]}; the environment must give finite rewards"
        )


def _are_answers(targets: NDArray, rows: int) -> bool:
    """Whether `targets` are a right answer of each row, as those of another package may not be."""
    return targets.shape == (rows,) and targets.dtype.kind in "iu"


def _with_inner_glimpses(episodes: _Episodes, answers: NDArray[np.int64]) -> _Episodes:
    """Full-view episodes, of one step, with `answers` (rows, T) after each internal glimpse."""
    if answers.ndim != 2:
        raise ValueError(f"the policy's `answers` must be (n, T), not of the shape {answers.shape}")
    if episodes.correct is None or (episodes.glimpses != 1).any():
        raise ValueError(
            "the policy has `answers`, which are of one answer to a scene that is shown at once: "
            "here episodes take several steps, or have no success; return None"
        )
    count, glimpses = len(episodes.correct), answers.shape[1]
    correct = answers[:count] == episodes.targets[:, None]
    if not np.array_equal(correct[:, -1], episodes.correct[:, -1]):
        raise ValueError("the policy's last of `answers` differs from what `predict` answered")
    return replace(episodes, correct=correct, glimpses=np.full(count, glimpses))


SET_HERE = frozenset(
    {"id", "num_envs", "autoreset_mode", "copies", "flat", "flat_observation", "render_mode"}
)
"""Arguments of environments that an evaluation sets."""


def _check_arguments(
    split: str, episodes: int | None, batch_size: int, seed: int, env_kwargs: dict[str, Any]
) -> None:
    check_integers(1, batch_size=batch_size)
    check_seed(seed)
    if episodes is not None:
        check_integers(1, episodes=episodes)
    if split == "train" and episodes is None:
        raise ValueError(
            "The train split draws episodes for ever: say how many by `episodes`, such as 10000."
        )
    ours = SET_HERE & env_kwargs.keys()
    if ours:
        raise ValueError(f"{', '.join(sorted(ours))}: evaluate sets this itself; leave it out.")


def _check_id(env_id: str) -> None:
    """Refuse ids with plain spaces: policies are given the task's own observations."""
    made = spec_of(env_id).kwargs
    if made.get("flat") or made.get("flat_observation"):
        raise ValueError(
            f"{env_id} has plain spaces, which evaluate makes itself where a policy needs them: "
            "give the id that it is made from, and its other arguments, such as history=True"
        )


def _check_meant(env_id: str, env_kwargs: dict[str, Any]) -> None:
    """Refuse an argument that is nearly one of `evaluate` and that the environment lacks."""
    own = keyword_parameters(evaluate)
    if isinstance(env_kwargs.get("env_kwargs"), Mapping):
        inner = ", ".join(f"{name}={value!r}" for name, value in env_kwargs["env_kwargs"].items())
        raise ValueError(
            f"env_kwargs: give the environment's arguments by name: evaluate(policy, {env_id!r}, "
            f"{inner or 'budget=6'})"
        )
    if "n_eval_episodes" in env_kwargs:
        raise ValueError(
            "unexpected keyword argument 'n_eval_episodes': the number of episodes is `episodes`"
        )
    for name in env_kwargs:
        meant = nearest_of(name, own)
        if meant is None:
            continue
        taken = arguments_of(env_id, env_kwargs)
        if taken is not None and nearest_of(name, [*taken, *OF_EVERY_TASK, *own]) == meant:
            raise ValueError(
                f"unexpected keyword argument {name!r}: did you mean {meant!r}? evaluate itself "
                f"takes {', '.join(own)}; {env_id} does not take {name}"
            )


def _with_bar(batches: range, progress: bool) -> Iterable[int]:
    if not progress:
        return batches
    from tqdm import tqdm

    return tqdm(batches, desc="evaluate", unit="batch")
