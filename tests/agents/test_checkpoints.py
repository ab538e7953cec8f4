"""The learning rate's schedule, and what a checkpoint holds."""

import numpy as np
import pytest
import torch

from agents.training.checkpoints import flatten, unflatten
from agents.training.schedules import cosine_decay


@pytest.mark.parametrize(
    ("progress", "share"),
    [(0.0, 0.0), (0.05, 0.5), (0.1, 1.0), (0.55, 0.5), (1.0, 0.0)],
)
def test_the_learning_rate_rises_and_falls(progress: float, share: float) -> None:
    assert cosine_decay(progress, warmup=0.1) == pytest.approx(share)
    assert cosine_decay(0.0, warmup=0.0) == 1.0


def test_a_state_survives_being_flattened() -> None:
    state = {
        "policy": {"core.weight": torch.arange(6.0).view(2, 3), "bias": torch.tensor(2.0)},
        "optimizer": {0: {"step": torch.tensor(3.0)}},
        "env": {"taken": np.arange(3), "ended": np.array([True, False]), "next_scene": np.int64(4),
                "task": {"_places": np.zeros((0, 2), np.float32)}},
        "scanner": {"state": 2**127 + 1, "has_uint32": 0},
        "flag": True,
        "rate": 0.1,
    }  # fmt: skip
    arrays, numbers = flatten(state)
    assert {type(array) for array in arrays.values()} == {np.ndarray}
    back = unflatten(arrays, numbers)
    assert back.keys() == state.keys()
    assert torch.equal(back["policy"]["core.weight"], torch.arange(6.0).view(2, 3))
    assert torch.equal(back["policy"]["bias"], torch.tensor(2.0))
    assert torch.equal(back["optimizer"]["0"]["step"], torch.tensor(3.0))
    assert isinstance(back["env"]["taken"], np.ndarray)
    assert back["env"]["ended"].tolist() == [True, False]
    assert back["env"]["task"]["_places"].shape == (0, 2)
    assert back["env"]["next_scene"] == 4
    assert back["scanner"] == {"state": 2**127 + 1, "has_uint32": 0}
    assert back["flag"] is True
    assert back["rate"] == 0.1


def test_what_a_checkpoint_cannot_hold_is_named() -> None:
    with pytest.raises(TypeError, match="policy/name is a str"):
        flatten({"policy": {"name": "ram"}})
