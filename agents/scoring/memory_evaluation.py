"""Scoring runs on tapes and tables: the share of sequences that is wholly right, at the greatest
length of the training and beyond it."""

import time
from contextlib import closing
from typing import Any

import gymnasium as gym
from gymnasium import spaces

import glimpse_envs  # noqa: F401  (registers the environments)
from agents.evaluate import evaluate_run, model_name
from glimpse_envs.evaluation.memory_records import MULTIPLES, SOLVED, MemoryRecord
from glimpse_envs.evaluation.protocol import Evaluation
from glimpse_envs.evaluation.runs import Run, git_revision, load_policy

SEQUENCES = 1_000


def greatest_length(run: Run) -> int | None:
    """The greatest length that a run was trained on; None where what is hidden has none."""
    config = run.config["config"]
    with closing(gym.make(config["env_id"], **config["env_kwargs"])) as env:
        levels = env.unwrapped.task.levels  # type: ignore[attr-defined]
    return None if levels is None else int(levels[1])


def solved_share(run: Run) -> float:
    """The share of 1,000 validation sequences that a run's policy gets wholly right; of the
    greatest length of its training, where what is hidden has one.

    Raises:
        RunError: the run's policy or checkpoint cannot be read.
    """
    length = greatest_length(run)
    changes: dict[str, Any] = {} if length is None else {"min_length": length}
    return evaluate_run(run, split="validation", scenes=SEQUENCES, **changes).accuracy


def evaluate_lengths(run: Run) -> dict[int, Evaluation]:
    """Length -> the score on 1,000 test sequences of that length, at `MULTIPLES` of the greatest of
    the training, as far as the environment looks alike there.

    Raises:
        RunError: the run's policy or checkpoint cannot be read.
        ValueError: what is hidden has no length.
    """
    longest = greatest_length(run)
    if longest is None:
        raise ValueError(f"{run.config['config']['env_id']} hides nothing that has a length")
    found = {}
    for length in (multiple * longest for multiple in MULTIPLES):
        if not _looks_alike(run, length):
            break
        changes: dict[str, Any] = {"length": length, "min_length": length}
        found[length] = evaluate_run(run, scenes=SEQUENCES, batch_size=250, **changes)
    return found


def make_memory_record(run: Run, notes: str = "") -> MemoryRecord:
    """The record of a run on a tape or a table; its scores are measured here.

    Raises:
        RunError: the run's policy or checkpoint cannot be read.
        ValueError: what is hidden has no length.
    """
    config = run.config["config"]
    scores = evaluate_lengths(run)
    longest, at_longest = next(iter(scores.items()))
    found = _when_solved(run)
    _, metadata = run.load_checkpoint()
    whole_view = hasattr(load_policy(run.folder), "env_kwargs")
    return MemoryRecord(
        env_id=config["env_id"],
        env_kwargs={**config["env_kwargs"], **({"view": "full"} if whole_view else {})},
        model=model_name(run),
        answer_by=config.get("answer_by", "label"),
        curriculum=config["curriculum"] or "uniform",
        seed=run.config["seed"],
        length=longest,
        solved=solved_share(run) >= SOLVED,
        episodes_to_solve=None if found is None else found[0],
        minutes_to_solve=None if found is None else round(found[1] / 60, 3),
        episodes=metadata["images"],
        seconds=round(metadata["seconds"], 1),
        accuracy_by_length={str(n): score.accuracy for n, score in scores.items()},
        cells_read=_cells_read(run, at_longest, longest),
        seconds_per_step=_seconds_per_step(run, longest),
        hardware=run.config["hardware"],
        revision=git_revision() if run.config["revision"] == "unknown" else run.config["revision"],
        config=config,
        sequences=SEQUENCES,
        notes=notes,
        cores=config["threads"],
    )


def _when_solved(run: Run) -> tuple[int, float] | None:
    """Episodes and seconds until the first look that found the run solved."""
    for line in run.read_metrics():
        if line.get("solved_share", 0.0) >= SOLVED:
            return int(line["step"]), line["seconds"]
    return None


def _looks_alike(run: Run, length: int) -> bool:
    """Whether the run's policy can be asked about sequences of `length`."""
    config = run.config["config"]
    policy: Any = load_policy(run.folder)
    kwargs = config["env_kwargs"]
    if hasattr(policy, "env_kwargs"):
        kwargs = policy.env_kwargs(kwargs)
    shown = []
    for changes in ({}, {"length": length, "min_length": length}):
        try:
            with closing(gym.make(config["env_id"], **{**kwargs, **changes})) as env:
                shown.append((env.observation_space, env.action_space))
        except ValueError:  # the task has no room for so much
            return False
    (seen, actions), (then_seen, then_actions) = shown
    if "view" not in kwargs:
        return bool(seen == then_seen and actions == then_actions)
    # Of a longer tape there is more to see, of the same kind.
    return _widths(seen) == _widths(then_seen)


def _widths(space: spaces.Space) -> dict[str, int]:
    assert isinstance(space, spaces.Dict)
    return {name: leaf.shape[-1] for name, leaf in space.spaces.items() if leaf.shape}


def _cells_read(run: Run, evaluation: Evaluation, length: int) -> float:
    """Cells that reading touched in an episode of `length`, a mean, counted each time."""
    config = run.config["config"]
    policy: Any = load_policy(run.folder)
    kwargs = {**evaluation.env_kwargs}
    with closing(gym.make(config["env_id"], **kwargs)) as env:
        assert isinstance(env.observation_space, spaces.Dict)
        if hasattr(policy, "cells_read"):
            scene = env.observation_space["scene"].shape
            assert scene is not None
            return float(policy.cells_read(scene[0]))
        glimpse = env.observation_space["glimpse"].shape
        assert glimpse is not None
    heads = glimpse[0] if len(glimpse) == 2 else 1
    return round(heads * evaluation.mean_glimpses, 3)


def _seconds_per_step(run: Run, length: int) -> float:
    """Of the model and the environment together, a single row at `length`, a median of three."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        changes: dict[str, Any] = {"length": length, "min_length": length}
        played = evaluate_run(run, scenes=20, batch_size=1, **changes)
        times.append((time.perf_counter() - started) / max(1.0, played.glimpses.sum()))
    return round(sorted(times)[1], 8)
