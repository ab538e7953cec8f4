"""Stories: who goes where, and who takes and drops what, told in generated statements."""

import numpy as np

from glimpse_envs.core.arguments import check_choice, check_integers, check_lengths
from glimpse_envs.core.arrays import Ints
from glimpse_envs.core.fixed_splits import num_scenes_of
from glimpse_envs.core.keys import Keys
from glimpse_envs.sources import SPLITS
from glimpse_envs.tasks.text.story_words import PLACES, VOCABULARY, WORDS
from glimpse_envs.tasks.text.text import NOWHERE, Passages, Text, TextShape


class Stories(Text):
    """Generated stories, after the first two kinds of questions of bAbI; they need no files.

    Args:
        split: "train" draws stories for ever; "validation" and "test" have 10,000 each.
        facts: how many statements an answer follows from. 1: people go to places, and the question
            is where one of them is, the place of the last statement about that person. 2: they also
            take and drop things, and the question is where a thing is: where its holder is, or was
            when it was dropped.
        min_length: the fewest statements of a story, at least `facts`.
        length: the most statements of a story.

    Raises:
        ValueError: an argument is out of its range.
    """

    levels: tuple[int, int]

    def __init__(
        self,
        *,
        split: str = "train",
        facts: int = 1,
        min_length: int = 2,
        length: int = 10,
    ) -> None:
        check_choice("split", split, SPLITS)
        check_integers(1, facts=facts)
        if facts > 2:
            raise ValueError(f"facts={facts} must be 1 or 2")
        check_lengths(int(facts), min_length, length)
        self._facts, self.levels = int(facts), (int(min_length), int(length))
        self.vocabulary, self.answers = VOCABULARY, PLACES
        self.shape = TextShape(int(length), WORDS, 2 + facts, self._facts)
        self.chance = 1.0 / len(PLACES)
        self.fewest_facts = self._facts
        self.num_scenes = num_scenes_of(split)

    @property
    def lengths(self) -> Ints:
        return np.arange(self.levels[0], self.levels[1] + 1)

    def allocate(self, groups: int) -> Passages:
        statements, words, question, facts = self.shape
        return Passages(
            statements=np.zeros((groups, statements, words), np.int64),
            counts=np.ones(groups, np.int64),
            questions=np.zeros((groups, question), np.int64),
            answers=np.zeros(groups, np.int64),
            facts=np.full((groups, facts), NOWHERE),
            which=np.arange(groups),
        )

    def deal(self, groups: Ints, keys: Keys, passages: Passages) -> None:
        # Its kernels load Numba, which whoever only describes a text does without.
        from glimpse_envs.tasks.text.story_kernels import deal_stories

        passages.counts[groups] = keys.levels[groups]
        told = (passages.counts, passages.statements)
        asked = (passages.questions, passages.answers, passages.facts)
        deal_stories(groups, keys.arrays, self._facts == 2, told, asked)
