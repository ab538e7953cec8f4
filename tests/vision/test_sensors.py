"""A sensor is a class of any package: tasks know of it what `Sensor` says."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import glimpse_envs
from glimpse_envs.rendering import Picture
from glimpse_envs.task import Reading
from glimpse_envs.tasks.pictures.classification import ImageClassification
from glimpse_envs.vision.sensors import SENSORS, make_sensor
from glimpse_envs.vision.sensors.retina import Retina
from glimpse_envs.vision.sensors.sensor import Sensor, plain_canvas, square
from tests.support.episodes import CLUTTERED, make_vector, view_of

ROWS = 4
PHOTOMETER = "tests.vision.test_sensors:Photometer"


class Photometer(Sensor):
    """Two numbers: the whole scene's mean times `gain`, and the place looked at."""

    def __init__(self, shape: tuple[int, int, int], *, gain: int = 1) -> None:
        self.shape, self.gain, self.side = shape, gain, shape[1]

    @property
    def glimpse_shape(self) -> tuple[int, ...]:
        return (2,)

    @property
    def outlines(self) -> tuple[NDArray[np.float64], ...]:
        return square(1.0), square(self.side)

    @property
    def multiply_adds(self) -> int:
        return 7

    def allocate(self, scenes: int, dtype: type) -> tuple[NDArray[Any], NDArray[Any]]:
        return plain_canvas(self.shape, scenes, dtype), np.zeros(scenes, np.float32)

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
        glimpses[rows, 0] = self.gain * sums[scenes[rows]]
        glimpses[rows, 1] = centres[rows, 0] / self.side


def test_the_suites_sensor_is_the_retina() -> None:
    made = make_sensor("retina", (3, 20, 30), dict(glimpse_size=8, scales=2, gain=3))
    assert made == Retina((3, 20, 30), glimpse_size=8, scales=2)


def test_a_sensor_by_its_class_needs_no_change_of_the_task() -> None:
    full = make_vector(CLUTTERED, ROWS, view="full")
    scenes = full.reset(seed=0)[0]["scene"]
    envs = make_vector(CLUTTERED, ROWS, sensor=PHOTOMETER, gain=np.int8(2), copies=2)
    look = np.linspace(-1, 1, 2 * ROWS).reshape(ROWS, 2)
    envs.reset(seed=0)
    observation = envs.step({"look": look, "answer": np.zeros(ROWS, np.int64)})[0]
    means = np.repeat(scenes[: ROWS // 2].mean(axis=(1, 2, 3)), 2)
    np.testing.assert_allclose(observation["glimpse"][:, 0], 2 * means, rtol=1e-4)
    np.testing.assert_allclose(
        observation["glimpse"][:, 1], (look[:, 0] + 1) / 2, rtol=1e-6, atol=1e-6
    )
    assert envs.task.reading == Reading(values=2, multiply_adds=7)
    picture = envs.task.picture(0, "")
    assert isinstance(picture, Picture)
    assert [np.ptp(outline) for outline in picture.outlines] == [1.0, 60.0]
    envs = make_vector(CLUTTERED, ROWS, sensor=PHOTOMETER, inside=True)
    observation, _ = envs.reset(seed=0)
    assert (observation["glimpse"][:, 1] == 0.5).all()  # its widest window fits in one place


def test_a_sensor_by_a_registered_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glimpse_envs.vision.sensors.SENSORS", dict(SENSORS))
    glimpse_envs.register_sensor("photometer", PHOTOMETER)
    glimpse_envs.register_sensor("photometer", PHOTOMETER)
    assert view_of(make_vector(CLUTTERED, 1, sensor="photometer")).window_sides == ()
    with pytest.raises(ValueError, match="'retina' is taken: it stands for glimpse_envs"):
        glimpse_envs.register_sensor("retina", PHOTOMETER)
    with pytest.raises(ValueError, match=r"'Photometer' the name of a class as a string"):
        glimpse_envs.register_sensor("meter", "Photometer")
    with pytest.raises(ValueError, match=r"3 the name of a class as a string"):
        glimpse_envs.register_sensor("meter", 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sensor", "message"),
    [
        (
            "eye",
            r"sensor='eye' must be 'retina', or the name of a class as a string, 'module:Class'",
        ),
        ("retinaa", r"a class as a string, 'module:Class'\. Did you mean 'retina'\?"),
        (3, "sensor=3 must be"),
        ("tests.vision.test_sensors:Eye", "has no class Eye that extends glimpse_envs.*Sensor"),
        ("json:JSONDecoder", "has no class JSONDecoder that extends glimpse_envs.*Sensor"),
    ],
)
def test_what_is_no_sensor_is_refused(sensor: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_vector(CLUTTERED, 1, sensor=sensor)


def test_an_argument_of_another_sensor_is_refused() -> None:
    nearest = r"'gian': did you mean 'gain'\? .*glimpse_cost, overhang, gain,"
    with pytest.raises(TypeError, match=nearest):
        make_vector(CLUTTERED, 1, sensor=PHOTOMETER, gian=2)
    with pytest.raises(TypeError, match="'gain'"):
        make_vector(CLUTTERED, 1, gain=2)
    with pytest.raises(TypeError, match="'gain'"):
        ImageClassification(budget=2, gain=2)


def test_readers_of_square_windows_refuse_other_sensors() -> None:
    envs = make_vector(CLUTTERED, 1, sensor=PHOTOMETER, look="tiles")
    with pytest.raises(ValueError, match=r"square windows.*sensor='retina'"):
        view_of(envs).windows()
