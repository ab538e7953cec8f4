"""A batch of pixel environments, each seen through a glimpse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, VectorEnv, VectorWrapper
from numpy.typing import NDArray

from glimpse_envs.core.arguments import check_reset_mask, checked_seeds, shown
from glimpse_envs.core.arrays import Bools, Float32s
from glimpse_envs.core.spaces import batched
from glimpse_envs.episodes.actions import checked_but_of
from glimpse_envs.wrappers.actions import LookAndAct
from glimpse_envs.wrappers.errors import name_of, naming
from glimpse_envs.wrappers.eye import Eye, checked_options
from glimpse_envs.wrappers.segments import CONTINUED
from glimpse_envs.wrappers.time_limits import max_steps_of


class GlimpseVectorWrapper(VectorWrapper):
    """A batch of environments with pixels, each seen through a glimpse.

    Row i equals `GlimpseWrapper` over the i-th environment with its seed: `reset(seed=s)` gives it
    s + i, as Gymnasium's own batches do. Rows reset themselves as `env` does, in any of Gymnasium's
    autoreset modes; options of `reset` are passed on, and `reset_mask` is honoured.

    Args:
        env: a batch, whose `single_observation_space` has pixels.
        **options: those of `GlimpseWrapper`.

    Raises:
        ValueError: the environments have no pixels, or an option does not fit.
        TypeError: an option is not known, or `glimpse_size` is missing.
    """

    resumable = False

    def __init__(self, env: VectorEnv, **options: Any) -> None:
        super().__init__(env)
        options = checked_options(options)
        first = _first_of(env)
        name = name_of(first)
        mode = env.metadata.get("autoreset_mode")
        if not isinstance(mode, AutoresetMode):
            raise ValueError(
                f"{name} does not say when its rows reset: metadata['autoreset_mode'] is {mode!r}"
            )
        self._mode = mode
        self._eye = Eye(
            name, env.single_observation_space, env.num_envs, max_steps_of(first), **options
        )
        self._rows = np.arange(env.num_envs)
        self._started = False
        self._ended = np.zeros(env.num_envs, np.bool_)
        self.single_observation_space = self._eye.observation_space
        self.observation_space = batched(self._eye.observation_space, env.num_envs)
        self.single_action_space = self._eye.action_space(env.single_action_space)
        self.action_space = batched(self.single_action_space, env.num_envs)
        self._split = LookAndAct(self.single_action_space, env.num_envs)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Float32s], dict[str, Any]]:
        """Begin new episodes of all rows, or of those in `options["reset_mask"]` (n,) bool.

        Args:
            seed: s, which gives row i the seed s + i; or a seed or None for each row; or None.
            options: passed on to the environments.

        Raises:
            ValueError, TypeError: a seed or the mask is invalid. Nothing has changed.
            gymnasium.error.ResetNeeded: a mask is given when no episodes are under way.
            WrappedEnvError: an environment raised, or its observation is not in its space.
        """
        if not isinstance(options, Mapping | None):
            raise TypeError(f"options={shown(options)} must be a dict, or None")
        options = None if options is None else dict(options)  # Gymnasium removes the mask from it
        mask = np.ones(self.num_envs, np.bool_)
        if options is not None and "reset_mask" in options:
            check_reset_mask(options["reset_mask"], self.num_envs)
            if not self._started:
                raise gym.error.ResetNeeded("no episodes are under way: reset all rows first")
            mask = options["reset_mask"].copy()
        given = checked_seeds(seed, self.num_envs)
        self._started = False
        with naming(self._eye.env_name, "reset"):
            listed: Any = given  # which Gymnasium's batches take, though not their base
            observation, info = self.env.reset(seed=listed, options=options)
            seeds = range(given, given + self.num_envs) if isinstance(given, int) else given
            if seeds is not None:
                pairs = zip(seeds, mask, strict=True)
                self._eye.seed([one if begins else None for one, begins in pairs])
            pixels, continued = self._eye.pixels_of(observation), _continued(info, self.num_envs)
            self._eye.start(self._rows[mask], pixels, continued)
        self._started = True
        self._ended[mask] = False
        return self._eye.observe(), info

    def step(
        self, actions: Any
    ) -> tuple[dict[str, Float32s], NDArray, Bools, Bools, dict[str, Any]]:
        """Act, then look, in all rows; rows that reset themselves start at a first place, whatever
        their action in that step.

        Raises:
            ValueError: an action is not in the space; the message names it. Nothing has changed.
            gymnasium.error.ResetNeeded: before the first reset, or when rows have ended that do not
                reset themselves.
            WrappedEnvError: an environment raised, or its observation is not in its space.
        """
        resets = self._ended & (self._started and self._mode is AutoresetMode.NEXT_STEP)
        looks, acts = checked_but_of(resets, self._split, actions, self.single_action_space)
        if not self._started:
            raise gym.error.ResetNeeded("no episode is under way: call reset() first")
        if self._mode is AutoresetMode.DISABLED and self._ended.any():
            raise gym.error.ResetNeeded(
                f"rows {np.flatnonzero(self._ended).tolist()} have ended: reset them first"
            )
        self._started = False
        with naming(self._eye.env_name, "step"):
            observation, reward, terminated, truncated, info = self.env.step(acts)
            ends = self._see(looks, observation, terminated, truncated, info)
        self._started = True
        return self._eye.observe(), reward, *ends, info

    def _see(
        self,
        looks: NDArray | None,
        observation: Any,
        terminated: Bools,
        truncated: Bools,
        info: dict[str, Any],
    ) -> tuple[Bools, Bools]:
        """See the new frames, and the first ones of rows that were reset; put what rows that reset
        in the same step saw last into `info["final_obs"]`. Return how rows have ended, where
        `remaining` shows the limit."""
        ended = terminated | truncated
        pixels, fresh = self._eye.pixels_of(observation), np.zeros_like(ended)
        if self._mode is AutoresetMode.NEXT_STEP:
            fresh = self._ended
        going = self._rows[~fresh]
        if self._mode is AutoresetMode.SAME_STEP and ended.any():
            fresh = ended
            now = np.array(pixels)
            for row in self._rows[ended]:
                now[row] = self._eye.pixels_of(info["final_obs"][row])
            self._eye.step(going, looks, now)
            last = self._eye.observe()
            info["final_obs"] = np.full(self.num_envs, None, dtype=object)
            for row in self._rows[ended]:
                info["final_obs"][row] = {name: part[row] for name, part in last.items()}
        else:
            self._eye.step(going, looks, pixels)
        ends = self._eye.seen_ends(terminated, truncated)  # before ended rows begin anew
        self._eye.start(self._rows[fresh], pixels, _continued(info, self.num_envs))
        self._ended = ended
        return ends


def _continued(info: dict[str, Any], rows: int) -> Bools:
    """(n,) which rows go on after a cut, of those that were reset (see `Segments`)."""
    return np.asarray(info.get(CONTINUED, np.zeros(rows, np.bool_)), np.bool_)


def _first_of(env: VectorEnv) -> Any:
    """Return the first environment of a batch, perhaps closed, for its name and limit; or the batch
    itself where it has these, or has no environments to ask."""
    batch = env.unwrapped
    envs = getattr(batch, "envs", None)
    if envs:
        return envs[0]
    if isinstance(batch, AsyncVectorEnv):
        # Its environments are in other processes, and its spec does not tell their time limits.
        first = batch.env_fns[0]()
        first.close()
        return first
    return env
