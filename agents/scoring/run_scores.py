"""Scores of runs on their own environment, with levels at multiples of the greatest trained one."""

from contextlib import closing
from typing import Any

import gymnasium as gym
import torch
from gymnasium import spaces

import glimpse_envs  # noqa: F401  (registers the environments)
from agents.scoring.scanners import SCANNERS, ScannedPolicy
from agents.training.resuming import setting_of
from glimpse_envs.episodes.description import describe
from glimpse_envs.episodes.levels import LEVEL_ARGUMENTS
from glimpse_envs.episodes.lookup import full_view
from glimpse_envs.evaluation.policy import as_policy
from glimpse_envs.evaluation.protocol import Watcher, evaluate
from glimpse_envs.evaluation.record import MULTIPLES
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.evaluation.runs import Run, load_policy

EPISODES_PER_LEVEL = 1_000


def evaluate_run(
    run: Run,
    *,
    split: str = "test",
    episodes: int | None = None,
    gaze: str | None = None,
    seed: int = 0,
    batch_size: int = 1000,
    progress: bool = False,
    device: str = "cpu",
    watcher: Watcher | None = None,
    **changes: Any,
) -> Evaluation:
    """Score the policy of a run on its own environment; likeliest actions, each episode once.

    Args:
        run: an open run.
        split, episodes, seed, batch_size, progress, watcher: see
            `glimpse_envs.evaluation.protocol.evaluate`.
        gaze: "learned" or a scanner of `agents.scoring.scanners.SCANNERS`; None: the gaze of the
            training.
        device: of the model.
        **changes: arguments of the environment that differ from the training's.

    Raises:
        RunError: the run's policy or checkpoint cannot be read.
        ValueError: `gaze` is not known.
    """
    env_id = setting_of(run, "env_id", str)
    torch.set_num_threads(run.config["config"].get("threads", 1))
    policy, env_kwargs = policy_of(run, gaze, seed, device, **changes)
    return evaluate(
        policy,
        env_id,
        split=split,
        episodes=episodes,
        batch_size=batch_size,
        seed=seed,
        progress=progress,
        watcher=watcher,
        **env_kwargs,
    )


def policy_of(
    run: Run, gaze: str | None = None, seed: int = 0, device: str = "cpu", **changes: Any
) -> tuple[Any, dict[str, Any]]:
    """The policy of a run, and the arguments of its environment; see `evaluate_run`.

    Raises:
        RunError: the policy or its checkpoint cannot be read.
        ValueError: there is no such gaze for this environment.
    """
    trained_on, config = setting_of(run, "env_kwargs", dict), run.config["config"]
    gaze = gaze or config.get("gaze", "learned")
    if gaze != "learned" and gaze not in SCANNERS:
        raise ValueError(f"gaze={gaze!r} must be one of learned, {', '.join(SCANNERS)}")
    # A policy of others may know no device.
    known = {} if device == "cpu" else {"device": device}
    policy = as_policy(load_policy(run.folder, **known))
    env_kwargs = {**trained_on, **changes}
    if policy.view == "full":
        env_kwargs = full_view(config["env_id"], env_kwargs)
        if gaze != "learned":
            raise ValueError(f"gaze={gaze!r}: a model of the full view takes no looks")
    if gaze != "learned":
        with closing(gym.make(config["env_id"], **config["env_kwargs"])) as env:
            policy = ScannedPolicy(SCANNERS[gaze](env, seed), policy)
    return policy, env_kwargs


def score_run(
    run: Run, *, split: str = "test", episodes: int | None = None, **options: Any
) -> list[Evaluation]:
    """All scores of a run, the headline first.

    Without levels there is one score, of the whole split. With levels there is one at each of
    `MULTIPLES` of the greatest trained level that the policy's spaces allow, of the first
    `EPISODES_PER_LEVEL` episodes; with `length` or `min_length` among the options, one of those.

    Args:
        run: an open run.
        split: "test" or "validation".
        episodes: number of the first episodes to play instead.
        **options: see `evaluate_run`.

    Raises:
        RunError: the run's policy or checkpoint cannot be read.
        ValueError: an option does not fit.
    """
    levels = trained_levels(run)
    if levels is None or options.keys() & set(LEVEL_ARGUMENTS):
        return [evaluate_run(run, split=split, episodes=episodes, **options)]
    episodes = episodes or EPISODES_PER_LEVEL
    found = []
    for level in (multiple * levels[1] for multiple in MULTIPLES):
        if not fits(run, at_level(level)):
            break
        score = evaluate_run(run, split=split, episodes=episodes, **options, **at_level(level))
        found.append(score)
    return found


def validate_run(run: Run) -> dict[str, float]:
    """The score of a run on `validation_episodes` of its config, with levels at the greatest
    trained.

    Returns:
        a line of metrics: the means "validation/success" (absent where the task has no success) and
        "validation/return", and "validation/episodes".

    Raises:
        RunError: the run's policy or checkpoint cannot be read.
    """
    levels = trained_levels(run)
    changes: dict[str, Any] = {} if levels is None else at_level(levels[1])
    episodes = run.config["config"]["validation_episodes"]
    score = evaluate_run(run, split="validation", episodes=episodes, **changes)
    found = {"validation/return": score.mean_return, "validation/episodes": score.episodes}
    return found if score.success is None else {"validation/success": score.success, **found}


def trained_levels(run: Run) -> tuple[int, int] | None:
    """The least and the greatest trained level of a run; None without levels."""
    env_id, env_kwargs = setting_of(run, "env_id", str), setting_of(run, "env_kwargs", dict)
    with closing(gym.make(env_id, **env_kwargs)) as env:
        return describe(env).levels


def at_level(level: int) -> dict[str, Any]:
    """The environment's arguments for episodes of `level` alone."""
    return {"length": level, "min_length": level}


def fits(run: Run, changes: dict[str, Any]) -> bool:
    """Whether the run's policy fits an environment with `changes`: its spaces are the same or, in
    the full view, longer."""
    config = run.config["config"]
    _, trained_kwargs = policy_of(run, "learned")
    _, changed_kwargs = policy_of(run, "learned", **changes)
    shown = []
    for kwargs in (trained_kwargs, changed_kwargs):
        try:
            with closing(gym.make(config["env_id"], **kwargs)) as env:
                shown.append((env.observation_space, env.action_space))
        except ValueError:  # the level is too great for the task
            return False
    (seen, actions), (then_seen, then_actions) = shown
    if "view" not in trained_kwargs:
        return bool(seen == then_seen and actions == then_actions)
    return _widths(seen) == _widths(then_seen)


def _widths(space: spaces.Space) -> dict[str, int]:
    """Name -> the last axis of each observation, which does not grow with a level."""
    assert isinstance(space, spaces.Dict)
    return {name: leaf.shape[-1] for name, leaf in space.spaces.items() if leaf.shape}
