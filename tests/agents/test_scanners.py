"""Scanners look where they say: anywhere, everywhere, or at the target."""

from itertools import pairwise
from math import isqrt, sqrt
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from numpy.typing import NDArray

from agents.algorithms.reinforce import Reinforce
from agents.scoring.run_scores import evaluate_run
from agents.scoring.scanners import (
    SCANNERS,
    OracleScanner,
    RandomScanner,
    RasterScanner,
    ScannedPolicy,
)
from glimpse_envs.evaluation.protocol import evaluate
from tests.support.episodes import (
    CENTRED,
    CIRCLE_SQUARE,
    CLUTTERED,
    TRANSLATED,
    make_single,
    make_vector,
)
from tests.support.tiny import tiny_config
from tests.support.trainings import trained

LOOKS = ("continuous", "tiles", "relative")


def played(
    name: str, env_id: str, rows: int, seed: int = 0, **kwargs: Any
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Play an episode in every row; return where it looked (T, B, 2) and the targets (B, 4)."""
    env = make_vector(env_id, rows, autoreset_mode="Disabled", **kwargs)
    scanner = SCANNERS[name](env, seed)
    observation, info = env.reset(seed=seed)
    boxes, locations = info["target_box"], [observation["location"]]
    for step in range(env.task.budget - 1):
        looks = scanner.looks(observation, step, info)
        action = {"look": looks, "answer": np.zeros(rows, np.int64)}
        observation, _, _, _, info = env.step(action)
        locations.append(observation["location"])
    return np.stack(locations), boxes


def on_target(places: NDArray[np.float32], boxes: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Whether each place (..., B, 2) lies in its row's box (B, 4)."""
    return np.all((places >= boxes[:, :2]) & (places <= boxes[:, 2:]), axis=-1)


@pytest.mark.parametrize("env_id", [TRANSLATED, CLUTTERED, CIRCLE_SQUARE])
@pytest.mark.parametrize("look", ["continuous", "tiles"])
def test_the_oracle_is_on_target_at_once(env_id: str, look: str) -> None:
    size = {"glimpse_size": 5} if env_id == CIRCLE_SQUARE else {}
    places, boxes = played("oracle", env_id, 200, look=look, inside=False, **size)
    assert on_target(places[1:], boxes).all()
    assert not on_target(places[:1], boxes).all(), "the first glimpse is not the oracle's"


def test_the_oracle_looks_at_the_middle() -> None:
    places, boxes = played("oracle", CLUTTERED, 50)
    middle = (boxes[:, :2] + boxes[:, 2:]) / 2
    np.testing.assert_allclose(places[1:], np.broadcast_to(middle, places[1:].shape), atol=1e-6)


@pytest.mark.parametrize("env_id", [CLUTTERED, CIRCLE_SQUARE])
def test_the_oracle_arrives_by_moves_when_it_has_enough(env_id: str) -> None:
    # The longest way is a diagonal, 2 sqrt(2), which takes 15 moves of 0.2.
    places, boxes = played("oracle", env_id, 200, look="relative", max_move=0.2, budget=16)
    assert on_target(places[-1], np.clip(boxes, -1, 1)).all()
    steps = np.linalg.norm(np.diff(places, axis=0), axis=-1)
    assert steps.max() <= 0.2 + 1e-6
    middle = np.clip((boxes[:, :2] + boxes[:, 2:]) / 2, -1, 1)
    distance = np.linalg.norm(places - middle, axis=-1)
    assert (np.diff(distance, axis=0) <= 1e-6).all(), "it goes there straight"


@pytest.mark.parametrize("budget", range(2, 20))
def test_a_raster_covers_the_scene(budget: int) -> None:
    env = make_single(CLUTTERED, budget=budget)
    grid = RasterScanner(env).grid
    assert grid.shape == (budget - 1, 2)
    axis = np.linspace(-1, 1, 41)
    everywhere = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 1, 2)
    gap = np.linalg.norm(everywhere - grid, axis=-1).min(axis=1).max()
    # Squares of side 2 / floor(sqrt(n)) would leave no point further away than this.
    assert gap <= sqrt(2) / isqrt(budget - 1) + 1e-9


def test_a_raster_goes_there_and_back_alike_in_all_rows() -> None:
    places, _ = played("raster", CLUTTERED, 4, budget=10)
    third = 2 / 3
    rows = [[-third, 0.0, third], [third, 0.0, -third], [-third, 0.0, third]]
    expected = [(x, y) for y, line in zip((-third, 0.0, third), rows, strict=True) for x in line]
    for row in range(4):
        np.testing.assert_allclose(places[1:, row], expected, atol=1e-6)


