"""Fixed splits: scene k is the same wherever it is dealt, and all are dealt in turn."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from glimpse_envs import sources
from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.testing import assert_same, random_actions
from tests.support.episodes import (
    CENTRED,
    CIRCLE_SQUARE,
    CLUTTERED,
    make_single,
    make_vector,
    row_of,
    write_images,
)

SCENES = 23


@pytest.fixture
def pictures(tmp_path: Path) -> str:
    """A source whose test split has SCENES pictures."""
    rng = np.random.default_rng(0)
    return write_images(tmp_path, rng.integers(1, 255, (SCENES, 10, 10), np.uint8))


def dealt_in_turn(envs: GlimpseVectorEnv, count: int) -> list[int]:
    """The scenes of the first `count` episodes, in the order in which they were dealt."""
    rng = np.random.default_rng(0)
    _, info = envs.reset(seed=0)
    fresh = np.ones(envs.num_envs, np.bool_)
    dealt: list[int] = []
    while True:
        dealt += info["scene"][fresh].tolist()
        if len(dealt) >= count:
            return dealt[:count]
        _, _, fresh, _, info = envs.step(random_actions(envs, rng))


@pytest.mark.parametrize("num_envs", [1, 4, SCENES, 40])
@pytest.mark.parametrize("stop", [False, True])
def test_each_scene_is_dealt_once_whatever_the_batch(
    pictures: str, num_envs: int, stop: bool
) -> None:
    envs = make_vector(
        CENTRED, num_envs, source=pictures, split="test", stop=stop, scene_size=20, clutter=0
    )
    assert envs.num_scenes == SCENES
    assert dealt_in_turn(envs, SCENES) == list(range(SCENES))


@pytest.mark.parametrize(
    ("env_id", "split"), [(CENTRED, "test"), (CLUTTERED, "validation"), (CIRCLE_SQUARE, "test")]
)
def test_the_ten_thousand_scenes_are_dealt_once(env_id: str, split: str) -> None:
    envs = make_vector(env_id, 768, split=split, view="full")
    assert envs.num_scenes == 10_000
    assert dealt_in_turn(envs, 10_000) == list(range(10_000))


def test_after_the_last_scene_comes_the_first(pictures: str) -> None:
    envs = make_vector(CENTRED, 4, source=pictures, split="test", view="full")
    assert dealt_in_turn(envs, SCENES + 5) == [*range(SCENES), *range(5)]


@pytest.mark.parametrize("view", ["glimpse", "full"])
def test_a_scene_is_the_same_in_every_row_batch_and_order(view: str) -> None:
    kwargs: dict[str, Any] = {"split": "test", "view": view}
    asked = np.array([7, 9_999, 0, 7, 12])
    envs = make_vector(CLUTTERED, 5, **kwargs)
    observation, info = envs.reset(seed=3, options={"scene": asked})
    np.testing.assert_array_equal(info["scene"], asked)
    one = make_single(CLUTTERED, **kwargs)
    one.reset(seed=3)
    for row, scene in enumerate(asked.tolist()):
        expected, expected_info = one.reset(options={"scene": scene})
        assert expected_info["scene"] == scene
        assert_same(row_of(observation, row), expected)
    everywhere, info = envs.reset(options={"scene": 7})
    assert info["scene"].tolist() == [7] * 5
    for row in range(5):
        assert_same(row_of(everywhere, row), row_of(observation, 0))


def test_scenes_dealt_in_turn_are_those_asked_for() -> None:
    envs = make_vector(CLUTTERED, 3, split="validation", autoreset_mode="Disabled")
    envs.reset(seed=1)
    in_turn = envs.reset()
    assert in_turn[1]["scene"].tolist() == [3, 4, 5]
    assert_same(envs.reset(seed=1, options={"scene": np.array([3, 4, 5])}), in_turn)


def test_a_mask_and_scenes_go_together() -> None:
    envs = make_vector(CLUTTERED, 3, split="test")
    before, _ = envs.reset(seed=1)
    mask = np.array([False, True, False])
    after, info = envs.reset(options={"scene": np.array([50, 60, 70]), "reset_mask": mask})
    assert info["scene"][mask].tolist() == [60]
    assert_same(row_of(after, 0), row_of(before, 0))
    assert_same(row_of(after, 2), row_of(before, 2))
    full = envs.reset(options={"scene": 60})[0]
    assert_same(row_of(after, 1), row_of(full, 0))


def first_scenes(seed: int, split: str, env_id: str = CLUTTERED) -> Any:
    envs = make_vector(env_id, 20, split=split, view="full")
    return envs.reset(seed=seed)[0]["scene"]


@pytest.mark.parametrize("env_id", [CLUTTERED, CIRCLE_SQUARE])
def test_scenes_depend_on_seed_and_split(env_id: str) -> None:
    seen = [
        scene.tobytes()
        for seed in (0, 1)
        for split in ("train", "validation", "test")
        for scene in first_scenes(seed, split, env_id)
    ]
    # CircleSquare has 1568 scenes only: a few may come twice.
    assert len(set(seen)) >= len(seen) - (10 if env_id == CIRCLE_SQUARE else 0)


def test_validation_and_test_share_no_random_word() -> None:
    """Scenes of the same number differ in their places, first glimpses and lengths, too: what is
    chosen on one split has seen nothing of the other."""
    drawn = []
    for split in ("validation", "test"):
        glimpses, info = make_vector(CLUTTERED, 500, split=split).reset(seed=0)
        lengths = make_vector("Glimpse/Copy-v0", 500, split=split).reset(seed=0)[1]["length"]
        drawn.append((info["target_box"][:, 0], glimpses["location"][:, 0], lengths))
    for one, other in zip(*drawn, strict=True):
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.2


@pytest.mark.parametrize("split", ["validation", "test"])
def test_scene_k_hides_image_k(split: str) -> None:
    asked = np.array([0, 1, 4321, 9_999])
    examples = sources.load("glyphs", split)
    envs = make_vector(CENTRED, 4, split=split, view="full", autoreset_mode="Disabled")
    observation, _ = envs.reset(seed=5, options={"scene": asked})
    pixels = np.rint(observation["scene"] * 255).astype(np.uint8)
    np.testing.assert_array_equal(pixels, examples.images[asked])
    info = envs.step({"answer": np.zeros(4, np.int64)})[4]
    np.testing.assert_array_equal(info["target"], examples.labels[asked])


@pytest.mark.parametrize(
    "scene",
    [-1, 10_000, 1.0, [0, 1], [[0, 1, 2]], [[0], [1, 2], 3], [0, 1, 10_000], "first", [0.5, 1, 2]],
)
def test_a_bad_scene_is_refused_by_name(scene: Any) -> None:
    envs = make_vector(CENTRED, 3, split="test")
    envs.reset(seed=0)
    before = envs.state_dict()
    with pytest.raises(ValueError, match=r"options\['scene'\]"):
        envs.reset(seed=1, options={"scene": scene})
    assert_same(envs.state_dict(), before)


@pytest.mark.parametrize("before", [False, True], ids=["the first", "a later one"])
def test_a_reset_without_its_files_is_no_reset(
    before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    envs, env = make_vector(CENTRED, 3), make_single(CENTRED)
    if before:  # its episodes have ended
        envs.reset(seed=1)
        env.reset(seed=1)
    blind = {"look": np.zeros((3, 2)), "answer": np.zeros(3, np.int64)}

    def missing(*_: str) -> sources.Examples:
        raise sources.SourceError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(sources, "load", missing)
        for either in (envs, env):
            with pytest.raises(sources.SourceError):
                either.reset(seed=0)
        with pytest.raises(gym.error.ResetNeeded):
            envs.step(blind)
        with pytest.raises(gym.error.ResetNeeded):
            env.step(row_of(blind, 0))
    assert_same(envs.reset(seed=0), make_vector(CENTRED, 3).reset(seed=0))


def test_train_scenes_cannot_be_asked_for() -> None:
    envs = make_vector(CENTRED, 3)
    with pytest.raises(ValueError, match=r"options\['scene'\] needs split='validation' or 'test'"):
        envs.reset(seed=0, options={"scene": 0})


@pytest.mark.parametrize("scene", [1.5, [0], [[0], [1, 2]], "first"])
def test_a_single_environment_asks_for_one_scene(scene: Any) -> None:
    env = make_single(CENTRED, split="test")
    with pytest.raises(ValueError, match=r"options\['scene'\] must be an integer; it is"):
        env.reset(seed=0, options={"scene": scene})
    with pytest.raises(ValueError, match=r"options 'scene' and 'length', not .*reset_mask"):
        env.reset(seed=0, options={"reset_mask": np.array([True])})


def test_an_unknown_option_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="scenes"):
        make_vector(CENTRED, 3, split="test").reset(seed=0, options={"scenes": 0})
