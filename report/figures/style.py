"""What all plots share: colours and markers, logarithmic axes with plain numbers, PNG files."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glimpse_envs.core.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which the colour-blind tell apart, black, and Tol's wine.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255",
)  # fmt: skip
# As many as are not a divisor of the colours: a pair comes again after 56 models only.
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STYLES = ("-", "--", "-.", ":")

# A logarithm has no zero: an error of none in 10,000 scenes is drawn here, in percent.
LEAST_ERROR = 0.01


@dataclass(frozen=True)
class Look:
    """How one model is drawn in every panel."""

    colour: str
    marker: str
    style: str
    """A line style; "" draws no line."""
    filled: bool = True
    size: float = 5.0

    def line(self) -> dict[str, Any]:
        """Arguments of `Axes.plot`."""
        return {
            "color": self.colour,
            "linestyle": self.style,
            "linewidth": 1.6,
            "marker": self.marker,
            "markersize": self.size,
            "markerfacecolor": self.colour if self.filled else "white",
            "markeredgecolor": self.colour,
            "markeredgewidth": 1.2,
        }


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches, drawn without a display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", dpi=120)
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a PNG, whole or not at all."""
    image = io.BytesIO()
    figure.savefig(image, format="png", metadata={"Software": None})
    write_atomically(Path(path), image.getvalue())


def scale_logarithmically(axis: Axis, low: float, high: float, unit: str = "") -> None:
    """Make `axis` logarithmic over [low, high], both above 0, with a little room on either side.

    Its ticks are plain numbers, three to eight of them however narrow the range.
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
    axis.set_major_locator(FixedLocator(log_ticks(low, high)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value) + unit))


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers in [low, high], about evenly spaced on a logarithmic axis."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks: list[float] = []
    halves = tuple(half / 2 for half in range(2, 20))
    for digits in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8), halves):
        ticks = [d * 10.0**k for k in decades for d in digits if low <= d * 10.0**k <= high]
        if len(ticks) >= 4:
            return ticks[:: -(-len(ticks) // 8)]
    return ticks if len(ticks) >= 2 else [low * (high / low) ** (k / 4) for k in (1, 2, 3)]


def plain(value: float) -> str:
    """A tick's number: 0.05, 20, 1.5 k, 300 M."""
    for suffix, size in ((" G", 1e9), (" M", 1e6), (" k", 1e3)):
        if value >= size * 0.9995:
            return f"{value / size:.3g}{suffix}"
    return f"{value:.3g}"
