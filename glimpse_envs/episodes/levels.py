"""Distributions over levels (lengths) of the next episodes, fixed or moved by a curriculum.

A distribution maps uniform random words to levels. The words come from each episode's own key, and
a curriculum keeps its state, so that a run resumes exactly.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from inspect import signature
from operator import index
from typing import Any, ClassVar

import numpy as np

from glimpse_envs.core.arguments import check_integers, is_number, shown
from glimpse_envs.core.arrays import Bools, Ints, Words
from glimpse_envs.core.classes import find_class

LEVEL_ARGUMENTS = ("length", "min_length")
"""Arguments with which a task sets the greatest and the least level that is dealt."""
WORDS = 3
"""Random words per level: they choose a mixture's part, the level, and the excess over C."""


class LevelDistribution(ABC):
    """Levels from `least` to `greatest`.

    Args:
        least, greatest: integers, 0 <= least <= greatest.

    Raises:
        ValueError: the arguments are not such integers.
    """

    name: ClassVar[str]

    def __init__(self, least: int, greatest: int) -> None:
        check_integers(0, least=least, greatest=greatest)
        if least > greatest:
            raise ValueError(f"least={least} must be at most greatest={greatest}")
        self.least, self.greatest = int(least), int(greatest)

    @property
    def settings(self) -> dict[str, Any]:
        """What it was made with, which a saved state must have in common with what loads it."""
        return {"name": self.name, "least": self.least, "greatest": self.greatest}

    @abstractmethod
    def draw(self, words: Words) -> Ints:
        """Return the levels (m,) that uniform random `words` (m, `WORDS`) stand for."""

    def record(self, levels: Ints, solved: Bools) -> None:  # noqa: B027  # fixed by default
        """Update the distribution with ended episodes of `levels` (m,), `solved` (m,) or not; one
        that is fixed does nothing."""

    def state_dict(self) -> dict[str, int]:
        """Return the state that `record` updates."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:  # noqa: B027
        """Restore what `state_dict` returned; one that is fixed has none."""


class UniformLevels(LevelDistribution):
    """Uniform over all levels, for ever."""

    name = "uniform"

    def draw(self, words: Words) -> Ints:
        return _uniform(words[:, 1], self.least, self.greatest)


class Curriculum(LevelDistribution):
    """Levels around a present one, C, which grows by one whenever enough episodes of level C were
    solved. It begins at `least`.

    Args:
        least, greatest: integers, 0 <= least <= greatest.
        solve_share: share of the episodes at level C that must be solved, in (0, 1].
        episodes: number of episodes of level C after which that share is taken; the count then
            begins again.

    Attributes:
        present: C.

    Raises:
        ValueError: an argument is out of its range.
    """

    def __init__(
        self, least: int, greatest: int, *, solve_share: float = 0.8, episodes: int = 200
    ) -> None:
        super().__init__(least, greatest)
        check_integers(1, episodes=episodes)
        if not is_number(solve_share) or not 0.0 < solve_share <= 1.0:
            raise ValueError(f"solve_share={solve_share!r} must be a number above 0, at most 1")
        self.solve_share, self.episodes = float(solve_share), int(episodes)
        self.present = self.least
        self._seen = self._solved = 0

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "solve_share": self.solve_share, "episodes": self.episodes}

    def record(self, levels: Ints, solved: Bools) -> None:
        """Count ended episodes of `levels` (m,), each `solved` (m,) or not; C may grow.

        Raises:
            ValueError: `solved` is not bool (m,); nothing changes.
        """
        levels, solved = np.asarray(levels), np.asarray(solved)
        if solved.dtype != np.bool_ or solved.shape != levels.shape:
            raise ValueError(
                f"solved is {solved.dtype} {solved.shape}; it must be bool {levels.shape}, True or "
                "False for each of the levels, such as success == 1"
            )
        at_present = levels == self.present
        self._seen += int(at_present.sum())
        self._solved += int((at_present & solved).sum())
        if self._seen < self.episodes:
            return
        if self._solved >= self.solve_share * self._seen - 1e-9:  # 0.55 * 100 is above 55
            self.present = min(self.present + 1, self.greatest)
        self._seen = self._solved = 0

    def state_dict(self) -> dict[str, int]:
        return {"present": self.present, "seen": self._seen, "solved": self._solved}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned.

        Raises:
            ValueError: `state` is not such a state; nothing changes.
        """
        try:
            present, seen, solved = (index(state[name]) for name in ("present", "seen", "solved"))
        except (KeyError, TypeError) as error:
            raise ValueError(f"no state of {type(self).__name__}: {shown(state)}") from error
        if not self.least <= present <= self.greatest or not 0 <= solved <= seen:
            raise ValueError(
                f"the state is of level {present}, with {solved} of {seen} episodes solved: the "
                f"level must be from {self.least} to {self.greatest}, and no more solved than seen"
            )
        self.present, self._seen, self._solved = present, seen, solved


