"""A training that is validated on the way learns the same, stops where it should, and its curve
survives kills."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.scoring.run_record import learning_curve
from agents.scoring.run_scores import evaluate_run, score_run, validate_run
from agents.training.schedules import DOUBLINGS
from glimpse_envs.evaluation.runs import Run
from glimpse_envs.sources import SourceError, from_arrays
from tests.support.same_runs import assert_same_run, metrics_of
from tests.support.tiny import tiny_config
from tests.support.trainings import trained

pytestmark = pytest.mark.learning

# 16 updates of 8 episodes: an eighth, a quarter, a half and the whole are whole updates.
CONFIG = tiny_config(episodes=128, log_every=4, checkpoint_every=5, validation_episodes=30)
STOPPING = replace(CONFIG, stop_at=0.9, validate_every=3)


class Shares:
    """Gives a share of success, one a validation (the last for ever), and remembers after which
    updates; the first `mortal` times it is killed instead."""

    def __init__(self, *shares: float, mortal: int = 0) -> None:
        self.shares, self.mortal, self.updates = list(shares) or [0.5], mortal, list[int]()

    def __call__(self, run: Run) -> dict[str, float]:
        self.updates.append(run.load_checkpoint()[1]["updates"])
        if len(self.updates) <= self.mortal:
            raise KeyboardInterrupt
        share = self.shares.pop(0) if len(self.shares) > 1 else self.shares[0]
        return {"validation/success": share, "validation/return": share, "validation/episodes": 10}


def validated_lines(run: Run) -> list[dict[str, float]]:
    return [line for line in metrics_of(run) if "validation/episodes" in line]


def test_a_run_is_validated_at_each_doubling(tmp_path: Path) -> None:
    shares = Shares()
    run = trained(Reinforce, CONFIG, tmp_path, validate=shares)
    assert DOUBLINGS[-4:] == (0.125, 0.25, 0.5, 1.0)
    assert shares.updates == [1, 2, 4, 8, 16], "the first update passes all shares below 1 / 16"
    lines = validated_lines(run)
    assert [line["step"] for line in lines] == [8, 16, 32, 64, 128]
    assert [line["validation/success"] for line in lines] == [0.5] * 5


def test_a_run_is_validated_every_so_many_updates_and_at_its_end(tmp_path: Path) -> None:
    shares = Shares()
    trained(Reinforce, replace(CONFIG, validate_every=5), tmp_path, validate=shares)
    assert shares.updates == [5, 10, 15, 16]


def test_a_run_stops_at_the_share_that_is_asked_for(tmp_path: Path) -> None:
    shares = Shares(0.2, 0.89, 0.9)
    run = trained(Reinforce, STOPPING, tmp_path, validate=shares)
    assert shares.updates == [3, 6, 9], "each after its updates are saved"
    assert run.load_checkpoint()[1]["updates"] == 9
    before = metrics_of(run)
    again = Shares()
    resumed = trained(Reinforce, STOPPING, tmp_path, resume=True, validate=again)
    assert again.updates == []
    assert metrics_of(resumed) == before


def test_what_was_played_before_a_stop_is_logged(tmp_path: Path) -> None:
    stopping = replace(STOPPING, log_every=100)
    run = trained(Reinforce, stopping, tmp_path, validate=Shares(0.9))
    assert [line["step"] for line in metrics_of(run) if "return" in line] == [
        3 * stopping.batch_size
    ]


def test_validation_changes_nothing_that_is_learned(tmp_path: Path) -> None:
    plain = trained(Reinforce, CONFIG, tmp_path / "plain")
    validated = trained(Reinforce, CONFIG, tmp_path / "validated", validate=validate_run)
    none = trained(
        Reinforce, replace(CONFIG, validation_episodes=0), tmp_path / "none", validate=Shares()
    )
    learned = [line for line in metrics_of(validated) if "validation/episodes" not in line]
    assert learned == metrics_of(plain) == metrics_of(none)
    (tensors, _), (others, _) = plain.load_checkpoint(), validated.load_checkpoint()
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(tensor, others[name], err_msg=name)


def test_the_clock_stands_still_while_a_run_is_validated(tmp_path: Path) -> None:
    def slowly(run: Run) -> dict[str, float]:
        time.sleep(0.3)
        return Shares()(run)

    began = time.monotonic()
    run = trained(Reinforce, replace(CONFIG, threads=2), tmp_path, validate=slowly)
    outside = time.monotonic() - began
    assert run.load_checkpoint()[1]["seconds"] < outside - 5 * 0.3


@pytest.mark.parametrize("config", [CONFIG, STOPPING], ids=["doubling", "stopping"])
def test_stopped_before_or_between_validations_the_curve_is_whole(
    config: ReinforceConfig, tmp_path: Path
) -> None:
    shares = (0.2, 0.5, 0.95, 0.8)
    unbroken = trained(Reinforce, config, tmp_path / "unbroken", validate=Shares(*shares))
    rest = Shares(*shares)
    for stop_after in (1, 3, 6, 8, 11, None):
        broken = trained(
            Reinforce,
            config,
            tmp_path / "broken",
            resume=True,
            stop_after=stop_after,
            validate=rest,
        )
    assert_same_run(broken, unbroken)


@pytest.mark.parametrize("first", [1, 3])
def test_killed_while_it_is_validated_it_is_validated_again(first: int, tmp_path: Path) -> None:
    unbroken = trained(Reinforce, CONFIG, tmp_path / "unbroken", validate=Shares())
    if first > 1:
        trained(Reinforce, CONFIG, tmp_path / "killed", stop_after=first, validate=Shares())
    mortal = Shares(mortal=1)
    with pytest.raises(KeyboardInterrupt):
        trained(Reinforce, CONFIG, tmp_path / "killed", resume=True, validate=mortal)
    survivor = Shares()
    run = trained(Reinforce, CONFIG, tmp_path / "killed", resume=True, validate=survivor)
    assert survivor.updates[0] == mortal.updates[0]
    assert_same_run(run, unbroken)


def test_a_finished_run_is_not_validated_again(tmp_path: Path) -> None:
    trained(Reinforce, CONFIG, tmp_path, validate=Shares())
    again = Shares()
    trained(Reinforce, CONFIG, tmp_path, resume=True, validate=again)
    assert again.updates == []


def test_the_learning_curve_is_of_the_validation_split(tmp_path: Path) -> None:
    run = trained(Reinforce, CONFIG, tmp_path, validate=validate_run)
    curve = learning_curve(run)
    assert [point.episodes for point in curve] == [8, 16, 32, 64, 128]
    expected = evaluate_run(run, split="validation", episodes=30)
    assert (curve[-1].success, curve[-1].scored) == (expected.success, 30)
    assert curve[-1].mean_return == expected.mean_return
    assert curve[-1].core_seconds == pytest.approx(run.load_checkpoint()[1]["seconds"], abs=0.01)
    assert curve[-1].core_seconds > curve[0].core_seconds


def register_noise(name: str, validation: int) -> dict[str, str]:
    """Register a source of noise with so many validation images; return the argument for it."""
    images = np.random.default_rng(0).integers(256, size=(20, 8, 8), dtype=np.uint8)
    labelled = (images, np.arange(20) % 4)
    held_out = (images[:validation], labelled[1][:validation]) if validation else None
    from_arrays(name, train=labelled, validation=held_out, test=labelled)
    return {"source": name}


def test_a_validation_plays_all_of_a_smaller_split(tmp_path: Path) -> None:
    config = replace(CONFIG, env_kwargs=register_noise("little_noise", 15))
    run = trained(Reinforce, config, tmp_path, validate=validate_run)
    assert {line["validation/episodes"] for line in validated_lines(run)} == {15}
    assert score_run(run, split="validation", episodes=1000, at_most=True)[0].episodes == 15
    with pytest.raises(ValueError, match=r"episodes is 16; the validation split has 15"):
        evaluate_run(run, split="validation", episodes=16)


def test_a_source_without_a_validation_split_is_refused_before_a_run_is_made(
    tmp_path: Path,
) -> None:
    config = replace(CONFIG, env_kwargs=register_noise("unvalidated_noise", 0))
    with pytest.raises(SourceError, match=r"validation= too; .*--validation-episodes 0"):
        trained(Reinforce, config, tmp_path / "run", validate=validate_run)
    assert not (tmp_path / "run").exists()
    none = replace(config, validation_episodes=0)
    assert validated_lines(trained(Reinforce, none, tmp_path / "run", validate=validate_run)) == []


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"stop_at": 0.0}, r"stop_at=0\.0 must be a share above 0"),
        ({"stop_at": 1.5}, r"stop_at=1\.5 must be a share above 0, at most 1"),
        ({"validate_every": -1}, "validate_every=-1 must be at least 0"),
        ({"validation_episodes": -1}, "validation_episodes=-1 must be at least 0"),
        ({"validation_episodes": 0}, r"stop_at=0\.9 needs validation"),
    ],
)
def test_what_cannot_be_is_refused_before_a_run_is_made(
    changes: dict[str, Any], named: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=named):
        trained(Reinforce, replace(STOPPING, **changes), tmp_path / "run", validate=Shares())
    with pytest.raises(ValueError, match="needs validation, and there is none here"):
        trained(Reinforce, STOPPING, tmp_path / "run")
    assert not (tmp_path / "run").exists()
