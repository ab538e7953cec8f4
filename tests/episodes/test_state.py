"""Pickles, copies and state dicts go on exactly where the original would have gone."""

import copy
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.episodes.levels import ThresholdLevels
from glimpse_envs.testing import assert_same, random_actions
from tests.support.episodes import (
    CENTRED,
    CLUTTERED,
    VARIANTS,
    make_single,
    make_vector,
    row_of,
    write_images,
)
from tests.support.source_files import real

MORE_VARIANTS: dict[str, tuple[str, dict[str, Any]]] = VARIANTS | {
    "copies": (CLUTTERED, {"copies": 2, "stop": True}),
    "copies, history": (CLUTTERED, {"copies": 2, "stop": True, "history": True}),
    "test": (CLUTTERED, {"split": "test", "stop": True}),
    "test, copies": (CENTRED, {"split": "test", "copies": 2, "look": "tiles", "stop": True}),
    "validation": (CENTRED, {"split": "validation", "history": True, "look": "relative"}),
    "NextStep": (CENTRED, {"autoreset_mode": "NextStep", "stop": True}),
}


def under_way(variant: str, steps: int = 5) -> GlimpseVectorEnv:
    """An environment of 4 rows in the midst of its episodes."""
    env_id, kwargs = MORE_VARIANTS[variant]
    envs = make_vector(env_id, 4, **kwargs)
    envs.reset(seed=9)
    rng = np.random.default_rng(0)
    for _ in range(steps):
        envs.step(random_actions(envs, rng))
    return envs


def assert_same_future(one: GlimpseVectorEnv, other: GlimpseVectorEnv) -> None:
    """Hold 15 steps and a reset of both equal."""
    rng = np.random.default_rng(1)
    for _ in range(15):
        actions = random_actions(one, rng)
        assert_same(one.step(actions), other.step(actions))
    assert_same(one.reset(), other.reset())


@pytest.mark.parametrize("variant", MORE_VARIANTS)
def test_a_pickle_goes_on_exactly(variant: str) -> None:
    envs = under_way(variant)
    loaded = pickle.loads(pickle.dumps(envs))
    assert loaded.spec == envs.spec
    assert loaded.np_random_seed == envs.np_random_seed == 9
    assert_same_future(loaded, envs)


@pytest.mark.parametrize("variant", MORE_VARIANTS)
def test_a_deep_copy_goes_on_exactly_and_alone(variant: str) -> None:
    envs = under_way(variant)
    twin, alone = copy.deepcopy(envs), copy.deepcopy(envs)
    for _ in range(3):
        alone.step(random_actions(alone, np.random.default_rng(5)))
    assert_same_future(envs, twin)


@pytest.mark.parametrize("variant", MORE_VARIANTS)
@pytest.mark.parametrize("steps", [0, 3, 7])
def test_a_state_goes_on_exactly_elsewhere(variant: str, steps: int) -> None:
    envs = under_way(variant, steps)
    env_id, kwargs = MORE_VARIANTS[variant]
    state = pickle.loads(pickle.dumps(envs.state_dict()))
    other = make_vector(env_id, 4, **kwargs)
    other.load_state_dict(state)
    assert_same(other.state_dict(), envs.state_dict())
    assert_same_future(other, envs)


@pytest.mark.parametrize("variant", MORE_VARIANTS)
def test_a_state_brings_back_what_came_after_it(variant: str) -> None:
    envs = under_way(variant)
    state = envs.state_dict()
    kept = copy.deepcopy(state)
    rng = np.random.default_rng(3)
    actions = [random_actions(envs, rng) for _ in range(12)]
    first = [envs.step(action) for action in actions]
    assert_same(state, kept)
    envs.load_state_dict(state)
    assert_same(state, kept)
    for action, expected in zip(actions, first, strict=True):
        assert_same(envs.step(action), expected)
    assert_same(state, kept)


