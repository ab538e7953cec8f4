"""Described scenes: what lies where, which sentences are right, and chance by enumeration."""

from typing import Any

import numpy as np
import pytest

from glimpse_envs import sources
from glimpse_envs.tasks.pictures.captions import Captions
from glimpse_envs.tasks.pictures.describe import DescribeScene
from glimpse_envs.testing import check_task
from glimpse_envs.vision.scenes.image_layout import RELATIONS
from tests.support.episodes import Observation, make_vector, oracle, play

DESCRIBE = "Glimpse/DescribeSceneGlyphs-v0"
SIZE, SIDE = 60, 28
DIGITS = Captions("digit", tuple("0123456789"))


def words_of(text: str) -> list[int]:
    return [DIGITS.words.index(word) for word in text.split()]


def labels_of(envs: Any) -> Any:
    """Relation, subject and object, (rows, 3)."""
    assert isinstance(envs.task, DescribeScene)
    return envs.task._stage.labels.copy()


def in_pixels(boxes: Any) -> Any:
    return np.rint((np.asarray(boxes, np.float64) + 1) / 2 * SIZE)


def read_sentence(text: str) -> tuple[str, str, str]:
    """Relation, subject and object of a sentence, "" for none, read word by word."""
    words = text.split()
    assert words[:2] == ["the", "digit"]
    assert words[3] == "is"
    assert words[-1] == "."
    digits = [word for word in words if word.isdecimal()]
    between = [word for word in words[4 : words.index(".")] if word not in ("on", "the", "digit")]
    relation = " ".join(word for word in between if not word.isdecimal())
    return relation, digits[0], digits[1] if len(digits) > 1 else ""


def test_the_vocabulary_has_22_words_and_sentences_are_the_papers() -> None:
    assert len(DIGITS.words) == len(set(DIGITS.words)) == 22
    texts = [
        DIGITS.text(DIGITS.write(*(np.array([part]) for part in (relation, 3, 7)))[0])
        for relation in range(8)
    ]
    assert texts[0] == "the digit 3 is on the left of the digit 7 ."
    assert texts[3] == "the digit 3 is below the digit 7 ."
    assert texts[6] == "the digit 3 is on the bottom left ."
    assert [len(text.split()) for text in texts] == DIGITS.lengths.tolist()
    assert max(DIGITS.lengths) == 12
    for relation, text in enumerate(texts):
        assert read_sentence(text) == (RELATIONS[relation], "3", "7" if relation < 4 else "")


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_a_scene_is_what_its_sentence_says(split: str) -> None:
    rows = 300
    envs = make_vector(DESCRIBE, rows, view="full", split=split, autoreset_mode="Disabled")
    observation, info = envs.reset(seed=1)
    examples = sources.load("glyphs", split)
    by_pixels = {image.tobytes(): int(label) for image, label in zip(
        examples.images[:, 0], examples.labels, strict=True)}  # fmt: skip
    boxes = in_pixels(info["target_box"])
    relations = []
    for scene, pair, label in zip(observation["scene"][:, 0], boxes, labels_of(envs), strict=True):
        pixels = np.rint(scene * 255).astype(np.uint8)
        (x, y), (other_x, other_y) = pair[:, :2]
        relation = RELATIONS[label[0]]
        relations.append(label[0])
        if label[0] < 4:
            across, down = np.sign(other_x - x), np.sign(other_y - y)
            apart = max(abs(other_x - x), abs(other_y - y))
            assert apart >= SIDE
            horizontal = abs(other_x - x) >= SIDE
            found = ("left of", "right of")[int(across < 0)] if horizontal else (
                ("above", "below")[int(down < 0)])  # fmt: skip
        else:
            assert np.isnan(pair[1]).all()
            found = f"{'top' if y < 16 else 'bottom'} {'left' if x < 16 else 'right'}"
        assert found == relation
        for (x0, y0, x1, y1), digit in zip(pair, label[1:], strict=True):
            if digit >= 0:
                window = slice(int(y0), int(y1)), slice(int(x0), int(x1))
                assert by_pixels[pixels[window].tobytes()] == digit
                pixels[window] = 0
        assert not pixels.any()
    assert set(relations) == set(range(8))


