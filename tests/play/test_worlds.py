"""Other environments, seen through a glimpse, are played and watched like those of this project."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from starlette.testclient import TestClient

from agents.algorithms.actor_critic import ActorCritic
from agents.play import machines
from agents.play.boards import act_names
from agents.play.controls import ActionError, Controls
from agents.play.game import Game, Setting
from agents.play.human import HumanLog
from agents.play.machines import Machine
from agents.play.server import Table, make_app
from glimpse_envs.evaluation.dealing import deal
from glimpse_envs.wrappers import GlimpseWrapper
from tests.support.pixel_world import PixelWorld
from tests.support.tiny import tiny_actor_critic
from tests.support.trainings import trained

needs_minigrid = pytest.mark.skipif(find_spec("minigrid") is None, reason="minigrid is absent")
needs_atari = pytest.mark.skipif(find_spec("ale_py") is None, reason="ale-py is absent")
GRID = Setting("Glimpse/MiniGrid-v0", {"world": "Empty-5x5"})
RIGHT, FORWARD = 1, 2
TO_THE_GOAL = (FORWARD, FORWARD, RIGHT, FORWARD, FORWARD)


@needs_minigrid
def test_a_world_is_played_to_its_end() -> None:
    game = Game(GRID, lambda: 0)
    view = game.view()
    assert (view["taken"], view["budget"], view["last"]) == (1, None, False)
    assert view["frame"]["question"] == "get to the green goal square"
    parts = {part["name"]: part for part in view["controls"]["components"]}
    assert parts["look"]["kind"] == "place"
    assert parts["act"]["names"][:3] == ["left", "right", "forward"]
    for act in TO_THE_GOAL[:-1]:
        assert game.step({"action": {"act": act, "look": {"x": 0.5, "y": 0.25}}}) is None
    assert game.view()["frame"]["path"] == [[20.0, 10.0]], "of 40 x 40 pixels"
    played = game.step({"action": {"act": TO_THE_GOAL[-1]}})
    assert played is not None
    assert played.success is None, "the world does not say"
    assert played.total > 0.9
    assert game.view()["ended"]


@needs_minigrid
def test_a_look_alone_is_refused_where_every_act_does_something() -> None:
    game = Game(Setting("Glimpse/MiniGrid-v0", {"world": "GoToDoor-5x5"}), lambda: 0)
    with pytest.raises(ActionError, match="say which act"):
        game.step({"action": {"look": {"x": 1, "y": 1}}})
    assert game.view()["taken"] == 1
    act = game.view()["controls"]["components"][1]
    assert (act["name"], act["idle"]) == ("act", False)


@needs_minigrid
def test_each_scene_is_the_episode_that_evaluation_numbers_so() -> None:
    setting = Setting("Glimpse/MiniGrid-v0", {"world": "DoorKey-6x6"}, "validation", seed=3)
    views = [Game(setting, lambda scene=scene: scene).view() for scene in (4, 4, 5)]  # type: ignore[misc]
    first, again, other = (view["frame"] for view in views)
    assert first == again
    assert first["path"] != other["path"]
    envs = gym.make_vec("Glimpse/MiniGrid-v0", num_envs=2, world="DoorKey-6x6")
    observation, _ = deal(envs, "validation", 3, np.array([4, 5]))
    places = 24 * (1 + observation["location"])  # of 48 x 48 pixels
    assert first["path"][0] == pytest.approx(places[0].tolist(), abs=1e-3)
    assert other["path"][0] == pytest.approx(places[1].tolist(), abs=1e-3)
    envs.close()


@needs_atari
def test_a_whole_game_is_played_not_what_training_makes_of_it() -> None:
    game = Game(Setting("Glimpse/Atari-v0", {"game": "Breakout", "fovea": 50}), lambda: 0)
    env: Any = game.board.env
    wrappers = []
    while isinstance(env, gym.Wrapper):
        wrappers.append(type(env).__name__)
        env = env.env
    assert "GlimpseWrapper" in wrappers
    assert not {"ClipReward", "OneLife"} & set(wrappers)
    game.step({"action": {"look": {"x": 0.5, "y": 0.5}}})
    assert game.view()["taken"] == 2, "a noop does nothing"


@needs_minigrid
@pytest.mark.parametrize(
    ("options", "kind", "reach"),
    [
        ({"look": "tiles"}, "place", None),
        ({"look": "corners"}, "place", None),
        ({"look": "relative", "max_move": 0.5}, "place", 10.0),
        ({"look": "static"}, None, None),
    ],
)
def test_every_look_is_played(options: dict[str, Any], kind: str | None, reach: Any) -> None:
    kwargs = {**GRID.env_kwargs, "glimpse_size": 8, "start": [0.0, 0.0], **options}
    game = Game(Setting(GRID.env_id, kwargs), lambda: 0)
    parts = {part["name"]: part for part in game.view()["controls"]["components"]}
    assert parts.get("look", {}).get("kind") == kind
    assert parts.get("look", {}).get("reach") == reach
    action = {"act": RIGHT} if kind is None else {"act": RIGHT, "look": {"x": 0.1, "y": 0.1}}
    game.step({"action": action})
    (place,) = game.view()["frame"]["path"]
    assert place == [20.0, 20.0] if kind is None else max(place) < 20.0


@needs_minigrid
def test_a_trained_agent_is_watched_in_a_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kwargs = {**GRID.env_kwargs, "glimpse_size": 8}
    config = tiny_actor_critic(env_id=GRID.env_id, env_kwargs=kwargs, episodes=8)
    run = trained(ActorCritic, config, tmp_path / "run")
    setting = Setting(GRID.env_id, kwargs)
    episode = Machine(run, setting).play(2)
    assert episode["names"]["act"][FORWARD] == "forward"
    assert episode["success"] is None
    start = Game(setting, lambda: 2).view()["frame"]
    assert episode["frames"][0]["eye"]["image"] == start["image"]
    outlook = episode["frames"][0]["outlook"]
    assert sum(outlook["act"]["parts"][0]) == pytest.approx(1, abs=1e-3)
    assert not episode["cut"], "the world ends after 100 steps"
    monkeypatch.setattr(machines, "LONGEST", 3)
    episode = Machine(run, setting).play(2)
    assert episode["cut"]
    assert len(episode["frames"]) == 3 + 1


@needs_minigrid
def test_peoples_episodes_in_worlds_are_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="dealt by seeds"):
        HumanLog(tmp_path, GRID)
    assert not list(tmp_path.iterdir())


def test_names_of_acts() -> None:
    class Arcade:
        def get_action_meanings(self) -> list[str]:
            return ["NOOP", "FIRE"]

    assert act_names(Arcade(), 2) == ("noop", "fire")
    assert act_names(Arcade(), 3) == ("0", "1", "2"), "they do not fit"
    assert act_names(object(), 2) == ("0", "1")
    Arcade.actions = None  # type: ignore[attr-defined]
    assert act_names(Arcade(), 2) == ("noop", "fire")


class Steered(PixelWorld):
    """Its acts are numbers, not choices."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)


