"""The progress bar of a training."""

import sys
from collections.abc import Mapping

from tqdm import tqdm

from glimpse_envs.core.pipes import is_terminal


class ProgressBar:
    """Error or return, steps a second and the time left; in a log file, a line each half minute.

    Args:
        total: episodes or, where `timed`, seconds of the training.
        timed: whether the training's length is in seconds.
        batch: episodes an update.
        episodes, seconds: of earlier updates.
        shown: whether to show the bar.
    """

    def __init__(
        self, total: float, timed: bool, batch: int, episodes: int, seconds: float, shown: bool
    ) -> None:
        form = "{l_bar}{bar}| {elapsed} of wall time, {remaining} left{postfix}"
        self.bar = tqdm(
            desc="training time" if timed else "episodes",
            total=total, initial=min(seconds if timed else episodes, total),
            disable=not shown or sys.stderr is None,
            bar_format=form, mininterval=0.5 if is_terminal(sys.stderr) else 30.0,
        )  # fmt: skip
        self.timed, self.batch = timed, batch
        self.smoothed: float | None = None  # the error, or the return where there is no error
        self.episodes, self.seconds = episodes, seconds

    def show(self, episodes: int, seconds: float, metrics: Mapping[str, float]) -> None:
        """Show an update's `metrics` and the episodes and seconds so far."""
        if self.bar.disable:
            return
        latest = metrics["error"] if "error" in metrics else metrics["return"]
        if self.smoothed is None:
            self.smoothed = latest
        self.smoothed += 0.1 * (latest - self.smoothed)
        score = f"return {self.smoothed:.3g}"
        if "error" in metrics:
            score = f"error {100 * self.smoothed:.1f} %"
        rate = self.batch * metrics["glimpses"] / max(seconds - self.seconds, 1e-9)
        self.bar.set_postfix_str(f"{score}, {rate:,.0f} steps/s", refresh=False)
        self.bar.update(min(seconds - self.seconds if self.timed else episodes - self.episodes,
                            self.bar.total - self.bar.n))  # fmt: skip
        self.episodes, self.seconds = episodes, seconds

    def close(self) -> None:
        """Leave the bar as it stands."""
        self.bar.close()
