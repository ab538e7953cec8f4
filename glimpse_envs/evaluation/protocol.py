"""The scoring of policies: every episode of a split is played once.

An episode has success if all that was asked had been done at its end; where a task does not define
success, the return alone is the score. Which episodes are played, with what clutter and from where,
depends on the seed alone, so that policies are compared on the very same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arguments import (
    check_integers,
    check_seed,
    keyword_parameters,
    nearest_of,
)
from glimpse_envs.env import OF_EVERY_TASK
from glimpse_envs.episodes.description import describe
from glimpse_envs.episodes.lookup import arguments_of
from glimpse_envs.evaluation.acting import as_act
from glimpse_envs.evaluation.batches import make_batch
from glimpse_envs.evaluation.counting import count_episodes
from glimpse_envs.evaluation.dealing import deal
from glimpse_envs.evaluation.fitting import check_id, check_spaces
from glimpse_envs.evaluation.playing import Episodes, Watcher, play
from glimpse_envs.evaluation.policy import Action, Predicts, as_policy
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.evaluation.sampling import samples_of
from glimpse_envs.evaluation.scanpaths import shows_places
from glimpse_envs.evaluation.statistics import normalised_score, student_interval, wilson_interval


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
        deterministic: passed on to `predict`; a callable decides for itself. What is drawn by torch
            is drawn from `seed`; other ways to draw are left alone.
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
    check_id(env_id)
    _check_meant(env_id, env_kwargs)
    total, rows = count_episodes(
        env_id,
        env_kwargs,
        split=split,
        episodes=episodes,
        at_most=at_most,
        batch_size=batch_size,
    )
    with samples_of(policy, seed), closing(make_batch(env_id, rows, split, **env_kwargs)) as env:
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
            batch = play(env, act, observation, info, count, places, watcher)
            answers = played_by.answers(observation)
            if answers is not None:
                batch = batch.with_inner_glimpses(answers)
            batches.append(batch)

    played = Episodes.concatenate(batches)
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


def _check_returns(env_id: str, returns: NDArray[np.float64]) -> None:
    """Raise a ValueError where the `returns` (n,) of the episodes are not all finite."""
    wrong = np.flatnonzero(~np.isfinite(returns))
    if len(wrong):
        raise ValueError(
            f"{env_id}: the return of episode {wrong[0] + 1} of {len(returns)} is "
            f"{returns[wrong[0]]}; the environment must give finite rewards"
        )


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
