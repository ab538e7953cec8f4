"""Pictures of tapes, tables and texts as plain data, for frames of any environment."""

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Strip:
    """One tape, its cells from left to right.

    Attributes:
        name: the label above it: "input", "memory", "output".
        cells: the text of each cell, "" for a blank.
        head: index of the cell under the head; -1 or `len(cells)` if the head is one cell beyond
            the left or right end; None for a tape without a head.
        written: indices of the cells that the agent wrote.
        good: for an output tape, whether each symbol put out, from the left, was right.
        seen: indices of the cells that are shown, all others being black; None: all.
        read_with_first: whether the head of the first tape reads this one too.

    Raises:
        ValueError: the head is farther outside, a written cell does not exist, or there are more
            verdicts than cells.
    """

    name: str
    cells: tuple[str, ...]
    head: int | None
    written: frozenset[int] = frozenset()
    good: tuple[bool, ...] = ()
    seen: frozenset[int] | None = None
    read_with_first: bool = False

    def __post_init__(self) -> None:
        count = len(self.cells)
        if self.head is not None and not -1 <= self.head <= count:
            raise ValueError(
                f"the head of the {self.name} tape of {count} cells must lie from -1 to {count}; "
                f"it is {self.head}"
            )
        missing = sorted(index for index in self.written if not 0 <= index < count)
        if missing:
            raise ValueError(
                f"written cells of the {self.name} tape must lie from 0 to {count - 1}; "
                f"there are no cells {missing}"
            )
        if len(self.good) > count:
            raise ValueError(
                f"the {self.name} tape has {len(self.good)} verdicts in `good` "
                f"for its {count} cells; it must have at most one a cell"
            )


@dataclass(frozen=True, eq=False)
class TapePicture:
    """One moment on tapes.

    Attributes:
        strips: at least one tape, from top to bottom; the first keeps its length in an episode.
        caption: one line of text.
        answer: the symbol put out last; None before the first.
        target: the next right symbol; None where none is left.
        hides_target: whether `target` is None though symbols may be left.

    Raises:
        ValueError: no tapes.
    """

    strips: tuple[Strip, ...]
    caption: str
    answer: str | None = None
    target: str | None = None
    hides_target: bool = False

    def __post_init__(self) -> None:
        if not self.strips:
            raise ValueError("a picture of tapes needs at least one strip; it got none")


@dataclass(frozen=True, eq=False)
class TablePicture:
    """One moment at a table.

    Attributes:
        cells: a short text for each cell shown ("k3:v7"), "" if it is empty; of a big table only
            those on the path.
        addresses: the address of each, all different, in the order of drawing.
        path: addresses read or written so far, in order; the last is the present one.
        written: addresses that the agent wrote.
        query: the query as text: "key 3", "5 hops from 17"; "" without one.
        caption: one line of text.
        answer: the agent's answer; None before it.
        target: the right answer; None while it is not known.
        relevant: addresses of the cells with the answer.
        unseen: addresses of cells that are black.
        whole: whether `cells` has all cells of the table rather than a selection.
        lines: whether the cells are lines of a text, one below the other.

    Raises:
        ValueError: the numbers of addresses and cells differ, an address stands twice, or the
            present cell is not among those shown.
    """

    cells: tuple[str, ...]
    addresses: tuple[int, ...]
    path: tuple[int, ...]
    written: frozenset[int]
    query: str
    caption: str
    answer: str | None = None
    target: str | None = None
    relevant: frozenset[int] = frozenset()
    unseen: frozenset[int] = frozenset()
    whole: bool = True
    lines: bool = False

    def __post_init__(self) -> None:
        if len(self.cells) != len(self.addresses):
            raise ValueError(
                f"every cell needs an address; there are {len(self.cells)} cells "
                f"and {len(self.addresses)} addresses"
            )
        if not self.cells:
            raise ValueError("a picture of a table needs at least one cell; it got none")
        if len(set(self.addresses)) < len(self.addresses):
            twice = sorted({a for a in self.addresses if self.addresses.count(a) > 1})
            raise ValueError(f"addresses must differ; {twice} stand more than once")
        if self.path and self.path[-1] not in self.addresses:
            raise ValueError(
                f"the present cell, {self.path[-1]}, must be among the addresses shown, "
                f"{self.addresses}"
            )
