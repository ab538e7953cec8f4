"""Features of grey scenes lie channels last in every convolution: they are fastest so."""

import pytest
import torch
from torch import Tensor, nn

from tests.support.baselines import DESCRIBED, PICTURE, POINTED, model_of
from tests.support.episodes import make_vector

KINDS = {
    **dict.fromkeys(("strong", "conv", "affine", "attention", "sampling", "selection"), PICTURE),
    "captioner": DESCRIBED,
    "pointer": POINTED,
}
"""Models that have convolutions, and what they see."""


@pytest.mark.parametrize("kind", KINDS)
def test_features_of_grey_scenes_lie_channels_last(kind: str) -> None:
    task = KINDS[kind]
    policy = model_of(kind)
    env = make_vector(task["env_id"], 2, view="full", **task["env_kwargs"])
    observation, _ = env.reset(seed=0)
    seen: list[Tensor] = []
    for layer in policy.modules():
        if isinstance(layer, nn.Conv2d):
            layer.register_forward_hook(lambda _, inputs, features: seen.append(features))
    policy.predict(observation)
    wide = [features for features in seen if min(features.shape) > 1]
    assert wide
    for features in wide:
        assert features.is_contiguous(memory_format=torch.channels_last), features.stride()
