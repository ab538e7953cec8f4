"""Rows of controls."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from benchmarks.tables.controls import RULES, gaze_controls
from benchmarks.tables.scenes import SCENES
from benchmarks.tables.table import Row
from benchmarks.tables.worlds import WORLDS

CONTROLS = {
    row.name: row
    for row in (*SCENES.rows, *WORLDS.rows)
    if row.changes.get("gaze", "learned") != "learned"
}


def learned(control: Row) -> Row:
    """The row that a control is of."""
    stem = control.name.partition("-gaze-")[0]
    (found,) = (row for row in (*SCENES.rows, *WORLDS.rows) if row.name in (stem, f"{stem}-hard"))
    return found


def test_each_scene_of_an_agent_has_a_control_by_every_rule() -> None:
    stems = {name.partition("-gaze-")[0] for name in CONTROLS}
    assert len(stems) > 10
    assert CONTROLS.keys() == {f"{stem}-gaze-{rule}" for stem in stems for rule in RULES}


@pytest.mark.parametrize("name", CONTROLS)
def test_a_control_is_its_row_but_for_the_gaze(name: str, tmp_path: Path) -> None:
    control = CONTROLS[name]
    row = learned(control)
    assert (control.minutes, control.episodes) == (row.minutes, row.episodes)
    mine, other = (asdict(each.config(tmp_path)) for each in (control, row))
    differing = {field for field in mine if mine[field] != other[field]}
    assert differing <= {"gaze", "look_gain"}
    assert mine["gaze"] == name.rpartition("-")[2]


def test_a_control_is_no_rival_of_what_others_publish() -> None:
    row = next(row for row in SCENES.rows if row.name == "pair-hard")
    assert row.reference is not None
    assert all(each.reference is None for each in gaze_controls(replace(row, seeds=5)))
