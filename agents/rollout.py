"""Whole episodes: played with the gradient kept, so that learning needs no second forward pass, or
without it and replayed, as often as one likes, with the policy as it is by then."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray
from torch import Tensor

import glimpse_envs  # noqa: F401  (registers the environments)
from agents.distributions import Distribution, OptionalAnswer
from agents.policy import Decision, GlimpsePolicy
from agents.training import TrainingConfig

# Rows that have ended are dropped when no more than this share of those decided on is left.
DROP_AT = 0.8

Observation = dict[str, Tensor]
Choose = Callable[[Decision, Observation, dict[str, Any], int], dict[str, Tensor]]


@dataclass(frozen=True)
class Trajectory:
    """One episode of each of B rows, T steps of the longest; what follows a row's end is not alive.

    Args:
        decisions: T decisions, with their gradients where they were kept.
        rows: T times which rows they are of, (b,) int64, where the others have ended; None: all B.
        observations: T observations, name -> (B, ...), of which the decisions were made.
        actions: T actions, name -> (B, ...), as they were sampled.
        rewards: (T, B), 0 where not alive.
        answer_reward: (B,), what a right answer that counts earns.
        lengths: (B,) int64 of what is hidden, 0 where it has none.
        solved: (B,) bool, whether the last answer was right, or all that was asked.
        targets: (T, B) int64, the right answers.
        counted: (T, B) bool, where the answer counted.
        alive: (T, B) bool.
        looked: (T, B) bool, where the look was taken: all alive steps but an episode's last.
        stoppable: (T, B) bool, where stopping was a choice: all alive steps but the budget's last.
    """

    decisions: list[Decision]
    rows: list[Tensor | None]
    observations: list[Observation]
    actions: list[dict[str, Tensor]]
    rewards: Tensor
    answer_reward: Tensor
    lengths: Tensor
    solved: Tensor
    targets: Tensor
    counted: Tensor
    alive: Tensor
    looked: Tensor
    stoppable: Tensor

    @property
    def values(self) -> Tensor:
        """The baseline's values, (T, B), 0 of rows that were not asked for."""
        return self._padded([decision.value for decision in self.decisions])

    def log_likelihood(self) -> Tensor:
        """The log-probability of the right answer at every step, if one is given, (T, B)."""
        steps = zip(self.decisions, self.targets, self.rows, strict=True)
        return self._padded(
            [d.heads["answer"].log_likelihood(_of(target, rows)) for d, target, rows in steps]
        )

    def effective(self, *, looks: bool, answers: bool) -> dict[str, Tensor]:
        """Where a decision that is learned by reward had an effect: component -> (T, B) bool.

        A look that was ignored, what was written with it, an answer that did not count and a stop
        when the budget was spent had none. Stops, writes, and whether to answer where that is a
        choice ("answering") are always learned by reward, `looks` and `answers` where it is said.
        """
        heads = self.decisions[0].heads
        masks = {"stop": self.stoppable, "write": self.looked}
        if looks:
            masks["look"] = self.looked
        if answers:
            masks["answer"] = self.counted
        masks = {name: mask for name, mask in masks.items() if name in heads}
        if isinstance(heads.get("answer"), OptionalAnswer):
            masks["answering"] = self.alive
        return masks

    def stack(self, name: str, quantity: str) -> Tensor:
        """Stack over time the `quantity` ("log_prob" or "entropy") of component `name`: (T, B)."""
        columns = []
        for decision, action, rows in zip(self.decisions, self.actions, self.rows, strict=True):
            head, chosen = _component(name, decision, action)
            if quantity == "entropy":
                columns.append(head.entropy())
            else:
                columns.append(head.log_prob(_of(chosen, rows)))
        return self._padded(columns)

    def _padded(self, columns: list[Tensor]) -> Tensor:
        """T columns (b,), each of its step's rows, as (T, B), 0 elsewhere."""
        whole = []
        for column, rows in zip(columns, self.rows, strict=True):
            if rows is not None:
                column = column.new_zeros(self.alive.shape[1]).index_copy(0, rows, column)
            whole.append(column)
        return torch.stack(whole)

    def joint(self, quantity: str, effective: dict[str, Tensor]) -> Tensor:
        """The `quantity` of each step's whole action: the sum over the components of `effective`,
        where they had an effect; (T, B)."""
        total = torch.zeros_like(self.rewards)
        for name, mask in effective.items():
            total = total + self.stack(name, quantity) * mask
        return total

    def summary(self) -> dict[str, float]:
        """Means over the episodes: the share not solved, the return, and the glimpses taken."""
        return {
            "error": 1.0 - self.solved.float().mean().item(),
            "return": self.rewards.sum(dim=0).mean().item(),
            "glimpses": self.alive.float().sum(dim=0).mean().item(),
        }


def rewarded_for_entropy(effective: dict[str, Tensor]) -> dict[str, Tensor]:
    """Of the decisions in `effective` those whose entropy a bonus is paid for: not what is answered
    or written, which has many choices and earns late, so that a bonus would flatten it first."""
    return {name: mask for name, mask in effective.items() if name not in ("answer", "write")}


def _component(
    name: str, decision: Decision, action: dict[str, Tensor]
) -> tuple[Distribution, Tensor]:
    """The distribution of what `name` stands for, and what was chosen of it."""
    head = decision.heads["answer" if name == "answering" else name]
    chosen = action["answer" if name == "answering" else name]
    if not isinstance(head, OptionalAnswer):
        return head, chosen
    if name == "answering":
        return head.given, (chosen != 0).long()[:, None]
    return head.which, (chosen - 1).clamp(min=0)


def _of(values: Tensor, rows: Tensor | None) -> Tensor:
    return values if rows is None else values[rows]


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
