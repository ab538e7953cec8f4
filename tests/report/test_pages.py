"""One command writes what is stale, and nothing else; its check finds all of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from glimpse_envs.evaluation.records import write_record
from report.__main__ import PAGES, main
from report.page import ROOT, Places, Published, stale_files, write
from tests.support.records import (
    REINFORCE,
    a_record,
    bits_record,
    memory_record,
)

DRAWN = ("results", "comparison", "memory", "texts", "scenes", "glyphs", "worlds", "records")
BLOCKS = ("headline", "scaling")


def marked(*names: str) -> str:
    return "".join(f"<!-- {name}:begin -->\n<!-- {name}:end -->\n" for name in names)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with a few records and a README with markers."""
    for seed in range(2):
        write_record(a_record(env_id="Glimpse/ClutteredMNIST-v0", seed=seed), tmp_path / "results")
    for folder in (
        "comparison",
        "memory",
        "texts",
        "scenes",
        "glyphs",
        "worlds",
        "leaderboard",
        "benchmarks",
    ):
        (tmp_path / "results" / folder).mkdir()
    (tmp_path / "README.md").write_bytes(f"# Title\r\n{marked(*BLOCKS)}end\n".encode())
    return tmp_path


def run(root: Path, *options: str) -> int:
    return main([*DRAWN, *options], root)


