"""Whole episodes: played, with or without the gradient, and replayed with the present policy."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray
from torch import Tensor

from agents.episodes.trajectory import Observation, Trajectory, of_rows
from agents.policy.glimpse_policy import Decision, GlimpsePolicy
from agents.policy.networks import State
from agents.training.distributed import processes, row_counts
from agents.training.row_draws import RowGenerator
from glimpse_envs.episodes.description import answer_rewards
from glimpse_envs.episodes.infos import read_outcome
from glimpse_envs.task import Component

# Rows that have ended are dropped when no more than this share of those decided on is left.
DROP_AT = 0.8

Choose = Callable[[Decision, Observation, dict[str, Any], int], dict[str, Tensor]]


def sample_actions(
    decision: Decision,
    components: Mapping[str, Component],
    answer_by: str,
    generator: torch.Generator,
) -> dict[str, Tensor]:
    """Sample what is learned by reward; guess what is taught, with `answer_by` "label"."""
    return {
        name: head.guess(generator)
        if components[name].taught and answer_by == "label"
        else head.sample(generator)
        for name, head in decision.heads.items()
    }


def play_episodes(
    env: VectorEnv,
    policy: GlimpsePolicy,
    choose: Choose,
    *,
    precision: torch.dtype = torch.float32,
    options: Mapping[str, Any] | None = None,
    drop_ended: bool = False,
    generator: torch.Generator | None = None,
) -> Trajectory:
    """Deal new episodes to all rows of `env` and play each to its end.

    Of several processes all take as many steps, and drop rows at the same ones.

    Args:
        env: batched, with `autoreset_mode` "Disabled", or "SameStep" where rows can end early.
        policy: its gradient is kept, unless it is switched off around the call.
        choose: from (decision, observation, info, step) to an action, name -> (B, ...).
        precision: of the matrix products; bfloat16 is several times faster where the processor
            has it, and sums in float32.
        options: for `reset`.
        drop_ended: leave out rows that have ended, once they are many; `choose` must then not read
            `info`, which is of all rows.
        generator: what `choose` draws from, needed with `drop_ended`.

    Raises:
        FloatingPointError: a decision is not finite.
    """
    device = next(policy.parameters()).device
    together = env.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    num_envs = env.num_envs
    observation, info = env.reset(options=dict(options or {}))
    earns = answer_rewards(env)
    levels = info.get("length", np.zeros(num_envs, np.int64)).copy()
    state = policy.initial_state(num_envs)
    alive = np.ones(num_envs, np.bool_)
    going: Tensor | None = None  # (b,) the rows that are still decided on; None: all
    deciding = left = np.full(processes(), num_envs)  # rows decided on, rows alive, by process
    _set_counts(generator, deciding)
    last_values = torch.zeros(num_envs, device=device)
    success = np.zeros(num_envs, np.bool_)
    decisions: list[Decision] = []
    rows: list[Tensor | None] = []
    observations: list[Observation] = []
    actions: list[dict[str, Tensor]] = []
    steps: list[tuple[NDArray, ...]] = []
    targets: list[NDArray] = []
    outcome: dict[str, NDArray] = {}
    with autocast(device, precision):
        while left.any():
            if drop_ended and left.sum() <= DROP_AT * deciding.sum():
                own = np.flatnonzero(alive)
                kept = own if going is None else np.searchsorted(going.cpu().numpy(), own)
                state = tuple(part[torch.as_tensor(kept).to(device)] for part in state)
                going, deciding = torch.as_tensor(own).to(device), left
                _set_counts(generator, deciding)
            tensors = policy.as_tensors(observation)
            seen = tensors if going is None else of_rows(tensors, going)
            decision, state = policy(seen, state)
            _check_finite(decision, len(steps))
            action = choose(decision, seen, info, len(steps))
            if going is not None:
                action = {name: _widened(a, going, num_envs) for name, a in action.items()}
            stoppable = alive & _has_glimpses_left(observation)
            env_action = {name: decision.heads[name].to_env(a) for name, a in action.items()}
            observation, reward, terminated, truncated, info = env.step(env_action)
            ended = terminated | truncated
            outcome = read_outcome(info, ended)
            success = np.where(alive, outcome.get("success", success), success)
            cut = alive & truncated & ~terminated
            if cut.any():
                last_values[torch.as_tensor(cut).to(device)] = _values_after(
                    policy, _terminal(observation, info, cut), cut, state, going
                )
            mask = outcome.get("target_mask", np.zeros(num_envs, np.bool_))
            after = alive & ~ended
            steps.append((np.where(alive, reward, 0.0), mask & alive, alive, after, stoppable))
            targets += [outcome["target"]] if "target" in outcome else []
            decisions.append(decision)
            rows.append(going)
            observations.append(tensors)
            actions.append(action)
            alive = after
            left = _counts(int(alive.sum()), together)
    rewards, answered, lived, went_on, could_stop = (
        torch.as_tensor(np.stack(column)).to(device) for column in zip(*steps, strict=True)
    )
    rewards = rewards.to(decisions[0].value.dtype)
    earned, at_levels, done = (torch.as_tensor(a).to(device) for a in (earns, levels, success))
    return Trajectory(
        policy.components,
        decisions,
        rows,
        observations,
        actions,
        rewards,
        earned.to(rewards),
        at_levels,
        done if "success" in outcome else None,
        torch.as_tensor(np.stack(targets)).to(device) if targets else None,
        answered,
        lived,
        went_on,
        could_stop,
        last_values.to(rewards),
    )


def _counts(rows: int, together: bool) -> NDArray[np.int64]:
    """The number of `rows` of each process; of all the same where rows end `together`."""
    return np.full(processes(), rows) if together else row_counts(rows)


def _set_counts(generator: torch.Generator | None, counts: NDArray[np.int64]) -> None:
    if isinstance(generator, RowGenerator):
        generator.counts = counts.tolist()


def _values_after(
    policy: GlimpsePolicy,
    terminal: dict[str, NDArray],
    cut: NDArray[np.bool_],
    state: State,
    going: Tensor | None,
) -> Tensor:
    """The values (m,) of the `terminal` observations, name -> (m, ...), of the truncated rows,
    `cut` (B,)."""
    places = np.flatnonzero(cut)
    kept = places if going is None else np.searchsorted(going.cpu().numpy(), places)
    at = torch.as_tensor(kept).to(state[0].device)
    with torch.no_grad():
        decision, _ = policy(policy.as_tensors(terminal), tuple(part[at] for part in state))
    return decision.value.float()


def _terminal(
    observation: dict[str, NDArray], info: dict[str, Any], cut: NDArray[np.bool_]
) -> dict[str, NDArray]:
    """The terminal observations, name -> (m, ...), of the rows in `cut` (B,)."""
    if "final_obs" not in info:
        return {name: values[cut] for name, values in observation.items()}
    finals = info["final_obs"][cut]
    return {name: np.stack([final[name] for final in finals]) for name in finals[0]}


def replay_episodes(
    policy: GlimpsePolicy,
    played: Trajectory,
    rows: Tensor,
    *,
    precision: torch.dtype = torch.float32,
) -> Trajectory:
    """The episodes of `rows` (b,) int64 of `played`, with the decisions of the present policy,
    whose gradient is kept.

    Raises:
        FloatingPointError: a decision is not finite.
    """
    device = played.rewards.device
    rows = rows.to(device)
    state = policy.initial_state(len(rows))
    decisions: list[Decision] = []
    with autocast(device, precision):
        for observation in played.observations:
            decision, state = policy(of_rows(observation, rows), state)
            _check_finite(decision, len(decisions))
            decisions.append(decision)
    return played.of_rows(rows, decisions)


def _check_finite(decision: Decision, step: int) -> None:
    for name, head in decision.heads.items():
        if not head.is_finite():
            raise FloatingPointError(f"the policy's {name} after glimpse {step + 1} is not finite")


def _has_glimpses_left(observation: dict[str, NDArray]) -> NDArray[np.bool_] | bool:
    """Whether each row's budget is not spent, (B,). An invisible budget truncates, so that
    stopping, which terminates, has an effect at every step."""
    return observation["remaining"][:, 0] > 0 if "remaining" in observation else True


def _widened(values: Tensor, rows: Tensor, num_envs: int) -> Tensor:
    """`values` (b, ...) of `rows` (b,), padded with 0 to all rows."""
    whole = values.new_zeros((num_envs, *values.shape[1:]))
    whole[rows] = values
    return whole


@contextmanager
def autocast(device: torch.device, precision: torch.dtype) -> Iterator[None]:
    """Products in `precision`, sums in float32."""
    if precision == torch.float32:
        yield
        return
    with torch.autocast(device.type, dtype=precision):
        yield
