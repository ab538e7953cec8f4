"""Soft attention that points: where in a scene is what the question asks for?

A convolutional network makes a key of each cell of a grid; the question is the query, and the
softmax of their products is the attention, whose greatest cell is pointed at (a pointer: Vinyals et
al., NIPS 2015). It learns from the target's cell by cross-entropy, and reads the scene at once.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from agents.policy.encoders import channels_last
from agents.training.checks import check_counts
from agents.training.command_line import without_options
from baselines.model import Answers, Baseline, Observation
from baselines.pictures.full_view import residual_stages
from baselines.pictures.picture_model import PictureConfig
from baselines.setting import CELL, Setting
from glimpse_envs.evaluation.outlook import Outlook, Places
from glimpse_envs.evaluation.record import Model


@dataclass(frozen=True)
@without_options("supervise")  # there is one place
class PointerConfig(PictureConfig):
    """Train soft attention that points."""

    algorithm: ClassVar[str] = "pointer"

    env_id: str = "Glimpse/Search-v0"
    """Id of the environment, which asks where something is."""
    channels: int = 16
    """Number of channels of the first convolution; a cell of the grid, of 8x8 pixels, has four
    times as many features."""
    key_units: int = 64
    """Number of units of a cell's key, and of the query."""


class Pointer(Baseline):
    """Scores the cells of a scene against a question.

    Raises:
        ValueError: a size in `config` cannot be, or the setting does not ask for a place by a
            question.
    """

    config_class = PointerConfig
    config: PointerConfig

    def __init__(self, setting: Setting, config: PointerConfig) -> None:
        super().__init__(setting, config)
        check_counts(config, "channels", "key_units")
        self.scene = setting.pointed
        if "question" not in self.scene.glimpse_space.spaces:
            raise ValueError(f"{setting.env_id} shows no question, which is what pointer points by")
        question = self.scene.glimpse_space["question"].shape
        assert question is not None
        features, units = 4 * config.channels, config.key_units
        inputs = self.scene.view.scene_shape[0]
        self.encode = nn.Sequential(*residual_stages(inputs, config.channels))
        self.key = nn.Conv2d(features, units, 1)
        self.query = nn.Linear(question[0], units)

    @property
    def model(self) -> Model:
        return Model("Soft pointer", sees="everything", attention="soft")

    def forward(self, observation: Observation) -> Answers:
        # Convolutions are faster where a pixel's channels lie side by side.
        scene = channels_last(observation["scene"])
        keys = self.key(self.encode(scene)).flatten(2)  # (B, units, n)
        scores = torch.bmm(self.query(observation["question"])[:, None], keys)
        return Answers(scores.transpose(0, 1))

    def predict(
        self,
        observation: dict[str, NDArray],
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[dict[str, NDArray], None]:
        """Looks (B, ...) at the middles of the likeliest cells, and no state."""
        places = self.scene.middles()[self.likeliest(observation)[-1]].clip(-1.0, 1.0)
        looks = self.scene.view.looks_at(places, places)
        return {"look": looks if looks.ndim == 1 else looks.astype(np.float32)}, None

    def outlook(
        self, observation: dict[str, NDArray], state: Any, episode_start: NDArray[np.bool_]
    ) -> Outlook:
        """The attention to each cell as the chance of a look at it, whose greatest is taken."""
        shares = self._shares(observation).double().cpu().numpy()
        places = np.broadcast_to(self.scene.middles().clip(-1.0, 1.0), (*shares.shape, 2))
        return Outlook({"look": Places((shares,), places)})

    def attention(
        self,
        observation: dict[str, NDArray],
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float32]:
        """How the attention shares itself out over the pixels, (B, 1, H, W)."""
        assert self.scene.grid is not None
        shares = self._shares(observation)
        _, height, width = self.scene.view.scene_shape
        down, across = (CELL * count for count in self.scene.grid)
        maps = F.interpolate(shares.view(-1, 1, *self.scene.grid), (down, across), mode="bilinear")
        maps = maps[..., :height, :width]
        return (maps / maps.sum(dim=(-2, -1), keepdim=True)).cpu().numpy()

    def _shares(self, observation: dict[str, NDArray]) -> Tensor:
        """The attention to each cell, (B, n)."""
        return self.played_logits(observation)[-1].float().softmax(dim=1)
