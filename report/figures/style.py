"""What all plots share: fonts, colours that suit light and dark pages, logarithmic axes, files."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from textwrap import fill
from typing import TYPE_CHECKING, Any

from glimpse_envs.core.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which the colour-blind tell apart, but a grey for their black and Tol's
# olive for their yellow: each can be seen on white and on black.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#808080", "#999933",
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")

# Of text, axes and marks of references.
INK = "#777777"

DPI = 120

# Characters of a name at the end of a line, more of which are broken.
LABEL_WIDTH = 40

# A logarithm has no zero: an error of none in 10,000 episodes is drawn here, in percent.
LEAST_ERROR = 0.01

_SETTINGS: dict[Any, Any] = {
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "axes.titlecolor"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color", "grid.color"), INK),
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none"),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "grid.alpha": 0.25,
    "axes.grid": True,
    "legend.fontsize": 8.0,
    "svg.hashsalt": "glimpse_envs",  # so that the same figure gives the same file
}


@dataclass(frozen=True)
class LineStyle:
    """How one model, estimator or way is drawn in every panel."""

    colour: str
    marker: str
    dashes: str = "-"
    """A line style of matplotlib; "" draws no line."""
    filled: bool = True
    size: float = 4.5

    def line(self) -> dict[str, Any]:
        """Arguments of `Axes.plot`."""
        return {
            "color": self.colour,
            "linestyle": self.dashes,
            "linewidth": 1.5,
            "marker": self.marker,
            "markersize": self.size,
            "markerfacecolor": self.colour if self.filled else "none",
            "markeredgecolor": self.colour,
            "markeredgewidth": 1.1,
        }

    def variant(self, turn: int) -> LineStyle:
        """The style of the same model in other settings, by marker and shade; 0 is the style
        itself."""
        if turn == 0:
            return self
        marker = MARKERS[(MARKERS.index(self.marker) + turn) % len(MARKERS)]
        return replace(self, marker=marker, colour=_shade(self.colour, _SHADES[turn % 3]))


_SHADES = (-0.45, 0.4, -0.25)
"""Of a colour in its variants: the share of white, or, below 0, of black."""


def _shade(colour: str, share: float) -> str:
    from matplotlib.colors import to_hex, to_rgb

    other = 1.0 if share > 0 else 0.0
    red, green, blue = ((1 - abs(share)) * part + abs(share) * other for part in to_rgb(colour))
    return to_hex((red, green, blue))


Lines = Mapping[str, tuple[Sequence[float], Sequence[float], LineStyle]]
"""Name -> x, y and how they are drawn."""


def style_of(number: int) -> LineStyle:
    """The style of the line with a number; it comes again after eight."""
    turn = number % len(COLOURS)
    return LineStyle(COLOURS[turn], MARKERS[turn])


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches, drawn without a display."""
    from matplotlib import rcParams
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rcParams.update(_SETTINGS)
    figure = Figure(figsize=(width, height), layout="constrained", dpi=DPI)
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write an SVG, or another format by the suffix, whole or not at all."""
    image, kind = io.BytesIO(), Path(path).suffix.removeprefix(".")
    figure.savefig(image, format=kind, metadata={"Date": None} if kind == "svg" else None)
    write_atomically(Path(path), image.getvalue())


def add_legend(panel: Axes, *, below: bool = True) -> None:
    """Name the lines and marks of a panel that have a label, below its axis or at its right."""
    from matplotlib.transforms import ScaledTranslation

    handles, names = panel.get_legend_handles_labels()
    if not handles:
        return
    inches = (-0.1, -0.42) if below else (0.12, 0.0)
    figure = panel.get_figure(root=True)
    assert figure is not None
    panel.legend(
        handles,
        [fill(name, LABEL_WIDTH) for name in names],
        loc="upper left" if below else "center left",
        bbox_to_anchor=(0.0, 0.0) if below else (1.0, 0.5),
        bbox_transform=panel.transAxes + ScaledTranslation(*inches, figure.dpi_scale_trans),
        handlelength=2.4,
        labelspacing=0.3,
        borderaxespad=0.0,
        labelcolor=INK,
    )


@dataclass(frozen=True)
class EndLabel:
    """A name at the right of a panel, for what ends, or stands, at a place in it."""

    x: float
    y: float
    """`x` and `y` are data of the panel."""
    text: str
    colour: str = INK


def label_ends(panel: Axes, labels: Sequence[EndLabel], size: float = 7.5) -> None:
    """Write names at the right of a panel, none over another, each joined to its place.

    The panel's limits and scales must not change afterwards.
    """
    line = 1.25 * size / 72 * DPI / panel.bbox.height  # in heights of the panel
    to_axes = panel.transData + panel.transAxes.inverted()
    texts = [fill(label.text, LABEL_WIDTH) for label in labels]
    wanted = [float(to_axes.transform((label.x, label.y))[1]) for label in labels]
    order = sorted(range(len(labels)), key=wanted.__getitem__)
    sizes = [line * (1.1 + texts[index].count("\n")) for index in order]
    places = _spread([wanted[index] for index in order], sizes)
    for index, place in zip(order, places, strict=True):
        label = labels[index]
        panel.annotate(
            texts[index], (label.x, label.y), (1.06, place), textcoords="axes fraction",
            color=INK, fontsize=size, va="center", annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": label.colour, "linewidth": 1.0, "alpha": 0.9,
                        "shrinkA": 0.0, "shrinkB": 2.0, "relpos": (0.0, 0.5)},
        )  # fmt: skip


def _spread(wanted: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Middles of labels of these sizes, in order and without overlap, as near as may be to those
    wanted: labels that touch stand around the mean of where they were wanted."""
    blocks: list[tuple[list[float], list[float]]] = []  # wanted middles and sizes of such labels
    for middle, size in zip(wanted, sizes, strict=True):
        blocks.append(([middle], [size]))
        while len(blocks) > 1 and _bottom(*blocks[-2]) + sum(blocks[-2][1]) > _bottom(*blocks[-1]):
            middles, heights = blocks.pop()
            blocks[-1] = (blocks[-1][0] + middles, blocks[-1][1] + heights)
    places = []
    for middles, heights in blocks:
        edge = _bottom(middles, heights)
        for height in heights:
            places.append(edge + height / 2)
            edge += height
    return places


