"""Looks in symmetric-log coordinates, and first glimpses that begin near the target."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.algorithms.reinforce import Reinforce
from agents.episodes.rollout import play_episodes
from agents.scoring.run_scores import score_run
from agents.train import train_agent
from agents.training.config import check_config
from glimpse_envs.episodes.levels import LEVEL_DISTRIBUTIONS, NearestLevels
from glimpse_envs.evaluation.runs import open_run
from tests.support.same_runs import assert_repeats_and_resumes
from tests.support.tiny import tiny_config, tiny_network

EXTREMES = "tests.support.parts.extremes:Extremes"
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


@pytest.mark.parametrize(("share", "moves_on"), [(None, False), (0.5, True)])
def test_the_share_that_moves_the_curriculum_on_can_be_given(
    share: float | None, moves_on: bool
) -> None:
    learner = Reinforce(tiny_config(**LARGE, solve_share=share))
    levels, six_of_ten = np.ones(1000, np.int64), torch.arange(1000) % 10 < 6
    learner.record_success(levels, six_of_ten)
    distribution = learner.batch and learner.batch.level_distribution
    assert isinstance(distribution, NearestLevels)
    assert distribution.present == 1 + moves_on
    learner.close()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"solve_share": 0.0}, "solve_share=0.0 must be a share above 0, at most 1"),
        ({"solve_share": 1.5}, "solve_share=1.5 must be a share above 0, at most 1"),
        ({"solve_share": 0.5, "curriculum": None}, "solve_share=0.5 belongs to a curriculum"),
        ({"solve_share": 0.5, "curriculum": EXTREMES}, "solve_share=0.5: curriculum='tests.* has"),
    ],
)
def test_shares_that_mean_nothing_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_config(tiny_config(**LARGE | changes))


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
    monkeypatch.setitem(LEVEL_DISTRIBUTIONS, "distance", partial(NearestLevels, episodes=7))
    assert_repeats_and_resumes(Reinforce, tiny_config(**LARGE, solve_share=0.05), tmp_path)
    run = open_run(tmp_path / "one")
    _, metadata = run.load_checkpoint()
    present = metadata["numbers"]["env/level_distribution/present"]
    levels = [line["level"] for line in run.read_metrics() if "level" in line]
    assert 1 < levels[-1] <= present
    assert levels == sorted(levels)
