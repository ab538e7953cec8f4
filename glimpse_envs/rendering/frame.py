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
    draw_mark,
    draw_outline,
    draw_path,
    draw_text,
    enlarge,
)
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

MIN_HEIGHT = 160
LIGHT_OUTSIDE = 0.45
"""Share of the scene's brightness left outside the largest window."""
LIGHT_UNREAD = 0.3
"""Share of the scene's brightness left where soft attention does not read."""
GLOW = 0.4
"""Share of the tint where soft attention reads most."""
WIDE = 16 / 9
"""The shape of a frame of tapes or of a table, whatever they hold."""


@dataclass(frozen=True)
class Layout:
    """Layout of a frame in its pixels, fixed by the scene's size and K."""

    height: int
    """The frame's height; even, as H.264 asks."""
    width: int
    """The frame's width; even."""
    margin: int
    zoom: float
    """Frame pixels a scene pixel."""
    scene_left: int
    scene_top: int
    scene_height: int
    scene_width: int
    retina_left: int
    patch_side: int
    """Side of one scale's enlarged glimpse; 0 for a full view."""
    patch_pitch: int
    """From the top of one scale's glimpse to the next one's."""
    text_size: int
    text_width: int
    """The text stands under the scene, from the left margin on."""
    text_top: int


def layout_of(scene_size: tuple[int, int], scales: int, height: int = 360) -> Layout:
    """The layout of every frame of an episode.

    Args:
        scene_size: (H, W) in pixels.
        scales: K; 0 for a full view, which has no retina to show.
        height: of the frame in pixels, at least 160; an odd one is made even.

    Raises:
        ValueError: a height too small to read.
    """
    _check_height(height)
    rows, columns = scene_size
    margin, text_size = height // 36, height // 28
    strip = 3 * text_size
    panel = height - 3 * margin - strip
    # A scene more than twice as wide as high is fitted by its width.
    zoom = min(panel / rows, 2 * panel / columns)
    scene_height, scene_width = max(1, round(zoom * rows)), max(1, round(zoom * columns))

    # The retina's column runs down the whole frame, right of the text.
    patch_pitch = (height - margin) // max(scales, 2)
    patch_side = max(1, patch_pitch - text_size - 3 * margin // 2) if scales else 0
    column = patch_side + 2 * margin if scales else 0
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
        retina_left=margin + scene_area + 2 * margin,
        patch_side=patch_side,
        patch_pitch=patch_pitch,
        text_size=text_size,
        text_width=scene_area,
        text_top=panel + 2 * margin,
    )


def draw_frame(picture: AnyPicture, height: int = 360) -> Bytes:
    """Draw one frame; below stand the answer, the target and the caption.

    Of a scene: windows and path at the left, the retina's view at the right. Each scale's window
    and glimpse share a colour; the scene is dimmed where no window reaches.

    Of tapes: each with its head; cells that the agent wrote are blue, symbols that it put out green
    or red. Of a table: its cells, blue where the agent wrote, with the path through them and a star
    on the relevant ones.

    Args:
        picture: to draw.
        height: of the frame in pixels, at least 160.

    Returns:
        (height', width', 3) uint8 RGB. Both sides are even and depend only on `height`, on a
        scene's size and on the number of scales, so that all frames of an episode fit one film.

    Raises:
        ValueError: a height too small to read.
    """
    if isinstance(picture, Picture):
        return _draw_scene_frame(picture, height)
    return _draw_cells_frame(picture, height)


def _draw_scene_frame(picture: Picture, height: int) -> Canvas:
    _, rows, columns = picture.scene.shape
    layout = layout_of((rows, columns), len(picture.sides), height)
    frame = blank(layout.height, layout.width, BACKGROUND)
    _place(frame, _draw_scene(picture, layout), layout.scene_left, layout.scene_top, EDGE)
    _draw_retina(frame, picture, layout)
    text = Area(layout.margin, layout.text_top, layout.text_width, 3 * layout.text_size)
    _draw_text_strip(frame, picture, text)
    return frame


def _draw_cells_frame(picture: TapePicture | TablePicture, height: int) -> Canvas:
    _check_height(height)
    margin, strip = height // 36, 3 * (height // 28)
    frame = blank(_even(height), _even(round(WIDE * height)), BACKGROUND)
    width, panel = frame.shape[1] - 2 * margin, height - 4 * margin - strip
    area = Area(margin, margin, width, panel)
    draw_cells(frame, picture, area)
    _draw_text_strip(frame, picture, Area(margin, panel + 3 * margin, width, strip))
    return frame


def _draw_scene(picture: Picture, layout: Layout) -> Canvas:
    panel = enlarge(picture.scene, layout.scene_height, layout.scene_width)
    if not picture.sides:
        return panel
    path = picture.path * np.float32(layout.zoom)  # (t, 2) in panel pixels
    centre = (float(path[-1, 0]), float(path[-1, 1]))
    sides = [side * layout.zoom for side in picture.sides]
    dim_outside(panel, centre, max(sides), LIGHT_OUTSIDE)
    unit = layout.height / 180
    # Finest last: where outlines meet, the fovea's stays whole.
    for scale in reversed(range(len(sides))):
        draw_outline(panel, centre, sides[scale], scale_colour(scale), max(1, round(unit)))
    draw_path(panel, path, unit * 0.9)
    return panel


def _draw_retina(frame: Canvas, picture: Picture, layout: Layout) -> None:
    left, side = layout.retina_left, layout.patch_side
    for scale, glimpse in enumerate(picture.scale_glimpses):  # (C, g, g)
        colour = scale_colour(scale)
        top = layout.margin + scale * layout.patch_pitch
        label = f"{picture.sides[scale]:g} px"
        draw_text(frame, label, (left, top), layout.text_size * 4 // 5, colour, side)
        top += layout.text_size + layout.margin // 2
        _place(frame, enlarge(glimpse, side, side), left, top, colour)


def _draw_text_strip(frame: Canvas, picture: AnyPicture, area: Area) -> None:
    left, top, size = round(area.left), round(area.top), round(area.height / 3)
    half = round(area.width) // 2
    answer, target = answer_and_target(picture)
    mark = size * 3 // 2
    if answer:
        verdict = verdict_of(picture)
        draw_mark(frame, (left, top - (mark - size) // 2), mark, verdict)
        text_left = left + mark + size // 2
        room = half - (text_left - left) - size // 2
        draw_text(frame, answer, (text_left, top), size, verdict_colour(verdict), room)
    draw_text(frame, target, (left + half, top), size, TEXT, half)
    below = (left, top + 2 * size)
    draw_text(frame, picture.caption, below, size * 4 // 5, MUTED, 2 * half)


def _place(frame: Canvas, panel: Canvas, left: int, top: int, edge: tuple[int, int, int]) -> None:
    """Put a panel into the frame with a thin edge around it."""
    rows, columns = panel.shape[:2]
    thickness = max(1, frame.shape[0] // 180)
    frame[
        top - thickness : top + rows + thickness, left - thickness : left + columns + thickness
    ] = edge
    frame[top : top + rows, left : left + columns] = panel


def _check_height(height: int) -> None:
    if height < MIN_HEIGHT:
        raise ValueError(f"a frame's height must be at least {MIN_HEIGHT} pixels; it is {height}")


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
