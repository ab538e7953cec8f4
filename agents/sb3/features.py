"""The feature extractor of Stable-Baselines3's policies: the project's own glimpse network."""

import numpy as np
import torch
from gymnasium import spaces
from gymnasium.spaces.utils import flatdim
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn
from torch.nn import functional as F

from agents.policy.context import context_shape
from agents.policy.glimpse_network import GlimpseNetwork
from agents.policy.networks import NetworkConfig, check_network


class GlimpseFeatures(BaseFeaturesExtractor):
    """Features (B, features_dim) of glimpse observations, name -> (B, ...).

    A single glimpse, or the scene of the full view, goes through the what-and-where network that
    all agents of this project have, and its code (B, glimpse_units) is the features.

    With `history=True` each of the T glimpses goes through that network; those not taken yet, by
    `remaining`, have the code 0. A dense layer reads the codes, concatenated in the order of the
    glimpses, and the parts without an axis of glimpses (`remaining`, a question, the last word),
    and gives (B, core_units). So a learner without memory has the same information as a recurrent
    core: all glimpses, their locations and their order.

    `remaining` must be unscaled: with `VecNormalize`, leave it out of `norm_obs_keys`.

    Args:
        observation_space: of a single row.
        network: sizes and kinds.

    Raises:
        ValueError: a size or kind is invalid, or the observation has a context, or neither glimpse
            nor scene.
    """

    def __init__(self, observation_space: spaces.Dict, network: NetworkConfig) -> None:
        check_network(network)
        if network.count_glimpses:
            raise ValueError("count_glimpses=True is for agents with a core: leave it False")
        if context_shape(observation_space) is not None:
            raise ValueError(
                "observation['context'], a coarse view of the whole scene, is for looks alone, and "
                "Stable-Baselines3's models would answer from it too: make the environment with "
                "context=False"
            )
        keys, steps = _keys_of_history(observation_space)
        super().__init__(observation_space, network.core_units if steps else network.glimpse_units)
        self.history_keys, self.steps = keys, steps
        seen = {
            key: _one_step(space) if steps else space
            for key, space in observation_space.spaces.items()
            if key in keys or not steps
        }
        self.glimpse_network = GlimpseNetwork(spaces.Dict(list(seen.items())), network)
        self.words = {
            key: [int(n) for n in np.ravel(getattr(space, "nvec", getattr(space, "n", 0)))]
            for key, space in seen.items()
            if isinstance(space, spaces.Discrete | spaces.MultiDiscrete)
        }
        self.whole_keys = [key for key in observation_space.spaces if key not in keys]
        whole = sum(flatdim(observation_space[key]) for key in self.whole_keys)
        joined = steps * network.glimpse_units + whole
        self.join = nn.Linear(joined, network.core_units) if steps else None

    def forward(self, observation: dict[str, Tensor]) -> Tensor:
        if self.join is None:
            return self.glimpse_network(observation | self._words_of(observation))
        remaining = observation["remaining"]  # (B, 1)
        taken = torch.round(self.steps * (1.0 - remaining))
        was_taken = torch.arange(self.steps, device=remaining.device) < taken  # (B, T)
        seen = {key: observation[key][was_taken] for key in self.history_keys}
        found = self.glimpse_network(seen)
        codes = found.new_zeros(*was_taken.shape, found.shape[-1])  # (B, T, glimpse_units)
        codes[was_taken] = found
        whole = [observation[key].flatten(1) for key in self.whole_keys]
        return F.relu(self.join(torch.cat([codes.flatten(1), *whole], dim=1)))

    def _words_of(self, observation: dict[str, Tensor]) -> dict[str, Tensor]:
        """The parts of whole numbers, name -> (B, k): Stable-Baselines3 gives them as k one-hots,
        (B, n_1 + n_2 + ...)."""
        return {
            key: torch.stack(
                [part.argmax(dim=1) for part in torch.split(observation[key], sizes, dim=1)], dim=1
            )
            for key, sizes in self.words.items()
        }


def _keys_of_history(space: spaces.Dict) -> tuple[list[str], int]:
    """The parts of an observation with an axis of T glimpses, and T; no parts and 0 without any."""
    location = space.spaces.get("location")
    if location is None or location.shape is None or len(location.shape) < 2:
        return [], 0
    steps = location.shape[0]
    shapes = {key: part.shape or () for key, part in space.spaces.items()}
    return [key for key, shape in shapes.items() if len(shape) > 1 and shape[0] == steps], steps


def _one_step(space: spaces.Space) -> spaces.Box:
    """The space of one glimpse out of T."""
    assert isinstance(space, spaces.Box)
    return spaces.Box(space.low[0], space.high[0], dtype=space.dtype.type)
