"""A training that is scored on the way learns the same, and its curve survives kills."""

import time
from pathlib import Path

import pytest

from agents.algorithms.reinforce import Reinforce
from agents.evaluate import evaluate_run, learning_curve, validate_run
from agents.training.loop import VALIDATE_AT
from glimpse_envs.evaluation.runs import Run
from tests.support.same_runs import assert_same_run, metrics_of
from tests.support.tiny import tiny_config
from tests.support.trainings import trained

pytestmark = pytest.mark.learning

# 16 updates of 8 episodes: an eighth, a quarter, a half and the whole are whole updates.
CONFIG = tiny_config(images=128, log_every=4, checkpoint_every=5)


class Score:
    """Counts what it scores; the first `mortal` times it is killed instead."""

    def __init__(self, mortal: int = 0) -> None:
        self.mortal, self.updates = mortal, list[int]()

    def __call__(self, run: Run) -> dict[str, float]:
        self.updates.append(run.load_checkpoint()[1]["updates"])
        if len(self.updates) <= self.mortal:
            raise KeyboardInterrupt
        return {"validation_error": 0.5, "validation_scenes": 10}


def scored_lines(run: Run) -> list[dict[str, float]]:
    return [line for line in metrics_of(run) if "validation_error" in line]


def test_a_run_is_scored_at_each_doubling(tmp_path: Path) -> None:
    score = Score()
    run = trained(Reinforce, CONFIG, tmp_path, validate=score)
    assert VALIDATE_AT[-4:] == (0.125, 0.25, 0.5, 1.0)
    assert score.updates == [1, 2, 4, 8, 16], "the first update passes all shares below 1 / 16"
    lines = scored_lines(run)
    assert [line["step"] for line in lines] == [8, 16, 32, 64, 128]
    assert lines[0] == {"step": 8, "validation_error": 0.5, "validation_scenes": 10}


def test_scoring_changes_nothing_that_is_learned(tmp_path: Path) -> None:
    plain = trained(Reinforce, CONFIG, tmp_path / "plain")
    scored = trained(
        Reinforce, CONFIG, tmp_path / "scored", validate=lambda run: validate_run(run, 20)
    )
    learned = [line for line in metrics_of(scored) if "validation_error" not in line]
    assert learned == metrics_of(plain)
    (tensors, _), (others, _) = plain.load_checkpoint(), scored.load_checkpoint()
    assert all((tensors[name] == others[name]).all() for name in tensors)


def test_the_clock_stands_still_while_it_is_scored(tmp_path: Path) -> None:
    def slowly(run: Run) -> dict[str, float]:
        time.sleep(0.3)
        return {"validation_error": 0.5, "validation_scenes": 10}

    began = time.monotonic()
    run = trained(Reinforce, CONFIG, tmp_path, validate=slowly)
    outside = time.monotonic() - began
    assert run.load_checkpoint()[1]["seconds"] < outside - 5 * 0.3


def test_killed_before_or_between_scores_the_curve_is_whole(tmp_path: Path) -> None:
    unbroken = trained(Reinforce, CONFIG, tmp_path / "unbroken", validate=Score())
    for stop_after in (1, 3, 8, 11, None):
        broken = trained(
            Reinforce,
            CONFIG,
            tmp_path / "broken",
            resume=True,
            stop_after=stop_after,
            validate=Score(),
        )
    assert_same_run(broken, unbroken)


@pytest.mark.parametrize("first", [1, 3])
def test_killed_while_it_is_scored_it_is_scored_again(first: int, tmp_path: Path) -> None:
    unbroken = trained(Reinforce, CONFIG, tmp_path / "unbroken", validate=Score())
    if first > 1:
        trained(Reinforce, CONFIG, tmp_path / "killed", stop_after=first, validate=Score())
    mortal = Score(mortal=1)
    with pytest.raises(KeyboardInterrupt):
        trained(Reinforce, CONFIG, tmp_path / "killed", resume=True, validate=mortal)
    survivor = Score()
    run = trained(Reinforce, CONFIG, tmp_path / "killed", resume=True, validate=survivor)
    assert survivor.updates[0] == mortal.updates[0]
    assert_same_run(run, unbroken)


def test_a_finished_run_is_not_scored_again(tmp_path: Path) -> None:
    trained(Reinforce, CONFIG, tmp_path, validate=Score())
    again = Score()
    trained(Reinforce, CONFIG, tmp_path, resume=True, validate=again)
    assert again.updates == []


def test_the_learning_curve_is_of_the_validation_split(tmp_path: Path) -> None:
    run = trained(Reinforce, CONFIG, tmp_path, validate=lambda run: validate_run(run, scenes=30))
    curve = learning_curve(run)
    assert [images for _, images, _, _ in curve] == [8, 16, 32, 64, 128]
    seconds, _, error, scenes = curve[-1]
    assert scenes == 30
    assert error == pytest.approx(
        evaluate_run(run, split="validation", scenes=30).error_percent, abs=1e-3
    )
    assert seconds == pytest.approx(run.load_checkpoint()[1]["seconds"], abs=0.01)
    assert seconds > curve[0][0]
