"""What holds for every environment of the suite."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.suite import ATARI, MINIGRID, SUITE, register
from glimpse_envs.testing import Actions, assert_same, random_actions, rows_that_fit
from tests.support.episodes import (
    Observation,
    hidden_of,
    leaves,
    make_single,
    make_vector,
    oracle,
    play,
)


def test_gymnasiums_checker_has_nothing_to_say(
    env_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its warnings are errors here. Human rendering is checked as Gymnasium's own tests do it."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    check_env(make_single(env_id))
    check_env(make_single(env_id, view="full"))


def test_an_episode_passes_gymnasiums_wrappers(env_id: str) -> None:
    env = gym.make(env_id)
    observation, _ = env.reset(seed=0)
    budget = make_single(env_id).task.budget
    ended, steps = False, 0
    env.action_space.seed(0)
    while not ended:
        assert observation in env.observation_space
        observation, _, ended, truncated, _ = env.step(env.action_space.sample())
        assert not truncated
        steps += 1
    assert steps == budget if "budget" in SUITE[env_id].kwargs else steps <= budget


def test_specs_round_trip_through_json(env_id: str) -> None:
    changed: dict[str, Any] = {"look": "relative", "max_move": 0.1}
    if SUITE[env_id].family in ("tape", "table"):
        changed = {"slack": 3.0}
    elif SUITE[env_id].family == "text":
        changed = {"look": "absolute", "slack": 0.5}
    env = gym.make(env_id, split="test", render_mode="rgb_array", **changed)
    assert env.spec is not None
    spec = EnvSpec.from_json(env.spec.to_json())
    assert spec == env.spec
    again = gym.make(spec)
    assert again.action_space == env.action_space
    assert_same(again.reset(seed=4), env.reset(seed=4))


def test_specs_of_batches_round_trip_through_json(env_id: str) -> None:
    envs = make_vector(env_id, 3, autoreset_mode="NextStep")
    assert envs.spec is not None
    again = gym.make_vec(EnvSpec.from_json(envs.spec.to_json()), num_envs=3)
    assert again.metadata["autoreset_mode"] is envs.metadata["autoreset_mode"]
    assert_same(again.reset(seed=4), envs.reset(seed=4))


def test_answers_are_scored_in_the_steps_that_their_component_names(env_id: str) -> None:
    envs = make_vector(env_id, 1, autoreset_mode="Disabled")
    answer = envs.task.components.get("answer")
    if answer is None or not answer.every:
        pytest.skip("no answers at fixed steps")
    for seed in range(3):
        envs.reset(seed=seed)
        steps, ended = 0, False
        while not ended:
            _, _, terminated, _, info = envs.step(envs.task.oracle())
            steps, ended = steps + 1, bool(terminated[0])
            assert info["target_mask"][0] == (steps % answer.every == 0)


def test_an_oracle_collects_exactly_the_ceiling(picture_id: str) -> None:
    n = 20
    labels = hidden_of(picture_id, n, 5).labels
    for reward in ("final", "dense"):
        envs = make_vector(picture_id, n, reward=reward, autoreset_mode="Disabled")
        envs.reset(seed=5)
        returns, rng = np.zeros(n), np.random.default_rng(0)
        for _ in range(envs.task.budget):
            returns += envs.step(random_actions(envs, rng) | {"answer": labels})[1]
        np.testing.assert_allclose(returns, envs.task.ceiling, rtol=1e-12)


def test_an_oracle_of_tapes_and_tables_collects_exactly_the_ceiling(memory_id: str) -> None:
    """By the shortest solution, which takes the whole budget where there is no slack."""
    n = 20
    envs = make_vector(memory_id, n, slack=1.0, autoreset_mode="NextStep")
    observation, _ = envs.reset(seed=5)
    played = play(envs, observation, oracle)
    np.testing.assert_allclose(played.returns, envs.task.ceiling, rtol=1e-12)
    assert played.success.all()


def test_blind_answers_collect_chance(picture_id: str) -> None:
    """Within four standard errors. Where all answers are as frequent, they are drawn uniformly, so
    that the frequencies of the hidden labels do not matter."""
    n = rows_that_fit(picture_id, 3000) // 2
    envs = make_vector(picture_id, n, autoreset_mode="Disabled")
    chance, space = envs.task.chance, envs.task.components["answer"].space
    assert isinstance(space, spaces.Discrete)
    envs.reset(seed=2)
    returns, rng = np.zeros(n), np.random.default_rng(3)
    frequent = np.bincount(hidden_of(picture_id, n, 1).labels).argmax()
    alike = np.isclose(chance * int(space.n), 1)
    for _ in range(envs.task.budget):
        blind = {} if alike else {"answer": np.full(n, frequent)}
        returns += envs.step(random_actions(envs, rng) | blind)[1]
    error = np.sqrt(chance * (1 - chance) / n)
    assert abs(returns.mean() - chance) < 4 * error


@pytest.mark.parametrize("hurry", [True, False])
def test_blind_answers_about_tapes_and_tables_collect_no_more_than_chance(
    memory_id: str, hurry: bool
) -> None:
    """Whether something is answered at every step, or nothing half of the time."""
    n, rng = 3000, np.random.default_rng(3)
    envs = make_vector(memory_id, n, autoreset_mode="NextStep")
    observation, _ = envs.reset(seed=2)
    answers = leaves(envs.single_action_space)["answer"]
    assert isinstance(answers, spaces.Discrete)

    def blind(envs: GlimpseVectorEnv, _: Observation) -> Actions:
        answers_given = rng.integers(1, int(answers.n), n)
        answers_given = answers_given if hurry else answers_given * rng.integers(2, size=n)
        return random_actions(envs, rng) | {"answer": answers_given}

    returns = play(envs, observation, blind).returns
    error = returns.std() / np.sqrt(n)
    assert returns.mean() < envs.task.chance + 4 * error


def test_names_are_the_keys_and_kwargs_are_flat_scalars() -> None:
    for name, row in SUITE.items():
        assert row.id == name
        assert name in gym.registry
        assert all(isinstance(value, str | int | float | bool) for value in row.kwargs.values())
        task = make_single(name).task
        assert 0 <= task.chance < task.ceiling == 1.0


def test_the_settings_are_the_papers() -> None:
    """Scene, clutter, glimpse, scales and budget as the suite's table has them."""
    names = ("scene_size", "clutter", "glimpse_size", "scales", "budget")
    expected = {
        "CenteredMNIST": (28, 0, 8, 1, 6),
        "TranslatedMNIST": (60, 0, 12, 3, 8),
        "ClutteredMNIST": (60, 4, 12, 3, 8),
        "ClutteredMNISTLarge": (100, 8, 12, 4, 8),
        "FashionMNIST": (28, 0, 8, 1, 12),
        "CIFAR10": (32, 0, 8, 2, 8),
        "CircleSquare": (28, 0, 5, 1, 16),
        "MegapixelMNIST": (1500, 0, 12, 7, 16),
    }
    for name, values in expected.items():
        kwargs = SUITE[f"Glimpse/{name}-v0"].kwargs
        assert tuple(kwargs.get(key, 0) for key in names) == values
        twin = SUITE.get(f"Glimpse/{name.replace('MNIST', 'Glyphs')}-v0")
        if "MNIST" in name and twin is not None:
            assert twin.kwargs == kwargs | {"source": "glyphs"}
    megapixel = SUITE["Glimpse/MegapixelMNIST-v0"].kwargs
    assert [megapixel[name] for name in ("images", "majority", "strokes")] == [5, 3, 50]
    circle = SUITE["Glimpse/CircleSquare-v0"].kwargs
    assert (circle["look"], circle["max_move"], circle["inside"]) == ("relative", 0.2, True)
    assert circle["reward"] == "dense"


@pytest.mark.filterwarnings("ignore:.*Overriding environment")
def test_an_id_of_the_suite_stands_for_nothing_else() -> None:
    row = SUITE["Glimpse/Copy-v0"]
    other = SUITE["Glimpse/Catch-v0"].task
    before = gym.registry[row.id]
    for env_id, task, kwargs in (
        (row.id, other, row.kwargs),
        (row.id, row.task, row.kwargs | {"length": 3}),
        (ATARI, other, {}),
        (MINIGRID, other, {}),
    ):
        with pytest.raises(ValueError, match=f"the id '{env_id}' is taken: .*such as 'Mine/"):
            register(env_id, task=task, **kwargs)
    assert gym.registry[row.id] is before
    register(row.id, task=row.task, **row.kwargs)
    assert gym.registry[row.id].kwargs == before.kwargs
