"""The page of trials."""

import json
from pathlib import Path

import pytest

from report.page import Places
from report.pages.trials import OTHERS, PAGE, publish
from report.references.pictures import LEARNED, REFERENCES

ENV_ID = "Glimpse/ClutteredMNIST-v0"


def block(folder: Path, **more: object) -> str:
    trial = {"settings": "looks at cells", "episodes": 1234, "error": 0.0625, "note": ""}
    record = {
        **{"env_id": ENV_ID, "glimpses": 8, "minutes": 4.0, "seed": 1, "trials": [trial]},
        **{"validation_episodes": 5000, "hardware": "a core", "revision": "abc"},
    }
    (folder / "benchmarks").mkdir()
    path = folder / "benchmarks" / "trials.json"
    path.write_text(json.dumps(record | more), encoding="utf-8")
    return publish(Places(folder, folder)).texts[PAGE]


def test_a_trial_is_a_row(tmp_path: Path) -> None:
    text = block(tmp_path)
    assert "| looks at cells | 1,234 | 6.25% |" in text
    assert "differences below a percentage point are noise" in text
    assert "RAM" not in text


def test_trials_without_success_show_returns(tmp_path: Path) -> None:
    trial = {"settings": "the row as it is", "episodes": 1234, "return": 0.62512, "note": ""}
    text = block(tmp_path, trials=[trial])
    assert "| the row as it is | 1,234 | 0.625 |" in text
    assert "return on 5,000 validation episodes" in text


def test_a_record_says_itself_how_far_equal_runs_differ(tmp_path: Path) -> None:
    text = block(tmp_path, noise="two equal ones differed by 5 points")
    assert "of these single runs, two equal ones differed by 5 points (" in text
    assert "below a percentage point" not in text


def test_longer_runs_stand_beside_the_papers_error(tmp_path: Path) -> None:
    text = block(tmp_path, preset=[{"minutes": 15.0, "errors": [0.05, 0.03, 0.04]}])
    asked = (ENV_ID, 8, LEARNED)
    (paper,) = (r.paper for r in REFERENCES if (r.env_id, r.glimpses, r.model) == asked)
    assert "after 15 core-minutes, by seed: 5.00%, 3.00%, 4.00%; the median is 4.00%" in text
    assert f"RAM's test error is {paper:g} %" in text


def test_the_presets_rivals_stand_beside_it(tmp_path: Path) -> None:
    rival = {"settings": "no weight decay", "minutes": 15.0, "errors": [0.06, 0.02, 0.03]}
    preset = [{"minutes": minutes, "errors": [0.01, 0.03, 0.02]} for minutes in (4.0, 15.0)]
    text = block(tmp_path, preset=preset, rivals=[rival])
    assert "| no weight decay | 15 | 6.00%, 2.00%, 3.00% | 3.00% |" in text
    assert "| the preset | 15 | 1.00%, 3.00%, 2.00% | 2.00% |" in text


@pytest.mark.parametrize(
    ("name", "about"), [*OTHERS.items(), ("trials_search-hard", "The row `search-hard`")]
)
def test_other_trials_stand_below(tmp_path: Path, name: str, about: str) -> None:
    block(tmp_path)
    path = tmp_path / "benchmarks" / "trials.json"
    other = json.loads(path.read_text())
    other["trials"][0]["settings"] = "a moving average"
    path.with_name(f"{name}.json").write_text(json.dumps(other), encoding="utf-8")
    text = publish(Places(tmp_path, tmp_path)).texts[PAGE]
    assert text.index("looks at cells") < text.index(f"## {about}") < text.index("a moving average")


def test_without_a_record_its_command_is_named(tmp_path: Path) -> None:
    assert "python -m benchmarks.trials" in publish(Places(tmp_path, tmp_path)).texts[PAGE]
