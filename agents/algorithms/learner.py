"""The base of all learners by gradient: environment, model, optimizer, its schedule, and state."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.episodes.trajectory import Observation, Trajectory
from agents.policy.networks import NetworkConfig
from agents.training.config import TrainingConfig
from agents.training.distributed import (
    anywhere,
    average_gradients,
    check_divisible,
    concatenated,
    everyones,
    joined,
    own_part,
    processes,
    rank,
    split,
)
from agents.training.finiteness import check_environment
from agents.training.optimizers import Optimizer
from agents.training.row_draws import row_generator
from agents.training.schedules import cosine_decay
from glimpse_envs.env import GlimpseVectorEnv, batch_of
from glimpse_envs.episodes.description import Description, describe
from glimpse_envs.episodes.levels import Curriculum, find_levels
from glimpse_envs.evaluation.dealing import world_seed
from glimpse_envs.evaluation.record import Model


@dataclass(frozen=True)
class AgentConfig(TrainingConfig):
    """Options of all learners of a `GlimpsePolicy`."""

    entropy_weight: float = 0.0
    """Weight of the bonus for the entropy, in nats, of looks, acts, stops and the choice
    whether to answer. What is answered has no bonus. A look drawn from a Gaussian of fixed standard
    deviation has the same entropy wherever it goes, which no bonus changes."""
    network: NetworkConfig = field(default_factory=NetworkConfig)
    """Sizes and kinds of the networks."""


class GradientLearner(ABC):
    """A model that learns from batches of fresh episodes by gradient descent.

    Args:
        config: of the training; with several processes, `batch_size` is this one's share.
        env: batched, or equal parts of a batch, played in turn; seeded here.
        make_policy: constructor of the policy, from the environment's description.

    Attributes:
        policy_class: "module:Class" that reads the run's checkpoints.
        envs: the parts of the batch; `env` is the first, which stands for all.
        policy: the module in training.
        generator: random stream of all samples.
        given: what the environment gave in the present update, as `check_environment` takes it.

    Raises:
        ValueError: an option of `config` is invalid.
    """

    config: TrainingConfig
    policy_class = "agents.policy.glimpse_policy:GlimpsePolicy"

    def __init__(
        self,
        config: TrainingConfig,
        env: VectorEnv | Sequence[VectorEnv],
        make_policy: Callable[[Description], nn.Module],
    ) -> None:
        torch.manual_seed(config.seed)
        self.envs = [env] if isinstance(env, VectorEnv) else list(env)
        self.env, self.device = self.envs[0], torch.device(config.device)
        # Those of this project; foreign ones are left out.
        self.batches = [batch for batch in map(batch_of, self.envs) if batch is not None]
        self.config = config
        self.description = describe(self.env)
        self.policy = make_policy(self.description).to(self.device)
        check_divisible(self.policy)
        self.optimizer = Optimizer(self.policy, config)
        self.generator = row_generator(config.seed)
        self.given: tuple[Sequence[Observation], Sequence[NDArray] | Tensor] = (), ()
        self.tells_success = False  # a foreign world, so far
        if config.curriculum is not None:
            if self.description.levels is None:
                raise ValueError(
                    f"curriculum={config.curriculum!r}: what {config.env_id} hides has no length"
                )
            make_levels = find_levels(config.curriculum, config.solve_share)
            levels = make_levels(*self.description.levels)
            for batch in self.batches:
                batch.level_distribution = levels
        self._seed_rows(config.seed)

    def _seed_rows(self, seed: int) -> None:
        """Seed this process's rows with the streams that they would have in a single process, of
        whose parts each process has a share."""
        for part, env in enumerate(self.envs):
            first_row = (part * processes() + rank()) * env.num_envs
            if self.batch is None:  # one seed s would give row i the seed s + i, which runs share
                rows = range(first_row, first_row + env.num_envs)
                seeds: Any = [world_seed("train", seed, row) for row in rows]  # their type is int
                env.reset(seed=seeds)
            else:
                env.reset(seed=seed, options={"first_row": first_row})

    @property
    def batch(self) -> GlimpseVectorEnv | None:
        """The environment as one of this project; None where it is foreign."""
        return self.batches[0] if self.batches else None

    def record_batch(self, played: Trajectory) -> Trajectory:
        """Keep an update's observations and rewards for messages of errors, record success by level
        for the curriculum, and return the episodes. In a foreign world that has reported success
        before, episodes without a report have failed: many worlds report it only when it occurs.
        """
        self.given = played.observations, played.rewards
        if self.batch is None:
            self.tells_success = self.tells_success or anywhere(played.success is not None)
            if self.tells_success and played.success is None:
                played = replace(played, success=torch.zeros_like(played.alive[0]))
        if played.success is not None:
            self.record_success(played.levels.cpu().numpy(), played.success)
        return played

    def record_success(self, levels: NDArray[np.int64], success: Tensor) -> None:
        """Record the success (B,) bool of episodes of `levels` (B,) in the curriculum, if any; each
        process records the episodes of all processes."""
        distribution = None if self.batch is None else self.batch.level_distribution
        if distribution is not None:
            ended = everyones((levels, success.cpu().numpy()))
            all_levels, all_success = (np.concatenate(part) for part in zip(*ended, strict=True))
            distribution.record(all_levels, all_success)

    @property
    @abstractmethod
    def model(self) -> Model:
        """Description of the model for records."""

    @property
    def resumable(self) -> bool:
        """Whether unfinished episodes can be saved; those of foreign worlds cannot."""
        return self.batch is not None

    @abstractmethod
    def learn(self, progress: float) -> dict[str, float]:
        """Learn from one batch of episodes, by `descend`, and return the metrics, "glimpses" among
        them, and "error" or "return" or both; `progress` in [0, 1] drives the schedules."""

    def update(self, progress: float) -> dict[str, float]:
        """Set the learning rate and learn from one batch of episodes; return the metrics, with the
        learning rate, and the present level of a curriculum.

        Raises:
            FloatingPointError: a loss or the gradient is not finite, or else what the environment
                gave, which is looked at first; the policy is unchanged.
        """
        rate = self.config.learning_rate * cosine_decay(progress, self.config.warmup)
        self.optimizer.set_rate(rate)
        try:
            learned = self.learn(progress)
        except FloatingPointError:
            check_environment(self.config.env_id, *self.given)
            raise
        finally:
            self.given = (), ()
        return {**learned, **self._present_level(), "learning_rate": rate}

    def _present_level(self) -> dict[str, float]:
        """The metric "level" of a curriculum: its present level."""
        levels = None if self.batch is None else self.batch.level_distribution
        return {"level": float(levels.present)} if isinstance(levels, Curriculum) else {}

    def descend(self, total: Tensor, **parts: Tensor) -> float:
        """Take one step down `total`; return the gradient's norm. `parts` must be finite, too.

        Raises:
            FloatingPointError: a part or the gradient is not finite; the policy is unchanged.
        """
        self.optimizer.zero_grad()
        torch.autograd.backward(total)
        losses = torch.stack([*parts.values(), total]).detach()
        losses = average_gradients(list(self.policy.parameters()), losses)
        for name, loss in zip([*parts, "total"], losses.tolist(), strict=True):
            if not math.isfinite(loss):
                raise FloatingPointError(f"the {name} loss is {loss}")
        norm = nn.utils.clip_grad_norm_(self.policy.parameters(), self.config.max_gradient_norm)
        if not torch.isfinite(norm):
            raise FloatingPointError(f"the gradient's norm is {norm.item()}")
        self.optimizer.step()
        return norm.item()

    def state_dict(self) -> dict[str, Any]:
        """The state on which the next update depends, nested dicts of tensors, arrays, numbers."""
        return {
            "policy": self.policy.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "generator": self.generator.get_state(),
            "torch": self._torch_streams(),
            "env": self._env_state() if self.batches else {"tells_success": self.tells_success},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        self.policy.load_state_dict(state["policy"])
        self.optimizer.load_state_dict(state.get("optimizer", {}))
        self.generator.set_state(state["generator"])
        streams = state.get("torch", {})  # older checkpoints have none
        if "cpu" in streams:
            torch.set_rng_state(streams["cpu"])
        if "cuda" in streams and self.device.type == "cuda":
            torch.cuda.set_rng_state(streams["cuda"], self.device)
        if self.batches:
            parts = split(state["env"], len(self.batches))
            for batch, part in zip(self.batches, parts, strict=True):
                batch.load_state_dict(own_part(part))
        else:  # unfinished episodes are lost
            self.tells_success = bool(state.get("env", {}).get("tells_success", False))
            self._seed_rows(int(torch.randint(2**31, (), generator=self.generator)))

    def _torch_streams(self) -> dict[str, Tensor]:
        """The states of torch's own random streams, which a network of others may draw from."""
        streams = {"cpu": torch.get_rng_state()}
        if self.device.type == "cuda":
            streams["cuda"] = torch.cuda.get_rng_state(self.device)
        return streams

    def _env_state(self) -> dict[str, Any]:
        """The state of all rows, of all parts and processes."""
        return concatenated([joined(batch.state_dict()) for batch in self.batches])

    def close(self) -> None:
        """Close the environments."""
        for env in self.envs:
            env.close()