class ThresholdLevels(Curriculum):
    """Uniform from `least` to C."""

    name = "threshold"

    def draw(self, words: Words) -> Ints:
        return _uniform(words[:, 1], self.least, self.present)


class MixtureLevels(Curriculum):
    """The mixture of Zaremba & Sutskever (2015, "Reinforcement Learning Neural Turing Machines"):
    10 % uniform over all levels, 25 % uniform from `least` to C + e, 65 % C + e, where e is
    geometric(1/2), starting at 0 here; C grows when the zero-one loss is at most 0.2."""

    name = "mixture"

    def draw(self, words: Words) -> Ints:
        part = words[:, 0] / 2.0**32
        # The zeros before a word's first one are geometric(1/2).
        beyond = 32 - np.ceil(np.log2(words[:, 2].astype(np.float64) + 1.0)).astype(np.int64)
        top = np.minimum(self.present + beyond, self.greatest)
        anywhere = _uniform(words[:, 1], self.least, self.greatest)
        below = _uniform(words[:, 1], self.least, top)
        return np.where(part < 0.10, anywhere, np.where(part < 0.35, below, top))


class NearestLevels(Curriculum):
    """C in 60 % of the episodes, uniform up to C in 30 %, and over all levels in 10 %; once C is
    `greatest`, always that. For levels that may be left behind once solved, such as first glimpses
    near a target."""

    name = "distance"

    def __init__(
        self, least: int, greatest: int, *, solve_share: float = 0.7, episodes: int = 1000
    ) -> None:
        super().__init__(least, greatest, solve_share=solve_share, episodes=episodes)

    def draw(self, words: Words) -> Ints:
        if self.present == self.greatest:
            return np.full(len(words), self.greatest, np.int64)
        part = words[:, 0] / 2.0**32
        anywhere = _uniform(words[:, 1], self.least, self.greatest)
        below = _uniform(words[:, 1], self.least, self.present)
        return np.where(part < 0.1, anywhere, np.where(part < 0.4, below, self.present))


LEVEL_DISTRIBUTIONS: dict[str, type[LevelDistribution]] = {
    kind.name: kind for kind in (UniformLevels, ThresholdLevels, MixtureLevels, NearestLevels)
}


def find_levels(
    name: str, solve_share: float | None = None
) -> Callable[[int, int], LevelDistribution]:
    """Return what makes the distribution called `name` from its least and its greatest level.

    Args:
        name: one of `LEVEL_DISTRIBUTIONS`, or "module:Class".
        solve_share: of a `Curriculum`, in (0, 1]; None for the distribution's own.

    Raises:
        ValueError: there is no such class, it does not extend `LevelDistribution`, or its module or
            a dependency of that is missing; or it takes no `solve_share`, and one is given.
    """
    known = dict.fromkeys(LEVEL_DISTRIBUTIONS, "")
    found: Any = LEVEL_DISTRIBUTIONS.get(name)
    kind = found or find_class("curriculum", name, LevelDistribution, known)
    if solve_share is None:
        return kind
    if "solve_share" not in signature(kind).parameters:
        raise ValueError(f"solve_share={solve_share}: curriculum={name!r} has no such argument")
    return partial(kind, solve_share=solve_share)


def _uniform(words: Words, least: int, greatest: int | Ints) -> Ints:
    """Integers from `least` to `greatest`, uniform but for a bias below 2**-32 of their count."""
    count = np.asarray(greatest - least + 1, np.uint64)
    return least + ((words * count) >> np.uint64(32)).astype(np.int64)
