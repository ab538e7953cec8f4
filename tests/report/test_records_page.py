"""The pages of records: the command of each, and that each run stands there once."""

from __future__ import annotations

import json
import re
from collections.abc import Container
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from agents.sb3.__main__ import ALGORITHMS as SB3
from agents.train import ALGORITHMS as AGENTS
from baselines.train import ALGORITHMS as BASELINES
from glimpse_envs.evaluation.records import write_record
from report.markdown import environment
from report.page import ROOT, Places, write
from report.pages.records import FOLDER, PAGE, command_of, pointer, publish
from report.result_pages import RESULT_PAGES
from report.runs import Run, read_runs
from tests.support.records import ENV_ID, SOFT_DRAW, a_record, as_runs, bits_record


def test_the_command_of_a_record_is_kept_or_made_from_its_file(tmp_path: Path) -> None:
    places = Places(tmp_path / "results", tmp_path)
    file = tmp_path / "results" / "memory" / "a.json"
    errors = "python -m agents.train reinforce"
    assert command_of(Run(a_record(command=errors), file), places) == errors
    given = "--from-record results/memory/a.json"
    assert command_of(Run(a_record(), file), places) == f"python -m agents.train {given}"
    assert (
        command_of(Run(a_record(SOFT_DRAW), file), places) == f"python -m baselines.train {given}"
    )


def test_the_command_of_a_copy_has_what_differs_from_the_defaults(tmp_path: Path) -> None:
    copy = bits_record(seed=3)
    changed = {**copy.config, "batch_size": 32, "compile": True}
    defaults = {**copy.config, "batch_size": 16, "compile": False}
    run = Run(replace(copy, command="", config=changed, defaults=defaults), tmp_path / "a.json")
    assert command_of(run, Places(tmp_path / "results", tmp_path)) == (
        "python -m baselines.memories.ntm_copy --batch-size 32 --compile --seed 3 --minutes 20"
    )


def test_a_command_that_names_a_record_that_is_gone_starts_from_the_run_s_own(
    tmp_path: Path,
) -> None:
    places = Places(tmp_path / "results", tmp_path)
    (tmp_path / "results").mkdir()
    file, here = (tmp_path / "results" / name for name in ("a.json", "here.json"))
    here.touch()
    begin = "python -m agents.train reinforce --from-record results"
    kept = a_record(command=f"{begin}/here.json --seed 1")
    assert command_of(Run(kept, file), places) == kept.command
    for gone in (
        f"{begin}/gone.json --seed 1",
        f"{begin.replace(' results', '=results')}/gone.json",
    ):
        assert command_of(Run(a_record(command=gone), file), places) == (
            "python -m agents.train --from-record results/a.json"
        )


def test_every_record_stands_on_the_page_of_its_folder_with_files_that_are_there() -> None:
    texts = dict(publish(Places()).texts)
    index = texts.pop(PAGE)
    for part in RESULT_PAGES:
        text = texts.pop(f"{FOLDER}/{part.page}.md")
        runs, _ = read_runs(Places().results / part.folder, other=("scaling.json",))
        tables = f"[tables](../{part.page}.md)"
        assert f"\n| [{part.heading}]({part.page}.md) | {tables} | {len(runs)} |\n" in index
        for run in runs:
            name = environment(run.record.env_id, run.record.env_kwargs)
            (of_environment,) = (
                each for each in text.split("\n## ") if each.startswith(f"{name}\n")
            )
            assert text.count(f"[{run.file.name}](") == 1, run.file
            assert f"[{run.file.name}](" in of_environment, run.file
        # A command may name the folder that it records into.
        named = set(re.findall(r"(?<!--record )results/[^\s`)\]]+", text.split("\n## ", 1)[1]))
        assert named
        assert [name for name in named if not (ROOT / name).is_file()] == []
        assert pointer(f"docs/{part.page}.md") in (ROOT / f"docs/{part.page}.md").read_text()
    assert texts == {}


def test_a_page_of_records_that_no_folder_has_any_more_is_deleted(tmp_path: Path) -> None:
    places = Places(tmp_path / "results", tmp_path)
    record = write_record(a_record(), tmp_path / "results" / "memory")
    write(publish(places), places)
    assert {path.name for path in (tmp_path / FOLDER).iterdir()} == {"README.md", "memory.md"}
    record.unlink()
    write(publish(places), places)
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == ["README.md"]


def test_the_command_of_each_published_record_trains_its_algorithm() -> None:
    known: dict[str, Container[str]] = {
        "agents.train": AGENTS,
        "baselines.train": BASELINES,
        "agents.sb3": SB3,
    }
    for part in RESULT_PAGES:
        runs, _ = read_runs(Places().results / part.folder, other=("scaling.json",))
        for run in runs:
            command = command_of(run, Places())
            if "--from-record" in command:
                assert run.record.algorithm in known[command.split()[2]], run.file


@pytest.mark.parametrize("algorithm", SB3)
def test_records_of_stable_baselines_are_trained_by_its_command(algorithm: str) -> None:
    config = asdict(SB3[algorithm].config())
    (run,) = as_runs([a_record(algorithm=algorithm, config=config, command="")])
    assert command_of(run, Places()).startswith("python -m agents.sb3 --from-record ")


def test_a_run_recorded_twice_counts_once(tmp_path: Path) -> None:
    path = write_record(a_record(), tmp_path)
    (tmp_path / "zz.json").write_text(path.read_text())
    runs, problems = read_runs(tmp_path)
    assert [run.record.env_id for run in runs] == [ENV_ID]
    assert problems == [f"{tmp_path / 'zz.json'}: the same run as {path.name}, which is kept"]
    assert read_runs(tmp_path / "nowhere") == ([], [])


def test_a_run_recorded_again_with_an_option_that_was_added_later_counts_once(
    tmp_path: Path,
) -> None:
    old = a_record(config={"batch_size": 128})
    config = {"batch_size": 128, "colour": "red"}
    again = replace(old, config=config, defaults=config)
    for name, record in (("new", again), ("old", old)):
        (tmp_path / f"{name}.json").write_text(json.dumps(asdict(record)))
    runs, problems = read_runs(tmp_path)
    assert [run.file.name for run in runs] == ["new.json"]
    assert problems == [f"{tmp_path / 'old.json'}: the same run as new.json, which is kept"]