def test_a_raster_of_tiles_sees_each_tile_once() -> None:
    env = make_vector(CLUTTERED, 1, look="tiles", glimpse_size=20, budget=10)  # 3 x 3 tiles
    scanner = RasterScanner(env)
    observation, info = env.reset(seed=0)
    tiles = [int(scanner.looks(observation, step, info)[0]) for step in range(9)]
    assert sorted(tiles) == list(range(9))
    assert {abs(a - b) for a, b in pairwise(tiles)} == {1, 3}


@pytest.mark.parametrize("look", LOOKS)
def test_a_static_gaze_stays(look: str) -> None:
    places, _ = played("static", CLUTTERED, 50, look=look, budget=4)
    np.testing.assert_array_equal(places[1:], np.broadcast_to(places[0], places[1:].shape))


def test_random_looks_are_uniform() -> None:
    places, _ = played("random", CLUTTERED, 800)
    cells = np.floor((places[1:].reshape(-1, 2) + 1) * 2).astype(int).clip(0, 3)
    counts = np.bincount(cells[:, 1] * 4 + cells[:, 0], minlength=16)
    assert_uniform(counts)


def test_random_tiles_are_uniform_where_tiles_stick_out_of_the_scene() -> None:
    env = make_vector(CLUTTERED, 2000, look="tiles", glimpse_size=28)  # 3 x 3 tiles of 84 pixels
    observation, info = env.reset(seed=0)
    looks = RandomScanner(env).looks(observation, 0, info)
    assert_uniform(np.bincount(looks, minlength=9))


def assert_uniform(counts: NDArray[np.int64]) -> None:
    expected = counts.sum() / len(counts)
    assert np.abs(counts - expected).max() < 4 * np.sqrt(expected)


def test_random_moves_are_as_long_as_they_may_be_in_all_directions() -> None:
    env = make_vector(CIRCLE_SQUARE, 2000, max_move=0.1)
    observation, info = env.reset(seed=0)
    moves = RandomScanner(env).looks(observation, 0, info)
    free = (np.abs(observation["location"]) < 0.9).all(axis=1)  # no wall within reach
    np.testing.assert_allclose(np.linalg.norm(moves[free], axis=1), 1.0, atol=1e-5)
    eighths = np.floor((np.arctan2(moves[free, 1], moves[free, 0]) / np.pi + 1) * 4).astype(int)
    assert_uniform(np.bincount(eighths.clip(0, 7), minlength=8))


@pytest.mark.parametrize("look", LOOKS)
def test_a_random_scanner_goes_on_from_its_state(look: str) -> None:
    env = make_vector(CLUTTERED, 5, look=look)
    observation, info = env.reset(seed=0)
    scanner, other = RandomScanner(env, seed=1), RandomScanner(env, seed=2)
    scanner.looks(observation, 0, info)
    other.load_state_dict(scanner.state_dict())
    for step in range(3):
        following = scanner.looks(observation, step, info)
        np.testing.assert_array_equal(other.looks(observation, step, info), following)


@pytest.mark.parametrize("look", LOOKS)
def test_random_looks_do_not_depend_on_the_scenes_at_once(look: str) -> None:
    env = make_single(CLUTTERED, look=look)
    scores = [
        evaluate(
            ScannedPolicy(RandomScanner(env)), CLUTTERED, episodes=20, batch_size=size, look=look
        )
        for size in (7, 20)
    ]
    one, other = (score.locations for score in scores)
    assert one is not None
    assert other is not None
    np.testing.assert_array_equal(one, other)


def test_seeds_of_the_random_scanner_differ() -> None:
    one, two = (played("random", CLUTTERED, 5, seed)[0] for seed in (1, 2))
    assert (one[1:] != two[1:]).any()


def test_a_seed_that_cannot_be_is_named() -> None:
    with pytest.raises(ValueError, match="seed=-1 must be an integer from 0 to"):
        RandomScanner(make_single(CENTRED), seed=-1)


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", SCANNERS)
def test_every_scanner_acts_in_every_look_space(name: str, look: str) -> None:
    env = make_vector(CENTRED, 6, look=look)
    observation, info = env.reset(seed=0)
    policy = ScannedPolicy(SCANNERS[name](env))
    action, _ = policy.predict(observation, info=info)
    assert env.action_space.contains(action)


