"""Tables are filled: what lacks is trained, scored and recorded, and failures are reported."""

import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import benchmarks.tables.command
from agents.algorithms.reinforce import Reinforce
from agents.training.loop import train
from benchmarks.processes import attempt, do_nothing
from benchmarks.tables.command import TablesConfig, fill_tables
from benchmarks.tables.listing import listing_of_earlier
from benchmarks.tables.planning import PlannedRow, earlier_runs, plan
from benchmarks.tables.progress import progress_of
from benchmarks.tables.worker import LOG, fill
from glimpse_envs.evaluation.record import NTM_COPY
from glimpse_envs.evaluation.records import read_records, write_record
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.run_identity import same_run
from glimpse_envs.evaluation.run_lock import writing
from report.grouping import group_runs
from report.runs import read_runs
from tests.support.tables import QUICK, REPEATED


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train within this process."""

    def one_after_another(
        work: Callable[[Any], Any],
        tasks: Sequence[Any],
        processes: int,
        idle: Callable[[], None] = do_nothing,
    ) -> Generator[tuple[Any, Any], None, None]:
        for task in tasks:
            yield task, attempt(work, task)
            idle()

    monkeypatch.setattr(benchmarks.tables.command, "side_by_side", one_after_another)


@pytest.mark.parametrize(
    ("gpus", "cores", "devices", "workers"),
    [(1, 16, ["cuda", "cuda"], 4), (2, 6, ["cuda:0", "cuda:1"], 6)],
)
def test_runs_share_the_gpus_that_are_here(
    gpus: int,
    cores: int,
    devices: list[str],
    workers: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = []

    def begin(
        work: Callable[[Any], Any], tasks: Sequence[Any], processes: int, **_: Any
    ) -> Generator[Any, None, None]:
        begun.append(([task.config.device for task in tasks], processes))
        yield from ()

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(benchmarks.tables.command, "allowed_cores", lambda: cores)
    monkeypatch.setattr(benchmarks.tables.command, "side_by_side", begin)
    fill_tables(replace(config_in(tmp_path, "QUICK"), gpu=0.25, workers=None))
    assert begun == [(devices, workers)]


def config_in(folder: Path, table: str) -> TablesConfig:
    name = f"tests.support.tables:{table}"
    return TablesConfig((name,), runs=folder / "runs", results=folder / "results", workers=1)


@pytest.mark.learning
@pytest.mark.usefixtures("here")
def test_what_lacks_is_recorded_and_then_it_trains_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = config_in(tmp_path, "QUICK")
    fill_tables(config)
    out = capsys.readouterr().out
    assert out.splitlines()[0].startswith("0 recorded, 0 running, 2 waiting")
    assert out.splitlines()[-1].startswith("2 recorded, 0 running, 0 waiting")
    assert "quick-seed1: error " in out
    records, problems = read_records(config.results)
    assert problems == []
    assert [(record.seed, record.episodes) for record in records] == [(0, 400), (1, 400)]
    assert all(record.headline.split == "test" for record in records)
    (row,) = plan([QUICK], config.results, config.runs)
    assert row.missing == ()
    (config.results / "torn.json").write_text('{"env_id": ')
    monkeypatch.setattr(benchmarks.tables.command, "fill", None)
    fill_tables(config)
    again = capsys.readouterr()
    assert again.out.startswith("2 recorded, 0 running, 0 waiting")
    assert again.err.startswith(f"left out: {config.results / 'torn.json'}: is not JSON")


@pytest.mark.learning
@pytest.mark.usefixtures("here")
def test_further_seeds_repeat_the_episodes_of_the_first(tmp_path: Path) -> None:
    config = config_in(tmp_path, "REPEATED")
    (row,) = plan([REPEATED], config.results, config.runs)
    assert [task.config.seed for task in row.ready] == [0], "nothing tells how many yet"
    # A second seed was begun for the minutes, by an earlier plan, and broken off.
    begun = row.missing[1]
    train(Reinforce, begun.config, begun.folder, stop_after=1, progress_bar=False)
    fill_tables(config)
    records, _ = read_records(config.results)
    by_seed = {record.seed: record for record in records}
    assert by_seed[0].config["minutes"] == by_seed[1].config["minutes"] == pytest.approx(1 / 60)
    assert by_seed[2].config["minutes"] is None
    assert by_seed[2].episodes == by_seed[0].episodes
    (row,) = plan([REPEATED], config.results, config.runs)
    assert row.missing == ()


@pytest.mark.usefixtures("here")
def test_a_row_with_a_slip_is_refused_before_others_are_trained(tmp_path: Path) -> None:
    config = config_in(tmp_path, "SLIP")
    with pytest.raises(ValueError, match="row slip: env_kwargs: bugdet cannot be set here"):
        fill_tables(config)
    assert not config.runs.exists()


@pytest.mark.learning
@pytest.mark.usefixtures("here")
def test_a_run_that_fails_is_reported_and_the_others_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_in(tmp_path, "BROKEN")
    with pytest.raises(RunError, match="1 of 2 runs failed: broken-seed0"):
        fill_tables(config)
    out = capsys.readouterr().out
    assert "broken-seed0 failed: " in out
    assert re.search(r"  \| error: .*budget=0 must be", out)
    assert out.splitlines()[-1].startswith("1 recorded, 0 running, 0 waiting, 1 failed")
    (record,), _ = read_records(config.results)
    assert record.headline.episodes == 10_000

    def stumble(*_: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("benchmarks.tables.worker.train_to_end", stumble)
    with pytest.raises(RunError, match="1 of 1 runs failed"):
        fill_tables(config)
    log = (config.runs / "broken-seed0" / LOG).read_text()
    assert log.count("--- broken-seed0: ") == 2, "nothing of the first is lost"
    assert "KeyError: 'oops'" in log
    assert "KeyError: 'oops'" in capsys.readouterr().out


@pytest.mark.usefixtures("here")
def test_a_run_of_another_process_is_left_to_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.tables.worker.PATIENCE", 0.0)
    config = replace(config_in(tmp_path, "QUICK"))
    (row,) = plan([QUICK], config.results, config.runs)
    with writing(row.missing[0].folder), writing(row.missing[1].folder):
        fill_tables(config)
    assert "quick-seed0: another process trains it" in capsys.readouterr().out
    assert not config.results.exists()


@pytest.mark.learning
def test_a_record_of_another_command_is_not_made_again(tmp_path: Path) -> None:
    (row,) = plan([QUICK], tmp_path, tmp_path / "runs")
    task = row.missing[0]
    path = fill(task)
    assert path is not None
    assert progress_of(task).share == 1.0
    written = path.stat().st_mtime_ns
    assert fill(task) == path
    assert path.stat().st_mtime_ns == written
    (record,), _ = read_records(tmp_path)
    assert task.fits(record)
    assert not row.missing[1].fits(record)
    assert row.missing[1].of_row(record)
    other = replace(record, config={**record.config, "learning_rate": 1.0})
    assert not task.of_row(other)
    assert not same_run(record, other)
    assert earlier_runs([QUICK], tmp_path) == [], "its record is the row's"
    path = write_record(other, tmp_path)
    (earlier,) = earlier_runs([QUICK], tmp_path)
    assert earlier.file == path
    assert path.name in listing_of_earlier([earlier])
    write_record(replace(other, env_id=NTM_COPY, env_kwargs={}), tmp_path)
    assert earlier_runs([QUICK], tmp_path) == [earlier], "a command of its own writes those"


@pytest.mark.learning
def test_further_seeds_repeat_the_episodes_that_the_first_saw_in_its_minutes(
    tmp_path: Path,
) -> None:
    timed = replace(QUICK.rows[0], episodes=None, minutes=0.01, repeats="episodes")
    table = replace(QUICK, rows=(timed,), seeds=3)

    def planned() -> PlannedRow:
        (row,) = plan([table], tmp_path, tmp_path / "runs")
        return row

    assert {task.config.minutes for task in planned().missing} == {0.01}
    fill(planned().missing[1])
    (second,) = planned().recorded
    first, third = planned().missing
    assert (first.config.minutes, first.config.episodes) == (None, second.record.episodes)
    fill(third)
    row = planned()
    assert [run.record.seed for run in row.recorded] == [1, 2]
    assert [run.record.episodes for run in row.recorded] == [second.record.episodes] * 2
    assert row.missing == (first,)
    assert earlier_runs([table], tmp_path) == []
    (group,) = group_runs(row.recorded)
    assert [run.record.seed for run in group.runs] == [1, 2]
    longer = replace(
        row.recorded[1].record, config={**row.recorded[1].record.config, "episodes": 8}
    )
    write_record(longer, tmp_path)
    assert len(group_runs(read_runs(tmp_path)[0])) == 2, "another length is another training"
    (earlier,) = earlier_runs([table], tmp_path)
    assert earlier.record.config["episodes"] == 8
