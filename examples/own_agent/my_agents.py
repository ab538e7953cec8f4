"""An algorithm, a core, an encoder, a soft baseline and a table of one's own.

docs/own_agent.md explains them.
"""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from agents.algorithms.algorithm import Algorithm
from agents.algorithms.reinforce import Baseline, Reinforce, ReinforceConfig, leave_one_out
from agents.policy.core import Core, State
from agents.policy.networks import NetworkConfig
from baselines.learner import SupervisedLearner
from baselines.model import Answers, Observation
from baselines.pictures.picture_model import PictureConfig, PictureModel
from baselines.setting import Setting
from benchmarks.tables.table import FromDefaults, Row, Table
from glimpse_envs.evaluation.record import Model


@dataclass(frozen=True)
class ShrunkConfig(ReinforceConfig):
    """REINFORCE that subtracts a share of the leave-one-out baseline."""

    algorithm: ClassVar[str] = "my_agents:SHRUNK"

    copies: int = 4
    """Number of episodes of each scene in a batch, a divisor of the batch size."""
    baseline: Literal["leave_one_out"] = "leave_one_out"
    """Baseline subtracted from returns: the mean return of the scene's other copies."""
    share: float = 0.9
    """Share of that baseline."""


class Shrunk(Reinforce):
    """Reinforce, but for its baseline."""

    config: ShrunkConfig

    @property
    def baseline(self) -> Baseline:
        return lambda returns: self.config.share * leave_one_out(returns, self.config.copies)

    @property
    def model(self) -> Model:
        usual = super().model
        return replace(usual, name=f"{usual.name}, {self.config.share:g} of it")


SHRUNK = Algorithm(ShrunkConfig, Shrunk)


class LeakyCore(Core):
    """h <- a h + (1 - a) tanh(W g + U h), with a learned share a of each unit."""

    def __init__(self, inputs: int, units: int) -> None:
        super().__init__()
        self.units = units
        self.mix = nn.Linear(inputs + units, units)
        self.leak = nn.Parameter(torch.zeros(units))

    def initial_state(self, rows: int) -> State:
        return (self.mix.weight.new_zeros(rows, self.units),)

    def forward(self, seen: Tensor, state: State) -> State:
        kept, new = self.leak.sigmoid(), torch.tanh(self.mix(torch.cat([seen, state[0]], dim=1)))
        return (kept * state[0] + (1 - kept) * new,)


class SharedScales(nn.Module):
    """Encodes each scale of a glimpse (B, K, g, g) by the same weights, and joins their codes."""

    def __init__(self, shape: tuple[int, ...], units: int) -> None:
        super().__init__()
        scales, *pixels = shape
        self.each = nn.Linear(math.prod(pixels), units)
        self.join = nn.Linear(scales * units, units)

    def forward(self, seen: Tensor) -> Tensor:
        return self.join(self.each(seen.flatten(2)).relu().flatten(1))  # (B, units)


@dataclass(frozen=True)
class PoolConfig(PictureConfig):
    """Soft attention in one go: a weighted mean over the places of a picture."""

    algorithm: ClassVar[str] = "my_agents:POOL"

    channels: int = 32
    """Number of features of each place."""


class Pool(PictureModel):
    """Features of each place by a convolution, and their mean, weighted by a learned softmax."""

    config: PoolConfig
    config_class = PoolConfig

    def __init__(self, setting: Setting, config: PoolConfig) -> None:
        super().__init__(setting, config)
        self.features = nn.Conv2d(self.picture.view.scene_shape[0], config.channels, 9, stride=3)
        self.weight = nn.Conv2d(config.channels, 1, 1)
        self.answer = nn.Linear(config.channels, setting.num_answers)

    @property
    def model(self) -> Model:
        return Model("Soft pool", sees="everything", attention="soft")

    def forward(self, observation: Observation) -> Answers:
        features = self.features(observation["scene"]).relu()  # (B, D, h, w)
        weights = self.weight(features).flatten(2).softmax(dim=-1)  # (B, 1, h w)
        read = (features.flatten(2) * weights).sum(dim=-1)
        return Answers(self.answer(read)[None])  # (1, B, n): one answer


POOL = Algorithm(PoolConfig, partial(SupervisedLearner, model=Pool))

ENV_ID = "Glimpse/ClutteredGlyphs-v0"
TABLE = Table(
    name="mine",
    rows=(
        Row(
            name="mine-shrunk", env_id=ENV_ID, recipe=FromDefaults("my_agents:SHRUNK"), minutes=1.0
        ),
        Row(
            name="mine-leaky",
            env_id=ENV_ID,
            recipe=FromDefaults("reinforce"),
            changes={"network": NetworkConfig(core="my_agents:LeakyCore")},
            minutes=1.0,
        ),
        Row(name="mine-pool", env_id=ENV_ID, recipe=FromDefaults("my_agents:POOL"), minutes=1.0),
    ),
    seeds=5,
    folder="mine",
)
