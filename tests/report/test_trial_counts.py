"""Pages say how many trials chose the settings of agents and of their rivals."""

import json
from collections.abc import Sequence
from pathlib import Path

from report.trial_counts import how_settings_were_chosen, sides_of_trials, trial_counts

PAIR = "Glimpse/DigitPair-v0"


def write(folder: Path, name: str, sees: Sequence[str], env_id: str = PAIR) -> None:
    trials = [{"sees": each} for each in sees]
    (folder / name).write_text(json.dumps({"env_id": env_id, "trials": trials}))


def test_trials_of_agents_and_of_whole_views_are_counted_apart(tmp_path: Path) -> None:
    write(tmp_path, "trials_pairs.json", ["glimpses"] * 5)
    write(tmp_path, "trials_mixed.json", ["everything", "glimpses", "privileged", "everything"])
    write(tmp_path, "trials_search.json", ["glimpses"] * 2, "Glimpse/Search-v0")
    assert trial_counts(tmp_path) == {PAIR: (7, 2), "Glimpse/Search-v0": (2, 0)}
    (text,) = how_settings_were_chosen(tmp_path, [PAIR, PAIR, "Glimpse/DigitSum-v0"])
    assert "of models that see everything: 7 and 2 on DigitPair-v0; where" in text
    assert how_settings_were_chosen(tmp_path, ["Glimpse/DigitSum-v0"]) == []


def test_the_sides_of_trials_are_those_of_their_scenes(tmp_path: Path) -> None:
    digits = "Glimpse/ClutteredMNIST-v0"  # of 60 pixels
    write(tmp_path, "trials.json", ["glimpses"], digits)
    write(tmp_path, "trials_large.json", ["everything"], "Glimpse/ClutteredMNISTLarge-v0")
    write(tmp_path, "trials_pairs.json", ["glimpses", "everything"])
    row = {"env_kwargs": {"scene_size": 480}}
    wide = {"env_id": digits, "trials": [{"sees": "glimpses"}], "row": row}
    (tmp_path / "trials_wide.json").write_text(json.dumps(wide))
    assert sides_of_trials(tmp_path, "Cluttered") == ([60, 480], [100])
