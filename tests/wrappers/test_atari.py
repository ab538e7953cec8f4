"""Atari games through a glimpse."""

import json
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import AtariPreprocessing, ClipReward

from glimpse_envs.suite import ATARI
from glimpse_envs.wrappers import GlimpseVectorWrapper, Segments
from glimpse_envs.wrappers.atari import FireOnReset
from glimpse_envs.wrappers.one_life import OneLife
from tests.support.lives import Lives

SUGARL: dict[str, Any] = {
    "look": "corners",
    "start": (-1.0, -1.0),
    "mask": True,
    "recut": True,
}


pytest.importorskip("ale_py")


@pytest.mark.parametrize("frames", [1, 3, 84, 85, np.int64(4)])
def test_a_stack_of_any_number_of_frames_is_seen_frame_by_frame(frames: int) -> None:
    env = gym.make(ATARI, game="Pong", fovea=20, frame_stack=frames)
    assert env.observation_space["glimpse"].shape == (frames, 20, 20)  # type: ignore[index]  # Dict
    observation, _ = env.reset(seed=0)
    assert observation["glimpse"].shape == (frames, 20, 20)


def test_scales_that_nothing_holds_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="must be at most"):
        gym.make(ATARI, game="Pong", fovea=20, scales=2**62)


@pytest.mark.learning
@pytest.mark.parametrize("game", ["Pong", "Breakout"])
def test_a_game_through_the_fovea_of_sugarl(game: str) -> None:
    env = gym.make(ATARI, game=game, fovea=50, **SUGARL)
    assert env.observation_space["glimpse"].shape == (4, 84, 84)  # type: ignore[index]  # a Dict
    observation, _ = env.reset(seed=0)
    assert not observation["glimpse"][:, 50:].any()
    observation, *_ = env.step({"look": 15, "act": 0})
    glimpse = observation["glimpse"]
    assert glimpse[-1, 24:74, 24:74].any()
    glimpse[:, 24:74, 24:74] = 0
    assert not glimpse.any()


