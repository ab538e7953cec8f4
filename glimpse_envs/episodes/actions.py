"""Checking a batch of actions against a Dict space, by name, before anything is changed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Bools

Checked = TypeVar("Checked")

_BITS = "zeros and ones"


@dataclass(frozen=True)
class _Component:
    """Valid values of one component of a row's action."""

    name: str
    shape: tuple[int, ...]
    low: NDArray
    high: NDArray
    dtype: type
    kinds: str
    """NumPy's kinds of the values that it takes."""
    values: str
    """What these are called."""

    def check(self, value: Any, num_envs: int | None) -> NDArray:
        expected = self.shape if num_envs is None else (num_envs, *self.shape)
        array = as_array(value, f"action[{self.name!r}]", expected)
        if array.shape != expected:
            raise ValueError(
                f"action[{self.name!r}] has shape {array.shape}; it must have shape {expected}"
            )
        if array.dtype.kind not in self.kinds:
            raise ValueError(
                f"action[{self.name!r}] has dtype {array.dtype}; it must hold {self.values}"
            )
        right = (array >= self.low) & (array <= self.high)
        if self.dtype is np.int64 and array.dtype.kind == "f":
            right &= array == np.round(array)
        if not right.all():
            raise self._out_of_range(array, right, num_envs)
        array = array.astype(self.dtype, copy=False)
        return array[None] if num_envs is None else array

    def _out_of_range(self, array: NDArray, right: Bools, num_envs: int | None) -> ValueError:
        whose, wrong = "", array
        if num_envs is not None:
            row = int(np.argmin(right.reshape(num_envs, -1).all(axis=1)))
            whose, wrong = f" of row {row}", array[row]
        must = f"lie between {self.low.ravel()[0]} and {self.high.ravel()[0]}"
        if self.values == _BITS:
            must = f"hold {_BITS}"
        if self.dtype is np.float64 and np.isfinite(wrong).all():
            must += "; clip it first, as numpy.clip does"
        return ValueError(f"action[{self.name!r}]{whose} is {wrong.tolist()}; it must {must}")


class ActionChecker:
    """Checks batches of actions against the Dict space of a single row.

    Args:
        space: Dict of Box, Discrete, MultiDiscrete and MultiBinary.
        num_envs: rows in a batch; None for the actions of a single environment, which have no axis
            of rows.
    """

    def __init__(self, space: spaces.Dict, num_envs: int | None) -> None:
        self._num_envs = num_envs
        self._components = [_component(name, leaf) for name, leaf in space.spaces.items()]
        self._names = set(space.spaces)

    def __call__(self, actions: Any) -> dict[str, NDArray]:
        """Return `actions`, name -> (num_envs, ...), as float64 or int64 arrays; those of a single
        environment as a batch of one, name -> (1, ...).

        Raises:
            ValueError: something is missing, too much, of a wrong shape or dtype, NaN, infinite
                or out of range; the message names it and says what would be right.
        """
        if not isinstance(actions, Mapping) or actions.keys() != self._names:
            given = list(actions) if isinstance(actions, Mapping) else type(actions).__name__
            raise ValueError(
                f"an action must be a dict with the keys {[c.name for c in self._components]}; "
                f"this one is {given}"
            )
        return {c.name: c.check(actions[c.name], self._num_envs) for c in self._components}


def checked_but_of(
    rows: Bools, check: Callable[[Any], Checked], actions: Any, space: spaces.Space
) -> Checked:
    """Return `check(actions)`; the actions of `rows` (n,) are ignored, and may be anything.

    Raises:
        ValueError: from `check`, for an action that is not ignored.
    """
    try:  # in most steps all are valid
        return check(actions)
    except ValueError:
        if not rows.any():
            raise
    return check(_with_valid(actions, rows, space))


def _with_valid(actions: Any, rows: Bools, space: spaces.Space) -> Any:
    """Return a copy of `actions` with valid ones of a row's `space` in place of those of `rows`
    (n,); parts that cannot be actions of n rows stay as they are."""
    if isinstance(actions, Mapping) and isinstance(space, spaces.Dict):
        known = space.spaces
        return {
            name: _with_valid(part, rows, known[name]) if name in known else part
            for name, part in actions.items()
        }
    try:
        array = as_array(actions, "action", ())
    except ValueError:
        return actions
    if array.shape != (*rows.shape, *(space.shape or ())):
        return actions
    valid = array.copy()
    valid[rows] = space.low if isinstance(space, spaces.Box) else getattr(space, "start", 0)
    return valid


def as_array(value: Any, name: str, shape: tuple[int | str, ...]) -> NDArray:
    """Return `value`, which should have `shape`, as an array.

    Raises:
        ValueError: it is masked, or cannot become an array, as where its parts differ in shape. The
            message names the cure, such as detaching a tensor.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(f"{name} is a masked array; fill it first, with {name}.filled(...)")
    try:
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        parts = value if isinstance(value, list | tuple) else (value,)
        if any(getattr(part, "requires_grad", False) for part in parts):
            raise ValueError(
                f"{name} is a tensor that requires a gradient: detach it, by its method detach(), "
                "or choose it inside torch.no_grad()"
            ) from error
        if any(str(getattr(part, "dtype", "")) == "torch.bfloat16" for part in parts):
            raise ValueError(
                f"{name} is a tensor of bfloat16, which NumPy lacks: convert it, by its method "
                "float()"
            ) from error
        raise ValueError(
            f"{name} is {value!r:.200}, which cannot become an array; it must have shape {shape}"
        ) from error


def _component(name: str, space: spaces.Space) -> _Component:
    if isinstance(space, spaces.Box):
        low, high = _one_bound(space.low), _one_bound(space.high)
        return _Component(name, space.shape, low, high, np.float64, "fiu", "numbers")
    if isinstance(space, spaces.Discrete):
        low = np.asarray(space.start)
        return _Component(name, (), low, low + space.n - 1, np.int64, "iu", "integers")
    if isinstance(space, spaces.MultiDiscrete):
        low, high = space.start, space.start + space.nvec - 1
        return _Component(name, space.shape, low, high, np.int64, "iu", "integers")
    if isinstance(space, spaces.MultiBinary):
        zeros = np.zeros(space.shape, np.int64)
        # Of any dtype of real numbers, as in its space: Stable-Baselines3 samples bits as floats.
        return _Component(name, space.shape, zeros, zeros + 1, np.int64, "biuf", _BITS)
    raise TypeError(f"action[{name!r}] has a space that actions cannot have: {space}")


def _one_bound(bounds: NDArray) -> NDArray:
    """Return equal bounds as a single one, shape (), which compares faster; others unchanged."""
    return bounds.ravel()[:1].reshape(()) if (bounds == bounds.flat[0]).all() else bounds