class Shifted(PixelWorld):
    """Its first act is 1."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.Discrete(3, start=1)


class Short(PixelWorld):
    """Ends at once, with flags of NumPy."""

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        frame, *_ = super().step(action)
        return frame, np.float32(1), np.True_, np.False_, {"is_success": np.True_}


class Failing(PixelWorld):
    """Breaks in the second step."""

    def __init__(self) -> None:
        super().__init__(fault="raise")


class Idle(PixelWorld):
    """Has a name for doing nothing, never ends, and has a strange mission."""

    mission = None

    def get_action_meanings(self) -> list[str]:
        return ["UP", "NOOP", "DOWN"]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.last_act, self._left = int(action), -1
        return super().step(action)


@contextmanager
def registered(world: type[PixelWorld], wrapped: bool = True) -> Iterator[Setting]:
    """The setting of a world that is registered meanwhile."""
    closed = []

    def make(**_: Any) -> gym.Env:
        env = world()
        env.close = lambda: closed.append(env)  # type: ignore[method-assign]
        return GlimpseWrapper(env, glimpse_size=4) if wrapped else env

    gym.register("Played-v0", make)
    try:
        yield Setting("Played-v0")
    except ValueError:
        assert closed, "what is refused is closed"
        raise
    finally:
        del gym.registry["Played-v0"]


@pytest.mark.parametrize(
    ("world", "wrapped", "message"),
    [
        (Steered, True, "choices of a Discrete space from 0 on alone"),
        (Shifted, True, "choices of a Discrete space from 0 on alone"),
        (PixelWorld, False, r"registered with glimpse_envs\.register, and those"),
    ],
)
def test_what_cannot_be_played_is_refused(
    world: type[PixelWorld], wrapped: bool, message: str
) -> None:
    with pytest.raises(ValueError, match=message), registered(world, wrapped) as setting:
        setting.make()


def test_numbers_stand_for_acts_without_names() -> None:
    with registered(PixelWorld) as setting:
        board = setting.make()
        board.reset(0)
        (_, act) = Controls(board).as_json()["components"]
        assert act["names"] == ["0", "1", "2"]
        assert board.question == "Play PixelWorld through a glimpse."


def test_a_look_alone_does_nothing_else_where_an_act_is_idle() -> None:
    with registered(Idle) as setting:
        game = Game(setting, lambda: 0)
        game.step({"action": {"look": {"x": 1, "y": 1}}})
        world: Any = game.board.env.unwrapped
        assert world.last_act == 1
        assert game.view()["frame"]["question"] == ""


def test_flags_of_numpy_are_shown() -> None:
    with registered(Short) as setting:
        game = Game(setting, lambda: 0)
        game.step({"action": {"act": 0}})
        view = json.loads(json.dumps(game.view()))
        assert (view["ended"], view["success"], view["return"]) == (True, True, 1.0)


def test_a_world_that_fails_ends_its_episode_and_is_told() -> None:
    with registered(Failing) as setting:
        app = make_app(Table(setting, []), 8000)
        client = TestClient(app, base_url="http://127.0.0.1:8000")
        game = client.post("/api/games", json={}).json()
        path = f"/api/games/{game['id']}"
        assert client.post(f"{path}/step", json={"action": {"act": 0}}).status_code == 200
        answer = client.post(f"{path}/step", json={"action": {"act": 0}})
        assert answer.status_code == 400
        assert "the world broke" in answer.json()["error"]
        assert client.get(path).json()["ended"]
        assert client.post(f"{path}/deal", json={}).json()["taken"] == 1
