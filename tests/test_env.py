"""The contract of an episode: time, reward, what ends it, and what `info` says."""

from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.testing import assert_same, random_actions
from tests.support.episodes import (
    CENTRED,
    CIRCLE_SQUARE,
    CLUTTERED,
    VARIANTS,
    hidden_of,
    leaves,
    make_single,
    make_vector,
    row_of,
)

ROWS = 6


def play(
    envs: GlimpseVectorEnv, answers: Any, looks: Any = 0.0, stops: Any = None
) -> list[tuple[Any, ...]]:
    """The steps of one episode without autoreset; the same answers, looks and stops every time."""
    steps: list[tuple[Any, ...]] = []
    n = envs.num_envs
    while not steps or not steps[-1][2].all():
        actions = {"look": np.broadcast_to(looks, (n, 2)), "answer": answers}
        if stops is not None:
            actions["stop"] = np.asarray(stops)[len(steps)]
        steps.append(envs.step(actions))
    return steps


def started(env_id: str, seed: int = 0, **kwargs: Any) -> tuple[GlimpseVectorEnv, Any]:
    """An environment of ROWS rows after its reset, and what is right in each row."""
    labels = hidden_of(env_id, ROWS, seed, **kwargs).labels
    envs = make_vector(env_id, ROWS, autoreset_mode="Disabled", **kwargs)
    envs.reset(seed=seed)
    return envs, labels


# --- time ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [1, 2, 7])
def test_an_episode_is_a_budget_of_steps_and_then_terminates(budget: int) -> None:
    envs = make_vector(CENTRED, ROWS, budget=budget, autoreset_mode="Disabled")
    observation, _ = envs.reset(seed=0)
    remaining = [observation["remaining"]]
    steps = play(envs, np.zeros(ROWS, np.int64))
    remaining += [step[0]["remaining"] for step in steps]
    left = [(budget - taken) / budget for taken in range(1, budget + 1)] + [0.0]
    np.testing.assert_allclose(np.array(remaining), np.tile(np.c_[left][:, None], (1, ROWS, 1)))
    assert [step[2].all() for step in steps] == [False] * (budget - 1) + [True]
    assert not any(step[3].any() for step in steps)


@pytest.mark.parametrize("look", ["continuous", "tiles", "relative"])
def test_the_last_look_is_ignored(look: str) -> None:
    envs = make_vector(CLUTTERED, ROWS, look=look, autoreset_mode="Disabled", history=True)
    twin = make_vector(CLUTTERED, ROWS, look=look, autoreset_mode="Disabled", history=True)
    rng = np.random.default_rng(0)
    envs.reset(seed=1)
    twin.reset(seed=1)
    for _ in range(7):
        actions = random_actions(envs, rng)
        assert_same(envs.step(actions), twin.step(actions))
    last, other = random_actions(envs, rng), random_actions(envs, rng)
    other["answer"] = last["answer"]
    assert (last["look"] != other["look"]).any()
    assert_same(envs.step(last), twin.step(other))


@pytest.mark.parametrize("env_id", [CLUTTERED, CIRCLE_SQUARE])
def test_the_terminal_observation_repeats_the_last_glimpse(env_id: str) -> None:
    envs, labels = started(env_id)
    steps = play(envs, labels, looks=0.3)
    before, after = steps[-2][0], steps[-1][0]
    for name in ("glimpse", "location"):
        np.testing.assert_array_equal(after[name], before[name])
    assert (after["remaining"] == 0.0).all()


def test_stop_ends_an_episode_with_the_answer_given_with_it() -> None:
    envs, labels = started(CENTRED, stop=True)
    twin = make_vector(CENTRED, ROWS, stop=True, autoreset_mode="Disabled")
    twin.reset(seed=0)
    stop = np.arange(ROWS) % 2
    action = {"answer": labels, "stop": stop}
    observation, reward, terminated, _, info = envs.step(action | {"look": np.zeros((ROWS, 2))})
    assert_same(twin.step(action | {"look": np.stack([stop, stop], 1)})[0], observation)
    np.testing.assert_array_equal(terminated, stop == 1)
    np.testing.assert_array_equal(reward, stop)
    np.testing.assert_array_equal(info["target_mask"], stop == 1)
    np.testing.assert_allclose(observation["remaining"][:, 0], np.where(stop, 0, 4 / 6), rtol=1e-6)


# --- reward --------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", [CLUTTERED, CIRCLE_SQUARE])
@pytest.mark.parametrize("view", ["glimpse", "full"])
@pytest.mark.parametrize("reward", ["final", "dense"])
def test_right_answers_collect_one(env_id: str, view: str, reward: str) -> None:
    envs = make_vector(env_id, ROWS, view=view, reward=reward, autoreset_mode="Disabled")
    envs.reset(seed=2)
    labels = hidden_of(env_id, ROWS, 2).labels
    total, ended = np.zeros(ROWS), False
    rng = np.random.default_rng(0)
    while not ended:
        _, paid, terminated, _, info = envs.step(random_actions(envs, rng) | {"answer": labels})
        np.testing.assert_array_equal(info["target"], labels)
        total, ended = total + paid, bool(terminated.all())
    np.testing.assert_allclose(total, 1.0, rtol=1e-12)


def test_wrong_answers_collect_nothing() -> None:
    for reward in ("final", "dense"):
        envs, labels = started(CLUTTERED, reward=reward)
        assert not any(step[1].any() for step in play(envs, (labels + 1) % 10))


