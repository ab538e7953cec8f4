"""The scenes that several runs get wrong are those that each of them gets wrong."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.algorithms.reinforce import Reinforce
from agents.scoring.run_scores import evaluate_run
from benchmarks.mistakes import __main__ as command
from benchmarks.mistakes.__main__ import MistakesConfig, find_mistakes, main, record_name
from benchmarks.mistakes.counting import by_clutter, check_runs, play
from benchmarks.mistakes.scenes import CHANGED, clutter_shares, deal_scenes
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import Run
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
    for looks, path, ((x0, y0, x1, y1),) in zip(
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
    for share, scene, without, ((x0, y0, x1, y1),) in zip(
        shares, scenes, plain, boxes, strict=True
    ):
        x, y = np.meshgrid(np.arange(60) + 0.5, np.arange(60) + 0.5)
        inside = (x0 < x) & (x < x1) & (y0 < y) & (y < y1)
        assert without[0][inside].sum() == pytest.approx(without.sum()), "the target alone"
        changed = np.abs(scene - without)[0][inside] > CHANGED
        assert share == pytest.approx(changed.mean())


def score_of(run: Run, env_id: str, **env_kwargs: Any) -> Evaluation:
    """Of a policy that sees nothing."""
    evaluation = evaluate_run(run, split="validation", episodes=10)
    return replace(evaluation, env_id=env_id, env_kwargs=env_kwargs)


def test_a_scene_without_clutter_or_that_moves_with_it_has_no_shares(seeds: list[Run]) -> None:
    assert clutter_shares(score_of(seeds[0], CENTRED)) is None
    assert clutter_shares(score_of(seeds[0], CLUTTERED, clutter=0)) is None
    assert clutter_shares(score_of(seeds[0], "Glimpse/CircleSquare-v0")) is None
    assert clutter_shares(score_of(seeds[0], "Glimpse/MovingDigitGlyphs-v0")) is None


def test_an_edge_belongs_to_the_kind_below_it() -> None:
    shares = np.array([0.0, 0.01, 0.0101, 0.1, 0.2])
    wrong = np.array([[True, False, True, False, True], [True, False, False, False, False]])
    kinds = [(kind.name, kind.episodes, kind.wrong) for kind in by_clutter(wrong, shares)]
    assert kinds == [
        ("none", 2, 2),
        ("up to 1 %", 2, 0),
        ("up to 3 %", 2, 1),
        ("up to 10 %", 2, 0),
        ("more than 10 %", 2, 1),
    ]
    assert list(by_clutter(wrong, None)) == []


def test_of_several_targets_mistakes_are_counted_by_those_visited(tmp_path: Path) -> None:
    config = tiny_config(env_id="Glimpse/DigitPairGlyphs-v0", env_kwargs={})
    run = trained(Reinforce, config, tmp_path / "run")
    found = find_mistakes(MistakesConfig((run.folder,), episodes=SCENES, record=tmp_path))
    played = play(run, "validation", SCENES)
    _, boxes = deal_scenes(played.evaluation, np.arange(SCENES))
    assert played.evaluation.locations is not None
    visited = []
    for path, of_scene in zip(played.evaluation.locations, boxes, strict=True):
        x, y = (path[:, None] + 1).transpose(2, 0, 1) / 2 * 100  # (T, targets) each
        x0, y0, x1, y1 = of_scene.T
        visited.append(((x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1)).any(axis=0).sum())
    counts = {str(n): visited.count(n) for n in set(visited)}
    assert len(counts) > 1
    assert {kind.name: kind.episodes for kind in found.by_visits} == counts
    assert sum(kind.wrong for kind in found.by_visits) == found.wrong[0]
    (record,) = tmp_path.glob("*.json")
    assert read_mistakes(record) == found


@pytest.mark.parametrize("name", ["SearchGlyphs", "Copy"])
def test_tasks_without_targets_and_one_answer_are_refused(name: str, tmp_path: Path) -> None:
    config = tiny_config(env_id=f"Glimpse/{name}-v0", env_kwargs={}, batch_size=4, episodes=4)
    run = trained(Reinforce, config, tmp_path)
    with pytest.raises(RunError, match="does not hide targets"):
        check_runs([run])


@pytest.mark.parametrize("name", ["DigitSequenceGlyphs", "DescribeSceneGlyphs"])
def test_several_answers_are_refused(name: str, tmp_path: Path) -> None:
    env_id = f"Glimpse/{name}-v0"
    config = tiny_config(env_id=env_id, env_kwargs={}, batch_size=4, episodes=4)
    run = trained(Reinforce, config, tmp_path)
    with pytest.raises(RunError, match="that of several answers"):
        play(run, "validation", 30)


def test_runs_that_cannot_be_compared_are_refused_before_they_are_played(
    seeds: list[Run],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command, "play", None)
    other = trained(Reinforce, tiny_config(env_id=CENTRED), tmp_path / "other")
    with pytest.raises(RunError, match="must differ in their seeds alone"):
        find_mistakes(MistakesConfig((seeds[0].folder, other.folder)))
    copy = tmp_path / "copy"
    shutil.copytree(seeds[0].folder, copy)
    with pytest.raises(RunError, match=r"must be of different seeds; they are of \[0, 0\]"):
        find_mistakes(MistakesConfig((seeds[0].folder, copy)))
    with pytest.raises(SystemExit):
        main([])
    assert "give at least one run" in capsys.readouterr().err


def test_records_of_other_models_and_splits_have_other_files(seeds: list[Run]) -> None:
    folders = tuple(run.folder for run in seeds)
    found = find_mistakes(MistakesConfig(folders, episodes=20, hardest=1))
    changed = [
        replace(found, split="test"),
        replace(found, model="A2C"),
        replace(found, env_kwargs={}),
    ]
    assert len({record_name(each) for each in (found, *changed)}) == 4
    assert record_name(found) == "Glimpse-ClutteredGlyphs-v0_budget-3_Reinforce-LSTM_validation"
