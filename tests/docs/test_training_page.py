"""The table of presets on the page of training tells what they are."""

import pytest

from agents.presets import PRESETS
from agents.training.config import TrainingConfig
from tests.support.guides import DOCS

PAGE = (DOCS / "training.md").read_text(encoding="utf-8")


def length_of(config: TrainingConfig) -> str:
    """For people: what a training ends by."""
    if config.minutes is None:
        return f"{config.episodes / 1e6:g} million episodes"
    solved = ", or until solved" if config.stop_at is not None else ""
    return f"{config.minutes:g} minutes{solved}"


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_has_the_algorithms_and_the_length_of_the_table(preset: str) -> None:
    (row,) = (line for line in PAGE.splitlines() if line.startswith(f"| `{preset}` |"))
    *_, algorithms, length = (cell.strip() for cell in row.strip("| ").split("|"))
    assert algorithms == ", ".join(f"`{config.algorithm}`" for config in PRESETS[preset])
    assert {length} == {length_of(config) for config in PRESETS[preset]}


def test_without_a_preset_a_training_is_as_long_as_the_page_says() -> None:
    assert f"or {length_of(TrainingConfig())} without a preset" in PAGE
