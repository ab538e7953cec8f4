"""Sensors, chosen by name. A new sensor is one file and one row of `SENSORS`."""

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from glimpse_envs.core.arguments import keyword_parameters, shown
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
    try:
        inspect.signature(kind).bind(shape, **taken)
    except TypeError as error:
        raise ValueError(
            f"sensor={sensor!r}: its constructor must take the scenes' shape (C, H, W) first, and "
            f"its own arguments by keyword: {error}"
        ) from error
    made: Sensor = kind(shape, **taken)
    _check_promises(sensor, made, shape[0])
    return made


def _check_promises(sensor: object, made: Sensor, channels: int) -> None:
    """Raise a ValueError where the properties of a sensor have another form than `Sensor` requires,
    or do not agree with each other."""
    outlines, glimpse = made.outlines, made.glimpse_shape
    if not isinstance(outlines, tuple | list) or not outlines:
        raise ValueError(
            f"sensor={sensor!r}: its outlines are {shown(outlines)}; they must be a tuple of at "
            "least one polygon, such as (square(8.0),) or (circle(4.0),) of "
            "glimpse_envs.vision.sensors.sensor"
        )
    for outline in outlines:
        if not isinstance(outline, np.ndarray) or outline.ndim != 2 or outline.shape[1] != 2:
            raise ValueError(
                f"sensor={sensor!r}: {shown(outline)} is one of its outlines, which must each be "
                "an array of corners (n, 2), (x, y) in pixels from the place looked at"
            )
    if not isinstance(glimpse, tuple) or not glimpse:
        raise ValueError(
            f"sensor={sensor!r}: its glimpse_shape is {shown(glimpse)}; it must be a tuple of at "
            "least one number, such as (1, 8, 8)"
        )
    scales = len(made.window_sides)
    if scales and (len(glimpse) != 3 or glimpse[0] != scales * channels):
        raise ValueError(
            f"sensor={sensor!r}: its {scales} window_sides are those of glimpses of the shape "
            f"({scales * channels}, g, g), and its glimpses are {glimpse}: leave window_sides "
            "empty where a glimpse is anything else than square windows"
        )
