"""Every kind of task played in a browser: what is clicked and typed, and what is read."""

import re
from contextlib import closing
from functools import partial
from typing import Any

import pytest

from agents.play.__main__ import PlayConfig, setting_from
from agents.play.game import Setting
from agents.play.machines import Machine
from agents.play.server import Table
from glimpse_envs.evaluation.runs import Run
from tests.support.play_page import brightness, click_scene, expect, pictures, served, status

pytestmark = pytest.mark.learning


def test_a_picture_is_played_by_clicks_and_keys(open_page: Any) -> None:
    with served(pictures()) as server:
        page = open_page(server.url)
        status(page, "Glimpse 1 of 3. Click where to look next.")
        click_scene(page, 0.1, 0.1)
        status(page, "Glimpse 2 of 3.")
        legend = page.locator("#play .legend")
        expect(legend).to_contain_text("gaze before")
        dark = brightness(page).count(0)
        assert dark > 100, "what was not seen is black"
        page.keyboard.press("4")
        status(page, "Your answer so far: 4.")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Space")
        status(page, "Glimpse 3 of 3.")
        click_scene(page, 0.5, 0.5)
        status(page, "after 3 glimpses.")
        assert page.inner_text("#status").startswith(
            ("Right: you answered 4", "Wrong: you answered 4")
        )
        expect(page.locator("#score")).to_contain_text("of 1 right")
        page.keyboard.press("Enter")
        status(page, "Glimpse 1 of 3.")


def test_after_a_click_on_a_button_keys_are_for_the_game(open_page: Any) -> None:
    """Space would click the button again, and skip the scene."""
    with served(pictures()) as server:
        page = open_page(server.url)
        status(page, "Glimpse 1 of 3.")
        click_scene(page, 0.1, 0.1)
        status(page, "Glimpse 2 of 3.")
        page.locator("#next").click()
        status(page, "Glimpse 1 of 3.")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Space")
        status(page, "Glimpse 2 of 3.")
        page.get_by_role("button", name="7", exact=True).click()
        status(page, "Your answer so far: 7.")
        page.keyboard.press("Space")
        status(page, "Glimpse 3 of 3.")


def test_the_last_glimpse_asks_for_an_answer(open_page: Any) -> None:
    with served(pictures(budget=1)) as server:
        page = open_page(server.url)
        status(page, "That was the last: what is it?")
        click_scene(page, 0.5, 0.5)
        status(page, "answer with a number key or a button")
        page.get_by_role("button", name="7", exact=True).click()
        status(page, "you answered 7")


def test_an_answer_that_was_chosen_is_given_after_the_last_glimpse(open_page: Any) -> None:
    with served(pictures(budget=2)) as server:
        page = open_page(server.url)
        status(page, "Glimpse 1 of 2.")
        page.keyboard.press("4")
        click_scene(page, 0.5, 0.5)
        status(page, "Glimpse 2 of 2. That was the last: click or press enter to answer 4")
        page.keyboard.press("Enter")
        status(page, "you answered 4")


def test_an_agent_may_stop_early_and_so_may_people(open_page: Any) -> None:
    with served(pictures(budget=8, stop=True)) as server:
        page = open_page(server.url)
        status(page, "Glimpse 1 of 8.")
        page.keyboard.press("3")
        status(page, "Your answer so far: 3.")
        page.keyboard.press("Enter")
        status(page, "you answered 3")
        status(page, "after 1 glimpse.")


def test_a_description_is_written_word_by_word(open_page: Any) -> None:
    with served(lambda: Table(Setting("Glimpse/DescribeSceneGlyphs-v0"), [])) as server:
        page = open_page(server.url)
        status(page, "Glimpse 1 of 12. Choose the next word, then click where to look.")
        expect(page.locator("#how")).to_contain_text('"the digit 0 is above the digit 9 ."')
        expect(page.locator("#keys")).to_contain_text("0–9 a–l")
        click_scene(page, 0.5, 0.5)
        status(page, "Choose the next word first")
        page.get_by_role("button", name="the").click()
        status(page, "Next word: the.")
        click_scene(page, 0.5, 0.5)
        status(page, "Glimpse 2 of 12. Written so far: the. Choose the next word")
        for number in range(3, 13):
            page.keyboard.press("0")
            status(page, "Next word: 0.")
            click_scene(page, 0.5, 0.5)
            status(page, f"Glimpse {number} of 12.")
        status(page, "That was the last: choose the last word.")
        page.keyboard.press("0")
        status(page, "after 12 glimpses.")