def test_a_final_reward_pays_the_last_answer_only() -> None:
    envs, labels = started(CLUTTERED)
    wrong, still = (labels + 1) % 10, np.zeros((ROWS, 2))
    for step in range(8):
        last = step == 7
        answer = wrong if last else labels
        answer = np.where(np.arange(ROWS) % 2, answer, wrong + labels - answer)
        _, reward, _, _, info = envs.step({"look": still, "answer": answer})
        expected = np.where(np.arange(ROWS) % 2, 0.0, float(last))
        np.testing.assert_array_equal(reward, expected)
        assert (info["target_mask"] == last).all()


def test_a_dense_reward_pays_each_right_answer_its_share() -> None:
    envs, labels = started(CLUTTERED, reward="dense")
    rng = np.random.default_rng(3)
    for _ in range(8):
        right = rng.random(ROWS) < 0.5
        answer = np.where(right, labels, (labels + 3) % 10)
        _, reward, _, _, info = envs.step({"look": np.zeros((ROWS, 2)), "answer": answer})
        np.testing.assert_array_equal(reward, right / 8)
        assert info["target_mask"].all()


@pytest.mark.parametrize("reward", ["final", "dense"])
def test_every_glimpse_after_the_first_is_paid_for(reward: str) -> None:
    cost, budget = 0.03, 6
    stop_at = np.array([0, 2, 5, 5, 1, 5])  # the step which each row stops at, or never
    labels = hidden_of(CENTRED, ROWS, 0).labels
    envs = make_vector(CENTRED, ROWS, reward=reward, glimpse_cost=cost, stop=True)
    envs.reset(seed=0)
    total, going = np.zeros(ROWS), np.ones(ROWS, np.bool_)
    for step in range(budget):
        stop = (stop_at == step).astype(np.int64)
        _, paid, ended, _, _ = envs.step(
            {"look": np.zeros((ROWS, 2)), "answer": labels, "stop": stop}
        )
        total += np.where(going, paid, 0.0)
        going &= ~ended
    assert not going.any()
    taken = stop_at + 1
    right = np.ones(ROWS) if reward == "final" else taken / budget
    np.testing.assert_allclose(total, right - cost * (taken - 1), rtol=1e-12)


# --- info and spaces -----------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_observations_are_new_arrays_in_their_space(variant: str) -> None:
    env_id, kwargs = VARIANTS[variant]
    envs, rng = make_vector(env_id, ROWS, **kwargs), np.random.default_rng(0)
    observation, _ = envs.reset(seed=0)
    for _ in range(10):
        kept = {name: value.copy() for name, value in observation.items()}
        new = envs.step(random_actions(envs, rng))[0]
        assert_same(observation, kept)
        assert new in envs.observation_space
        observation = new
    assert row_of(observation, 0) in envs.single_observation_space
    assert all(value.dtype == np.float32 for value in observation.values())


def test_the_keys_of_spaces_are_in_the_contracts_order() -> None:
    envs = make_vector(CENTRED, 2, stop=True)
    assert list(leaves(envs.single_action_space)) == ["look", "answer", "stop"]
    assert list(leaves(envs.single_observation_space)) == ["glimpse", "location", "remaining"]
    full = make_vector(CENTRED, 2, view="full")
    assert list(leaves(full.single_action_space)) == ["answer"]
    assert list(leaves(full.single_observation_space)) == ["scene"]


def test_no_answer_is_told_before_one_was_given() -> None:
    envs = make_vector(CENTRED, 3)
    _, info = envs.reset(seed=0)
    assert set(info) == {"target_box", "_target_box"}
    _, single = make_single(CENTRED).reset(seed=0)
    assert set(single) == {"target_box"}


@pytest.mark.parametrize("kwargs", [{}, {"split": "test"}])
@pytest.mark.parametrize("env_id", [CLUTTERED, "Glimpse/Copy-v0"])
def test_the_seed_that_was_drawn_deals_the_same_episodes(
    env_id: str, kwargs: dict[str, Any]
) -> None:
    """As Gymnasium's environments do, after a reset without a seed."""
    made: list[Any] = [make_single(env_id, **kwargs), make_vector(env_id, ROWS, **kwargs)]
    for env in made:
        dealt = [env.reset()]
        seed = env.np_random_seed
        dealt.append(env.reset())
        assert env.np_random_seed == seed, "the second reset draws none"
        assert_same(env.reset(seed=seed), dealt[0])
        assert_same(env.reset(), dealt[1])


@pytest.mark.parametrize(
    "refused",
    [
        {"seed": 5, "options": {"foo": 1}},
        {"seed": 5, "options": {"scene": "first"}},
        {"seed": 2**64},
        {"seed": -1},
        {"seed": [5]},
    ],
    ids=str,
)
def test_a_refused_reset_keeps_the_seed(refused: dict[str, Any]) -> None:
    env = make_single(CENTRED)
    env.reset(seed=3)
    before = env.np_random
    with pytest.raises(ValueError, match=r"seed|options|foo"):
        env.reset(**refused)
    assert env.np_random is before is env.batch.np_random
    assert env.np_random_seed == 3


def test_an_own_generator_is_kept_by_resets_without_a_seed() -> None:
    env = make_single(CENTRED)
    env.reset(seed=3)
    assert env.np_random_seed == 3
    env.np_random = mine = np.random.default_rng(0)
    env.reset()
    assert env.np_random is mine


def test_after_a_deal_that_is_broken_off_all_rows_need_a_reset(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    envs = make_vector("Glimpse/ClutteredGlyphs-v0", 3, budget=2)
    envs.reset(seed=0)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(envs.task, "deal", interrupted)
    envs.step(envs.action_space.sample())
    with pytest.raises(KeyboardInterrupt):
        envs.reset()
    with pytest.raises(ResetNeeded):
        envs.step(envs.action_space.sample())
