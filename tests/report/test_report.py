"""Records survive a round trip and damage; the table says no more than the runs allow."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glimpse_envs.evaluation.records import (
    Record,
    RecordError,
    pack_correct,
    parse_record,
    read_records,
    unpack_correct,
    write_record,
)
from glimpse_envs.evaluation.statistics import bootstrap_interval, wilson_interval
from report.__main__ import main
from report.figures import results as results_plot
from report.groups import compare, group_records
from report.markdown import ReportError, replace_block
from report.pages.results import build_table
from report.references.pictures import REFERENCES, gaze_of

ROOT = Path(__file__).parents[2]
BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
MEMORY = "<!-- memory:begin -->\n<!-- memory:end -->\n"
COMPARISON = "<!-- comparison:begin -->\n<!-- comparison:end -->\n"
SCENES = 10_000


def make_record(errors: int = 300, seed: int = 0, bits: bool = True, **changes: Any) -> Record:
    """A run of the hard model on cluttered 60x60 with 8 glimpses, wrong on the first scenes."""
    error = errors / SCENES * 100
    low, high = wilson_interval(errors, SCENES)
    record = Record(
        env_id="Glimpse/ClutteredMNIST-v0",
        env_kwargs={},
        model="reinforce",
        seed=seed,
        glimpses=8,
        error_percent=error,
        interval_percent=(100 * low, 100 * high),
        error_by_glimpse=(*np.linspace(80, error + 1, 7).tolist(), error),
        images_seen=4_000_000,
        seconds=1800.0,
        hardware="2-core x86-64",
        revision="abc1234",
        config={"batch": 128},
        correct_hex=pack_correct(np.arange(SCENES) >= errors) if bits else "",
    )
    return replace(record, **changes)


def row_of(table: str, *words: str) -> list[str]:
    """The cells of the one table row that holds all the words."""
    rows = [
        line for line in table.splitlines() if line[:1] == "|" and all(w in line for w in words)
    ]
    assert len(rows) == 1, rows
    return [cell.strip() for cell in rows[0].strip("|").split(" | ")]


# Records


def test_a_record_survives_the_round_trip(tmp_path: Path) -> None:
    record = make_record(env_kwargs={"budget": 8}, notes="answer trained by the label")
    path = write_record(record, tmp_path / "new")
    assert read_records(tmp_path / "new") == ([record], [])
    assert path.name.startswith("Glimpse-ClutteredMNIST-v0_reinforce_8gl_seed0_")


def test_the_same_run_replaces_its_record_and_another_does_not(tmp_path: Path) -> None:
    write_record(make_record(300), tmp_path)
    write_record(make_record(290), tmp_path)
    assert [r.error_percent for r in read_records(tmp_path)[0]] == [pytest.approx(2.9)]
    others: list[dict[str, Any]] = [
        {"seed": 1},
        {"env_kwargs": {"clutter": 8}},
        {"split": "validation"},
        {"config": {"batch": 128, "network": {"core": "gru"}}},
    ]
    for other in others:
        write_record(make_record(**other), tmp_path)
    assert len(read_records(tmp_path)[0]) == 5


def test_machines_and_what_is_off_make_no_other_run(tmp_path: Path) -> None:
    networks: list[dict[str, Any]] = [{}, {"network": {"contrast": False}}]
    machines: list[dict[str, Any]] = [{}, {"device": "cuda", "threads": 8, "log_every": 5}]
    for network in networks:
        for machine in machines:
            config = {"batch": 128, "minutes": None, **network, **machine}
            write_record(make_record(config=config), tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    write_record(make_record(config={"batch": 128, "network": {"contrast": True}}), tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_failed_write_leaves_the_old_record_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_record(make_record(), tmp_path)
    before = path.read_bytes()

    def full(source: Path, target: Path) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="no space left"):
        write_record(make_record(200), tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == before


def test_damaged_records_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    good = make_record()
    write_record(good, tmp_path)
    data = json.loads(json.dumps(asdict(good)))
    (tmp_path / "torn.json").write_text(json.dumps(data)[:100])
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "short.json").write_text(
        json.dumps({k: v for k, v in data.items() if k not in ("seed", "glimpses")})
    )
    (tmp_path / "twice.json").write_text(json.dumps(data))
    records, problems = read_records(tmp_path)
    assert records == [good]
    told = {problem.split(":")[0]: problem for problem in problems}
    assert set(told) == {"torn.json", "binary.json", "list.json", "short.json", "twice.json"}
    assert "lacks seed, glimpses" in told["short.json"]
    assert "the same run" in told["twice.json"]


def test_unknown_keys_are_left_out() -> None:
    data = {**asdict(make_record()), "colour": "red"}
    assert parse_record(data) == make_record()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("seed", True, "seed is True"),
        ("error_percent", float("nan"), "error_percent is nan"),
        ("error_percent", "3", "error_percent is '3'"),
        ("interval_percent", [1.0], "two numbers"),
        ("interval_percent", [10.0, 20.0], "must hold error_percent"),
        ("error_by_glimpse", [3.0], "one for each of the 8 glimpses"),
        ("error_by_glimpse", [0.03] * 8, "it is in percent"),
        ("correct_hex", "zz", "not hexadecimal"),
        ("correct_hex", "ff", "1 bytes; 10000 scenes need 1250"),
        ("correct_hex", "ff" * 1250, "0.00 % wrong"),
        ("env_kwargs", None, "flat scalars"),
    ],
)
def test_contradictions_are_refused(key: str, value: object, message: str, tmp_path: Path) -> None:
    data = {**asdict(make_record()), key: value}
    with pytest.raises(RecordError, match=message):
        parse_record(data)


def test_what_json_cannot_hold_is_refused_before_writing(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="does not fit into JSON"):
        write_record(make_record(config={"x": {1, 2}}), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_bits_survive_packing() -> None:
    correct = np.random.default_rng(0).random(13) > 0.5
    np.testing.assert_array_equal(unpack_correct(pack_correct(correct), 13), correct)


# Groups and the table


def test_groups_hold_runs_that_differ_in_the_seed_alone() -> None:
    runs = [make_record(seed=s) for s in (2, 0, 1)]
    others = [
        make_record(model="random"),
        make_record(env_kwargs={"clutter": 8}),
        make_record(scenes=5_000, correct_hex=""),
    ]
    groups = group_records([*runs, *others, make_record(split="validation")])
    assert sorted(len(group.records) for group in groups) == [1, 1, 1, 3]
    three = next(group for group in groups if len(group.records) == 3)
    assert [record.seed for record in three.records] == [0, 1, 2]


def test_other_settings_are_another_row_that_says_which() -> None:
    settings = [
        {"batch": 128, "network": {"core": "lstm"}},
        {"batch": 128, "network": {"core": "gru", "contrast": True}},
    ]
    runs = [make_record(seed=s, config={**c, "seed": s}) for s in range(3) for c in settings]
    groups = group_records(runs)
    assert [[record.seed for record in group.records] for group in groups] == [[0, 1, 2]] * 2
    table = build_table(runs)
    row_of(table, "reinforce (network.contrast=off, network.core=lstm)", "3 runs, no claim")
    row_of(table, "reinforce (network.contrast=True, network.core=gru)", "3 runs, no claim")


def test_one_run_has_wilsons_interval_and_makes_no_claim() -> None:
    cells = row_of(build_table([make_record(300)]), "reinforce")
    low, high = wilson_interval(300, SCENES)
    assert cells[0] == "ClutteredMNIST-v0"
    assert cells[3:6] == ["1", "3.00", f"{100 * low:.2f} to {100 * high:.2f}"]
    assert cells[6:8] == ["4.0 M", "30"]
    assert cells[8:] == ["4.04 (under)", "2.63 (above)", "one run, no claim"]


def test_fewer_than_five_seeds_make_no_claim() -> None:
    table = build_table([make_record(seed=s) for s in range(4)])
    assert row_of(table, "reinforce")[-1] == "4 runs, no claim"


def test_five_seeds_are_bootstrapped_over_seeds_and_scenes() -> None:
    counts = [250, 280, 300, 310, 900]
    cells = row_of(build_table([make_record(c, s) for s, c in enumerate(counts)]), "reinforce")
    correct = np.stack([np.arange(SCENES) >= count for count in counts])
    low, high = bootstrap_interval(correct)
    assert cells[4] == "2.97"  # the middle three
    assert cells[5] == f"{100 * low:.2f} to {100 * high:.2f}"
    assert cells[-1] == "5 runs"


def test_five_seeds_without_bits_are_bootstrapped_from_counts() -> None:
    cells = row_of(build_table([make_record(300, s, bits=False) for s in range(5)]), "reinforce")
    low, high = (float(text) for text in cells[5].split(" to "))
    assert 2.5 < low < 3.0 < high < 3.5
    assert cells[-1] == "5 runs"


def test_fewer_scenes_make_no_claim() -> None:
    runs = [make_record(300, s, bits=False, scenes=1_000) for s in range(5)]
    assert row_of(build_table(runs), "reinforce")[-1] == "1000 scenes, no claim"


def test_a_reference_is_cleared_only_by_the_whole_interval() -> None:
    assert compare((1.0, 2.0), 2.1) == "under"
    assert compare((1.0, 2.0), 2.0) == "overlaps"
    assert compare((1.0, 2.0), 1.5) == "overlaps"
    assert compare((1.0, 2.0), 0.9) == "above"


def test_references_without_a_run_say_so() -> None:
    table = build_table([])
    assert table.count("not measured yet") == len(REFERENCES)
    large = row_of(table, "ClutteredMNISTLarge-v0", "learned")
    assert large[8:10] == ["8.11†", "5.90"]
    assert "† from memory" in table


@pytest.mark.parametrize(
    ("model", "gaze"),
    [
        ("reinforce", "learned"),
        ("reinforce softmax", "learned"),
        ("random-glimpses", "random"),
        ("Soft DRAW window LSTM", "soft"),
        ("full-view CNN", "full"),
        ("oracle", None),
    ],
)
def test_the_gaze_is_read_from_the_models_name(model: str, gaze: str | None) -> None:
    assert gaze_of(model) == gaze


def test_like_is_compared_with_like() -> None:
    runs = [
        make_record(model="random", errors=1600),
        make_record(model="oracle"),
        make_record(model="easy", env_kwargs={"clutter": 2}),
        make_record(model="same", env_kwargs={"clutter": 4, "budget": 8, "reward": "dense"}),
    ]
    table = build_table(runs)
    assert row_of(table, "| random |")[8:10] == ["14.40 (above)", "—"]
    assert row_of(table, "| oracle |")[8:10] == ["—", "—"]
    assert row_of(table, "| easy |")[8:10] == ["—", "—"]
    assert row_of(table, "| same |")[8] == "4.04 (under)"


def test_the_table_stays_a_table() -> None:
    table = build_table([make_record(model="a|b", notes="first\nsecond")])
    rows = [line for line in table.splitlines() if line.startswith("|")]
    assert {row.replace("\\|", "").count("|") for row in rows} == {12}
    assert "\n- a|b on ClutteredMNIST-v0: first second" in table


def test_cores_count_in_the_cost() -> None:
    assert row_of(build_table([make_record(cores=2)]), "reinforce")[7] == "60"


@pytest.mark.parametrize(
    ("changes", "row"),
    [
        (
            {"env_id": "Glimpse/ClutteredMNISTLarge-v0", "model": "Soft DRAW window LSTM"},
            ["8", "3.36 (under)", "—"],
        ),
        (
            {"env_id": "Glimpse/ClutteredMNISTLarge-v0", "model": "Soft tiles LSTM"},
            ["8", "—", "—"],
        ),
        (
            {"env_id": "Glimpse/ClutteredMNISTLarge-v0", "model": "Full view strong"},
            ["whole", "—", "0.92 (above)"],
        ),
        ({"model": "Full view conv"}, ["whole", "8.09 (under)", "—"]),
        ({"model": "Full view dense"}, ["whole", "11.96 (under)", "—"]),
        ({"model": "Full view strong"}, ["whole", "—", "—"]),
        ({"model": "Soft DRAW window LSTM"}, ["8", "—", "—"]),
    ],
)
def test_soft_and_full_views_stand_beside_their_own_references(
    changes: dict[str, Any], row: list[str]
) -> None:
    if row[0] == "whole":
        changes = {**changes, "glimpses": 1, "error_by_glimpse": (3.0,)}
    cells = row_of(build_table([make_record(env_kwargs={"view": "full"}, **changes)]),
                   f"| {changes['model']} |")  # fmt: skip
    assert [cells[1], *cells[8:10]] == row
    assert "view" not in cells[0]


def test_what_has_no_reference_stands_with_its_environment() -> None:
    table = build_table([make_record(), make_record(model="Soft tiles LSTM")])
    rows = [line for line in table.splitlines() if line.startswith("| ClutteredMNIST-v0 ")]
    assert "Soft tiles LSTM" in rows[-1]
    assert table.index("Soft tiles LSTM") < table.index("CircleSquare-v0")


def test_footnotes_are_lists_that_say_each_thing_once() -> None:
    runs = [
        make_record(notes="by the label"),
        make_record(seed=1, notes="by the label"),
        make_record(env_id="Glimpse/CIFAR10-v0", notes="by the label"),
        make_record(model="Soft tiles LSTM", notes="by back-propagation"),
    ]
    lines = build_table(runs).splitlines()
    assert lines.count("- reinforce on CIFAR10-v0 and ClutteredMNIST-v0: by the label") == 1
    assert "- Soft tiles LSTM on ClutteredMNIST-v0: by back-propagation" in lines
    sources = [line for line in lines if line.startswith("- ") and " with " in line]
    assert len(sources) == len({reference.source for reference in REFERENCES})
    assert any(line.endswith("ClutteredMNIST-v0 with 8, 6 and 4 glimpses") for line in sources)


# The README and the command line


@pytest.mark.parametrize("text", ["", BEGIN, f"{END}\n{BEGIN}", f"{BEGIN}{END}{BEGIN}{END}"])
def test_missing_markers_are_an_error(text: str) -> None:
    with pytest.raises(ReportError, match="results:begin"):
        replace_block(text, "table")


def test_only_the_block_is_replaced() -> None:
    text = f"before\r\n{BEGIN}\nold\n{END}\r\nafter"
    assert replace_block(text, "new") == f"before\r\n{BEGIN}\nnew\n{END}\r\nafter"


@pytest.fixture
def place(tmp_path: Path) -> list[str]:
    """A folder of records, a README with markers and a place for the plot, as arguments."""
    for seed in range(2):
        write_record(make_record(seed=seed), tmp_path / "results")
    write_record(make_record(0, env_id="Glimpse/CIFAR10-v0"), tmp_path / "results")
    readme = f"# Title\r\n{BEGIN}\n{END}\n{MEMORY}{COMPARISON}end\n"
    (tmp_path / "README.md").write_bytes(readme.encode())
    return [
        *("--results", str(tmp_path / "results")),
        *("--readme", str(tmp_path / "README.md")),
        *("--plot", str(tmp_path / "docs" / "plot.png")),
        *("--page", str(tmp_path / "docs" / "comparison.md")),
    ]


def test_the_report_is_written_and_then_fresh(place: list[str], tmp_path: Path) -> None:
    assert main([*place, "--check"]) == 1
    assert not (tmp_path / "docs").exists()
    assert main(place) == 0
    written = (tmp_path / "README.md").read_bytes()
    assert written.startswith(b"# Title\r\n")
    assert written.endswith(b"<!-- comparison:end -->\nend\n")
    assert b"2 runs, no claim" in written
    assert main([*place, "--check"]) == 0
    assert main(place) == 0
    assert (tmp_path / "README.md").read_bytes() == written


def test_a_new_record_makes_the_readme_stale(
    place: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(place)
    write_record(make_record(seed=9), tmp_path / "results")
    assert main([*place, "--check"]) == 1
    assert "stale" in capsys.readouterr().err


def test_the_plot_shows_the_curves(place: list[str], tmp_path: Path) -> None:
    from matplotlib.image import imread

    main(place)
    picture = imread(tmp_path / "docs" / "plot.png")
    assert min(picture.shape[:2]) > 300
    blue = np.array([0x00, 0x72, 0xB2]) / 255  # the first group's line
    assert (np.abs(picture[..., :3] - blue).max(axis=2) < 0.02).sum() > 200


def test_damaged_records_do_not_stop_the_report(
    place: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "results" / "torn.json").write_text('{"env_id": ')
    assert main(place) == 0
    assert "left out: torn.json" in capsys.readouterr().err
    assert "reinforce" in (tmp_path / "README.md").read_text()


def test_errors_are_told_and_change_nothing(
    place: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("no markers")
    assert main(place) == 2
    assert "results:begin" in capsys.readouterr().err
    assert readme.read_text() == "no markers"
    readme.unlink()
    assert main(place) == 2
    assert "README.md" in capsys.readouterr().err
    assert main(["--results", str(tmp_path / "nowhere")]) == 2
    assert "no folder" in capsys.readouterr().err


def test_the_comparison_is_drawn_and_its_damage_told(
    place: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "results" / "comparison"
    write_record(make_record(env_id="Glimpse/ClutteredGlyphs-v0", model="hard one"), folder)
    write_record(make_record(env_id="Glimpse/CIFAR10-v0", model="other one"), folder)
    (folder / "torn.json").write_text("{")
    (folder / "scaling.json").write_text('{"points": []}')
    assert main(place) == 0
    told = capsys.readouterr().err
    assert "left out: torn.json" in told
    assert "left out: scaling.json: a Scaling lacks env_id" in told
    docs = tmp_path / "docs"
    assert {path.name for path in docs.iterdir()} == {
        "plot.png", "comparison.md", "comparison.png", "comparison-CIFAR10-v0.png", "memory.md"
    }  # fmt: skip
    readme, page = (tmp_path / "README.md").read_text(), (docs / "comparison.md").read_text()
    assert "hard one" in readme
    assert "(docs/comparison.png)" in readme
    assert "other one" not in readme
    assert "hard one" in page
    assert "other one" in page
    assert main([*place, "--check"]) == 0
    (docs / "comparison.png").unlink()
    assert main([*place, "--check"]) == 1
    assert "comparison.png is stale" in capsys.readouterr().err


def test_without_a_comparison_the_report_says_how_to_make_one(
    place: list[str], tmp_path: Path
) -> None:
    assert main(place) == 0
    readme = (tmp_path / "README.md").read_text()
    assert readme.count("Not measured yet: `python -m benchmarks.comparison") == 1
    page = (tmp_path / "docs" / "comparison.md").read_text()
    assert "Not measured yet: `python -m benchmarks.scale" in page


def test_full_views_are_level_lines_in_the_plot(
    place: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(results_plot, "save_figure", lambda figure, path: drawn.append(figure))
    whole = make_record(model="Full view conv", glimpses=1, error_by_glimpse=(3.0,))
    results_plot.draw_plot([make_record(), whole], tmp_path / "plot.png")
    (panel,) = drawn[0].axes
    lines = {line.get_label(): line for line in panel.get_lines()}
    assert list(lines["Full view conv, 1 seed"].get_ydata()) == [3.0, 3.0]
    assert list(lines["paper, full view conv"].get_ydata()) == [8.09, 8.09]
    assert "paper, full view dense" not in lines  # nothing here is held against it


def test_what_is_published_is_what_the_records_say(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["--check"]) == 0, capsys.readouterr().err