def test_an_answer_that_counts_is_asked_for_in_time(open_page: Any) -> None:
    setting = Setting("Glimpse/DigitSequenceGlyphs-v0", {"min_length": 3})
    with closing(setting.make()) as board:
        board.reset(0)
        picture: Any = board.picture()
    first, second = picture.pending.split()[:2]
    with served(partial(Table, setting, [])) as server:
        page = open_page(server.url)
        expect(page.locator("#keys")).to_contain_text("answer; it counts after every 3 glimpses")
        for number in (1, 2):
            status(page, f"Glimpse {number} of 18. Click where to look next.")
            click_scene(page, 0.5, 0.5)
        status(page, "Glimpse 3 of 18. The answer counts with this look: choose it")
        click_scene(page, 0.2, 0.5)
        status(page, "Choose an answer first: it counts with this look.")
        page.keyboard.press(first)
        status(page, f"Glimpse 3 of 18. Your answer now: {first}.")
        click_scene(page, 0.2, 0.5)
        status(page, f"Glimpse 4 of 18. Answered so far: {first}. Click where to look next.")
        page.keyboard.press(second)
        status(page, f"Answered so far: {first}. Your next answer: {second}.")


def test_a_search_says_what_is_asked_for_and_ends_by_a_stop(open_page: Any) -> None:
    setting = Setting("Glimpse/SearchGlyphs-v0", {"budget": 6})
    with served(partial(Table, setting, [])) as server:
        page = open_page(server.url)
        status(page, "Glimpse 1 of 6. Click where to look next. Stop when the gaze lies on it.")
        expect(page.locator("#question")).to_have_text(re.compile(r"Where is \d\?"))
        expect(page.locator("#how")).to_contain_text("until the gaze, the middle of the glimpse")
        click_scene(page, 0.5, 0.5)
        status(page, "Glimpse 2 of 6.")
        legend = page.locator("#play .legend")
        expect(legend).not_to_contain_text("where the answer lies")
        page.keyboard.press("Enter")
        status(page, "after 2 glimpses.")
        expect(legend).to_contain_text("where the answer lies")


def test_a_tape_is_played_by_keys(open_page: Any) -> None:
    setting = Setting("Glimpse/Copy-v0", {"symbols": 9, "min_length": 3, "length": 3})
    with served(partial(Table, setting, [])) as server:
        page = open_page(server.url)
        status(page, "Glimpse 1 of 6.")
        head = page.locator("[data-name=input] .head")
        output = page.locator("[data-name=output] .cell")
        for number in range(3):
            expect(page.locator("[data-name=input] .seen")).to_have_count(number + 1)
            symbol = head.inner_text()
            page.keyboard.down(symbol)
            page.keyboard.down("ArrowRight")
            page.keyboard.up("ArrowRight")
            page.keyboard.up(symbol)
            expect(output.nth(number + 1)).to_have_text(symbol)
        status(page, "Right")
        status(page, "after 3 glimpses.")
        legend = page.locator("#play .legend li")
        expect(legend).to_have_text(["under the head", "seen", "not seen", "right"])


def test_nothing_that_is_typed_is_lost(open_page: Any) -> None:
    tape = Setting("Glimpse/Copy-v0", {"symbols": 9, "min_length": 9, "length": 9})
    catch = Setting("Glimpse/Catch-v0", {"scene_size": 12, "glimpse_size": 2})
    for setting in (tape, catch):
        with served(partial(Table, setting, [])) as server:
            page = open_page(server.url)
            status(page, "Glimpse 1 of")
            for _ in range(8):
                page.keyboard.press("ArrowRight")
            status(page, "Glimpse 9 of")


