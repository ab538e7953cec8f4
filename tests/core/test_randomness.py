"""Every random number is a function of its key alone: not of rows, threads or order."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs import set_threads
from glimpse_envs.core.randomness import below, fill_words, symmetric
from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.testing import assert_same, first_rows, random_actions
from tests.support.episodes import CENTRED, CLUTTERED, VARIANTS, make_single, make_vector, row_of
from tests.support.reference import counts_in_grid, philox

LARGEST = np.uint32(2**32 - 1)


def words_of(count: int, seed: int, purpose: int, stream: int, episode: int) -> NDArray[np.uint32]:
    words = np.zeros(count, np.uint32)
    fill_words(words, np.uint64(seed), purpose, stream, episode)
    return words


@pytest.mark.parametrize(
    ("counter", "key", "published"),
    [
        ((0,) * 4, (0,) * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((2**32 - 1,) * 4, (2**32 - 1,) * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_reference_philox_gives_the_published_vectors(
    counter: tuple[int, int, int, int], key: tuple[int, int], published: str
) -> None:
    assert " ".join(f"{word:08x}" for word in philox(counter, key)) == published


def test_the_first_words_of_key_zero_are_the_published_ones() -> None:
    words = words_of(4, 0, 0, 0, 0)
    assert [f"{word:08x}" for word in words] == ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**32, 2**64 - 1, 0x0123456789ABCDEF])
@pytest.mark.parametrize(("purpose", "stream", "episode"), [(0, 0, 0), (3, 7, 2**31), (1, 4095, 9)])
def test_words_are_philox_of_seed_and_counter(
    seed: int, purpose: int, stream: int, episode: int
) -> None:
    expected = [
        word
        for block in range(3)
        for word in philox((block, purpose, stream, episode), (seed % 2**32, seed >> 32))
    ]
    for count in (1, 4, 11):
        assert words_of(count, seed, purpose, stream, episode).tolist() == expected[:count]


def test_words_map_into_their_ranges_and_reach_both_ends() -> None:
    for n in (1, 2, 10, 50_000):
        assert below(np.uint32(0), n) == 0
        assert below(LARGEST, n) == n - 1
    assert -1.0 < symmetric(np.uint32(0)) < -0.999999
    assert 0.999999 < symmetric(LARGEST) < 1.0


# --- seeds and rows ----------------------------------------------------------------------------


def play_alike(large: GlimpseVectorEnv, small: GlimpseVectorEnv, steps: int = 10) -> None:
    """Give the rows of `small` the actions of the first rows of `large`, and hold what both are
    reported equal, over the ends of episodes. Both have been reset."""
    rng, n = np.random.default_rng(0), small.num_envs
    for _ in range(steps):
        actions = random_actions(large, rng)
        *found, infos = large.step(actions)
        *expected, expected_infos = small.step(first_rows(actions, n))
        assert_same(first_rows(tuple(found), n), tuple(expected))
        assert_same({name: first_rows(infos[name], n) for name in expected_infos}, expected_infos)


@pytest.mark.parametrize("variant", VARIANTS)
def test_rows_do_not_depend_on_how_many_there_are(variant: str) -> None:
    env_id, kwargs = VARIANTS[variant]
    large, small = make_vector(env_id, 9, **kwargs), make_vector(env_id, 4, **kwargs)
    found, expected = large.reset(seed=11), small.reset(seed=11)
    assert_same(first_rows(found, 4), expected)
    play_alike(large, small)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_single_environment_is_row_0(variant: str) -> None:
    env_id, kwargs = VARIANTS[variant]
    single = make_single(env_id, **kwargs)
    envs = make_vector(env_id, 5, autoreset_mode="Disabled", **kwargs)
    rng = np.random.default_rng(2)
    assert_same(single.reset(seed=7), row_0(envs.reset(seed=7)))
    for _ in range(10):
        actions = random_actions(envs, rng)
        expected = envs.step(actions)
        found = single.step(row_of(actions, 0))
        assert found[4].pop("is_success", None) is (found[4]["success"] if found[2] else None)
        assert_same(found, row_0(expected))
        if expected[2].any():
            assert_same(single.reset() if expected[2][0] else None, reset_row_0(envs, expected[2]))


def row_0(values: Any) -> Any:
    """What a single environment says where the batched one says `values`."""
    if isinstance(values, dict):
        return {name: row_0(value) for name, value in values.items() if name[0] != "_"}
    if isinstance(values, tuple):
        return tuple(row_0(value) for value in values)
    return values[0]


def reset_row_0(envs: GlimpseVectorEnv, ended: NDArray[np.bool_]) -> Any:
    """Reset the ended rows; return row 0's observation and info, None where it goes on."""
    found = envs.reset(options={"reset_mask": ended})
    return row_0(found) if ended[0] else None


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_list_of_seeds_makes_rows_the_single_environments(variant: str) -> None:
    env_id, kwargs = VARIANTS[variant]
    seeds: list[int | None] = [5, 2**40, 5]
    envs = make_vector(env_id, 3, **kwargs)
    observation, info = envs.reset(seed=seeds)
    assert_same(row_of(observation, 0), row_of(observation, 2))
    for row, seed in enumerate(seeds):
        expected, expected_info = make_single(env_id, **kwargs).reset(seed=seed)
        assert_same(row_of(observation, row), expected)
        np.testing.assert_array_equal(info["target_box"][row], expected_info["target_box"])


