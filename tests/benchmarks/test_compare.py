"""One command trains hard and soft on the same scenes, and what fails does not stop the rest."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import benchmarks.comparison.compare
from agents.algorithms.reinforce import ReinforceConfig
from agents.presets import PRESETS
from agents.training.loop import train
from agents.training.precision import fastest_precision
from benchmarks.comparison.compare import (
    CompareConfig,
    Task,
    comparable,
    compare_models,
    main,
    plan,
    train_and_score,
)
from benchmarks.comparison.contenders import (
    A_FEW,
    ALGORITHMS,
    CONTENDERS,
    CONTROLLER,
)
from benchmarks.processes import Failure
from glimpse_envs.evaluation.record import Model, Record, Score
from glimpse_envs.evaluation.records import read_records
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import open_run
from tests.support.episodes import CENTRED, CLUTTERED
from tests.support.guides import ROOT
from tests.support.trainings import trained

QUICK: dict[str, Any] = {
    "env_id": CENTRED,
    "env_kwargs": {"budget": 2},
    "minutes": 0.004,
    "episodes": 60,
    "validation_episodes": 20,
}


def one_after_another(
    work: Callable[[Task], Record], tasks: Sequence[Task], processes: int
) -> Iterator[tuple[Task, Record | Failure]]:
    """`side_by_side` within this process, where it can be watched."""
    for task in tasks:
        try:
            yield task, work(task)
        except (RunError, ValueError) as error:
            yield task, Failure(str(error))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarks.comparison.compare, "side_by_side", one_after_another)
    monkeypatch.setattr("report.figures.comparison.draw_comparison", lambda *_: None)


def quick(folder: Path, *models: str, **changes: Any) -> CompareConfig:
    return CompareConfig(**{**QUICK, "out": folder, "models": models, **changes})


@pytest.mark.learning
def test_the_command_compares_and_one_that_fails_stops_no_other(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        "--env-id", CENTRED, "--env-kwargs", "budget=2", "stop=True", "--minutes", "0.03",
        "--models", "exact", "random", "full_conv", "--out", str(tmp_path),
        "--episodes", "80", "--validation-episodes", "40",
    ]  # fmt: skip
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    printed = capfd.readouterr()
    assert "exact-0 failed: exact takes no stop" in printed.err
    assert "error: 1 of 3 contenders failed: exact-0" in printed.err
    lines = printed.out.splitlines()
    assert sum(line.startswith("| Full view conv |") for line in lines) == 1
    assert sum(line.startswith("| Reinforce LSTM, random glimpses") for line in lines) == 1
    records, problems = read_records(tmp_path / "records")
    assert problems == []
    assert len(records) == 2
    for record in records:
        assert record.headline.episodes == 80
        assert record.notes.startswith("settings chosen by about ")
        assert 0.03 * 60 <= record.seconds < 0.03 * 60 + 2
        assert len(record.headline.costs) == 5
        assert record.curve[-1].episodes == record.episodes, "scored at its end"
        assert [point.scored for point in record.curve] == [40] * len(record.curve)
    assert (tmp_path / "comparison.png").read_bytes()[:4] == b"\x89PNG"
    assert "Full view conv" in (tmp_path / "comparison.md").read_text()


def test_the_record_of_scaling_beside_the_others_is_no_damaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(benchmarks.comparison.compare, "side_by_side", lambda *_: (_ for _ in ()))
    config = quick(tmp_path, "random")
    config.records.mkdir()
    (config.records / "scaling.json").write_text('{"benchmark": "scaling"}')
    assert compare_models(config) == []
    assert capsys.readouterr().err == ""


def untimed(record: Record) -> Record:
    """A record without the seconds of its episodes, which are measured anew."""
    scores = tuple(
        replace(score, costs={n: v for n, v in score.costs.items() if n != "seconds"})
        for score in record.scores
    )
    return replace(record, scores=scores)


@pytest.mark.learning
@pytest.mark.usefixtures("here")
def test_again_it_trains_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = quick(tmp_path, "full_conv", "full_dense")
    first = compare_models(config)
    metrics = [open_run(folder).read_metrics() for folder in sorted(tmp_path.glob("full*"))]

    def refuse(*_: object) -> None:
        raise AssertionError("it trains")

    monkeypatch.setattr("baselines.learner.SupervisedLearner.update", refuse)
    assert [untimed(record) for record in compare_models(config)] == [
        untimed(record) for record in first
    ]
    assert [open_run(f).read_metrics() for f in sorted(tmp_path.glob("full*"))] == metrics
    assert len(first) == 2


@pytest.mark.learning
@pytest.mark.usefixtures("here")
def test_an_interrupted_contender_goes_on(tmp_path: Path) -> None:
    config = quick(tmp_path, "full_dense")
    (task,) = plan(config)
    make = ALGORITHMS[CONTENDERS["full_dense"].algorithm].make
    trained(make, task.config, tmp_path / task.name, stop_after=1)
    (record,) = compare_models(config)
    assert record.episodes > task.config.batch_size
    assert record.seconds >= 60 * QUICK["minutes"] - 0.05, "which is rounded"


def test_what_was_interrupted_is_not_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (task,) = plan(quick(tmp_path, "full_dense"))

    def interrupted(*arguments: Any, **options: Any) -> Any:
        return train(*arguments, **options, stop_after=1)

    monkeypatch.setattr("agents.algorithms.algorithm.train", interrupted)
    with pytest.raises(RunError, match="interrupted; the same command goes on with it"):
        train_and_score(task)
    assert not (tmp_path / "records").exists()


@pytest.mark.learning
@pytest.mark.usefixtures("here")
def test_another_environments_run_is_named_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compare_models(quick(tmp_path, "full_dense"))
    other = quick(tmp_path, "full_dense", "full_conv", env_id=CLUTTERED)
    with pytest.raises(RunError, match="1 of 2 contenders failed: full_dense-0"):
        compare_models(other)
    errors, folder = capsys.readouterr().err, tmp_path / "full_dense-0"
    assert f"full_dense-0 failed: {folder} is a run with another config" in errors
    assert f"env_id ('{CENTRED}', now '{CLUTTERED}')" in errors


@pytest.mark.learning
@pytest.mark.usefixtures("here")
def test_a_damaged_record_is_named_and_others_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = tmp_path / "published"
    records.mkdir()
    (records / "torn.json").write_text('{"env_id": ')
    compare_models(quick(tmp_path / "short", "full_dense", record=records))
    longer = quick(tmp_path / "long", "full_dense", record=records, minutes=0.005, seeds=(0, 1))
    drawn = compare_models(longer)
    assert f"left out: {records / 'torn.json'}: " in capsys.readouterr().err
    assert [record.config["minutes"] for record in drawn] == [0.005] * 2
    assert {record.seed for record in drawn} == {0, 1}
    assert len(list(records.glob("*.json"))) == 4, "three of them whole"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models": ("draw", "drawn")}, "models: 'drawn' must be one of reinforce"),
        ({"episodes": 20_000}, "episodes=20000: the test split has 10000"),
        ({"env_kwargs": {"budget": "nope"}}, "budget='nope' must be an integer"),
        ({"models": ()}, "at least one of --models"),
        ({"seeds": (-1,)}, "at least 0"),
        ({"minutes": 0.0}, "minutes=0.0 must be above 0"),
        ({"minutes": -1.0}, "minutes=-1.0 must be above 0"),
        ({"processes": 0}, "processes=0 must be at least 1"),
        ({"episodes": 0}, "episodes=0 must be at least 1"),
        ({"env_id": "Glimpse/Nowhere-v0"}, "Environment `Nowhere` doesn't exist"),
        (
            {"env_id": "Glimpse/Copy-v0", "env_kwargs": {}},
            "env_id='Glimpse/Copy-v0' hides no picture",
        ),
        ({"env_id": "CartPole-v1"}, "is no environment of glimpses"),
        ({"env_kwargs": {"colour": "red"}}, "env_kwargs: colour cannot be set here"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_made(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    config = replace(quick(tmp_path / "new", "reinforce"), **changes)
    with pytest.raises((ValueError, gym.error.Error), match=message):
        compare_models(config)
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("here")
def test_an_algorithm_of_another_package_is_a_contender(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted: set[str] = set()
    monkeypatch.setattr("glimpse_envs.evaluation.trust._trusted", trusted)
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "own_agent"))
    config = quick(tmp_path, "my_agents:POOL", "my_agents:SHRUNK")
    records = compare_models(config)
    assert {record.algorithm for record in records} == {"my_agents:POOL", "my_agents:SHRUNK"}
    assert (tmp_path / "my_agents.POOL-0").is_dir()
    trusted.clear()  # as in another process
    assert len(compare_models(config)) == 2
    shrunk = next(task.config for task in plan(config) if "SHRUNK" in task.contender)
    assert vars(shrunk)["network"].core_units == CONTROLLER["core_units"]
    with pytest.raises(ValueError, match=r"models: 'pool' must be one of .*, all, or module:NAME"):
        plan(quick(tmp_path, "pool"))
    with pytest.raises(ValueError, match="NOTHING"):
        plan(quick(tmp_path, "my_agents:NOTHING"))


def test_contenders_differ_only_in_what_they_are() -> None:
    tasks = plan(CompareConfig(models=("all",), minutes=2.0, seeds=(3,)))
    (agents_own,) = (c.network for c in PRESETS["pictures"] if isinstance(c, ReinforceConfig))
    assert [task.contender for task in tasks] == list(CONTENDERS)
    for task in tasks:
        config = task.config
        assert (config.minutes, config.seed) == (2.0, 3)
        assert config.precision == fastest_precision()
        assert config.threads == 1
        network = getattr(config, "network", None)
        if network is not None:
            # Only the kind of look may differ between controllers.
            assert replace(network, look_coordinates="cells") == agents_own
    assert set(A_FEW) <= set(CONTENDERS)
    # Models of patches are for scenes much larger than those that are compared here.
    others = set(ALGORITHMS) - {"attention_sampling", "patch_selection"}
    assert {contender.algorithm for contender in CONTENDERS.values()} == others


def test_tables_tell_the_contenders_apart() -> None:
    names = []
    for task in plan(quick(Path("unused"), "all")):
        algorithm = ALGORITHMS[CONTENDERS[task.contender].algorithm]
        learner: Any = algorithm.make(task.config)
        with closing(learner):
            names.append((learner.model.name, task.config.env_kwargs.get("look")))
    assert len(set(names)) == len(CONTENDERS)


def test_records_are_compared_where_scenes_and_minutes_are_alike() -> None:
    config = CompareConfig(env_kwargs={"budget": 6}, minutes=2.0)
    score = Score(
        split="test",
        episodes=10_000,
        success=0.875,
        success_interval=(0.85, 0.9),
        mean_return=0.875,
        return_interval=(0.85, 0.9),
        glimpses=6.0,
    )
    record = Record(
        env_id=config.env_id,
        env_kwargs={"budget": 6, "look": "tiles"},
        model=Model("Exact LSTM, trained on all tiles", sees="privileged"),
        algorithm="exact",
        command="",
        seed=0,
        budget=6,
        levels=None,
        episodes=12_345,
        seconds=60.0,
        cores=1,
        hardware="one core",
        revision="abc",
        versions={},
        config={"minutes": 2.0},
        scores=(score,),
    )

    def scored(**changes: Any) -> Record:
        return replace(record, scores=(replace(score, **changes),))

    assert comparable(record, config, score.episodes)
    others: list[Record] = [
        replace(record, env_id=CENTRED),
        replace(record, env_kwargs={"budget": 6, "clutter": 8}),
        replace(record, env_kwargs={"budget": 4}),
        replace(record, config={"minutes": 1.0}),
        replace(record, config={}),
        scored(split="validation"),
    ]
    for other in others:
        assert not comparable(other, config, score.episodes)
    assert not comparable(scored(episodes=50), config, score.episodes)
    assert comparable(scored(episodes=50), config, 50)
