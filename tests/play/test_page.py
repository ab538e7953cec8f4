"""The page in a browser, as a person drives it: what is clicked and typed, and what is read."""

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from agents.play.__main__ import PlayConfig, setting_from
from agents.play.game import Setting
from agents.play.human import HumanLog
from agents.play.machines import Machine
from agents.play.server import Table, make_app
from glimpse_envs.evaluation.runs import Run

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect
expect.set_options(timeout=60_000)  # kernels may be compiled first

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
]
WIDE = {"width": 1100, "height": 900}
NARROW = {"width": 400, "height": 800}

pytestmark = [
    pytest.mark.learning,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="no chromium is installed"),
]


class Served:
    """A server on a port of its own, which can be stopped and started again."""

    def __init__(self, make_table: Callable[[], Table]) -> None:
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self._make_table = make_table
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        app = make_app(self._make_table(), self.port)
        config = uvicorn.Config(
            app, host="127.0.0.1", port=self.port, log_level="error", lifespan="off"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            time.sleep(0.01)

    def stop(self) -> None:
        self._server.force_exit = self._server.should_exit = True
        self._thread.join(timeout=20)
        assert not self._thread.is_alive()


@contextmanager
def served(make_table: Callable[[], Table]) -> Iterator[Served]:
    server = Served(make_table)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open a page in a browser profile of its own; its errors are the test's."""
    contexts, errors = [], []

    def open_one(url: str, viewport: dict[str, int] = WIDE) -> Any:
        context = browser.new_context(viewport=viewport)
        context.set_default_timeout(60_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert errors == []


def pictures(budget: int = 3, **kwargs: Any) -> Callable[[], Table]:
    setting = Setting("Glimpse/ClutteredGlyphs-v0", {"budget": budget, **kwargs})
    return lambda: Table(setting, [])


def click_scene(page: Any, x: float, y: float) -> None:
    box = page.locator("#scene canvas").bounding_box()
    page.locator("#scene canvas").click(position={"x": x * box["width"], "y": y * box["height"]})


def status(page: Any, text: str) -> None:
    expect(page.locator("#status")).to_contain_text(text)


def brightness(page: Any) -> list[int]:
    """The red of each of 20 x 20 places of the scene, as the canvas has it."""
    return page.locator("#scene canvas").evaluate(
        """canvas => {
            const pen = canvas.getContext("2d"), found = [];
            for (let row = 0; row < 20; row++) for (let column = 0; column < 20; column++)
              found.push(pen.getImageData((column + 0.5) / 20 * canvas.width,
                                          (row + 0.5) / 20 * canvas.height, 1, 1).data[0]);
            return found;
        }"""
    )


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
        click_scene(page, 0.5, 0.5)
        status(page, "Choose the next word first")
        page.get_by_role("button", name="the").click()
        status(page, "Next word: the.")
        click_scene(page, 0.5, 0.5)
        status(page, "Glimpse 2 of 12. Written so far: the. Choose the next word")


def test_an_answer_that_counts_is_asked_for_in_time(open_page: Any) -> None:
    with served(lambda: Table(Setting("Glimpse/DigitSequenceGlyphs-v0"), [])) as server:
        page = open_page(server.url)
        expect(page.locator("#keys")).to_contain_text("answer; it counts after every 3 glimpses")
        for number in (1, 2):
            status(page, f"Glimpse {number} of 18. Click where to look next.")
            click_scene(page, 0.5, 0.5)
        status(page, "Glimpse 3 of 18. The answer counts with this look: choose it")
        click_scene(page, 0.2, 0.5)
        status(page, "Choose an answer first: it counts with this look.")
        page.keyboard.press("4")
        status(page, "Glimpse 3 of 18. Your answer now: 4.")
        click_scene(page, 0.2, 0.5)
        expect(page.locator("#status")).to_contain_text(
            re.compile("^Glimpse 4|^Wrong: you answered 4")
        )


def test_a_search_says_what_is_asked_for_and_ends_by_a_stop(open_page: Any) -> None:
    setting = Setting("Glimpse/SearchGlyphs-v0", {"budget": 6})
    with served(lambda: Table(setting, [])) as server:
        page = open_page(server.url)
        status(page, "Glimpse 1 of 6. Click where to look next. Stop when the gaze lies on it.")
        expect(page.locator("#question")).to_have_text(re.compile(r"Where is \d\?"))
        click_scene(page, 0.5, 0.5)
        status(page, "Glimpse 2 of 6.")
        page.keyboard.press("Enter")
        status(page, "after 2 glimpses.")


def test_a_tape_is_played_by_keys(open_page: Any) -> None:
    setting = Setting("Glimpse/Copy-v0", {"symbols": 9, "min_length": 3, "length": 3})
    with served(lambda: Table(setting, [])) as server:
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
        with served(lambda setting=setting: Table(setting, [])) as server:  # type: ignore[misc]
            page = open_page(server.url)
            status(page, "Glimpse 1 of")
            for _ in range(8):
                page.keyboard.press("ArrowRight")
            status(page, "Glimpse 9 of")


def test_a_table_is_read_by_its_pointers(open_page: Any) -> None:
    setting = Setting("Glimpse/PointerChase-v0", {"min_length": 2, "length": 2})
    with served(lambda: Table(setting, [])) as server:
        page = open_page(server.url)
        expect(page.locator(".query")).to_contain_text("2 hops from")
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
    with served(lambda: Table(setting, [])) as server:
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
    with served(lambda: Table(setting, [])) as server:
        page = open_page(server.url)
        expect(page.locator("#question")).to_have_text("get to the green goal square")
        status(page, "Glimpse 1. Click where to look, then act.")
        page.keyboard.press("ArrowUp")
        status(page, "Glimpse 2.")
        page.keyboard.press("2")
        status(page, "Glimpse 3.")
        click_scene(page, 0.75, 0.25)
        status(page, "Now act: the gaze goes to the pointer with it.")
        page.get_by_role("button", name="right").click()
        status(page, "Glimpse 4.")
        page.keyboard.press("ArrowUp")
        status(page, "Glimpse 5.")
        page.keyboard.press("ArrowUp")
        status(page, "Return 0.9")


def test_a_reload_keeps_the_game_and_players_have_their_own(open_page: Any) -> None:
    with served(pictures()) as server:
        one, two = open_page(server.url), open_page(server.url)
        status(two, "Glimpse 1 of 3.")
        status(one, "Glimpse 1 of 3.")
        click_scene(one, 0.3, 0.3)
        status(one, "Glimpse 2 of 3.")
        one.reload()
        status(one, "Glimpse 2 of 3.")
        status(two, "Glimpse 1 of 3.")


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


def test_the_browsers_back_button_goes_from_watching_to_playing(
    open_page: Any, hard_run: Run
) -> None:
    setting = setting_from(PlayConfig(), [hard_run])
    with served(lambda: Table(setting, [Machine(hard_run, setting)])) as server:
        page = open_page(server.url)
        status(page, "Glimpse 1 of 3.")
        page.get_by_role("button", name="Watch").click()
        expect(page.locator("#watch-at")).to_have_text("glimpse 1 of 3")
        page.go_back()
        expect(page.locator("#watch")).to_be_hidden()
        status(page, "Glimpse 1 of 3.")


def test_a_scene_beyond_the_last_is_the_last(open_page: Any, hard_run: Run) -> None:
    setting = setting_from(PlayConfig(), [hard_run])
    with served(lambda: Table(setting, [Machine(hard_run, setting)])) as server:
        page = open_page(f"{server.url}#watch")
        number = page.get_by_role("spinbutton", name="Scene")
        expect(page.locator("#watch-at")).to_have_text("glimpse 1 of 3")
        last = number.get_attribute("max")
        number.fill("99999999")
        number.press("Enter")
        expect(number).to_have_value(last)


def test_a_narrow_screen_shows_everything_without_scrolling_sideways(open_page: Any) -> None:
    for setting in (
        Setting("Glimpse/ClutteredGlyphs-v0"),
        Setting("Glimpse/ForwardReverse-v0"),
        Setting("Glimpse/AssociativeRecall-v0"),
    ):
        with served(lambda setting=setting: Table(setting, [])) as server:  # type: ignore[misc]
            page = open_page(server.url, NARROW)
            status(page, "Glimpse 1 of")
            assert page.evaluate("() => document.documentElement.scrollWidth") <= NARROW["width"]
            assert page.locator("#answers button").first.is_visible()


def test_two_models_are_watched_side_by_side(open_page: Any, hard_run: Run, soft_run: Run) -> None:
    setting = setting_from(PlayConfig(), [hard_run])
    machines = [Machine(run, setting) for run in (hard_run, soft_run)]
    with served(lambda: Table(setting, machines)) as server:
        page = open_page(server.url)
        page.get_by_role("button", name="Watch").click()
        expect(page.locator("#watch-at")).to_have_text("glimpse 1 of 3")
        hard, soft = page.locator("#watch-cards .card").all()
        expect(hard.locator("h3")).to_have_text("hard")
        expect(hard.locator(".bar")).to_have_count(10)
        expect(hard.locator(".value")).to_contain_text("value")
        expect(soft.locator(".verdict")).to_contain_text("reads softly where it is lit")
        page.keyboard.press("ArrowRight")
        expect(page.locator("#watch-at")).to_have_text("glimpse 2 of 3")
        for _ in range(2):
            page.get_by_role("button", name="step on").click()
        expect(page.locator("#watch-at")).to_have_text("the end")
        for card in (hard, soft):
            expect(card.locator(".verdict")).to_contain_text("answered")
        page.keyboard.press("ArrowUp")
        expect(page.locator("#watch-scene")).to_have_value("1")
        expect(page.locator("#watch-at")).to_have_text("glimpse 1 of 3")
        page.get_by_label("only what it has seen").check()
        page.reload()
        expect(page.locator("#watch-at")).to_have_text("glimpse 1 of 3")


def test_the_models_path_stands_beside_the_players(open_page: Any, hard_run: Run) -> None:
    setting = setting_from(PlayConfig(), [hard_run])
    with served(lambda: Table(setting, [Machine(hard_run, setting)])) as server:
        page = open_page(server.url)
        status(page, "Glimpse 1 of 3.")
        page.keyboard.press("2")
        for _ in range(3):
            click_scene(page, 0.5, 0.5)
            page.wait_for_timeout(150)
        status(page, "you answered 2")
        cards = page.locator("#model-cards .card")
        expect(cards.locator("h3")).to_have_text(["you", "trained: hard"])
        expect(cards.locator("canvas")).to_have_count(2)
        for card in cards.all():
            expect(card.locator(".verdict")).to_contain_text("answered")
