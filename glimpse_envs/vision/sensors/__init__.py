"""Sensors, chosen by name. A new sensor is one file and one row of `SENSORS`."""

from collections.abc import Mapping
from typing import Any

from glimpse_envs.core.arguments import keyword_parameters
from glimpse_envs.core.classes import add_name, find_class
from glimpse_envs.vision.sensors.sensor import Sensor

SENSORS: dict[str, str] = {"retina": "glimpse_envs.vision.sensors.retina:Retina"}
"""The one list of sensors: name -> "module:Class"."""


def register_sensor(name: str, path: str) -> None:
    """Let `sensor=name` stand for the class "module:Class", in this process.

    Raises:
        ValueError: the name stands for another class.
    """
    add_name(SENSORS, name, path)


def find_sensor(sensor: object) -> type[Sensor]:
    """Return the class of a sensor, by its name in `SENSORS` or as "module:Class".

    Raises:
        ValueError: there is no such sensor.
    """
    found: type[Sensor] = find_class("sensor", sensor, Sensor, SENSORS)
    return found


def make_sensor(
    sensor: object, shape: tuple[int, int, int], arguments: Mapping[str, Any]
) -> Sensor:
    """Return the sensor that sees scenes of `shape` (C, H, W), with those of `arguments` that it
    takes.

    Raises:
        ValueError: there is no such sensor, or an argument is wrong.
    """
    kind: Any = find_sensor(sensor)
    taken = {name: arguments[name] for name in keyword_parameters(kind) if name in arguments}
    return kind(shape, **taken)
