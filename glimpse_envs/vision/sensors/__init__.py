"""Sensors, chosen by name. A new sensor is one file and one branch of `make_sensor`."""

from typing import TYPE_CHECKING

from glimpse_envs.core.arguments import shown

if TYPE_CHECKING:
    from glimpse_envs.vision.sensors.sensor import Sensor


def make_sensor(
    sensor: str, shape: tuple[int, int, int], glimpse_size: int, scales: int
) -> "Sensor":
    """Return the sensor, named by a string, that sees scenes of `shape` (C, H, W).

    Raises:
        ValueError: there is no such sensor.
    """
    if sensor == "retina":
        from glimpse_envs.vision.sensors.retina import Retina

        channels, height, width = shape
        return Retina(height, width, channels, glimpse_size, scales)
    raise ValueError(f"sensor={shown(sensor)} must be 'retina'")
