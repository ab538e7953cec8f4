"""Where a look leads, and what is seen from there."""

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.testing import Actions, random_actions
from tests.support.episodes import (
    CENTRED,
    CIRCLE_SQUARE,
    CLUTTERED,
    TRANSLATED,
    hidden_of,
    leaves,
    make_vector,
)
from tests.support.reference import retina

ROWS = 5


def act(envs: GlimpseVectorEnv, look: NDArray[Any]) -> dict[str, NDArray[np.float32]]:
    """Look, answering 0, and return the observation."""
    actions: Actions = {"look": look, "answer": np.zeros(ROWS, np.int64)}
    return envs.step(actions)[0]


def start(env_id: str, **kwargs: Any) -> tuple[GlimpseVectorEnv, NDArray[np.float32]]:
    """An environment after its reset, and where its first glimpses were taken."""
    envs = make_vector(env_id, ROWS, autoreset_mode="Disabled", **kwargs)
    return envs, envs.reset(seed=0)[0]["location"]


def test_location_is_the_look() -> None:
    envs, _ = start(CLUTTERED)
    rng = np.random.default_rng(0)
    corners = np.array([[-1, -1], [1, 1], [-1, 1], [0, 0], [1, -1]])
    for look in (corners, rng.uniform(-1, 1, (ROWS, 2))):
        np.testing.assert_array_equal(act(envs, look)["location"], look.astype(np.float32))


