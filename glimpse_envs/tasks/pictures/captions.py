"""Captions of composed scenes: a vocabulary, one sentence for each relation, and its equivalent."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glimpse_envs.core.arrays import Bools, Ints
from glimpse_envs.vision.scenes.image_layout import PAIRS, RELATIONS

NO_WORD = -1
_SUBJECT, _OBJECT = "SUBJECT", "OBJECT"
_FURTHER = ("is", "on", "of", "left", "right", "above", "below", "top", "bottom", ".")


@dataclass(frozen=True)
class Captions:
    """Sentences of at most `LENGTH` words over the classes' names and 12 further words.

    Args:
        kind: what a class names, such as "digit".
        classes: their names, each a word.
    """

    LENGTH = 12

    kind: str
    classes: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The vocabulary: the classes first, in their order."""
        return (*self.classes, "the", self.kind, *_FURTHER)

    @property
    def end(self) -> int:
        """Number of the word that ends a sentence."""
        return len(self.words) - 1

    @property
    def example(self) -> str:
        """A sentence."""
        relation, subject, thing = [RELATIONS.index("above")], [0], [len(self.classes) - 1]
        (words,) = self.write(np.array(relation), np.array(subject), np.array(thing))
        return self.text(words)

    @property
    def lengths(self) -> Ints:
        """Number of words in a sentence with each relation, (relations,)."""
        return np.array([len(self._sentence(relation)) for relation in RELATIONS])

    def _sentence(self, relation: str) -> list[str]:
        """The sentence of a relation, with its subject and object left open."""
        subject, thing = ["the", self.kind, _SUBJECT, "is"], ["the", self.kind, _OBJECT, "."]
        if relation in ("above", "below"):
            return [*subject, relation, *thing]
        where = ["on", "the", *relation.split()]
        return subject + where + (thing if relation in RELATIONS[:PAIRS] else ["."])

    @cached_property
    def _table(self) -> tuple[Ints, Bools]:
        """The sentences (relations, LENGTH), and where the subject and the object are left open in
        them, (2, relations, LENGTH)."""
        numbers = {word: len(self.classes) + i for i, word in enumerate(self.words[-12:])}
        table = np.full((len(RELATIONS), self.LENGTH), NO_WORD)
        blanks = np.zeros((2, *table.shape), np.bool_)
        for i, relation in enumerate(RELATIONS):
            for j, word in enumerate(self._sentence(relation)):
                table[i, j] = numbers.get(word, NO_WORD)
                blanks[:, i, j] = word == _SUBJECT, word == _OBJECT
        return table, blanks

    def write(self, relations: Ints, subjects: Ints, objects: Ints) -> Ints:
        """Return the sentences (m, LENGTH) for m relations, subjects and objects, padded with
        `NO_WORD`."""
        table, blanks = self._table
        of_subject, of_object = blanks[:, relations]
        written = np.where(of_subject, subjects[:, None], table[relations])
        return np.where(of_object, objects[:, None], written)

    def equivalent(self, relations: Ints, subjects: Ints, objects: Ints) -> Ints:
        """Return the sentences (m, LENGTH) that say the same with the object as subject; the same
        sentences if there is no object."""
        paired = relations < PAIRS
        return self.write(
            np.where(paired, relations ^ 1, relations),
            np.where(paired, objects, subjects),
            np.where(paired, subjects, objects),
        )

    def text(self, words: Ints) -> str:
        """Return `words` (k,) as text, without those that are `NO_WORD`."""
        return " ".join(self.words[word] for word in words.tolist() if word != NO_WORD)
