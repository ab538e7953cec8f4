"""A sensor is a class and a branch of `make_sensor`: tasks know of it what `Sensor` says."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs.rendering import Picture
from glimpse_envs.vision.sensors import make_sensor
from glimpse_envs.vision.sensors.retina import Retina
from glimpse_envs.vision.sensors.sensor import Sensor
from tests.support.episodes import CLUTTERED, make_vector

ROWS = 4


@dataclass(frozen=True)
class Photometer(Sensor):
    """One cell in two windows: the whole scene's mean, and the place looked at."""

    side: int

    @property
    def sides(self) -> tuple[float, ...]:
        return (1.0, float(self.side))

    @property
    def glimpse_shape(self) -> tuple[int, int, int]:
        return (2, 1, 1)

    @property
    def multiply_adds(self) -> int:
        return 0

    def allocate(self, scenes: int, dtype: type) -> tuple[NDArray[Any], NDArray[Any]]:
        shape = (scenes, 1, self.side + 2, self.side + 2)
        return np.zeros(shape, dtype), np.zeros(scenes, np.float32)

    def sum_scenes(
        self, canvas: NDArray[Any], sums: NDArray[Any], which: NDArray[np.int64]
    ) -> None:
        sums[which] = canvas[which, :, 1:-1, 1:-1].mean(axis=(1, 2, 3)) / 255

    def read(
        self,
        canvas: NDArray[Any],
        sums: NDArray[Any],
        scenes: NDArray[np.int64],
        centres: NDArray[np.float64],
        rows: NDArray[np.int64],
        glimpses: NDArray[np.float32],
    ) -> None:
        glimpses[rows, 0, 0, 0] = sums[scenes[rows]]
        glimpses[rows, 1, 0, 0] = centres[rows, 0] / self.side


def test_the_suites_sensor_is_the_retina() -> None:
    assert make_sensor("retina", (3, 20, 30), 8, 2) == Retina(20, 30, 3, 8, 2)


def test_another_sensor_needs_no_change_of_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def make(sensor: str, shape: tuple[int, int, int], *rest: int) -> Sensor:
        asked.append(sensor)
        return Photometer(shape[1])

    monkeypatch.setattr("glimpse_envs.vision.picture_task.make_sensor", make)
    full = make_vector(CLUTTERED, ROWS, view="full")
    scenes = full.reset(seed=0)[0]["scene"]
    envs = make_vector(CLUTTERED, ROWS, sensor="photometer", copies=2)
    assert asked[-1] == "photometer"
    look = np.linspace(-1, 1, 2 * ROWS).reshape(ROWS, 2)
    envs.reset(seed=0)
    observation = envs.step({"look": look, "answer": np.zeros(ROWS, np.int64)})[0]
    means = np.repeat(scenes[: ROWS // 2].mean(axis=(1, 2, 3)), 2)
    np.testing.assert_allclose(observation["glimpse"][:, 0, 0, 0], means, rtol=1e-4)
    np.testing.assert_allclose(
        observation["glimpse"][:, 1, 0, 0], (look[:, 0] + 1) / 2, rtol=1e-6, atol=1e-6
    )
    picture = envs.task.picture(0, "")
    assert isinstance(picture, Picture)
    assert picture.sides == (1.0, 60.0)
    envs = make_vector(CLUTTERED, ROWS, inside=True)
    observation, _ = envs.reset(seed=0)
    assert (observation["glimpse"][:, 1] == 0.5).all()  # its widest window fits in one place