@pytest.mark.learning
@pytest.mark.parametrize("variant", ["stop", "history", "circle_square", "full"])
def test_threads_change_nothing(variant: str, one_thread_after: None) -> None:
    env_id, kwargs = VARIANTS[variant]
    n = 261
    found = []
    for threads in (1, 2, 3):
        set_threads(threads)
        envs, rng = make_vector(env_id, n, **kwargs), np.random.default_rng(1)
        found.append(
            [envs.reset(seed=3)] + [envs.step(random_actions(envs, rng)) for _ in range(10)]
        )
    for other in found[1:]:
        for mine, expected in zip(other, found[0], strict=True):
            assert_same(mine, expected)


@pytest.mark.parametrize("threads", [0, 1.5, "2", True])
def test_fewer_than_one_thread_is_refused(threads: Any) -> None:
    with pytest.raises(ValueError, match=f"threads={threads!r} must be an integer of at least 1"):
        set_threads(threads)


@pytest.mark.parametrize("wanted", ["two", "0", "-1", ""])
def test_a_bad_number_of_threads_in_the_environment_is_refused_by_name(wanted: str) -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", "import glimpse_envs.core.threads"],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "GLIMPSE_THREADS": wanted},
        capture_output=True,
        text=True,
    )
    last = loaded.stderr.strip().splitlines()[-1]
    assert last == (
        f"ValueError: the environment variable GLIMPSE_THREADS={wanted!r} must be an integer of at "
        "least 1"
    )


def scenes_dealt(seed: int, rows: int = 40, episodes: int = 4) -> list[bytes]:
    envs = make_vector(CLUTTERED, rows, view="full")
    observation, _ = envs.reset(seed=seed)
    scenes = [scene.tobytes() for scene in observation["scene"]]
    for _ in range(episodes - 1):
        observation = envs.step({"answer": np.zeros(rows, np.int64)})[0]
        scenes += [scene.tobytes() for scene in observation["scene"]]
    return scenes


def test_rows_episodes_and_neighbouring_seeds_share_no_scene() -> None:
    dealt = [scene for seed in (0, 1, 2, 2**32) for scene in scenes_dealt(seed)]
    assert len(set(dealt)) == len(dealt)


def test_neighbouring_seeds_share_no_first_place() -> None:
    envs = make_vector(CENTRED, 100)
    places = np.concatenate([envs.reset(seed=seed)[0]["location"] for seed in range(5)])
    assert len(np.unique(places, axis=0)) == len(places)


def test_resets_without_a_seed_differ() -> None:
    scenes = [
        make_vector(CLUTTERED, 2, view="full").reset()[0]["scene"].tobytes() for _ in range(3)
    ]
    assert len(set(scenes)) == 3


def test_a_reset_without_a_seed_goes_on_with_the_stream() -> None:
    one, other = make_single(CLUTTERED), make_single(CLUTTERED)
    first = one.reset(seed=4)
    second = one.reset()
    assert first[0]["location"].tobytes() != second[0]["location"].tobytes()
    other.reset(seed=4)
    assert_same(other.reset(), second)
    assert_same(other.reset(seed=4), first)


def test_the_first_place_is_uniform() -> None:
    n = 4096
    places = make_vector(CENTRED, n).reset(seed=0)[0]["location"]
    share = counts_in_grid(places, -1, 1, 4)
    expected = n / 16
    assert np.abs(share - expected).max() < 4.5 * np.sqrt(expected * 15 / 16)


@pytest.mark.parametrize("seed", [-1, 2**64, True, 1.5, "3", [1, 2], [1, 2, 3, -4]])
def test_a_bad_seed_is_refused_by_name(seed: Any) -> None:
    envs = make_vector(CENTRED, 4)
    envs.reset(seed=0)
    before = envs.state_dict()
    with pytest.raises((ValueError, TypeError), match="seed"):
        envs.reset(seed=seed)
    assert_same(envs.state_dict(), before)
