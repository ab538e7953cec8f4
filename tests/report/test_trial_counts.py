"""Pages say how many trials chose the settings of agents and of their rivals."""

import json
from pathlib import Path

from report.trial_counts import how_settings_were_chosen, trial_counts

PAIR = "Glimpse/DigitPair-v0"


def write(folder: Path, name: str, trials: int, env_id: str = PAIR) -> None:
    (folder / name).write_text(json.dumps({"env_id": env_id, "trials": [{}] * trials}))


def test_trials_of_agents_and_of_whole_views_are_counted_apart(tmp_path: Path) -> None:
    write(tmp_path, "trials_pairs.json", 5)
    write(tmp_path, "trials_read_pairs.json", 8)
    write(tmp_path, "trials_pair-full.json", 3)
    write(tmp_path, "trials_search.json", 2, "Glimpse/Search-v0")
    assert trial_counts(tmp_path) == {PAIR: (13, 3), "Glimpse/Search-v0": (2, 0)}
    (text,) = how_settings_were_chosen(tmp_path, [PAIR, PAIR, "Glimpse/DigitSum-v0"])
    assert "of models that see every pixel: 13 and 3 on DigitPair-v0; where" in text
    assert how_settings_were_chosen(tmp_path, ["Glimpse/DigitSum-v0"]) == []
