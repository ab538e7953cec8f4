"""Soft attention over all tiles: the expectation over those that a hard agent chooses from.

"content": deterministic soft attention (Xu et al. 2015, Show, Attend and Tell, section 4.2): each
tile has a key, the code of its glimpse and location, which the core's query is scored with.
"location": the weights are those of the agents' own look head, which knows the memory and not the
scene, so that the read-out is exactly the mean glimpse and the mean location of a hard agent with
look="tiles". In both, the agents' own glimpse network reads the weighted glimpse and location.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from agents.algorithms.tiles import TileReader
from agents.policy.heads import LogitsHead, make_head
from agents.training.checks import check_choices, check_counts, check_positive
from baselines.attention import attend
from baselines.pictures.reader import ReaderConfig, RecurrentReader
from baselines.scores import Score, ScoreName, make_score
from baselines.setting import Setting
from glimpse_envs.task import Component


@dataclass(frozen=True)
class SoftTilesConfig(ReaderConfig):
    """Train soft attention over all tiles."""

    algorithm: ClassVar[str] = "soft_tiles"

    attention: Literal["content", "location"] = "content"
    """Source of the tiles' weights. content: the glimpse and place of each tile; location: the
    core's output alone, by the head of an agent."""
    score: ScoreName = "additive"
    """Score of a tile's key for the core's query, with --attention content."""
    key_units: int = 64
    """Number of entries of keys and queries, with --attention content."""
    temperature: float = 1.0
    """Divisor of the scores, above 0, with --attention content; --score cosine needs about 0.1."""


Tiles = tuple[Tensor, Tensor | None]
"""Values (B, n, D), each tile's glimpse and location; keys (B, n, key_units), by content only."""


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
        picture = setting.picture
        shape = picture.glimpse_shape
        space: dict[str, spaces.Space] = {
            "glimpse": spaces.Box(0.0, 1.0, shape, np.float32),
            "location": spaces.Box(-1.0, 1.0, (2,), np.float32),
        }
        by_content = config.attention == "content"
        label = "tiles by content" if by_content else "tiles"
        super().__init__(setting, config, space, label)
        self.tiles = TileReader(picture.view)
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
            look = Component(spaces.Discrete(len(picture.view.tile_locations)))
            head = make_head("look", look, config.network)
            assert isinstance(head, LogitsHead)
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
            weights = self.look.scores(core, None).softmax(dim=-1)  # (B, n)
            seen = (weights[:, None] @ values)[:, 0]
        else:
            seen = attend(
                self.query(core), keys, values, score=self.score, temperature=self.temperature
            )
        glimpse, location = seen[:, :-2], seen[:, -2:]
        return {"glimpse": glimpse.reshape(-1, *self.picture.glimpse_shape), "location": location}

    def weights(self, prepared: Tiles, core: Tensor) -> Tensor:
        values, keys = prepared
        if keys is None:
            weights = self.look.scores(core, None).softmax(dim=-1)  # (B, n)
        else:
            _, weights = attend(
                self.query(core),
                keys,
                values,
                score=self.score,
                temperature=self.temperature,
                need_weights=True,
            )
        # Of each tile its finest window.
        down, across = (shares[:, 0].sum(dim=1) for shares in (self.tiles.down, self.tiles.across))
        return torch.einsum("bn,nh,nw->bhw", weights, down.to(weights), across.to(weights))
