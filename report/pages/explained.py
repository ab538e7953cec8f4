"""The pictures of "Hard and soft attention, explained"; its text is written by hand."""

from functools import partial

from glimpse_envs.suite import SUITE
from report.figures import explained
from report.figures.environments import draw_windows
from report.page import Places, Published

FOLDER = "docs/explained"


def publish(places: Places) -> Published:
    """All pictures, drawn from the code alone."""
    row = SUITE["Glimpse/ClutteredGlyphs-v0"]
    return Published(
        figures={
            f"{FOLDER}/reading.svg": explained.draw_reading,
            f"{FOLDER}/gradients.svg": explained.draw_gradients,
            f"{FOLDER}/relaxations.svg": explained.draw_relaxations,
            f"{FOLDER}/bandwidths.svg": explained.draw_bandwidths,
            f"{FOLDER}/windows.png": partial(draw_windows, row, 300),
        },
        owned=f"{FOLDER}/*",
    )
