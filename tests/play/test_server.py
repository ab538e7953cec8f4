"""The server plays what the environment plays, and shows no more than was seen."""

import base64
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from starlette.testclient import TestClient

from agents.play.game import Setting
from agents.play.server import Table, make_app

PICTURES = Setting("Glimpse/ClutteredGlyphs-v0", {"budget": 3})
PORT = 8000


def client_of(table: Table) -> TestClient:
    return TestClient(make_app(table, PORT), base_url=f"http://127.0.0.1:{PORT}")


@pytest.fixture(scope="module")
def client() -> TestClient:
    return client_of(Table(PICTURES, []))


def begin(client: TestClient) -> dict[str, Any]:
    return client.post("/api/games", json={}).json()


def step(client: TestClient, game: dict[str, Any], **message: Any) -> Any:
    return client.post(f"/api/games/{game['id']}/step", json=message)


def pixels(frame: dict[str, Any]) -> np.ndarray:
    encoded = base64.b64decode(frame["image"].partition(",")[2])
    return np.asarray(cv2.imdecode(np.frombuffer(encoded, np.uint8), cv2.IMREAD_COLOR))


def test_an_episode_is_played_and_then_uncovered(client: TestClient) -> None:
    game = begin(client)
    assert (game["taken"], game["budget"], game["ended"]) == (1, 3, False)
    assert game["frame"]["target"] is None
    game = step(client, game, action={"look": {"x": 0.25, "y": 0.5}, "answer": 4}).json()
    assert game["frame"]["path"][-1] == [15.0, 30.0]
    game = step(client, game, action={"answer": 4}).json()
    assert game["frame"]["path"][-1] == [15.0, 30.0], "without a look the gaze stays"
    assert game["last"]
    game = step(client, game, action={"answer": 4}).json()
    assert game["ended"]
    assert game["taken"] == 3
    assert game["frame"]["answer"] == "4"
    assert game["success"] == (game["frame"]["target"] == "4")
    assert game["score"]["played"] == 1
    board = PICTURES.make()
    board.reset(game["scene"])
    whole = board.picture().scene[0]  # type: ignore[union-attr]
    assert np.array_equal(pixels(game["frame"])[..., 0], np.rint(255 * whole).astype(np.uint8))


def test_what_was_not_seen_is_black(client: TestClient) -> None:
    game = begin(client)
    (x, y), shown = game["frame"]["path"][0], pixels(game["frame"])[..., 0]
    rows, columns = np.mgrid[:60, :60] + 0.5
    outside = (abs(rows - y) > 24) | (abs(columns - x) > 24)
    assert outside.any()
    assert not shown[outside].any()
    assert shown[~outside].all(), "black that was seen is lit"


def test_players_have_games_of_their_own_and_a_reload_keeps_them(client: TestClient) -> None:
    one, two = begin(client), begin(client)
    moved = step(client, one, action={"look": {"x": 0.1, "y": 0.1}}).json()
    assert client.get(f"/api/games/{one['id']}").json() == moved
    assert client.get(f"/api/games/{two['id']}").json() == two
    assert one["id"] != two["id"]


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ({}, "a step must be"),
        ({"action": 3}, "an action must be an object"),
        ({"action": {"hands": 1}}, "no part 'hands'; its parts are look, answer"),
        ({"action": {"look": {"x": 2, "y": 0}}}, "numbers from 0 to 1"),
        ({"action": {"look": {"x": True, "y": 0}}}, "numbers from 0 to 1"),
        ({"action": {"look": [0.5, 0.5]}}, "numbers from 0 to 1"),
        ({"action": {"answer": 10}}, "must lie between 0 and 9"),
        ({"action": {"answer": "four"}}, "must hold integers"),
        ({"action": {"answer": [[[1]]]}}, "must have shape"),
        ({"keys": [52]}, "no keys of its own"),
        ({"keys": list(range(99))}, "1 to 16 key codes"),
        ({"keys": [1], "action": {}}, "a step must be"),
    ],
)
def test_bad_actions_are_refused_and_change_nothing(
    client: TestClient, message: dict[str, Any], error: str
) -> None:
    game = begin(client)
    refused = step(client, game, **message)
    assert refused.status_code == 400
    assert error in refused.json()["error"]
    assert client.get(f"/api/games/{game['id']}").json() == game


