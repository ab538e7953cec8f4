"""What an agent has seen so far in an episode, and pictures that show only that."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Bools, Float32s, Floats, Ints
from glimpse_envs.rendering.picture import Picture
from glimpse_envs.rendering.tape_picture import Strip, TablePicture, TapePicture
from glimpse_envs.rendering.verdict import AnyPicture

SEEN_BLACK = 0.12
"""Brightness of black that was seen, in contrast to what was not."""


class Seen:
    """Memory of the glimpses of one episode, for people who watch or play it.

    Of a scene it keeps what the sensor's windows delivered, coarse cells as coarse cells. Where a
    place was seen at several scales it keeps the finest, and in a moving scene the latest. A sensor
    without windows leaves the scene black: only its panels show what it delivers. Of tapes it keeps
    the cells that a head was on, of a table the cells that were visited or written. In a full view,
    whose pictures have no glimpse, everything is seen.
    """

    def __init__(self) -> None:
        self._lit: Float32s | None = None  # (C, H, W), zeros where nothing was seen
        self._cell: Floats | None = None  # (H, W), side of the cell shown there, in pixels
        self._seen: Bools | None = None  # (H, W)
        self._scene: NDArray[np.floating] | None = None
        self._visited: dict[str, set[int]] = {}  # tape -> cells

    def add(self, picture: AnyPicture) -> None:
        """Remember what `picture` shows of the present glimpse; repeating it changes nothing."""
        if isinstance(picture, Picture):
            self._add_windows(picture)
        elif isinstance(picture, TapePicture):
            for strip in picture.strips:
                if strip.head is not None:
                    self._visited.setdefault(strip.name, set()).add(strip.head)

    def reveal(self, picture: AnyPicture, ended: bool) -> AnyPicture:
        """Return `picture` without what was not seen, and without the target until `ended`."""
        target = picture.target if ended else None
        if isinstance(picture, TapePicture):
            picture = replace(picture, hides_target=not ended)
        whole = _is_whole(picture)
        if isinstance(picture, Picture):
            scene = picture.scene if whole else self._lit_scene(picture)
            lit = replace(picture, scene=scene, target=target)
            return lit if ended else replace(lit, boxes=picture.boxes[:0], pending="")
        if whole:
            shown = replace(picture, target=target)
            if isinstance(shown, TablePicture) and not ended:
                return replace(shown, relevant=frozenset())
            return shown
        if isinstance(picture, TapePicture):
            first = self._visited.get(picture.strips[0].name, set())
            strips = tuple(self._of_strip(strip, first) for strip in picture.strips)
            return replace(picture, strips=strips, target=target)
        return _of_table(picture, target, ended)

    def _lit_scene(self, picture: Picture) -> Float32s:
        if self._lit is None or self._seen is None:
            return np.zeros(picture.scene.shape, np.float32)
        return np.where(self._seen, SEEN_BLACK + (1 - SEEN_BLACK) * self._lit, np.float32(0))

    def _add_windows(self, picture: Picture) -> None:
        if not picture.window_sides:
            return
        height, width = picture.scene.shape[1:]
        if self._lit is None or self._cell is None or self._seen is None:
            self._lit = np.zeros(picture.scene.shape, np.float32)
            self._cell = np.full((height, width), np.inf)
            self._seen = np.zeros((height, width), np.bool_)
        if self._scene is not None and not np.array_equal(self._scene, picture.scene):
            self._cell[:] = np.inf  # it has moved: new glimpses replace what was seen before
        self._scene = picture.scene
        x, y = picture.path[-1]
        windows = zip(picture.window_sides, picture.panels, strict=True)
        for side, (_, panel) in reversed(list(windows)):  # (C, g, g)
            cell = side / panel.shape[1]
            rows = np.floor((np.arange(height) + 0.5 - (y - side / 2)) / cell).astype(np.int64)
            columns = np.floor((np.arange(width) + 0.5 - (x - side / 2)) / cell).astype(np.int64)
            down, across = _within(rows, panel.shape[1]), _within(columns, panel.shape[2])
            seen = panel[:, rows[down][:, None], columns[across]]
            newer = cell <= self._cell[down, across]
            self._lit[:, down, across] = np.where(newer, seen, self._lit[:, down, across])
            self._cell[down, across] = np.minimum(self._cell[down, across], cell)
            self._seen[down, across] = True

    def _of_strip(self, strip: Strip, first: set[int]) -> Strip:
        """Return a tape with the cells that were seen; `first` are those of the first tape."""
        seen = self._visited.get(strip.name, set()) | strip.written | set(range(len(strip.good)))
        return replace(strip, seen=frozenset(seen | first if strip.read_with_first else seen))


def _is_whole(picture: AnyPicture) -> bool:
    """Return whether everything is seen at once: there is no glimpse, no head and no path."""
    if isinstance(picture, Picture):
        return not picture.outlines
    if isinstance(picture, TapePicture):
        return all(strip.head is None for strip in picture.strips)
    return not picture.path


def _within(indices: Ints, count: int) -> slice:
    """Return the slice of rising indices that lie from 0 to `count` - 1."""
    return slice(*np.searchsorted(indices, [0, count]).tolist())


def _of_table(picture: TablePicture, target: str | None, ended: bool) -> TablePicture:
    seen = frozenset(picture.path) | picture.written
    texts = zip(picture.addresses, picture.cells, strict=True)
    cells = {address: text if address in seen else "" for address, text in texts}
    if not picture.whole:
        # The choice of drawn cells would tell where the answer is.
        cells = {address: text for address, text in cells.items() if address in seen}
    return replace(
        picture,
        cells=tuple(cells.values()),
        addresses=tuple(cells),
        unseen=frozenset(cells) - seen,
        relevant=picture.relevant & seen if ended else frozenset(),
        target=target,
    )
