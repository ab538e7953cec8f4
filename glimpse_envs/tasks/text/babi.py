"""bAbI's texts, read from their published files."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from glimpse_envs.core.arguments import check_choice, check_integers
from glimpse_envs.core.arrays import Ints
from glimpse_envs.core.keys import Keys
from glimpse_envs.sources import SPLITS
from glimpse_envs.sources.babi import QUESTIONS, Question, load_questions
from glimpse_envs.sources.babi_kinds import KINDS, WORDS, Kind
from glimpse_envs.tasks.text.text import NOWHERE, Passages, Text, TextShape

_VOCABULARY = ("", *WORDS.split())


class Babi(Text):
    """The questions of one kind of bAbI (Weston et al. 2015).

    Args:
        split: "validation" is the last 100 of the 1,000 published training questions, or, in kinds
            17, 18 and 20, the last 91 to 96, which are about other texts than the rest; "train"
            draws from the rest for ever; "test" is the 1,000 test questions.
        kind: of the questions, 1 (one fact) to 20 (motives). `chance` is that of the most frequent
            answer. In some kinds, 18 and 20 above all, the question alone tells more
            (`by_question` of `glimpse_envs.sources.babi_kinds`).

    Raises:
        ValueError: an argument is none of these.
        glimpse_envs.sources.SourceError: a file is missing or damaged (at the first reset).
    """

    vocabulary = _VOCABULARY

    def __init__(self, *, split: str = "train", kind: int = 1) -> None:
        check_choice("split", split, SPLITS)
        check_integers(1, kind=kind)
        if kind > len(KINDS):
            raise ValueError(f"kind={kind} must be from 1 to {len(KINDS)}")
        self._kind, self._split = int(kind), split
        about = KINDS[self._kind - 1]
        self.answers = tuple(about.answers.split())
        self.fewest_facts = about.fewest_facts
        self.shape = TextShape(about.statements, about.words, about.question, about.facts)
        held_out = about.validated
        texts = {"train": QUESTIONS - held_out, "validation": held_out, "test": QUESTIONS}[split]
        self.chance = about.commonest[SPLITS.index(split)] / texts
        self.num_scenes = None if split == "train" else texts

    @property
    def lengths(self) -> Ints:
        return texts_of(self._kind, self._split).counts

    def allocate(self, groups: int) -> Passages:
        return replace(texts_of(self._kind, self._split), which=np.zeros(groups, np.int64))

    def deal(self, groups: Ints, keys: Keys, passages: Passages) -> None:
        # Its kernel loads Numba, which whoever only describes a text does without.
        from glimpse_envs.tasks.text.choosing import choose_texts

        choose_texts(groups, keys.arrays, len(passages.answers), passages.which)


@cache
def texts_of(kind: int, split: str) -> Passages:
    """The texts of a split of a kind, 1 to 20.

    Raises:
        glimpse_envs.sources.SourceError: their file is missing or damaged.
    """
    questions = load_questions(kind, "test" if split == "test" else "train")
    about = KINDS[kind - 1]
    cut = QUESTIONS - about.validated
    of_split = slice(None, cut) if split == "train" else slice(cut, None)
    return _arrays(questions if split == "test" else questions[of_split], about)


def _arrays(questions: Sequence[Question], about: Kind) -> Passages:
    number_of = {word: number for number, word in enumerate(_VOCABULARY)}
    count, right = len(questions), about.answers.split()
    statements = np.zeros((count, about.statements, about.words), np.int64)
    asked = np.zeros((count, about.question), np.int64)
    facts = np.full((count, about.facts), NOWHERE)
    counts, answers = np.zeros((2, count), np.int64)
    for text, one in enumerate(questions):
        last = len(one.statements) - 1
        for back, words in enumerate(reversed(one.statements)):
            statements[text, back, : len(words)] = [number_of[word] for word in words]
        asked[text, : len(one.words)] = [number_of[word] for word in one.words]
        facts[text, : len(one.facts)] = [last - fact for fact in sorted(one.facts)]
        counts[text], answers[text] = last + 1, right.index(one.answer)
    for array in (statements, counts, asked, answers, facts):
        array.flags.writeable = False  # all environments share them
    return Passages(statements, counts, asked, answers, facts, which=np.zeros(0, np.int64))
