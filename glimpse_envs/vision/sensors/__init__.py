"""Sensors, chosen by name. A new sensor is one file and one row of `SENSORS`."""

from collections.abc import Mapping
from typing import Any

from glimpse_envs.core.arguments import keyword_parameters
from glimpse_envs.core.classes import add_name, check_by_keyword, find_class
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
        ValueError: there is no such sensor, an argument is wrong, or its properties do not agree.
    """
    kind: Any = find_sensor(sensor)
    check_by_keyword("sensor", sensor, kind, by_position=1)
    taken = {name: arguments[name] for name in keyword_parameters(kind) if name in arguments}
    made: Sensor = kind(shape, **taken)
    _check_promises(sensor, made, shape[0])
    return made


def _check_promises(sensor: object, made: Sensor, channels: int) -> None:
    """Raise a ValueError where the properties of a sensor do not agree with each other."""
    if not made.outlines:
        raise ValueError(
            f"sensor={sensor!r}: it has no outlines; it must have at least one, such as "
            "square(8.0) or circle(4.0) of glimpse_envs.vision.sensors.sensor"
        )
    scales, glimpse = len(made.window_sides), made.glimpse_shape
    if scales and (len(glimpse) != 3 or glimpse[0] != scales * channels):
        raise ValueError(
            f"sensor={sensor!r}: its {scales} window_sides are those of glimpses of the shape "
            f"({scales * channels}, g, g), and its glimpses are {glimpse}: leave window_sides "
            "empty where a glimpse is anything else than square windows"
        )
