"""Picture of one frame as plain data."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Float32s, Floats


@dataclass(frozen=True, eq=False)
class Picture:
    """One moment of an episode, in pixels of the scene.

    Pixels are edge coordinates: pixel (row r, column c) covers x in [c, c + 1), y in [r, r + 1),
    so that (0, 0) is the scene's top-left corner and (W, H) its bottom-right one.

    A full view has neither outlines nor panels: only its scene and its text are drawn.

    Raises:
        ValueError: a shape does not fit the others; the message names it and what it must be.
    """

    scene: NDArray[np.floating]
    """(C, H, W) in [0, 1]; C = 1 (grey) or 3 (RGB)."""
    path: Float32s
    """(t, 2) fixation centres so far, as (x, y) in pixels; t >= 1, the last is the present one."""
    answer: str | None
    """The agent's last answer; None before the first."""
    target: str | None
    """The right answer; None where there is none."""
    caption: str = ""
    """A line of text, such as "glimpse 3 / 8"."""
    question: str = ""
    """The question about this scene, where scenes of one environment differ in it."""
    pending: str = ""
    """The right answer while it is still given part by part, without a verdict yet."""
    outlines: Sequence[Floats] = ()
    """The region of the scene that the present glimpse shows, finest first: polygons, each as its
    corners (n, 2), (x, y) in pixels from the present fixation."""
    panels: Sequence[tuple[str, NDArray[np.floating]]] = ()
    """The present glimpse itself: (label, picture (C, h, w) in [0, 1]), the k-th in the colour of
    the k-th outline."""
    window_sides: tuple[float, ...] = ()
    """Sides in pixels of the square windows around the present fixation that the panels show,
    finest first; empty for any other kind of panel."""
    boxes: Floats = field(default_factory=lambda: np.zeros((0, 4)))
    """(n, 4) of the targets to mark, x0, y0, x1, y1 in pixels; NaN for none."""

    @property
    def line(self) -> str:
        """Question, caption and pending answer, as one line below the frame."""
        pending = f"target {self.pending}" if self.pending else ""
        return ", ".join(filter(None, (f"{self.question} {self.caption}".strip(), pending)))

    def __post_init__(self) -> None:
        if self.scene.ndim != 3 or self.scene.shape[0] not in (1, 3) or 0 in self.scene.shape:
            raise ValueError(
                f"scene has shape {self.scene.shape}; it must be (1, H, W) grey or (3, H, W) RGB"
            )
        if self.path.ndim != 2 or self.path.shape[0] < 1 or self.path.shape[1] != 2:
            raise ValueError(
                f"path has shape {self.path.shape}; it must be (t, 2) with t >= 1: (x, y) a row"
            )
        if not np.isfinite(self.path).all():
            raise ValueError(f"path must be finite; it is {self.path.tolist()}")
        for outline in self.outlines:
            if outline.ndim != 2 or outline.shape[1] != 2 or not np.isfinite(outline).all():
                raise ValueError(
                    f"an outline has shape {outline.shape}; it must be (n, 2), finite: (x, y) a row"
                )
        for label, shown in self.panels:
            if shown.ndim != 3 or shown.shape[0] not in (1, 3) or 0 in shown.shape:
                raise ValueError(
                    f"the panel {label!r} has shape {shown.shape}; it must be (1, h, w) grey or "
                    "(3, h, w) RGB"
                )
        if self.window_sides and len(self.window_sides) != len(self.panels):
            raise ValueError(
                f"window_sides has {len(self.window_sides)} entries; it must have one for each of "
                f"the {len(self.panels)} panels, or none"
            )
        if self.boxes.ndim != 2 or self.boxes.shape[1] != 4:
            raise ValueError(f"boxes has shape {self.boxes.shape}; it must be (n, 4)")
