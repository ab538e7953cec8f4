"""Words with a question: a text says who is where, and one of them is asked for."""

from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.fixed_splits import num_scenes_of
from glimpse_envs.core.keys import Keys
from glimpse_envs.core.randomness import keyed_block
from glimpse_envs.task import Arrays, Component, Outcome, Reading, Rows, Task

if TYPE_CHECKING:
    from glimpse_envs.rendering import TablePicture

WORDS = ("", "Ann", "Bob", "Cem", "Dee", "attic", "barn", "cave")
PEOPLE, PLACES, SENTENCES = range(1, 5), range(5, 8), 3
_PURPOSES = 200, 202  # purposes of random words that no other task draws from


class WhoIsWhere(Task):
    """Three sentences of two words, a person and a place; the question names a person of the text.

    A look reads the word of a number, the first one first; an answer other than 0 ends the episode
    and pays 1 where it is the number of the right place.

    Args:
        split: "train", "validation" or "test".
    """

    budget = 2 * SENTENCES + 1
    reading = Reading(values=1, cells=1)
    observation_space = spaces.Dict(
        glimpse=spaces.MultiDiscrete([len(WORDS)]),
        question=spaces.MultiDiscrete([len(WORDS)]),
        location=spaces.Box(0.0, 1.0, (2 * SENTENCES,), np.float32),
        remaining=spaces.Box(0.0, 1.0, (1,), np.float32),
    )

    def __init__(self, *, split: str = "train") -> None:
        self._split = split
        look = Component(spaces.Discrete(2 * SENTENCES), effect="continuing")
        answer = Component(
            spaces.Discrete(len(PLACES) + 1),
            effect="scored",
            taught=True,
            entropy=False,
            optional=True,
        )
        self.components = {"look": look, "answer": answer}

    @property
    def chance(self) -> float:
        return 1 / len(PLACES)

    @property
    def ceiling(self) -> float:
        return 1.0

    @property
    def num_scenes(self) -> int | None:
        return num_scenes_of(self._split)

    def allocate(self, num_envs: int, copies: int, taken: NDArray[np.int64]) -> None:
        self._copies, self._taken = copies, taken
        self.budgets = np.full(num_envs, self.budget)
        self._texts = np.zeros((num_envs, 2 * SENTENCES), np.int64)
        self._asked, self._eyes, self._answers = np.zeros((3, num_envs), np.int64)

    def deal(self, groups: Rows, keys: Keys) -> None:
        streams = (keys.seeds, keys.streams, keys.episodes, keys.indices)
        for group in groups:
            words = np.array([*keyed_block(0, group, streams, _PURPOSES)], np.int64)
            random = np.random.default_rng(words)
            rows = slice(group * self._copies, (group + 1) * self._copies)
            self._texts[rows, ::2] = random.permutation(PEOPLE)[:SENTENCES]
            self._texts[rows, 1::2] = random.choice(PLACES, SENTENCES)
            self._asked[rows] = random.integers(SENTENCES)
            self._eyes[rows] = self._answers[rows] = 0

    @property
    def _targets(self) -> NDArray[np.int64]:
        rows = np.arange(len(self._asked))
        return self._texts[rows, 2 * self._asked + 1] - PLACES[0] + 1

    def act(self, rows: Rows, actions: Arrays, last: NDArray[np.bool_]) -> Outcome:
        self._answers[rows] = actions["answer"][rows]
        given, target = self._answers[rows] != 0, self._targets[rows]
        right = self._answers[rows] == target
        return Outcome(right.astype(np.float64), right, target, given, terminated=given)

    def look(self, rows: Rows, actions: Arrays) -> None:
        self._eyes[rows] = actions["look"][rows]

    def observe(self, rows: Rows, remaining: NDArray[np.float32]) -> Arrays:
        return {
            "glimpse": self._texts[rows, self._eyes[rows]][:, None],
            "question": self._texts[rows, 2 * self._asked[rows]][:, None],
            "location": np.eye(2 * SENTENCES, dtype=np.float32)[self._eyes[rows]],
            "remaining": remaining,
        }

    def info(self, rows: Rows) -> Arrays:
        return {"target_cell": 2 * self._asked[rows] + 1}

    def oracle(self) -> Arrays:
        evidence = 2 * self._asked + 1
        answers = np.where(self._eyes == evidence, self._targets, 0)
        return {"look": evidence, "answer": answers}

    def state_arrays(self) -> Arrays:
        return {"eyes": self._eyes, "answers": self._answers}

    def picture(self, row: int, caption: str) -> "TablePicture":
        from glimpse_envs.rendering import TablePicture

        answer, target = int(self._answers[row]), int(self._targets[row])
        place = PLACES[0] - 1
        return TablePicture(
            cells=tuple(WORDS[word] for word in self._texts[row]),
            addresses=tuple(range(2 * SENTENCES)),
            path=(int(self._eyes[row]),),
            written=frozenset(),
            query=f"where is {WORDS[self._texts[row, 2 * self._asked[row]]]}?",
            caption=caption,
            answer=WORDS[place + answer] if answer else None,
            target=WORDS[place + target],
            relevant=frozenset({int(2 * self._asked[row] + 1)}),
        )
