"""Soft glimpses in turn, read by the very controller that the agents have."""

from abc import abstractmethod
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor

from agents.policy.heads import make_head
from agents.policy.networks import (
    GlimpseNetwork,
    NetworkConfig,
    check_network,
    core_name,
    make_core,
)
from baselines.model import Baseline, Setting
from glimpse_envs.evaluation.record import Model


class RecurrentReader(Baseline):
    """Takes T glimpses by differentiable reading: glimpse network, core and answer are the agents'
    own (`agents.policy.networks`), and what is read next is worked out from the core's output.

    The first glimpse is read from the empty memory, so it is the same window in every scene; an
    agent's first is at a random place.

    Args:
        setting: of the environment.
        network: of the controller.
        glimpse_space: what `read` gives, without `remaining`.
        label: of the way of reading, for tables.
        reference_kind: the published model that it repeats; "" for none.
    """

    def __init__(
        self,
        setting: Setting,
        network: NetworkConfig,
        glimpse_space: dict[str, spaces.Space],
        label: str,
        reference_kind: str = "",
    ) -> None:
        super().__init__()
        check_network(network)
        self.budget, self.network = setting.budget, network
        self.label, self.reference_kind = label, reference_kind
        remaining = spaces.Box(0.0, 1.0, (1,), np.float32)
        # A list, for a plain dict would be sorted.
        space = spaces.Dict([*glimpse_space.items(), ("remaining", remaining)])
        self.glimpse_network = GlimpseNetwork(space, network)
        self.core = make_core(network, network.glimpse_units)
        self.answer_head = make_head("answer", spaces.Discrete(setting.answers), network)

    @property
    def model(self) -> Model:
        name = f"Soft {self.label} {core_name(self.network)}"
        return Model(name, "everything", attention="soft", reference_kind=self.reference_kind)

    def prepare(self, scene: Tensor) -> Any:
        """What is worked out once of `scene` (B, C, H, W), as `read` takes it."""
        return scene

    @abstractmethod
    def read(self, prepared: Any, core: Tensor) -> dict[str, Tensor]:
        """The next glimpse, name -> (B, ...), chosen from the core's output (B, units)."""

    def forward(self, scene: Tensor) -> Tensor:
        prepared, rows = self.prepare(scene), len(scene)
        state = self.core.initial_state(rows)
        logits = []
        for step in range(self.budget):
            seen = self.read(prepared, state[0])
            left = (self.budget - step - 1) / self.budget
            seen["remaining"] = scene.new_full((rows, 1), left)
            state = self.core(self.glimpse_network(seen), state)
            logits.append(self.answer_head(state[0]).logits)
        return torch.stack(logits)
