"""Many scanpaths on one page."""

from collections.abc import Sequence

import numpy as np

from glimpse_envs.core.arrays import Bytes
from glimpse_envs.rendering.cells import Area
from glimpse_envs.rendering.drawing import (
    Canvas,
    blank,
    draw_boxes,
    draw_mark,
    draw_path,
    draw_text,
    enlarge,
)
from glimpse_envs.rendering.palette import BACKGROUND, TEXT, verdict_colour
from glimpse_envs.rendering.picture import Picture
from glimpse_envs.rendering.table_panel import draw_cells
from glimpse_envs.rendering.verdict import AnyPicture, brief_verdict, verdict_of

MIN_CELL = 48


def draw_scanpath(picture: AnyPicture, size: int = 160) -> Bytes:
    """One cell of a contact sheet: the scene and its whole path, framed green or red.

    The answer stands under the scene, with the target if it is wrong. A full view has no path. A
    tape is shown in its last state, a table with its cells and path.

    Args:
        picture: the picture to draw; its glimpse and caption are left out.
        size: the cell's width in pixels, at least 48.

    Returns:
        (size + size // 7 + 6, size, 3) uint8 RGB, whatever the scene's size.

    Raises:
        ValueError: the size is below the minimum.
    """
    if size < MIN_CELL:
        raise ValueError(f"a cell's size must be at least {MIN_CELL} pixels; it is {size}")
    edge, text_size = max(2, size // 53), size // 13
    cell = blank(size + size // 7 + 6, size, BACKGROUND)
    verdict = verdict_of(picture)
    cell[:size] = verdict_colour(verdict)
    inner = size - 2 * edge
    cell[edge : size - edge, edge : size - edge] = BACKGROUND

    area = Area(2 * edge, 2 * edge, inner - 2 * edge, inner - 2 * edge)
    if isinstance(picture, Picture):
        _draw_scene(cell[edge : size - edge, edge : size - edge], picture, size / 120)
    else:
        draw_cells(cell, picture, area)

    text = brief_verdict(picture)
    if text:
        mark = text_size * 5 // 4
        below = size + (cell.shape[0] - size - text_size) // 2
        draw_mark(cell, (edge, below - (mark - text_size) // 2), mark, verdict)
        text_left = edge + mark + text_size // 2
        draw_text(cell, text, (text_left, below), text_size, TEXT, size - text_left - edge)
    return cell


def contact_sheet(cells: Sequence[Bytes], columns: int, title: str = "") -> Bytes:
    """Lay cells out row by row, under a title.

    Args:
        cells: at least one, all (h, w, 3) uint8 RGB of one size.
        columns: cells in a row, at least 1; a last row that is not full stays empty at its end.
        title: one line of text; "" for none.

    Returns:
        (height, width, 3) uint8 RGB.

    Raises:
        ValueError: no cells, cells of different sizes, or fewer than one column.
    """
    if not cells:
        raise ValueError("a contact sheet needs at least one cell; it got none")
    if columns < 1:
        raise ValueError(f"columns must be at least 1; it is {columns}")
    shapes = {cell.shape for cell in cells}
    if len(shapes) > 1:
        raise ValueError(f"all cells must have one shape; they have {sorted(shapes)}")

    cell_height, cell_width = cells[0].shape[:2]
    gap, text_size = 12, 14
    header = text_size + gap if title else 0
    rows, columns = -(-len(cells) // columns), min(columns, len(cells))
    sheet = blank(
        header + rows * (cell_height + gap) + gap, columns * (cell_width + gap) + gap, BACKGROUND
    )
    draw_text(sheet, title, (gap, gap), text_size, TEXT, sheet.shape[1] - 2 * gap)
    for index, cell in enumerate(cells):
        row, column = divmod(index, columns)
        top, left = header + gap + row * (cell_height + gap), gap + column * (cell_width + gap)
        sheet[top : top + cell_height, left : left + cell_width] = cell
    return sheet


def _draw_scene(square: Canvas, picture: Picture, unit: float) -> None:
    """The scene and its path in the middle of a square canvas."""
    inner = len(square)
    _, rows, columns = picture.scene.shape
    zoom = inner / max(rows, columns)
    height, width = max(1, round(zoom * rows)), max(1, round(zoom * columns))
    panel = enlarge(picture.scene, height, width)
    draw_boxes(panel, zoom * picture.boxes, max(1, round(unit)))
    if picture.outlines:
        draw_path(panel, picture.path * np.float32(zoom), unit)
    top, left = (inner - height) // 2, (inner - width) // 2
    square[top : top + height, left : left + width] = panel
