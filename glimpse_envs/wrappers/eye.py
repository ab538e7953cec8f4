"""The eye: gaze and memory of what was seen, for all rows of another environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.arguments import (
    check_choice,
    check_flags,
    check_integers,
    enter_arguments,
    keyword_parameters,
)
from glimpse_envs.core.arrays import Bools, Float32s, Ints
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.core.spaces import ordered
from glimpse_envs.vision.sensors import make_sensor
from glimpse_envs.wrappers.looks import LOOKS, RULES, Looks, checked_move, checked_start, view_of
from glimpse_envs.wrappers.pixels import find_pixels
from glimpse_envs.wrappers.views import MaskedView, SensorView, View

if TYPE_CHECKING:
    from glimpse_envs.rendering import Picture

_STREAM = 0x676C696D7073  # keeps the gaze's random stream apart from the environment's


class Eye:
    """Turns pixels into glimpses, for each row's episode.

    Args:
        env_name: name of the environment that is seen, for error messages.
        space: its observations, of a single row.
        num_envs: n, the rows.
        max_steps: the most steps of an episode; None where there is no limit.
        glimpse_size: g, the side of a glimpse in cells.
        scales: of the retina; scale k has cells of side 2**k pixels. None: as many as show nearly
            the whole frame.
        sensor: a name in `glimpse_envs.vision.sensors.SENSORS`, or "module:Class".
        look: "continuous", a place (x, y) in [-1, 1]; "tiles", one of a grid of tiles as large as
            the finest window; "corners", one of SUGARL's 4 x 4 places, whose windows begin at
            `range(0, side - g, (side - g) // 4)`, row by row; "relative", a move, projected into
            the unit disc and scaled by `max_move`. Without a look in the action, as baselines:
            "static", the first place throughout; "random", a uniform place at every step; "raster",
            the tiles in turn, row by row.
        max_move: the longest relative move, in look coordinates; None: 0.2. Only
            look="relative" takes it.
        start: the first place (x, y) of an episode. None: a uniform one; the middle for a static
            gaze, the first tile for a raster.
        inside: keep the whole glimpse inside the frame.
        mask: show the frame with all but the glimpse black, instead of the glimpse alone.
        periphery: show the frame reduced to this side and enlarged again in place of black; None
            for black.
        recut: cut the older frames of a stack anew at the present place, where the agent did not
            look when they were new, as active-gym does; False: each stays as it was seen.
        pixels: the part of a Dict observation that is seen; None if only one part has pixels. The
            other parts are not shown.
        layout: order of the pixels' axes (see `glimpse_envs.wrappers.pixels.LAYOUTS`); None: found
            from their shape.

    Raises:
        ValueError: the environment has no pixels, or an argument does not fit.
    """

    def __init__(
        self,
        env_name: str,
        space: spaces.Space,
        num_envs: int,
        max_steps: int | None,
        *,
        glimpse_size: int,
        scales: int | None = 1,
        sensor: str = "retina",
        look: str = "continuous",
        max_move: float | None = None,
        start: Sequence[float] | None = None,
        inside: bool = False,
        mask: bool = False,
        periphery: int | None = None,
        recut: bool = False,
        pixels: str | None = None,
        layout: str | None = None,
    ) -> None:
        check_flags(inside=inside, mask=mask, recut=recut)
        check_integers(1, glimpse_size=glimpse_size, scales=1 if scales is None else scales)
        self._pixels = find_pixels(env_name, space, pixels, layout)
        shape = self._pixels.shape
        reader = make_sensor(sensor, shape, {"glimpse_size": glimpse_size, "scales": scales})
        check_choice("look", look, LOOKS)
        view = view_of(reader, shape, look, checked_move(look, max_move), inside)
        if mask:
            view = replace(view, window_sides=(), glimpse_size=0)
        self._looks = Looks(look, view, checked_start(start))
        self._recut, self.max_steps = bool(recut), max_steps
        if periphery is not None:
            check_integers(1, periphery=periphery)
            if not mask:
                raise ValueError(
                    f"periphery={periphery} is seen around the window of mask=True: give mask=True "
                    "too, or leave periphery out"
                )
            if periphery > min(shape[1:]):
                raise ValueError(
                    f"periphery={periphery} must be at most {min(shape[1:])}, the frame's side"
                )
        self._view: View
        if mask:
            if scales != 1 or sensor != "retina":
                raise ValueError("mask=True shows one window: leave sensor, and scales=1")
            self._view = MaskedView(shape, glimpse_size, periphery)
        else:
            if len(reader.glimpse_shape) != 3:
                raise ValueError(
                    f"sensor={sensor!r}: its glimpses have the shape {reader.glimpse_shape}; those "
                    "of frames must have (channels, height, width), since stacked frames follow "
                    "each other in channels"
                )
            self._view = SensorView(reader, num_envs, self._pixels.dtype)

        frames = self._pixels.frames
        if recut and frames == 1:
            raise ValueError(
                f"recut=True cuts the older frames of a stack anew, and {env_name} shows one frame "
                "at a time: stack frames below the glimpse, or leave recut out"
            )
        self._locations = np.zeros((num_envs, 2))
        self._steps = np.zeros(num_envs, np.int64)
        self._begun = np.zeros(num_envs, np.int64)  # the step at which the latest reset was
        self._memory = np.zeros((frames, num_envs, *self._view.shape), np.float32)
        self._random: list[np.random.Generator | None] = [None] * num_envs

        channels, height, width = self._view.shape
        seen = (frames * channels, height, width)
        parts = {
            "glimpse": spaces.Box(0.0, 1.0, seen, np.float32),
            "location": spaces.Box(-1.0, 1.0, (2,), np.float32),
        }
        if max_steps is not None:
            parts["remaining"] = spaces.Box(0.0, 1.0, (1,), np.float32)
        self.observation_space = ordered(parts)

    @property
    def env_name(self) -> str:
        return self._pixels.env_name

    @property
    def picture_view(self) -> PictureView | None:
        """Geometry of frames and looks; None where the gaze follows a rule."""
        return None if self._looks.look in RULES else self._looks.view

    def action_space(self, act: spaces.Space) -> spaces.Dict:
        """Return the space of `look`, unless it follows a rule, and `act`."""
        view = self.picture_view
        look = {} if view is None else {"look": view.action_space}
        return ordered(look | {"act": act})

    def seed(self, seeds: Sequence[int | None]) -> None:
        """Seed the first places of each row's episodes; None continues the row's stream."""
        for row, seed in enumerate(seeds):
            if seed is not None:
                self._random[row] = np.random.default_rng((_STREAM, seed))

    def pixels_of(self, observation: Any) -> Any:
        """Return the part of an observation, of one row or all, that holds the pixels."""
        return observation if self._pixels.key is None else observation[self._pixels.key]

    def start(self, rows: Ints, pixels: NDArray, continued: Bools) -> None:
        """Begin episodes of `rows` (m,): draw their first places and see all frames there. Those
        that go on after a cut keep their places and what they saw.

        Args:
            rows: in [0, n).
            pixels: of all rows, as the environment returned them.
            continued: (n,) where an episode goes on, if it was seen before.

        Raises:
            WrappedEnvError: the pixels are not in their space.
        """
        seen = continued & np.array([stream is not None for stream in self._random])
        self._begun[rows] = np.where(seen, self._steps, 0)[rows]
        rows = rows[~seen[rows]]
        frames = self._pixels.read(pixels)[rows]
        for row in rows:
            stream = self._random[row] = self._random[row] or np.random.default_rng()
            self._locations[row] = self._looks.first(stream)
        self._steps[rows] = 0
        self._cut(frames, rows, len(self._memory))

    def step(self, rows: Ints, looks: NDArray | None, pixels: NDArray) -> None:
        """Move the gaze of `rows` (m,) and see the newest frame there; `looks` and `pixels` are of
        all rows.

        Raises:
            WrappedEnvError: the pixels are not in their space.
        """
        frames = self._pixels.read(pixels)[rows]
        self._steps[rows] += 1
        if looks is not None:
            self._locations[rows] = self._looks.move(self._locations[rows], looks[rows])
        else:
            for row in rows:
                stream = self._random[row]
                assert stream is not None, "the row has started"
                place, step = self._locations[row], int(self._steps[row])
                self._locations[row] = self._looks.by_rule(place, step, stream)
        if not self._recut:
            self._memory[:-1, rows] = self._memory[1:, rows]
        self._cut(frames, rows, len(self._memory) if self._recut else 1)

    def _cut(self, frames: NDArray, rows: Ints, newest: int) -> None:
        """See the `newest` of `frames` (m, K, C, H, W) at the present places of `rows` (m,)."""
        if not len(rows):
            return
        centres = self._looks.view.space.to_pixels(self._locations)
        for back in range(1, newest + 1):
            self._view.read(frames[:, -back], rows, centres, self._memory[-back])

    def observe(self) -> dict[str, Float32s]:
        """Return what all rows see, name -> (n, ...), as new arrays."""
        seen = self._memory.swapaxes(0, 1).copy()  # (n, K, C, h, w)
        observation = {
            "glimpse": seen.reshape(len(seen), -1, *seen.shape[-2:]),
            "location": self._locations.astype(np.float32),
        }
        if self.max_steps is not None:
            left = np.maximum(1.0 - self._taken / self.max_steps, 0.0)
            observation["remaining"] = left[:, None].astype(np.float32)
        return observation

    @property
    def _taken(self) -> Ints:
        """(n,) the steps since the latest reset, at which an outer limit begins to count anew."""
        return self._steps - self._begun

    def seen_ends(self, terminated: Bools, truncated: Bools) -> tuple[Bools, Bools]:
        """Return whether each row has terminated and was truncated, (n,) each. A limit that
        `remaining` shows terminates, as a spent budget of glimpses does: nothing after it has a
        value."""
        if self.max_steps is None:
            return terminated, truncated
        spent = truncated & (self._taken >= self.max_steps)
        return terminated | spent, truncated & ~spent

    def picture(self, row: int, pixels: NDArray) -> Picture:
        """Return the newest frame of a row with the present place and what is seen there; `pixels`
        are those of all rows that were seen last."""
        from glimpse_envs.rendering import Picture

        frame = self._pixels.read(pixels)[row, -1].astype(np.float32)
        place = self._looks.view.space.to_pixels(self._locations[row])
        return Picture(
            scene=frame / 255.0 if self._pixels.dtype == np.uint8 else frame,
            path=place[None].astype(np.float32),
            answer=None,
            target=None,
            outlines=self._view.outlines,
            panels=self._view.panels(self._memory[-1, row]),
            window_sides=self._view.window_sides,
        )


OPTIONS = tuple(keyword_parameters(Eye.__init__))
"""Names of the options that wrappers pass on to `Eye`."""


def checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return `options` of `Eye`, with NumPy's values converted to Python's.

    Raises:
        TypeError: one is not known, or `glimpse_size` is missing.
        ValueError: `start` is no place.
    """
    options = enter_arguments(OPTIONS, options)
    if "glimpse_size" not in options:
        raise TypeError(
            "glimpse_size is missing: give the side of a glimpse in cells, as in glimpse_size=16"
        )
    start = checked_start(options.get("start"))
    if start is not None:
        options["start"] = list(start)  # as JSON, in which specs are written, gives it back
    return options
