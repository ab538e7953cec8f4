"""Scores of runs on their own environment, with levels at multiples of the greatest trained one."""

from contextlib import closing
from pathlib import Path
from typing import Any, get_args

import gymnasium as gym

from agents.scoring.scanners import SCANNERS, ScannedPolicy
from agents.training.host import torch_threads
from agents.training.resuming import setting_of
from glimpse_envs.core.arguments import check_choice, naming_environment
from glimpse_envs.episodes.description import Description, describe_id
from glimpse_envs.episodes.levels import LEVEL_ARGUMENTS
from glimpse_envs.episodes.lookup import arguments_of, full_view, task_class_of
from glimpse_envs.evaluation.actions import Actions, usual_actions
from glimpse_envs.evaluation.playing import Watcher
from glimpse_envs.evaluation.policy import Policy, as_policy
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.evaluation.record import MULTIPLES
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.evaluation.runs import Run, load_policy, open_run
from glimpse_envs.sources import SourceError

EPISODES_PER_LEVEL = 1_000


def evaluate_run(
    run: Run | str | Path,
    *,
    split: str = "test",
    episodes: int | None = None,
    at_most: bool = False,
    gaze: str | None = None,
    actions: Actions | None = None,
    seed: int = 0,
    batch_size: int = 1000,
    progress: bool = False,
    device: str = "cpu",
    watcher: Watcher | None = None,
    **changes: Any,
) -> Evaluation:
    """Score the policy of a run on its own environment, each episode once.

    Args:
        run: an open run, or its folder.
        split, episodes, at_most, seed, batch_size, progress, watcher: see
            `glimpse_envs.evaluation.protocol.evaluate`.
        gaze: "learned" or a scanner of `agents.scoring.scanners.SCANNERS`; None: the gaze of the
            training.
        actions: "likeliest" or "sampled"; None: `usual_actions`. Samples depend on `batch_size`.
        device: of the model.
        **changes: arguments of the environment that differ from the training's.

    Raises:
        RunError: there is no run, or its policy or checkpoint cannot be read.
        ValueError: `gaze` or `actions` is not known, or `changes` do not fit the policy.
    """
    if not isinstance(run, Run):
        run = open_run(run)
    env_id = setting_of(run, "env_id", str)
    policy, env_kwargs = policy_of(run, gaze, seed, device, **changes)
    actions = usual_actions(env_id) if actions is None else actions
    check_choice("actions", actions, get_args(Actions))
    with torch_threads(run.config["config"].get("threads", 1)):
        try:
            return evaluate(
                policy,
                env_id,
                split=split,
                episodes=episodes,
                at_most=at_most,
                batch_size=batch_size,
                seed=seed,
                deterministic=actions == "likeliest",
                progress=progress,
                watcher=watcher,
                **env_kwargs,
            )
        except SourceError as error:
            if split not in str(error):
                raise
            raise SourceError(f"{error}; or choose another split (--split)") from error


def policy_of(
    run: Run, gaze: str | None = None, seed: int = 0, device: str = "cpu", **changes: Any
) -> tuple[Any, dict[str, Any]]:
    """The policy of a run, and the arguments of its environment; see `evaluate_run`.

    Raises:
        RunError: the policy or its checkpoint cannot be read.
        ValueError: there is no such gaze for this environment, or `changes` change what the policy
            is shown or what its actions mean.
    """
    run = run.with_pictures(changes.get("source"))
    trained_on, config = setting_of(run, "env_kwargs", dict), run.config["config"]
    gaze = gaze or config.get("gaze", "learned")
    if gaze != "learned" and gaze not in SCANNERS:
        raise ValueError(f"gaze={gaze!r} must be one of learned, {', '.join(SCANNERS)}")
    # A third-party policy may not take a device.
    known = {} if device == "cpu" else {"device": device}
    env_kwargs = {**trained_on, **changes}
    policy = as_policy(load_policy(run, source=env_kwargs.get("source"), **known))
    if policy.view == "full":
        env_kwargs = full_view(config["env_id"], env_kwargs)
        trained_on = full_view(config["env_id"], trained_on)
        if gaze != "learned":
            raise ValueError(f"gaze={gaze!r}: a model of the full view takes no looks")
    if changes:
        _check_changes(policy, config, trained_on, env_kwargs, changes)
    if gaze != "learned":
        with closing(gym.make(config["env_id"], **env_kwargs)) as env:
            policy = ScannedPolicy(SCANNERS[gaze](env, seed), policy)
    return policy, env_kwargs


