"""Tasks of new families are trained, scored, recorded and drawn by the ordinary commands."""

from pathlib import Path

import pytest

from agents import evaluate, train
from glimpse_envs.evaluation.records import read_records
from report.__main__ import main as report
from tests.support.tasks import ROWS

SIZES = ["what", "where", "glimpse", "core", "head"]
EPISODES = 20_000  # with half as many, some seeds stay under the return that is asked for
CHANCE = {"Tiny/FallingBall-v0": 0.2, "Tiny/TwoAnswers-v0": 0.3, "Tiny/WhoIsWhere-v0": 1 / 3}


@pytest.mark.learning
@pytest.mark.parametrize("tiny_id", ROWS)
def test_a_new_task_passes_through_every_command(tiny_id: str, tmp_path: Path) -> None:
    run, results = tmp_path / "run", tmp_path / "results"
    options = {
        "env-id": tiny_id,
        "episodes": EPISODES,
        "batch-size": 128,
        "learning-rate": 3e-3,
        "look-weight": 1.0,
        "entropy-weight": 0.01,
        "gae-lambda": 1.0,
        "run": run,
    } | {f"network.{size}-units": 32 for size in SIZES}
    arguments = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    train.main(["actor_critic", *arguments, "--network.skip"])
    film = tmp_path / "film.gif"
    evaluate.main([str(run), "--record", str(results), "--film", str(film)])
    (record,), problems = read_records(results)
    assert not problems
    assert film.stat().st_size > 0

    (score,) = record.scores
    assert score.episodes == 10_000
    assert (score.success is None) == (tiny_id == "Tiny/FallingBall-v0")
    assert score.mean_return is not None
    assert score.mean_return > 1.5 * CHANCE[tiny_id]

    (tmp_path / "README.md").write_text("<!-- headline:begin -->\n<!-- headline:end -->\n")
    assert report(["results", "--results", str(results)], root=tmp_path) == 0
    page = (tmp_path / "docs" / "results.md").read_text()
    (section,) = (part for part in page.split("\n## ") if part.startswith(f"{tiny_id}\n"))
    # Nothing is taught where a ball is to be caught.
    by_reward = ", answer by reward" if tiny_id == "Tiny/FallingBall-v0" else ""
    assert f"\n| A2C LSTM{by_reward} |" in section
