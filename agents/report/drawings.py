"""Drawings in SVG by hand, which take the page's colours: densities, scanpaths, paths of heads."""

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from agents.play.frames import image_of
from glimpse_envs.rendering import Picture, Strip, TablePicture, TapePicture

SHADES = 12
"""Strengths in which a density is drawn."""

Floats = NDArray[np.float64]

LONGEST_LABEL, LABEL_UNIT = 32, 5.0
"""Characters of a cell's text at the left of its row, and the room for each."""


def density_map(
    shares: Floats, scene: tuple[float, float], title: str, box: Floats | None = None
) -> str:
    """Shares (rows, columns) over a scene of width and height `scene`, the densest the strongest;
    `box` (2,), width and height as shares of the scene's sides, is marked in its middle."""
    (rows, columns), (width, height) = shares.shape, scene
    high = 100 * height / width
    cell_width, cell_height = 100 / columns, high / rows
    strengths = np.ceil(SHADES * np.sqrt(shares / max(float(shares.max()), 1e-12))).astype(int)
    parts = []
    for strength in range(1, SHADES + 1):
        cells = [
            f"M{_short(column * cell_width)} {_short(row * cell_height)}"
            f"h{_short(cell_width)}v{_short(cell_height)}h-{_short(cell_width)}z"
            for row, column in np.argwhere(strengths == strength)
        ]
        if cells:
            opacity = strength / SHADES
            parts.append(f'<path class="heat" opacity="{opacity:.2f}" d="{"".join(cells)}"/>')
    if box is not None:
        w, h = box * (100.0, high)
        parts.append(
            f'<rect class="target" x="{50 - w / 2:.1f}" y="{high / 2 - h / 2:.1f}" '
            f'width="{w:.1f}" height="{h:.1f}"/><path class="axis" '
            f'd="M48 {high / 2:.1f}h4M50 {high / 2 - 2:.1f}v4"/>'
        )
    return _svg(f"0 0 100 {_short(high)}", "".join(parts), title, "density")


def scanpath(picture: Picture, boxes: Floats, title: str) -> str:
    """The scene, the targets' `boxes` (n, 4), x0, y0, x1, y1 in pixels, and the numbered
    fixations joined by lines."""
    _, height, width = picture.scene.shape
    unit = width / 60
    parts = [
        f'<image href="{image_of(picture.scene)}" width="{width}" height="{height}" '
        'style="image-rendering:pixelated"/>'
    ]
    for x0, y0, x1, y1 in boxes:
        parts.append(
            f'<rect class="box" x="{x0:.1f}" y="{y0:.1f}" width="{x1 - x0:.1f}" '
            f'height="{y1 - y0:.1f}" stroke-width="{0.5 * unit:.2f}"/>'
        )
    # A model that sees everything takes no glimpses, though a first place is dealt.
    path = picture.path if len(picture.outlines) else picture.path[:0]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in path)
    for name, thick in (("halo", 1.4), ("gaze", 0.7)):
        parts.append(f'<polyline class="{name}" points="{points}" stroke-width="{thick * unit}"/>')
    for number, (x, y) in enumerate(path, 1):
        parts.append(
            f'<circle class="fixation" cx="{x:.1f}" cy="{y:.1f}" r="{1.7 * unit:.2f}" '
            f'stroke-width="{0.3 * unit:.2f}"/><text class="number" x="{x:.1f}" '
            f'y="{y + 0.95 * unit:.2f}" font-size="{2.6 * unit:.2f}">{number}</text>'
        )
    return _svg(f"0 0 {width} {height}", "".join(parts), title, "scene")


def head_paths(pictures: Sequence[TapePicture], title: str) -> str:
    """The cell under each head at every moment, from left to right, one colour a tape, and the
    cells of the first tape at the left."""
    strips = [[picture.strips[k] for picture in pictures] for k in range(len(pictures[0].strips))]
    lines = [
        (moments[0].name, [moment.head for moment in moments])
        for moments in strips
        if all(moment.head is not None for moment in moments)
    ]
    first = _first_with_head(pictures[0])
    named = dict(enumerate(first.cells))
    return _paths([(n, [h or 0 for h in heads]) for n, heads in lines], named, (), title)


def address_path(picture: TablePicture, title: str) -> str:
    """The address that is read or written at every moment, from left to right; its cell is at the
    left. Cells that hold the answer, or lead to it, are marked."""
    named = {
        address: f"{address}: {text}" if text else str(address)
        for address, text in zip(picture.addresses, picture.cells, strict=True)
        if address in picture.path or address in picture.relevant
    }
    return _paths([("address", list(picture.path))], named, sorted(picture.relevant), title)


def output_of(picture: TapePicture) -> str:
    """What was put out at last, as text; without an output tape, the last symbol alone."""
    outputs = [strip for strip in picture.strips if strip.good]
    if not outputs:
        return picture.answer or "nothing"
    return " ".join(cell for strip in outputs for cell in strip.cells if cell) or "nothing"


def _first_with_head(picture: TapePicture) -> Strip:
    return next((strip for strip in picture.strips if strip.head is not None), picture.strips[0])


def _paths(
    lines: Sequence[tuple[str, Sequence[int]]],
    named: dict[int, str],
    marked: Sequence[int],
    title: str,
) -> str:
    """Step lines of whole numbers; each number in use has a row, called by `named` if it can be."""
    used = sorted({place for _, places in lines for place in places} | set(named))
    rows = {place: number for number, place in enumerate(used)}
    steps = max((len(places) for _, places in lines), default=1)
    texts = {place: (named.get(place, "") or "·")[:LONGEST_LABEL] for place in used}
    longest = max(map(len, texts.values()), default=0)
    label, width, cell = max(78.0, LABEL_UNIT * longest), 320.0, 11
    step, height = (width - label - 4) / max(steps, 12), len(used) * cell + 6
    parts = []
    for place, row in rows.items():
        y = row * cell + cell / 2 + 3
        kind = "relevant" if place in marked else "row"
        text = escape(texts[place])
        parts.append(
            f'<path class="{kind}" d="M{_short(label)} {y:.1f}H{width - 2:.0f}"/>'
            f'<text class="cell" x="{_short(label - 4)}" y="{y + 2.6:.1f}">{text}</text>'
        )
    for number, (name, places) in enumerate(lines):
        shift = 1.4 * number
        points = " ".join(
            f"{label + (t + 0.5) * step:.1f},{rows[place] * cell + cell / 2 + 3 + shift:.1f}"
            for t, place in enumerate(places)
        )
        parts.append(
            f'<polyline class="head head{number}" points="{points}">'
            f"<title>{escape(name)}</title></polyline>"
        )
        parts += [
            f'<circle class="place place{number}" cx="{point[0]}" cy="{point[1]}" r="1.8"/>'
            for point in (pair.split(",") for pair in points.split())
        ]
    return _svg(f"0 0 {_short(width)} {height}", "".join(parts), title, "paths")


def _svg(view: str, content: str, title: str, kind: str) -> str:
    return (
        f'<svg class="{kind}" viewBox="{view}" role="img" aria-label="{escape(title)}">'
        f"{content}</svg>"
    )


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
