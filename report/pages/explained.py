"""The pictures of "Hard and soft attention, explained"; its text is written by hand."""

from report.figures import explained
from report.page import Places, Published

FOLDER = "docs/explained"


def publish(places: Places) -> Published:
    """All pictures, drawn from the code alone."""
    return Published(
        figures={
            f"{FOLDER}/reading.svg": explained.draw_reading,
            f"{FOLDER}/gradients.svg": explained.draw_gradients,
            f"{FOLDER}/relaxations.svg": explained.draw_relaxations,
            f"{FOLDER}/bandwidths.svg": explained.draw_bandwidths,
        },
        owned=f"{FOLDER}/*",
    )
