"""One frame of an episode: the scene, tapes or table, the gaze in it, and the answer."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Bytes, Float32s
from glimpse_envs.rendering.cells import Area
from glimpse_envs.rendering.drawing import (
    Canvas,
    blank,
    dim_outside,
    draw_boxes,
    draw_mark,
    draw_outline,
    draw_path,
    draw_text,
    enlarge,
    is_within,
)
from glimpse_envs.rendering.legend import draw_legend
from glimpse_envs.rendering.palette import (
    BACKGROUND,
    EDGE,
    MUTED,
    PATH,
    TEXT,
    scale_colour,
    verdict_colour,
)
from glimpse_envs.rendering.picture import Picture
from glimpse_envs.rendering.table_panel import draw_cells
from glimpse_envs.rendering.tape_picture import TablePicture, TapePicture
from glimpse_envs.rendering.verdict import AnyPicture, answer_and_target, verdict_of

MIN_HEIGHT, MAX_HEIGHT = 160, 4320  # text can be read; 8K video
LIGHT_OUTSIDE = 0.45
"""Share of the scene's brightness left outside the largest window."""
LIGHT_UNREAD = 0.3
"""Share of the scene's brightness left where soft attention does not read."""
GLOW = 0.4
"""Share of the tint where soft attention reads most."""
WIDE = 16 / 9
"""The shape of all frames of tapes or of a table, whatever their content."""


@dataclass(frozen=True)
class Layout:
    """Layout of a frame in its pixels, fixed by the scene's size and the number of panels."""

    height: int
    """The frame's height; even, as H.264 requires."""
    width: int
    """The frame's width; even."""
    margin: int
    zoom: float
    """Frame pixels per scene pixel."""
    scene_left: int
    scene_top: int
    scene_height: int
    scene_width: int
    glimpse_left: int
    patch_side: int
    """Side of the square that an enlarged panel fits into; 0 for a full view."""
    patch_pitch: int
    """Distance from the top of one panel to the top of the next."""
    text_size: int
    text_width: int
    """The text stands under the scene and begins at the left margin."""
    text_top: int


