"""Worlds seen through a glimpse have Dict spaces; what asks for plain ones is told the wrapper."""

from typing import Any

import gymnasium as gym
import pytest
from gymnasium.wrappers import FlattenObservation

from glimpse_envs.suite import ATARI, MINIGRID
from glimpse_envs.wrappers import FlatAction


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
