"""Digit sequences: rows by their definition, answers in their turn, and chance by simulation."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from glimpse_envs import sources
from glimpse_envs.episodes.levels import UniformLevels
from glimpse_envs.tasks.pictures.sequence import DigitSequence
from glimpse_envs.testing import check_task
from glimpse_envs.vision.scenes.stage import Stage
from tests.support.episodes import Observation, make_vector, oracle, play

SEQUENCE = "Glimpse/DigitSequenceGlyphs-v0"
HEIGHT, WIDTH, SIDE, END = 54, 110, 20, 10


def stage_of(envs: Any) -> Stage:
    assert isinstance(envs.task, DigitSequence)
    return envs.task._stage


def boxes_of(envs: Any) -> Any:
    """The boxes in pixels (rows, 5, 4), NaN behind the last."""
    return stage_of(envs).boxes.copy()


def test_rows_hold_scaled_images_side_by_side() -> None:
    rows = 60
    envs = make_vector(SEQUENCE, rows, view="full", split="test", autoreset_mode="Disabled")
    observation, info = envs.reset(seed=3)
    images, labels = sources.load("glyphs", "test").images, sources.load("glyphs", "test").labels
    smaller = np.stack([shrunk(image[0]) for image in images[:rows]])
    assert set(info["length"]) == {1, 2, 3, 4, 5}
    for k, (scene, boxes, length) in enumerate(
        zip(observation["scene"][:, 0], boxes_of(envs), info["length"], strict=True)
    ):
        assert np.isnan(boxes[length:]).all()
        shown = np.rint(scene * 255).astype(int)
        x0, y0, x1, y1 = boxes[:length].T.astype(int)
        assert (x1 - x0 == SIDE).all()
        assert (y1 - y0 == SIDE).all()
        assert x0.min() >= 0
        assert x1.max() <= WIDTH
        assert y0.min() >= 0
        assert y1.max() <= HEIGHT
        gaps = x0[1:] - x1[:-1]
        assert ((gaps >= 0) & (gaps <= 2)).all()
        assert np.ptp(y0) <= 8
        first = shown[y0[0] : y1[0], x0[0] : x1[0]]
        assert np.abs(first - smaller[k]).max() <= 1, "the first image of scene k is image k"
        for left, top in zip(x0, y0, strict=True):
            shown[top : top + SIDE, left : left + SIDE] = 0
        assert not shown.any(), "nothing else is there"
    np.testing.assert_array_equal(envs.task.oracle()["answer"], labels[:rows])


def shrunk(image: Any) -> Any:
    """The area means of `image` (28, 28) in 20x20 squares: each of 20 equal pixels of its pixels is
    7 of 140."""
    fine = np.repeat(np.repeat(image.astype(float), SIDE, axis=0), SIDE, axis=1)  # (560, 560)
    return fine.reshape(SIDE, 28, SIDE, 28).mean(axis=(1, 3))


def test_answers_are_scored_in_their_turn_and_pay_alike() -> None:
    rows = 40
    envs = make_vector(SEQUENCE, rows, autoreset_mode="NextStep")
    envs.reset(seed=5)
    lengths = np.arange(rows) % 5 + 1
    _, info = envs.reset(options={"length": lengths})
    np.testing.assert_array_equal(info["length"], lengths)
    labels = stage_of(envs).labels.copy()
    playing = np.ones(rows, np.bool_)
    for step in range(1, 19):
        (present,) = np.nonzero(playing)
        actions = envs.task.oracle()
        if step % 3:  # what is answered out of turn is ignored
            actions["answer"] = (actions["answer"] + 1) % 11
        _, reward, terminated, truncated, info = envs.step(actions)
        turn = step // 3 - 1
        scored = step % 3 == 0
        assert (info["target_mask"][present] == scored).all()
        np.testing.assert_allclose(reward[present], scored / (lengths[present] + 1))
        if scored:
            ends = lengths[present] == turn
            padded = np.pad(labels, ((0, 0), (0, 1)))
            right = np.where(ends, END, padded[present, turn])
            np.testing.assert_array_equal(info["target"][present], right)
            np.testing.assert_array_equal(info["success"][present], ends)
            np.testing.assert_array_equal(terminated[present], ends)
            playing[present[ends]] = False
        else:
            assert not terminated[present].any()
        assert not truncated.any()
    assert not playing.any()


def test_remaining_does_not_tell_the_length() -> None:
    envs = make_vector(SEQUENCE, 5, autoreset_mode="NextStep")
    envs.reset(seed=1)
    observation, _ = envs.reset(options={"length": np.arange(1, 6)})
    for step in range(1, 6):
        np.testing.assert_allclose(observation["remaining"][:, 0], (18 - step) / 18)
        observation, _, terminated, _, _ = envs.step(envs.task.oracle())
        assert not terminated.any()


def test_lengths_are_uniform_or_those_of_a_curriculum() -> None:
    envs = make_vector(SEQUENCE, 1000, view="full")
    counts = np.bincount(envs.reset(seed=0)[1]["length"], minlength=6)
    assert counts[0] == 0
    assert np.abs(counts[1:] - 200).max() < 5 * np.sqrt(200)
    envs.level_distribution = UniformLevels(2, 3)
    assert set(envs.reset()[1]["length"]) == {2, 3}


def test_a_wrong_answer_ends_the_episode() -> None:
    rows = 30
    envs = make_vector(SEQUENCE, rows)

    def wrong_second(envs: Any, _: Observation) -> Any:
        actions = envs.task.oracle()
        if (envs.task._taken == 6).all():
            actions["answer"] = (actions["answer"] + 1) % 11
        return actions

    played = play(envs, envs.reset(seed=2)[0], wrong_second)
    lengths = envs.reset(seed=2)[1]["length"]
    np.testing.assert_array_equal(played.steps, 6)
    np.testing.assert_allclose(played.returns, 1 / (lengths + 1))
    assert not played.success.any()


def test_the_full_view_is_answered_at_every_step() -> None:
    envs = make_vector(SEQUENCE, 30, view="full")
    lengths = envs.reset(seed=2)[1]["length"]
    played = play(envs, envs.reset(seed=2)[0], oracle)
    np.testing.assert_array_equal(played.steps, lengths + 1)
    np.testing.assert_allclose(played.returns, 1.0)
    assert played.success.all()


def test_the_target_box_is_that_of_the_image_whose_turn_it_is() -> None:
    envs = make_vector(SEQUENCE, 8, autoreset_mode="NextStep")
    envs.reset(seed=1)
    _, info = envs.reset(options={"length": 2})
    boxes = boxes_of(envs)
    for step in range(1, 9):
        centre = (boxes[:, min((step - 1) // 3, 1), :2] + SIDE / 2) / (WIDTH / 2, HEIGHT / 2) - 1
        box = info["target_box"]
        np.testing.assert_allclose((box[:, :2] + box[:, 2:]) / 2, centre, atol=1e-6)
        observation, *_, info = envs.step(envs.task.oracle())
        looked = (boxes[:, min(step // 3, 1), :2] + SIDE / 2) / (WIDTH / 2, HEIGHT / 2) - 1
        np.testing.assert_allclose(observation["location"], looked, atol=1e-6)


@pytest.mark.parametrize(("least", "longest"), [(1, 1), (1, 3), (2, 3)])
def test_chance_is_that_of_the_best_of_all_blind_answers(least: int, longest: int) -> None:
    """By enumeration of all rows of two classes, and of all that could be answered."""
    classes, best = 2, 0.0
    for answers in product(range(classes + 1), repeat=longest + 1):
        returns = []
        for length in range(least, longest + 1):
            rows = [(*row, classes) for row in product(range(classes), repeat=length)]
            equal = [np.equal(row, answers[: length + 1]) for row in rows]
            right = [np.logical_and.accumulate(one).sum() for one in equal]
            returns.append(np.mean(right) / (length + 1))
        best = max(best, float(np.mean(returns)))
    images = np.zeros((2, 1, 8, 8), np.uint8)
    sources.from_arrays("two_blanks", train=(images, np.arange(2)))
    task = DigitSequence(source="two_blanks", image_size=8, min_length=least, length=longest)
    assert task.chance == pytest.approx(best, rel=1e-12)


@pytest.mark.learning
@pytest.mark.parametrize(
    "kwargs",
    [
        {"look": "tiles"},
        {"look": "relative", "max_move": 1.0},
        {"inside": True},
        {"history": True},
        {"view": "full"},
        {"split": "validation"},
        {"length": 1, "looks_per_answer": 1},
    ],
)
def test_other_arguments_keep_the_contract(kwargs: dict[str, Any]) -> None:
    check_task(SEQUENCE, **kwargs)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"length": 6}, "no room for length=6 .* length of at most 5, or a scene_width of .* 130"),
        ({"scene_width": 15}, "scene_width=15 has no room .*: choose a scene_width of at least"),
        ({"scene_size": 27}, "scene_size=27 is too low .* at least 28"),
        ({"image_size": 29}, "image_size=29 must be at most 28"),
        ({"min_length": 6}, "min_length=6 must be at most length=5"),
        ({"looks_per_answer": 0}, "looks_per_answer=0"),
    ],
)
def test_what_cannot_be_is_refused(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_vector(SEQUENCE, 1, **kwargs)
