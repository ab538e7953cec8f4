"""Whole episodes: played with the gradient kept, so that learning needs no second forward pass, or
without it and replayed, as often as one likes, with the policy as it is by then."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray
from torch import Tensor

import glimpse_envs  # noqa: F401  (registers the environments)
from agents.episodes.trajectory import Observation, Trajectory
from agents.policy.glimpse_policy import Decision, GlimpsePolicy
from agents.training.config import TrainingConfig

# Rows that have ended are dropped when no more than this share of those decided on is left.
DROP_AT = 0.8

Choose = Callable[[Decision, Observation, dict[str, Any], int], dict[str, Tensor]]


def make_training_env(config: TrainingConfig, **kwargs: Any) -> VectorEnv:
    """The environment of a config's batches of whole episodes, with further arguments `kwargs`."""
    arguments = {**config.env_kwargs, **kwargs}
    with closing(gym.make(config.env_id, **arguments)) as env:
        assert isinstance(env.action_space, spaces.Dict)
        task: Any = env.unwrapped.task  # type: ignore[attr-defined]
        ends_differ = "stop" in env.action_space.spaces or task.levels is not None
    return gym.make_vec(
        config.env_id,
        num_envs=config.batch_size,
        split="train",
        copies=config.copies,
        autoreset_mode="SameStep" if ends_differ else "Disabled",
        **arguments,
    )


def sample_actions(
    decision: Decision, answer_by: str, generator: torch.Generator
) -> dict[str, Tensor]:
    """Sample what is learned by reward; with `answer_by` "label" answer with the likeliest."""
    return {
        name: head.guess(generator)
        if name == "answer" and answer_by == "label"
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
) -> Trajectory:
    """Deal new episodes to all rows of `env` and play each to its end.

    Args:
        env: batched, with `autoreset_mode` "Disabled", or "SameStep" where rows can stop early.
        policy: decides; its gradient is kept unless it is switched off around the call.
        choose: turns (decision, observation, info, step) into an action, name -> (B, ...).
        precision: of the matrix products; bfloat16 is several times faster where the processor
            has it, and sums in float32.
        options: for `reset`.
        drop_ended: decide no more on rows that have ended, once they are many; `choose` must then
            not read `info`, which is of all rows.

    Raises:
        FloatingPointError: what the policy decides is not finite.
    """
    device = next(policy.parameters()).device
    observation, info = env.reset(options=dict(options or {}))
    task: Any = env.unwrapped.task  # type: ignore[attr-defined]
    earns = np.broadcast_to(task.answer_reward, env.num_envs).astype(np.float64)
    lengths = info.get("length", np.zeros(env.num_envs, np.int64)).copy()
    state = policy.initial_state(env.num_envs)
    alive = np.ones(env.num_envs, np.bool_)
    solved = np.zeros(env.num_envs, np.bool_)
    going: Tensor | None = None  # (b,) the rows that are still decided on; None: all
    decisions: list[Decision] = []
    rows: list[Tensor | None] = []
    observations: list[Observation] = []
    actions: list[dict[str, Tensor]] = []
    steps: list[tuple[NDArray, ...]] = []
    with autocast(device, precision):
        while alive.any():
            if drop_ended and alive.sum() <= DROP_AT * (
                len(alive) if going is None else len(going)
            ):
                left = np.flatnonzero(alive)
                kept = left if going is None else np.searchsorted(going.cpu().numpy(), left)
                state = tuple(part[torch.as_tensor(kept).to(device)] for part in state)
                going = torch.as_tensor(left).to(device)
            tensors = policy.as_tensors(observation)
            seen = tensors if going is None else _rows(tensors, going)
            decision, state = policy(seen, state)
            _check_finite(decision, len(steps))
            action = choose(decision, seen, info, len(steps))
            if going is not None:
                action = {name: _widened(a, going, env.num_envs) for name, a in action.items()}
            stoppable = alive & _has_glimpses_left(observation)
            env_action = {name: decision.heads[name].to_env(a) for name, a in action.items()}
            observation, reward, terminated, _, info = env.step(env_action)
            target, counted, right = _answered(info, terminated, env_action["answer"])
            solved = np.where(alive, right, solved)
            after = alive & ~terminated
            steps.append(
                (np.where(alive, reward, 0.0), target, counted & alive, alive, after, stoppable)
            )
            decisions.append(decision)
            rows.append(going)
            observations.append(tensors)
            actions.append(action)
            alive = after
    rewards, *masks = (
        torch.as_tensor(np.stack(column)).to(device) for column in zip(*steps, strict=True)
    )
    rewards = rewards.to(decisions[0].value.dtype)
    earned, *episodes = (torch.as_tensor(a).to(device) for a in (earns, lengths, solved))
    return Trajectory(
        decisions, rows, observations, actions, rewards, earned.to(rewards), *episodes, *masks
    )


def replay_episodes(
    policy: GlimpsePolicy,
    played: Trajectory,
    rows: Tensor,
    *,
    precision: torch.dtype = torch.float32,
) -> Trajectory:
    """Decide anew, from the first glimpse on, of what was seen in `rows` (b,) of `played`.

    Args:
        policy: decides as it is now; its gradient is kept.
        played: episodes that were played.
        rows: (b,) int64, which episodes.
        precision: see `play_episodes`.

    Returns:
        The episodes of `rows` with their observations and actions, and the new decisions.

    Raises:
        FloatingPointError: what the policy decides is not finite.
    """
    device = played.rewards.device
    rows = rows.to(device)
    state = policy.initial_state(len(rows))
    decisions: list[Decision] = []
    observations = [_rows(observation, rows) for observation in played.observations]
    with autocast(device, precision):
        for observation in observations:
            decision, state = policy(observation, state)
            _check_finite(decision, len(decisions))
            decisions.append(decision)
    return Trajectory(
        decisions,
        [None] * len(decisions),
        observations,
        actions=[_rows(action, rows) for action in played.actions],
        rewards=played.rewards[:, rows],
        answer_reward=played.answer_reward[rows],
        lengths=played.lengths[rows],
        solved=played.solved[rows],
        targets=played.targets[:, rows],
        counted=played.counted[:, rows],
        alive=played.alive[:, rows],
        looked=played.looked[:, rows],
        stoppable=played.stoppable[:, rows],
    )


def _rows(named: dict[str, Tensor], rows: Tensor) -> dict[str, Tensor]:
    return {name: values[rows] for name, values in named.items()}


def _check_finite(decision: Decision, step: int) -> None:
    for name, head in decision.heads.items():
        if not head.is_finite():
            raise FloatingPointError(f"the policy's {name} after glimpse {step + 1} is not finite")


def _has_glimpses_left(observation: dict[str, NDArray]) -> NDArray[np.bool_] | bool:
    """Whether each row's budget is not spent, (B,); in the full view, which has none, False."""
    return observation["remaining"][:, 0] > 0 if "remaining" in observation else False


def _answered(
    info: dict[str, Any], terminated: NDArray[np.bool_], answer: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """What was right, whether it counted, and whether `answer` solves it, (B,) each, for all
    rows."""
    final = info.get("final_info", {})

    def told(name: str) -> NDArray:
        if name not in final:
            return info[name]
        return np.where(terminated, final[name], info[name]) if name in info else final[name]

    target = told("target")
    solves = told("solved") if "solved" in info or "solved" in final else answer == target
    return target, told("target_mask"), solves


def _widened(values: Tensor, rows: Tensor, num_envs: int) -> Tensor:
    """`values` (b, ...) of `rows` (b,) as those of all rows, 0 elsewhere."""
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
