"""The episodes of one part of a batch, while they are played."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray
from torch import Tensor

from agents.episodes.trajectory import Observation, Trajectory, of_rows
from agents.policy.core import State
from agents.policy.glimpse_policy import Decision, GlimpsePolicy
from agents.training.distributed import processes, row_counts
from agents.training.finiteness import check_environment
from agents.training.row_draws import RowGenerator
from agents.training.transfers import ToHost
from glimpse_envs.episodes.description import answer_rewards, task_of
from glimpse_envs.episodes.infos import read_outcome, success_in, told_in
from glimpse_envs.evaluation.endless import check_ends

# Rows that have ended are dropped when no more than this share of those decided on is left.
DROP_AT = 0.8

Choose = Callable[[Decision, Observation, dict[str, Any], int], dict[str, Tensor]]


class Step(NamedTuple):
    """What one step of the environment gave, (B,) each; see `Trajectory`."""

    rewards: NDArray
    target_mask: NDArray
    alive: NDArray
    continuing: NDArray
    stoppable: NDArray


class Part:
    """The episodes of one part of a batch while they are played. The decision on the present
    observation is always under way, so that `step` waits for no other part's."""

    def __init__(
        self,
        env: VectorEnv,
        policy: GlimpsePolicy,
        choose: Choose,
        options: Mapping[str, Any] | None,
        drop_ended: bool,
        generator: torch.Generator | None,
    ) -> None:
        self.env, self.policy, self.choose = env, policy, choose
        self.drop_ended, self.generator = drop_ended, generator
        self.device = next(policy.parameters()).device
        self.together = env.metadata["autoreset_mode"] is AutoresetMode.DISABLED
        rows = env.num_envs
        self.observation, self.info = env.reset(options=dict(options or {}))
        self.earns = answer_rewards(env)
        # Without a task of this kind, an info's "length" or "target" may mean anything, and so may
        # the "remaining" of an observation.
        self.has_task = task_of(env) is not None
        begun = self.info if self.has_task else {}
        self.levels = begun.get("length", np.zeros(rows, np.int64)).copy()
        self.state = policy.initial_state(rows)
        self.alive = np.ones(rows, np.bool_)
        self.going: Tensor | None = None  # (b,) the rows that are still decided on; None: all
        # Rows decided on, rows alive, by process.
        self.deciding = self.left = np.full(processes(), rows)
        self.cut = np.zeros(rows, np.bool_)
        self.last_values = torch.zeros(rows, device=self.device)
        self.success, self.has_success = np.zeros(rows, np.bool_), False
        self.decisions: list[Decision] = []
        self.rows: list[Tensor | None] = []
        self.observations: list[Observation] = []
        self.actions: list[dict[str, Tensor]] = []
        self.steps: list[Step] = []
        self.targets: list[NDArray] = []
        self._decide()
        first = self.observations[0]
        self.last_observation = {name: torch.zeros_like(part) for name, part in first.items()}

    @property
    def plays(self) -> bool:
        """Whether an episode goes on, here or in another process."""
        return bool(self.left.any())

    def _decide(self) -> None:
        """Begin to decide on the present observation, without waiting for the result."""
        if self.drop_ended and self.left.sum() <= DROP_AT * self.deciding.sum():
            own = np.flatnonzero(self.alive)
            going = self.going
            kept = own if going is None else np.searchsorted(going.cpu().numpy(), own)
            self.state = tuple(part[torch.as_tensor(kept).to(self.device)] for part in self.state)
            self.going, self.deciding = torch.as_tensor(own).to(self.device), self.left
        if isinstance(self.generator, RowGenerator):
            self.generator.counts = self.deciding.tolist()
        going, rows = self.going, self.env.num_envs
        tensors = self.policy.as_tensors(self.observation)
        seen = tensors if going is None else of_rows(tensors, going)
        decision, self.state = self.policy(seen, self.state)
        if not decision.value.is_cuda:
            with self._blaming_environment(tensors):
                check_finite(decision, len(self.decisions))
        action = self.choose(decision, seen, self.info, len(self.decisions))
        asked = {name: decision.heads[name].to_env(a) for name, a in action.items()}
        if going is not None:
            action = {name: _widened(a, going, rows) for name, a in action.items()}
            asked = {name: _widened(a, going, rows) for name, a in asked.items()}
        self.asked = ToHost(asked)
        self.decisions.append(decision)
        self.rows.append(going)
        self.observations.append(tensors)
        self.actions.append(action)

    def step(self) -> None:
        """Step the environment by the latest decision, and begin to decide on the next
        observation."""
        alive, rows = self.alive, self.env.num_envs
        stoppable = alive & (not self.has_task or _has_glimpses_left(self.observation))
        actions = self.asked.arrays()
        with self._blaming_environment():
            _check_numbers(actions, len(self.steps))
        self.observation, reward, terminated, truncated, self.info = self.env.step(actions)
        check_ends(self.env, len(self.steps) + 1)
        ended = terminated | truncated
        outcome = read_outcome(self.info, ended)
        success = success_in(outcome, rows)
        if success is not None:
            told = alive & told_in(self.info, ended, "success")
            self.success = np.where(told, success, self.success)
            self.has_success = True
        cut = alive & truncated & ~terminated
        if cut.any():
            self._note_cut(cut)
        asked = outcome if self.has_task else {}
        mask = asked.get("target_mask", np.zeros(rows, np.bool_))
        self.alive = alive & ~ended
        earned = np.where(alive, reward, 0.0)
        self.steps.append(Step(earned, mask & alive, alive, self.alive, stoppable))
        self.targets += [asked["target"]] if "target" in asked else []
        self.left = _counts(int(self.alive.sum()), self.together)
        if self.plays:
            self._decide()

    def _note_cut(self, cut: NDArray[np.bool_]) -> None:
        """Note what follows the truncated rows `cut` (B,)."""
        terminal = self.policy.as_tensors(_terminal(self.observation, self.info, cut))
        after = _values_after(self.policy, terminal, cut, self.state, self.going)
        rows = torch.as_tensor(cut).to(self.device)
        self.cut |= cut
        self.last_values[rows] = after.to(self.last_values)
        for name, part in terminal.items():
            self.last_observation[name][rows] = part

    @contextmanager
    def _blaming_environment(self, *latest: Observation) -> Iterator[None]:
        """Where a number is found that is not finite, look first at what the environment gave, its
        `latest` observation included."""
        try:
            yield
        except FloatingPointError:
            env_id = self.env.spec.id if self.env.spec else "the environment"
            rewards = [step.rewards for step in self.steps]
            check_environment(env_id, [*self.observations, *latest], rewards)
            raise

    def trajectory(self) -> Trajectory:
        """The episodes, all of them ended."""
        device, value = self.device, self.decisions[0].value
        played = {
            name: torch.as_tensor(np.stack([getattr(step, name) for step in self.steps])).to(device)
            for name in Step._fields
        }
        played["rewards"] = played["rewards"].to(value.dtype)
        arrays = (self.earns, self.levels, self.success, self.cut)
        earned, levels, success, cut = (torch.as_tensor(array).to(device) for array in arrays)
        return Trajectory(
            components=self.policy.components,
            decisions=self.decisions,
            rows=self.rows,
            observations=self.observations,
            actions=self.actions,
            answer_reward=earned.to(value.dtype),
            levels=levels,
            success=success if self.has_success else None,
            targets=torch.as_tensor(np.stack(self.targets)).to(device) if self.targets else None,
            cut=cut,
            last_values=self.last_values.to(value.dtype),
            last_observation=self.last_observation,
            **played,
        )


