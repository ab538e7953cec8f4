"""Stable-Baselines3's A2C and PPO, and the RecurrentPPO of sb3-contrib, on glimpse environments.

They learn from the reward alone, without the label; `env_kwargs={"reward": "dense"}` pays every
right answer, not only the last. Actions are flat (`glimpse_envs.flat.FlatActions`): tiles are
choices, but with a continuous look the answer is Gaussian too, which is a handicap.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, TypeVar

import tyro
from gymnasium import spaces
from sb3_contrib import RecurrentPPO
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.vec_env import VecEnv
from torch import nn

from agents.policy.networks import OF_AGENTS_ALONE, NetworkConfig, NetworkOptions, check_network
from agents.sb3.features import GlimpseFeatures
from agents.training.checks import (
    check_counts,
    check_device,
    check_finite,
    check_positive,
    check_threads,
    check_types,
)
from agents.training.command_line import without_options
from agents.training.config import RunConfig, check_env_kwargs
from glimpse_envs.adapters.sb3 import task_arguments
from glimpse_envs.episodes.lookup import spec_of
from glimpse_envs.evaluation.record import Model

SB3Model = OnPolicyAlgorithm
Config = TypeVar("Config", bound="SB3Config")


@dataclass(frozen=True)
@without_options(
    "core", "detach_heads", "skip", "recall_glimpses", "recall_units", *OF_AGENTS_ALONE
)
class SB3NetworkOptions(NetworkOptions):
    """Sizes and kinds of the networks."""


def _network() -> NetworkConfig:
    return NetworkConfig(look_std=0.3, learn_look_std=True)


@dataclass(frozen=True)
class SB3Config(RunConfig):
    """Options of all of Stable-Baselines3's learners; for those without memory, `env_kwargs` has
    history=True by default."""

    sb3_class: ClassVar[type[SB3Model]]
    """Stable-Baselines3's class."""
    policy: ClassVar[str] = "MultiInputPolicy"
    """Stable-Baselines3's name of the policy."""
    has_memory: ClassVar[bool] = False
    """Whether it is recurrent; if not, it is shown all glimpses so far."""

    timesteps: int = 10_000_000
    """Number of environment steps to train on, of all episodes together."""
    minutes: float | None = None
    """Length of the training in minutes, instead of --timesteps: of CPU time with one thread on the
    CPU, else of wall time."""
    n_envs: int = 64
    """Number of episodes played at once."""
    n_steps: int = 16
    """Number of steps of each episode played at once, from which one update learns."""
    learning_rate: float = 7e-4
    """Learning rate of the optimiser, constant."""
    gamma: float = 1.0
    """Discount factor per step, in [0, 1]."""
    gae_lambda: float = 1.0
    """Lambda of generalised advantage estimation (Schulman et al. 2016), in [0, 1]."""
    normalise_advantage: bool = True
    """Scale the advantages of a batch to mean 0 and standard deviation 1."""
    entropy_weight: float = 0.01
    """Weight of the bonus for the policy's entropy, in nats."""
    baseline_weight: float = 0.5
    """Weight of the value's squared error."""
    max_gradient_norm: float = 0.5
    """Maximum Euclidean norm of the gradient; greater ones are scaled down to it."""
    network: Annotated[NetworkConfig, tyro.conf.arg(constructor=SB3NetworkOptions)] = field(
        default_factory=_network
    )
    """Sizes and kinds of the networks. The core is an LSTM or, for ppo and a2c, a dense layer of
    core_units over all glimpses; head_units are the hidden units of policy and value."""
    log_every: int = 10
    """Number of updates from one line of metrics to the next."""
    checkpoint_every: int = 100
    """Number of updates from one checkpoint to the next."""

    @property
    def model(self) -> Model:
        """Description of the model for records."""
        name = f"SB3 {self.sb3_class.__name__}"
        name = f"{name}, history" if self.env_kwargs.get("history") else name
        if self.env_kwargs.get("view") == "full":
            return Model(name, "everything", "reward", "none")
        return Model(name, "glimpses", learns_from="reward")

    def arguments(self) -> dict[str, Any]:
        """The arguments of SB3's class, but for policy, environment, seed and device."""
        return dict(
            n_steps=self.n_steps,
            learning_rate=self.learning_rate,
            gamma=self.gamma,
            gae_lambda=self.gae_lambda,
            normalize_advantage=self.normalise_advantage,
            ent_coef=self.entropy_weight,
            vf_coef=self.baseline_weight,
            max_grad_norm=self.max_gradient_norm,
            policy_kwargs=self.policy_arguments(),
        )

    def policy_arguments(self) -> dict[str, Any]:
        """The arguments of SB3's policy."""
        heads = [self.network.head_units]
        return dict(
            features_extractor_class=GlimpseFeatures,
            features_extractor_kwargs=dict(network=self.network),
            net_arch=dict(pi=heads, vf=heads),
            activation_fn=nn.ReLU,
            log_std_init=math.log(self.network.look_std),
        )


@dataclass(frozen=True)
class A2CConfig(SB3Config):
    """Train Stable-Baselines3's A2C (Mnih et al. 2016), shown all glimpses so far."""

    algorithm: ClassVar[str] = "a2c"
    sb3_class: ClassVar[type[SB3Model]] = A2C


