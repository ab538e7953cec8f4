"""The score of a policy, as numbers, as lines to read, and in a table with others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.evaluation.actions import Actions
from glimpse_envs.evaluation.scanpaths import ScanpathDiagnostics

# Success by glimpse is printed only for episodes of at most so many; more would fill the screen.
SHOWN_GLIMPSES = 32


@dataclass(frozen=True)
class Evaluation:
    """The score of one policy. Shares lie in [0, 1]; intervals are of 95 %."""

    env_id: str
    env_kwargs: dict[str, Any]
    split: str
    seed: int
    episodes: int
    """Number of episodes, each played once."""
    success: float | None
    """Share of episodes with success; None where the environment gives no success, as are
    all fields of success below."""
    success_interval: tuple[float, float] | None
    """Wilson's interval of `success`."""
    success_by_glimpse: tuple[float, ...]
    """(T,) share that is right after 1, 2, ... glimpses, an episode that has ended keeping its
    last answer; () where `success` is None."""
    mean_return: float
    return_interval: tuple[float, float] | None
    """Student's interval of `mean_return`; None with a single episode."""
    normalised_score: float = field(compare=False)  # NaN, which equals nothing, in foreign tasks
    """`mean_return` with the task's chance as 0 and ceiling as 1; NaN where these are unknown or
    equal."""
    mean_glimpses: float
    scanpaths: ScanpathDiagnostics | None
    """Where the policy looked; None where observations have no place (x, y), as in the full view.
    """
    scale: tuple[float, float] = field(compare=False)
    """The mean returns of the task's chance and ceiling; NaN where they are unknown."""
    returns: NDArray[np.float64] = field(repr=False, compare=False)
    """(episodes,) in the split's order, as all below."""
    successes: NDArray[np.bool_] | None = field(repr=False, compare=False)
    """(episodes,) whether each had success."""
    glimpses: NDArray[np.int64] = field(repr=False, compare=False)
    """(episodes,) number of glimpses taken."""
    locations: NDArray[np.float32] | None = field(repr=False, compare=False)
    """(episodes, T, 2) where each glimpse was taken, (x, y) in [-1, 1]; arbitrary after an
    episode's last glimpse. None where observations have no place."""
    actions: Actions = "likeliest"
    """Whether the likeliest actions were taken, or samples."""

    def summary(self) -> str:
        """A few lines for people, with the warnings of the scanpath diagnostics."""
        settings = "".join(f", {name}={value}" for name, value in self.env_kwargs.items())
        sampled = ", actions sampled" if self.actions == "sampled" else ""
        lines = [
            f"{self.env_id}{settings}: {self.episodes:,} {self.split} episodes, seed {self.seed}"
            f"{sampled}"
        ]
        if self.success is not None:
            lines.append(
                f"  success           {self._success()} %, 95 % interval {self._interval()}"
            )
        if 0 < len(self.success_by_glimpse) <= SHOWN_GLIMPSES:
            shares = (f"{100 * share:.2f}" for share in self.success_by_glimpse)
            lines.append(f"  by glimpse        {' '.join(shares)}")
        lines.append(f"  return            {_three(self.mean_return)}{self._return_interval()}")
        if not np.isnan(self.normalised_score):
            lines.append(f"  normalised        {_three(self.normalised_score)}")
        foreign = self.scanpaths is None and np.isnan(self.scale).all()  # nothing is glimpsed
        lines.append(f"  {'steps' if foreign else 'glimpses':18}{self.mean_glimpses:.2f}")
        if (gaze := self._chosen) is not None:
            on_target = ""
            if not np.isnan(gaze.share_on_target):
                on_target = f"{100 * gaze.share_on_target:.1f} % on target, "
            lines.append(
                f"  chosen looks      {on_target}coverage {100 * gaze.coverage:.0f} %, "
                f"spread {gaze.spread:.2f}, movement {gaze.movement:.2f}"
            )
            lines += [f"  warning: {warning}" for warning in gaze.warnings]
        return "\n".join(lines)

    @property
    def _chosen(self) -> ScanpathDiagnostics | None:
        """What is known of the looks; None where none was chosen, as the first glimpse is not."""
        return self.scanpaths if self.mean_glimpses > 1 else None

    def _cells(self) -> tuple[str, ...]:
        """Its line of `compare_table`."""
        share = np.nan if self._chosen is None else self._chosen.share_on_target
        return (
            self._success(),
            self._interval(),
            _three(self.mean_return),
            f"{self.mean_glimpses:.2f}",
            "" if np.isnan(share) else f"{100 * share:.1f}",
        )

    def _return_interval(self) -> str:
        """The interval of the return; "" where returns equal successes, 0 or 1. The interval of the
        success then says the same, and stays in that range, as Student's does not."""
        same = self.successes is not None and np.array_equal(self.returns, self.successes)
        if self.return_interval is None or same:
            return ""
        low, high = self.return_interval
        return f", 95 % interval {_three(low)} to {_three(high)}"

    def _success(self) -> str:
        return "" if self.success is None else f"{100 * self.success:.2f}"

    def _interval(self) -> str:
        if self.success_interval is None:
            return ""
        low, high = self.success_interval
        return f"{100 * low:.2f} to {100 * high:.2f}"


def _three(number: float) -> str:
    """`number` with three decimals; what rounds to 0 has no sign."""
    return f"{round(number, 3) + 0.0:.3f}"


def compare_table(evaluations: Mapping[str, Evaluation]) -> str:
    """An aligned table of the named evaluations, one per line, in the order given."""
    heads = ("", "success %", "95 % interval", "return", "glimpses", "% on target")
    return aligned([heads, *((name, *row._cells()) for name, row in evaluations.items())])


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """The rows of cells as lines of text: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for name, *cells in rows:
        justified = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        lines.append("  ".join([name.ljust(widths[0]), *justified]))
    return "\n".join(lines)
