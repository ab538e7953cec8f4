"""What a task must return: mistakes of one's own task are told by its class and method."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from glimpse_envs.core.arguments import shown
from glimpse_envs.task import Component, Outcome, Task


def check_components(task: Task) -> None:
    """Raise a ValueError unless each part of the action is a `Component`."""
    for name, component in task.components.items():
        if not isinstance(component, Component):
            # No TypeError: those of constructors are told as ones of their arguments.
            raise ValueError(
                f"{_name(task)}.components[{name!r}] is {shown(component)}; it must be a "
                "Component(space, effect=...) of glimpse_envs.task"
            )


def check_budgets(task: Task, num_envs: int) -> None:
    """Raise a TypeError or ValueError unless the task has a budget (num_envs,) of each row."""
    if not hasattr(task, "budgets"):
        raise TypeError(
            f"{_name(task)} sets no self.budgets, (num_envs,) integers, the glimpses of each row's "
            "episode: set them in allocate, or in deal where episodes differ"
        )
    _check_rows(f"{_name(task)}.budgets", task.budgets, num_envs)


def check_outcome(task: Task, outcome: Any, rows: int) -> None:
    """Raise a TypeError or ValueError unless `outcome` is one of `rows` rows."""
    if not isinstance(outcome, Outcome):
        raise TypeError(
            f"{_name(task)}.act returned {shown(outcome)}; it must return an Outcome(reward, ...) "
            "of glimpse_envs.task"
        )
    for field, value in zip(outcome._fields, outcome, strict=True):
        if value is None and field != "reward":
            continue
        further = field == "target"  # the right answer may have several parts
        if not _fits(value, rows, further):  # before a text is made, at every step
            about = f"{_name(task)}.act: its Outcome's {field}"
            _check_rows(about, value, rows, "rows that act", further)


def check_arrays(task: Task, method: str, returned: Any, rows: int) -> None:
    """Raise a TypeError or ValueError unless `method` has `returned` arrays of `rows` rows, name ->
    (rows, ...)."""
    if not isinstance(returned, Mapping):
        raise TypeError(
            f"{_name(task)}.{method} returned {shown(returned)}; it must return a dict of arrays, "
            "name -> (m, ...)"
        )
    for name, value in returned.items():
        about = f"{_name(task)}.{method}: its {name!r}"
        _check_rows(about, value, rows, "rows asked for", further=True)


def _check_rows(
    about: str, value: Any, rows: int, which: str = "rows of the batch", further: bool = False
) -> None:
    shape = f"({rows}, ...)" if further else f"({rows},)"
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{about} is {shown(value)}; it must be an array {shape}, of the {which}")
    if not _fits(value, rows, further):
        raise ValueError(f"{about} has the shape {value.shape}; it must be {shape}, of the {which}")


def _fits(value: Any, rows: int, further: bool) -> bool:
    """Whether `value` is an array (rows,), or with `further` axes (rows, ...)."""
    if not isinstance(value, np.ndarray):
        return False
    return (value.shape[:1] if further else value.shape) == (rows,)


def _name(task: Task) -> str:
    return type(task).__name__
