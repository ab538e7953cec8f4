"""Baselines that classify pictures."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from agents.training.command_line import without_options
from baselines.model import Baseline, BaselineConfig
from baselines.setting import Setting


@dataclass(frozen=True)
@without_options("curriculum")
class PictureConfig(BaselineConfig):
    """Options of every baseline of pictures, which have no levels for a curriculum."""


class PictureModel(Baseline):
    """Classifies a picture, once after each of the glimpses that it takes inside itself, and a
    picture that moves anew at every step.

    Raises:
        ValueError: the setting hides no picture.
    """

    def __init__(self, setting: Setting, config: BaselineConfig) -> None:
        super().__init__(setting, config)
        self.picture = setting.picture

    def answers(self, observation: dict[str, NDArray]) -> NDArray | None:
        """The likeliest answers (B, T) after each inner glimpse, of which `predict` gives the last;
        None where the picture moves, and an episode has an answer of `predict` at each step."""
        return None if self.picture.moves else self.likeliest(observation).T

    def beliefs(self, observation: dict[str, NDArray]) -> NDArray[np.float32]:
        """The probabilities of the answers (B, T, n) after each inner glimpse."""
        with torch.no_grad():
            logits = self(self.as_tensors(observation)).logits.float()  # (T, B, n)
        return logits.softmax(dim=-1).transpose(0, 1).cpu().numpy()
