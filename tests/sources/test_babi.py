"""bAbI's files are read as published, and a damaged one is an error that names the line."""

import shutil
from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from glimpse_envs.sources import SPLITS, SourceError
from glimpse_envs.sources.babi import Question, load_questions, read_questions
from glimpse_envs.sources.babi_kinds import KINDS, WORDS
from glimpse_envs.sources.files import VARIABLE, own_data
from glimpse_envs.tasks.text.babi import Babi, texts_of
from glimpse_envs.tasks.text.reading import ReadText
from glimpse_envs.tasks.text.text import NOWHERE
from tests.support.episodes import make_single, make_vector

BABI = "Glimpse/Babi-v0"
FILE = """1 Mary moved to the bathroom.
2 John went to the hallway.
3 Where is Mary? \tbathroom\t1
4 Daniel went back, then, to the hallway.
5 Where is Daniel?\tHallway\t4 1 4
1 Cats are afraid of wolves.
2 What is it afraid of?\twolf,cat\t1
"""


@pytest.fixture
def published() -> Path:
    data = own_data()
    if data is None or not (data / "babi").is_dir():
        pytest.skip("bAbI's files are absent")
    return data / "babi" / "en"


def test_a_question_has_the_statements_before_it_in_its_story() -> None:
    first, second, third = read_questions(FILE, "file")
    mary, john = (
        ("mary", "moved", "to", "the", "bathroom"),
        ("john", "went", "to", "the", "hallway"),
    )
    assert first == Question((mary, john), ("where", "is", "mary"), "bathroom", (0,))
    daniel = ("daniel", "went", "back,", "then,", "to", "the", "hallway")
    assert second.statements == (mary, john, daniel)
    assert (second.answer, second.facts) == ("hallway", (2, 0))
    assert third.statements == (("cats", "are", "afraid", "of", "wolves"),)
    assert third.answer == "wolf,cat"


@pytest.mark.parametrize(
    "line",
    [
        "Mary moved to the bathroom.",
        "2",
        "2 Where is Mary?\tbathroom",
        "2 Where is Mary?\tbathroom\t",
        "2 Where is Mary?\tbathroom\t7",
        "2 Where is Mary\tbathroom\t1",
        "",
    ],
)
def test_a_damaged_line_is_named(line: str) -> None:
    text = f"1 Mary moved to the bathroom.\n{line}\n"
    with pytest.raises(SourceError, match=r"file, line 2, is .* it must be a number and"):
        list(read_questions(text, "file"))


def test_nothing_is_read_before_the_first_reset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    texts_of.cache_clear()
    env = gym.make(BABI, kind=2)
    missing = r"qa2_two-supporting-facts_train.txt is missing. Unpack http.*put its folder en into"
    with pytest.raises(SourceError, match=missing):
        env.reset(seed=0)
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(SourceError, match=missing):
        env.reset(seed=0)


def test_a_file_that_was_cut_short_or_changed_is_refused(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(published, tmp_path / "babi" / "en")
    path = tmp_path / "babi" / "en" / "qa1_single-supporting-fact_train.txt"
    content = path.read_text()
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    for changed in (content[:-30], content.replace("kitchen", "cellar")):
        texts_of.cache_clear()
        path.write_text(changed)
        with pytest.raises(SourceError, match=r"qa1_.*train.txt is damaged or another version"):
            make_single(BABI).reset(seed=0)
    texts_of.cache_clear()


@pytest.mark.parametrize("kind", range(1, 21))
def test_words_sizes_and_answers_are_those_of_the_files(kind: int, published: Path) -> None:
    about = KINDS[kind - 1]
    everything = [*load_questions(kind, "train"), *load_questions(kind, "test")]
    sentences = chain.from_iterable((*one.statements, one.words) for one in everything)
    assert set(chain.from_iterable(sentences)) <= set(WORDS.split())
    assert {one.answer for one in everything} == set(about.answers.split())
    assert about.statements == max(len(one.statements) for one in everything)
    assert about.words == max(len(words) for one in everything for words in one.statements)
    assert about.question == max(len(one.words) for one in everything)
    counts = [len(one.facts) for one in everything]
    assert (about.fewest_facts, about.facts) == (min(counts), max(counts))
    for split in SPLITS:
        told = texts_of(kind, split).facts
        assert ((told[:, 1:] < told[:, :-1]) | (told[:, 1:] == NOWHERE)).all(), "as told"
        answers = texts_of(kind, split).answers
        text = Babi(kind=kind, split=split)
        assert text.chance == np.bincount(answers).max() / len(answers)
        assert (text.num_scenes or 1000 - about.validated) == len(answers)


@pytest.mark.parametrize("kind", range(1, 21))
def test_validation_begins_with_a_text_of_which_training_asks_nothing(
    kind: int, published: Path
) -> None:
    questions = load_questions(kind, "train")
    cut = 1000 - KINDS[kind - 1].validated
    before, first = questions[cut - 1].statements, questions[cut].statements
    assert first[: len(before)] != before, "a later question of the same text"
    assert 900 <= cut < 910


@pytest.mark.parametrize("kind", range(1, 21))
def test_what_the_question_alone_tells_is_told(kind: int, published: Path) -> None:
    about = KINDS[kind - 1]
    trained = load_questions(kind, "train")[: 1000 - about.validated]
    known: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for one in trained:
        known[one.words][one.answer] += 1
    usual = Counter(one.answer for one in trained)
    right = [
        known.get(one.words, usual).most_common(1)[0][0] == one.answer
        for one in load_questions(kind, "test")
    ]
    assert about.by_question == sum(right)


def test_scene_k_is_question_k_and_training_draws_from_the_first_900(published: Path) -> None:
    questions = load_questions(1, "test")
    envs = make_vector(BABI, 1000, split="test", view="full")
    observation, info = envs.reset(seed=0, options={"scene": np.arange(1000)})
    task = envs.task
    assert isinstance(task, ReadText)
    np.testing.assert_array_equal(info["scene"], np.arange(1000))
    for row in (0, 17, 999):
        one, count = questions[row], info["length"][row]
        assert task.sentence(observation["question"][row]).split() == list(one.words)
        lines = [task.sentence(words).split() for words in observation["scene"][row]]
        assert lines[:count] == [list(words) for words in one.statements[::-1]]
        facts = [count - 1 - fact for fact in info["target_statements"][row]]
        assert facts == list(one.facts)
    envs = make_vector(BABI, 20_000)
    envs.reset(seed=0)
    task = envs.task
    assert isinstance(task, ReadText)
    drawn = np.bincount(task._passages.which)
    assert len(drawn) == 900
    assert drawn.min() > 0