def test_bad_messages_are_refused(client: TestClient) -> None:
    game = begin(client)
    url = f"/api/games/{game['id']}/step"
    kind = {"content-type": "application/json"}
    assert client.post(url, content="{", headers=kind).status_code == 400
    assert client.post(url, content="[]", headers=kind).status_code == 400
    assert client.post(url, content="[" * 2000 + "]" * 2000, headers=kind).status_code == 400
    assert (
        client.post(url, content=b'{"a": "' + b"x" * 5000 + b'"}', headers=kind).status_code == 413
    )
    assert client.post(url, data={"a": "b"}).status_code == 415
    assert client.get("/api/games/nobody").status_code == 404
    assert client.get("/api/watch?scene=-1").status_code == 400
    assert client.get("/api/watch?scene=first").status_code == 400
    assert client.get("/api/watch?scene=10000000").status_code == 400
    assert client.get("/../pyproject.toml").status_code == 404
    assert client.get(f"/api/games/{game['id']}").json() == game


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example:8000"},
        {"host": "127.0.0.1.evil.example:8000"},
        {"host": "127.0.0.1:9000"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9000"},
    ],
)
def test_other_hosts_and_origins_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    assert client.get("/api/about", headers=headers).status_code == 403
    own = {"host": f"localhost:{PORT}", "origin": f"http://localhost:{PORT}"}
    assert client.get("/api/about", headers=own).status_code == 200


def test_the_game_that_rested_longest_is_given_up() -> None:
    client = client_of(Table(PICTURES, [], most_games=2))
    first, second = begin(client), begin(client)
    client.get(f"/api/games/{first['id']}")
    begin(client)
    assert client.get(f"/api/games/{first['id']}").status_code == 200
    gone = client.get(f"/api/games/{second['id']}")
    assert gone.status_code == 404
    assert "start a new one" in gone.json()["error"]


def test_what_the_environment_refuses_is_told() -> None:
    client = client_of(Table(Setting(PICTURES.env_id, PICTURES.env_kwargs, seed=-1), []))
    answer = client.post("/api/games", json={})
    assert answer.status_code == 400
    assert "seed=-1 must be an integer from 0" in answer.json()["error"]


def test_the_next_scene_is_another(client: TestClient) -> None:
    game = begin(client)
    after = client.post(f"/api/games/{game['id']}/deal", json={}).json()
    assert after["scene"] == game["scene"] + 1
    assert after["taken"] == 1


@pytest.mark.parametrize(
    ("env_id", "kwargs", "message", "kind"),
    [
        ("Copy", {}, {"keys": [0x4000004F]}, "tapes"),
        ("ForwardReverse", {}, {"keys": [0x4000004F, 0x40000052]}, "tapes"),
        ("ForwardReverse", {}, {"action": {"look": [1, 1], "write": 3}}, "tapes"),
        ("PointerChase", {}, {"action": {"look": 417}}, "table"),
        ("PointerChase", {"look": "discrete"}, {"action": {"look": 417}}, "table"),
        ("AssociativeRecall", {}, {"keys": [ord("a")]}, "table"),
        ("Stories", {}, {"keys": [ord("c")]}, "table"),
        ("Stories", {"look": "absolute"}, {"action": {"look": 7}}, "table"),
        ("Catch", {}, {"action": {"look": {"x": 0.5, "y": 0}, "act": 2}}, "scene"),
        ("CircleSquare", {}, {"action": {"look": {"x": 1, "y": 0}}}, "scene"),
        ("CenteredGlyphs", {"look": "tiles"}, {"action": {"look": {"x": 1, "y": 0}}}, "scene"),
        ("MovingDigitGlyphs", {}, {"action": {"look": {"x": 1, "y": 0}}}, "scene"),
    ],
)
def test_every_family_is_played(
    env_id: str, kwargs: dict[str, Any], message: dict[str, Any], kind: str
) -> None:
    client = client_of(Table(Setting(f"Glimpse/{env_id}-v0", kwargs), []))
    game = begin(client)
    answer = step(client, game, **message)
    assert answer.status_code == 200, answer.json()
    assert answer.json()["taken"] == 2
    assert answer.json()["frame"]["kind"] == kind


def test_tables_show_only_cells_that_were_visited() -> None:
    client = client_of(Table(Setting("Glimpse/PointerChase-v0", {"cells": 8}), []))
    game = begin(client)
    shown = [cell for cell in game["frame"]["cells"] if cell["text"]]
    assert [cell["address"] for cell in shown] == [game["frame"]["present"]]


def test_the_page_and_its_files_are_served(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert "default-src 'self'" in page.headers["content-security-policy"]
    for name in ("style.css", "main.js"):
        assert name in page.text
        assert client.get(f"/{name}").status_code == 200
    files = Path(__file__).parents[2] / "agents" / "play" / "page"
    for file in files.iterdir():
        assert "http" not in file.read_text().replace("http://www.w3.org", ""), "works offline"
