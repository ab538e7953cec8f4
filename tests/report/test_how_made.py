"""The words of models' names that pages show are explained."""

from dataclasses import replace

import pytest

from report.groups import Group
from report.how_made import MEANINGS, meanings
from report.page import Places
from report.runs import read_runs
from tests.support.records import a_record, as_runs


@pytest.mark.parametrize("folder", ["glyphs", "memory", "scenes", "texts", "worlds"])
def test_every_word_of_a_published_name_has_a_meaning(folder: str) -> None:
    runs, _ = read_runs(Places().results / folder)
    words = {word for run in runs for word in run.record.model.name.split(", ")[1:]}
    assert words <= set(MEANINGS)


def test_words_are_explained_that_are_used_and_no_others() -> None:
    (run,) = as_runs([a_record()])
    group = Group((run,), "A2C LSTM, refined, wide inhibition of return (context)")
    told = [line.split("**")[1] for line in meanings([group, replace(group, label="A2C LSTM")])]
    assert told == ["refined", "wide inhibition of return", "context"]
