"""Soft glimpses one after another, read by the agents' own controller."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor

from agents.policy.glimpse_network import GlimpseNetwork
from agents.policy.heads import make_head
from agents.policy.networks import (
    NetworkConfig,
    check_network,
    core_name,
    make_core,
)
from baselines.model import Answers, BaselineConfig, Observation
from baselines.pictures.picture_model import PictureModel
from baselines.setting import Setting
from glimpse_envs.evaluation.record import Model
from glimpse_envs.task import Component


@dataclass(frozen=True)
class ReaderConfig(BaselineConfig):
    """Options of every reader of soft glimpses."""

    network: NetworkConfig = field(default_factory=NetworkConfig)
    """Sizes and kinds of the networks, as for agents."""


class RecurrentReader(PictureModel):
    """Takes T soft glimpses of a picture, each chosen from the core's output.

    Glimpse network, core and answer head are the agents' own (`agents.policy.networks`). The first
    glimpse is chosen from the empty memory, so that its window is the same in every scene; an
    agent's first glimpse is at a random place.

    Args:
        setting: of the environment.
        config: of the training.
        glimpse_space: space of each part of the glimpses that `read` gives, by name.
        label: the way of reading, for tables.
        reference_kind: see `glimpse_envs.evaluation.record.Model`.
    """

    config: ReaderConfig

    def __init__(
        self,
        setting: Setting,
        config: ReaderConfig,
        glimpse_space: dict[str, spaces.Space],
        label: str,
        reference_kind: str = "",
    ) -> None:
        super().__init__(setting, config)
        network = config.network
        check_network(network)
        self.network, self.label, self.reference_kind = network, label, reference_kind
        remaining = spaces.Box(0.0, 1.0, (1,), np.float32)
        # A list, for a plain dict would be sorted.
        space = spaces.Dict([*glimpse_space.items(), ("remaining", remaining)])
        self.glimpse_network = GlimpseNetwork(space, network)
        self.core = make_core(network, network.glimpse_units)
        answer = Component(spaces.Discrete(setting.num_answers), taught=True)
        self.answer_head = make_head("answer", answer, network)

    @property
    def model(self) -> Model:
        name = f"Soft {self.label} {core_name(self.network)}"
        return Model(name, sees="everything", attention="soft", reference_kind=self.reference_kind)

    def prepare(self, scene: Tensor) -> Any:
        """Whatever `read` needs of `scene` (B, C, H, W), computed once an episode."""
        return scene

    @abstractmethod
    def read(self, prepared: Any, core: Tensor) -> dict[str, Tensor]:
        """The next glimpse, name -> (B, ...), chosen from the core's output (B, units)."""

    def forward(self, observation: Observation) -> Answers:
        scene, budget = observation["scene"], self.picture.budget
        prepared, rows = self.prepare(scene), len(scene)
        state = self.core.initial_state(rows)
        logits = []
        for step in range(budget):
            seen = self.read(prepared, state[0])
            seen["remaining"] = scene.new_full((rows, 1), (budget - step - 1) / budget)
            state = self.core(self.glimpse_network(seen), state)
            logits.append(self.answer_head(state[0]).logits)
        return Answers(torch.stack(logits))
