"""The context: a coarse view of the whole scene, with the first glimpse alone."""

from typing import Any

import numpy as np
import pytest

from agents.policy.glimpse_policy import GlimpsePolicy
from agents.policy.networks import NetworkConfig
from glimpse_envs.testing import check_task, random_actions
from tests.support.episodes import CENTRED, CLUTTERED, make_vector
from tests.support.reference import overlaps

PICTURES: dict[str, dict[str, Any]] = {
    CLUTTERED: {},
    CENTRED: {"history": True},
    "Glimpse/MovingDigitGlyphs-v0": {},
    "Glimpse/Catch-v0": {},
    "Glimpse/SearchGlyphs-v0": {},
    "Glimpse/DigitSequenceGlyphs-v0": {},
    "Glimpse/DescribeSceneGlyphs-v0": {"look": "tiles"},
}


def coarse(scene: Any) -> Any:
    """The area means (12, 12) of `scene` (H, W)."""
    height, width = scene.shape
    down, across = (
        overlaps(np.arange(12) * side / 12, side / 12, side) / (side / 12)
        for side in (height, width)
    )
    return down @ scene @ across.T


@pytest.mark.parametrize("env_id", PICTURES)
def test_the_first_observation_shows_the_whole_scene_coarsely_and_no_other(env_id: str) -> None:
    rows = 70  # more than are scaled together
    kwargs = PICTURES[env_id]
    envs = make_vector(env_id, rows, context=True, **kwargs)
    whole = make_vector(env_id, rows, view="full")
    observation, _ = envs.reset(seed=3)
    scenes = whole.reset(seed=3)[0]["scene"]
    assert observation["context"].shape == (rows, 1, 12, 12)
    for found, scene in zip(observation["context"][:, 0], scenes[:, 0], strict=True):
        np.testing.assert_allclose(found, coarse(scene), atol=1e-6)
    rng = np.random.default_rng(0)
    plain = make_vector(env_id, rows, **kwargs)
    expected, _ = plain.reset(seed=3)
    for _ in range(20):
        for name, value in expected.items():
            np.testing.assert_array_equal(observation[name], value, name)
        actions = random_actions(envs, rng)
        observation, _, terminated, _, _ = envs.step(actions)
        expected = plain.step(actions)[0]
        np.testing.assert_array_equal(observation["context"].any(axis=(1, 2, 3)), terminated)


@pytest.mark.learning
@pytest.mark.parametrize("kwargs", [{}, {"history": True, "stop": True}, {"split": "test"}])
def test_it_keeps_the_contract(kwargs: dict[str, Any]) -> None:
    check_task(CLUTTERED, context=True, **kwargs)


def test_the_full_view_has_no_context() -> None:
    with pytest.raises(
        ValueError, match="view='full' shows no glimpses: leave first_glimpse, history"
    ):
        make_vector(CLUTTERED, 1, view="full", context=True)
    with pytest.raises(ValueError, match="context='yes' must be True or False"):
        make_vector(CLUTTERED, 1, context="yes")


def test_a_policy_that_cannot_use_it_says_so() -> None:
    task = make_vector(CLUTTERED, 1, context=True).task
    with pytest.raises(ValueError, match="make the environment with context=False"):
        GlimpsePolicy(task.observation_space, task.components, NetworkConfig())
