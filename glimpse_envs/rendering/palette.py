"""The colours of every picture that this package draws, as RGB in 0..255."""

Colour = tuple[int, int, int]

BACKGROUND: Colour = (21, 23, 29)
EDGE: Colour = (58, 62, 74)
TEXT: Colour = (238, 239, 242)
MUTED: Colour = (150, 155, 168)

# One colour per scale, finest first. Green and red are reserved for right and wrong answers.
SCALES: tuple[Colour, ...] = (
    (255, 190, 50),
    (60, 190, 255),
    (235, 100, 205),
    (160, 140, 255),
    (90, 215, 195),
    (75, 105, 255),
    (200, 204, 214),
)

PATH: Colour = (255, 150, 110)
PRESENT: Colour = (255, 84, 40)
HALO: Colour = (0, 0, 0)
BLACK: Colour = (0, 0, 0)

# Tapes and tables.
CELL: Colour = (40, 43, 53)
SLOT: Colour = (28, 30, 38)
WRITTEN: Colour = (60, 190, 255)
RELEVANT: Colour = (255, 190, 50)
TARGET: Colour = (240, 240, 80)

RIGHT: Colour = (72, 199, 116)
WRONG: Colour = (240, 82, 82)


def scale_colour(scale: int) -> Colour:
    """The colour of a scale's outline and of its glimpse; 0 is the finest scale."""
    return SCALES[scale % len(SCALES)]


def verdict_colour(verdict: bool | None) -> Colour:
    """Green for right, red for wrong, grey for no verdict yet."""
    if verdict is None:
        return MUTED
    return RIGHT if verdict else WRONG


def mix(colour: Colour, other: Colour, share: float) -> Colour:
    """Mix `share` (0 to 1) of `other` into `colour`."""
    red, green, blue = (
        round(one + share * (two - one)) for one, two in zip(colour, other, strict=True)
    )
    return red, green, blue
