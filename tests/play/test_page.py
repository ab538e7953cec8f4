"""The page through waits, reloads, failures and small windows."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agents.play.game import Setting
from agents.play.human import HumanLog
from agents.play.server import Table
from tests.support.play_page import NARROW, click_scene, expect, pictures, served, status

pytestmark = pytest.mark.learning


def test_a_low_window_holds_the_scene_and_what_is_said_of_it(open_page: Any) -> None:
    low = {"width": 1280, "height": 620}
    with served(pictures()) as server:
        page = open_page(server.url, low)
        status(page, "Glimpse 1 of 3.")
        said = page.locator("#status").bounding_box()
        assert said["y"] + said["height"] <= low["height"]


def test_a_page_that_waits_for_its_first_scene_says_so(open_page: Any) -> None:
    with served(pictures()) as server:
        page = open_page("about:blank")
        page.route("**/api/games", lambda route: None)  # never answered
        page.goto(server.url)
        status(page, "The first scene is made")


def test_a_reload_keeps_the_game_and_players_have_their_own(open_page: Any) -> None:
    with served(pictures()) as server:
        one, two = open_page(server.url), open_page(server.url)
        status(two, "Glimpse 1 of 3.")
        status(one, "Glimpse 1 of 3.")
        click_scene(one, 0.3, 0.3)
        status(one, "Glimpse 2 of 3.")
        one.keyboard.press("7")
        status(one, "Your answer so far: 7.")
        one.reload()
        status(one, "Glimpse 2 of 3. Your answer so far: 7.")
        status(two, "Glimpse 1 of 3.")


def test_the_next_scene_has_no_answer_of_the_last(open_page: Any) -> None:
    with served(pictures(budget=1)) as server:
        page = open_page(server.url)
        status(page, "Glimpse 1 of 1.")
        page.keyboard.press("7")
        status(page, "you answered 7")
        page.reload()
        page.get_by_role("button", name="Next scene").click()
        status(page, "That was the last: what is it?")


def test_models_stand_right_below_ones_own_path_beside_many_answers(open_page: Any) -> None:
    with served(lambda: Table(Setting("Glimpse/DigitPairGlyphs-v0"), [])) as server:
        page = open_page(server.url)
        status(page, "Glimpse 1 of ")
        page.evaluate("document.querySelector('#models').hidden = false")
        boxes = [
            page.locator(name).bounding_box() for name in ("#models", "#status", "#play aside")
        ]
        models, told, answers = boxes
        assert 0 < models["y"] - (told["y"] + told["height"]) < 40
        assert answers["y"] + answers["height"] > models["y"]
        assert models["x"] + models["width"] <= answers["x"]


def test_a_dead_server_is_told_and_a_new_one_begins_a_new_game(open_page: Any) -> None:
    with served(pictures()) as server:
        page = open_page(server.url)
        status(page, "Glimpse 1 of 3.")
        server.stop()
        click_scene(page, 0.3, 0.3)
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text("The server does not answer")
        status(page, "Glimpse 1 of 3.")
        server.start()
        page.get_by_role("button", name="Try again").click()
        expect(alert).to_contain_text("That game is no longer there: this is a new one.")
        expect(page.get_by_role("button", name="Try again")).to_be_hidden()
        status(page, "Glimpse 1 of 3.")
        click_scene(page, 0.3, 0.3)
        status(page, "Glimpse 2 of 3.")
        expect(alert).to_be_hidden()


def test_a_server_that_fails_says_so(open_page: Any, tmp_path: Path) -> None:
    setting = Setting("Glimpse/ClutteredGlyphs-v0", {"budget": 1})
    log = HumanLog(tmp_path / "records", setting)
    with served(lambda: Table(setting, [], log)) as server:
        page = open_page(server.url)
        status(page, "That was the last: what is it?")
        log.path.mkdir()  # where the log should be written
        page.keyboard.press("7")
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text("The server failed: its terminal says why.")


def test_a_game_that_went_on_in_another_tab_is_shown(open_page: Any) -> None:
    with served(pictures()) as server:
        page = open_page(server.url)
        status(page, "Glimpse 1 of 3.")
        game = page.evaluate("() => sessionStorage.getItem('game')")
        posted = page.request.post(
            f"{server.url}api/games/{game}/step", data={"action": {"look": {"x": 0.5, "y": 0.5}}}
        )
        assert posted.ok
        page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
        status(page, "Glimpse 2 of 3.")


def test_a_narrow_screen_shows_everything_without_scrolling_sideways(open_page: Any) -> None:
    for setting in (
        Setting("Glimpse/ClutteredGlyphs-v0"),
        Setting("Glimpse/ForwardReverse-v0"),
        Setting("Glimpse/AssociativeRecall-v0"),
    ):
        with served(partial(Table, setting, [])) as server:
            page = open_page(server.url, NARROW)
            status(page, "Glimpse 1 of")
            assert page.evaluate("() => document.documentElement.scrollWidth") <= NARROW["width"]
            assert page.locator("#answers button").first.is_visible()
