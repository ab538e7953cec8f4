"""What all tiles show is what an agent sees that looks there."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.algorithms.tiles import TileReader, interval_shares
from glimpse_envs.env import GlimpseVectorEnv
from tests.support.episodes import (
    CENTRED,
    CIRCLE_SQUARE,
    CLUTTERED,
    make_vector,
    view_of,
    write_images,
)

ROWS = 3
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "one_scale": (CENTRED, {}),
    "over_the_edge": (CENTRED, {"glimpse_size": 9}),
    "one_tile": (CENTRED, {"glimpse_size": 28}),
    "single_cells": (
        CENTRED,
        {"glimpse_size": 1, "scene_size": 5, "scene": "circle_square", "source": None},
    ),
    "coarse_scales_between_pixels": (CENTRED, {"glimpse_size": 5, "scales": 3}),
    "odd_scene_between_pixels": (CENTRED, {"scene_size": 29, "scales": 2}),
    "inside": (CENTRED, {"scene_size": 29, "glimpse_size": 10, "inside": True}),
    "cluttered": (CLUTTERED, {}),
    "cluttered_inside": (CLUTTERED, {"glimpse_size": 7, "inside": True}),
    "scenes_that_are_not_bytes": (CIRCLE_SQUARE, {"scales": 2}),
}


def make_pair(env_id: str, **kwargs: Any) -> tuple[GlimpseVectorEnv, GlimpseVectorEnv]:
    """The same episodes seen tile by tile, with time for all tiles, and whole."""
    kwargs = {"look": "tiles", **kwargs}
    tiles = len(view_of(make_vector(env_id, 1, **kwargs)).tile_locations)
    seen = make_vector(env_id, ROWS, **{**kwargs, "budget": tiles + 1})
    return seen, make_vector(env_id, ROWS, **{**kwargs, "view": "full"})


def assert_reads_what_is_seen(seen: GlimpseVectorEnv, whole: GlimpseVectorEnv) -> None:
    seen.reset(seed=4)
    scene = torch.as_tensor(whole.reset(seed=4)[0]["scene"])
    reader = TileReader(view_of(seen))
    glimpses = reader(scene)
    blind = np.zeros(ROWS, np.int64)
    for tile, location in enumerate(reader.locations):
        observation, *_ = seen.step({"look": blind + tile, "answer": blind})
        np.testing.assert_allclose(glimpses[:, tile], observation["glimpse"], atol=2e-6)
        np.testing.assert_array_equal(location.expand(ROWS, 2), observation["location"])
    assert glimpses.shape[1] == len(reader.locations) == tile + 1
    assert glimpses.std() > 0.05, "there should be something to be seen"


@pytest.mark.parametrize("case", CASES)
def test_every_tile_is_read_as_the_environment_shows_it(case: str) -> None:
    env_id, kwargs = CASES[case]
    assert_reads_what_is_seen(*make_pair(env_id, **kwargs))


def test_colours_are_read_apart(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 256, (4, 13, 13, 3), np.uint8)
    source = write_images(tmp_path, images)
    seen, whole = make_pair(CENTRED, source=source, scene_size=17, glimpse_size=6, scales=2)
    assert seen.task.observation_space["glimpse"].shape == (6, 6, 6)
    assert_reads_what_is_seen(seen, whole)


def test_gradients_flow_into_the_scene() -> None:
    seen, whole = make_pair(CENTRED)  # tiles of 8 on 28 pixels: the first begins 2 outside
    scene = torch.as_tensor(whole.reset(seed=0)[0]["scene"]).requires_grad_()
    TileReader(view_of(seen))(scene)[1, 0].sum().backward()
    expected = torch.zeros(ROWS, 1, 28, 28)
    expected[1, 0, :6, :6] = 1.0
    assert scene.grad is not None
    torch.testing.assert_close(scene.grad, expected)


def test_shares_of_pixels_by_hand() -> None:
    found = interval_shares(np.array([[-0.5], [1.0]]), np.array([2.0]), count=2, pixels=3)
    expected = [
        [[[0.5, 0.25, 0.0], [0.0, 0.25, 0.5]]],  # cells [-0.5, 1.5) and [1.5, 3.5)
        [[[0.0, 0.5, 0.5], [0.0, 0.0, 0.0]]],  # cells [1, 3) and [3, 5)
    ]
    np.testing.assert_allclose(found, expected)


def test_more_tiles_than_memory_holds_are_refused() -> None:
    env = make_vector(CLUTTERED, 1, look="tiles", scene_size=1500, glimpse_size=12, scales=7)
    with pytest.raises(ValueError, match=r"1500x1500 pixels has 15,625 tiles, whose 7 windows"):
        TileReader(view_of(env))


def test_scenes_read_a_few_at_once_look_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, whole = make_pair(CLUTTERED)
    scene = torch.as_tensor(whole.reset(seed=4)[0]["scene"])
    reader = TileReader(view_of(seen))
    at_once = reader(scene)
    monkeypatch.setattr("agents.algorithms.tiles.AT_ONCE", 1)
    torch.testing.assert_close(reader(scene), at_once)
