"""What is played: an environment of this project, or another one that is seen through a glimpse."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from enum import EnumType
from typing import Any

import gymnasium as gym

from glimpse_envs.core.arguments import naming_environment
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.episodes.description import ACT, describe
from glimpse_envs.episodes.lookup import task_class_of
from glimpse_envs.evaluation.dealing import world_seed
from glimpse_envs.evaluation.policy import Observation
from glimpse_envs.rendering import AnyPicture, TablePicture
from glimpse_envs.single import GlimpseEnv
from glimpse_envs.task import Component
from glimpse_envs.wrappers.single import GlimpseWrapper, glimpse_wrapper_of

WORLDS = 10_000
"""Number of episodes of a wrapped environment that can be chosen from."""


class Board(ABC):
    """An environment and the episodes that can be played in it, by number.

    Attributes:
        env: the environment, single.
        components: the parts of its action.
        view: geometry of the picture that is looked at; None where there is none.
        question: what is asked, in words; "" where unknown.
        how_to_play: what a person does to answer it, in words; "" where that is plain.
        keys: codes of keys held together -> action; None where there are none.
        scenes: how many episodes can be chosen from.
        budget: of glimpses in the present episode; None where unknown.
        fixed: whether episodes can be played again, and scored as those of a fixed split.
    """

    env: gym.Env
    components: Mapping[str, Component]
    view: PictureView | None
    question: str
    how_to_play: str = ""
    keys: Mapping[tuple[int, ...], Any] | None
    scenes: int
    fixed: bool

    @property
    @abstractmethod
    def budget(self) -> int | None: ...

    @abstractmethod
    def reset(self, scene: int) -> tuple[Observation, dict[str, Any]]:
        """Begin the episode of the number `scene`, in [0, scenes)."""

    @abstractmethod
    def picture(self) -> AnyPicture:
        """Return the present moment, whole."""

    @property
    def is_table(self) -> bool:
        return False

    def close(self) -> None:
        self.env.close()


class TaskBoard(Board):
    """An environment of this project, whose scenes are those of a fixed split.

    Args:
        env: of a fixed split.
        seed: of clutter, places and first glimpses.

    Attributes:
        flat: whether its actions are plain numbers, not named parts.
    """

    fixed = True

    def __init__(self, env: GlimpseEnv, seed: int) -> None:
        self.env, self._task, self._seed = env, env.task, seed
        described = describe(env)
        self.components, self.view = described.components, described.picture_view
        first_line = (inspect.getdoc(env.task) or "").partition("\n")[0]
        self.question, self.scenes = described.question or first_line, env.num_scenes or 1
        self.how_to_play = env.task.how_to_play
        self.flat = env.batch.flat_actions is not None
        try:
            self.keys = env.get_keys_to_action()
        except ValueError:  # there are none for these actions
            self.keys = None

    @property
    def budget(self) -> int:
        return int(self._task.budgets[0])

    def reset(self, scene: int) -> tuple[Observation, dict[str, Any]]:
        return self.env.reset(seed=self._seed, options={"scene": scene})

    def picture(self) -> AnyPicture:
        return self._task.picture(0, "")

    @property
    def is_table(self) -> bool:
        return isinstance(self.picture(), TablePicture)


class WorldBoard(Board):
    """Another environment, seen through a `GlimpseWrapper`; scene k is the episode that evaluation
    numbers k.

    Acts have the names that Arcade games and MiniGrid's worlds give them; MiniGrid's mission is the
    question.

    Args:
        env: the environment, in which `wrapper` is.
        wrapper: through which it is seen.
        split: whose episodes are played.
        seed: of the evaluation.

    Raises:
        ValueError: its acts are not choices counted from 0.
    """

    keys = None
    fixed = False
    scenes = WORLDS

    def __init__(self, env: gym.Env, wrapper: GlimpseWrapper, split: str, seed: int) -> None:
        self.env, self._wrapper, self._split, self._seed = env, wrapper, split, seed
        self.view = wrapper.picture_view
        components = dict(describe(env).components)
        act = components.get(ACT)
        if act is None or not isinstance(act.space, gym.spaces.Discrete) or act.space.start != 0:
            acts = env.action_space if act is None else act.space
            raise ValueError(
                f"{wrapper.env_name} cannot be played here: its acts are {acts}, and the page has "
                "buttons for the choices of a Discrete space from 0 on alone"
            )
        components[ACT] = replace(act, names=act_names(wrapper.unwrapped, int(act.space.n)))
        self.components = components
        self.question = f"Play {wrapper.env_name} through a glimpse."

    @property
    def budget(self) -> int | None:
        return self._wrapper.max_steps

    def reset(self, scene: int) -> tuple[Observation, dict[str, Any]]:
        return self.env.reset(seed=world_seed(self._split, self._seed, scene))

    def picture(self) -> AnyPicture:
        mission = getattr(self._wrapper.unwrapped, "mission", None)
        return replace(self._wrapper.picture(), question=mission if type(mission) is str else "")


def act_names(env: Any, choices: int) -> tuple[str, ...]:
    """Return the names of an environment's acts, in small letters: an Arcade game's meanings, the
    members of a MiniGrid world's enumeration, or else their numbers."""
    named: list[str] = []
    meanings, members = getattr(env, "get_action_meanings", None), getattr(env, "actions", None)
    if callable(meanings):
        named = [str(name) for name in meanings()]
    elif isinstance(members, EnumType):
        named = list(members.__members__)
    if len(named) != choices or not all(named):
        named = [str(choice) for choice in range(choices)]
    return tuple(name.lower() for name in named)


def make_board(env_id: str, env_kwargs: Mapping[str, Any], split: str, seed: int) -> Board:
    """Make the environment and return its board.

    Raises:
        ValueError: it cannot be played here.
        gymnasium.error.Error: there is no such environment.
    """
    refused = (
        f"{env_id} cannot be played here: the page plays environments that were registered with "
        "glimpse_envs.register, and those with a split that are seen through a "
        "glimpse_envs.wrappers.GlimpseWrapper"
    )
    ours = task_class_of(env_id) is not None
    try:
        with naming_environment(env_id, env_kwargs):
            env = gym.make(env_id, **{**env_kwargs, "split": split})
    except ValueError as error:
        if "unexpected keyword argument 'split'" in str(error):
            raise ValueError(refused) from error
        raise
    try:
        if not ours:
            wrapper = glimpse_wrapper_of(env)
            if wrapper is None:
                raise ValueError(refused)
            return WorldBoard(env, wrapper, split, seed)
        single = env.unwrapped
        assert isinstance(single, GlimpseEnv)
        if single.num_scenes is None:
            raise ValueError(f"{env_id} cannot be played here: it has no fixed scenes")
        return TaskBoard(single, seed)
    except BaseException:
        env.close()
        raise
