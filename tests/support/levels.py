"""Curricula at a level, and the outcomes of their episodes."""

import numpy as np

from glimpse_envs.episodes.levels import Curriculum


def at_level(present: int, kind: type[Curriculum], least: int, greatest: int) -> Curriculum:
    """A curriculum that has come to the level `present`."""
    levels = kind(least, greatest)
    levels.load_state_dict({"present": present, "seen": 0, "solved": 0})
    return levels


def record(levels: Curriculum, level: int, solved: int, failed: int) -> None:
    outcome = np.arange(solved + failed) < solved
    levels.record(np.full(solved + failed, level), outcome)
