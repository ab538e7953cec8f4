"""Tapes and tables are played with the keys that `gymnasium.utils.play` looks up."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from glimpse_envs.suite import SUITE

PLAYED = [id_ for id_, row in SUITE.items() if "scene_size" not in row.kwargs]
SHIFT = 1073742049  # pygame.K_LSHIFT


def play(env: gym.Env, held: list[tuple[int, ...]]) -> float:
    """Play one episode as `gymnasium.utils.play.play` does, and return what it earned."""
    given = env.get_wrapper_attr("get_keys_to_action")()
    actions = {}
    for keys, action in given.items():
        assert action in env.action_space
        code = tuple(sorted(ord(key) if isinstance(key, str) else key for key in keys))
        actions[code] = action
    assert len(actions) == len(given), "two combinations of the same keys"
    earned, ended = 0.0, False
    env.reset(seed=1)
    for pressed in held:
        assert not ended
        _, reward, terminated, truncated, _ = env.step(actions[tuple(sorted(pressed))])
        earned, ended = earned + float(reward), terminated or truncated
    assert ended
    return earned


def shortest_solution(env: gym.Env) -> list[tuple[int, ...]]:
    """The keys of the oracle's actions in the episode of seed 1."""
    rules: Any = env.unwrapped
    keys = rules.get_keys_to_action()
    env.reset(seed=1)
    held, ended = [], False
    while not ended:
        action = {name: value[0] for name, value in rules.task.oracle().items()}

        # With an answer that ends the episode the look has no effect, and no key.
        alike = [
            chosen
            for names in (list(action), ["answer"])
            for chosen, other in keys.items()
            if all(np.array_equal(action[name], other[name]) for name in names)
        ]
        held.append(alike[0])
        _, _, terminated, truncated, _ = env.step(action)
        ended = terminated or truncated
    return held


@pytest.mark.parametrize("env_id", PLAYED, indirect=True)
def test_the_keys_solve_every_tape_and_table(env_id: str) -> None:
    env = gym.make(env_id)
    assert play(env, shortest_solution(env)) == pytest.approx(1.0)


@pytest.mark.parametrize("kwargs", [{"look": "bits"}, {"reward": "final"}, {"view": "full"}])
def test_the_keys_solve_tables_of_other_arguments(kwargs: dict[str, Any]) -> None:
    env = gym.make("Glimpse/AssociativeRecall-v0", **kwargs)
    assert play(env, shortest_solution(env)) == pytest.approx(1.0)


def test_arrows_move_symbols_are_put_out_and_shift_writes() -> None:
    env: Any = gym.make("Glimpse/ForwardReverse-v0").unwrapped
    keys = env.get_keys_to_action()
    up, right = 1073741906, 1073741903
    for held, look, answer, write in (
        ((ord(" "),), [0, 1], 0, 0),
        ((right,), [1, 1], 0, 0),
        ((ord("3"), right, up), [1, 2], 3, 0),
        ((ord("a"), SHIFT), [0, 1], 0, 10),
    ):
        action = keys[tuple(sorted(held))]
        assert action["look"].tolist() == look
        assert (action["answer"], action["write"]) == (answer, write)


def test_without_a_key_a_reader_stays() -> None:
    env = gym.make("Glimpse/Stories-v0")
    action = env.get_wrapper_attr("get_keys_to_action")()[(ord(" "),)]
    name = env.get_wrapper_attr("task").components["look"].names[action["look"]]
    assert (action["answer"], name) == (0, "the same")


def test_addition_puts_out_the_digit_of_the_key() -> None:
    env: Any = gym.make("Glimpse/Addition-v0").unwrapped
    assert env.get_keys_to_action()[(ord("0"),)]["answer"] == 1


def test_flat_actions_have_the_same_keys() -> None:
    dicts: Any = gym.make("Glimpse/Copy-v0").unwrapped
    flats: Any = gym.make("Glimpse/Copy-v0", flat="discrete").unwrapped
    flat, plain = flats.get_keys_to_action(), dicts.get_keys_to_action()
    assert flat.keys() == plain.keys()
    for held, action in flat.items():
        assert action in flats.action_space
        decoded = flats.batch.flat_actions.decode(np.array([action]))
        assert {name: value[0] for name, value in decoded.items()} == plain[held]


@pytest.mark.parametrize(
    ("env_id", "kwargs", "message"),
    [
        ("Glimpse/Copy-v0", {"look": "absolute"}, "look='moves' alone"),
        ("Glimpse/Copy-v0", {"symbols": 40}, "symbol 36 has no key"),
        ("Glimpse/DictionaryLookup-v0", {"cells": 40}, "40 addresses are more than the 26"),
        ("Glimpse/CenteredGlyphs-v0", {}, "no keys for these actions"),
    ],
)
def test_actions_without_keys_are_refused(
    env_id: str, kwargs: dict[str, Any], message: str
) -> None:
    env: Any = gym.make(env_id, **kwargs).unwrapped
    with pytest.raises(ValueError, match=message):
        env.get_keys_to_action()