def _counts(rows: int, together: bool) -> NDArray[np.int64]:
    """The number of `rows` of each process; the same for all processes where rows end
    `together`."""
    return np.full(processes(), rows) if together else row_counts(rows)


def _values_after(
    policy: GlimpsePolicy,
    terminal: Observation,
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
        decision, _ = policy(terminal, tuple(part[at] for part in state))
    return decision.value


def _terminal(
    observation: dict[str, NDArray], info: dict[str, Any], cut: NDArray[np.bool_]
) -> dict[str, NDArray]:
    """The terminal observations, name -> (m, ...), of the rows in `cut` (B,)."""
    if "final_obs" not in info:
        return {name: values[cut] for name, values in observation.items()}
    finals = info["final_obs"][cut]
    return {name: np.stack([final[name] for final in finals]) for name in finals[0]}


def check_finite(decision: Decision, step: int) -> None:
    """Raise a FloatingPointError where a distribution after glimpse `step` + 1 is not finite."""
    for name, head in decision.heads.items():
        if not head.is_finite():
            raise FloatingPointError(f"the policy's {name} after glimpse {step + 1} is not finite")


def _check_numbers(actions: dict[str, NDArray], step: int) -> None:
    """Check on the host, since a check on a GPU would wait for it."""
    for name, values in actions.items():
        if values.dtype.kind == "f" and not np.isfinite(values).all():
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