@pytest.mark.parametrize("rows", [1, 3])
def test_rows_that_had_ended_are_dealt_anew_in_a_batch_that_resets_at_once(rows: int) -> None:
    saved = make_vector(CENTRED, rows, budget=2, autoreset_mode="Disabled")
    saved.reset(seed=0)
    rng = np.random.default_rng(0)
    while not saved.step(random_actions(saved, rng))[2].all():
        pass
    envs = make_vector(CENTRED, rows, budget=2, autoreset_mode="SameStep")
    envs.load_state_dict(saved.state_dict())
    _, rewards, terminated, _, infos = envs.step(random_actions(envs, rng))
    assert not terminated.any()
    assert not rewards.any()
    assert "final_obs" not in infos
    ends = [envs.step(random_actions(envs, rng))[2].all() for _ in range(4)]
    assert ends == [False, True, False, True]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_single_environment_pickles_copies_and_loads(variant: str) -> None:
    env_id, kwargs = VARIANTS[variant]
    env = make_single(env_id, **kwargs)
    env.reset(seed=1)
    if variant != "full":
        first = row_of(random_actions(env.batch, np.random.default_rng(0)), 0)
        assert not env.step(first | ({"stop": 0} if kwargs.get("stop") else {}))[2]
    loaded = make_single(env_id, **kwargs)
    loaded.load_state_dict(env.state_dict())
    for twin in (loaded, pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        original = copy.deepcopy(env)
        again = np.random.default_rng(1)
        ended = False
        while not ended:
            action = row_of(random_actions(env.batch, again), 0)
            expected = original.step(action)
            assert_same(twin.step(action), expected)
            ended = expected[2]
        assert_same(twin.reset(), original.reset())


def pickled(env: Any) -> Any:
    return pickle.loads(pickle.dumps(env))


SAVE = pytest.mark.parametrize("save", [pickled, copy.deepcopy])


@SAVE
@pytest.mark.parametrize("flat", [False, True])
def test_spaces_keep_their_random_states(save: Callable[[Any], Any], flat: bool) -> None:
    envs = make_vector(CLUTTERED, 3, flat=flat)
    spaces = ("action_space", "single_action_space", "observation_space")
    for name in spaces:
        getattr(envs, name).seed(3)
    twin = save(envs)
    for name in spaces:
        assert_same(getattr(envs, name).sample(), getattr(twin, name).sample())


@SAVE
def test_what_was_seen_is_kept(save: Callable[[Any], Any]) -> None:
    envs = make_vector(CLUTTERED, 2, render_mode="rgb_array", reveal="seen")
    envs.reset(seed=0)
    for _ in range(3):
        envs.step(random_actions(envs, np.random.default_rng(0)))
    twin = save(envs)
    assert_same(np.stack(twin.render()), np.stack(envs.render() or ()))
    envs.reset(seed=1)
    assert (np.stack(twin.render()) != np.stack(envs.render() or ())).any()


def test_an_environment_that_was_never_reset_pickles() -> None:
    envs = pickle.loads(pickle.dumps(make_vector(CENTRED, 2)))
    assert_same(envs.reset(seed=3), make_vector(CENTRED, 2).reset(seed=3))


@pytest.mark.parametrize("value", [None, 5, ["taken"], "taken"])
def test_a_state_that_is_no_dict_is_refused(value: Any) -> None:
    envs = make_vector(CENTRED, 4)
    envs.reset(seed=0)
    before = envs.state_dict()
    with pytest.raises(ValueError, match="a state must be a dict that state_dict returned, not"):
        envs.load_state_dict(value)
    assert_same(envs.state_dict(), before)


def test_more_glimpses_than_a_rows_own_budget_are_refused() -> None:
    envs = make_vector("Glimpse/DictionaryLookup-v0", 2)
    envs.reset(seed=0, options={"length": 1})
    before = envs.state_dict()
    damaged = {**before, "taken": np.array([1, envs.task.budget])}
    with pytest.raises(ValueError, match=r"taken must be at most \[2 2\], the rows' budgets"):
        envs.load_state_dict(damaged)
    assert_same(envs.state_dict(), before)


def test_a_state_of_another_number_of_rows_is_refused() -> None:
    envs = make_vector(CENTRED, 4)
    envs.reset(seed=0)
    before = envs.state_dict()
    for other in (make_vector(CENTRED, 3), make_vector(CENTRED, 4, copies=2)):
        other.reset(seed=0)
        with pytest.raises(ValueError, match=r"the state is of .* rows in .* groups"):
            envs.load_state_dict(other.state_dict())
    assert_same(envs.state_dict(), before)


OTHERS: dict[str, Any] = {
    "scene": "moving_images",
    "source": "mnist",
    "split": "validation",
    "clutter": 3,
    "look": "tiles",
    "reward": "dense",
    "inside": True,
    "glimpse_cost": 0.1,
    "scene_size": 61,
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[real("mnist")] if name == "source" else []) for name in OTHERS],
)
def test_a_state_of_other_arguments_is_refused_by_name(name: str) -> None:
    envs = make_vector(CENTRED, 4, split="test", scene_size=60, reward="final")
    other = make_vector(CENTRED, 4, **{"split": "test", "scene_size": 60, name: OTHERS[name]})
    envs.reset(seed=0)
    other.reset(seed=1)
    before = envs.state_dict()
    # Another scene has other arguments of its own, too.
    named = "scene, overhang, speed" if name == "scene" else name
    with pytest.raises(ValueError, match=rf"other arguments: it has another {named}$"):
        envs.load_state_dict(other.state_dict())
    assert_same(envs.state_dict(), before)


