"""Interface of what reading tasks hide: texts of statements, each with a question and an answer."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

from glimpse_envs.core.arrays import Ints
from glimpse_envs.core.keys import Keys

NOWHERE = -1
"""In `Passages.facts`: there is no further fact."""


class TextShape(NamedTuple):
    """The greatest sizes of a text.

    Args:
        statements: S, in a text.
        words: W, in a statement.
        question: Q, words of a question.
        facts: F, statements that an answer follows from.
    """

    statements: int
    words: int
    question: int
    facts: int


@dataclass(frozen=True)
class Passages:
    """P texts with a question each, and which of them each group of rows reads.

    Words are numbers of a vocabulary, whose word 0 is a blank. A statement's number is counted back
    from the question: 0 is the last one.

    Args:
        statements: (P, S, W) the words of each statement, the last one first; blanks follow those
            of a short statement, and blank statements the first of a short text.
        counts: (P,) number of statements.
        questions: (P, Q) words, then blanks.
        answers: (P,) numbers of the right answers.
        facts: (P, F) numbers of the statements that the answer follows from, in the order in which
            the text tells them, then `NOWHERE`.
        which: (groups,) the text of each group.
    """

    statements: Ints
    counts: Ints
    questions: Ints
    answers: Ints
    facts: Ints
    which: Ints


class Text(ABC):
    """A distribution of texts with questions.

    The constructor takes `split` ("train", "validation" or "test") and its own arguments, all by
    keyword; `gymnasium.make` passes on those that it names.

    Attributes:
        vocabulary: the words, of which the first, "", is the blank.
        answers: the names of the answers.
        shape: the greatest sizes.
        chance: share of the most frequent answer.
        fewest_facts: of any text.
        levels: the fewest and the most statements, where the number of statements is dealt; None
            where each text has its own.
        num_scenes: number of texts in a fixed split; None where they are drawn for ever.
    """

    vocabulary: tuple[str, ...]
    answers: tuple[str, ...]
    shape: TextShape
    chance: float
    fewest_facts: int
    levels: tuple[int, int] | None = None
    num_scenes: int | None

    @property
    @abstractmethod
    def lengths(self) -> Ints:
        """Numbers of statements that are equally frequent."""

    @abstractmethod
    def allocate(self, groups: int) -> Passages:
        """Return arrays in which `deal` sets the texts of `groups` groups; called before the first
        of them is dealt. Files are read here and not before."""

    @abstractmethod
    def deal(self, groups: Ints, keys: Keys, passages: Passages) -> None:
        """Set the texts of `groups` (m,) in `passages`, from their keys."""
