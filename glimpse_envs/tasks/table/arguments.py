"""The common arguments of all tables, and their checks."""

from dataclasses import dataclass

from glimpse_envs.core.arguments import check_choice, check_integers, check_lengths, check_numbers
from glimpse_envs.sources import SPLITS

_MOST_CELLS = 2**31


@dataclass(frozen=True, kw_only=True)
class TableArguments:
    """Arguments that all tables share.

    Args:
        cells: N, from 2 to 2**31; the addresses are 0 ... N - 1.
        values: V, at least 1.
        min_length, length: the least and the greatest length dealt, `least_length` <= `min_length`
            <= `length`.
        slack: budget / shortest solution, at least 1; the budget is rounded up.
        look: "discrete", an address below N; "bits", the bits of one, least significant first. An
            address of N or more shows an empty cell.
        reward: "first", the first answer other than 0 ends the episode; "final", every step takes
            one of the V values as an answer, and the last one is rewarded.
        view: "glimpse", or "full" for the whole table in one step.
        split: "train" deals new tables without end; "validation" and "test" have 10,000 each.
        glimpse_cost: price of a glimpse, >= 0; 0 in the full view.
        least_length: the least `min_length`.

    Raises:
        ValueError: an argument is out of range, or does not fit the others.
    """

    cells: int
    values: int
    min_length: int
    length: int
    slack: float
    look: str
    reward: str
    view: str
    split: str
    glimpse_cost: float
    least_length: int = 1

    def __post_init__(self) -> None:
        check_integers(2, cells=self.cells)
        if self.cells > _MOST_CELLS:
            raise ValueError(f"cells={self.cells} must be at most 2**31")
        check_integers(1, values=self.values)
        check_lengths(self.least_length, self.min_length, self.length)
        check_choice("look", self.look, ("discrete", "bits"))
        check_choice("reward", self.reward, ("first", "final"))
        check_choice("view", self.view, ("glimpse", "full"))
        check_choice("split", self.split, SPLITS)
        check_numbers(1, slack=self.slack)
        check_numbers(0, glimpse_cost=self.glimpse_cost)
        if self.view == "full" and self.glimpse_cost:
            raise ValueError("view='full' shows no glimpses: leave glimpse_cost")