@pytest.mark.parametrize("name", SCANNERS)
@pytest.mark.parametrize("look", LOOKS)
def test_a_history_is_scanned_as_its_latest_glimpse(look: str, name: str) -> None:
    plain, _ = played(name, CLUTTERED, 5, look=look, budget=4)
    env = make_vector(CLUTTERED, 5, look=look, budget=4, history=True, autoreset_mode="Disabled")
    scanner = SCANNERS[name](env, 0)
    observation, info = env.reset(seed=0)
    for step in range(3):
        action = {"look": scanner.looks(observation, step, info), "answer": np.zeros(5, np.int64)}
        observation, _, _, _, info = env.step(action)
    np.testing.assert_array_equal(observation["location"].swapaxes(0, 1), plain)


def test_a_scanned_policy_without_a_model_never_stops() -> None:
    env = make_vector(CENTRED, 6, stop=True)
    observation, info = env.reset(seed=0)
    action, _ = ScannedPolicy(RasterScanner(env)).predict(observation, info=info)
    assert env.action_space.contains(action)
    assert not action["stop"].any()


def test_a_task_that_cannot_be_scanned_is_told_so() -> None:
    with pytest.raises(ValueError, match="gaze='raster': there is no look to choose"):
        RasterScanner(make_single(CENTRED, view="full"))

    class Foreign(gym.Env):
        observation_space = spaces.Box(0.0, 1.0, (2,))
        action_space = spaces.Dict(look=spaces.Discrete(3), answer=spaces.Discrete(2))

    with pytest.raises(ValueError, match=r"gaze='random' scans pictures.* none is hidden"):
        RandomScanner(Foreign())


@pytest.mark.parametrize("name", SCANNERS)
def test_scanners_refuse_tapes_and_tables(name: str, memory_id: str) -> None:
    with pytest.raises(ValueError, match=f"gaze='{name}' scans pictures.* gaze='learned'"):
        SCANNERS[name](make_single(memory_id))


class Remembering:
    """A model that counts its calls, answers with them and looks nowhere that matters."""

    def __init__(self) -> None:
        self.given: list[tuple[Any, Any, bool]] = []

    def predict(
        self,
        observation: dict[str, NDArray],
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[dict[str, NDArray], Any]:
        self.given.append((state, episode_start, deterministic))
        rows = len(observation["remaining"])
        count = 0 if state is None else state + 1
        answer = np.full(rows, count, np.int64)
        return {"look": np.full((rows, 2), 0.9, np.float32), "answer": answer}, count


def test_a_scanned_model_answers_and_is_led_by_the_scanner() -> None:
    env = make_vector(CLUTTERED, 3)
    observation, info = env.reset(seed=0)
    model, scanner = Remembering(), RasterScanner(env)
    policy = ScannedPolicy(scanner, model)
    start, state = np.ones(3, np.bool_), None
    for step in range(4):
        action, state = policy.predict(observation, state, start, True, info)
        np.testing.assert_allclose(action["look"], np.tile(scanner.grid[step], (3, 1)), rtol=1e-6)
        assert (action["answer"] == step).all()
    assert [given[0] for given in model.given] == [None, 0, 1, 2]
    assert all(given[1] is start and given[2] for given in model.given)


def test_only_the_oracle_is_told_where_the_target_is() -> None:
    env = make_single(CLUTTERED)
    assert ScannedPolicy(OracleScanner(env)).privileged
    assert not ScannedPolicy(RasterScanner(env)).privileged
    assert not ScannedPolicy(RandomScanner(env)).privileged


def test_evaluation_sees_the_oracle_on_target_and_the_others_less_so() -> None:
    env = make_single(CLUTTERED)
    shares = {}
    for name, scanner in SCANNERS.items():
        result = evaluate(ScannedPolicy(scanner(env)), CLUTTERED, episodes=60, batch_size=25)
        assert result.scanpaths is not None
        shares[name] = result.scanpaths.share_on_target
    assert shares["oracle"] == 1.0
    assert shares["random"] < 0.5
    assert shares["raster"] < 0.5


def test_a_run_is_scanned_as_long_as_it_is_scored(tmp_path: Path) -> None:
    """Not as long as it was trained."""
    run = trained(Reinforce, tiny_config(episodes=8), tmp_path / "run")
    evaluation = evaluate_run(run, episodes=4, gaze="raster", budget=10)
    assert evaluation.locations is not None
    for places in evaluation.locations:
        assert len(np.unique(places[1:], axis=0)) == 9