def test_other_records_are_drawn_elsewhere_or_not_at_all(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, out = tmp_path / "mine", tmp_path / "out"
    write_record(a_record(env_id="Glimpse/ClutteredMNIST-v0"), mine)
    before = (root / "README.md").read_bytes()
    with pytest.raises(SystemExit):
        main(["results", "--results", str(mine)], root)
    assert "would replace those of" in capsys.readouterr().err
    assert main(["results", "--results", str(mine), "--out", str(out)], root) == 0
    assert "ClutteredMNIST-v0" in (out / "docs" / "results.md").read_text()
    assert (out / "README.md").read_text().startswith("# Title"), "with these numbers"
    assert (root / "README.md").read_bytes() == before
    assert not (root / "docs").exists()


@pytest.mark.learning
def test_what_is_published_is_what_the_records_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().err


@pytest.mark.learning
def test_the_report_is_written_and_then_fresh(root: Path) -> None:
    assert run(root, "--check") == 1
    assert not (root / "docs").exists()
    assert run(root) == 0
    written = (root / "README.md").read_bytes()
    assert written.startswith(b"# Title\r\n")
    assert written.endswith(f"<!-- {BLOCKS[-1]}:end -->\nend\n".encode())
    assert b"| ClutteredMNIST-v0 | Reinforce LSTM | 8 | 2 |" in written
    assert "| Reinforce LSTM | 8 | 2 |" in (root / "docs" / "results.md").read_text()
    assert run(root, "--check") == 0
    figure = root / "docs" / "error_by_glimpses.svg"
    before = figure.stat().st_mtime_ns
    assert run(root) == 0
    assert (root / "README.md").read_bytes() == written
    assert figure.stat().st_mtime_ns == before
    assert run(root, "--redraw") == 0
    assert figure.stat().st_mtime_ns > before


def test_one_page_is_drawn_alone(root: Path) -> None:
    assert main(["records"], root) == 0
    assert [path.name for path in (root / "docs").iterdir()] == ["records"]
    with pytest.raises(SystemExit):
        main(["nowhere"], root)


@pytest.mark.parametrize(("follow", "drawn"), [(True, ["a.svg"]), (False, [])])
def test_figures_that_show_nothing_of_a_text_are_left_when_it_changes(
    tmp_path: Path, follow: bool, drawn: list[str]
) -> None:
    def draw(path: Path) -> None:
        path.write_text(f"{texts}")

    figures = {"a.svg": draw, "b.svg": draw}
    places = Places(tmp_path / "results", tmp_path)
    texts = {"page.md": "![](a.svg)"}
    write(Published(texts, figures=figures, figures_follow_texts=follow), places)
    before = {name: (tmp_path / name).read_text() for name in figures}
    texts = {"page.md": "Another ![](a.svg)"}
    write(Published(texts, figures=figures, figures_follow_texts=follow), places)
    assert (tmp_path / "page.md").read_text() == texts["page.md"]
    assert [name for name in figures if (tmp_path / name).read_text() != before[name]] == drawn


@pytest.mark.learning
def test_a_new_record_makes_its_pages_stale(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(root)
    write_record(memory_record(), root / "results" / "memory")
    write_record(bits_record(), root / "results" / "memory")
    assert run(root, "--check") == 1
    errors = capsys.readouterr().err
    for name in ("memory.md", "memory_success.svg", "memory_solved.svg", "records/memory.md"):
        assert f"{name} is stale" in errors
    assert f"{root / 'README.md'} is stale" not in errors
    assert "comparison.md is stale" not in errors
    assert run(root) == 0
    assert run(root, "--check") == 0


@pytest.mark.learning
def test_a_figure_is_drawn_anew_with_the_text_that_shows_it(root: Path) -> None:
    run(root)
    figure = root / "docs" / "error_by_glimpses.svg"
    before = figure.read_bytes()
    write_record(a_record(error=30.0, env_id="Glimpse/CIFAR10-v0"), root / "results")
    run(root)
    assert figure.read_bytes() != before


@pytest.mark.learning
def test_damaged_records_do_not_stop_the_report(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = root / "results" / "comparison"
    write_record(a_record(REINFORCE), folder)
    write_record(a_record(REINFORCE, env_id="Glimpse/CIFAR10-v0"), folder)
    (folder / "torn.json").write_text("{")
    (folder / "scaling.json").write_text('{"points": []}')
    assert run(root) == 0
    errors = capsys.readouterr().err
    assert f"left out: {folder / 'torn.json'}: " in errors
    assert f"left out: {folder / 'scaling.json'}: lacks env_id" in errors
    page = (root / "docs/comparison.md").read_text()
    assert "(comparison.svg)" in page
    assert "(comparison-CIFAR10-v0.svg)" in page
    assert (root / "docs" / "comparison-CIFAR10-v0.svg").exists()
    (root / "docs" / "comparison.svg").unlink()
    assert run(root, "--check") == 1
    assert "comparison.svg is stale" in capsys.readouterr().err


def everything_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "missing", ["comparison", "memory", "texts", "scenes", "glyphs", "worlds", "benchmarks", "."]
)
def test_a_folder_that_is_not_there_changes_nothing(
    root: Path, missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_record(memory_record(), root / "results" / "memory")
    (root / "docs").mkdir()
    (root / "docs" / "memory.md").write_text("what was published")
    before = everything_in(root)
    (root / "results" / missing).rename(root / "moved")
    kept = everything_in(root)
    assert run(root) == 2
    assert f"no folder {root / 'results' / missing}" in capsys.readouterr().err
    assert everything_in(root) == kept
    (root / "moved").rename(root / "results" / missing)
    assert everything_in(root) == before


def test_scores_of_another_split_are_said_to_be_left_out(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = memory_record()
    (score, *_) = record.scores
    path = write_record(
        replace(record, scores=(replace(score, split="validation"),)), root / "results" / "memory"
    )
    assert run(root) == 0
    told = f"left out: {path}: it is a score of validation episodes, and pages show those of "
    told += "the test split"
    assert told in capsys.readouterr().err
    assert not (root / "docs" / "records" / "memory.md").exists()


def test_records_of_one_folder_alone_have_a_page(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, out = tmp_path / "mine", tmp_path / "drawn"
    command = ["records", "--results", str(own), "--out", str(out)]
    assert main(command, root) == 2
    assert f"no folder {own}" in capsys.readouterr().err
    write_record(memory_record(), own / "memory")
    assert main(command, root) == 0
    assert (out / "docs" / "records" / "memory.md").is_file()


@pytest.mark.parametrize(
    ("page", "folder"), [("mistakes", "mistakes"), ("environments", "weights")]
)
def test_what_a_page_shows_is_not_removed_where_its_folder_is_not_there(
    root: Path, page: str, folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = everything_in(root)
    assert main([page], root) == 2
    assert f"no folder {root / 'results' / folder}" in capsys.readouterr().err
    assert everything_in(root) == kept


@pytest.mark.parametrize(
    ("page", "file"),
    [
        ("speed", "processes.json"),
        ("trials", "trials.json"),
        ("trials", "trials_mine.json"),
        ("memory_cost", "read_cost.json"),
        ("gradient_variance", "gradient_variance.json"),
        ("intervals", "interval_coverage.json"),
    ],
)
@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "is not JSON"), ("[]", "holds a JSON list"), ('{"hardware": "a core"}', "lacks ")],
)
def test_a_damaged_record_of_a_benchmark_is_named(
    root: Path, page: str, file: str, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = root / "results" / "benchmarks" / file
    path.write_text(text)
    assert main([page], root) == 2
    assert f"error: {path}: {message}" in capsys.readouterr().err
    assert not (root / "docs").exists()


@pytest.mark.parametrize(
    ("page", "file", "name"),
    [
        ("memory_cost", "read_cost", "torch"),
        ("gradient_variance", "gradient_variance", "look_std"),
        ("intervals", "interval_coverage", "failed"),
    ],
)
def test_an_entry_that_a_record_of_a_benchmark_lacks_is_named(
    root: Path, page: str, file: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a real one that has all others."""
    entries = json.loads((ROOT / "results" / "benchmarks" / f"{file}.json").read_text())
    del entries[name]
    path = root / "results" / "benchmarks" / f"{file}.json"
    path.write_text(json.dumps(entries))
    assert main([page], root) == 2
    assert f"error: {path}: lacks {name}" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["{", "[]", '{"config": {}}'])
def test_the_damaged_config_of_published_weights_is_named(
    root: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = root / "results" / "weights" / "mine" / "config.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert main(["environments"], root) == 2
    assert f"error: {path}: holds no settings" in capsys.readouterr().err


def test_an_error_of_one_page_keeps_all_others_from_being_written(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = root / "README.md"
    readme.write_text("no markers")
    assert main(["records", "results"], root) == 2
    assert "headline:begin" in capsys.readouterr().err
    assert readme.read_text() == "no markers"
    readme.unlink()
    assert run(root) == 2
    assert "README.md" in capsys.readouterr().err
    assert not (root / "docs").exists()


@pytest.mark.learning
def test_every_page_has_its_name_and_writes_what_no_other_does() -> None:
    published = [page.publish(Places()) for page in PAGES if page.name != "environments"]
    written = [path for each in published for path in (*each.texts, *each.figures, *each.blocks)]
    assert len(written) == len(set(written))
    assert len({page.name for page in PAGES}) == len(PAGES)


def test_files_of_nobody_are_stale_and_go(tmp_path: Path) -> None:
    places = Places(tmp_path, tmp_path)
    (tmp_path / "docs").mkdir()
    stray, kept = tmp_path / "docs" / "gone.md", tmp_path / "docs" / "kept.md"
    stray.write_text("an environment that is no more")
    (tmp_path / "docs" / "drafts").mkdir()
    published = Published({"docs/kept.md": "text"}, owned="docs/*")
    assert set(stale_files(published, places)) == {stray, kept}
    assert set(write(published, places)) == {stray, kept}
    assert (stray.exists(), kept.read_text()) == (False, "text")
    assert stale_files(published, places) == []
