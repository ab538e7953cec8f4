"""What the tests of plots share: the figure in place of its file, and whether texts overlap."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text


def catch_figure(monkeypatch: pytest.MonkeyPatch, module: Any) -> list[Figure]:
    """A list to which `module` adds each figure that it saves, in place of writing it."""
    caught: list[Figure] = []
    monkeypatch.setattr(module, "save_figure", lambda figure, path: caught.append(figure))
    return caught


def marked_lines(panel: Axes) -> list[Line2D]:
    """The lines of a panel that have markers, as those of data have."""
    return [line for line in panel.get_lines() if line.get_marker() != "None"]


def points_of(line: Line2D) -> tuple[list[float], list[float]]:
    """Its x and its y."""
    return (
        np.asarray(line.get_xdata(), dtype=np.float64).tolist(),
        np.asarray(line.get_ydata(), dtype=np.float64).tolist(),
    )


def named_lines(panel: Axes) -> dict[str, Line2D]:
    """The lines and marks that the panel's legend names, in its order."""
    handles, names = panel.get_legend_handles_labels()
    lines = (handle for handle in handles if isinstance(handle, Line2D))
    return dict(zip(names, lines, strict=True))


def overlapping_texts(figure: Figure) -> list[tuple[str, str]]:
    """The pairs of visible texts whose boxes overlap by more than a pixel."""
    figure.draw_without_rendering()
    hidden = {t for a in figure.axes if not a.get_visible() for t in a.findobj(Text)}
    texts = [
        text
        for text in figure.findobj(Text)
        if isinstance(text, Text) and text.get_visible() and text.get_text().strip()
    ]
    # Of the text alone: that of an annotation would hold its arrow, too.
    boxes = [
        (text.get_text(), Text.get_window_extent(text).padded(-1))
        for text in texts
        if text not in hidden
    ]
    return [(first, second) for (first, a), (second, b) in combinations(boxes, 2) if a.overlaps(b)]
