"""What people play is scored by the protocol of all policies, and shown once there is enough."""

import json
import shlex
import shutil
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest
import tyro
from starlette.testclient import TestClient

from agents.play.__main__ import PlayConfig, setting_from
from agents.play.game import Game, GameError, Setting
from agents.play.human import HumanLog
from agents.play.machines import Machine
from agents.play.server import Table, make_app
from glimpse_envs import sources
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.evaluation.record import FEWEST_PLAYED, HUMAN
from glimpse_envs.evaluation.records import read_record
from glimpse_envs.evaluation.runs import Run
from report.kinds import kind_of
from report.page import Places
from report.pages import comparison, memory, records, results
from report.runs import read_runs

ADDRESS = "http://127.0.0.1:8000"
PICTURES = Setting("Glimpse/CenteredGlyphs-v0", {"budget": 2})


def play_all(log: HumanLog, episodes: int, answer: int = 3) -> list[Path | None]:
    """Play as somebody who looks at the middle and always answers the same."""
    game, written = Game(log.setting, log.next_scene), []
    for number in range(episodes):
        if number:
            game.deal()
        while not game.ended:
            place = {"x": 0.5, "y": 0.5}
            played = game.step({"action": {"look": place, "answer": answer}})
        assert played is not None
        written.append(log.add(played))
    return written


def test_a_folder_that_cannot_be_made_is_told_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "records").write_text("no folder")
    with pytest.raises(OSError, match="records"):
        HumanLog(tmp_path / "records", PICTURES)