@pytest.mark.parametrize(
    ("env_id", "tiles"), [(CENTRED, 4 * 4), (TRANSLATED, 5 * 5), (CIRCLE_SQUARE, 6 * 6)]
)
def test_tiles_stand_row_by_row_with_the_first_look_on_one(env_id: str, tiles: int) -> None:
    envs, first = start(env_id, look="tiles", inside=False)
    space = leaves(envs.single_action_space)["look"]
    assert isinstance(space, spaces.Discrete)
    assert space.n == tiles
    side = round(tiles**0.5)
    glimpse_size = {CENTRED: 8, TRANSLATED: 12, CIRCLE_SQUARE: 5}[env_id]
    scene_size = 60 if env_id == TRANSLATED else 28
    axis = (np.arange(side) - (side - 1) / 2) * glimpse_size / (scene_size / 2)
    centres = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    look = np.array([0, 1, side, tiles - 1, tiles // 2])
    np.testing.assert_allclose(act(envs, look)["location"], centres[look], atol=1e-6)
    gaps = np.abs(first[:, None] - centres).max(axis=2).min(axis=1)
    assert gaps.max() < 1e-6


def test_every_tile_can_be_the_first() -> None:
    envs = make_vector(CENTRED, 400, look="tiles")
    assert len(np.unique(envs.reset(seed=0)[0]["location"], axis=0)) == 16


@pytest.mark.parametrize("max_move", [0.2, 1.3])
def test_a_relative_look_is_shortened_to_the_disc_scaled_added_and_clipped(
    max_move: float,
) -> None:
    envs, location = start(CLUTTERED, look="relative", max_move=max_move, budget=40)
    rng = np.random.default_rng(0)
    place = location.astype(np.float64)
    clipped = 0
    for _ in range(30):
        move = rng.uniform(-1, 1, (ROWS, 2)) + np.array([0.4, -0.2])
        move = np.clip(move, -1, 1)
        length = np.linalg.norm(move, axis=1, keepdims=True)
        wanted = place + max_move * np.where(length > 1, move / length, move)
        clipped += int((np.abs(wanted) > 1).sum())
        seen = act(envs, move)["location"]
        np.testing.assert_allclose(seen, np.clip(wanted, -1, 1), atol=1e-6)
        place = seen.astype(np.float64)
    assert clipped > 10


@pytest.mark.parametrize(
    ("env_id", "kwargs"),
    [
        (CENTRED, {}),
        (CLUTTERED, {}),
        (CLUTTERED, {"scales": 5, "glimpse_size": 5}),
        (CLUTTERED, {"inside": True}),
        (CLUTTERED, {"inside": True, "scene_size": 61, "glimpse_size": 5, "scales": 4}),
        (CIRCLE_SQUARE, {"look": "continuous"}),
        (CIRCLE_SQUARE, {"look": "continuous", "inside": False, "scales": 2}),
    ],
)
def test_a_glimpse_is_the_retinas_view_of_the_scene(env_id: str, kwargs: dict[str, Any]) -> None:
    envs, _ = start(env_id, **kwargs)
    scenes = hidden_of(env_id, ROWS, 0, **kwargs).scenes.astype(np.float64)
    size = scenes.shape[-1]
    channels, cells, _ = leaves(envs.single_observation_space)["glimpse"].shape or (0, 0, 0)
    inside = kwargs.get("inside", env_id == CIRCLE_SQUARE)
    reach = size / 2 - (cells * 2 ** (channels - 1) / 2 if inside else 0)
    rng = np.random.default_rng(0)
    extremes = np.array([[-1, -1], [1, 1], [-1, 1], [1, -1], [0, 0]], np.float64)
    for look in (extremes, rng.uniform(-1, 1, (ROWS, 2)), rng.uniform(-1, 1, (ROWS, 2))):
        places = size / 2 + look * reach
        expected = [
            retina(scene, x, y, cells, channels)
            for scene, (x, y) in zip(scenes, places, strict=True)
        ]
        np.testing.assert_allclose(act(envs, look)["glimpse"], expected, atol=1e-5)


def test_inside_keeps_every_window_in_the_scene() -> None:
    """On a gradient that is dark nowhere, a glimpse shows black only of what is outside."""
    look = np.array([[-1, -1], [1, 1], [-1, 1], [1, -1], [0.9, -1]])
    inside, _ = start(CIRCLE_SQUARE, look="continuous", inside=True, scales=2)
    assert act(inside, look)["glimpse"].min() > 0.0
    outside, _ = start(CIRCLE_SQUARE, look="continuous", inside=False, scales=2)
    assert (act(outside, look)["glimpse"].min(axis=(1, 2, 3)) == 0.0).all()


def test_a_glimpse_as_large_as_the_scene_has_one_place() -> None:
    envs, _ = start(CENTRED, glimpse_size=28, inside=True)
    scenes = hidden_of(CENTRED, ROWS, 0).scenes
    for look in (np.full((ROWS, 2), -1.0), np.full((ROWS, 2), 0.7)):
        np.testing.assert_allclose(act(envs, look)["glimpse"], scenes, atol=1e-5)


@pytest.mark.parametrize("look", ["continuous", "tiles", "relative"])
def test_history_holds_all_glimpses_so_far_and_zeros_after_them(look: str) -> None:
    kwargs = {"look": look, "budget": 5, "autoreset_mode": "SameStep"}
    plain = make_vector(CLUTTERED, ROWS, **kwargs)
    whole = make_vector(CLUTTERED, ROWS, history=True, **kwargs)
    now, so_far = plain.reset(seed=0)[0], whole.reset(seed=0)[0]
    rng = np.random.default_rng(0)
    seen = [now]
    for step in range(1, 12):
        for name in ("glimpse", "location"):
            assert so_far[name].shape == (ROWS, 5, *now[name].shape[1:])
            expected = np.stack([moment[name] for moment in seen], axis=1)
            np.testing.assert_array_equal(so_far[name][:, : len(seen)], expected)
            assert not so_far[name][:, len(seen) :].any()
        actions = random_actions(plain, rng)
        now, so_far = plain.step(actions)[0], whole.step(actions)[0]
        np.testing.assert_array_equal(so_far["remaining"], now["remaining"])
        seen = [now] if step % 5 == 0 else [*seen, now]


def test_the_full_view_is_the_scene_that_the_glimpses_show() -> None:
    envs, _ = start(CENTRED, glimpse_size=28)
    scenes = hidden_of(CENTRED, ROWS, 0).scenes
    np.testing.assert_allclose(act(envs, np.zeros((ROWS, 2)))["glimpse"], scenes, atol=1e-5)
    full = make_vector(CENTRED, ROWS, view="full")
    assert leaves(full.single_observation_space)["scene"].shape == (1, 28, 28)
    full.reset(seed=0)
    assert full.step({"answer": np.zeros(ROWS, np.int64)})[2].all()


@pytest.mark.parametrize(
    "kwargs", [{}, {"look": "tiles"}, {"inside": True, "scales": 2}], ids=["", "tiles", "inside"]
)
def test_the_full_view_says_where_the_evidence_lies_as_glimpses_do(kwargs: dict[str, Any]) -> None:
    _, info = make_vector(CLUTTERED, ROWS, **kwargs).reset(seed=0)
    boxes = hidden_of(CLUTTERED, ROWS, 0, **kwargs).boxes
    np.testing.assert_array_equal(boxes, info["target_box"])


def middles_of(info: dict[str, Any]) -> NDArray[np.float64]:
    boxes = info["target_box"].astype(np.float64)
    return np.clip((boxes[:, :2] + boxes[:, 2:]) / 2, -1, 1)


def test_first_glimpses_near_the_target_go_out_to_uniform_ones() -> None:
    _, uniform = start(CLUTTERED)
    envs, _ = start(CLUTTERED, first_glimpse="near")
    assert envs.task.levels == (1, 16)
    for level in (1, 8, 16):
        observation, info = envs.reset(seed=0, options={"length": level})
        assert (info["length"] == level).all()
        middles = middles_of(info)
        expected = middles + (level / 16) ** 2 * (uniform - middles)
        np.testing.assert_allclose(observation["location"], expected, atol=1e-6)
    envs.close()


def test_a_budget_that_is_not_seen_truncates() -> None:
    """The full view of a scene that moves shows the scene alone."""
    for view, ends in (("full", (False, True)), ("glimpse", (True, False))):
        envs = make_vector("Glimpse/MovingDigitGlyphs-v0", 2, view=view, budget=2)
        envs.reset(seed=0)
        assert not np.any(envs.step(envs.action_space.sample())[2:4])
        found = envs.step(envs.action_space.sample())[2:4]
        assert [set(part) for part in found] == [{end} for end in ends]


@pytest.mark.parametrize(
    "env_id", [CLUTTERED, "Glimpse/MovingDigitGlyphs-v0", "Glimpse/DigitPairGlyphs-v0"]
)
def test_copies_begin_near_the_target_of_their_own_scene(env_id: str) -> None:
    envs = make_vector(env_id, 6, copies=2, first_glimpse="near")
    observation, info = envs.reset(seed=0, options={"length": 1})
    boxes = info["target_box"].reshape(6, -1, 4)[:, 0]
    away = np.abs(observation["location"] - middles_of({"target_box": boxes}))
    assert away.max() < 0.01
    envs.close()


def test_a_copy_that_ends_before_the_other_does_not_stop_the_batch() -> None:
    envs = make_vector(
        CLUTTERED, 2, copies=2, first_glimpse="near", stop=True, autoreset_mode="SameStep"
    )
    envs.reset(seed=0)
    action = {"look": np.zeros((2, 2)), "answer": np.zeros(2, np.int64), "stop": np.array([1, 0])}
    *_, terminated, truncated, info = envs.step(action)
    assert (terminated | truncated).tolist() == [True, False]
    assert info["waiting"].tolist() == [False, False]
    envs.close()


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"first_glimpse": "far"}, "first_glimpse='far' must be one of 'uniform', 'near'"),
        ({"first_glimpse": "near", "look": "tiles"}, "needs looks that are places or moves"),
        ({"first_glimpse": "near", "view": "full"}, "shows no glimpses: leave first_glimpse"),
    ],
)
def test_first_glimpses_that_do_not_fit_are_refused(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_vector(CLUTTERED, 2, **kwargs)
