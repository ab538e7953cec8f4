"""Learners solve small tapes, stop when they have, resume, and are scored on the whole tape."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.algorithms.actor_critic import ActorCritic, ActorCriticConfig
from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.episodes.rollout import play_episodes
from agents.scoring.run_record import learning_curve, make_record
from agents.scoring.run_scores import (
    evaluate_run,
    score_run,
    scored_level,
    trained_levels,
    validate_run,
)
from agents.train import train_agent
from agents.training.config import TrainingConfig
from glimpse_envs.episodes.levels import MixtureLevels, ThresholdLevels
from glimpse_envs.evaluation.records import read_record, write_record
from glimpse_envs.evaluation.runs import Run, open_run
from tests.support.episodes import CENTRED
from tests.support.same_runs import assert_repeats_and_resumes, metrics_of
from tests.support.tiny import SHORT, SMALL, tiny_config, tiny_network
from tests.support.trainings import learned_error, trained

COPY, CHASE = "Glimpse/Copy-v0", "Glimpse/PointerChase-v0"
LEARNERS: dict[str, tuple[Any, Any]] = {
    "reinforce": (Reinforce, ReinforceConfig),
    "actor_critic": (ActorCritic, ActorCriticConfig),
}


TINY_COPY: dict[str, Any] = {
    "env_id": COPY,
    "env_kwargs": {"symbols": 2, "length": 4},
    "network": tiny_network(),
    **SHORT,
}


def easy_config(kind: Any, **changes: Any) -> Any:
    """Copy one or two of three symbols: solved within 250 updates by either learner."""
    return kind(
        **{
            "env_id": COPY,
            "env_kwargs": {"symbols": 3, "length": 2},
            "look_weight": 1.0,
            "entropy_weight": 0.02,
            "learning_rate": 1e-2,
            "batch_size": 64,
            "episodes": 64 * 250,
            "network": SMALL,
            **changes,
        }
    )


@pytest.mark.learning
@pytest.mark.parametrize("answer_by", ["label", "reward"])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_short_tape_is_soon_copied(name: str, answer_by: str) -> None:
    learner, kind = LEARNERS[name]
    config = easy_config(kind, answer_by=answer_by)
    assert learned_error(learner(config)) < 0.2


# --- curricula -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LEARNERS)
def test_a_curriculum_is_told_what_was_solved(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    learner, kind = LEARNERS[name]
    made = learner(kind(**TINY_COPY, curriculum="threshold"))
    levels = made.env.unwrapped.level_distribution
    assert isinstance(levels, ThresholdLevels)
    assert (levels.least, levels.greatest, levels.present) == (1, 4, 1)
    levels.load_state_dict({"present": 3, "seen": 0, "solved": 0})
    outcomes: list[tuple[NDArray[np.int64], NDArray[np.bool_]]] = []
    monkeypatch.setattr(levels, "record", lambda *outcome: outcomes.append(outcome))
    errors = [made.update(0.0)["error"] for _ in range(10)]
    made.close()
    assert {int(length) for lengths, _ in outcomes for length in lengths} == {1, 2, 3}
    assert [1 - solved.mean() for _, solved in outcomes] == pytest.approx(errors)
    assert 0 < np.mean(errors) < 1


@pytest.mark.learning
def test_lengths_grow_as_a_tape_is_learned() -> None:
    config = easy_config(ReinforceConfig, curriculum="threshold")
    learner = Reinforce(config)
    levels: Any = learner.env.unwrapped.level_distribution  # type: ignore[attr-defined]
    errors: list[float] = []
    while levels.present == 1 and len(errors) < 200:
        errors.append(learner.update(len(errors) / 200)["error"])
    learner.close()
    assert levels.present == 2
    assert np.mean(errors[-4:]) <= 0.25, "just before, four in five of length 1 were solved"
    assert errors[0] > 0.5


@pytest.mark.learning
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("reinforce", {"curriculum": "mixture"}),
        ("reinforce", {"curriculum": "threshold", "answer_by": "reward", "copies": 2}),
        ("actor_critic", {"curriculum": "mixture"}),
        ("actor_critic", {"curriculum": "threshold", "epochs": 2, "minibatches": 2}),
    ],
)
def test_a_run_whose_curriculum_moves_repeats_and_resumes(
    name: str, changes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    soon = {
        kind.name: partial(kind, solve_share=0.05, episodes=7)
        for kind in (ThresholdLevels, MixtureLevels)
    }
    monkeypatch.setattr("glimpse_envs.episodes.levels.LEVEL_DISTRIBUTIONS", soon)
    learner, kind = LEARNERS[name]
    assert_repeats_and_resumes(learner, kind(**TINY_COPY | changes), tmp_path)
    _, metadata = open_run(tmp_path / "one").load_checkpoint()
    assert metadata["numbers"]["env/level_distribution/present"] > 1


@pytest.mark.learning
def test_a_curriculum_of_another_package_repeats_and_resumes(tmp_path: Path) -> None:
    config = ReinforceConfig(**TINY_COPY, curriculum="tests.support.parts.extremes:Extremes")
    learner = Reinforce(config)
    played = play_episodes(learner.env, learner.policy, learner.choose)
    assert set(played.levels.tolist()) == {1, 4}
    learner.close()
    assert_repeats_and_resumes(Reinforce, config, tmp_path)
    _, metadata = open_run(tmp_path / "one").load_checkpoint()
    assert metadata["numbers"]["env/level_distribution/ended"] > 0


# --- until it is solved, and how much is ---------------------------------------------------------


@pytest.mark.learning
@pytest.mark.parametrize("name", LEARNERS)
def test_training_stops_when_the_longest_tapes_are_solved(name: str, tmp_path: Path) -> None:
    config = easy_config(LEARNERS[name][1], stop_at=0.9, validate_every=50)
    run = train_agent(name, config, tmp_path / "run", progress_bar=False)
    curve = learning_curve(run)
    shares = [point.success for point in curve if point.success is not None]
    assert curve[-1].episodes == run.load_checkpoint()[1]["episodes"]
    assert shares[-1] >= 0.9
    assert all(share < 0.9 for share in shares[:-1])
    assert validate_run(run)["validation/success"] == shares[-1]
    before = metrics_of(run)
    again = train_agent(name, config, tmp_path / "run", resume=True, progress_bar=False)
    assert metrics_of(again) == before


class Copier:
    """Puts out what it reads and goes right, but no more than `most` symbols."""

    def __init__(self, most: int) -> None:
        self.most = most

    def predict(
        self,
        observation: dict[str, NDArray[np.float32]],
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[dict[str, NDArray[np.int64]], NDArray[np.int64]]:
        assert episode_start is not None
        answered = np.where(episode_start, 0, 0 if state is None else state)
        symbol = observation["glimpse"].argmax(axis=1)
        answer = np.where(answered < self.most, symbol, 0)
        return {"look": np.full(len(answered), 2), "answer": answer}, answered + (answer > 0)


def untrained(folder: Path, config: TrainingConfig) -> Run:
    return trained(Reinforce, config, folder, stop_after=0)


@pytest.mark.parametrize(("most", "share", "of_all"), [(4, 1.0, 1.0), (3, 0.0, 0.75), (0, 0, 0)])
def test_what_is_solved_is_told_of_the_longest_tapes(
    most: int, share: float, of_all: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = untrained(tmp_path, ReinforceConfig(**TINY_COPY))
    monkeypatch.setattr("agents.scoring.run_scores.load_policy", lambda run, source: Copier(most))
    assert validate_run(run)["validation/success"] == share
    every_length = evaluate_run(run, split="validation", episodes=1000).success
    assert every_length == pytest.approx(of_all, abs=0.06)


def test_levels_are_those_of_the_training(tmp_path: Path) -> None:
    hops = TINY_COPY | {"env_id": CHASE, "env_kwargs": {"length": 3}}
    levels: dict[str, tuple[TrainingConfig, tuple[int, int] | None]] = {
        "set": (ReinforceConfig(**TINY_COPY), (1, 4)),
        "default": (ReinforceConfig(**TINY_COPY | {"env_kwargs": {}}), (1, 10)),
        "hops": (ReinforceConfig(**hops), (1, 3)),
        "pictures": (tiny_config(env_id=CENTRED), None),
    }
    for name, (config, expected) in levels.items():
        assert trained_levels(untrained(tmp_path / name, config)) == expected, name


def test_rows_of_images_are_scored_on_all_lengths_together(tmp_path: Path) -> None:
    rows = {"env_id": "Glimpse/DigitSequenceGlyphs-v0", "env_kwargs": {"length": 2}}
    run = untrained(tmp_path, tiny_config(**rows))
    assert (trained_levels(run), scored_level(run)) == ((1, 2), None)
    (score,) = score_run(run, split="validation", episodes=200)
    assert score.env_kwargs == rows["env_kwargs"]
    record = make_record(run, [score])
    assert (record.levels, record.headline.level) == ((1, 2), None)
    assert read_record(write_record(record, tmp_path / "records")) == record


def test_levels_that_no_argument_asks_for_are_scored_together(tmp_path: Path) -> None:
    """First glimpses near the target have levels, and the environment takes no length."""
    run = untrained(tmp_path, tiny_config(env_kwargs={"first_glimpse": "near"}))
    assert (trained_levels(run), scored_level(run)) == ((1, 16), None)
    assert validate_run(run)["validation/episodes"] == tiny_config().validation_episodes
    (score,) = score_run(run, split="validation", episodes=100)
    assert score.env_kwargs == {"first_glimpse": "near"}


def test_pictures_are_scored_without_a_length(tmp_path: Path) -> None:
    run = untrained(tmp_path, tiny_config())
    expected = evaluate_run(run, split="validation", episodes=1000)
    assert validate_run(run)["validation/success"] == expected.success
