"""The price of glimpses of a table, and what it leaves: chance, ceiling, and when to guess."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Floats, Ints

Steps = Callable[[Ints], NDArray]
"""From lengths (m,) to numbers of steps (m,)."""


@dataclass(frozen=True)
class Pricing:
    """Mean returns of the best blind agent, which knows the length, and of the shortest solution.

    Args:
        values: V, of which one is right.
        glimpse_cost: the price of each glimpse after the first; 0 where all is seen at once.
        levels: the least and the greatest length, all alike likely.
        solution: steps of the shortest solution, on average.
        first_answer: the first step after which an answer can be right.
        all_of: steps of the whole budget, where all of them are paid for; None where an answer ends
            the episode.
    """

    values: int
    glimpse_cost: float
    levels: tuple[int, int]
    solution: Steps
    first_answer: Steps
    all_of: Steps | None

    @property
    def chance(self) -> float:
        """Mean return of one guessed value, answered as early as it can be right."""
        return 1.0 / self.values - float(self._spent_blindly().mean())

    @property
    def ceiling(self) -> float:
        """Mean return of the right value after the shortest solution, or after the whole budget
        where all of it is paid for; or of a guess, if that earns more. If glimpses cost, luck may
        earn more than this: early cells may leave little doubt about the rest."""
        steps = self.solution if self.all_of is None else self.all_of
        return 1.0 - float(np.minimum(self._price(steps), self._lost_blindly()).mean())

    def guessed_after(self, lengths: Ints) -> Ints:
        """Return the glimpse (m,) after which to guess at tables of `lengths` (m,); 0 where the
        solution is worth its price."""
        if not self.glimpse_cost or self.all_of is not None:
            return np.zeros_like(lengths)
        at = np.maximum(lengths - self.levels[0], 0)  # before the first reset no length is dealt
        guessing = (self._price(self.solution) > self._lost_blindly())[at]
        waits = (self._price(self.first_answer) <= 1.0 / self.values)[at]
        return np.where(guessing, np.where(waits, self.first_answer(lengths), 1), 0)

    def _lost_blindly(self) -> Floats:
        """Return what a blind answer falls short of 1 by, (lengths,)."""
        return 1.0 - 1.0 / self.values + self._spent_blindly()

    def _spent_blindly(self) -> Floats:
        """Return the least cost of a blind answer, (lengths,): the glimpses until it can be right,
        or 1 / V, the gain lost by a wrong answer at once."""
        if self.all_of is not None:
            return self._price(self.all_of)
        return np.minimum(self._price(self.first_answer), 1.0 / self.values)

    def _price(self, steps_of: Steps) -> Floats:
        """Return the price of the glimpses in `steps_of(lengths)` steps, (lengths,)."""
        least, greatest = self.levels
        return self.glimpse_cost * (steps_of(np.arange(least, greatest + 1)) - 1.0)
