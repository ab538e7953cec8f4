"""Checks that a task keeps its contract, for the tests of packages with tasks of their own.

from glimpse_envs.testing import check_task

def test_my_task():
    check_task("my_package:Mine/MyTask-v0")
"""

import copy
import math
import pickle
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from glimpse_envs.core.arguments import SPLITS
from glimpse_envs.core.misfits import misfit_of
from glimpse_envs.env import GlimpseVectorEnv, batch_of
from glimpse_envs.episodes.levels import LEVEL_ARGUMENTS
from glimpse_envs.episodes.lookup import arguments_of
from glimpse_envs.sources import SourceError
from glimpse_envs.task import COMPONENTS

Actions = dict[str, NDArray]

STEPS = 30
SCENES = 16  # so many that they are not all equal by chance
LONGER = 6  # times the greatest length: policies are scored up to there
ROWS = 2000  # whose mean return is compared with ceiling and chance
MOST_PIXELS = 2**28  # of all rows' scenes together, so that they fit into memory
ROUNDING = 1e-9  # of a mean of returns
MOMENTS = (0, 1, 2, 4, 8, 16)  # steps after which states are saved, besides an episode's last
MODES = tuple(mode.value for mode in AutoresetMode)


def check_task(env_id: str, **kwargs: Any) -> None:
    """Check an environment of a glimpse task, single and batched, with the arguments `kwargs`.

    It checks that budgets are set; splits differ and have the right numbers of scenes; lengths
    beyond the greatest are dealt or refused; observations and specs fit; the oracle's mean return
    is the ceiling, and that of random actions at most chance, both within four standard errors; a
    single environment is row 0 of any batch; equal seeds give equal episodes, whatever the number
    of rows and the autoreset mode; `copies` share a scene; a pickle, a copy and a restored state
    continue alike.

    Raises:
        AssertionError: a check fails; the message names what is wrong.
        gymnasium.error.Error: there is no such id.
    """
    for check in CHECKS:
        check(env_id, kwargs)


def make_batch(
    env_id: str, num_envs: int, mode: str = "NextStep", **kwargs: Any
) -> GlimpseVectorEnv:
    """Make a batch of a glimpse task, with its type known to type checkers.

    Raises:
        TypeError: the environment is not one of a glimpse task.
    """
    batch = batch_of(gym.make_vec(env_id, num_envs=num_envs, autoreset_mode=mode, **kwargs))
    if batch is None:
        raise TypeError(f"{env_id} is no environment of a glimpse task")
    return batch