def layout_of(scene_size: tuple[int, int], panels: int, height: int = 360) -> Layout:
    """The layout of every frame of an episode.

    Args:
        scene_size: (H, W) in pixels.
        panels: of a glimpse; 0 for a full view, which has none.
        height: of the frame in pixels, from 160 to 4,320; an odd height is made even.

    Raises:
        ValueError: `height` is out of its range.
    """
    check_height(height)
    rows, columns = scene_size
    margin, text_size = height // 36, height // 28
    strip = 3 * text_size
    panel = height - 3 * margin - strip
    # A scene more than twice as wide as high is fitted by its width.
    zoom = min(panel / rows, 2 * panel / columns)
    scene_height, scene_width = max(1, round(zoom * rows)), max(1, round(zoom * columns))

    # The glimpse's column runs down the whole frame, right of the text.
    patch_pitch = (height - margin) // max(panels, 2)
    patch_side = max(1, patch_pitch - text_size - 3 * margin // 2) if panels else 0
    column = patch_side + 2 * margin if panels else 0
    # The width holds the text too, however narrow the scene.
    scene_area = max(scene_width, 4 * panel // 5)
    return Layout(
        height=_even(height),
        width=_even(scene_area + column + 2 * margin),
        margin=margin,
        zoom=zoom,
        scene_left=margin + (scene_area - scene_width) // 2,
        scene_top=margin + (panel - scene_height) // 2,
        scene_height=scene_height,
        scene_width=scene_width,
        glimpse_left=margin + scene_area + 2 * margin,
        patch_side=patch_side,
        patch_pitch=patch_pitch,
        text_size=text_size,
        text_width=scene_area,
        text_top=panel + 2 * margin,
    )


def draw_frame(picture: AnyPicture, height: int = 360, legend: bool = False) -> Bytes:
    """Draw one frame, with the answer, the target and the caption at the bottom.

    Of a scene: outlines of the glimpse, path and target boxes at the left, the glimpse itself at
    the right, each panel in its outline's colour; the scene is dimmed outside all outlines.

    Of tapes: each with its head; cells that the agent wrote are blue, symbols that it put out green
    or red. Of a table: its cells, blue where the agent wrote, with the path through them and a star
    on the relevant ones.

    Args:
        picture: the picture to draw.
        height: of the frame in pixels, from 160 to 4,320.
        legend: whether to explain outlines, marks and shades at the bottom; the frame is then a
            tenth higher.

    Returns:
        (height, width, 3) uint8 RGB. Both sides are even and depend only on `height`, on a
        scene's size and on the number of panels, so that all frames of an episode fit one film.

    Raises:
        ValueError: `height` is out of its range.
    """
    if isinstance(picture, Picture):
        frame = _draw_scene_frame(picture, height)
    else:
        frame = _draw_cells_frame(picture, height)
    if not legend:
        return frame
    return np.concatenate([frame, draw_legend(picture, _even(height // 10), frame.shape[1])])


def _draw_scene_frame(picture: Picture, height: int) -> Canvas:
    _, rows, columns = picture.scene.shape
    layout = layout_of((rows, columns), len(picture.panels), height)
    frame = blank(layout.height, layout.width, BACKGROUND)
    _place(frame, _draw_scene(picture, layout), layout.scene_left, layout.scene_top, EDGE)
    _draw_glimpse(frame, picture, layout)
    text = Area(layout.margin, layout.text_top, layout.text_width, 3 * layout.text_size)
    _draw_text_strip(frame, picture, text)
    return frame


def _draw_cells_frame(picture: TapePicture | TablePicture, height: int) -> Canvas:
    check_height(height)
    margin, strip = height // 36, 3 * (height // 28)
    frame = blank(_even(height), _even(round(WIDE * height)), BACKGROUND)
    width, panel = frame.shape[1] - 2 * margin, height - 4 * margin - strip
    area = Area(margin, margin, width, panel)
    draw_cells(frame, picture, area)
    _draw_text_strip(frame, picture, Area(margin, panel + 3 * margin, width, strip))
    return frame


def _draw_scene(picture: Picture, layout: Layout) -> Canvas:
    panel = enlarge(picture.scene, layout.scene_height, layout.scene_width)
    unit = layout.height / 180
    thickness = max(1, round(unit))
    if picture.outlines:
        path = picture.path * np.float32(layout.zoom)  # (t, 2) in panel pixels
        outlines = [path[-1].astype(float) + layout.zoom * one for one in picture.outlines]
        dim_outside(panel, outlines, LIGHT_OUTSIDE)
        # Finest last: where outlines meet, that of the fovea stays whole.
        for scale in reversed(range(len(outlines))):
            draw_outline(panel, outlines[scale], scale_colour(scale), thickness)
        draw_path(panel, path, unit * 0.9)
    draw_boxes(panel, layout.zoom * picture.boxes, thickness)
    return panel


def _draw_glimpse(frame: Canvas, picture: Picture, layout: Layout) -> None:
    left, side = layout.glimpse_left, layout.patch_side
    for scale, (label, glimpse) in enumerate(picture.panels):  # (C, h, w)
        colour = scale_colour(scale)
        top = layout.margin + scale * layout.patch_pitch
        draw_text(frame, label, (left, top), layout.text_size * 4 // 5, colour, side)
        top += layout.text_size + layout.margin // 2
        share = side / max(glimpse.shape[1:])
        height, width = (max(1, round(share * length)) for length in glimpse.shape[1:])
        _place(frame, enlarge(glimpse, height, width), left, top, colour)


def _draw_text_strip(frame: Canvas, picture: AnyPicture, area: Area) -> None:
    left, top, size = round(area.left), round(area.top), round(area.height / 3)
    width, small = round(area.width), size * 4 // 5
    half = width // 2
    answer, target = answer_and_target(picture)
    mark = size * 3 // 2
    beside = mark + size // 2
    if answer:
        draw_mark(frame, (left, top - (mark - size) // 2), mark, verdict_of(picture))
    colour = verdict_colour(verdict_of(picture))
    below = top + 2 * size
    if is_within(answer, size, half - beside - size // 2) and is_within(target, size, half):
        draw_text(frame, answer, (left + beside, top), size, colour, half)
        draw_text(frame, target, (left + half, top), size, TEXT, half)
    else:  # sentences stand one below the other
        draw_text(frame, answer, (left + beside, top), small, colour, width - beside)
        second = (left + beside, top + 11 * size // 10)
        draw_text(frame, target, second, small, TEXT, width - beside)
        below = top + 22 * size // 10
    line = picture.line if isinstance(picture, Picture) else picture.caption
    draw_text(frame, line, (left, below), small, MUTED, width)


def _place(frame: Canvas, panel: Canvas, left: int, top: int, edge: tuple[int, int, int]) -> None:
    """Put a panel into the frame with a thin edge around it."""
    rows, columns = panel.shape[:2]
    thickness = max(1, frame.shape[0] // 180)
    frame[
        top - thickness : top + rows + thickness, left - thickness : left + columns + thickness
    ] = edge
    frame[top : top + rows, left : left + columns] = panel


def check_height(height: int) -> None:
    """Raise a ValueError unless `height` is an integer that a frame's height may be."""
    whole = isinstance(height, int | np.integer) and not isinstance(height, bool)
    if not whole or not MIN_HEIGHT <= height <= MAX_HEIGHT:
        raise ValueError(
            f"a frame's height must be an integer from {MIN_HEIGHT} to {MAX_HEIGHT} pixels; it is "
            f"{height}"
        )


def _even(length: int) -> int:
    return length + length % 2


def light_up(scene: NDArray[np.floating], shares: NDArray[np.floating]) -> Float32s:
    """A scene lit where soft attention reads it, and dim and tinted elsewhere.

    Args:
        scene: (C, H, W) in [0, 1].
        shares: (H, W), at least 0, in any unit; the greatest is lit fully.

    Returns:
        (3, H, W) float32 in [0, 1].
    """
    strength = (shares / max(float(shares.max()), 1e-30)).astype(np.float32)
    tint = np.array(PATH, np.float32)[:, None, None] / 255
    lit = (LIGHT_UNREAD + (1 - LIGHT_UNREAD) * strength) * scene
    glow = GLOW * strength * tint
    return np.clip(lit * (1 - GLOW * strength) + glow, 0.0, 1.0).astype(np.float32)
