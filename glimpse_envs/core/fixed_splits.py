"""Fixed splits of what is generated: tapes, tables and scenes without examples of their own."""

FIXED_SCENES = 10_000
"""Number of scenes in "validation" and in "test"."""


def num_scenes_of(split: str) -> int | None:
    """Return how many scenes `split` has; None in "train", which draws them for ever."""
    return None if split == "train" else FIXED_SCENES
