"""Pictures lie in memory as convolutions are fastest, and so do the features of all layers."""

import pytest
import torch
from torch import nn

from agents.policy.encoders import channels_last


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_features_lie_as_the_pictures_do(channels: int) -> None:
    pictures = torch.rand(2, channels, 5, 7)
    laid = channels_last(pictures)
    assert torch.equal(laid, pictures)
    assert laid.stride() == (channels * 35, 1, channels * 7, channels)
    features = nn.Conv2d(channels, 4, 3)(laid)
    assert features.stride() == (4 * 15, 1, 4 * 5, 4)


def test_cut_pictures_are_laid_out_too() -> None:
    cut = torch.rand(4, 3, 9, 9)[::2, 1:2, 2:, 1:8]
    laid = channels_last(cut)
    assert torch.equal(laid, cut)
    assert laid.stride() == (49, 1, 7, 1)