def test_a_state_of_another_source_cannot_ask_for_scenes_that_are_not_there(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    few = write_images(tmp_path, rng.integers(1, 255, (5, 28, 28), np.uint8))
    envs = make_vector(CENTRED, 3, source=few, split="test", view="full")
    many = make_vector(CENTRED, 3, split="test", view="full")
    many.reset(seed=0, options={"scene": 9_000})
    state = many.state_dict()
    for forged in (state, state | {"arguments": envs.state_dict()["arguments"]}):
        with pytest.raises(ValueError, match=r"another source|scene 9000, but .* only 5"):
            envs.load_state_dict(forged)
    with pytest.raises(gym.error.ResetNeeded):
        envs.step({"answer": np.zeros(3, np.int64)})


def test_how_a_value_is_written_and_how_it_is_shown_do_not_matter() -> None:
    envs = make_vector(CENTRED, 4, budget=3, glimpse_cost=1)
    envs.reset(seed=0)
    other = make_vector(
        CENTRED,
        4,
        budget=np.int64(3),
        glimpse_cost=1.0,
        look="continuous",
        autoreset_mode="NextStep",
        render_mode="rgb_array",
    )
    other.load_state_dict(envs.state_dict())
    assert_same(other.state_dict(), envs.state_dict())


def test_a_states_arguments_are_numbers_which_json_holds() -> None:
    arguments = make_vector(CENTRED, 2).state_dict()["arguments"]
    assert all(0 <= number < 2**48 for number in arguments.values())
    assert "budget" in arguments
    assert not {"render_mode", "autoreset_mode"} & set(arguments)


def test_a_state_without_its_arguments_is_refused() -> None:
    envs = make_vector(CENTRED, 2)
    state = envs.state_dict()
    del state["arguments"]
    with pytest.raises(ValueError, match="does not say which arguments"):
        envs.load_state_dict(state)


@pytest.mark.parametrize("wrong", [None, 3, [1], "a"])
def test_a_damaged_distribution_of_levels_is_refused_by_name(wrong: Any) -> None:
    envs = make_vector(CENTRED, 2)
    with pytest.raises(ValueError, match="level_distribution must be a dict, not"):
        envs.load_state_dict(envs.state_dict() | {"level_distribution": wrong})


def test_a_single_environment_refuses_the_state_of_a_batch() -> None:
    with pytest.raises(
        ValueError, match="the state is of 2 rows in 2 groups; this environment has 1 in 1"
    ):
        make_single(CENTRED).load_state_dict(make_vector(CENTRED, 2).state_dict())


TAMPERED: dict[str, tuple[str, dict[str, Any]]] = {
    "test": MORE_VARIANTS["test"],
    "train, history": MORE_VARIANTS["copies, history"],
    "tape": ("Glimpse/ForwardReverse-v0", {}),
    "tape, addresses": ("Glimpse/Copy-v0", {"look": "absolute"}),
    "tape, full": ("Glimpse/RepeatCopy-v0", {"view": "full"}),
    "pairs": ("Glimpse/AssociativeRecall-v0", {"copies": 2}),
    "dictionary": ("Glimpse/DictionaryLookup-v0", {}),
    "chase": ("Glimpse/PointerChase-v0", {"split": "validation"}),
}
FREE = {"seeds", "streams", "episodes"}  # any number is a key


def tampered(state: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """States, each with one entry that cannot be, and that entry's name."""
    for part, name in [
        *(("", name) for name in state if not isinstance(state[name], dict)),
        *(("task", name) for name in state["task"]),
    ]:
        old = state[part][name] if part else state[name]
        values: list[Any] = [None, "x", [], {}]
        if isinstance(old, np.ndarray):
            values += [old[:-1], old[None], old.astype(object), old.astype(np.complex64)]
            if name not in FREE and old.size and old.dtype != np.bool_:
                extremes: list[float] = [-(2**62), -2, 2**20, 2**62]
                if old.dtype.kind == "f":
                    extremes += [np.nan, np.inf, -np.inf]
                for extreme in extremes:
                    changed = old.copy()
                    changed.flat[-1] = extreme
                    values.append(changed)
        elif name == "next_scene":
            values += [-1, 2**40, 1.5]
        for value in values:
            yield name, state | ({part: state[part] | {name: value}} if part else {name: value})
        yield (
            name,
            (
                state | {part: {key: v for key, v in state[part].items() if key != name}}
                if part
                else {key: v for key, v in state.items() if key != name}
            ),
        )


@pytest.mark.parametrize("variant", TAMPERED)
def test_a_state_that_cannot_be_is_refused(variant: str) -> None:
    env_id, kwargs = TAMPERED[variant]
    envs = make_vector(env_id, 4, **kwargs)
    envs.reset(seed=9)
    for _ in range(2):
        envs.step(random_actions(envs, np.random.default_rng(0)))
    before = envs.state_dict()
    for name, state in tampered(before):
        with pytest.raises(ValueError, match=rf"{name}|scene \d+, but|of \d+ rows in|arguments"):
            envs.load_state_dict(state)
        assert_same(envs.state_dict(), before)
    envs.load_state_dict(before)


def test_a_tape_that_is_done_already_stays_in_its_room() -> None:
    envs = make_vector("Glimpse/Copy-v0", 1, slack=100.0)
    envs.reset(seed=0, options={"length": 1})
    state = envs.state_dict()
    state["task"]["done"][:] = 10
    envs.load_state_dict(state)
    for _ in range(20):
        envs.step({"look": np.ones(1, np.int64), "answer": np.zeros(1, np.int64)})


@pytest.mark.parametrize("kind", [3, None, np.array([1, 2]), "uniform", ["threshold"]])
def test_a_damaged_kind_of_levels_is_refused_by_name(kind: Any) -> None:
    envs = make_vector("Glimpse/Copy-v0", 2)
    envs.level_distribution = ThresholdLevels(1, 4)
    envs.reset(seed=0)
    state = envs.state_dict()
    damaged = {**state, "level_distribution": {**state["level_distribution"], "kind": kind}}
    with pytest.raises(ValueError, match="another kind of level_distribution"):
        envs.load_state_dict(damaged)