def test_a_table_is_read_by_its_pointers(open_page: Any) -> None:
    setting = Setting("Glimpse/PointerChase-v0", {"min_length": 2, "length": 2, "values": 6})
    with served(partial(Table, setting, [])) as server:
        page = open_page(server.url)
        expect(page.locator(".query")).to_contain_text("2 hops from")
        expect(page.locator("#how")).to_contain_text("Follow the arrow of the present cell")
        expect(page.locator("#keys kbd")).to_have_text(["a–j", "1–6", "enter"])
        for hop in (2, 3):
            page.locator(".present .pointer").click()
            status(page, f"Glimpse {hop} of 6. Click a cell to look there.")
        value = page.locator(".present .content").inner_text().rpartition("v")[2].strip()
        page.locator(".grid .visited .steps").first.click()
        status(page, "Glimpse 4 of 6.")
        legend = page.locator("#play .legend")
        expect(legend).not_to_contain_text("★")
        page.locator("#answers").get_by_role("button", name=value, exact=True).click()
        expect(legend).to_contain_text("holds the answer")
        status(page, f"Right: you answered {value}")
        expect(page.locator(".grid .star")).to_have_count(1)


def test_catch_is_played_by_arrows(open_page: Any) -> None:
    setting = Setting("Glimpse/Catch-v0", {"scene_size": 4, "glimpse_size": 2})
    with served(partial(Table, setting, [])) as server:
        page = open_page(server.url)
        for number in range(1, 5):
            status(page, f"Glimpse {number} of 4.")
            if number < 4:
                status(page, "Act, or click to look without acting.")
            page.keyboard.press("ArrowRight" if number % 2 else "ArrowLeft")
        expect(page.locator("#next")).to_have_text("Next scene")
        assert page.inner_text("#status").startswith(("Right", "Wrong"))


def test_a_world_is_played_by_arrows_numbers_and_clicks(open_page: Any) -> None:
    pytest.importorskip("minigrid")
    setting = Setting("Glimpse/MiniGrid-v0", {"world": "Empty-5x5"})
    with served(partial(Table, setting, [])) as server:
        page = open_page(server.url)
        expect(page.locator("#question")).to_have_text("get to the green goal square")
        status(page, "Glimpse 1. Click where to look, then act.")
        page.keyboard.press("ArrowUp")
        status(page, "Glimpse 2.")
        page.keyboard.press("2")
        status(page, "Glimpse 3.")
        click_scene(page, 0.75, 0.25)
        status(page, "Now act: the gaze goes to the pointer with it.")
        page.locator("#scene").hover(position={"x": 20, "y": 20})  # on the way to the button
        with page.expect_request(re.compile("games/.+")) as sent:
            page.get_by_role("button", name="right").click()
        look = sent.value.post_data_json["action"]["look"]
        assert (look["x"], look["y"]) == pytest.approx((0.75, 0.25), abs=0.02), "not the button"
        status(page, "Glimpse 4.")
        page.keyboard.press("ArrowUp")
        status(page, "Glimpse 5.")
        page.keyboard.press("ArrowUp")
        status(page, "Return 0.9")


def test_the_models_path_stands_beside_the_players(
    open_page: Any, hard_run: Run, soft_run: Run
) -> None:
    setting = setting_from(PlayConfig(), [hard_run])
    machines = [Machine(run, setting) for run in (hard_run, soft_run)]
    with served(lambda: Table(setting, machines)) as server:
        page = open_page(server.url)
        status(page, "Glimpse 1 of 3.")
        page.keyboard.press("2")
        for _ in range(3):
            click_scene(page, 0.5, 0.5)
            page.wait_for_timeout(150)
        status(page, "you answered 2")
        cards = page.locator("#model-cards .card")
        expect(cards.locator("h3")).to_have_text(["you", "trained: hard", "trained: soft"])
        expect(cards.locator("canvas")).to_have_count(3)
        seen = ["after 3 glimpses", "after 3 glimpses", "sees the whole scene"]
        for card, how in zip(cards.all(), seen, strict=True):
            expect(card.locator(".verdict")).to_contain_text("answered")
            expect(card.locator(".verdict")).to_contain_text(how)
