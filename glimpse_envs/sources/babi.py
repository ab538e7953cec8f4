"""bAbI's questions in their published format: numbered statements and questions, a story at a time.

Weston et al. (2015), "Towards AI-complete question answering: a set of prerequisite toy tasks". A
line is "4 Mary went to the hallway.", or, for a question, "5 Where is Mary?", a tab, the answer, a
tab, and the numbers of the statements that the answer follows from. Number 1 begins a story.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from glimpse_envs.sources.babi_kinds import MD5
from glimpse_envs.sources.examples import SourceError
from glimpse_envs.sources.files import VARIABLE, own_data, user_cache, verify

DATA = "babi"
ARCHIVE = "http://www.thespermwhale.com/jaseweston/babi/tasks_1-20_v1-2.tar.gz"
FOLDER = "en"
"""Folder of the published files, with 1,000 training questions of each kind."""
QUESTIONS = 1_000
"""Number of questions in each file."""
NAMES = (
    "single-supporting-fact",
    "two-supporting-facts",
    "three-supporting-facts",
    "two-arg-relations",
    "three-arg-relations",
    "yes-no-questions",
    "counting",
    "lists-sets",
    "simple-negation",
    "indefinite-knowledge",
    "basic-coreference",
    "conjunction",
    "compound-coreference",
    "time-reasoning",
    "basic-deduction",
    "basic-induction",
    "positional-reasoning",
    "size-reasoning",
    "path-finding",
    "agents-motivations",
)
"""Names of the kinds 1 to 20 in the names of files."""

_LINE = re.compile(r"(\d+) (.+)")
_ASKED = re.compile(r"(.+\?)\s*\t([^\t]+)\t([\d ]+)")

Statement = tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """One question and the text before it."""

    statements: tuple[Statement, ...]
    """The words of each, from the first statement to the last."""
    words: Statement
    """The words of the question."""
    answer: str
    facts: tuple[int, ...]
    """Indices of the statements that the answer follows from, as the file orders them."""


def load_questions(kind: int, part: str) -> list[Question]:
    """All questions of a kind, 1 to 20.

    Args:
        kind: of the questions, 1 to 20.
        part: "train" or "test".

    Raises:
        SourceError: the file is missing, or damaged.
    """
    path = find(kind, part)
    checksum = MD5[kind - 1][part == "test"]
    verify(path, f"md5:{checksum}", f"Fetch it again from {ARCHIVE}")
    return list(read_questions(path.read_text("utf-8"), str(path)))


def find(kind: int, part: str) -> Path:
    """The path of the file of a kind of questions, in `$GLIMPSE_DATA`, else in the user's cache.

    Raises:
        SourceError: there is none.
    """
    data = own_data()
    name = f"qa{kind}_{NAMES[kind - 1]}_{part}.txt"
    path = (user_cache() if data is None else data) / DATA / FOLDER / name
    if path.is_file():
        return path
    raise SourceError(
        f"{path} is missing. Unpack {ARCHIVE}, and put its folder {FOLDER} into "
        f"{path.parent.parent}, or into {DATA} in a folder that the environment variable "
        f"{VARIABLE} names."
    )


def read_questions(text: str, where: str) -> Iterator[Question]:
    """The questions of a file's text, in order; `where` names it in messages.

    Raises:
        SourceError: naming the line that is not as published.
    """
    told: dict[int, Statement] = {}
    for number, line in enumerate(text.splitlines(), 1):
        found = _LINE.fullmatch(line.strip())
        if found is None:
            raise _damaged(where, number, line)
        place = int(found[1])
        if place == 1:
            told = {}
        if "\t" not in found[2]:
            told[place] = _words(found[2])
            continue
        asked = _ASKED.fullmatch(found[2])
        places = list(told)
        facts = [] if asked is None else [int(fact) for fact in asked[3].split()]
        if asked is None or not facts or not told.keys() >= set(facts):
            raise _damaged(where, number, line)
        yield Question(
            tuple(told.values()),
            _words(asked[1]),
            asked[2].strip().lower(),
            tuple(places.index(fact) for fact in dict.fromkeys(facts)),
        )


def _words(sentence: str) -> Statement:
    return tuple(sentence.lower().rstrip("?. ").split())


def _damaged(where: str, number: int, line: str) -> SourceError:
    return SourceError(
        f"{where}, line {number}, is {line!r:.80}; it must be a number and a statement, or a "
        "number, a question, a tab, its answer, a tab and the numbers of earlier statements. Fetch "
        f"the file again from {ARCHIVE}."
    )
