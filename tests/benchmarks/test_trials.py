"""Settings are tried at equal core-minutes, and what was trained is kept."""

import json
from pathlib import Path

import pytest

from benchmarks import trials
from tests.support.episodes import CENTRED


@pytest.mark.learning
def test_what_is_tried_is_recorded_and_what_is_trained_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "ENV_ID", CENTRED)
    monkeypatch.setattr(trials, "VALIDATION", 100)
    shown = {name: {**trials.TRIALS[name], "batch_size": 32} for name in list(trials.TRIALS)[-3:]}
    monkeypatch.setattr(trials, "TRIALS", shown)
    rivals = {name: {**changes, "batch_size": 32} for name, changes in trials.RIVALS.items()}
    monkeypatch.setattr(trials, "RIVALS", rivals)
    where = ["--out", str(tmp_path / "runs"), "--record", str(tmp_path)]
    arguments = ["--minutes", "0.005", "--long", "0.02", *where]
    trials.main(arguments)
    first = json.loads((tmp_path / "trials.json").read_text())
    assert [one["settings"] for one in first["trials"]] == list(shown)
    assert all(one["episodes"] >= 32 and 0 <= one["error"] <= 1 for one in first["trials"])
    assert [(one["minutes"], len(one["errors"])) for one in first["preset"]] == [
        (0.005, len(trials.SEEDS)),
        (0.02, len(trials.SEEDS)),
    ]
    assert [(one["settings"], one["minutes"], len(one["errors"])) for one in first["rivals"]] == [
        (name, 0.02, len(trials.SEEDS)) for name in rivals
    ]
    for name, changes in rivals.items():
        folder = tmp_path / "runs" / f"{trials.folder_name(name)}-0.02-minutes-seed0"
        trained = json.loads((folder / "config.json").read_text())["config"]
        assert trained["weight_decay"] == changes["weight_decay"]
    trials.main(arguments)
    assert json.loads((tmp_path / "trials.json").read_text()) == first


def test_settings_have_folders_of_their_own() -> None:
    for tried in (trials.TRIALS, ["preset", *trials.RIVALS]):
        assert len({trials.folder_name(settings) for settings in tried}) == len(tried)
    name = trials.folder_name("looks at cells; Adam, batch 128, rate 0.001")
    assert name == "looks-at-cells-adam-batch-128-rate-0.001"
