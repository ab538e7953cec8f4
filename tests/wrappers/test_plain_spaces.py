"""Worlds seen through a glimpse have Dict spaces; what asks for plain ones is told the wrapper."""

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import FlattenObservation

from glimpse_envs.suite import ATARI, MINIGRID
from glimpse_envs.wrappers import FlatAction, GlimpseVectorWrapper, GlimpseWrapper
from tests.support.choices import discrete
from tests.support.pixel_world import PixelWorld


@pytest.mark.parametrize(("env_id", "package"), [(ATARI, "ale_py"), (MINIGRID, "minigrid")])
@pytest.mark.parametrize(
    ("wrapper", "argument"), [(FlatAction, "flat"), (FlattenObservation, "flat_observation")]
)
def test_they_are_refused_with_the_wrapper_that_gives_them(
    wrapper: Any, argument: str, env_id: str, package: str
) -> None:
    pytest.importorskip(package)
    name = wrapper.__name__
    kwargs: dict[str, Any] = {argument: True}
    remedy = rf"wrap .*\.wrappers\.{name}; .* vectorization_mode='sync', wrappers=\[{name}\]"
    with pytest.raises(TypeError, match=remedy):
        gym.make(env_id, **kwargs)
    with pytest.raises(TypeError, match=remedy):
        gym.make_vec(env_id, num_envs=2, **kwargs)
    batch = gym.make_vec(env_id, num_envs=2, vectorization_mode="sync", wrappers=[wrapper])
    plain = "single_action_space" if wrapper is FlatAction else "single_observation_space"
    assert not isinstance(getattr(batch, plain), gym.spaces.Dict)
    batch.close()


class _Strict(PixelWorld):
    """Takes acts of its own space and dtype alone, as checks of Gymnasium's do."""

    def __init__(self, act: spaces.Space) -> None:
        super().__init__()
        self.action_space = act

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action), (action, type(action))
        return super().step(np.ravel(action)[0])


@pytest.mark.parametrize(
    "make",
    [
        *(partial(discrete, 3, kind) for kind in (np.int8, np.int32, np.int64)),
        partial(discrete, 3, np.int32, start=2),
        lambda: spaces.MultiDiscrete([3, 2], dtype=np.int32),
        lambda: spaces.MultiBinary(2),
    ],
)
def test_acts_that_are_choices_have_their_spaces_dtype(make: Callable[[], spaces.Space]) -> None:
    single = GlimpseWrapper(_Strict(make()), glimpse_size=6)
    rows = gym.vector.SyncVectorEnv([lambda: _Strict(make())] * 2)
    for env in (single, GlimpseVectorWrapper(rows, glimpse_size=6)):
        env.reset(seed=0)
        env.action_space.seed(0)
        env.step(env.action_space.sample())
        env.close()
