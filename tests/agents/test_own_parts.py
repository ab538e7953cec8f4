"""A scene and a sensor of another package pass through all that the suite's own pass through."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import glimpse_envs
from agents import evaluate, train
from agents.sb3.models import CONFIGS, with_history
from agents.scoring.costs import covered_on_average, measure_costs
from agents.scoring.scanners import OracleScanner, RandomScanner, ScannedPolicy
from glimpse_envs.adapters.sb3 import make_sb3_env
from glimpse_envs.episodes.description import describe
from glimpse_envs.episodes.lookup import spec_of
from glimpse_envs.evaluation import protocol
from glimpse_envs.evaluation.records import read_records
from glimpse_envs.rendering import Picture
from glimpse_envs.testing import check_task
from glimpse_envs.vision.scenes import SCENES
from tests.support.episodes import CLUTTERED, make_vector, view_of

SUM = "tests.support.parts:Tiny/DigitSum-v0"
EPISODES = 3000


@pytest.mark.learning
@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"look": "tiles", "history": True, "split": "test", "rings": 3, "largest": 2},
        {"look": "relative", "stop": True, "glimpse_cost": 0.01, "sensor": "retina", "scales": 2},
        {"view": "full", "scene_size": 64},
    ],
)
def test_promises_are_kept(kwargs: dict[str, Any]) -> None:
    if kwargs.get("sensor") == "retina":
        gym.register("Tiny/RetinaSum-v0", **_without("rings"))
        check_task("Tiny/RetinaSum-v0", **kwargs)
    else:
        check_task(SUM, **kwargs)


def _without(name: str) -> dict[str, Any]:
    spec = spec_of(SUM)
    kept = {argument: value for argument, value in spec.kwargs.items() if argument != name}
    entries = {"entry_point": spec.entry_point, "vector_entry_point": spec.vector_entry_point}
    return {**entries, "kwargs": kept}


@pytest.mark.learning
def test_it_passes_through_every_command(tmp_path: Path) -> None:
    run, results, film = tmp_path / "run", tmp_path / "results", tmp_path / "film.gif"
    sizes = ["what", "where", "glimpse", "core", "head"]
    units = [text for size in sizes for text in (f"--network.{size}-units", "32")]
    own = ["--env-id", SUM, "--env-kwargs", "wedges=8", "--episodes", str(EPISODES)]
    train.main(["reinforce", *own, *units, "--run", str(run)])
    evaluate.main([str(run), "--record", str(results), "--film", str(film), "--episodes", "200"])
    (record,), problems = read_records(results)
    assert not problems
    assert record.env_kwargs == {"wedges": 8}
    assert film.stat().st_size > 0


def test_the_oracle_and_its_scanner_look_at_the_digits_in_turn() -> None:
    envs = make_vector(SUM, 5)
    _, info = envs.reset(seed=0)
    boxes = info["target_box"]
    assert boxes.shape == (5, 2, 4)
    assert boxes.dtype == np.float32
    for step, box in enumerate([0, 0, 0, 1, 1]):
        middles = (boxes[:, box, :2] + boxes[:, box, 2:]) / 2
        np.testing.assert_allclose(envs.task.oracle()["look"], middles, atol=1e-6)
        looks = OracleScanner(envs).looks({}, step, info)
        np.testing.assert_allclose(looks, middles, atol=1e-6)
        observation, _, _, _, info = envs.step(envs.task.oracle())
        np.testing.assert_allclose(observation["location"], middles, atol=1e-6)
    picture = envs.task.picture(0, "")
    assert isinstance(picture, Picture)
    assert picture.boxes.shape == (2, 4)
    assert len(picture.outlines) == 5
    assert [panel.shape for _, panel in picture.panels] == [(1, 49, 49)]


def test_looks_in_any_box_are_on_target_and_the_rings_costs_are_counted() -> None:
    envs = make_vector(SUM, 2)
    policy = ScannedPolicy(OracleScanner(envs))
    evaluation = protocol.evaluate(policy, SUM, episodes=20)
    assert evaluation.scanpaths is not None
    assert evaluation.scanpaths.share_on_target == 1.0
    costs = measure_costs(ScannedPolicy(RandomScanner(envs)), evaluation).per_episode
    reading = envs.task.reading
    assert reading is not None
    assert (costs["values_delivered"], reading.values) == (6 * 60, 60)
    assert costs["multiply_adds_reading"] == 6 * reading.multiply_adds


def test_a_disc_covers_its_area() -> None:
    view = view_of(make_vector(SUM, 1, radius=12))
    middle, everywhere = np.zeros((1, 2, 2), np.float32), np.ones((1, 2), np.bool_)
    covered = covered_on_average(view, middle, everywhere)
    np.testing.assert_allclose(covered, np.pi * 12**2, rtol=0.08)


def test_a_log_polar_glimpse_is_the_mean_of_each_cell() -> None:
    whole = make_vector(SUM, 3, view="full").reset(seed=0)[0]["scene"]
    envs = make_vector(SUM, 3, radius=20, wedges=4)
    envs.reset(seed=0)
    middle = {"look": np.zeros((3, 2)), "answer": np.zeros(3, np.int64)}
    glimpse = envs.step(middle)[0]["glimpse"]
    y, x = np.mgrid[:60, :60] - 30
    radii = np.geomspace(2, 20, 5)
    widest = (np.hypot(x, y) > radii[3]) & (np.hypot(x, y) <= 20) & (x > 0) & (y >= 0)
    np.testing.assert_allclose(glimpse[:, 0, 4, 0], whole[:, 0, widest].mean(axis=1), atol=1e-5)


def test_a_scene_by_a_registered_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glimpse_envs.vision.scenes.SCENES", dict(SCENES))
    glimpse_envs.register_scene("digit_sum", "tests.support.parts.digit_sum:DigitSum")
    envs = make_vector(CLUTTERED, 1, scene="digit_sum", clutter=0, largest=3)
    assert describe(envs).question == "What is the sum of the two digits?"
    with pytest.raises(ValueError, match=r"clutter=4 must be 0, .*'digit_sum' takes no clutter"):
        make_vector(CLUTTERED, 1, scene="digit_sum")
    with pytest.raises(
        ValueError, match=r"scene='digits' must be 'images', .*'digit_sum', or the name of a class"
    ):
        make_vector(CLUTTERED, 1, scene="digits")


def test_their_arguments_are_those_of_the_environment() -> None:
    envs = make_vector(SUM, 2, largest=np.int8(2))
    assert envs.single_action_space["answer"].n == 5  # type: ignore[index]
    with pytest.raises(TypeError, match=r"'larges': did you mean 'largest'\?.* wedges, radius,"):
        make_vector(SUM, 2, larges=2)
    with pytest.raises(ValueError, match="largest=10 must be at most 9"):
        make_vector(SUM, 2, largest=10)
    for other in ({"largest": 3}, {"rings": 4}):
        changed = make_vector(SUM, 2, **other)
        changed.reset(seed=0)
        fresh = make_vector(SUM, 2)
        fresh.reset(seed=0)
        with pytest.raises(ValueError, match=f"another {next(iter(other))}$"):
            fresh.load_state_dict(changed.state_dict())
    assert make_sb3_env(SUM, 2, wedges=7).observation_space["glimpse"].shape == (1, 5, 7)  # type: ignore[index]
    config = CONFIGS["ppo"](env_id=SUM, env_kwargs={"wedges": 7})
    assert with_history(config).env_kwargs == {"history": True, "wedges": 7}
