"""Checks of what a task declares: budgets, splits, lengths and spaces."""

from contextlib import nullcontext, suppress
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

from glimpse_envs.core.arguments import SPLITS
from glimpse_envs.core.misfits import misfit_of
from glimpse_envs.episodes.levels import LEVEL_ARGUMENTS
from glimpse_envs.episodes.lookup import arguments_of
from glimpse_envs.sources import SourceError
from glimpse_envs.task import COMPONENTS
from glimpse_envs.testing.batches import make_batch
from glimpse_envs.testing.equality import assert_same, same
from glimpse_envs.testing.without_nan import WithoutNaN

SCENES = 16  # so many that they are not all equal by chance
LONGER = 6  # times the greatest length: policies are scored up to there


def check_duties(env_id: str, kwargs: dict[str, Any]) -> None:
    """What an environment and every tool need: budgets, splits and their numbers of scenes."""
    envs = make_batch(env_id, 2, **kwargs)
    task, name = envs.task, type(envs.task).__name__
    envs.reset(seed=0)
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


def check_splits(env_id: str, kwargs: dict[str, Any]) -> None:
    """The scenes of "validation" and "test" differ, at the first glimpse or while the oracle plays;
    otherwise settings chosen on one would be chosen on the other too."""
    first = []
    for split in ("validation", "test"):
        with suppress(SourceError):  # a user's own images may lack a split
            envs = make_batch(env_id, SCENES, **kwargs | {"split": split})
            name = type(envs.task).__name__
            played: list[Any] = [envs.reset(seed=9)]
            while not envs.ended.any():
                actions = envs.task.oracle()
                misfit = misfit_of(actions, envs.action_space, f"{name}.oracle()")
                assert misfit is None, misfit
                played.append(envs.step(actions))
            first.append(tuple(played))
    if len(first) == 2:
        assert not same(*first), (
            "the splits 'validation' and 'test' have the same scenes: does deal, or draw, use "
            "anything but its keys?"
        )


def check_lengths(env_id: str, kwargs: dict[str, Any]) -> None:
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


def check_spaces(env_id: str, kwargs: dict[str, Any]) -> None:
    """Observations, actions and specs are what the spaces and Gymnasium promise."""
    env = gym.make(env_id, **kwargs)
    _check_observations(env.unwrapped)  # Gymnasium's own messages name no part
    check_env(WithoutNaN(env.unwrapped), skip_render_check=True)
    _check_determinism(env.unwrapped)
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


def _check_determinism(env: gym.Env) -> None:
    """Equal seeds and actions give equal infos; NaN, with which targets are padded, equals NaN."""
    env.action_space.seed(1)
    action = env.action_space.sample()
    (first, step), again = [(env.reset(seed=1), env.step(action)) for _ in range(2)]
    assert_same(again, (first, step), "a second episode with the same seed and action")


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
