"""How far a training is, and what follows from it: its rate of learning and its validations."""

import math

from agents.training.config import TrainingConfig

DOUBLINGS = tuple(0.5**k for k in range(7, -1, -1))
"""Shares of a training at which it is validated where `validate_every` is 0."""


def cosine_decay(progress: float, warmup: float) -> float:
    """The share of the highest learning rate at `progress` in [0, 1]: a linear rise, then half a
    cosine down to 0."""
    if progress < warmup:
        return progress / warmup
    return 0.5 * (1 + math.cos(math.pi * (progress - warmup) / (1 - warmup)))


def share_done(config: TrainingConfig, episodes: float, seconds: float) -> float:
    """How much of a training is done, in [0, 1], after so many episodes and seconds of updates."""
    if config.minutes is not None:
        return min(1.0, seconds / (60 * config.minutes))
    return min(1.0, episodes / config.episodes)


def validation_due(config: TrainingConfig, updates: int, done: float, validated: float) -> bool:
    """Whether a training is to be validated now.

    Args:
        config: of the training.
        updates: so far.
        done: share of the training that is done, by `share_done`.
        validated: the same at the last validation; 0 before the first.
    """
    if done <= validated:
        return False
    if config.validate_every > 0:
        return updates % config.validate_every == 0 or done >= 1.0
    return any(validated < share <= done for share in DOUBLINGS)