@pytest.mark.parametrize(
    ("kwargs", "held_out"),
    [
        ({}, {False}),
        ({"split": "validation"}, {True}),
        ({"split": "test"}, {True}),
        ({"combinations": "all"}, {False, True}),
        ({"split": "test", "combinations": "trained"}, {False}),
    ],
)
def test_held_out_combinations_are_the_tests_alone(
    kwargs: dict[str, Any], held_out: set[bool]
) -> None:
    envs = make_vector(DESCRIBE, 1500, view="full", **kwargs)
    envs.reset(seed=2)
    relations, subjects, objects = labels_of(envs).T
    pairs = [(p, c) for p, c in zip(relations, subjects, strict=True)]
    pairs += [(p ^ 1, c) for p, c in zip(relations, objects, strict=True) if c >= 0]
    assert {(p + c) % 5 == 0 for p, c in pairs} == held_out
    count = {frozenset({False}): 64, frozenset({True}): 16}.get(frozenset(held_out), 80)
    assert len(set(pairs)) == count


def play_sentences(envs: Any, sentences: Any) -> Any:
    """Write `sentences` (rows, 12), and return what the episodes came to."""

    def write(envs: Any, _: Observation) -> Any:
        rows = np.arange(len(sentences))
        position = np.clip(envs.task._taken - 1, 0, 11)
        return envs.task.oracle() | {"answer": np.maximum(sentences[rows, position], 0)}

    return play(envs, envs.reset(seed=4)[0], write)


def test_both_of_two_equivalent_sentences_are_right_and_no_other() -> None:
    rows = 400
    envs = make_vector(DESCRIBE, rows)
    envs.reset(seed=4)
    relations, subjects, objects = labels_of(envs).T
    own = DIGITS.write(relations, subjects, objects)
    other = DIGITS.equivalent(relations, subjects, objects)
    paired = relations < 4
    assert (own != other).any(axis=1)[paired].all()
    for sentences in (own, other):
        played = play_sentences(envs, sentences)
        assert played.success.all()
        np.testing.assert_array_equal(played.returns, 1.0)
        np.testing.assert_array_equal(played.steps, DIGITS.lengths[relations])
    swapped = DIGITS.write(relations, np.where(paired, objects, subjects), subjects)
    turned = DIGITS.write(relations ^ 1, subjects, objects)
    wrong_digit = DIGITS.write(relations, (subjects + 1) % 10, objects)
    differ = subjects != objects
    for sentences, wrong in ((swapped, paired & differ), (turned, ~paired | differ),
                             (wrong_digit, np.ones(rows, bool))):  # fmt: skip
        played = play_sentences(envs, sentences)
        np.testing.assert_array_equal(played.success, ~wrong)
        np.testing.assert_array_equal(played.returns, ~wrong)


@pytest.mark.parametrize("which", [0, 1])
def test_a_right_word_is_its_own_target(which: int) -> None:
    rows = 200
    envs = make_vector(DESCRIBE, rows, autoreset_mode="NextStep")
    _, info = envs.reset(seed=5)
    labels = labels_of(envs).T
    sentences = info["sentences"][:, which]
    np.testing.assert_array_equal(
        sentences, DIGITS.equivalent(*labels) if which else DIGITS.write(*labels)
    )
    playing = np.ones(rows, np.bool_)
    for step in range(12):
        words = np.maximum(sentences[:, step], 0)
        observation, _, ended, _, info = envs.step(envs.task.oracle() | {"answer": words})
        np.testing.assert_array_equal(info["target"][playing], words[playing])
        assert info["target_mask"][playing].all()
        last = observation["last_action"][playing]  # the terminal observation's too
        np.testing.assert_array_equal(last.argmax(axis=1), words[playing])
        assert (last.sum(axis=1) == 1).all()
        playing &= ~ended
    assert not playing.any()


def test_the_target_of_a_wrong_word_goes_on_with_the_sentence_so_far() -> None:
    rows, before = 400, 6  # "the digit 3 is on the", and then "left" or "right"
    babble = np.full(rows, DIGITS.words.index("the"))
    for which in (0, 1):
        envs = make_vector(DESCRIBE, rows, autoreset_mode="Disabled")
        _, info = envs.reset(seed=5)
        own, followed = info["sentences"][:, 0], info["sentences"][:, which]
        for words in followed[:, :before].T:
            envs.step(envs.task.oracle() | {"answer": words})
        relations, subjects, objects = labels_of(envs).T
        beside = (relations < 2) & (subjects != objects)
        *_, info = envs.step(envs.task.oracle() | {"answer": babble})
        np.testing.assert_array_equal(info["target"][beside], followed[beside, before])
        if which:
            assert (followed[beside, before] != own[beside, before]).all()
        *_, info = envs.step(envs.task.oracle() | {"answer": babble})
        np.testing.assert_array_equal(info["target"][beside], own[beside, before + 1])


