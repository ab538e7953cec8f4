"""Pictures without a target, as in counting: their boxes are NaN, and nothing else is."""

from typing import Any

import numpy as np

from tests.support.episodes import CLUTTERED, make_vector
from tests.vision.test_own_parts_refused import Blank

ROWS = 64


class Sparse(Blank):
    """Up to two targets in the upper left, one or two of them, or none."""

    targets = 2

    def draw(self, which: Any, keys: Any, canvas: Any, labels: Any, boxes: Any) -> None:
        canvas[which], labels[which] = 0, which % 2
        boxes[which] = np.nan
        for scene in which:
            boxes[scene, : scene % 3] = 0, 0, 4, 4


def make(**kwargs: Any) -> Any:
    return make_vector(
        CLUTTERED, ROWS, scene=f"{__name__}:Sparse", source=None, clutter=0, **kwargs
    )


def test_first_glimpses_near_the_target_stay_uniform_without_one() -> None:
    envs, uniform = make(first_glimpse="near"), make()
    near = envs.reset(seed=0, options={"length": 1})[0]["location"]
    free = uniform.reset(seed=0)[0]["location"]
    none = np.arange(ROWS) % 3 == 0
    np.testing.assert_allclose(near[none], free[none], atol=1e-6)
    assert np.abs(near[~none] - free[~none]).max() > 0.1
    np.testing.assert_allclose(near[~none], -0.8, atol=0.01)  # the box's middle, 2 of 20 pixels


def test_the_oracle_looks_at_the_middle_of_a_scene_without_a_target() -> None:
    envs = make()
    observation, info = envs.reset(seed=0)
    none = np.arange(ROWS) % 3 == 0
    assert np.isnan(info["target_box"][none]).all()
    observation, *_ = envs.step(envs.task.oracle())
    np.testing.assert_allclose(observation["location"][none], 0.0)
    np.testing.assert_allclose(observation["location"][~none], -0.8, atol=1e-6)