def rows_that_fit(env_id: str, most: int, **kwargs: Any) -> int:
    """Return how many rows, up to `most`, a test may make: fewer where pictures are large."""
    view = make_batch(env_id, 1, **kwargs).task.picture_view
    return most if view is None else min(most, max(2, MOST_PIXELS // math.prod(view.scene_shape)))


def random_actions(envs: GlimpseVectorEnv, rng: np.random.Generator) -> Actions:
    """Draw uniform actions of all rows, name -> (num_envs, ...)."""
    actions: Actions = {}
    for name, space in envs.task.action_space.spaces.items():
        if isinstance(space, spaces.Box):
            actions[name] = rng.uniform(-1.0, 1.0, (envs.num_envs, *space.shape))
        elif isinstance(space, spaces.MultiDiscrete):
            actions[name] = rng.integers(space.nvec, size=(envs.num_envs, *space.shape))
        elif isinstance(space, spaces.MultiBinary):
            actions[name] = rng.integers(2, size=(envs.num_envs, *space.shape))
        else:
            assert isinstance(space, spaces.Discrete)
            actions[name] = rng.integers(int(space.n), size=envs.num_envs)
    return actions


def assert_same(actual: Any, expected: Any, where: str = "it") -> None:
    """Assert that two nested structures of dicts, tuples and arrays are equal to the bit."""
    if isinstance(expected, dict):
        assert isinstance(actual, dict), where
        assert actual.keys() == expected.keys(), where
        for name in expected:
            assert_same(actual[name], expected[name], f"{where}[{name!r}]")
    elif isinstance(expected, tuple):
        assert isinstance(actual, tuple), where
        assert len(actual) == len(expected), where
        for i, (mine, other) in enumerate(zip(actual, expected, strict=True)):
            assert_same(mine, other, f"{where}[{i}]")
    elif isinstance(expected, np.ndarray) and expected.dtype == object:
        assert_same(tuple(actual), tuple(expected), where)
    elif isinstance(expected, np.ndarray):
        assert isinstance(actual, np.ndarray), where
        assert actual.dtype == expected.dtype, where
        np.testing.assert_array_equal(actual, expected, err_msg=where, strict=True)
    else:
        assert actual == expected, where


def same(one: Any, other: Any) -> bool:
    """Return whether two nested structures are equal to the bit."""
    try:
        assert_same(one, other)
    except AssertionError:
        return False
    return True


def first_rows(values: Any, rows: int) -> Any:
    """Return the first rows of every array in nested dicts and tuples."""
    if isinstance(values, dict):
        return {name: first_rows(value, rows) for name, value in values.items()}
    if isinstance(values, tuple):
        return tuple(first_rows(value, rows) for value in values)
    return values[:rows]


def first_returns(envs: GlimpseVectorEnv, act: Callable[[], Actions]) -> NDArray[np.float64]:
    """Return the returns (n,) of the rows' first episodes, all played to their ends."""
    returns, playing = np.zeros(envs.num_envs), np.ones(envs.num_envs, np.bool_)
    while playing.any():
        _, reward, terminated, truncated, _ = envs.step(act())
        returns += reward * playing
        playing &= ~(terminated | truncated)
    return returns


# --- checks ------------------------------------------------------------------------------------


def _check_duties(env_id: str, kwargs: dict[str, Any]) -> None:
    """What an environment and every tool need: budgets, splits and their numbers of scenes."""
    envs = make_batch(env_id, 2, **kwargs)
    task, name = envs.task, type(envs.task).__name__
    try:
        envs.reset(seed=0)
    except AttributeError:
        assert hasattr(task, "budgets"), (
            f"{name} sets no self.budgets, (num_envs,) integers, the glimpses of each row's "
            "episode: set them in allocate, or in deal where episodes differ"
        )
        raise
    found = np.asarray(task.budgets)
    in_range = bool(((found >= 1) & (found <= task.budget)).all())
    assert (found.shape, found.dtype.kind, in_range) == ((2,), "i", True), (
        f"{name}.budgets is {task.budgets!r}; it must be (num_envs,) integers from 1 to budget, "
        f"{task.budget}"
    )
    assert "split" in (arguments_of(env_id, kwargs) or ()), (
        f"{name}.__init__ takes no keyword split: training, evaluation and films make the splits "
        f"{', '.join(map(repr, SPLITS))}"
    )
    for split in SPLITS:
        with suppress(SourceError):  # a user's own images may lack a split
            count = make_batch(env_id, 1, **kwargs | {"split": split}).num_scenes
            fits = count is None if split == "train" else isinstance(count, int) and count >= 1
            assert fits, (
                f"{name}.num_scenes is {count!r} in split={split!r}; it must be None in 'train', "
                "whose scenes are drawn for ever, and their number in 'validation' and 'test'"
            )


def _check_splits(env_id: str, kwargs: dict[str, Any]) -> None:
    """The scenes of "validation" and "test" differ; otherwise settings chosen on one would be
    chosen on the other too."""
    first = []
    for split in ("validation", "test"):
        with suppress(SourceError):  # a user's own images may lack a split
            envs = make_batch(env_id, SCENES, **kwargs | {"split": split})
            first.append(envs.reset(seed=9))
    if len(first) == 2:
        assert not same(*first), (
            "the splits 'validation' and 'test' have the same scenes: does deal, or draw, use "
            "anything but its keys?"
        )


def _check_lengths(env_id: str, kwargs: dict[str, Any]) -> None:
    """Lengths that evaluation may ask for are dealt, or refused by a ValueError."""
    task = make_batch(env_id, 1, **kwargs).task
    name = type(task).__name__
    if task.levels is None or not set(LEVEL_ARGUMENTS) <= (arguments_of(env_id, kwargs) or set()):
        return
    for length in (task.levels[1], LONGER * task.levels[1]):
        asked = dict.fromkeys(LEVEL_ARGUMENTS, length)
        with suppress(ValueError) if length > task.levels[1] else nullcontext():
            envs = make_batch(env_id, 2, **kwargs | asked)
            assert envs.task.levels == (length, length), (
                f"{name}.levels is {envs.task.levels} with length={length} and min_length={length}"
            )
            try:
                envs.reset(seed=0)
            except Exception as error:
                raise AssertionError(
                    f"{name} cannot deal length={length}, at which policies are scored too: let "
                    f"__init__ refuse it by a ValueError ({type(error).__name__}: {error})"
                ) from error


def _check_spaces(env_id: str, kwargs: dict[str, Any]) -> None:
    env = gym.make(env_id, **kwargs)
    _check_observations(env.unwrapped)  # Gymnasium's own messages name no part
    check_env(env.unwrapped, skip_render_check=True)
    envs = make_batch(env_id, 3, **kwargs)
    names = list(envs.task.components)
    assert names == [name for name in COMPONENTS if name in names], (
        f"components are {names}; their order must be that of COMPONENTS"
    )
    observation, _ = envs.reset(seed=0)
    misfit = misfit_of(observation, envs.observation_space, "the observation of a batch")
    assert misfit is None, misfit
    assert env.spec is not None
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert_same(again.reset(seed=1), env.reset(seed=1), "what a spec read from JSON makes")


def _check_observations(env: gym.Env) -> None:
    """Each part of the observations of an episode is as its space promises."""
    observation, _ = env.reset(seed=0)
    env.action_space.seed(0)
    ended = False
    while True:
        misfit = misfit_of(observation, env.observation_space, "observation")
        assert misfit is None, misfit
        if ended:
            return
        observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
        ended = terminated or truncated


def _check_oracle(env_id: str, kwargs: dict[str, Any]) -> None:
    rows = rows_that_fit(env_id, ROWS, **kwargs)
    envs = make_batch(env_id, rows, **kwargs)
    envs.reset(seed=2)
    returns, ceiling = first_returns(envs, envs.task.oracle), envs.task.ceiling
    # Returns differ where glimpses cost and lengths or first glimpses are drawn.
    error = 4 * returns.std() / np.sqrt(rows) + ROUNDING
    assert abs(returns.mean() - ceiling) <= error, (
        f"the oracle's mean return is {returns.mean():.4f}; ceiling is {ceiling:.4f}"
    )


def _check_chance(env_id: str, kwargs: dict[str, Any]) -> None:
    rows = rows_that_fit(env_id, ROWS, **kwargs)
    envs, rng = make_batch(env_id, rows, **kwargs), np.random.default_rng(3)
    envs.reset(seed=3)
    returns = first_returns(envs, partial(random_actions, envs, rng))
    most = envs.task.chance + 4 * returns.std() / np.sqrt(rows) + ROUNDING
    assert returns.mean() <= most, (
        f"random actions return {returns.mean():.4f} on average; chance is {envs.task.chance:.4f}"
    )


def _check_seeds(env_id: str, kwargs: dict[str, Any]) -> None:
    """Equal seeds give equal episodes, whatever the number of rows."""
    many, few, again = (make_batch(env_id, n, **kwargs) for n in (5, 2, 5))
    for step, actions, found in _played(many, seed=4):
        other = again.reset(seed=4) if actions is None else again.step(actions)
        assert_same(other, found, f"a second batch with the same seed at step {step}")
        if many.num_scenes is not None:
            continue  # rows of a fixed split take the next scene, whichever row is first
        other = few.reset(seed=4) if actions is None else few.step(first_rows(actions, 2))
        compared = 1 if actions is None else 4  # infos lack entries that no row has
        assert_same(first_rows(found[:compared], 2), other[:compared], f"2 of 5 rows, step {step}")


def _check_autoreset(env_id: str, kwargs: dict[str, Any]) -> None:
    """Every autoreset mode is that of Gymnasium's `SyncVectorEnv` over single environments."""
    for mode in MODES:
        envs = make_batch(env_id, 3, mode, **kwargs)
        if envs.num_scenes is not None:
            return  # a batch deals the scenes of a split in turn, single environments each all
        singles = [partial(_single, env_id, kwargs)] * 3
        theirs = SyncVectorEnv(singles, autoreset_mode=AutoresetMode(mode))
        seeds: list[int | None] = [7, 8, 9]
        assert_same(envs.reset(seed=seeds)[0], theirs.reset(seed=seeds)[0], "the first deal")
        rng = np.random.default_rng(5)
        for step in range(STEPS):
            actions = random_actions(envs, rng)
            found, expected = envs.step(actions), theirs.step(actions)
            assert_same(found[:4], expected[:4], f"{mode} at step {step}")
            ended = expected[2] | expected[3]
            if mode == "Disabled" and ended.any():
                options = [{"reset_mask": ended.copy()} for _ in range(2)]
                observation, _ = envs.reset(options=options[0])
                assert_same(observation, theirs.reset(options=options[1])[0], "a masked reset")
        theirs.close()


def _check_copies(env_id: str, kwargs: dict[str, Any]) -> None:
    """Rows of a group see the same first glimpse, and act on the same hidden thing."""
    copied = make_batch(env_id, 4, "Disabled", copies=2, **kwargs)
    plain = make_batch(env_id, 2, "Disabled", **kwargs)
    seen, _ = copied.reset(seed=6)
    expected, _ = plain.reset(seed=6)
    for name, value in expected.items():
        np.testing.assert_array_equal(seen[name], np.repeat(value, 2, axis=0), f"copies: {name}")
    actions = copied.task.oracle()
    rewards, single = copied.step(actions)[1], plain.step(plain.task.oracle())[1]
    np.testing.assert_array_equal(rewards, np.repeat(single, 2), "rewards of copies")


def _check_state(env_id: str, kwargs: dict[str, Any]) -> None:
    """Pickles, copies and restored states equal the batch itself and continue as it does, until the
    next ones are made; the last ones are made at the end of an episode."""
    envs, rng = make_batch(env_id, 4, **kwargs), np.random.default_rng(7)
    envs.reset(seed=7)
    step, end = 0, None
    while end is None or step < end + STEPS:
        if end is None and envs.ended.any():
            end = step
        if step == end or (end is None and step in MOMENTS):
            restored = make_batch(env_id, 4, **kwargs)
            restored.load_state_dict(envs.state_dict())
            twins = {
                f"a pickle made after step {step}": pickle.loads(pickle.dumps(envs)),
                f"a copy made after step {step}": copy.deepcopy(envs),
                f"a state saved after step {step} and restored": restored,
            }
            for name, twin in twins.items():
                lost = f"{name}: does state_arrays name all that deal does not bring back? It"
                assert_same(twin._observe(), envs._observe(), lost)
        actions = random_actions(envs, rng)
        expected = envs.step(actions)
        step += 1
        for name, twin in twins.items():
            assert_same(twin.step(actions), expected, f"{name}, at step {step}")


def _played(envs: GlimpseVectorEnv, seed: int) -> Iterator[tuple[int, Actions | None, Any]]:
    """Yield the number, the actions and the results of the reset (0, None) and of `STEPS` steps."""
    yield 0, None, envs.reset(seed=seed)
    rng = np.random.default_rng(seed)
    for step in range(1, STEPS + 1):
        actions = random_actions(envs, rng)
        yield step, actions, envs.step(actions)


def _single(env_id: str, kwargs: dict[str, Any]) -> gym.Env:
    return gym.make(env_id, **kwargs).unwrapped


CHECKS: tuple[Callable[[str, dict[str, Any]], None], ...] = (
    _check_duties,
    _check_splits,
    _check_lengths,
    _check_spaces,
    _check_oracle,
    _check_chance,
    _check_seeds,
    _check_autoreset,
    _check_copies,
    _check_state,
)
