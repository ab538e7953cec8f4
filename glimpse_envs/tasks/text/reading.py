"""Read a text statement by statement, and answer a question about it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.arguments import check_choice, check_numbers, check_slack
from glimpse_envs.core.arrays import Bools, Float32s, Ints
from glimpse_envs.core.keys import Keys
from glimpse_envs.core.memory import check_memory
from glimpse_envs.core.spaces import ordered
from glimpse_envs.sources import SPLITS
from glimpse_envs.task import Arrays, Component, Outcome, Reading, Rows, Task, rows_of
from glimpse_envs.tasks.answering import answer_component, outcome_of_answers
from glimpse_envs.tasks.encoding import box
from glimpse_envs.tasks.table.keyboard import table_keys
from glimpse_envs.tasks.text import find_text
from glimpse_envs.tasks.text.text import NOWHERE, Passages, Text
from glimpse_envs.tasks.text.words import Words

if TYPE_CHECKING:
    from glimpse_envs.rendering import TablePicture

_MOVES = ("later", "the same", "earlier")
"""What a look reads with `look="moves"`."""
_FEWEST_BITS = 8
"""Least number of bits of a statement's number: short and long texts have observations of one
shape."""


class ReadText(Task):
    """Read a text statement by statement, from its end, and answer a question about it.

    ## Description

    A text of n statements is hidden: "mary went to the garden", "john got the milk". A question
    about it stands in every observation: "where is mary". Each look reads one statement. The answer
    follows from one or a few of them, its facts, of which the last ones count: who looks for Mary
    reads back from the question, since she may have gone elsewhere later. Soft attention reads all
    statements at once, weighted by how they fit the question.

    ## Action Space

    A `Dict`:

    - `look`: which statement to read next. With `look="moves"` `Discrete(3)`: 0 one statement
      later, 1 the same one, 2 one earlier; beyond the text's ends the look stays. With
      `look="absolute"` `Discrete(S)`, its number, counted back from the question, 0 the last one; a
      number of n or more shows a blank.
    - `answer`, `Discrete(A + 1)`: 0 for no answer yet, or an answer; with `reward="final"`
      `Discrete(A)`, only answers.

    ## Observation Space

    A `Dict`:

    - `glimpse`, `MultiDiscrete` (W,): the words of the statement in view, 0 after the last. With
      `encoding="onehot"` float32 (W V,), each word one-hot.
    - `question`, `MultiDiscrete` (Q,): the words of the question, 0 after the last; or one-hot,
      (Q V,).
    - `location` (b,), float32: the bits of the number of the statement in view, least significant
      first; b is 8, or more where S is above 256.
    - `remaining` (1,), float32: glimpses left / budget.

    With `view="full"` there are only `scene`, `MultiDiscrete` (S, W) or float32 (S, W V), all
    statements, the last one first; and `question`.

    ## Rewards

    1 for the right answer. `glimpse_cost` is subtracted for every glimpse after the first. With
    `reward="final"` only the answer of the last step is rewarded.

    ## Episode End

    The first glimpse shows the last statement. An answer ends the episode, and so does a spent
    budget, without a reward; with `reward="final"` only the budget ends it. The budget is `slack`
    times n, rounded up: with `slack=2` a reader can go back to the text's beginning and return.
    Episodes are never truncated.

    ## Information

    After a step:

    - `target`: the right answer.
    - `target_mask`: whether an answer was scored.
    - `success`: whether it was right.

    Always:

    - `length`: n, the number of statements.
    - `target_statements` (F,): the numbers of the facts, then -1.
    - `scene`, in a fixed split: the text's number.
    - `waiting`, with `copies` of more than 1: whether the row waits because its episode has ended
      and that of a copy has not.

    ## References

    Weston et al., Towards AI-Complete Question Answering: A Set of Prerequisite Toy Tasks, 2015.
    Readers that attend softly are memory networks (Sukhbaatar et al., 2015).

    ## Version History

    v0: initial version.

    Args:
        text: "stories" (generated), "babi" (published files), or a class of any package,
            "module:Class", that extends `glimpse_envs.tasks.text.text.Text`. Its arguments are the
            task's too.
        split: "train" deals texts without end; "validation" and "test" are fixed.
        slack: the budget as a multiple of n, above 0.
        look: "moves" or "absolute".
        reward: "first": the first answer other than 0 is rewarded. "final": the last step's answer
            is rewarded, there is no answer 0, and answers are 0 ... A - 1.
        encoding: of words: "ids" or "onehot".
        view: "glimpse", or "full" for the whole text in one step.
        glimpse_cost: price of a glimpse, >= 0.
        **of_text: arguments of the text.

    Raises:
        ValueError: an argument is out of its range or does not fit the others.
        glimpse_envs.sources.SourceError: files of the text are missing or damaged (at
            the first reset).
    """

    how_to_play = (
        "Read back from the question, from the last statement on, until you know the answer."
    )
    view_arguments: ClassVar[frozenset[str]] = Task.view_arguments | {"slack", "encoding"}

    def __init__(
        self,
        *,
        text: str = "stories",
        split: str = "train",
        slack: float = 2.0,
        look: str = "moves",
        reward: str = "first",
        encoding: str = "ids",
        view: str = "glimpse",
        glimpse_cost: float = 0.0,
        **of_text: Any,
    ) -> None:
        check_choice("split", split, SPLITS)
        check_choice("look", look, ("absolute", "moves"))
        check_choice("reward", reward, ("first", "final"))
        check_choice("encoding", encoding, ("ids", "onehot"))
        check_choice("view", view, ("glimpse", "full"))
        check_numbers(0, slack=slack, glimpse_cost=glimpse_cost)
        if slack == 0:
            raise ValueError("slack=0 leaves no glimpse: it must be above 0")
        if view == "full" and glimpse_cost:
            raise ValueError("view='full' shows no glimpses: leave glimpse_cost")
        kind: Any = find_text(text)
        self._text: Text = kind(split=split, **of_text)
        self._full, self._moves = view == "full", look == "moves"
        self._words = Words(len(self._text.vocabulary), encoding == "onehot")
        self._answers_once, self.glimpse_cost = reward == "first", float(glimpse_cost)
        self._slack, self.levels = float(slack), self._text.levels
        statements, words, question, _ = self._text.shape
        check_slack(self._slack, statements)
        (self.budget,) = self._budgets_of(np.array([statements])).tolist()
        seen = (statements if self._full else 1) * words + question
        units = self._words.units
        check_memory(8 * (self.budget + statements * words + seen * units), budget=self.budget)
        self.address_bits = max(_FEWEST_BITS, (statements - 1).bit_length())
        self.components = self._make_components()
        self.observation_space = self._make_observation_space()
        if not self._full:
            self.reading = Reading(values=words * units, cells=1)

    @classmethod
    def parts(cls, arguments: Mapping[str, Any]) -> tuple[type, ...]:
        return (find_text(arguments.get("text", "stories")),)

    # --- spaces ------------------------------------------------------------------------------

    def _make_components(self) -> dict[str, Component]:
        answer = answer_component(self._text.answers, self._answers_once)
        if self._full:
            return {"answer": answer}
        names = _MOVES if self._moves else ()
        look = Component(spaces.Discrete(self._looks), effect="continuing", names=names)
        return {"look": look, "answer": answer}

    @property
    def _looks(self) -> int:
        """Number of looks to choose from."""
        return len(_MOVES) if self._moves else self._text.shape.statements

    def _make_observation_space(self) -> spaces.Dict:
        statements, words, question, _ = self._text.shape
        words_of = self._words.space
        if self._full:
            return ordered({"scene": words_of(statements, words), "question": words_of(question)})
        return ordered(
            {
                "glimpse": words_of(words),
                "question": words_of(question),
                "location": box(self.address_bits),
                "remaining": box(1),
            }
        )

    @property
    def chance(self) -> float:
        """Mean return of the most frequent answer, as early as it is rewarded."""
        return self._text.chance - self._price_of_waiting()

    @property
    def ceiling(self) -> float:
        """Mean return of the right answer; an upper bound where glimpses cost: after as many as
        the texts have facts at least, or the budget if that is less."""
        if not self._answers_once:
            return 1.0 - self._price_of_waiting()
        glimpses = min(self._text.fewest_facts, self.budget)
        price = self.glimpse_cost * (glimpses - 1)
        return 1.0 - min(price, 1.0 - self._text.chance)

    def _price_of_waiting(self) -> float:
        """Return what is paid until an answer is rewarded, on average over the texts."""
        if self._answers_once or not self.glimpse_cost:
            return 0.0
        budgets = self._budgets_of(self._text.lengths)
        return self.glimpse_cost * float(budgets.mean() - 1.0)

    def _budgets_of(self, lengths: Ints) -> Ints:
        """Return the budgets (m,) of texts of `lengths` (m,)."""
        if self._full:
            return np.ones(len(lengths), np.int64)
        # A product such as 1.1 * 10 must not be rounded up because of its last bit.
        return np.maximum(1, np.ceil(self._slack * lengths - 1e-9)).astype(np.int64)

    @property
    def num_scenes(self) -> int | None:
        return self._text.num_scenes

    # --- the episode -------------------------------------------------------------------------

    def allocate(self, num_envs: int, copies: int, taken: Ints) -> None:
        self._copies, self._taken = copies, taken
        self.budgets = np.full(num_envs, self.budget)
        self._dealt: Passages | None = None
        self._heads = np.zeros(num_envs, np.int64)
        self._answers = np.zeros(num_envs, np.int64)  # 0: none yet
        self._path = np.zeros((num_envs, self.budget), np.int64)

    def deal(self, groups: Rows, keys: Keys) -> None:
        if self._dealt is None:
            self._dealt = self._text.allocate(len(self.budgets) // self._copies)
        self._text.deal(groups, keys, self._dealt)
        rows = rows_of(groups, self._copies)
        self.budgets[rows] = self._budgets_of(self._passages.counts[self._read_by(rows)])
        self._heads[rows] = self._path[rows, 0] = self._answers[rows] = 0

    @property
    def _passages(self) -> Passages:
        assert self._dealt is not None, "no text is dealt yet"
        return self._dealt

    def _read_by(self, rows: Rows) -> Ints:
        """Return the texts (m,) that `rows` (m,) read."""
        return self._passages.which[rows // self._copies]

    def look(self, rows: Rows, actions: Arrays) -> None:
        chosen = actions["look"][rows]
        if self._moves:
            last = self._passages.counts[self._read_by(rows)] - 1
            chosen = np.clip(self._heads[rows] + chosen - 1, 0, last)
        self._heads[rows] = self._path[rows, self._taken[rows] - 1] = chosen

    def act(self, rows: Rows, actions: Arrays, last: Bools) -> Outcome:
        answers = actions["answer"][rows] + (not self._answers_once)
        targets = self._passages.answers[self._read_by(rows)] + 1
        self._answers[rows] = answers
        anytime = np.ones(len(rows), np.bool_)
        return outcome_of_answers(answers, targets, self._answers_once, last, anytime)

    def observe(self, rows: Rows, remaining: Float32s) -> Arrays:
        texts = self._read_by(rows)
        question = self._words.encode(self._passages.questions[texts])
        if self._full:
            scene = self._words.encode(self._passages.statements[texts])
            return {"scene": scene, "question": question}
        heads = self._heads[rows]
        return {
            "glimpse": self._words.encode(self._passages.statements[texts, heads]),
            "question": question,
            "location": (heads[:, None] >> np.arange(self.address_bits) & 1).astype(np.float32),
            "remaining": remaining,
        }

    def info(self, rows: Rows) -> Arrays:
        texts = self._read_by(rows)
        return {
            "length": self._passages.counts[texts],
            "target_statements": self._passages.facts[texts],
        }

    def keys_to_action(self) -> dict[tuple[int, ...], dict[str, Any]]:
        looks = None if self._full else self._looks
        return table_keys(
            looks,
            None,
            len(self._text.answers),
            int(self._answers_once),
            idle_address=_MOVES.index("the same") if self._moves else 0,
        )

    def oracle(self) -> Arrays:
        """Return the next actions that read the facts in turn and then answer, at the latest with
        the last glimpse, name -> (num_envs, ...)."""
        rows = np.arange(len(self._heads))
        texts = self._read_by(rows)
        answers = self._passages.answers[texts] + self._answers_once
        if self._full:
            return {"answer": answers}
        facts = self._passages.facts[texts]  # (num_envs, F)
        steps = np.arange(self.budget) < self._taken[:, None]
        read = ((facts[:, :, None] == self._path[:, None]) & steps[:, None]).any(axis=2)
        unread = ~read & (facts != NOWHERE)
        reads_on = unread.any(axis=1)
        wanted = np.where(reads_on, facts[rows, unread.argmax(axis=1)], self._heads)
        if self._answers_once:
            answers = np.where(reads_on & (self._taken < self.budgets), 0, answers)
        looks = 1 + np.sign(wanted - self._heads) if self._moves else wanted
        return {"look": looks, "answer": answers}

    # --- state and pictures ------------------------------------------------------------------

    def state_arrays(self) -> Arrays:
        return {"heads": self._heads, "answers": self._answers, "path": self._path}

    def state_bounds(self) -> dict[str, tuple[float, float]]:
        numbers = (0, self._text.shape.statements - 1)
        return {"heads": numbers, "path": numbers, "answers": (0, len(self._text.answers))}

    def sentence(self, words: NDArray[Any]) -> str:
        """Return words as they are observed, numbers (n,) or one-hot (n V,), as a sentence.

        Raises:
            ValueError: they are not of this form, but of a batch, for example.
        """
        from glimpse_envs.tasks.text.drawing import sentence_of

        return sentence_of(self._words.decode(words), self._text.vocabulary)

    def _readable(self, text: int) -> int:
        """Return how many numbers a look at a text can have, blank statements included."""
        if self._moves or self._full:
            return int(self._passages.counts[text])
        return self._text.shape.statements

    def picture(self, row: int, caption: str) -> "TablePicture":
        from glimpse_envs.tasks.text.drawing import picture_text

        text = int(self._read_by(np.array([row]))[0])
        path = self._path[row, : 0 if self._full else self._taken[row]].tolist()
        answer, readable = int(self._answers[row]), self._readable(text)
        return picture_text(self._text, self._passages, text, readable, path, answer, caption)
