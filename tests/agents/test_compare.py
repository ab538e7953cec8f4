"""Models are compared over their seeds, on the same episodes, in three formats."""

import csv
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from agents.algorithms.reinforce import Reinforce
from agents.compare import CompareConfig, compare_runs, main
from agents.scoring import model_scores
from agents.scoring.model_scores import ModelScore, _model_score
from agents.scoring.run_scores import evaluate_run
from agents.scoring.score_tables import FORMATS, notes
from agents.training.training_length import TrainingLength
from glimpse_envs.evaluation.differences import difference_interval
from glimpse_envs.evaluation.statistics import (
    bootstrap_interval,
    interquartile_mean,
    student_quantile,
)
from tests.support.tiny import tiny_config
from tests.support.trainings import trained

EPISODES = 60


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two seeds of a learned gaze and of a random one, and one seed of a static one."""
    root = tmp_path_factory.mktemp("runs")
    made = {}
    for gaze, seeds in (("learned", (0, 1)), ("random", (0, 1)), ("static", (0,))):
        for seed in seeds:
            folder = made[f"{gaze}-{seed}"] = root / f"{gaze}-{seed}"
            trained(Reinforce, tiny_config(gaze=gaze, seed=seed), folder)
    return made


def correct_of(*folders: Path) -> np.ndarray:
    scores = [evaluate_run(folder, episodes=EPISODES).successes for folder in folders]
    return np.stack([np.asarray(score) for score in scores])


def test_models_are_their_seeds_and_are_compared_with_the_first(folders: dict[str, Path]) -> None:
    learned, other, one = compare_runs(CompareConfig(tuple(folders.values()), episodes=EPISODES))
    first = correct_of(folders["learned-0"], folders["learned-1"])
    second = correct_of(folders["random-0"], folders["random-1"])
    assert (learned.runs, other.runs, one.runs) == (2, 2, 1)
    assert learned.score == interquartile_mean((~first).mean(axis=1))
    assert learned.interval == bootstrap_interval(first)
    assert (learned.difference, learned.difference_interval) == (None, None)
    assert other.difference == pytest.approx((~second).mean() - (~first).mean())
    assert other.difference_interval == difference_interval(second, first)
    assert one.interval == pytest.approx([1 - bound for bound in wilson(folders["static-0"])[::-1]])
    assert one.difference is not None
    assert one.difference_interval is None, "one run does not show how much seeds differ"
    assert "random" in other.name
    assert learned.trained == 96
    assert not learned.claims


def wilson(folder: Path) -> tuple[float, float]:
    interval = evaluate_run(folder, episodes=EPISODES).success_interval
    assert interval is not None
    return interval


def test_the_same_numbers_stand_in_all_formats(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [str(folders[name]) for name in ("learned-0", "learned-1", "random-0", "random-1")]
    options = ["--episodes", str(EPISODES), "--format"]
    main([*runs, *options, "markdown"])
    printed = capsys.readouterr().out
    heads, _, *rows = [line for line in printed.splitlines() if line.startswith("|")]
    assert heads.split(" | ")[2:4] == ["error %", "interval"]
    main([*runs, *options, "csv"])
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    out = tmp_path / "table.tex"
    main([*runs, *options, "latex", "--out", str(out)])
    assert str(out) in capsys.readouterr().out
    tex = out.read_text()
    assert tex.count(r" \\") == 3
    for row, line in zip(rows, lines, strict=True):
        told = f"{100 * float(line['error']):.2f}"
        between = f"{100 * float(line['error_low']):.2f} to {100 * float(line['error_high']):.2f}"
        assert f" | {told} | {between} | " in row
        assert f" & {told} & {between} & " in tex
        assert line["claims"] == "0"
    assert (lines[0]["difference"], lines[0]["difference_low"]) == ("", "")
    assert float(lines[1]["difference"]) == pytest.approx(
        float(lines[1]["error"]) - float(lines[0]["error"])
    )
    assert "A claim needs 5 seeds (10 where trainings take under 6 core-minutes)" in printed


def test_latex_has_no_letter_that_means_something_else() -> None:
    name = r"a_b & 50 % #1 $x$ {y} \z ~ ^ — …"
    score = ModelScore(name, 5, True, 0.5, (0.4, 0.6), None, None, 3.0, None, None, True)
    row = FORMATS["latex"]([score]).split("\n")[4]
    assert row.startswith(
        r"a\_b \& 50 \% \#1 \$x\$ \{y\} \textbackslash{}z \textasciitilde{} \textasciicircum{} --- "
        r"\ldots{} & "
    )
    assert row.count(" & ") == 8
    assert "A claim" not in notes([score])


@pytest.mark.parametrize(
    ("minutes", "cores", "episodes", "claims"),
    [
        ([7.0] * 5, 1, 10_000, True),
        ([7.0] * 4, 1, 10_000, False),
        ([7.0] * 5, 1, 9_999, False),
        ([5.0, 7.0, 7.0, 7.0, 7.0], 1, 10_000, False),
        ([3.5] * 5, 2, 10_000, True),
        ([5.0] * 10, 1, 10_000, True),
        ([5.0] * 9, 1, 10_000, False),
    ],
)
def test_claims_are_those_of_the_published_tables(
    minutes: list[float],
    cores: int,
    episodes: int,
    claims: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def length_of(run: Any) -> TrainingLength:
        return TrainingLength(1_000, 60 * run.minutes)

    monkeypatch.setattr(model_scores, "training_length", length_of)
    monkeypatch.setattr(model_scores, "cores_of", lambda run: cores)
    monkeypatch.setattr(model_scores, "trainers_of", lambda run: [{"device": "cpu"}])
    runs: Any = [SimpleNamespace(minutes=each, pictures_replaced=lambda: False) for each in minutes]
    played: Any = SimpleNamespace(
        successes=np.ones(episodes, np.bool_),
        success_interval=(0.9, 1.0),
        mean_glimpses=1.0,
        episodes=episodes,
    )
    score = _model_score("model", runs, [played] * len(runs), None)
    assert score.claims == claims
    assert score.core_minutes == cores * sorted(minutes)[len(minutes) // 2]
    monkeypatch.setattr(model_scores, "trainers_of", lambda run: [{"device": "cuda:0"}])
    on_gpu = _model_score("model", runs, [played] * len(runs), None)
    assert on_gpu.core_minutes is None
    assert on_gpu.claims == (claims and len(runs) >= 10)


def test_lengths_other_than_the_greatest_are_not_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in (0, 1):
        config = tiny_config(
            env_id="Glimpse/Copy-v0",
            env_kwargs={"length": 2, "symbols": 3},
            answer_by="reward",
            seed=seed,
        )
        trained(Reinforce, config, tmp_path / str(seed))
    played = []

    def noting(*arguments: Any, **known: Any) -> Any:
        played.append(known["length"])
        return evaluate_run(*arguments, **known)

    monkeypatch.setattr(model_scores, "evaluate_run", noting)
    (score,) = compare_runs(CompareConfig((tmp_path / "0", tmp_path / "1"), episodes=20))
    assert (played, score.runs) == ([2, 2], 2)


def test_returns_are_compared_over_seeds() -> None:
    def played(mean: float) -> Any:
        return SimpleNamespace(
            successes=None,
            mean_return=mean,
            return_interval=(mean - 1, mean + 1),
            returns=np.array([mean - 1, mean + 1]),
            mean_glimpses=4.0,
            episodes=2,
        )

    first, second = [played(mean) for mean in (1, 2, 3)], [played(mean) for mean in (4, 6)]
    score = _model_score("other", [], second, first)
    assert (score.by_error, score.score, score.difference) == (False, 5.0, 3.0)
    # Welch: variances 1 / 3 and 2 / 2, of 2 and 1 degrees of freedom.
    error = np.sqrt(1 / 3 + 1)
    free = (1 / 3 + 1) ** 2 / ((1 / 3) ** 2 / 2 + 1)
    assert score.difference_interval is not None
    low, high = score.difference_interval
    assert (low + high) / 2 == pytest.approx(3.0)
    assert (high - low) / 2 == pytest.approx(error * student_quantile(0.975, free))
    (alone,) = second[:1]
    single = _model_score("one", [], [alone], [played(1)])
    assert single.interval == (3, 5)
    assert _model_score("one", [], [alone], first).difference_interval is None
    assert "Return: mean over the runs" in FORMATS["markdown"]([score])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 0}, "are of one config and seed 0, so they are not two training seeds"),
        ({"env_id": "Glimpse/TranslatedGlyphs-v0"}, "must be of one environment"),
        ({"env_kwargs": {"budget": 3, "scene_size": 40}}, "runs are compared on the same task"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    changes: dict[str, Any],
    message: str,
    folders: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trained(Reinforce, tiny_config(**changes), tmp_path / "run")
    monkeypatch.setattr(model_scores, "evaluate_run", None)  # nothing is played
    with pytest.raises(SystemExit):
        main([str(folders["learned-0"]), str(tmp_path / "run"), "--episodes", "20"])
    assert message in capsys.readouterr().err


def test_runs_are_needed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([])
    assert "name at least one run" in capsys.readouterr().err
