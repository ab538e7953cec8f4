"""Looks in symmetric-log coordinates, and first glimpses that begin near the target."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.algorithms.reinforce import Reinforce
from agents.episodes.rollout import play_episodes
from agents.scoring.run_scores import score_run
from agents.train import train_agent
from glimpse_envs.episodes.levels import NearestLevels
from glimpse_envs.evaluation.runs import open_run
from tests.support.same_runs import assert_repeats_and_resumes
from tests.support.tiny import tiny_config, tiny_network

LARGE: dict[str, Any] = {
    "env_id": "Glimpse/TranslatedGlyphs-v0",
    "env_kwargs": {"budget": 3},
    "curriculum": "distance",
    "network": tiny_network(look_coordinates="log_move"),
}


def test_the_oracle_looks_at_the_target_whatever_the_coordinates() -> None:
    learner = Reinforce(tiny_config(**LARGE, gaze="oracle"))
    played = play_episodes(learner.env, learner.policy, learner.choose)
    info = learner.batch.task.info(np.arange(8)) if learner.batch else {}
    boxes = info["target_box"]
    for observation in played.observations[1:]:
        places = observation["location"].numpy()
        assert ((places > boxes[:, :2]) & (places < boxes[:, 2:])).all()
    learner.close()


def test_first_glimpses_are_near_in_training_alone(tmp_path: Path) -> None:
    config = tiny_config(**LARGE)
    learner = Reinforce(config)
    assert learner.description.levels == (1, 16)
    assert isinstance(learner.batch and learner.batch.level_distribution, NearestLevels)
    learner.close()
    run = train_agent("reinforce", config, tmp_path / "run", progress_bar=False)
    (score,) = score_run(run, split="validation", episodes=50)
    assert "first_glimpse" not in score.env_kwargs


@pytest.mark.learning
def test_a_run_whose_first_glimpses_move_away_repeats_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NearestLevels, "SHARE", 0.05)
    monkeypatch.setattr(NearestLevels, "EPISODES", 7)
    assert_repeats_and_resumes(Reinforce, tiny_config(**LARGE), tmp_path)
    _, metadata = open_run(tmp_path / "one").load_checkpoint()
    assert metadata["numbers"]["env/level_distribution/present"] > 1
