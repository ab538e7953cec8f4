"""The base of models that learn beside the policy, by an optimizer of their own."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from agents.training.checkpoints import load_moments


class SideModel(nn.Module):
    """A model with its own optimizer.

    Attributes:
        optimizer: of its parameters.
    """

    optimizer: torch.optim.Optimizer

    def state(self) -> dict[str, Any]:
        """All that its next updates and outputs depend on."""
        return {"model": self.state_dict(), "optimizer": self.optimizer.state_dict()["state"]}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `state` returned."""
        self.load_state_dict(state["model"])
        load_moments(self.optimizer, state.get("optimizer", {}))
