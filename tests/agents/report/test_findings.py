"""Densities, confusions, mistakes and warnings, of traces made by hand."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from agents.report.findings import (
    chosen_of,
    confusion,
    density,
    sureness,
    surest_mistakes,
    training_warnings,
    warnings_of,
)
from agents.report.gaze import _failures
from agents.report.trace import Trace
from agents.training.training_length import TrainingLength, training_length
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import create_run
from tests.support.episodes import CENTRED


def trace_of(answers: Any, targets: Any, probabilities: Any) -> Trace:
    """A trace of one scored answer an episode, at its last step."""
    shape = (len(answers), 1)
    return Trace(
        alive=np.ones(shape, np.bool_),
        answers=np.array(answers).reshape(shape),
        probabilities=np.array(probabilities, np.float64).reshape(shape),
        targets=np.array(targets).reshape(shape),
        offsets=np.full((*shape, 2), np.nan),
        boxes=np.full((*shape, 2), np.nan),
        lies_on=np.zeros((*shape, 0), np.bool_),
        exists=np.zeros((*shape, 0), np.bool_),
        lengths=np.zeros(len(answers), np.int64),
        attention=None,
    )


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    def still(observation: Any) -> Any:
        rows = len(observation["remaining"])
        return {"look": np.ones((rows, 2), np.float32), "answer": np.zeros(rows, np.int64)}

    return evaluate(still, CENTRED, episodes=20, budget=3)


def test_a_density_adds_up_and_has_its_rows_from_the_top() -> None:
    places = np.array([(-0.9, -0.9), (0.9, -0.9), (0.9, -0.9), (np.nan, 0), (3.0, 0.0)])
    shares = density(places, cells=2)
    np.testing.assert_allclose(shares, np.array([[1 / 3, 2 / 3], [0.0, 0.0]]))


def test_a_confusion_has_a_row_for_each_target() -> None:
    counts = confusion(trace_of([0, 1, 1], [0, 0, 1], [0.5] * 3), 2)
    assert counts is not None
    np.testing.assert_array_equal(counts, [[1, 1], [0, 1]])
    assert confusion(trace_of([0], [-1], [0.5]), 2) is None


def test_the_surest_mistake_comes_first_and_right_episodes_not_at_all(
    evaluation: Evaluation,
) -> None:
    trace = trace_of([1, 1, 1, 1], [0, 1, 0, 0], [0.6, 0.99, 0.9, np.nan])
    scored = replace(evaluation, successes=np.array([False, True, False, False]))
    found = surest_mistakes(scored, trace)
    assert [episode for episode, _ in found] == [2, 0, 3]
    assert [episode for episode, _ in surest_mistakes(scored, trace, most=1)] == [2]


def test_without_success_the_least_returns_are_shown(evaluation: Evaluation) -> None:
    scored = replace(evaluation, successes=None, returns=np.array([1.0, -2.0, 0.5]))
    trace = trace_of([0] * 3, [-1] * 3, [np.nan] * 3)
    assert [episode for episode, _ in surest_mistakes(scored, trace, most=2)] == [1, 2]


def test_a_gaze_that_stays_in_a_corner_is_warned_of(evaluation: Evaluation) -> None:
    warnings = " ".join(warnings_of(evaluation, trace_of([0, 1], [0, 1], [0.5, 0.5]), ()))
    assert "collapsed into one place" in warnings
    assert "100 % of the chosen looks lie on the edge" in warnings
    assert chosen_of(evaluation)[:, 0].sum() == 0


@pytest.mark.parametrize(
    ("answers", "targets", "optional", "expected"),
    [
        ([2] * 20, [0, 1] * 10, False, "gives one answer alone, two"),
        ([0, 1] * 10, [0, 2] * 10, False, "never gives: two (right 10 times)"),
        ([0] * 20, [-1] * 20, True, "It never answers."),
    ],
)
def test_answers_that_are_missing_are_warned_of(
    evaluation: Evaluation, answers: Any, targets: Any, optional: bool, expected: str
) -> None:
    trace = trace_of(answers, targets, [0.5] * 20)
    found = warnings_of(evaluation, trace, ("zero", "one", "two"), optional)
    assert any(expected in line for line in found)


def test_a_policy_that_is_too_sure_is_warned_of(evaluation: Evaluation) -> None:
    trace = trace_of([0, 1, 1, 0], [0, 1, 0, 1], [0.95] * 4)
    assert sureness(trace) == pytest.approx((0.95, 0.5))
    assert any("too sure" in line for line in warnings_of(evaluation, trace, ()))
    modest = replace(trace, probabilities=np.full((4, 1), 0.5))
    assert not any("too sure" in line for line in warnings_of(evaluation, modest, ()))


def test_a_training_that_is_unfinished_or_fell_is_warned_of(tmp_path: Path) -> None:
    config = {"policy": "nobody:Nobody", "config": {"episodes": 100}}
    run = create_run(tmp_path / "run", config)
    assert "before its first line" in training_warnings(run)[0]
    run.append_metrics(10, {"validation/success": 0.9, "loss": float("nan")})
    run.append_metrics(50, {"validation/success": 0.5, "loss": 1.0})
    found = " ".join(training_warnings(run))
    assert "not finite numbers: loss" in found
    assert "from 90.0 % success after 10 episodes to 50.0 %" in found
    assert "50 of 100 episodes" in found
    run.append_metrics(100, {"validation/success": 0.9})
    assert len(training_warnings(run)) == 1


def test_the_length_is_that_of_the_weights_and_what_is_left_is_told(tmp_path: Path) -> None:
    config = {"policy": "nobody:Nobody", "config": {"episodes": 10, "minutes": 2.0, "stop_at": 0.9}}
    run = create_run(tmp_path / "run", config)
    run.append_metrics(300, {"seconds": 40.0, "validation/success": 0.8})
    assert training_length(run) == TrainingLength(300, 40.0)
    run.save_checkpoint({}, {"episodes": 450, "seconds": 66.0})
    assert training_length(run) == TrainingLength(450, 66.0)
    assert training_warnings(run) == ["The training is not finished: 1.1 of 2 minutes are done."]
    run.append_metrics(450, {"seconds": 66.0, "validation/success": 0.9})
    assert training_warnings(run) == []


def test_timesteps_that_are_left_are_told(tmp_path: Path) -> None:
    config = {"policy": "nobody:Nobody", "config": {"timesteps": 2_000}}
    run = create_run(tmp_path / "run", config)
    run.append_metrics(640, {"seconds": 3.0, "episodes": 100})
    assert training_length(run) == TrainingLength(100, 3.0, 640)
    run.save_checkpoint({}, {"episodes": 150, "seconds": 5.0, "timesteps": 960})
    left = "The training is not finished: 960 of 2,000 timesteps are done."
    assert training_warnings(run) == [left]
    run.save_checkpoint({}, {"episodes": 400, "seconds": 9.0, "timesteps": 2_048})
    assert training_warnings(run) == []


def test_weights_alone_are_not_warned_of_for_metrics_that_they_do_not_keep(tmp_path: Path) -> None:
    config = {"policy": "nobody:Nobody", "config": {"episodes": 100}, "weights_only": True}
    whole, part = (create_run(tmp_path / name, config) for name in ("whole", "part"))
    whole.save_checkpoint({}, {"episodes": 100, "seconds": 2.5})
    part.save_checkpoint({}, {"episodes": 30, "seconds": 2.5})
    assert training_length(whole) == TrainingLength(100, 2.5)
    assert training_warnings(whole) == []
    assert training_warnings(part) == ["The training is not finished: 30 of 100 episodes are done."]


def test_a_target_is_visited_first_once_and_again_from_then_on() -> None:
    """Glimpses on one of two targets, on none, on the other, on both, and one that was not taken:
    another episode sees none."""
    both, one, other, none = (True, True), (False, True), (True, False), (False, False)
    trace = replace(
        trace_of([0, 0], [0, 0], [0.5, 0.5]),
        alive=np.array([[True, True, True, True, False]] * 2),
        lies_on=np.array([[one, none, other, both, other], [none, none, none, none, both]]),
    )
    no = [False] * 5
    np.testing.assert_array_equal(trace.on_target, [[True, False, True, True, False], no])
    np.testing.assert_array_equal(trace.first_visits, [[True, False, True, False, False], no])
    np.testing.assert_array_equal(trace.visited, [2, 0])
    np.testing.assert_array_equal(trace.arrival, [1, 0])
    later = replace(trace, alive=trace.alive[:, 1:], lies_on=trace.lies_on[:, 1:])
    np.testing.assert_array_equal(later.arrival, [2, 0])


def test_all_targets_are_visited_where_none_of_those_that_exist_is_left() -> None:
    first, both, no = (True, False), (True, True), (False, False)
    trace = replace(
        trace_of([0] * 5, [0] * 5, [0.5] * 5),
        alive=np.array([[True, False]] * 5),
        exists=np.array([[both] * 2, [first] * 2, [both] * 2, [first] * 2, [no] * 2]),
        lies_on=np.array([[first, both], [first, no], [both, no], [no, first], [no] * 2]),
    )
    np.testing.assert_array_equal(trace.visited_all, [False, True, True, False, False])


@pytest.mark.parametrize(("side", "blamed"), [(0.5, True), (2.0, False)])
def test_targets_that_fill_the_scene_say_nothing_about_the_gaze(side: float, blamed: bool) -> None:
    trace = replace(
        trace_of([0, 0], [0, 1], [0.5, 0.5]),
        boxes=np.full((2, 1, 2), side),
        exists=np.ones((2, 1, 1), np.bool_),
        lies_on=np.ones((2, 1, 1), np.bool_),
    )
    evaluation = SimpleNamespace(successes=np.array([True, False]))
    analysis: Any = SimpleNamespace(evaluation=evaluation, trace=trace)
    text = _failures(analysis)
    assert ("Of the 1 failed episodes 1 had visited every target" in text) == blamed
    assert ("fill most of the scene" in text) != blamed


def test_sureness_is_of_all_scored_answers() -> None:
    """Where a wrong answer ends an episode, the last ones alone would be mostly wrong."""
    one = trace_of([1, 1], [1, 0], [0.9, 0.5])
    both: dict[str, Any] = {
        name: np.concatenate([getattr(one, name)] * 2, axis=1)
        for name in ("alive", "answers", "probabilities", "targets", "offsets", "boxes")
    }
    trace = replace(one, **both)
    trace.targets[1, 0] = 1  # right at first
    assert sureness(trace) == pytest.approx((0.7, 0.75))


def test_a_checkpoint_that_does_not_tell_the_length_is_named(tmp_path: Path) -> None:
    run = create_run(tmp_path / "run", {"policy": "agents.policy.glimpse_policy:GlimpsePolicy"})
    run.save_checkpoint({"weights": np.zeros(2)}, {"seconds": 1.0})
    with pytest.raises(RunError, match="does not say after how many episodes it was saved"):
        training_length(run)