@dataclass(frozen=True)
class PPOConfig(SB3Config):
    """Train Stable-Baselines3's PPO (Schulman et al. 2017), shown all glimpses so far."""

    algorithm: ClassVar[str] = "ppo"
    sb3_class: ClassVar[type[SB3Model]] = PPO

    n_steps: int = 32
    """Number of steps of each episode played at once, from which one update learns."""
    gae_lambda: float = 0.95
    """Lambda of generalised advantage estimation (Schulman et al. 2016), in [0, 1]."""
    minibatch_size: int = 512
    """Number of steps in a minibatch."""
    epochs: int = 4
    """Number of passes over each batch of steps."""
    clip_range: float = 0.2
    """Clipping range: the ratio is clipped to between 1 - clip_range and 1 + clip_range."""

    def arguments(self) -> dict[str, Any]:
        return dict(
            **super().arguments(),
            batch_size=self.minibatch_size,
            n_epochs=self.epochs,
            clip_range=self.clip_range,
        )


@dataclass(frozen=True)
class RecurrentPPOConfig(PPOConfig):
    """Train sb3-contrib's RecurrentPPO: PPO with an LSTM, shown one glimpse at a time."""

    algorithm: ClassVar[str] = "recurrent_ppo"
    sb3_class: ClassVar[type[SB3Model]] = RecurrentPPO
    policy: ClassVar[str] = "MultiInputLstmPolicy"
    has_memory: ClassVar[bool] = True

    def policy_arguments(self) -> dict[str, Any]:
        return dict(**super().policy_arguments(), lstm_hidden_size=self.network.core_units)


CONFIGS: dict[str, type[SB3Config]] = {
    "ppo": PPOConfig,
    "a2c": A2CConfig,
    "recurrent_ppo": RecurrentPPOConfig,
}
"""The one list of Stable-Baselines3's algorithms, by the name on the command line."""


def with_history(config: Config) -> Config:
    """`config` with `history=True` where its learner has no memory and the environment a history.

    Raises:
        ValueError, gymnasium.error.Error: `env_id` is not made from a task of glimpses.
    """
    given = config.env_kwargs
    known = task_arguments(config.env_id, given)
    if config.has_memory or "history" not in known or given.get("view") == "full":
        return config
    return replace(config, env_kwargs={"history": True, **given})


def make_model(config: SB3Config, venv: VecEnv) -> SB3Model:
    """The untrained model of `config` on `venv`, both with the config's seed."""
    model: SB3Model = config.sb3_class(
        config.policy, venv, seed=config.seed, device=config.device, **config.arguments()
    )
    freeze_look_std(model, config)
    return model


def make_policy(
    config: SB3Config, observation_space: spaces.Space, action_space: spaces.Space
) -> ActorCriticPolicy:
    """The untrained policy of `config`, on the spaces of a single row."""
    kind: Any = config.sb3_class.policy_aliases[config.policy]
    policy: ActorCriticPolicy = kind(
        observation_space,
        action_space,
        lambda progress: config.learning_rate,
        **config.policy_arguments(),
    )
    return policy


def freeze_look_std(model: SB3Model, config: SB3Config) -> None:
    """Fix the standard deviation of a Gaussian unless the network's config learns it."""
    log_std = getattr(model.policy, "log_std", None)
    if isinstance(log_std, nn.Parameter):
        log_std.requires_grad_(config.network.learn_look_std)


def check_config(config: SB3Config) -> None:
    """Raise a `ValueError` with the name of a field whose value is invalid."""
    check_types(config)
    check_counts(config, "timesteps", "n_envs", "n_steps", "log_every", "checkpoint_every")
    check_threads(config)
    check_positive(config, "minutes", "learning_rate", "max_gradient_norm")
    check_finite(config, "entropy_weight", "baseline_weight")
    for name in ("gamma", "gae_lambda"):
        if not 0 <= getattr(config, name) <= 1:
            raise ValueError(f"{name}={getattr(config, name)} must be at least 0 and at most 1")
    check_network(config.network)
    if config.network.core != "lstm" or config.network.detach_heads:
        raise ValueError(
            "Stable-Baselines3's learners have network.core='lstm' or none, and no "
            "network.detach_heads: leave both as they are"
        )
    if "split" in config.env_kwargs:
        raise ValueError("env_kwargs: split cannot be set here; training is on the train split")
    check_env_kwargs(config.env_id, config.env_kwargs)
    if spec_of(config.env_id).kwargs.keys() & {"flat", "flat_observation"}:
        raise ValueError(
            f"env_id={config.env_id!r} has flat actions or observations, which this command makes "
            "itself where they are needed: give the id without them"
        )
    batch = config.n_steps * config.n_envs
    if isinstance(config, PPOConfig):
        check_counts(config, "minibatch_size", "epochs")
        check_positive(config, "clip_range")
        if batch % config.minibatch_size:
            raise ValueError(
                f"minibatch_size={config.minibatch_size} must divide n_steps * n_envs = {batch}"
            )
        batch = config.minibatch_size
    if batch < 2 and config.normalise_advantage:
        raise ValueError(
            f"a batch of {batch} step has advantages without a spread to normalise by: give a "
            "larger one, or --no-normalise-advantage"
        )
    check_device(config.device)
