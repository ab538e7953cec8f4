"""A synthetic record of how cost grows with the scene's side."""

from report.scaling import Milliseconds, ModelName, Scaling, ScalingPoint

NAMES = ("Reinforce LSTM, looks at cells", "Soft DRAW window LSTM", "Full view strong")
KEYS: tuple[ModelName, ...] = ("reinforce", "draw", "full_deep")
SIDES = (60, 120, 240, 480, 960)


def a_scaling() -> Scaling:
    """Hard attention's cost stays, the others' grows with the pixels."""
    points = []
    for side in SIDES:
        area = (side / 60) ** 2
        for key, name, reading, answering in zip(
            KEYS, NAMES, (0.02, 0.1 * area, 0.0), (0.3, 0.3, area), strict=True
        ):
            spent = Milliseconds(0.01 * area, reading, answering)
            update = Milliseconds(0.01 * area, 2 * reading, 3 * answering)
            error = min(90.0, 2.0 * side / 60)
            interval = (error - 1, error + 1)
            score = (1e6, error, interval, 2000)
            points.append(
                ScalingPoint(side, key, name, None, spent, update, *score, 32, 5000, 120.0)
            )
    return Scaling("Glimpse/ClutteredGlyphs-v0", 2.0, 0, "float32", "a core", "abc", tuple(points))
