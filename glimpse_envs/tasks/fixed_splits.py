"""Fixed splits of generated things: tapes and tables."""

from glimpse_envs.core.randomness import FIXED_SCENE, VALIDATION_SCENE

FIXED_SCENES = 10_000
"""Number of scenes in "validation" and in "test"."""


def num_scenes_of(split: str) -> int | None:
    """Return how many scenes `split` has; None in "train", which draws them for ever."""
    return None if split == "train" else FIXED_SCENES


def purpose_of(split: str) -> int:
    """Return the purpose of the random words from which a fixed split is drawn."""
    return VALIDATION_SCENE if split == "validation" else FIXED_SCENE
