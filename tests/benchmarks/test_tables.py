"""Tables of results: what is recorded is found, and what lacks is planned and listed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.algorithms.actor_critic import ActorCriticConfig
from agents.training.config import RunConfig
from benchmarks.tables.command import TablesConfig, fill_tables, main
from benchmarks.tables.listing import listing
from benchmarks.tables.planning import TABLES, PlannedRow, plan
from benchmarks.tables.table import (
    FromDefaults,
    FromPreset,
    Row,
    Table,
    published,
)
from benchmarks.tables.view import View
from benchmarks.tables.worker import fill
from glimpse_envs.evaluation.records import read_record
from glimpse_envs.evaluation.runs import Run
from report.grouping import group_runs
from report.page import ROOT
from report.references.pictures import Reference
from report.runs import read_runs
from tests.support.episodes import CENTRED
from tests.support.tables import QUICK

RESULTS = ROOT / "results"


@pytest.fixture(scope="module")
def planned() -> dict[str, PlannedRow]:
    rows = plan([*TABLES.values()], RESULTS, Path("unused"))
    return {row.row.name: row for row in rows}


def test_the_projects_own_records_are_found(planned: dict[str, PlannedRow]) -> None:
    row = planned["copy-reinforce"]
    recorded = {run.record.seed for run in row.recorded}
    assert {0, 1, 2} <= recorded
    assert {task.config.seed for task in row.missing} == set(range(10)) - recorded
    assert len(planned["forward-reverse-a2c"].recorded) == 10
    assert len(planned["cluttered-full-strong"].recorded) >= 1


def test_rows_hold_what_the_report_holds_alike(planned: dict[str, PlannedRow]) -> None:
    """New seeds have to join the published ones in one row of the page."""
    for folder in {table.folder for table in TABLES.values()}:
        runs, _ = read_runs(RESULTS / folder)
        groups = {run.file.resolve(): group for group in group_runs(runs) for run in group.runs}
        for row in planned.values():
            files = [run.file.resolve() for run in row.recorded]
            if files and files[0] in groups:
                assert files == [run.file.resolve() for run in groups[files[0]].runs], row.row.name


def test_every_row_has_the_recipe_that_it_names(planned: dict[str, PlannedRow]) -> None:
    assert [row.row.priority for row in planned.values()] == sorted(
        row.row.priority for row in planned.values()
    )
    for row in planned.values():
        assert isinstance(row.config, RunConfig)
        assert row.config.env_id == row.row.env_id
        assert row.config.threads == 1
        assert getattr(row.config, "precision", "") != "auto", "which depends on the machine"
        assert row.hours is not None or row.row.name == "catch", "nothing like it is recorded"
        if isinstance(row.row.reference, Reference):
            assert all(row.row.reference.fits(run.record) for run in row.recorded)
            assert row.row.reference.env_id == row.row.env_id
    assert getattr(planned["large-random-8"].config, "gaze", None) == "random"


def test_the_most_wanted_rows_come_first(planned: dict[str, PlannedRow]) -> None:
    assert list(planned)[:3] == ["cluttered-8", "cluttered-6", "cluttered-4"]
    assert list(planned).index("large-8") < list(planned).index("translated-8")
    assert list(planned).index("translated-8") < list(planned).index("centred-6")
    assert list(planned).index("centred-7") < list(planned).index("addition-a2c")
    assert list(planned).index("describe-soft") < list(planned).index("pair-hard")


def test_a_published_number_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="no published number of Glimpse/ClutteredMNIST-v0 with 5"):
        published("Glimpse/ClutteredMNIST-v0", 5)


def test_list_shows_what_lacks_and_what_it_costs(
    planned: dict[str, PlannedRow], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["pictures", "--list", "--rows", "cluttered-6", "circle-square-16"])
    heads, six, circle, _, total = capsys.readouterr().out.splitlines()
    assert heads.split()[0] == "row"
    assert "ClutteredMNIST-v0 (6 glimpses)" in six
    assert "4.08 3.33" in six
    row = planned["circle-square-16"]
    assert len(row.recorded) >= 5
    assert f"{len(row.recorded)} of {row.row.seeds}" in circle
    assert "runs lack a record: about" in total


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["nowhere"],
            "table 'nowhere' must be one of pictures, memory, texts, scenes, glyphs, worlds, "
            "leaderboard",
        ),
        (["nowhere:TABLE"], "table 'nowhere:TABLE': there is no module nowhere"),
        (["pictures", "--rows", "cluttered-5"], "rows: 'cluttered-5' must be one of cluttered-8"),
        (["--workers", "0"], "workers=0 must be at least 1"),
        (["--seeds", "0"], "seeds=0 must be at least 1"),
        (["--gpu", "0.5"], "gpu=0.5: torch finds no GPU here; leave it out"),
        (["--gpu", "2", "--ray", "auto"], "gpu=2.0 must be a share from 0 to 1"),
        (["--results", str(ROOT / "README.md")], "README.md is a file: give a folder for the"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_made(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--runs", str(tmp_path / "runs")])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_recipes_are_read_from_the_projects_records_wherever_the_new_ones_go(
    planned: dict[str, PlannedRow], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = plan([*TABLES.values()], tmp_path / "results", Path("unused"))
    assert {row.row.name: row.config for row in elsewhere} == {
        name: row.config for name, row in planned.items()
    }
    assert not any(row.recorded for row in elsewhere)
    main(["pictures", "--list", "--results", str(tmp_path / "results")])
    assert "circle-square-16" in capsys.readouterr().out


def test_the_first_seeds_of_every_row_can_be_trained_before_the_others(tmp_path: Path) -> None:
    (row,) = plan([replace(QUICK, rows=QUICK.rows[:1], seeds=3)], tmp_path, tmp_path / "runs")
    assert [task.config.seed for task in row.of_first(None).missing] == [0, 1, 2]
    assert [task.config.seed for task in row.of_first(2).missing] == [0, 1]
    assert [task.config.seed for task in row.of_first(9).missing] == [0, 1, 2]


def test_learners_of_stable_baselines_are_planned_as_their_records_will_be(tmp_path: Path) -> None:
    row = Row(name="ppo", env_id=CENTRED, recipe=FromDefaults("ppo"), minutes=1.0)
    assert row.config(tmp_path).env_kwargs == {"history": True}
    with pytest.raises(ValueError, match="row 'ppo': ppo needs a budget in minutes"):
        replace(row, minutes=None).config(tmp_path)
    with pytest.raises(ValueError, match="algorithm 'ppu' must be one of reinforce"):
        replace(row, recipe=FromDefaults("ppu")).config(tmp_path)


def test_two_rows_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two rows are called quick"):
        plan([QUICK, replace(QUICK, name="again")], tmp_path, tmp_path)


def test_a_row_without_seeds_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="row 'quick': seeds=0 must be at least 1"):
        plan([replace(QUICK, seeds=0)], tmp_path, tmp_path)


def test_records_of_a_table_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []

    def reading(folder: Path) -> tuple[list[Any], list[str]]:
        read.append(folder)
        return [], []

    monkeypatch.setattr("benchmarks.tables.planning.read_runs", reading)
    rows = tuple(replace(QUICK.rows[0], name=name) for name in ("one", "two"))
    plan([replace(QUICK, rows=rows)], tmp_path, tmp_path)
    assert read == [tmp_path / QUICK.folder]


def test_a_row_with_an_option_that_is_none_is_named(tmp_path: Path) -> None:
    recipe = FromPreset("pictures", "reinforce")
    row = Row(name="odd", env_id="Glimpse/Copy-v0", recipe=recipe, changes={"colour": 1})
    with pytest.raises(ValueError, match=r"row 'odd': .*colour"):
        plan([Table("odd", (row,), seeds=1)], tmp_path, tmp_path)
    missing = replace(row, changes={}, recipe=FromPreset("tapes", "exact"))
    with pytest.raises(ValueError, match="there is no preset 'tapes' of 'exact'"):
        plan([Table("odd", (missing,), seeds=1)], tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"changes": {"network.core": "gru"}}, r"no network.core; .* as in network=NetworkConfig"),
        ({"recipe": "reinforce"}, "must be a FromDefaults, FromPreset or FromRecord"),
    ],
)
def test_a_row_whose_settings_are_written_otherwise_is_told_how(
    changed: dict[str, Any], message: str, tmp_path: Path
) -> None:
    row = Row(name="odd", env_id=CENTRED, recipe=FromDefaults("reinforce"), minutes=1.0)
    with pytest.raises(ValueError, match=message):
        plan([Table("odd", (replace(row, **changed),), seeds=1)], tmp_path, tmp_path)


def test_a_row_without_its_extra_is_left_out_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = replace(QUICK.rows[0], name="absent", needs="games: no_such_package")
    table = Table("absent", (row,), seeds=2)
    (found,) = plan([table], tmp_path, tmp_path)
    assert found.missing == ()
    assert "not installed" in listing([found])
    monkeypatch.setattr("benchmarks.tables.command.find_table", lambda name: table)
    fill_tables(TablesConfig(tables=("absent",), runs=tmp_path / "runs", results=tmp_path))
    told = "absent is left out, its extra is not installed: pip install 'glimpse-envs[games]'"
    assert told in capsys.readouterr().out
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("precision", "native", "told"),
    [("bfloat16", False, True), ("bfloat16", True, False), ("float32", False, False)],
)
def test_runs_whose_precision_this_processor_emulates_are_told(
    precision: str, native: bool, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capabilities = {"avx512_bf16": native}
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: capabilities, raising=False)
    (row,) = QUICK.rows
    table = replace(QUICK, rows=(replace(row, changes={**row.changes, "precision": precision}),))
    planned = plan([table], tmp_path, tmp_path / "runs")
    assert ("2 of these runs multiply in bfloat16" in listing(planned)) == told


def test_a_world_without_fixed_scenes_is_scored_on_so_many_episodes(tmp_path: Path) -> None:
    row = replace(QUICK.rows[0], scored=7)
    (found,) = plan([Table("few", (row,), seeds=1)], tmp_path, tmp_path / "runs")
    path = fill(found.missing[0])
    assert path is not None
    assert read_record(path).headline.episodes == 7


def a_run_at_half(folder: Path) -> PlannedRow:
    """A row, of whose first run half is trained in 100 s."""
    (row,) = plan([QUICK], folder, folder / "runs")
    run = Run(row.missing[0].folder, {})
    run.folder.mkdir(parents=True)
    run.append_metrics(200, {"error": 0.25, "seconds": 100.0})
    return row


def test_the_view_reads_the_runs_own_metrics(tmp_path: Path) -> None:
    view = View(a_run_at_half(tmp_path).missing, {"quick-seed0": 9.0, "quick-seed1": 2.0}, 3)
    view.began = 0.0
    head, line = view.lines()
    assert head == "3 recorded, 1 running, 1 waiting; about 2.0 core-hours left"
    assert line.split() == ["quick-seed0", "50", "%", "error", "25.00", "%", "2", "min", "left"]


def test_on_a_terminal_the_view_is_redrawn_in_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = a_run_at_half(tmp_path)
    view = View(row.missing, {}, 0)
    view.began, view.in_place = 0.0, True
    view.show()
    assert len(capsys.readouterr().out.splitlines()) == 2
    view.end(row.missing[0], "failed", "it failed")
    out = capsys.readouterr().out
    assert out.startswith("\x1b[2F\x1b[Jit failed\n0 recorded, 0 running, 1 waiting, 1 failed;")
    view.in_place, view.height = False, 0
    view.show()
    assert capsys.readouterr().out == "", "elsewhere it is drawn now and then"


def test_pages_are_redrawn_from_the_checkouts_own_results(
    planned: dict[str, PlannedRow], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert planned["circle-square-16"].of_first(1).missing == (), "this test would train it"
    drawn = []
    monkeypatch.setattr("report.__main__.main", lambda arguments: drawn.append(arguments))
    own = TablesConfig(("pictures",), rows=("circle-square-16",), seeds=1, runs=tmp_path)
    fill_tables(own)
    assert drawn == [[]]
    linked = tmp_path / "checkout"
    linked.symlink_to(ROOT, target_is_directory=True)
    monkeypatch.setattr("benchmarks.tables.command.ROOT", linked)
    fill_tables(replace(own, results=linked / "results"))
    assert drawn == [[], []], "whatever path leads to the checkout"
    drawn.pop()
    fill_tables(replace(own, tables=("tests.support.tables:EMPTY",), rows=(), results=tmp_path))
    assert drawn == [[]]


def test_a_recorded_run_whose_config_has_a_list_is_found(planned: dict[str, PlannedRow]) -> None:
    """JSON has lists where a config has tuples."""
    counting = planned["pointer-chase-counts"]
    assert isinstance(counting.config, ActorCriticConfig)
    assert counting.config.network.leave_out == ("query", "remaining")
    assert counting.recorded
    assert not counting.missing
