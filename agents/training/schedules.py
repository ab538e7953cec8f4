"""The progress of a training, and the learning rate and validations that depend on it."""

import math

from agents.training.learner import LoopConfig

DOUBLINGS = tuple(0.5**k for k in range(7, -1, -1))
"""Shares of a training at which it is validated where `validate_every` is 0."""


def cosine_decay(progress: float, warmup: float) -> float:
    """The learning rate at `progress` in [0, 1] as a share of the highest: a linear rise, then half
    a cosine down to 0."""
    if progress < warmup:
        return progress / warmup
    return 0.5 * (1 + math.cos(math.pi * (progress - warmup) / (1 - warmup)))


def share_done(config: LoopConfig, episodes: float, seconds: float) -> float:
    """The share of a training, in [0, 1], done by `episodes` and `seconds` of updates."""
    if config.minutes is not None:
        return min(1.0, seconds / (60 * config.minutes))
    return min(1.0, episodes / config.episodes)


def validation_due(config: LoopConfig, updates: int, done: float, validated: float) -> bool:
    """Whether a validation is due.

    Args:
        config: of the training.
        updates: number of updates so far.
        done: share of the training that is done, by `share_done`.
        validated: the same at the last validation; 0 before the first.
    """
    if done <= validated:
        return False
    if config.validate_every > 0:
        return updates % config.validate_every == 0 or done >= 1.0
    return any(validated < share <= done for share in DOUBLINGS)
