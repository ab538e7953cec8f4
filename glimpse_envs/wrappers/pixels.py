"""The pixels in another environment's observations: which part, which axes, which values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.arguments import check_choice
from glimpse_envs.wrappers.errors import WrappedEnvError

LAYOUTS = ("HW", "HWC", "CHW", "KHW", "HWK", "KHWC", "KCHW")
"""Orders of axes: H height, W width, C colours (1 or 3), K stacked frames, the newest last."""


@dataclass(frozen=True)
class Pixels:
    """The pixels in an observation.

    Args:
        env_name: for error messages.
        key: the part of a Dict observation that holds them; None where it has no parts.
        space: of the pixels, of a single row.
        layout: one of `LAYOUTS`.
    """

    env_name: str
    key: str | None
    space: spaces.Box
    layout: str

    @property
    def frames(self) -> int:
        """K, the frames in one observation."""
        return self._sides().get("K", 1)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(C, H, W) of one frame."""
        sides = self._sides()
        return sides.get("C", 1), sides["H"], sides["W"]

    @property
    def dtype(self) -> type:
        """dtype of what `read` returns: uint8 (0 to 255), or float32 (0 to 1), to which all other
        values are rescaled by the bounds of their space."""
        return np.uint8 if _is_bytes(self.space) else np.float32

    def _sides(self) -> dict[str, int]:
        return dict(zip(self.layout, self.space.shape, strict=True))

    def read(self, pixels: NDArray) -> NDArray:
        """Return the frames (n, K, C, H, W) of a batch of pixels.

        Raises:
            WrappedEnvError: their shape, dtype or values are not those of the space.
        """
        pixels = np.asarray(pixels)
        if pixels.shape[1:] != self.space.shape or pixels.dtype != self.space.dtype:
            raise WrappedEnvError(
                f"{self.env_name} gave pixels of shape {pixels.shape[1:]} and dtype "
                f"{pixels.dtype}; its space promises {self.space.shape} and {self.space.dtype}"
            )
        if self.dtype is np.float32:
            low, high = float(self.space.low.flat[0]), float(self.space.high.flat[0])
            if not ((pixels >= low) & (pixels <= high)).all():
                raise WrappedEnvError(
                    f"{self.env_name} gave pixels outside its space's {low:g} to {high:g}"
                )
            pixels = ((pixels - low) / (high - low)).astype(np.float32, copy=False)
        axes = [1 + self.layout.index(axis) for axis in "KCHW" if axis in self.layout]
        pixels = pixels.transpose(0, *axes)
        for place, axis in enumerate("KC", 1):
            if axis not in self.layout:
                pixels = np.expand_dims(pixels, place)
        return pixels


def find_pixels(env_name: str, space: spaces.Space, key: str | None, layout: str | None) -> Pixels:
    """Find the pixels in observations of `space`, of a single row.

    Args:
        env_name: for error messages.
        space: Box, or a Dict in which one part, or the part `key`, has pixels.
        key: name of the part; None if only one part has pixels.
        layout: one of `LAYOUTS`; None: found from the shape.

    Raises:
        ValueError: there are no pixels, or it is unclear which part has them or what its axes are.
    """
    if layout is not None:
        check_choice("layout", layout, LAYOUTS)
    if not isinstance(space, spaces.Dict):
        if key is not None:
            raise ValueError(f"pixels={key!r}: the observations of {env_name} have no parts")
        return Pixels(env_name, None, *_picture(f"{env_name}: its observations", space, layout))
    if key is None:
        pictures = [name for name, part in space.items() if _flaw(part) is None]
        if not pictures:
            flaws = "; ".join(f"those of {name!r} {_flaw(part)}" for name, part in space.items())
            raise ValueError(
                f"{env_name} has no part of pixels. The values of its observations: {flaws}"
            )
        if len(pictures) > 1:
            raise ValueError(
                f"{env_name} has {len(pictures)} parts of pixels, {pictures}: name one by "
                f"pixels=, such as pixels={pictures[0]!r}"
            )
        key = pictures[0]
    if key not in space.spaces:
        raise ValueError(f"pixels={key!r} must be one of the parts {list(space)} of {env_name}")
    whose = f"{env_name}: the values of observation[{key!r}]"
    return Pixels(env_name, key, *_picture(whose, space[key], layout))


def _is_bytes(space: spaces.Box) -> bool:
    """Whether pixels are uint8 from 0 to 255."""
    return space.dtype == np.uint8 and bool((space.low == 0).all() and (space.high == 255).all())


def _flaw(space: spaces.Space) -> str | None:
    """Return why a space has no pixels; None if it has."""
    if not isinstance(space, spaces.Box):
        return "are no Box"
    if not 2 <= len(space.shape) <= 4 or 0 in space.shape:
        return "have no two to four axes"
    if _is_bytes(space):
        return None
    if space.dtype is None or (space.dtype != np.uint8 and space.dtype.kind != "f"):
        return "are neither uint8 nor floats"
    low, high = space.low.flat[0], space.high.flat[0]
    even = (space.low == low).all() and (space.high == high).all()
    if not (even and np.isfinite([low, high]).all() and low < high):
        return "have no finite bounds that all share: rescale them to 0 to 1"
    with np.errstate(over="ignore"):
        span = high - low  # as `Pixels.read` has it
    if not np.isfinite(span):
        return f"have bounds too far apart for {space.dtype}: rescale them to 0 to 1"
    return None


def _picture(whose: str, space: spaces.Space, layout: str | None) -> tuple[spaces.Box, str]:
    flaw = _flaw(space)
    if flaw is not None:
        raise ValueError(f"{whose} {flaw}; a glimpse needs pixels, and these are {space}")
    assert isinstance(space, spaces.Box)
    found = layout if layout is not None else _layout_of(space.shape)
    if found is None:
        raise ValueError(
            f"{whose} have the shape {space.shape}, whose axes are not clear: name them by "
            f"layout=, one of {', '.join(map(repr, LAYOUTS))}"
        )
    sides = dict(zip(found, space.shape, strict=False))
    if len(found) != len(space.shape) or sides.get("C", 1) not in (1, 3):
        raise ValueError(
            f"layout={found!r} does not fit the shape {space.shape}: there must be 1 or 3 colours, "
            "without an alpha channel"
        )
    return space, found


def _layout_of(shape: tuple[int, ...]) -> str | None:
    """The layout of a shape; None where it is ambiguous."""
    first, last = shape[0], shape[-1]
    if len(shape) == 2:
        return "HW"
    if len(shape) == 4:
        return "KHWC" if last in (1, 3) else "KCHW" if shape[1] in (1, 3) else None
    if last in (1, 3):
        return None if first in (1, 3) else "HWC"
    if first == 3 or first == last or last == 4:  # frames, or three colours, perhaps with alpha
        return None
    if shape[1] in (first, last):  # frames are square, of any number
        return "KHW" if shape[1] == last else "HWK"
    return "KHW" if first < last else "HWK"
