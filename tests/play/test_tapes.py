"""Tapes in a browser: which cells are shown, what can be moved, and how large the symbols are."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agents.algorithms.reinforce import Reinforce
from agents.play.game import Setting
from agents.play.machines import Machine
from agents.play.server import Table
from tests.support.play_page import NARROW, expect, served, status
from tests.support.tiny import tiny_config
from tests.support.trainings import trained

pytestmark = pytest.mark.learning

PLACES = """tape => Object.fromEntries([...document.querySelectorAll(`[data-name=${tape}] .cell`)]
    .map(cell => [cell.dataset.index, Math.round(cell.getBoundingClientRect().x)]))"""
"""From the name of a tape to the left edge of each of its cells, by the cell's number."""
TOO_WIDE = """() => [...document.querySelectorAll("#model-cards .cell")].filter(cell => {
    const text = document.createRange();
    text.selectNodeContents(cell);
    return text.getBoundingClientRect().width > cell.getBoundingClientRect().width;
}).map(cell => cell.textContent)"""


def test_a_tape_stands_still_while_it_fits_and_priorities_stand_under_their_symbols(
    open_page: Any,
) -> None:
    kwargs = {"symbols": 9, "min_length": 20, "length": 20}
    with served(partial(Table, Setting("Glimpse/PrioritySort-v0", kwargs), [])) as server:
        page = open_page(server.url)
        status(page, "Glimpse 1 of")
        start = page.evaluate(PLACES, "input")
        assert set(start) == {str(cell) for cell in range(-1, 12)}
        for moves, head in ((11, 11), (5, 16)):
            for _ in range(moves):
                page.keyboard.press("ArrowRight")
            status(page, f"Glimpse {head + 1} of")
            symbols, priorities = (page.evaluate(PLACES, tape) for tape in ("input", "priority"))
            assert priorities == symbols
            assert (symbols == start) == (head == 11)
            expect(page.locator("[data-name=input] .head")).to_have_attribute(
                "data-index", str(head)
            )


def test_buttons_move_as_the_tape_allows_and_together_with_a_symbol(open_page: Any) -> None:
    kwargs = {"symbols": 5, "min_length": 3, "length": 3}
    with served(partial(Table, Setting("Glimpse/ForwardReverse-v0", kwargs), [])) as server:
        page = open_page(server.url)
        status(page, "Glimpse 1 of")
        parts = {
            name: page.locator(
                "#others section", has=page.get_by_role("heading", name=name, exact=True)
            )
            for name in ("Move", "Move with each symbol", "Write")
        }
        expect(parts["Move"].locator("button")).to_have_text(["→", "↓", "↑"])
        expect(page.locator("#keys kbd")).to_have_text(
            ["→", "↓ ↑", "1–5", "⇧ + symbol", "together", "enter"]
        )
        held = parts["Move with each symbol"]
        for arrow in "→↓↑":  # up takes the place of down
            held.get_by_role("button", name=arrow).click()
        expect(held.locator("[aria-pressed=true]")).to_have_text(["→", "↑"])
        parts["Write"].get_by_role("button", name="4").click()
        status(page, "Glimpse 2 of")
        expect(page.locator("[data-name=memory] .written")).to_have_text("4")
        for tape in ("input", "memory"):
            expect(page.locator(f"[data-name={tape}] .head")).to_have_attribute("data-index", "1")


def test_symbols_in_cards_fit_their_cells(open_page: Any, tmp_path: Path) -> None:
    setting = Setting("Glimpse/PrioritySort-v0", {"min_length": 10, "length": 10})
    config = tiny_config(env_id=setting.env_id, env_kwargs=setting.env_kwargs, episodes=8)
    machine = Machine(trained(Reinforce, config, tmp_path / "run"), setting)
    with served(lambda: Table(setting, [machine])) as server:
        page = open_page(server.url, NARROW)
        status(page, "Glimpse 1 of")
        for _ in range(9):
            page.keyboard.press("ArrowRight")
        for _ in range(2):  # the second symbol is wrong unless both are the same
            page.keyboard.press("1")
        status(page, "Wrong")
        expect(page.locator("#model-cards .card")).to_have_count(2)
        assert page.evaluate(TOO_WIDE) == []
        fonts = page.locator("#model-cards .long").evaluate_all(
            "cells => cells.map(cell => parseFloat(getComputedStyle(cell).fontSize))"
        )
        assert fonts
        assert min(fonts) >= 8
