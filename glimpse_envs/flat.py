"""Plain actions and observations, for learners without Dict spaces."""

from collections.abc import Mapping
from contextlib import suppress
from math import prod
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.spaces.utils import flatten, flatten_space
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Bools, Ints
from glimpse_envs.episodes.actions import ActionChecker, as_array


class _Part:
    """One component of the Dict action and its columns in the flat one.

    Its values are copied unchanged, except that choices are numbered from 0.

    Args:
        space: of the component.
        start: (d,) subtracted from the component's d values in the flat action.
        columns: of the flat action.
    """

    def __init__(self, space: spaces.Space, start: Any, columns: slice) -> None:
        self.shape, self.start, self.columns = _shape(space), start, columns

    def decode(self, flat: NDArray) -> NDArray:
        """Return the component (n, ...) of flat actions (n, d)."""
        return (flat[:, self.columns] + self.start).reshape(len(flat), *self.shape)

    def encode(self, values: NDArray, flat: NDArray) -> None:
        """Write the component's `values` (n, ...) into its columns of `flat` (n, d)."""
        flat[:, self.columns] = values.reshape(len(flat), -1) - self.start


class _Scores(_Part):
    """Choices in the Box, a score for each possibility; the greatest wins, the first of equals."""

    def __init__(self, space: spaces.Space, start: Any, columns: slice) -> None:
        super().__init__(space, start, columns)
        counts, _ = _choices(space)
        ends = columns.start + np.cumsum(counts)
        self.scores = [slice(end - n, end) for end, n in zip(ends, counts, strict=True)]

    def decode(self, flat: NDArray) -> NDArray:
        chosen = np.empty((len(flat), len(self.scores)), np.int64)
        for i, scores in enumerate(self.scores):
            flat[:, scores].argmax(axis=1, out=chosen[:, i])
        return (chosen + self.start).reshape(len(flat), *self.shape)

    def encode(self, values: NDArray, flat: NDArray) -> None:
        flat[:, self.columns] = -1.0
        chosen = values.reshape(len(flat), -1) - self.start  # (n, choices to make)
        first = [scores.start for scores in self.scores]
        np.put_along_axis(flat, chosen + first, 1.0, axis=1)


