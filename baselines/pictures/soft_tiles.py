"""The expectation over the tiles that a hard agent would choose from: it reads them all.

"content": deterministic soft attention (Xu et al. 2015, Show, Attend and Tell, section 4.2): each
tile has a key, the code of what it shows and where it lies, which the core's query is scored with.
"location": the weights are those of the agents' own head of looks, which knows the memory and not
the scene, so that the read-out is exactly the mean of what a hard agent with look="tiles" would see
and of where it would see it. In both, a weighted glimpse and its weighted location are read by the
agents' own glimpse network.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from agents.algorithms.tiles import TileReader
from agents.policy.heads import CategoricalHead, make_head
from agents.policy.networks import NetworkConfig
from agents.training.checks import check_choices, check_counts, check_positive
from baselines.attention import attend
from baselines.model import BaselineConfig, Setting
from baselines.pictures.reader import RecurrentReader
from baselines.scores import Score, ScoreName, make_score


@dataclass(frozen=True)
class SoftTilesConfig(BaselineConfig):
    """Train soft attention over all tiles."""

    algorithm: ClassVar[str] = "soft_tiles"

    attention: Literal["content", "location"] = "content"
    """content: by what the tiles show; location: by a head over tiles, as the agents'."""
    score: ScoreName = "additive"
    """How well a tile's key answers the core's query, of attention by content."""
    key_units: int = 64
    """Size of keys and queries, of attention by content."""
    temperature: float = 1.0
    """What the scores are divided by, of attention by content; a cosine needs about 0.1."""
    network: NetworkConfig = field(default_factory=NetworkConfig)
    """Sizes and kinds of the networks, as the agents'."""


Tiles = tuple[Tensor, Tensor | None]
"""Values (B, n, D), each tile's glimpse and location; keys (B, n, key_units) where there are."""


class SoftTiles(RecurrentReader):
    """Soft attention over the glimpses at all n tiles of a scene.

    Raises:
        ValueError: a size or kind in `config` cannot be.
    """

    config_class = SoftTilesConfig

    def __init__(self, setting: Setting, config: SoftTilesConfig) -> None:
        check_choices(config)
        check_counts(config, "key_units")
        check_positive(config, "temperature")
        shape = setting.glimpse_space["glimpse"].shape
        assert shape is not None
        self.glimpse_shape = shape
        space: dict[str, spaces.Space] = {
            "glimpse": spaces.Box(0.0, 1.0, shape, np.float32),
            "location": spaces.Box(-1.0, 1.0, (2,), np.float32),
        }
        by_content = config.attention == "content"
        label = "tiles by content" if by_content else "tiles"
        super().__init__(setting, config.network, space, label)
        self.tiles = TileReader(setting, setting.scene_shape)
        if by_content:
            units = config.key_units
            value_size = int(np.prod(shape)) + 2
            self.key: nn.Module | None = nn.Sequential(
                nn.Linear(value_size, units), nn.ReLU(), nn.Linear(units, units)
            )
            self.query = nn.Linear(config.network.core_units, units)
            self.score: Score = make_score(config.score, units, units, units=units)
            self.temperature = config.temperature
        else:
            self.key = None
            choices = spaces.Discrete(len(setting.tile_locations))
            head = make_head("look", choices, config.network)
            assert isinstance(head, CategoricalHead)
            self.look = head

    def prepare(self, scene: Tensor) -> Tiles:
        glimpses = self.tiles(scene).flatten(2)  # (B, n, K C g g)
        locations = self.tiles.locations.to(glimpses).expand(len(scene), -1, -1)
        values = torch.cat([glimpses, locations], dim=2)
        return values, None if self.key is None else self.key(values)

    def read(self, prepared: Tiles, core: Tensor) -> dict[str, Tensor]:
        values, keys = prepared
        if self.network.detach_heads:
            core = core.detach()
        if keys is None:
            weights = self.look(core).logits.softmax(dim=-1)  # (B, n)
            seen = (weights[:, None] @ values)[:, 0]
        else:
            seen = attend(
                self.query(core), keys, values, score=self.score, temperature=self.temperature
            )
        glimpse, location = seen.split([seen.shape[1] - 2, 2], dim=1)
        return {"glimpse": glimpse.unflatten(1, self.glimpse_shape), "location": location}