def always(answer: int) -> Any:
    def policy(observation: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        rows = len(observation["remaining"])
        return {"look": np.zeros((rows, 2), np.float32), "answer": np.full(rows, answer)}

    return policy


def test_a_person_is_scored_as_a_policy_that_acts_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = count(step=2.5)  # a clock that is read as each episode begins and ends
    monkeypatch.setattr("agents.play.game.time", SimpleNamespace(monotonic=lambda: next(ticks)))
    log = HumanLog(tmp_path, PICTURES)
    path = play_all(log, 20)[-1]
    assert path is not None
    score = read_record(path).headline
    same = evaluate(always(3), PICTURES.env_id, episodes=20, **PICTURES.env_kwargs)
    assert score.success == same.success
    assert score.success_interval == pytest.approx(same.success_interval, abs=1e-6)
    assert (score.episodes, score.glimpses) == (20, 2)
    assert score.costs["seconds_played"] == 2.5


def test_a_record_is_kept_at_once_and_shown_when_there_is_enough(tmp_path: Path) -> None:
    log = HumanLog(tmp_path, PICTURES)
    play_all(log, FEWEST_PLAYED - 1)
    assert len(list(tmp_path.glob("*.json"))) == 1
    assert read_runs(tmp_path) == ([], [])
    play_all(log, 1)
    (run,), problems = read_runs(tmp_path)
    assert problems == []
    assert run.record.algorithm == HUMAN
    assert run.record.headline.episodes == FEWEST_PLAYED


def test_the_command_of_a_record_goes_on_with_it(tmp_path: Path) -> None:
    kwargs = {"budget": 2, "look": "tiles", "stop": False}
    setting = Setting(PICTURES.env_id, kwargs, split="validation", seed=3)
    log = HumanLog(tmp_path / "my records", setting)
    play_all(log, 2)
    (path,) = log.folder.glob("*.json")
    words = shlex.split(read_record(path).command)
    assert words[:3] == ["python", "-m", "agents.play"]
    config = tyro.cli(PlayConfig, args=words[3:])
    assert setting_from(config, []) == setting
    assert config.record == log.folder


def test_a_log_goes_on_where_it_was_broken_off(tmp_path: Path) -> None:
    log = HumanLog(tmp_path, PICTURES)
    play_all(log, 3)
    with log.path.open("a") as file:
        file.write('{"scene": 3, "act')  # killed while it was written
    again = HumanLog(tmp_path, PICTURES)
    assert again.next_scene() == 3
    again.give_back(3)
    play_all(again, 1)
    assert [played.scene for played in HumanLog(tmp_path, PICTURES).scored] == [0, 1, 2, 3]


def test_after_the_last_scene_there_is_none(tmp_path: Path) -> None:
    for digit in range(2):
        folder = tmp_path / "pictures" / "test" / str(digit)
        folder.mkdir(parents=True)
        assert cv2.imwrite(str(folder / "one.png"), np.full((28, 28), 200, np.uint8))
    for split in ("train", "validation"):
        shutil.copytree(tmp_path / "pictures" / "test", tmp_path / "pictures" / split)
    source = f"folder:{tmp_path / 'pictures'}"
    log = HumanLog(tmp_path, Setting("Glimpse/CenteredMNIST-v0", {"budget": 2, "source": source}))
    play_all(log, 1, answer=0)
    game = Game(log.setting, log.next_scene)
    while not game.ended:
        played = game.step({"action": {"look": {"x": 0.5, "y": 0.5}, "answer": 0}})
    assert played is not None
    log.add(played)
    with pytest.raises(GameError, match="each of the 2 scenes has been played, or is being"):
        game.deal()
    assert (game.scene, game.ended, len(log.scored)) == (1, True, 2)
    server = TestClient(make_app(Table(log.setting, [], log), 8000), base_url=ADDRESS)
    refused = server.post("/api/games", json={})
    assert (refused.status_code, "has been played" in refused.text) == (400, True)


def test_a_scene_that_nobody_finished_is_dealt_again(tmp_path: Path) -> None:
    log = HumanLog(tmp_path, PICTURES)
    first = log.next_scene()
    play_all(log, 2)
    assert log.scored == [], "scene 0 is missing still"
    log.give_back(first)
    play_all(log, 1)
    assert [played.scene for played in log.scored] == [0, 1, 2]


def test_of_two_who_play_a_scene_the_first_counts(tmp_path: Path) -> None:
    log = HumanLog(tmp_path, PICTURES, patience=0.0)
    assert (log.next_scene(), log.next_scene()) == (0, 0)
    play_all(log, 2)
    log.add(replace(log.played[0], total=-5.0))
    assert log.played[0].total >= 0
    assert len(HumanLog(tmp_path, PICTURES).scored) == 2


def test_a_damaged_log_is_named(tmp_path: Path) -> None:
    log = HumanLog(tmp_path, PICTURES)
    log.path.write_text(json.dumps({"scene": 0}) + "\n")
    with pytest.raises(ValueError, match="line 1 is damaged"):
        HumanLog(tmp_path, PICTURES)


@pytest.mark.parametrize("env_id", ["Copy", "PointerChase", "Stories", "Catch", "CircleSquare"])
def test_every_family_is_scored(tmp_path: Path, env_id: str) -> None:
    log = HumanLog(tmp_path, Setting(f"Glimpse/{env_id}-v0"))
    game, random = Game(log.setting, log.next_scene), np.random.default_rng(0)
    for number in range(3):
        if number:
            game.deal()
        played = None
        while played is None:
            if game.controls.as_json()["chords"]:
                played = game.step({"keys": [ord(str(random.integers(1, 7)))]})
            else:
                x, y = random.random(2).tolist()
                played = game.step({"action": {"look": {"x": x, "y": y}}})
        path = log.add(played)
    assert path is not None
    score = read_record(path).headline
    totals = [played.total for played in game.history]
    assert score.mean_return == pytest.approx(np.mean(totals), abs=1e-6)
    assert score.success == pytest.approx(
        np.mean([bool(p.success) for p in game.history]), abs=1e-6
    )


def test_scenes_are_shown_once_they_were_played(tmp_path: Path, hard_run: Run) -> None:
    setting = setting_from(PlayConfig(), [hard_run])
    table = Table(setting, [Machine(hard_run, setting)], HumanLog(tmp_path, setting))
    client = TestClient(make_app(table, 8000), base_url=ADDRESS)
    game = client.post("/api/games", json={}).json()
    refused = client.get("/api/watch?scene=0")
    assert refused.status_code == 403
    assert "once it was played" in refused.json()["error"]
    while not game["ended"]:
        game = client.post(f"/api/games/{game['id']}/step", json={"action": {}}).json()
    assert client.get(f"/api/games/{game['id']}/models").status_code == 200


def test_nothing_is_skipped_while_people_are_recorded(tmp_path: Path) -> None:
    table = Table(PICTURES, [], HumanLog(tmp_path, PICTURES))
    client = TestClient(make_app(table, 8000), base_url=ADDRESS)
    game = client.post("/api/games", json={}).json()
    refused = client.post(f"/api/games/{game['id']}/deal", json={})
    assert refused.status_code == 400
    assert "must be played to its end" in refused.json()["error"]


@pytest.mark.parametrize("env_id", ["ClutteredGlyphs", "Copy", "Catch"])
def test_pages_show_people_beside_the_machines(tmp_path: Path, env_id: str) -> None:
    folder = tmp_path / "results"
    log = HumanLog(folder, Setting(f"Glimpse/{env_id}-v0"))
    game = Game(log.setting, log.next_scene)
    played = None
    while played is None:
        played = game.step({"action": {}})
    for scene in range(FEWEST_PLAYED):  # as if all had been played alike
        log.played[scene] = replace(played, scene=scene)
    log.played.pop(0)
    log.add(replace(played, scene=0))
    shown = [
        text
        for page in (results, comparison, memory, records)
        for text in page.publish(Places(results=folder, root=tmp_path)).texts.values()
    ]
    assert any("Human" in text for text in shown)


def test_people_never_stand_for_the_best_agent(tmp_path: Path) -> None:
    log = HumanLog(tmp_path, PICTURES)
    path = play_all(log, 2)[-1]
    assert path is not None
    assert kind_of(read_record(path).model) == "human"


def test_scenes_that_do_not_fit_into_one_batch_are_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, written = HumanLog(tmp_path, PICTURES), None
    targets = list(sources.load("glyphs", "test").labels[:8])
    right = np.arange(8) % 2 == 1
    monkeypatch.setattr("glimpse_envs.evaluation.counting.SCENE_BYTES", 3 * 4 * 28**2)
    for target, is_right in zip(targets, right, strict=True):
        (written,) = play_all(log, 1, answer=int(target if is_right else (target + 1) % 10))
    assert written is not None
    assert read_record(written).headline.success == 0.5
    np.testing.assert_array_equal(log.evaluate().successes, right)