def _bottom(middles: Sequence[float], sizes: Sequence[float]) -> float:
    return fmean(middles) - sum(sizes) / 2


def draw_lines(panel: Axes, lines: Lines) -> None:
    """Plot lines, and write the name of each at its end."""
    for x, y, style in lines.values():
        panel.plot(x, y, **style.line())
    label_ends(panel, [EndLabel(x[-1], y[-1], n, s.colour) for n, (x, y, s) in lines.items()])


def scale_logarithmically(axis: Axis, low: float, high: float, most: int = 8) -> None:
    """Make `axis` logarithmic over [low, high], both above 0, with a little room on either side.

    Its ticks are plain numbers, three to `most` of them however narrow the range.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    room = max((high / low) ** 0.06, 1.08)
    low, high = low / room, high * room
    axes: Axes = axis.axes
    if axis is axes.xaxis:
        axes.set_xscale("log")
        axes.set_xlim(low, high)
    else:
        axes.set_yscale("log")
        axes.set_ylim(low, high)
    axis.set_major_locator(FixedLocator(log_ticks(low, high, most)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))


def log_ticks(low: float, high: float, most: int = 8) -> list[float]:
    """At most so many round numbers in [low, high], about evenly spaced on a logarithmic axis."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks: list[float] = []
    halves = tuple(half / 2 for half in range(2, 20))
    for digits in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8), halves):
        ticks = [d * 10.0**k for k in decades for d in digits if low <= d * 10.0**k <= high]
        if len(ticks) >= 4:
            return ticks[:: -(-len(ticks) // most)]
    return ticks if len(ticks) >= 2 else [low * (high / low) ** (k / 4) for k in (1, 2, 3)]


def plain(value: float) -> str:
    """A tick's number: 0.05, 20, 1.5 k, 300 M."""
    for suffix, size in ((" G", 1e9), (" M", 1e6), (" k", 1e3)):
        if value >= size * 0.9995:
            return f"{value / size:.3g}{suffix}"
    return f"{value:.3g}"
