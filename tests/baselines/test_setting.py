"""Settings hold what the environments' own spaces say, at the trained length and beyond it."""

import gymnasium as gym
import pytest
from gymnasium import spaces

from baselines import setting as setting_module
from baselines.setting import Setting
from glimpse_envs.episodes.description import Description
from glimpse_envs.task import Component
from tests.support.baselines import Changes
from tests.support.episodes import CENTRED, CIRCLE_SQUARE


def test_a_picture_is_that_of_the_glimpses() -> None:
    kwargs: Changes = {"budget": 3, "glimpse_size": 7, "history": False, "stop": True}
    setting = Setting.of(CENTRED, {**kwargs, "view": "full"})
    picture = setting.picture
    assert (picture.view.scene_shape, picture.budget, setting.num_answers) == ((1, 28, 28), 3, 10)
    assert picture.glimpse_shape == (1, 7, 7)
    assert not setting.every_answer_counts
    assert not setting.answers_in_sequence
    assert Setting.of(CIRCLE_SQUARE, {}).every_answer_counts, "its reward is dense"


@pytest.mark.parametrize(
    ("env_id", "kwargs", "expected"),
    [
        ("Copy", {"length": 4}, (4, 4, 1.0)),
        ("RepeatCopy", {"length": 4, "repeats": 3}, (5, 12, 3.0)),
        ("DuplicatedInput", {"length": 4, "duplicates": 2}, (8, 4, 0.5)),
        ("Addition", {"length": 4}, (8, 5, 0.5)),
        ("PrioritySort", {"length": 4}, (4, 4, 1.0)),
    ],
)
def test_settings_are_those_of_longer_tapes_too(
    env_id: str, kwargs: Changes, expected: tuple[int, int, float]
) -> None:
    env_id = f"Glimpse/{env_id}-v0"
    setting = Setting.of(env_id, kwargs)
    tape = setting.sequence
    assert (tape.cells, tape.outputs, tape.outputs_per_cell) == expected
    longer = Setting.of(env_id, {**kwargs, "length": 24})
    assert tape.steps(longer.sequence.cells) == longer.sequence.outputs
    assert setting.num_answers == longer.num_answers
    assert setting.answers_in_sequence


@pytest.mark.parametrize(("encoding", "units", "words"), [("ids", 1, 26), ("onehot", 26, 0)])
def test_a_text_is_answered_after_as_many_hops_in_any_encoding(
    encoding: str, units: int, words: int
) -> None:
    text = Setting.of("Glimpse/Stories-v0", {"encoding": encoding}).sequence
    assert (text.cells, text.features, text.query) == (10, 5 * units, 3 * units)
    assert (text.outputs, text.hops, text.words) == (None, 3, words)


def test_a_table_is_answered_once_after_its_hops() -> None:
    kwargs: Changes = {"cells": 8, "length": 3}
    setting = Setting.of("Glimpse/PointerChase-v0", kwargs)
    table = setting.sequence
    assert (table.cells, table.outputs, table.hops, setting.num_answers) == (8, None, 4, 17)
    assert not setting.answers_in_sequence
    with gym.make("Glimpse/PointerChase-v0", view="full", **kwargs) as env:
        assert env.observation_space["query"].shape == (table.query,)  # type: ignore[index]
        assert env.observation_space["scene"].shape == (8, table.features)  # type: ignore[index]


def test_an_environment_without_an_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    acting = Description(spaces.Dict(), {"act": Component(spaces.Discrete(3))})
    monkeypatch.setattr(setting_module, "_describe", lambda *_: acting)
    with pytest.raises(ValueError, match=r"asks for no answer.*its actions are act"):
        Setting.of(CENTRED, {})


def test_a_picture_is_described_or_answered_in_turn() -> None:
    described = Setting.of("Glimpse/DescribeSceneGlyphs-v0", {})
    with pytest.raises(ValueError, match="asks for a description, word by word; of the baselines"):
        _ = described.picture
    assert (described.described.words, described.words, described.num_answers) == (12, 12, 22)

    row = Setting.of("Glimpse/DigitSequenceGlyphs-v0", {"length": 3, "looks_per_answer": 2})
    assert (row.picture.answers, row.picture.budget, row.num_answers, row.words) == (4, 8, 11, 0)
    assert row.every_answer_counts
    assert not row.picture.moves
    with pytest.raises(ValueError, match="asks for no description of a picture"):
        _ = row.described


def test_a_picture_that_moves_is_asked_the_same_at_every_step() -> None:
    moving = Setting.of("Glimpse/MovingDigitGlyphs-v0", {}).picture
    assert moving.moves
    assert not moving.words
    assert not Setting.of(CIRCLE_SQUARE, {}).picture.moves
    with pytest.raises(ValueError, match="asks for no description of a picture, word by word"):
        _ = Setting.of(CENTRED, {}).described
