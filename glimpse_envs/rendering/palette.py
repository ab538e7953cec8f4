"""The colours of every picture that this package draws, as RGB in 0..255."""

Colour = tuple[int, int, int]

BACKGROUND: Colour = (21, 23, 29)
EDGE: Colour = (58, 62, 74)
TEXT: Colour = (238, 239, 242)
MUTED: Colour = (150, 155, 168)

# One colour a scale, finest first. Green and red are kept for right and wrong answers.
SCALES: tuple[Colour, ...] = (
    (255, 190, 50),
    (60, 190, 255),
    (235, 100, 205),
    (160, 140, 255),
    (90, 215, 195),
)

PATH: Colour = (255, 150, 110)
PRESENT: Colour = (255, 84, 40)
HALO: Colour = (0, 0, 0)

RIGHT: Colour = (72, 199, 116)
WRONG: Colour = (240, 82, 82)


def scale_colour(scale: int) -> Colour:
    """The colour of a scale's outline and of its glimpse; 0 is the finest scale."""
    return SCALES[scale % len(SCALES)]


def verdict_colour(answer: str | None, target: str | None) -> Colour:
    """Green for a right answer, red for a wrong one, grey while either is unknown."""
    if answer is None or target is None:
        return MUTED
    return RIGHT if answer == target else WRONG
