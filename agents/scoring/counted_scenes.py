"""Multiply-adds of a policy's decisions, counted on scenes that stand for an evaluation's.

Each scene is played alone: what one row costs may depend on what it sees, and a row of a batch that
has ended would be counted as if it had not.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.policy.glimpse_network import GlimpseNetwork
from agents.scoring.multiply_adds import multiply_adds, of_layers
from glimpse_envs.evaluation.acting import as_act
from glimpse_envs.evaluation.dealing import deal
from glimpse_envs.evaluation.policy import as_policy
from glimpse_envs.evaluation.result import Evaluation

SCENES = 16
"""The most scenes that are counted."""

ALIKE = 3
"""Number of scenes after which no further ones are counted, if all have cost the same."""


class SceneReader:
    """A base of models that read a whole scene in one call of `predict`, however many steps of an
    episode their answers take.

    Attributes:
        values_read: the numbers that reading gives to the model.
    """

    values_read: int


class SoftReader:
    """A base of models with internal glimpses, each read by the agents' glimpse network and
    followed by one answer.

    It is a base class, not a runtime-checkable protocol: from Python 3.12 on a torch module would
    fail the check, because its parts are found only by its `__getattr__`.
    """

    glimpse_network: GlimpseNetwork
    answer_head: nn.Module


@dataclass(frozen=True)
class Inside:
    """Means over scenes of what a model does in one call of `predict`."""

    values: NDArray[np.float64]
    """(T,), delivered up to each glimpse that it takes inside itself; T = 1 where it takes none."""
    multiply_adds: NDArray[np.float64]
    """(T,)."""
    reading: float
    """The multiply-adds of reading alone."""


def count_steps(
    policy: Any, env: gym.vector.VectorEnv, evaluation: Evaluation
) -> NDArray[np.float64]:
    """The mean multiply-adds (T,) of deciding on the 1st, 2nd, ... observation of an episode, among
    those that are so long.

    Args:
        policy: as `glimpse_envs.evaluation.protocol.evaluate` takes it.
        env: the evaluation's, of one row.
        evaluation: of this policy.
    """
    act = as_act(as_policy(policy), env, deterministic=evaluation.actions == "likeliest")
    longest = int(evaluation.glimpses.max())
    counted = np.full((SCENES, longest), np.nan)
    for played, scene in enumerate(_scenes(evaluation)):
        if played >= ALIKE and _alike(counted[:played]):
            break
        observation, info = deal(env, evaluation.split, evaluation.seed, scene)
        state, start, ended = None, np.ones(1, np.bool_), np.zeros(1, np.bool_)
        with multiply_adds() as total:
            for step in range(longest):
                before = total()
                action, state = act(observation, state, start, info)
                counted[played, step] = total() - before
                observation, _, terminated, truncated, info = env.step(action)
                start = ended = terminated | truncated
                if ended[0]:
                    break
    reached = ~np.isnan(counted)
    totals = np.where(reached, counted, 0.0).sum(axis=0)
    # Of sampled actions, none of the scenes may last as long as before: a step costs what the one
    # before it does.
    latest = np.maximum.accumulate(np.where(reached.any(axis=0), np.arange(longest), 0))
    return (totals / reached.sum(axis=0).clip(1))[latest]


def count_inside(model: Any, env: gym.vector.VectorEnv, evaluation: Evaluation) -> Inside:
    """What `model` does in one call of `predict` on a first observation.

    Args:
        model: a torch module.
        env: the evaluation's, of one row.
        evaluation: of this model.
    """
    counts: list[_Count] = []
    for scene in _scenes(evaluation):
        spent = [count.multiply_adds for count in counts]
        if len(spent) >= ALIKE and spent == spent[:1] * len(spent):
            break
        observation, _ = deal(env, evaluation.split, evaluation.seed, scene)
        counts.append(_counted(model, observation))
    return Inside(
        np.mean([np.cumsum(count.values) for count in counts], axis=0),
        np.mean([count.multiply_adds for count in counts], axis=0),
        float(np.mean([count.reading for count in counts])),
    )


@dataclass
class _Count:
    """Of one scene: values, and multiply-adds so far, of each glimpse inside."""

    values: list[int] = field(default_factory=list)
    multiply_adds: list[int] = field(default_factory=list)
    reading: int = 0


def _counted(model: Any, observation: dict[str, NDArray]) -> _Count:
    count, cheaper = _Count(), 0
    with ExitStack() as hooks, multiply_adds() as total, of_layers(total, model) as layers:

        def note_start(*_: Any) -> None:
            nonlocal cheaper
            cheaper += total()

        def note_end(part: Any, *_: Any) -> None:
            nonlocal cheaper
            cheaper -= total() - part.reading_multiply_adds

        for part in model.modules():
            if hasattr(part, "reading_multiply_adds"):
                hooks.enter_context(part.register_forward_pre_hook(note_start))
                hooks.enter_context(part.register_forward_hook(note_end))
        if isinstance(model, SoftReader):
            what = model.glimpse_network.what_key

            def note_values(_: nn.Module, seen: tuple[dict[str, Tensor]]) -> None:
                count.values.append(seen[0][what].numel())

            def note_multiply_adds(*_: Any) -> None:
                count.multiply_adds.append(total() + cheaper)

            network, head = model.glimpse_network, model.answer_head
            hooks.enter_context(network.register_forward_pre_hook(note_values))
            hooks.enter_context(head.register_forward_hook(note_multiply_adds))
        model.predict(observation)
        spent = total() + cheaper
        count.reading = spent - layers()
    if not count.values:
        whole = model.values_read if isinstance(model, SceneReader) else observation["scene"].size
        count.values, count.multiply_adds = [whole], [spent]
    return count


def _scenes(evaluation: Evaluation) -> Iterator[NDArray[np.int64]]:
    """Scenes (1,) of every length of episode alike, the longest first."""
    order = np.argsort(evaluation.glimpses, kind="stable")
    ranks = np.linspace(0, len(order) - 1, min(SCENES, len(order))).round().astype(np.int64)
    for rank in np.roll(ranks, 1):
        yield order[rank, None]


def _alike(counted: NDArray[np.float64]) -> bool:
    """Whether the scenes (n, T) cost the same at every step that they have."""
    known = ~np.isnan(counted)
    least = np.where(known, counted, np.inf).min(axis=0)
    return bool(np.all(least >= np.where(known, counted, -np.inf).max(axis=0)))
