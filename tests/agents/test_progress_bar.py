"""The progress bar of a training."""

from agents.training.progress_bar import ProgressBar


def test_the_error_follows_the_latest_updates() -> None:
    bar = ProgressBar(1_000, False, 10, 0, 0.0, shown=True)
    for update in range(31):
        error = 0.9 if update == 0 else 0.1
        bar.show(10 * (update + 1), update + 1.0, {"error": error, "glimpses": 5.0})
    bar.close()
    assert bar.smoothed is not None
    assert bar.smoothed < 0.15