def score_run(
    run: Run, *, split: str = "test", episodes: int | None = None, **options: Any
) -> list[Evaluation]:
    """All scores of a run, the headline first.

    Without a `scored_level` there is one score, of the whole split. With it there is one at each of
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
    run = run.with_pictures(options.get("source"))
    greatest = scored_level(run)
    if greatest is None or options.keys() & set(LEVEL_ARGUMENTS):
        return [evaluate_run(run, split=split, episodes=episodes, **options)]
    if episodes is None:
        episodes, options = EPISODES_PER_LEVEL, {"at_most": True, **options}
    found = []
    for level in (multiple * greatest for multiple in MULTIPLES):
        if level > greatest and not fits(run, at_level(level)):
            break
        score = evaluate_run(run, split=split, episodes=episodes, **options, **at_level(level))
        found.append(score)
    return found


def validate_run(run: Run) -> dict[str, float]:
    """The score of a run on `validation_episodes` of its config, or all of a smaller split; levels
    that are not mixed are played at the greatest trained one.

    Returns:
        a line of metrics: the means "validation/success" (absent where the task has no success) and
        "validation/return", and "validation/episodes".

    Raises:
        RunError: the run's policy or checkpoint cannot be read.
    """
    greatest = scored_level(run)
    changes: dict[str, Any] = {} if greatest is None else at_level(greatest)
    episodes = run.config["config"]["validation_episodes"]
    score = evaluate_run(run, split="validation", episodes=episodes, at_most=True, **changes)
    found = {"validation/return": score.mean_return, "validation/episodes": score.episodes}
    return found if score.success is None else {"validation/success": score.success, **found}


def trained_levels(run: Run) -> tuple[int, int] | None:
    """The least and the greatest trained level of a run; None without levels."""
    return _trained_on(run).levels


def scored_level(run: Run) -> int | None:
    """The level of a run's headline score, the greatest trained; None without levels, where the
    task's scores mix them, or where it has no arguments that select one."""
    seen = _trained_on(run)
    if seen.levels is None or seen.scores_mix_levels:
        return None
    taken = arguments_of(setting_of(run, "env_id", str), setting_of(run, "env_kwargs", dict))
    return seen.levels[1] if taken is None or taken.issuperset(LEVEL_ARGUMENTS) else None


def _trained_on(run: Run) -> Description:
    env_id, env_kwargs = setting_of(run, "env_id", str), setting_of(run, "env_kwargs", dict)
    try:
        with naming_environment(env_id, env_kwargs):
            return describe_id(env_id, env_kwargs)
    except ValueError as error:
        if not isinstance(error.__cause__, TypeError):
            raise  # of a source or a file, not of an argument
        raise ValueError(
            f"{run.config_path}: its env_kwargs do not fit its env_id: {error}. Put back a copy, "
            "or make the run again with others"
        ) from error


def at_level(level: int) -> dict[str, Any]:
    """The environment's arguments for episodes of `level` alone."""
    return {"length": level, "min_length": level}


def fits(run: Run, changes: dict[str, Any]) -> bool:
    """Whether the run's policy can play an environment with `changes`; see `policy_of`."""
    try:
        policy_of(run, "learned", **changes)
    except ValueError:
        return False
    return True


def _check_changes(
    policy: Policy,
    config: dict[str, Any],
    trained: dict[str, Any],
    changed: dict[str, Any],
    changes: dict[str, Any],
) -> None:
    """Raise a `ValueError` where `changes` of the arguments change what the `policy` of a run with
    `config` is shown, or what its actions mean, or show more than it can read."""
    env_id = config["env_id"]
    network = config.get("network")
    cells = isinstance(network, dict) and network.get("look_coordinates") == "cells"
    given = ", ".join(f"{name}={value!r}" for name, value in changes.items())
    task = task_class_of(env_id)
    if "view" in changed and task is not None:
        of_glimpses = (task.view_arguments | task.glimpse_arguments | {"budget"}) - {"view"}
        unseen = changes.keys() & of_glimpses
        if unseen:
            raise ValueError(
                f"{given}: this policy sees the whole scene, and knows no {', '.join(unseen)} but "
                "that of its training"
            )
    before = _interface(describe_id(env_id, trained), trained, cells)
    with naming_environment(env_id, changes):
        seen = describe_id(env_id, changed)
    now = _interface(seen, changed, cells)
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            raise ValueError(
                f"{given}: the policy was trained with {name} {before.get(name, 'none')}, and "
                f"would have {now.get(name, 'none')}: leave this out, or train another"
            )
    policy.check_readable(seen.observation_space)


def _interface(seen: Description, env_kwargs: dict[str, Any], cells: bool) -> dict[str, Any]:
    """What a policy is shown and does, name -> shape or space; of tapes and tables in the full
    view, which grow with a level, only what does not. A policy that looks at `cells` has learned
    their distances in one scene."""
    view = seen.picture_view
    shapes = {name: part.shape or () for name, part in seen.observation_space.items()}
    if "view" in env_kwargs and len(shapes.get("scene", ())) == 2:
        return {f"observation[{name!r}]": shape[-1:] for name, shape in shapes.items()}
    parts: dict[str, Any] = {f"observation[{name!r}]": shape for name, shape in shapes.items()}
    parts |= {f"action[{name!r}]": part.space for name, part in seen.components.items()}
    if view is None:
        return parts
    if cells:
        space = view.space
        parts["places"] = f"of {space.height}x{space.width} pixels, {space.margin:g} from the edge"
    return {**parts, "look": view.look}