def test_after_a_mistake_nothing_is_right_and_the_scenes_words_are_still_told() -> None:
    rows = 40
    envs = make_vector(DESCRIBE, rows, autoreset_mode="Disabled")
    envs.reset(seed=5)
    relations, subjects, objects = labels_of(envs).T
    own = DIGITS.write(relations, subjects, objects)
    babble = np.full(rows, DIGITS.words.index("the"))
    for step in range(12):
        _, reward, ended, _, info = envs.step(envs.task.oracle() | {"answer": babble})
        in_sentence = own[:, step] >= 0
        np.testing.assert_array_equal(info["target_mask"], in_sentence)
        np.testing.assert_array_equal(info["target"][in_sentence], own[in_sentence, step])
        assert not reward.any()
        assert not info["success"].any()
        assert ended.all() == (step == 11)


def test_a_full_stop_ends_the_episode() -> None:
    envs = make_vector(DESCRIBE, 5)
    envs.reset(seed=0)
    stop = {"look": np.zeros((5, 2)), "answer": np.full(5, DIGITS.end)}
    _, reward, terminated, truncated, _ = envs.step(stop)
    assert terminated.all()
    assert not truncated.any()
    assert not reward.any()


@pytest.mark.parametrize("combinations", ["trained", "new", "all"])
def test_chance_is_that_of_the_best_sentence(combinations: str) -> None:
    """The share of many scenes of which the most frequent sentence is right."""
    task = DescribeScene(combinations=combinations)
    chance = {"trained": 1 / 8 / 8, "new": 1 / 8 / 2, "all": 1 / 8 / 10}[combinations]
    assert task.chance == pytest.approx(chance)
    rows = 6000
    envs = make_vector(DESCRIBE, rows, combinations=combinations, glimpse_size=2, scales=1)
    envs.reset(seed=9)
    labels = labels_of(envs).T
    texts = np.concatenate([DIGITS.write(*labels), DIGITS.equivalent(*labels)])
    corner = labels[0] >= 4
    texts[rows:][corner] = -1  # alike: not twice
    _, counts = np.unique(texts[texts[:, 0] >= 0], axis=0, return_counts=True)
    error = np.sqrt(chance / rows)
    assert counts.max() / rows == pytest.approx(chance, abs=4.5 * error)


def test_the_full_view_is_described_word_by_word() -> None:
    envs = make_vector(DESCRIBE, 30, view="full")
    played = play(envs, envs.reset(seed=2)[0], oracle)
    assert played.success.all()
    assert set(played.steps) <= {9, 12}


@pytest.mark.learning
@pytest.mark.parametrize(
    "kwargs",
    [
        {"look": "tiles"},
        {"look": "relative"},
        {"inside": True},
        {"history": True},
        {"view": "full"},
        {"split": "test"},
        {"combinations": "all"},
        {"source": "fashion_mnist"},
    ],
)
def test_other_arguments_keep_the_contract(kwargs: dict[str, Any]) -> None:
    if kwargs.get("source"):
        try:
            sources.load(kwargs["source"], "train")
        except sources.SourceError as error:
            pytest.skip(f"files are absent: {error}")
    check_task(DESCRIBE, **kwargs)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"scene_size": 55}, "scene_size=55 has no room for two 28x28 images .* at least 56"),
        ({"combinations": "some"}, "combinations='some' must be one of 'trained', 'new', 'all'"),
        ({"split": "dev"}, "split"),
        ({"source": "three_blanks"}, "needs a source of at least 5 classes.* has 3: choose"),
    ],
)
def test_what_cannot_be_is_refused(kwargs: dict[str, Any], message: str) -> None:
    images = np.zeros((3, 1, 8, 8), np.uint8)
    sources.from_arrays("three_blanks", train=(images, np.arange(3)))
    with pytest.raises(ValueError, match=message):
        make_vector(DESCRIBE, 1, **kwargs)
