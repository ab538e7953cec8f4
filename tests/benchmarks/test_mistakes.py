"""The scenes that several runs get wrong are those that each of them gets wrong."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agents.algorithms.reinforce import Reinforce
from agents.scoring.run_scores import evaluate_run
from benchmarks.mistakes import (
    MistakesConfig,
    clutter_shares,
    deal_scenes,
    find_mistakes,
    main,
    play,
)
from glimpse_envs.evaluation.runs import Run, RunError
from report.mistakes import read_mistakes
from tests.support.episodes import CENTRED, CLUTTERED
from tests.support.tiny import tiny_config
from tests.support.trainings import trained

SCENES = 60


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Runs of two seeds."""
    folder = tmp_path_factory.mktemp("runs")
    config = tiny_config(env_id=CLUTTERED, env_kwargs={"budget": 3})
    return [trained(Reinforce, replace(config, seed=seed), folder / str(seed)) for seed in range(2)]


def test_mistakes_are_counted_scene_by_scene(seeds: list[Run], tmp_path: Path) -> None:
    folders = tuple(run.folder for run in seeds)
    options = MistakesConfig(folders, episodes=SCENES, hardest=5, record=tmp_path / "record")
    found = find_mistakes(options)
    assert (found.scenes, found.split, found.seeds) == (SCENES, "validation", (0, 1))

    scores = [evaluate_run(run, split="validation", episodes=SCENES) for run in seeds]
    wrong = np.stack([~score.successes for score in scores if score.successes is not None])
    assert found.wrong == tuple(wrong.sum(axis=1))
    times = wrong.sum(axis=0)
    assert found.wrong_in == tuple((times == k).sum() for k in range(3))
    for kinds in (found.by_looks, found.by_answer, found.by_clutter):
        assert sum(kind.episodes for kind in kinds) == 2 * SCENES
        assert sum(kind.wrong for kind in kinds) == wrong.sum()
    assert [times[hard.scene] for hard in found.hardest] == sorted(times, reverse=True)[:5]
    for hard in found.hardest:
        assert sum(answer != hard.target for answer in hard.answers) == times[hard.scene]

    (record,) = (tmp_path / "record").glob("*.json")
    assert read_mistakes(record) == found
    assert record.with_suffix(".png").stat().st_size > 0


def test_looks_at_the_target_are_those_whose_middle_lies_on_it(seeds: list[Run]) -> None:
    played = play(seeds[0], "validation", SCENES)
    _, boxes = deal_scenes(played.evaluation, np.arange(SCENES))
    assert played.evaluation.locations is not None
    side = 60
    for looks, path, (x0, y0, x1, y1) in zip(
        played.looks, played.evaluation.locations, boxes, strict=True
    ):
        x, y = (path[1:].T + 1) / 2 * side  # the first glimpse is dealt
        assert looks == ((x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1)).sum()


def test_clutter_is_what_a_scene_without_it_has_not(seeds: list[Run]) -> None:
    evaluation = evaluate_run(seeds[0], split="validation", episodes=SCENES)
    shares = clutter_shares(evaluation)
    assert shares is not None
    scenes, boxes = deal_scenes(evaluation, np.arange(SCENES))
    plain, same = deal_scenes(evaluation, np.arange(SCENES), clutter=0)
    np.testing.assert_array_equal(boxes, same)
    np.testing.assert_array_less(plain, scenes + 1e-6)  # clutter only adds light
    x0, y0, x1, y1 = np.rint(boxes[0]).astype(int)
    assert plain[0, :, y0:y1, x0:x1].sum() == pytest.approx(plain[0].sum()), "the target alone"
    assert 0 < (shares > 0).mean() < 1
    assert shares.max() < 0.5


def test_runs_that_cannot_be_compared_are_refused(
    seeds: list[Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = trained(Reinforce, tiny_config(env_id=CENTRED), tmp_path / "other")
    folders = (seeds[0].folder, other.folder)
    with pytest.raises(RunError, match="must differ in their seeds alone"):
        find_mistakes(MistakesConfig(folders, episodes=20))
    tape = tiny_config(env_id="Glimpse/Copy-v0", env_kwargs={})
    with pytest.raises(RunError, match="has no looks at places"):
        play(trained(Reinforce, tape, tmp_path / "tape"), "validation", 20)
    with pytest.raises(SystemExit):
        main([str(seeds[0].folder)])
    assert "give at least two runs" in capsys.readouterr().err
