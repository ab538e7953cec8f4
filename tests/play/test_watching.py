"""Trained models watched in a browser, step by step."""

from pathlib import Path
from typing import Any

import pytest

from agents.algorithms.reinforce import Reinforce
from agents.play.__main__ import PlayConfig, setting_from
from agents.play.machines import Machine
from agents.play.server import Table
from glimpse_envs.evaluation.runs import Run
from tests.support import baselines
from tests.support.play_page import expect, served, status
from tests.support.tiny import tiny_config
from tests.support.trainings import trained

pytestmark = pytest.mark.learning


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
        expect(hard.locator(".value")).to_contain_text(": an estimate of the return still to come")
        legend = page.locator("#watch .legend")
        for sign in ("what the glimpse shows", "where it may look next", "lit: read softly"):
            expect(legend).to_contain_text(sign)
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
        expect(legend).to_contain_text("black: not seen")
        page.get_by_role("button", name="step on").click()
        expect(page.locator("#watch-at")).to_have_text("glimpse 2 of 3")
        page.get_by_label("only what it has seen").click()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#watch-at")).to_have_text("glimpse 3 of 3")
        page.get_by_role("slider").focus()
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#watch-at")).to_have_text("glimpse 2 of 3")
        page.reload()
        expect(page.locator("#watch-at")).to_have_text("glimpse 2 of 3")
        expect(page.locator("#watch-scene")).to_have_value("1")


def test_models_are_at_the_same_moment_of_a_scene_that_moves(
    open_page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though one may read it several times at each moment."""
    task: Any = {"env_id": "Glimpse/MovingDigitGlyphs-v0", "env_kwargs": {"budget": 3}}
    hard = trained(Reinforce, tiny_config(**task), tmp_path / "hard")
    soft = baselines.tiny_config("retina", **task)
    runs = [hard, baselines.trained(soft, "retina", tmp_path / "soft")]
    setting = setting_from(PlayConfig(), runs)
    machines = [Machine(run, setting) for run in runs]
    readings, policy = 2, machines[1].policy
    once = policy.attention
    monkeypatch.setattr(policy, "attention", lambda *seen: once(*seen).repeat(readings, axis=1))
    first, second = (machine.play(0)["frames"] for machine in machines)
    assert len(second) == 3 * readings + 1
    assert [frame["moment"] for frame in first] == [0, 1, 2, 3]
    with served(lambda: Table(setting, machines)) as server:
        page = open_page(f"{server.url}#watch/0/{readings}")
        expect(page.locator("#watch-at")).to_have_text(f"glimpse {readings + 1} of {3 * readings}")
        label = "scene, 2 glimpses so far"
        expect(page.locator("#watch-cards canvas").first).to_have_attribute("aria-label", label)
        for _ in range(readings):
            page.keyboard.press("ArrowLeft")
        expect(page.locator("#watch-at")).to_have_text(f"glimpse 1 of {3 * readings}")
        page.keyboard.press("ArrowRight")
        label = "scene, 1 glimpses so far"
        expect(page.locator("#watch-cards canvas").first).to_have_attribute("aria-label", label)


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
