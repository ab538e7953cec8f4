"""Picture of the text that one row reads."""

from collections.abc import Sequence

from glimpse_envs.core.arrays import Ints
from glimpse_envs.rendering.tape_picture import TablePicture
from glimpse_envs.tasks.text.text import NOWHERE, Passages, Text

_DRAWN = 12
"""Pictures of longer texts show the facts and the statements read last."""


def sentence_of(words: Ints, vocabulary: Sequence[str]) -> str:
    """Return `words` (n,), numbers of the vocabulary, as a sentence without its blanks."""
    return " ".join(vocabulary[word] for word in words if word)


def picture_text(
    text: Text,
    passages: Passages,
    number: int,
    readable: int,
    path: list[int],
    answer: int,
    caption: str,
) -> TablePicture:
    """Return the picture of one row.

    Args:
        text: says what words and answers are called.
        passages: all texts.
        number: of the row's text among them.
        readable: how many numbers a look at it can have, blank statements included.
        path: numbers of the statements read so far, in order.
        answer: the answer given, counted from 1; 0 for none yet.
        caption: one line of text.
    """
    facts = passages.facts[number]
    relevant = facts[facts != NOWHERE].tolist()
    drawn = _drawn(min(_DRAWN, readable), relevant, path)
    lines = passages.statements[number]
    return TablePicture(
        cells=tuple(sentence_of(lines[back], text.vocabulary) for back in drawn),
        addresses=tuple(drawn),
        path=tuple(path),
        written=frozenset(),
        query=sentence_of(passages.questions[number], text.vocabulary) + "?",
        caption=caption,
        answer=text.answers[answer - 1] if answer else None,
        target=text.answers[passages.answers[number]],
        relevant=frozenset(relevant),
        whole=len(drawn) == readable,
        lines=True,
    )


def _drawn(count: int, facts: list[int], path: list[int]) -> list[int]:
    """Return the numbers of `count` statements, as many at every step, the first one first: the
    present one, the facts, those read last, and the text's end."""
    wanted = [*path[-1:], *facts, *path[::-1], *range(count)]
    return sorted(list(dict.fromkeys(wanted))[:count], reverse=True)
