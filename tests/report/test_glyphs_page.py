"""The page of tasks without files says what the records do, and nothing without them."""

from report.grouping import tasks_of
from report.groups import FEW_SEEDS
from report.page import Places
from report.pages.glyphs import glyphs_page
from tests.support.records import a_record, as_runs


def test_every_task_has_a_row_in_the_order_of_the_suite() -> None:
    ids = ("Glimpse/SearchGlyphs-v0", "Glimpse/CenteredGlyphs-v0")
    runs = as_runs([a_record(env_id=env_id) for env_id in ids])
    text = glyphs_page(tasks_of(runs), Places())
    rows = [line for line in text.splitlines() if "Glyphs-v0 |" in line]
    assert [row.split("|")[1].strip() for row in rows] == ["CenteredGlyphs-v0", "SearchGlyphs-v0"]
    error = 100 - 100 * (runs[1].record.headline.success or 0)
    assert f"| {error:.2f} |" in rows[0]


def test_what_makes_no_claim_is_the_rule_of_all_pages() -> None:
    assert f"- {FEW_SEEDS}" in glyphs_page([], Places()), "with that of short trainings"


def test_without_records_the_page_says_how_to_make_them() -> None:
    text = glyphs_page([], Places())
    assert "Not measured yet: `python -m benchmarks.tables glyphs`" in text
