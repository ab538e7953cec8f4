"""Other environments, seen through a glimpse, are played and watched like those of this project."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from agents.algorithms.actor_critic import ActorCritic
from agents.play.boards import act_names
from agents.play.controls import Controls
from agents.play.game import Game, Setting
from agents.play.human import HumanLog
from agents.play.machines import Machine
from glimpse_envs.wrappers import GlimpseWrapper
from tests.support.pixel_world import PixelWorld
from tests.support.tiny import tiny_actor_critic
from tests.support.trainings import trained

pytest.importorskip("minigrid")

GRID = Setting("Glimpse/MiniGrid-v0", {"world": "Empty-5x5"})
RIGHT, FORWARD = 1, 2
TO_THE_GOAL = (FORWARD, FORWARD, RIGHT, FORWARD, FORWARD)


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


def test_a_look_alone_does_nothing_else() -> None:
    game = Game(GRID, lambda: 0)
    before = game.board.picture().scene  # type: ignore[union-attr]
    game.step({"action": {"look": {"x": 1, "y": 1}}})
    assert np.array_equal(game.board.picture().scene, before)  # type: ignore[union-attr]


def test_each_scene_is_the_episode_of_a_seed() -> None:
    setting = Setting("Glimpse/MiniGrid-v0", {"world": "DoorKey-6x6"}, seed=3)
    views = [Game(setting, lambda scene=scene: scene).view() for scene in (4, 4, 5)]  # type: ignore[misc]
    first, again, other = (view["frame"] for view in views)
    assert first == again
    assert first["path"] != other["path"]
    env = gym.make("Glimpse/MiniGrid-v0", world="DoorKey-6x6")
    observation, _ = env.reset(seed=7)
    place = 24 * (1 + observation["location"])  # of 48 x 48 pixels
    assert first["path"][0] == pytest.approx(place.tolist(), abs=1e-3)
    env.close()


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


def test_a_trained_agent_is_watched_in_a_world(tmp_path: Path) -> None:
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


class Steered(PixelWorld):
    """Its acts are numbers, not choices."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)


@pytest.mark.parametrize(
    ("entry_point", "wrapped", "message"),
    [
        (Steered, True, "buttons for a Discrete space alone"),
        (PixelWorld, False, r"registered with glimpse_envs\.register, and those in"),
    ],
)
def test_what_cannot_be_played_is_refused(entry_point: Any, wrapped: bool, message: str) -> None:
    def make(**_: Any) -> gym.Env:
        return GlimpseWrapper(entry_point(), glimpse_size=4) if wrapped else entry_point()

    gym.register("PlayedNowhere-v0", make)
    try:
        with pytest.raises(ValueError, match=message):
            Setting("PlayedNowhere-v0").make()
    finally:
        del gym.registry["PlayedNowhere-v0"]


def test_numbers_stand_for_acts_without_names() -> None:
    def make(**_: Any) -> gym.Env:
        return GlimpseWrapper(PixelWorld(), glimpse_size=4)

    gym.register("PlayedHere-v0", make)
    try:
        board = Setting("PlayedHere-v0").make()
        board.reset(0)
        (_, act) = Controls(board).as_json()["components"]
        assert act["names"] == ["0", "1", "2"]
        assert board.question == "Play PixelWorld through a glimpse."
    finally:
        del gym.registry["PlayedHere-v0"]
