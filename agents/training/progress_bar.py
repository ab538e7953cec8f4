"""The progress bar of a training."""

from collections.abc import Mapping

from tqdm import tqdm


class ProgressBar:
    """Shows error or return, glimpses a second and the time left.

    Args:
        total: episodes to train on or, where the training is `timed`, seconds.
        timed: whether the clock says how far the training is.
        batch: episodes an update.
        episodes, seconds: done before.
        shown: whether there is a bar at all.
    """

    def __init__(
        self, total: float, timed: bool, batch: int, episodes: int, seconds: float, shown: bool
    ) -> None:
        form = "{l_bar}{bar}| {elapsed} < {remaining}{postfix}"
        self.bar = tqdm(
            total=total, initial=min(seconds if timed else episodes, total), disable=not shown,
            bar_format=form, mininterval=0.5,
        )  # fmt: skip
        self.timed, self.batch = timed, batch
        self.smoothed: float | None = None  # the error, or the return where there is no error
        self.episodes, self.seconds = episodes, seconds

    def show(self, episodes: int, seconds: float, metrics: Mapping[str, float]) -> None:
        """Move on to so many episodes and seconds in all, after an update with `metrics`."""
        if self.bar.disable:
            return
        latest = metrics.get("error", metrics["return"])
        if self.smoothed is None:
            self.smoothed = latest
        self.smoothed += 0.02 * (latest - self.smoothed)
        score = f"return {self.smoothed:.3g}"
        if "error" in metrics:
            score = f"error {100 * self.smoothed:.1f} %"
        rate = self.batch * metrics["glimpses"] / max(seconds - self.seconds, 1e-9)
        self.bar.set_postfix_str(f"{score}, {rate:,.0f} glimpses/s", refresh=False)
        self.bar.update(min(seconds - self.seconds if self.timed else episodes - self.episodes,
                            self.bar.total - self.bar.n))  # fmt: skip
        self.episodes, self.seconds = episodes, seconds

    def close(self) -> None:
        """Leave the bar as it stands."""
        self.bar.close()
