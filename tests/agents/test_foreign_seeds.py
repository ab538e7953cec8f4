"""Seeds of rows of others' environments: of the run's seed and the row's number among all rows."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.algorithms import learner
from agents.algorithms.actor_critic import ActorCritic, ActorCriticConfig
from agents.policy.networks import NetworkConfig

CONFIG = ActorCriticConfig(
    env_id="CartPole-v1",
    answer_by="reward",
    network=NetworkConfig(glimpse_units=8, core_units=8, head_units=8),
)


def next_episodes(seed: int, rows: int, parts: int = 1) -> NDArray[np.float32]:
    """(rows, 4), the first observations of each row's second episode in a run of `seed`."""
    config = replace(CONFIG, seed=seed, batch_size=rows, parts=parts)
    envs = ActorCritic(config).envs
    return np.concatenate([env.reset()[0]["observation"] for env in envs])


def test_runs_of_neighbouring_seeds_share_no_row() -> None:
    rows = np.concatenate([next_episodes(seed, rows=8) for seed in range(3)])
    assert len(np.unique(rows, axis=0)) == len(rows)


def test_a_run_that_goes_on_plays_no_episode_again() -> None:
    first = ActorCritic(CONFIG)
    again = ActorCritic(CONFIG)
    again.load_state_dict(first.state_dict())
    rows = np.concatenate([each.envs[0].reset()[0]["observation"] for each in (first, again)])
    assert len(np.unique(rows, axis=0)) == len(rows)


def test_rows_are_the_same_in_parts_and_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = next_episodes(5, rows=8)
    np.testing.assert_array_equal(next_episodes(5, rows=8, parts=2), whole)
    np.testing.assert_array_equal(next_episodes(5, rows=4), whole[:4])
    monkeypatch.setattr(learner, "rank", lambda: 1)
    np.testing.assert_array_equal(next_episodes(5, rows=4), whole[4:])