class FlatActions:
    """One array in place of a Dict action.

    Without a Box every choice is a column of one `MultiDiscrete`: a Discrete has one, a
    MultiDiscrete as many as it holds, a MultiBinary one of 2 choices per bit. With a Box (a look
    that is a place or a move) all is one `Box(-1, 1, (d + n_1 + n_2 + ...,))`: first the look's d
    numbers, then for each choice a score for each of its n_i possibilities, of which the greatest
    wins. That is a handicap: a learner gives the scores a Gaussian, not a softmax, and the reward
    does not depend on how far a score lost.

    With `joint` all choices together are one `Discrete`: action a makes the choices
    `np.unravel_index(a, nvec)`.

    Args:
        space: the Dict of Box, Discrete, MultiDiscrete and MultiBinary of a single row.
        joint: whether all choices are combined into one.

    Attributes:
        space: of a flat action.

    Raises:
        ValueError: `space` is not a Dict, or has a component that cannot be flattened; or, with
            `joint`, it has too many joint choices or a Box among them.
    """

    space: spaces.Box | spaces.MultiDiscrete | spaces.Discrete

    def __init__(self, space: spaces.Space, joint: bool = False) -> None:
        if not isinstance(space, spaces.Dict) or not space.spaces:
            raise ValueError(f"only a Dict of actions can be flattened, not {space}")
        for name, leaf in space.spaces.items():
            _check_component(name, leaf)
        self._dict_space = space
        looks = {name: s for name, s in space.spaces.items() if isinstance(s, spaces.Box)}
        choices = {name: s for name, s in space.spaces.items() if name not in looks}
        parts: dict[str, _Part] = {}
        end = 0
        for name, look in looks.items():
            columns = slice(end, end := end + int(np.prod(look.shape)))
            parts[name] = _Part(look, np.float32(0), columns)
        for name, choice in choices.items():
            counts, start = _choices(choice)
            width = int(counts.sum()) if looks else len(counts)
            columns = slice(end, end := end + width)
            parts[name] = (_Scores if looks else _Part)(choice, start, columns)
        self._parts = {name: parts[name] for name in space.spaces}  # in the order of the Dict
        if looks:
            self.space = spaces.Box(-1.0, 1.0, (end,), np.float32)
        else:
            nvec = [_choices(choice)[0] for choice in choices.values()]
            self.space = spaces.MultiDiscrete(np.concatenate(nvec))
        self._nvec: tuple[int, ...] | None = None
        if joint:
            if isinstance(self.space, spaces.Box):
                raise ValueError(
                    f"flat='discrete': {', '.join(looks)} has real numbers; choose a look that is "
                    "a number, such as look='tiles', or flat=True"
                )
            self._nvec = tuple(self.space.nvec.tolist())
            self.space = _joint_space(self._nvec)

    def decode(self, flat: Any) -> dict[str, NDArray]:
        """Return the Dict actions, name -> (n, ...), of flat ones (n, d), or (n,) if joint.

        Raises:
            ValueError: the shape or dtype is wrong, or a number is NaN or out of range.
        """
        shape = _shape(self.space)
        given = as_array(flat, "flat actions", ("n", *shape))
        if given.ndim != 1 + len(shape) or given.shape[1:] != shape:
            wanted = ", ".join(["n", *map(str, shape)])
            raise ValueError(
                f"flat actions have shape {given.shape}; they must have shape ({wanted})"
            )
        return self._decoded(given, one=False)

    def decode_one(self, flat: Any) -> dict[str, NDArray]:
        """Return the Dict action of a single environment, name -> (...), from a flat one (d,), or
        () if joint.

        Raises:
            ValueError: as `decode`.
        """
        shape = _shape(self.space)
        given = as_array(flat, "the flat action", shape)
        if given.shape != shape:
            raise ValueError(f"the flat action has shape {given.shape}; it must have shape {shape}")
        return {name: part[0] for name, part in self._decoded(given[None], one=True).items()}

    def _decoded(self, flat: NDArray, one: bool) -> dict[str, NDArray]:
        checked = self._checked(flat, one)
        if self._nvec is not None:
            checked = np.stack(np.unravel_index(checked, self._nvec), axis=1)
        return {name: part.decode(checked) for name, part in self._parts.items()}

    def encode(self, actions: Mapping[str, Any]) -> NDArray:
        """Return flat actions, in `space`, that decode to `actions`, name -> (n, ...).

        Raises:
            ValueError: `actions` are not in the Dict space; the message names what is wrong.
        """
        rows = _rows_of(actions)
        values = ActionChecker(self._dict_space, rows)(actions)
        width = _shape(self.space) if self._nvec is None else (len(self._nvec),)
        flat = np.zeros((rows, *width), self.space.dtype)
        for name, part in self._parts.items():
            part.encode(values[name], flat)
        if self._nvec is not None:
            return np.ravel_multi_index(tuple(flat.T), self._nvec)
        return flat

    def _checked(self, flat: NDArray, one: bool) -> NDArray:
        """Return `flat` (n, ...), whose shape is right, if its dtype and numbers are valid; errors
        speak of a single environment's action where `one` is true."""
        they = "the flat action has dtype {}; it" if one else "flat actions have dtype {}; they"
        if isinstance(self.space, spaces.Box):
            if flat.dtype.kind not in "fiu":
                raise ValueError(f"{they.format(flat.dtype)} must hold numbers")
            # Both comparisons fail where there is a NaN.
            if flat.size and not (flat.min() >= -1.0 and flat.max() <= 1.0):
                right = (flat >= -1.0) & (flat <= 1.0)
                clip = "; gymnasium.wrappers.ClipAction clips them"
                raise _out_of_range(flat, right, one, "numbers between -1 and 1", clip)
            return flat
        if flat.dtype.kind not in "iu":
            raise ValueError(f"{they.format(flat.dtype)} must hold integers")
        counts = self.space.n if isinstance(self.space, spaces.Discrete) else self.space.nvec
        right = (flat >= 0) & (flat < counts)
        if not right.all():
            raise _out_of_range(flat, right, one, f"integers from 0 to {(counts - 1).tolist()}")
        return flat.astype(np.int64, copy=False)