@pytest.mark.learning
def test_same_seed_same_game() -> None:
    def play() -> list[Any]:
        env = gym.make(ATARI, fovea=20, mask=True)
        env.action_space.seed(1)
        seen = [env.reset(seed=3)[0]]
        seen += [env.step(env.action_space.sample())[0] for _ in range(10)]
        return [part for observation in seen for part in observation.values()]

    for mine, other in zip(play(), play(), strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.learning
def test_a_batch_equals_single_games() -> None:
    kwargs: dict[str, Any] = {"game": "Breakout", "fovea": 20, "mask": True}
    envs = gym.make_vec(ATARI, num_envs=2, autoreset_mode="SameStep", **kwargs)
    assert isinstance(envs, GlimpseVectorWrapper)
    singles = [gym.make(ATARI, **kwargs) for _ in range(2)]
    seen = envs.reset(seed=7)[0]
    alone = [env.reset(seed=7 + row)[0] for row, env in enumerate(singles)]
    envs.action_space.seed(0)
    for _ in range(5):
        for row, observation in enumerate(alone):
            for name, part in observation.items():
                np.testing.assert_array_equal(part, seen[name][row])
        actions = envs.action_space.sample()
        seen = envs.step(actions)[0]
        alone = [
            env.step({name: part[row] for name, part in actions.items()})[0]
            for row, env in enumerate(singles)
        ]


@pytest.mark.learning
def test_a_lost_life_ends_a_training_episode_alone() -> None:
    """Breakout has five lives, lost one after the other by an agent that only serves."""
    games = {}
    for split in ("train", "test"):
        env = gym.make(ATARI, game="Breakout", fovea=20, mask=True, split=split, look="static")
        env.reset(seed=0)
        ended = False
        while not ended:
            *_, ended, _, info = env.step({"act": 1})
        games[split] = info["lives"]
    assert games == {"train": 4, "test": 0}


def test_a_life_is_an_episode_and_its_rewards_are_signs() -> None:
    game = Lives(steps=99)
    env = ClipReward(OneLife(game), -1.0, 1.0)
    env.reset(seed=0)
    assert env.step(2)[1:3] == (-1.0, False)
    assert env.step(0)[1:3] == (0.0, True)
    env.reset()
    assert game.acts == [2, 0, 0], "the game goes on, by a no-op"
    assert env.step(2)[2]
    assert game.lives == 0
    env.reset()
    assert game.acts == []
    FireOnReset(game).reset()
    assert game.acts == [1]


def test_a_game_that_broke_begins_anew() -> None:
    game = Lives(steps=99, fault="raise")
    env = OneLife(game)
    env.reset(seed=0)
    env.step(2)
    with pytest.raises(RuntimeError, match="the world broke"):
        env.step(2)
    env.reset()
    assert game.acts == []
    env.step(2)
    with pytest.raises(RuntimeError, match="the world broke"):
        env.reset()  # whose no-op is the second step
    env.reset()
    assert game.acts == []


def test_a_game_whose_reset_failed_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    game = Lives(steps=99)
    env = OneLife(game)
    env.reset(seed=0)
    env.step(2)
    with monkeypatch.context() as patch:
        patch.setattr(game, "reset", lambda **_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            env.reset(seed=1)
    env.reset()
    assert game.acts == []


@pytest.mark.parametrize("split", ["train", "test"])
def test_games_are_set_up_as_those_of_sugarl(split: str) -> None:
    env: Any = gym.make(ATARI, game="Breakout", fovea=20, split=split, segment=128)
    seen, _ = env.reset(seed=0)
    assert not seen["glimpse"][:3].any(), "a stack begins with zeros"
    layers = {}
    while env is not env.unwrapped:
        layers[type(env)] = env
        env = env.env
    prepared = layers[AtariPreprocessing]
    assert (prepared.frame_skip, prepared.noop_max) == (4, 30)
    assert FireOnReset in layers
    for of_training in (ClipReward, OneLife, Segments):
        assert (of_training in layers) == (split == "train")
    assert env.ale.getFloat("repeat_action_probability") == 0.0
    assert env.action_space.n == 4, "the minimal set of actions"


def test_its_spec_round_trips() -> None:
    env = gym.make(ATARI, fovea=20, **SUGARL)
    assert env.spec is not None
    assert env.spec.id == ATARI
    assert gym.make(env.spec).spec == env.spec
    again = gym.make(
        gym.envs.registration.EnvSpec.from_json(json.dumps(json.loads(env.spec.to_json())))
    )
    for space in ("observation_space", "action_space"):
        assert getattr(again, space) == getattr(env, space)


def test_unknown_arguments_are_named_among_its_own() -> None:
    own = r"The arguments are game, fovea, render_mode, split, frame_stack, segment, scales, "
    with pytest.raises(TypeError, match=rf"'fovae': did you mean 'fovea'\? {own}"):
        gym.make(ATARI, fovae=3)
    with pytest.raises(TypeError, match=rf"'colour'\. {own}"):
        gym.make(ATARI, colour=True)


def test_a_fovea_that_does_not_fit_is_called_by_its_name() -> None:
    for kwargs, message in (
        ({"fovea": 0}, "^fovea=0 must be an integer of at least 1"),
        ({"fovea": 3.5}, "^fovea=3.5 must be an integer"),
        ({"fovea": 200}, "^fovea=200 needs 200 pixels .* of 84x84: give a fovea of at most 84, or"),
        ({"fovea": 50, "scales": 2}, "^fovea=50 with scales=2 needs 100 pixels .* at most 42"),
        ({"fovea": 50, "scales": None}, "^fovea=50 with scales=3 needs 200 pixels"),
        ({"fovea": 1, "scales": 8}, "^scales=8 must be at most 7: a frame has 84 pixels"),
    ):
        with pytest.raises(ValueError, match=message):
            gym.make(ATARI, **kwargs)
        with pytest.raises(ValueError, match=message):
            gym.make_vec(ATARI, num_envs=2, **kwargs)
    assert gym.make(ATARI, fovea=200, inside=False).action_space


def test_an_unknown_game_is_named() -> None:
    with pytest.raises(gym.error.NameNotFound, match="Pongg"):
        gym.make(ATARI, game="Pongg")
    with pytest.raises(ValueError, match="split='all'"):
        gym.make(ATARI, split="all")


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"max_move": 0.1}, "max_move=0.1 is the longest move of look='relative'"),
        ({"game": "ALE/Pong-v5"}, "game='ALE/Pong-v5' must be the name alone, 'Pong'"),
        ({"game": "ale_py:ALE/Pong-v5"}, "must be the name alone, 'Pong'"),
        ({"game": "PongNoFrameskip-v4"}, "must be the name alone, 'Pong'"),
        ({"game": 3}, "game=3 must be a name, such as 'Pong'"),
        ({"frame_stack": 10**12}, "frame_stack=1000000000000 needs [0-9,]* bytes"),
    ],
)
def test_what_cannot_be_is_refused(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gym.make(ATARI, **kwargs)
    with pytest.raises(ValueError, match=message):
        gym.make_vec(ATARI, num_envs=2, **kwargs)
