"""Baselines answer a row of images one image after another, as the agents do."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.scoring.costs import measure_costs
from agents.scoring.multiply_adds import multiply_adds
from agents.scoring.run_scores import evaluate_run
from baselines.learner import SupervisedLearner
from baselines.pictures.full_view import FullView, GreatestInColumns
from baselines.pictures.picture_model import InTurn
from baselines.pictures.reader import RecurrentReader
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.evaluation.runs import load_policy
from tests.support.baselines import (
    PICTURE_KINDS,
    Changes,
    class_of,
    learner_of,
    model_of,
    small_config,
    tiny_config,
    trained,
)
from tests.support.episodes import make_vector

END, SILENCE = 10, -1
SMALL_ROWS: Changes = {"length": 2, "scene_size": 24, "scene_width": 44, "jitter": 0}
ROW: Changes = {
    "env_id": "Glimpse/DigitSequenceGlyphs-v0",
    "env_kwargs": {**SMALL_ROWS, "looks_per_answer": 2, "glimpse_size": 8},
}
READERS = [kind for kind in PICTURE_KINDS if issubclass(class_of(kind), RecurrentReader)]
ORDERED = ["draw", "strong", "affine"]
"""What tells one place in a row from another, and is quick."""


def row_model(kind: str) -> Any:
    return model_of(kind, **ROW)


def scenes(rows: int) -> tuple[dict[str, Any], dict[str, Any]]:
    envs = make_vector(ROW["env_id"], rows, split="test", view="full", **ROW["env_kwargs"])
    observation, info = envs.reset(seed=0)
    return {name: np.array(leaf) for name, leaf in observation.items()}, info


def test_targets_are_the_rows_answers_and_nothing_behind_the_end() -> None:
    learner = learner_of("dense", tiny_config("dense", batch_size=64, **ROW))
    _, targets, lengths = learner.deal()
    learner.close()
    assert targets.shape == (3, 64)
    for answers, length in zip(targets.T.tolist(), lengths, strict=True):
        assert all(0 <= answer < END for answer in answers[:length])
        assert answers[length:] == [END, SILENCE][: 3 - length]


@pytest.mark.parametrize("kind", PICTURE_KINDS)
@torch.no_grad()
def test_every_model_answers_once_an_image_and_for_the_end(kind: str) -> None:
    model = row_model(kind)
    observation, _ = scenes(4)
    logits = model(model.as_tensors(observation)).logits
    assert logits.shape == (3, 4, 11)
    assert not torch.allclose(logits[0], logits[1]), "each answer is its own"
    assert model.answers(observation) is None, "an episode has several"


def test_an_episode_gives_the_answers_of_its_first_step_in_turn() -> None:
    """Also where rows begin at different steps: a row ends with its first wrong answer."""
    observation, info = scenes(64)
    known = info["answers"].copy()
    right = np.arange(64) % 3 > 0
    known[~right, np.arange(64)[~right] % 2] = 7  # the first or the second answer
    right |= (known == info["answers"]).all(axis=1)
    of_scene = dict(zip((scene.tobytes() for scene in observation["scene"]), known, strict=True))
    model = row_model("dense")
    model.likeliest = lambda seen: np.stack([of_scene[s.tobytes()] for s in seen["scene"]]).T
    played = evaluate(model, ROW["env_id"], episodes=64, batch_size=20, **ROW["env_kwargs"])
    np.testing.assert_array_equal(played.successes, right)
    assert 0 < right.sum() < 64

    new = np.arange(64) % 2 == 0
    action, state = model.predict(observation, InTurn(known, np.full(64, 2)), new)
    np.testing.assert_array_equal(action["answer"], known[np.arange(64), np.where(new, 0, 2)])
    np.testing.assert_array_equal(state.given, np.where(new, 1, 3))


@pytest.mark.parametrize("kind", READERS)
def test_each_answer_follows_the_looks_that_an_agent_has_for_it(kind: str) -> None:
    model = row_model(kind)
    observation, _ = scenes(4)
    alone = model_of(kind, **{**ROW, "env_kwargs": {**ROW["env_kwargs"], "looks_per_answer": 6}})
    assert (model.looks_per_answer, alone.looks_per_answer) == (2, 6)
    seen = model.as_tensors(observation)["scene"]
    with torch.no_grad():
        glimpses = list(model._glimpses(seen))
        weights = torch.stack([model.weights(prepared, core) for prepared, core, _ in glimpses])
    assert [logits is not None for *_, logits in glimpses] == [False, True] * 3
    shares = (weights / weights.sum(dim=(-2, -1), keepdim=True)).numpy()  # (6, 4, H, W)
    turns = np.array([0, 1, 2, 2])
    maps = model.attention(observation, InTurn(np.zeros((4, 3), np.int64), turns))
    for row, turn in enumerate(turns):
        np.testing.assert_allclose(maps[row], shares[2 * turn : 2 * turn + 2, row], rtol=1e-5)
    first = model.attention(observation)
    np.testing.assert_allclose(first[0], shares[:2, 0], rtol=1e-5)


def test_an_outlook_is_on_the_answer_whose_turn_it_is() -> None:
    model = row_model("strong")
    observation, _ = scenes(3)
    state, start = InTurn(np.zeros((3, 3), np.int64), np.array([0, 2, 1])), np.zeros(3, np.bool_)
    (shares,) = model.outlook(observation, state, start).choices["answer"].parts
    beliefs = model.beliefs(observation)
    np.testing.assert_array_equal(shares, beliefs[[0, 1, 2], [0, 2, 1]])


@pytest.mark.parametrize("kind", ["draw", "location", "strong", "sampling", "affine"])
def test_a_row_is_read_once_an_episode_however_many_answers_are_given(kind: str) -> None:
    model = row_model(kind)
    score = evaluate(model, ROW["env_id"], episodes=30, **ROW["env_kwargs"])
    costs = measure_costs(model, score).per_episode
    delivered = {"draw": 6 * 8 * 8, "location": 6 * 3 * 8 * 8}
    delivered["sampling"] = round(24 * 0.25) * round(44 * 0.25) + 2 * 24 * 24  # low view, patches
    assert costs["values_delivered"] == model.values_read == delivered.get(kind, 24 * 44)
    observation, _ = scenes(4)
    with multiply_adds() as counter:
        model.predict(observation)
    if kind == "location":  # tiles at the retina's price
        assert costs["multiply_adds"] < counter() / 4
    else:
        assert costs["multiply_adds"] == counter() / 4
    if kind == "draw":
        assert costs["multiply_adds_reading"] == 6 * (8 * 24 * 44 + 8 * 8 * 44)


@pytest.mark.learning
@pytest.mark.parametrize("kind", ORDERED)
def test_short_rows_are_learned_in_seconds(kind: str, tmp_path: Path) -> None:
    config = small_config(kind, **ROW, episodes=25_000)
    run = trained(config, kind, tmp_path)
    assert isinstance(load_policy(tmp_path), class_of(kind))
    success = evaluate_run(run, episodes=500).success
    assert success is not None
    assert success > 0.2, "a blind guess is right once in twenty"


def test_a_task_that_does_not_tell_its_answers_is_named() -> None:
    learner = SupervisedLearner(tiny_config("dense", **ROW), FullView)
    with pytest.raises(ValueError, match=r'learn them from info\["answers"\] \(T,\), -1 behind'):
        learner._answers_in_turn({"length": np.ones(8, np.int64)})
    learner.close()


def test_columns_keep_the_order_that_one_greatest_response_would_lose() -> None:
    x = torch.rand(2, 3, 4, 5)
    columns = GreatestInColumns()(x).view(2, 3, 5)
    torch.testing.assert_close(columns, x.amax(dim=2))
    torch.testing.assert_close(GreatestInColumns()(x.flip(-1)).view(2, 3, 5), columns.flip(-1))
    assert any(isinstance(part, GreatestInColumns) for part in row_model("strong").modules())