class FlatObservations:
    """One Box in place of a Dict observation: its parts are concatenated in the order of
    Gymnasium's `FlattenObservation`, in float32 where that has float64.

    Args:
        space: the Dict of a single row.

    Attributes:
        space: of a flat observation.
    """

    def __init__(self, space: spaces.Dict) -> None:
        self._parts = space.spaces
        flat = flatten_space(space)
        assert isinstance(flat, spaces.Box)
        if flat.dtype == np.float64:  # as of one-hot integers beside float32
            flat = spaces.Box(flat.low.astype(np.float32), flat.high.astype(np.float32))
        self.space = flat

    def __call__(self, observation: Mapping[str, NDArray]) -> NDArray:
        """Return observations, name -> (n, ...), as one new array (n, d)."""
        parts = [_flat_rows(leaf, observation[name]) for name, leaf in self._parts.items()]
        return np.concatenate(parts, axis=1, dtype=self.space.dtype)


def _shape(space: spaces.Space) -> tuple[int, ...]:
    assert space.shape is not None
    return space.shape


def _choices(space: spaces.Space) -> tuple[Ints, Ints]:
    """Return the number of possibilities of each choice of a component, and its first number."""
    if isinstance(space, spaces.Discrete):
        return np.array([space.n]), np.array([space.start])
    if isinstance(space, spaces.MultiDiscrete):
        return space.nvec.ravel(), space.start.ravel()
    bits = int(np.prod(_shape(space)))
    return np.full(bits, 2), np.zeros(bits, np.int64)


def _joint_space(nvec: tuple[int, ...]) -> spaces.Discrete:
    most = 2**31
    if prod(nvec) >= most:
        raise ValueError(
            f"flat='discrete': there are {prod(nvec):,} joint choices, of {nvec} each; at most "
            f"{most:,} fit: choose flat=True"
        )
    return spaces.Discrete(prod(nvec))


def _flat_rows(space: spaces.Space, values: NDArray) -> NDArray:
    """Return one part of n observations as (n, d)."""
    if isinstance(space, spaces.Box):
        return values.reshape(len(values), -1)
    if isinstance(space, spaces.MultiDiscrete):
        counts, start = _choices(space)
        chosen: Any = values.reshape(len(values), -1) - start + (counts.cumsum() - counts)
        hot = np.zeros((len(values), int(counts.sum())), space.dtype)
        np.put_along_axis(hot, chosen, 1, axis=1)
        return hot
    rows: Any = [flatten(space, value) for value in values]
    return np.stack(rows)


def _check_component(name: str, space: spaces.Space) -> None:
    if isinstance(space, spaces.Box):
        if (space.low != -1.0).any() or (space.high != 1.0).any():
            raise ValueError(f"action[{name!r}] is {space}; a flat one must lie between -1 and 1")
    elif not isinstance(space, spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary):
        raise ValueError(f"action[{name!r}] is {space}, which cannot be flattened")


def _out_of_range(
    flat: NDArray, right: Bools, one: bool, wanted: str, clip: str = ""
) -> ValueError:
    row = int(np.argmin(right.reshape(len(flat), -1).all(axis=1)))
    cure = clip if np.isfinite(flat[row]).all() else ""
    whose = "" if one else f" of row {row}"
    return ValueError(
        f"the flat action{whose} is {flat[row].tolist()}; it must hold {wanted}{cure}"
    )


def _rows_of(actions: Any) -> int:
    """Return the number of rows of the first component that has any; 1 where none has, which is
    refused."""
    for part in actions.values() if isinstance(actions, Mapping) else ():
        with suppress(TypeError):
            if not isinstance(part, str):
                return len(part)
    return 1
