"""Models that see the whole scene are shown at each soft glimpse, and where they point."""

import itertools
from contextlib import closing
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from agents.play.__main__ import PlayConfig, setting_from
from agents.play.machines import Machine
from tests.support import baselines

pytestmark = pytest.mark.learning
LOOKS = 3
"""Soft glimpses before each answer."""
IN_TURN = {
    "env_id": "Glimpse/DigitSequenceGlyphs-v0",
    "env_kwargs": {"length": 1, "looks_per_answer": LOOKS},
}


SMALL = baselines.POINTED["env_kwargs"]


def episode_of(folder: Path, kind: str, **changes: Any) -> dict[str, Any]:
    """A model's episode on scene 0, after hardly any training."""
    config = baselines.small_config(kind, **{"batch_size": 4, "episodes": 8, **changes})
    run = baselines.trained(config, kind, folder / "run")
    return Machine(run, setting_from(PlayConfig(), [run])).play(0)


def test_a_reader_that_answers_in_turn_is_shown_at_every_glimpse(tmp_path: Path) -> None:
    episode = episode_of(tmp_path, "retina", **IN_TURN)
    *steps, end = episode["frames"]
    answers = end["frame"]["answer"].split()
    assert len(steps) == LOOKS * len(answers)
    assert len({shown["frame"]["image"] for shown in steps[:LOOKS]}) > 1
    for step, shown in enumerate(steps):
        assert ("outlook" in shown) == (step % LOOKS == LOOKS - 1), "where an answer is given"
    for answer, shown in zip(answers, steps[LOOKS - 1 :: LOOKS], strict=True):
        (shares,) = shown["outlook"]["answer"]["parts"]
        assert episode["names"]["answer"][int(np.argmax(shares))] == answer


def test_a_captioner_is_shown_with_the_probabilities_of_its_next_word(tmp_path: Path) -> None:
    episode = episode_of(tmp_path, "captioner")
    for now, after in itertools.pairwise(episode["frames"]):
        (shares,) = now["outlook"]["answer"]["parts"]
        written = after["frame"]["answer"].split()
        assert episode["names"]["answer"][int(np.argmax(shares))] == written[-1]


def test_a_pointer_is_shown_with_the_place_that_it_points_at(tmp_path: Path) -> None:
    episode = episode_of(tmp_path, "pointer")
    assert episode["whole"]
    (shown, end) = episode["frames"]
    look = shown["outlook"]["look"]
    width, height = shown["frame"]["width"], shown["frame"]["height"]
    places, (shares,) = np.array(look["places"]), look["parts"]
    assert places.shape == (len(shares), 2)
    assert ((places >= 0) & (places <= [width, height])).all()
    assert end["outlook"]["look"] == look


def test_a_pointer_points_at_its_likeliest_place() -> None:
    with closing(gym.make("Glimpse/SearchGlyphs-v0", view="full", **SMALL)) as env:
        seen = {name: part[None] for name, part in env.reset(seed=0)[0].items()}
    model = baselines.model_of("pointer")
    places = model.outlook(seen, None, np.ones(1, bool)).choices["look"]
    (look,) = model.predict(seen)[0]["look"]
    assert places.places[0, places.parts[0][0].argmax()] == pytest.approx(look)
