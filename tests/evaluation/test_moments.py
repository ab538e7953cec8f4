"""One episode moment by moment, as films and reports show it."""

from contextlib import closing
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from glimpse_envs.evaluation.dealing import deal, deal_one
from glimpse_envs.evaluation.moments import moments
from glimpse_envs.evaluation.policy import as_policy
from glimpse_envs.evaluation.protocol import evaluate
from tests.evaluation.test_tape_scores import COPY, TAPES, Copier


@pytest.mark.parametrize("split", ["train", "test"])
def test_a_single_environment_is_dealt_what_a_row_is(split: str) -> None:
    rows = gym.make_vec(COPY, num_envs=2, split=split)
    with closing(rows), closing(gym.make(COPY, split=split)) as single:
        seen, _ = deal(rows, split, 3, np.array([5, 2]))
        alone, _ = deal_one(single, split, 3, 2)
        for name, part in alone.items():
            np.testing.assert_array_equal(part, seen[name][1])


def test_a_policy_with_a_state_plays_as_it_is_scored() -> None:
    copier: Any = Copier(lapses=1, how="err")
    scored = evaluate(copier, COPY, episodes=6, **TAPES)
    with closing(gym.make(COPY, split="test", **TAPES)) as env:
        for episode in range(6):
            begun = deal_one(env, "test", 0, episode)
            *before, last = moments(as_policy(copier), env, *begun)
            assert not any(moment.ended for moment in before)
            assert last.ended
            assert len(before) == scored.glimpses[episode]
            assert last.total == pytest.approx(scored.returns[episode])
            assert [moment.state is None for moment in before] == [
                bool(moment.episode_start[0]) for moment in before
            ]
