"""Large scenes are answered a few at a time: their activations take many times their memory."""

import numpy as np
import pytest
import torch

from baselines import model
from tests.support.baselines import PICTURE, PICTURE_KINDS, model_of
from tests.support.episodes import make_vector

ROWS = 7


@pytest.mark.parametrize("kind", PICTURE_KINDS)
def test_a_few_scenes_at_a_time_are_answered_as_all_at_once(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = model_of(kind)
    env = make_vector(PICTURE["env_id"], ROWS, view="full", **PICTURE["env_kwargs"])
    observation, _ = env.reset(seed=0)
    together = policy.played_logits(observation)
    seen: list[int] = []
    policy.register_forward_pre_hook(lambda _, inputs: seen.append(len(inputs[0]["scene"])))
    numbers = sum(leaf.size for leaf in observation.values())
    monkeypatch.setattr(model, "AT_ONCE", 3 * numbers // ROWS)
    in_turn = policy.played_logits(observation)
    assert seen == [3, 3, 1]
    torch.testing.assert_close(in_turn, together, atol=1e-5, rtol=1e-5)
    monkeypatch.setattr(model, "AT_ONCE", 1)
    np.testing.assert_array_equal(policy.likeliest(observation), together.argmax(dim=-1))
    assert seen[3:] == [1] * ROWS
