"""Checks that a saved state fits an environment: arguments, shapes, dtypes and ranges."""

import inspect
from collections.abc import Mapping
from copy import deepcopy
from hashlib import blake2b
from typing import Any

import numpy as np

from glimpse_envs.core.arguments import shown
from glimpse_envs.episodes.levels import LevelDistribution
from glimpse_envs.task import Task

_COUNTABLE = 2**62  # a counter below this can be added to
_DIGEST_BYTES = 6  # below 2**53, which every reader of JSON holds exactly


def digests_of(
    parameters: Mapping[str, inspect.Parameter], arguments: Mapping[str, Any]
) -> dict[str, int]:
    """Return a digest below 2**48 for each of `parameters`, name -> digest of its value in
    `arguments`, or of its default. Equal values have equal digests.

    Checkpoints hold arrays and numbers only: digests stand for values of any kind.
    """
    return {name: digest(arguments.get(name, one.default)) for name, one in parameters.items()}


def digest(value: Any) -> int:
    """Return a number below 2**48 for a value; 1, 1.0 and np.int64(1) count as one value."""
    plain = float(value) if isinstance(value, int | float | np.number | np.bool_) else value
    return int.from_bytes(blake2b(repr(plain).encode(), digest_size=_DIGEST_BYTES).digest())


def check_state(
    state: Mapping[str, Any], own: Mapping[str, Any], task: Task, levels: LevelDistribution | None
) -> None:
    """Check a saved `state` for an environment with `task` and `levels`, whose present state is
    `own`: kernels use its values as indices without checks. Nothing is changed.

    Raises:
        ValueError: the state is of another environment, or has impossible values; the message names
            them.
    """
    if not isinstance(state, Mapping):
        raise ValueError(f"a state must be a dict that state_dict returned, not {shown(state)}")
    absent = [name for name in ("taken", "seeds") if np.ndim(np.asarray(state.get(name))) != 1]
    if absent:
        raise ValueError(f"the state has no {' and no '.join(absent)}: it is of no environment")
    rows, groups = (len(state[name]) for name in ("taken", "seeds"))
    own_rows, own_groups = (len(own[name]) for name in ("taken", "seeds"))
    if (rows, groups) != (own_rows, own_groups):
        raise ValueError(
            f"the state is of {rows} rows in {groups} groups; this environment has {own_rows} in "
            f"{own_groups}"
        )
    if not isinstance(state.get("arguments"), Mapping):
        raise ValueError(
            "the state does not say which arguments its environment had: it is of an older version"
        )
    theirs, ours = state["arguments"], own["arguments"]
    different = [name for name in ours | theirs if ours.get(name) != theirs.get(name)]
    if different:
        raise ValueError(
            "the state is of an environment with other arguments: it has another "
            + ", ".join(different)
        )
    if not isinstance(state.get("level_distribution", {}), Mapping):
        raise ValueError(
            "the state's level_distribution must be a dict, not "
            f"{shown(state['level_distribution'])}"
        )
    kind, needed = (dict(one.get("level_distribution", {})).get("kind") for one in (state, own))
    if not isinstance(kind, type(needed)) or kind != needed:
        raise ValueError(
            "the state is of another kind of level_distribution, or of one with other settings: "
            "set one like it before loading"
        )
    for name in own.keys() - {"arguments", "level_distribution"}:
        _check_alike(name, state.get(name, {}), own[name])
    _check_ranges(state, task)
    if levels is not None:
        deepcopy(levels).load_state_dict(state["level_distribution"])  # may refuse it


def _check_alike(name: str, value: Any, own: Any) -> None:
    """Raise a ValueError unless `value` is of the same kind, shape and dtype as `own`."""
    if isinstance(own, Mapping):
        if not isinstance(value, Mapping):
            raise ValueError(f"the state's {name} must be a dict, not {shown(value)}")
        for key in own:
            _check_alike(f"{name}[{key!r}]", value.get(key), own[key])
    elif isinstance(own, np.ndarray):
        if not isinstance(value, np.ndarray) or (value.shape, value.dtype) != (
            own.shape,
            own.dtype,
        ):
            kind = getattr(value, "dtype", type(value).__name__)
            raise ValueError(
                f"the state's {name} must have shape {own.shape} and dtype {own.dtype}; it has "
                f"{np.shape(value)} and {kind}: it is damaged, or its source has changed"
            )
    elif isinstance(own, bool):
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"the state's {name} must be True or False, not {shown(value)}")
    elif isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ValueError(f"the state's {name} must be an integer, not {shown(value)}")


def _check_ranges(state: Mapping[str, Any], task: Task) -> None:
    started, fixed = bool(state["started"]), task.num_scenes is not None
    least, greatest = task.levels or (0, 0)
    counted = 1 if started else 0
    # The last scene of a split is checked by `Dealer.check_scenes`.
    last = _COUNTABLE if fixed else -1
    bounds: dict[str, tuple[float, float]] = {
        "streams": (0, 2**32 - 1),  # they index nothing
        "episodes": (counted - 1, _COUNTABLE),
        "indices": (0 if fixed and started else -1, last),
        "next_scene": (0, max(0, last)),
        "levels": (least if started else 0, greatest),
        "taken": (counted, task.budget),
    }
    for name, (low, high) in bounds.items():
        _check_range(name, state[name], low, high)
    if (state["truncated"] & ~state["ended"]).any():
        raise ValueError("the state has rows that are truncated and have not ended")
    arrays = state.get("task", {})
    for name, (low, high) in task.state_bounds().items():
        if name in arrays:
            _check_range(f"task[{name!r}]", arrays[name], low, high)


def _check_range(name: str, values: Any, least: float, greatest: float) -> None:
    wrong = ~((np.asarray(values) >= least) & (np.asarray(values) <= greatest))  # NaN is wrong
    if wrong.any():
        raise ValueError(
            f"the state's {name} must be from {least} to {greatest}; one is "
            f"{np.asarray(values)[wrong].flat[0]}"
        )
