"""A single pixel environment seen through a glimpse."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils import RecordConstructorArgs
from gymnasium.wrappers import Autoreset
from numpy.typing import NDArray

from glimpse_envs.core.arguments import check_seed
from glimpse_envs.core.arrays import Float32s
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.wrappers.actions import LookAndAct
from glimpse_envs.wrappers.errors import name_of, naming
from glimpse_envs.wrappers.eye import Eye, checked_options
from glimpse_envs.wrappers.segments import CONTINUED
from glimpse_envs.wrappers.time_limits import max_steps_of

if TYPE_CHECKING:
    from glimpse_envs.rendering import Picture


class GlimpseWrapper(gym.Wrapper, RecordConstructorArgs):
    """An environment with pixels, of which the agent sees a glimpse at a place that it chooses.

    Observation: Dict of `glimpse` (frames * K * C, g, g) float32 in [0, 1], zeros outside the
    frame; `location` (2,), where it was taken, (x, y) in [-1, 1]; and `remaining` (1,), the share
    of steps left, only where the environment's spec has `max_episode_steps`; without it the limit
    is unknown. A limit shown in this way terminates an episode, any other truncates it. Of
    stacked frames the oldest comes first.

    Action: Dict of `look`, left out where the gaze follows a rule (`look="static"`, `"random"` or
    `"raster"`), and `act`, the environment's own action.
    The act is played, then the gaze moves, and the new frame is seen at the new place.

    The first place of an episode is drawn from a separate stream, seeded by `reset(seed=...)`, so
    that the environment plays the same episodes as without the wrapper. The state cannot be saved
    in the middle of an episode (`resumable`).

    Args:
        env: its observations are pixels, a Box of uint8 or of bounded floats, grey or colour, with
            or without a stack of frames, or a Dict with such a part.
        **options: `glimpse_size`, which is required, and the others of
            `glimpse_envs.wrappers.eye.Eye`.

    Raises:
        ValueError: the environment has no pixels or resets itself, or an option does not fit.
        TypeError: an option is not known, or `glimpse_size` is missing.
    """

    resumable = False

    def __init__(self, env: gym.Env, **options: Any) -> None:
        gym.Wrapper.__init__(self, env)
        _refuse_autoreset(env)
        options = checked_options(options)
        RecordConstructorArgs.__init__(self, **options)
        self._eye = Eye(name_of(env), env.observation_space, 1, max_steps_of(env), **options)
        self._row = np.zeros(1, np.int64)
        self._ended = True
        self._pixels: NDArray | None = None  # (1, ...), of the newest observation
        self.observation_space = self._eye.observation_space
        self.action_space = self._eye.action_space(env.action_space)
        self._split = LookAndAct(self.action_space, None)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Float32s], dict[str, Any]]:
        """Begin an episode of the environment, and look at a first place.

        Raises:
            ValueError: the seed is invalid; nothing has changed.
            WrappedEnvError: the environment raised, or its observation is not in its space.
        """
        if seed is not None:
            check_seed(seed)
            seed = int(seed)  # environments refuse NumPy's integers
        self._ended = True
        with naming(self._eye.env_name, "reset"):
            observation, info = self.env.reset(seed=seed, options=options)
            self._eye.seed([seed])
            self._pixels = self._pixels_of(observation)
            continued = np.array([info.get(CONTINUED, False)], np.bool_)
            self._eye.start(self._row, self._pixels, continued)
        self._ended = False
        return self._observe(), info

    def step(self, action: Any) -> tuple[dict[str, Float32s], Any, bool, bool, dict[str, Any]]:
        """Act, then look.

        Raises:
            ValueError: the action is not in the space; the message names it. Nothing has changed.
            gymnasium.error.ResetNeeded: no episode is under way.
            WrappedEnvError: the environment raised, or its observation is not in its space.
        """
        looks, act = self._split(action)
        if self._ended:
            raise gym.error.ResetNeeded("no episode is under way: call reset() first")
        self._ended = True
        with naming(self._eye.env_name, "step"):
            observation, reward, terminated, truncated, info = self.env.step(act)
            self._pixels = self._pixels_of(observation)
            self._eye.step(self._row, looks, self._pixels)
        self._ended = bool(terminated or truncated)
        ends = self._eye.seen_ends(*np.array([[terminated], [truncated]], np.bool_))
        return self._observe(), reward, bool(ends[0]), bool(ends[1]), info

    @property
    def spec(self) -> EnvSpec | None:  # type: ignore[override]  # as all wrappers do
        """Gymnasium's specification of the id whose entry point returned this wrapper, if there is
        one: the environment got that id after its spec was read here."""
        spec, root = super().spec, self.unwrapped.spec
        if spec is None or root is None or spec.id == root.id:
            return spec
        return replace(deepcopy(root), additional_wrappers=spec.additional_wrappers)

    @property
    def env_name(self) -> str:
        """The id of the environment that is seen, or the name of its class if it has none."""
        return self._eye.env_name

    @property
    def max_steps(self) -> int | None:
        """The most steps of an episode; None where the limit is unknown."""
        return self._eye.max_steps

    @property
    def picture_view(self) -> PictureView | None:
        """Geometry of frames and looks; None where the gaze follows a rule."""
        return self._eye.picture_view

    def picture(self) -> Picture:
        """Return the present frame, whole, with the place looked at and what is seen there, for
        films.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset.
        """
        if self._pixels is None:
            raise gym.error.ResetNeeded("there is no frame yet: call reset() first")
        return self._eye.picture(0, self._pixels)

    def _observe(self) -> dict[str, Float32s]:
        return {name: part[0] for name, part in self._eye.observe().items()}

    def _pixels_of(self, observation: Any) -> NDArray:
        return np.asarray(self._eye.pixels_of(observation))[None]


def glimpse_wrapper_of(env: gym.Env) -> GlimpseWrapper | None:
    """Return the `GlimpseWrapper` among an environment's wrappers; None where there is none."""
    while isinstance(env, gym.Wrapper):
        if isinstance(env, GlimpseWrapper):
            return env
        env = env.env
    return None


def _refuse_autoreset(env: gym.Env) -> None:
    """Raise a ValueError where an environment resets itself, which the glimpse would not see."""
    inner: Any = env
    while isinstance(inner, gym.Wrapper):
        if isinstance(inner, Autoreset):
            raise ValueError("Autoreset lies below the glimpse: wrap it the other way round")
        inner = inner.env
