"""Changes of a table's row are tried at equal core-minutes, and recorded together."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from benchmarks import row_trials
from benchmarks.row_trials import AS_IT_IS, changed, main, parse
from benchmarks.tables.glyphs import GLYPHS
from benchmarks.tables.table import Row
from glimpse_envs.evaluation.record import Model

ROW = "glyphs-centred-6"
WRONG = SimpleNamespace(success=0.5, mean_return=0.5)


def row() -> Row:
    return row_trials.row_named("glyphs", ROW)


@pytest.mark.learning
def test_trials_are_added_to_those_of_the_rows_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = replace(row(), changes={"batch_size": 32})
    monkeypatch.setattr(row_trials, "row_named", lambda table, name: small)
    where = ["--out", str(tmp_path / "runs"), "--record", str(tmp_path), "--scenes", "100"]
    first = ["glyphs", ROW, "--minutes", "0.01", *where]
    main([*first, "--change", "few units: network.core_units=16"])
    main([*first, "--change", "a narrow budget: env.budget=2 weight_decay=0.0"])
    record = json.loads((tmp_path / f"trials_{ROW}.json").read_text())
    tried = [one["settings"] for one in record["trials"]]
    assert tried == [AS_IT_IS, "few units", "a narrow budget"]
    assert all(one["episodes"] >= 32 and 0 <= one["error"] <= 1 for one in record["trials"])
    (of_budget,) = (tmp_path / "runs").glob("*narrow-budget*/config.json")
    trained = json.loads(of_budget.read_text())["config"]
    assert trained["env_kwargs"]["budget"] == 2
    assert (trained["weight_decay"], trained["minutes"]) == (0.0, 0.01)
    assert capsys.readouterr().out.count(AS_IT_IS) == 1
    with pytest.raises(ValueError, match=r"of another minutes, 0\.01, not 0\.02.*elsewhere"):
        main(["glyphs", ROW, "--minutes", "0.02", *where])
    with pytest.raises(ValueError, match=r"'few units' was tried with .*take other words"):
        main([*first, "--change", "few units: network.core_units=17"])
    for option in ("solve_share", "network.class_units"):  # which came after the record
        *inner, name = option.split(".")
        del (record["row"][inner[0]] if inner else record["row"])[name]
    (tmp_path / f"trials_{ROW}.json").write_text(json.dumps(record))
    main(first)
    altered = replace(small, changes={"batch_size": 64})
    monkeypatch.setattr(row_trials, "row_named", lambda table, name: altered)
    with pytest.raises(ValueError, match="of another row"):
        main(first)
    assert json.loads((tmp_path / f"trials_{ROW}.json").read_text()) == record


class RunOfOneEpisode:
    """What a trial is recorded of."""

    config: ClassVar = {
        "revision": "0123456789ab",
        "model": asdict(Model("Full view strong", sees="everything", attention="none")),
    }

    def load_checkpoint(self) -> tuple[None, dict[str, int]]:
        return None, {"episodes": 1}


def test_commands_that_try_changes_at_once_record_the_trials_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["glyphs", ROW, "--record", str(tmp_path)]

    def train(algorithm: Any, config: Any, folder: Path, scenes: int) -> Any:
        if config.network.core_units == 16:  # another command ends before this one
            main([*command, "--change", "another: network.core_units=17"])
        return RunOfOneEpisode(), WRONG

    monkeypatch.setattr(row_trials, "trained_and_judged", train)
    main([*command, "--change", "few units: network.core_units=16"])
    record = json.loads((tmp_path / f"trials_{ROW}.json").read_text())
    tried = [one["settings"] for one in record["trials"]]
    assert tried == [AS_IT_IS, "another", "few units"]
    assert {one["sees"] for one in record["trials"]} == {"everything"}  # what its run says


def test_trials_of_another_machine_are_not_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_trials, "trained_and_judged", lambda *_: (RunOfOneEpisode(), WRONG))
    command = ["glyphs", ROW, "--record", str(tmp_path)]
    main(command)
    path = tmp_path / f"trials_{ROW}.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"hardware": "a slower core"}))
    with pytest.raises(ValueError, match="of another hardware, 'a slower core'"):
        main([*command, "--change", "few units: network.core_units=16"])


def test_a_change_is_words_and_settings() -> None:
    words, changes = parse("half: of the units, rate 0.01: network.core_units=8 learning_rate=0.01")
    assert words == "half: of the units, rate 0.01"
    start: Any = row().config()
    network = replace(start.network, core_units=8)
    assert changed(start, changes) == replace(start, learning_rate=0.01, network=network)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("network.core_units=8", "must be words, a colon"),
        ("no settings: ", "must be words, a colon"),
        ("a word: units", "should be KEY=VALUE"),
        ("another part: policy.units=8", r"begin with network\., with env\."),
        ("an unknown setting: units=8", "the algorithm reinforce has no setting units"),
        ("an unknown unit: network.units=8", "the network of this algorithm has no setting units"),
    ],
)
def test_what_is_no_change_is_refused(change: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        changed(row().config(), parse(change)[1])


def test_a_row_without_success_is_judged_by_its_return(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(row(), env_id="CartPole-v1", changes={})
    monkeypatch.setattr(row_trials, "row_named", lambda table, name: other)
    score = SimpleNamespace(success=None, mean_return=21.0)
    monkeypatch.setattr(row_trials, "trained_and_judged", lambda *_: (RunOfOneEpisode(), score))
    main(["glyphs", ROW, "--record", str(tmp_path)])
    (trial,) = json.loads((tmp_path / f"trials_{ROW}.json").read_text())["trials"]
    assert trial["return"] == 21.0
    assert "error" not in trial


def test_a_recipe_is_read_from_the_tables_own_records_wherever_the_command_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Any] = []

    def begin(algorithm: Any, config: Any, folder: Path, scenes: int) -> None:
        begun.append(config)
        raise InterruptedError

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(row_trials, "trained_and_judged", begin)
    with pytest.raises(InterruptedError):
        main(["memory", "copy-hard", "--minutes", "0.5"])
    (config,) = begun
    assert (config.algorithm, config.minutes) == ("key_value_memory", 0.5)


def test_a_table_of_others_has_rows_too() -> None:
    found = row_trials.row_named("benchmarks.tables.glyphs:GLYPHS", ROW)
    assert found == row()


def test_an_unknown_row_is_refused_by_the_names_of_all() -> None:
    with pytest.raises(ValueError, match=rf"no row 'mine'.*{GLYPHS.rows[0].name}"):
        row_trials.row_named("glyphs", "mine")
