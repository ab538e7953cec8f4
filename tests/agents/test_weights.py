"""Published weights score what their records say."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from agents.policy.glimpse_policy import GlimpsePolicy
from agents.scoring.run_scores import at_level, evaluate_run
from glimpse_envs.evaluation.records import read_records, unpack
from glimpse_envs.evaluation.runs import open_run
from glimpse_envs.sources import SourceError

RESULTS = Path(__file__).parents[2] / "results"
FOLDERS = sorted(path for path in (RESULTS / "weights").iterdir() if path.is_dir())
SCENES = 2000


@pytest.mark.learning
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_weights_answer_as_their_record(folder: Path) -> None:
    run = open_run(folder)
    assert sum(path.stat().st_size for path in folder.iterdir()) < 3e6
    made = (run.config["config"], run.config["config"]["seed"], run.config["revision"])
    (headline,) = [
        record.headline
        for records in (RESULTS, *RESULTS.iterdir())
        if records.is_dir()
        for record in read_records(records)[0]
        if (record.config, record.seed, record.revision) == made
    ]
    scenes = min(SCENES, headline.episodes)
    level = {} if headline.level is None else at_level(headline.level)
    try:
        found = evaluate_run(run, episodes=scenes, **level).successes
    except SourceError as error:
        pytest.skip(f"its files are absent: {error}")
    expected = unpack(headline.successes, headline.episodes)[:scenes]
    assert found is not None
    # Half precision, and another processor's sums, may turn an answer of which it is unsure.
    assert np.mean(found == expected) > 0.99
    assert found.mean() == pytest.approx(expected.mean(), abs=0.004)


@pytest.mark.learning
def test_recall_stores_each_pair_in_a_cell_of_its_own() -> None:
    """As docs/training.md says of the published agent."""
    run, pairs, episodes = open_run(RESULTS / "weights" / "AssociativeRecall"), 6, 200
    policy = GlimpsePolicy.from_run(run)
    env = gym.make_vec(
        "Glimpse/AssociativeRecall-v0",
        num_envs=episodes,
        split="validation",
        min_length=pairs,
        length=pairs,
    )
    observation, _ = env.reset(seed=0)
    state: Any = None
    going = np.ones(episodes, np.bool_)
    looks: list[list[int]] = [[] for _ in range(episodes)]
    while going.any():
        actions, state = policy.predict(observation, state, deterministic=True)
        for row in np.flatnonzero(going):
            looks[row].append(int(actions["look"][row]))
        observation, _, terminated, truncated, _ = env.step(actions)
        going &= ~(terminated | truncated)
    stored, read = [each[:pairs] for each in looks], [each[pairs:-1] for each in looks]
    assert all(len(set(cells)) == pairs for cells in stored)
    assert all(len(set(cells)) == len(cells) for cells in read)
    assert max(map(len, read)) > 1, "some pairs are looked for"
