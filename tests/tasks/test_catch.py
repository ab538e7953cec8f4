"""Catch: the ball's flight against a ball moved in small steps, glimpses against a retina's."""

import numpy as np
import pytest

from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.tasks.worlds.catch import Catch, CatchStage
from glimpse_envs.testing import CHECKS, random_actions
from glimpse_envs.vision.sensors.retina import Retina
from tests.support.episodes import make_vector

CATCH = "Glimpse/Catch-v0"
SIZE, ROWS = 24, 64


def stage_of(envs: GlimpseVectorEnv) -> CatchStage:
    assert isinstance(envs.task, Catch)
    return envs.task._catch


@pytest.mark.parametrize("look", ["continuous", "tiles", "relative"])
def test_glimpses_are_those_of_a_retina_over_the_screen(look: str) -> None:
    envs, whole = (make_vector(CATCH, ROWS, **each) for each in ({"look": look}, {"view": "full"}))
    rng = np.random.default_rng(0)
    observation, _ = envs.reset(seed=3)
    shown, _ = whole.reset(seed=3)
    retina = Retina((1, SIZE, SIZE), glimpse_size=6, scales=3)
    canvas, sums = retina.allocate(ROWS, np.float32)
    for _ in range(SIZE - 1):
        canvas[:, :, 1:-1, 1:-1] = shown["scene"]
        retina.sum_scenes(canvas, sums, np.arange(ROWS))
        expected = np.zeros_like(observation["glimpse"])
        centres = (observation["location"].astype(np.float64) + 1) / 2 * SIZE
        retina.read(canvas, sums, np.arange(ROWS), centres, np.arange(ROWS), expected)
        np.testing.assert_allclose(observation["glimpse"], expected, atol=2e-6)
        actions = random_actions(envs, rng)
        observation, *_ = envs.step(actions)
        shown, *_ = whole.step({"act": actions["act"]})


def test_the_ball_falls_a_row_a_step_and_bounces_off_the_sides() -> None:
    envs = make_vector(CATCH, ROWS, view="full", autoreset_mode="Disabled")
    observation, _ = envs.reset(seed=0)
    stage = stage_of(envs)
    places, speeds = stage.flights[:, 0].copy(), stage.flights[:, 1].copy()
    assert places.min() >= 0
    assert places.max() <= SIZE
    assert np.abs(speeds).max() <= 1
    bounces = 0
    for step in range(SIZE):
        scene = observation["scene"][:, 0]
        balls = scene.copy()
        balls[:, -1] = 0.0
        columns = np.floor(places).astype(int)
        if step < SIZE - 1:
            assert balls.sum() == ROWS
            assert (balls[np.arange(ROWS), step, columns] == 1).all()
        observation, *_ = envs.step({"act": np.ones(ROWS, np.int64)})
        places = places + speeds
        out = (places < 0) | (places > SIZE)
        bounces += int(out.sum())
        places = np.where(places < 0, -places, np.where(places > SIZE, 2 * SIZE - places, places))
        speeds = np.where(out, -speeds, speeds)
    assert bounces > 10


def test_it_pays_to_lie_under_the_ball_and_nothing_else() -> None:
    envs = make_vector(CATCH, 2000, autoreset_mode="Disabled")
    envs.reset(seed=1)
    landing = stage_of(envs).landing()
    still = {"look": np.zeros((2000, 2)), "act": np.ones(2000, np.int64)}
    for step in range(SIZE):
        _, reward, ended, _, info = envs.step(still)
        assert ended.all() == (step == SIZE - 1)
        if step < SIZE - 1:
            assert not reward.any()
    under = (landing == 11) | (landing == 12)
    np.testing.assert_array_equal(reward, under)
    np.testing.assert_array_equal(info["success"], under)
    assert 0.05 < under.mean() < 0.12, "the chance level is 1 / 12"


def test_the_last_glimpse_is_repeated_when_the_episode_ends() -> None:
    envs = make_vector(CATCH, ROWS, autoreset_mode="Disabled")
    envs.reset(seed=1)
    for _ in range(SIZE):
        before = envs.task.observe(np.arange(ROWS), np.zeros((ROWS, 1), np.float32))
        observation, *_ = envs.step(envs.task.oracle())
    np.testing.assert_array_equal(observation["glimpse"], before["glimpse"])
    np.testing.assert_array_equal(observation["location"], before["location"])


def test_a_state_of_ended_episodes_shows_what_was_seen_last() -> None:
    envs, restored = (
        make_vector(CATCH, ROWS, view="full", autoreset_mode="NextStep") for _ in range(2)
    )
    envs.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(SIZE):
        observation, *_ = envs.step(random_actions(envs, rng))
    restored.load_state_dict(envs.state_dict())
    shown = restored.task.observe(np.arange(ROWS), np.zeros((ROWS, 1), np.float32))
    np.testing.assert_array_equal(shown["scene"], observation["scene"])


def test_copies_share_the_ball_and_not_the_paddle() -> None:
    envs = make_vector(CATCH, 4, copies=2, view="full", autoreset_mode="Disabled")
    envs.reset(seed=1)
    observation, *_ = envs.step({"act": np.array([0, 2, 0, 2])})
    scene = observation["scene"][:, 0]
    np.testing.assert_array_equal(scene[0, :-1], scene[1, :-1])
    assert (scene[0, -1] != scene[1, -1]).any()


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"paddle": 25}, "paddle=25 must be at most scene_size=24"),
        ({"scene_size": 1}, "scene_size"),
        ({"split": "dev"}, "split"),
        ({"view": "full", "history": True}, "view='full' shows no glimpses"),
    ],
)
def test_what_cannot_be_is_refused(kwargs: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_vector(CATCH, 1, **kwargs)


def test_chance_that_every_episode_has_is_checked_up_to_rounding() -> None:
    """A paddle as wide as the screen always catches; a mean of 2,000 equal returns is rounded."""
    kwargs = dict(scene_size=3, paddle=3, glimpse_size=1, scales=1, glimpse_cost=0.02)
    (check_chance,) = (check for check in CHECKS if check.__name__ == "check_chance")
    check_chance(CATCH, kwargs)


@pytest.mark.parametrize("view", ["glimpse", "full"])
def test_the_fallen_ball_is_seen_and_so_ends_the_episode(view: str) -> None:
    envs = make_vector(CATCH, 3, view=view, autoreset_mode="Disabled")
    envs.reset(seed=0)
    envs.action_space.seed(0)
    for step in range(SIZE):
        _, _, terminated, truncated, _ = envs.step(envs.action_space.sample())
        assert terminated.tolist() == [step == SIZE - 1] * 3
        assert not truncated.any()
