"""The pointer learns where what is asked for is, from the whole scene."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from gymnasium import spaces

from agents.scoring.costs import measure_costs
from agents.scoring.run_scores import evaluate_run
from baselines.pictures.pointer import Pointer
from baselines.setting import CELL, Setting
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.evaluation.runs import load_policy
from tests.support.baselines import (
    POINTED,
    learner_of,
    model_of,
    small_config,
    tiny_config,
    trained,
)
from tests.support.episodes import make_vector

SEARCH = "Glimpse/SearchGlyphs-v0"


def test_cells_cover_the_scene_and_their_middles_lie_in_them() -> None:
    scene = Setting.of(SEARCH, {"scene_size": 110, "images": 3}).pointed
    assert scene.grid == (14, 14)
    middles = scene.middles()
    assert scene.cells_at(middles).tolist() == list(range(14 * 14))
    pixels = scene.view.space.to_pixels(middles)
    np.testing.assert_allclose(pixels[15], [1.5 * CELL, 1.5 * CELL])
    edges = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0]])
    assert scene.cells_at(edges).tolist() == [0, 13, 14 * 14 - 1]


def test_targets_are_the_cells_of_the_targets_middles() -> None:
    learner = learner_of("pointer", tiny_config("pointer", batch_size=64))
    _, targets, _ = learner.deal()
    envs = learner.env.unwrapped
    looks = envs.task.oracle()["look"]  # type: ignore[attr-defined]
    scene = learner.policy.setting.pointed
    assert targets.tolist() == [scene.cells_at(looks).tolist()]
    learner.close()


@pytest.mark.parametrize("look", ["continuous", "tiles"])
@pytest.mark.parametrize("inside", [False, True])
def test_pointing_at_the_targets_cell_is_a_look_on_the_target(look: str, inside: bool) -> None:
    """A cell's middle is at most 4 pixels off, on either axis, from a middle in the cell."""
    kwargs = {**POINTED["env_kwargs"], "look": look, "inside": inside, "scales": 2}
    model = model_of("pointer", env_kwargs=kwargs)
    envs = make_vector(SEARCH, 40, split="test", view="full", **kwargs)
    observation, info = envs.reset(seed=0)
    boxes = info["target_box"].astype(np.float64)
    cells = model.scene.cells_at((boxes[:, :2] + boxes[:, 2:]) / 2)
    model.likeliest = lambda _: cells[None]
    action, _ = model.predict(observation)
    found = envs.step(action)[1] == 1.0
    # Tiles, and looks that keep whole glimpses inside, do not reach every place.
    assert found.all() if look == "continuous" and not inside else found.mean() > 0.3


def test_a_place_without_a_question_is_refused() -> None:
    setting = Setting.of(SEARCH, POINTED["env_kwargs"])
    parts = {
        name: space for name, space in setting.pointed.glimpse_space.items() if name != "question"
    }
    asked = replace(setting, scene=replace(setting.pointed, glimpse_space=spaces.Dict(parts)))
    with pytest.raises(
        ValueError, match="SearchGlyphs-v0 shows no question, which is what pointer"
    ):
        Pointer(asked, tiny_config("pointer"))  # type: ignore[arg-type]  # of its kind


def test_attention_is_greatest_where_it_points() -> None:
    model = model_of("pointer", **POINTED)
    envs = make_vector(SEARCH, 3, split="test", view="full", **POINTED["env_kwargs"])
    observation, _ = envs.reset(seed=0)
    maps = model.attention(observation)
    side = POINTED["env_kwargs"]["scene_size"]
    assert maps.shape == (3, 1, side, side)
    np.testing.assert_allclose(maps.sum(axis=(2, 3)), 1.0, rtol=1e-4)
    with torch.no_grad():
        cells = model(model.as_tensors(observation)).logits[-1].argmax(dim=1)
    for shares, cell in zip(maps[:, 0], cells.tolist(), strict=True):
        row, column = np.array(np.unravel_index(shares.argmax(), shares.shape)) // CELL
        assert cell == row * model.scene.grid[1] + column


def test_it_is_charged_the_whole_scene() -> None:
    model = model_of("pointer", **POINTED)
    score = evaluate(model, SEARCH, episodes=20, **POINTED["env_kwargs"])
    costs = measure_costs(model, score).per_episode
    assert costs["values_delivered"] == costs["pixels_covered"] == 110 * 110
    assert costs["multiply_adds_reading"] == 0


@pytest.mark.learning
def test_what_is_asked_for_is_found_in_seconds(tmp_path: Path) -> None:
    config = small_config("pointer", episodes=6_000, batch_size=32, learning_rate=3e-3, channels=8)
    run = trained(config, "pointer", tmp_path)
    success = evaluate_run(run, episodes=300).success
    assert success is not None
    assert success > 0.5, "one of three images, and blind less than one in ten"
    assert isinstance(load_policy(tmp_path), Pointer)
