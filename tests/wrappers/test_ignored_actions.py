"""Actions of wrapped rows in the step that resets them are ignored, and may be any; no others."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from glimpse_envs.testing import assert_same
from glimpse_envs.wrappers import GlimpseVectorWrapper
from tests.support.pixel_world import PixelWorld


def make_batch(mode: AutoresetMode) -> GlimpseVectorWrapper:
    worlds = SyncVectorEnv([PixelWorld] * 3, autoreset_mode=mode)
    return GlimpseVectorWrapper(worlds, glimpse_size=8)


def test_rows_that_are_reset_take_any_action() -> None:
    envs, twin = make_batch(AutoresetMode.NEXT_STEP), make_batch(AutoresetMode.NEXT_STEP)
    assert_same(envs.reset(seed=0), twin.reset(seed=0))
    envs.action_space.seed(0)
    ended, ignored = np.zeros(3, np.bool_), 0
    for _ in range(30):
        actions = envs.action_space.sample()
        looks, acts = actions["look"].copy(), actions["act"].copy()
        looks[ended], acts[ended] = np.nan, -1
        found = envs.step({"look": looks, "act": acts})
        assert_same(found, twin.step(actions))
        ignored += int(ended.sum())
        ended = found[2] | found[3]
    assert ignored > 5


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_all_other_actions_are_checked(mode: AutoresetMode) -> None:
    envs = make_batch(mode)
    envs.reset(seed=0)
    actions = envs.action_space.sample()
    ended = np.zeros(3, np.bool_)
    while not ended.any() or ended.all():
        _, _, terminated, truncated, _ = envs.step(actions)
        ended = terminated | truncated
    row = int(np.flatnonzero(ended if mode is AutoresetMode.SAME_STEP else ~ended)[0])
    bad = actions["look"].copy()
    bad[row] = np.nan
    with pytest.raises(ValueError, match=rf"row {row} is"):
        envs.step({**actions, "look": bad})
