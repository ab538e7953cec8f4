"""The enumerable task of `sequences` as learners see it that read all tiles, and what they must."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor

from agents.algorithms.tile_learner import TileEpisodes
from agents.episodes.trajectory import Observation
from agents.policy.glimpse_policy import GlimpsePolicy
from tests.support.episodes import CENTRED
from tests.support.sequences import BUDGET, SCENE, TASK, TILES, make_env, right_answer
from tests.support.tiny import SHORT, tiny_network

TILED: dict[str, Any] = {
    "env_id": CENTRED,
    "env_kwargs": {"budget": 3, "look": "tiles", "glimpse_size": 14},
    "network": tiny_network(detach_heads=False),
    **SHORT,
}
"""Built-in digits, seen through four tiles."""

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"look": "continuous"}, "needs look=tiles: add it to env_kwargs"),
    ({"look": "relative"}, "needs look=tiles: add it to env_kwargs"),
    ({"view": "full"}, "leave view='full' out of env_kwargs"),
    ({"history": True}, "takes no history=True"),
    ({"context": True}, "takes no context=True"),
    ({"stop": True}, "takes no stop=True"),
    ({"glimpse_cost": 0.1}, "takes no glimpse_cost=0.1"),
]
"""Arguments that make another task of what is trained, and the expected messages."""

REFUSED_TASKS: list[tuple[str, str]] = [
    ("MovingDigitGlyphs", "that of Glimpse/MovingDigitGlyphs-v0 changes at each of 12 "),
    ("DescribeSceneGlyphs", "Glimpse/DescribeSceneGlyphs-v0 asks for up to 12 answers, one after"),
    ("DigitSequenceGlyphs", "Glimpse/DigitSequenceGlyphs-v0 asks for up to 6 answers, one after"),
]
"""Environments of more than a picture that is answered once, and the expected messages."""


def enumerable_episodes(rows: int = 1, *, budget: int = BUDGET, **kwargs: Any) -> TileEpisodes:
    """The one episode of `sequences`, `rows` times, read from the environment tile by tile."""
    env = make_env(TILES, **{**kwargs, "budget": 2})
    start, _ = env.reset(options=SCENE)
    look = torch.arange(TILES).numpy()
    seen, *_ = env.step({"look": look, "answer": 0 * look})
    location = torch.as_tensor(seen["location"]).double()
    away = (location - torch.as_tensor(start["location"]).double()).norm(dim=1)
    dense = kwargs.get("reward", TASK["reward"]) == "dense"
    return TileEpisodes(
        glimpses=torch.as_tensor(seen["glimpse"]).double().repeat(rows, 1, 1, 1, 1),
        locations=location,
        targets=torch.full((rows,), right_answer(**kwargs)),
        first=away.argmin().repeat(rows),
        pays=(1 / budget,) * budget if dense else (0.0,) * (budget - 1) + (1.0,),
    )


@contextmanager
def watched(policy: GlimpsePolicy) -> Iterator[list[Observation]]:
    """Give a list that every observation is added to of which `policy` decides."""
    observations: list[Observation] = []

    def note(module: Any, arguments: tuple[Any, ...]) -> None:
        observations.append({name: value.detach() for name, value in arguments[0].items()})

    handle = policy.register_forward_pre_hook(note)
    try:
        yield observations
    finally:
        handle.remove()


def assert_close(found: Tensor, expected: Tensor) -> None:
    """Hold two gradients equal in float64, and not to be nothing."""
    assert expected.abs().max() > 1e-3, "the gradient should be there to be found"
    assert found.numpy() == pytest.approx(expected.numpy(), abs=1e-8)
