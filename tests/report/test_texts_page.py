"""The page of texts shows stories and bAbI's kinds in order, beside what others report."""

from typing import Any

from glimpse_envs.evaluation.record import Record
from report.grouping import tasks_of
from report.page import Places
from report.pages.texts import BABI_ID, STORIES, texts_page
from report.references.texts import BABI
from tests.support.records import SOFT_TILES, as_runs, memory_record


def page_of(*records: Record) -> str:
    return texts_page(tasks_of(as_runs(records)), Places())


def rows_under(text: str, heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, without its head."""
    found: list[list[str]] = []
    for line in text.split(f"{heading}\n")[1].splitlines():
        if line.startswith("| "):
            found.append([cell.strip() for cell in line.strip("|").split("|")])
        elif found:
            break
    return found[2:]


def story(**changes: Any) -> Record:
    fields = {"env_id": STORIES, "levels": (2, 10), "length": 10, "multiples": (1, 2, 4)}
    return memory_record(**{**fields, **changes})


def test_stories_have_a_row_for_each_model_and_the_errors_of_longer_ones() -> None:
    two = {"env_kwargs": {"facts": 2}, "right": 0.8, "costs": {"cells_read": 7.25}}
    text = page_of(story(**two), story(), story(model=SOFT_TILES, multiples=(1,)))
    rows = rows_under(text, "## Stories")
    assert [row[0] for row in rows] == [
        *["where somebody is, 1 fact"] * 2,
        "where a thing is, 2 facts",
    ]
    one, every = "one statement a step", "every statement"
    assert [row[2] for row in rows] == [one, every, one]
    hard, soft, harder = rows
    assert hard[4] == "0.50"
    assert hard[-1] == "50.2, 75.1"
    assert soft[-1] == "—, —"
    assert (harder[4], harder[6], harder[7]) == ("20.00", "0 of 1", "7.2")
    assert hard[6] == "1 of 1"


def test_longer_budgets_and_notes_are_told() -> None:
    text = page_of(story(config={"minutes": 15.0}, notes="trained three times as long"))
    ((*_, minutes, _, _),) = rows_under(text, "## Stories")
    assert minutes.endswith(" of 15")
    assert "- Reinforce LSTM on Stories-v0: trained three times as long" in text


def test_kinds_of_questions_are_in_their_order_and_named() -> None:
    scores: dict[str, Any] = {"levels": None, "multiples": (1,), "env_id": BABI_ID}
    kinds = [memory_record(env_kwargs={"kind": kind}, **scores) for kind in (11, 6)]
    first = memory_record(**scores)
    rows = rows_under(page_of(*kinds, first), "## bAbI")
    names = [row[0] for row in rows]
    assert names == ["1 one fact", "6 yes or no", "11 basic coreference"]


def test_what_others_report_is_told_with_and_without_records() -> None:
    assert len(BABI) == 20
    for text in (page_of(), page_of(story())):
        rows = rows_under(text, "### Reported by others")
        assert len(rows) == 20
        assert rows[2] == ["3 three facts", "80", "40.3", "0"]
    assert page_of().count("Not measured yet: `python -m benchmarks.tables texts`") == 2
