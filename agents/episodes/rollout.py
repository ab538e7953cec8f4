"""Whole episodes: played, with or without the gradient, and replayed with the present policy."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from gymnasium.vector import VectorEnv
from torch import Tensor

from agents.episodes.playing import Choose, Part, check_finite
from agents.episodes.trajectory import Observation, Trajectory, of_rows
from agents.policy.glimpse_policy import Decision, GlimpsePolicy, Grounds
from agents.training.precision import autocast
from glimpse_envs.task import Component

ENCODED_AT_ONCE = 64
"""Number of glimpses encoded together, of several steps where rows are few: on one CPU core,
convolutions of 8 pictures, and those of 512, take up to twice as long per picture."""


def sample_actions(
    decision: Decision,
    components: Mapping[str, Component],
    answer_by: str,
    generator: torch.Generator,
) -> dict[str, Tensor]:
    """Sample what is learned by reward; with `answer_by` "label", guess what is taught.

    Returns:
        Component -> actions (B, ...).
    """
    return {
        name: head.guess(generator)
        if components[name].taught and answer_by == "label"
        else head.sample(generator)
        for name, head in decision.heads.items()
    }


def play_episodes(
    envs: VectorEnv | Sequence[VectorEnv],
    policy: GlimpsePolicy,
    choose: Choose,
    *,
    precision: torch.dtype = torch.float32,
    options: Mapping[str, Any] | None = None,
    drop_ended: bool = False,
    generator: torch.Generator | None = None,
) -> Trajectory:
    """Deal new episodes to all rows of a batch and play each to its end.

    Several processes all take the same number of steps, and drop rows at the same steps.

    Args:
        envs: the batch, with `autoreset_mode` "Disabled", or "SameStep" where rows can end early;
            or its parts, which take turns: while one is stepped, a GPU decides on the others.
        policy: its gradient is kept, unless it is switched off around the call.
        choose: from (decision, observation, info, step) to an action, name -> (B, ...).
        precision: of the matrix products; bfloat16 is several times faster where the processor
            has it, and sums in float32.
        options: for `reset`.
        drop_ended: leave out rows that have ended, once there are many; `choose` must then not read
            `info`, which holds all rows.
        generator: what `choose` draws from, needed with `drop_ended`.

    Raises:
        FloatingPointError: a decision is not finite.
    """
    batch = [envs] if isinstance(envs, VectorEnv) else list(envs)
    device = next(policy.parameters()).device
    with autocast(device, precision):
        parts = [Part(env, policy, choose, options, drop_ended, generator) for env in batch]
        while any(part.plays for part in parts):
            for part in parts:
                if part.plays:
                    part.step()
    return Trajectory.joined([part.trajectory() for part in parts])


def replay_episodes(
    policy: GlimpsePolicy,
    played: Trajectory,
    rows: Tensor,
    *,
    precision: torch.dtype = torch.float32,
    encoded_at_once: int = ENCODED_AT_ONCE,
) -> Trajectory:
    """The episodes of `rows` (b,) int64 of `played`, with the decisions of the present policy,
    whose gradient is kept.

    Args:
        policy: decides anew.
        played: the episodes of a batch.
        rows: which of them.
        precision: see `play_episodes`.
        encoded_at_once: number of glimpses, of several steps where rows are few; with 1 the policy
            is called step by step, as in playing, and otherwise its heads read all steps together.

    Raises:
        FloatingPointError: a decision is not finite.
    """
    device = played.rewards.device
    rows = rows.to(device)
    observations = [of_rows(observation, rows) for observation in played.observations]
    state = policy.initial_state(len(rows))
    grounds: list[Grounds] = []
    with autocast(device, precision):
        codes = encoded(policy.encode, observations, encoded_at_once)
        for observation, seen in zip(observations, codes, strict=True):
            known, state = policy.remember(observation, state, seen)
            grounds.append(known)
        if encoded_at_once == 1:
            decisions = [policy.decide(known) for known in grounds]
        else:  # only the core needs one step after another
            decisions = policy.decide(Grounds.joined(grounds)).chunk(len(grounds))
    for step, decision in enumerate(decisions):
        check_finite(decision, step)
    return played.of_rows(rows, decisions)


def encoded(
    encode: Callable[[Observation], Tensor],
    observations: Sequence[Observation],
    at_once: int = ENCODED_AT_ONCE,
) -> Iterator[Tensor]:
    """Yield the codes (b, units) by `encode` of each step's observations, name -> (b, ...). Where
    rows are few, several steps are encoded together, `at_once` observations at a time."""
    rows = len(next(iter(observations[0].values())))
    steps = max(1, at_once // max(1, rows))  # another process may have all the rows
    for first in range(0, len(observations), steps):
        group = observations[first : first + steps]
        joined = {name: torch.cat([step[name] for step in group]) for name in group[0]}
        yield from encode(joined).chunk(len(group))
