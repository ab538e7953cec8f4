"""Episode loop of a batch of rows, each with an episode of its own."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv

from glimpse_envs.core.arguments import (
    check_flags,
    check_integers,
    check_mode,
    enter_arguments,
    shown,
)
from glimpse_envs.core.arrays import Bools, Bytes, Float32s, Floats
from glimpse_envs.core.memory import check_batch_memory
from glimpse_envs.core.spaces import batched
from glimpse_envs.episodes.actions import ActionChecker, checked_but_of
from glimpse_envs.episodes.attributes import SharedAttributes
from glimpse_envs.episodes.display import FRAME_HEIGHT, RENDER_FPS, RENDER_MODES, Display
from glimpse_envs.episodes.episodes import Episodes
from glimpse_envs.episodes.infos import Info, final_infos, merge, merge_step
from glimpse_envs.episodes.levels import LevelDistribution
from glimpse_envs.episodes.lookup import hint_of_batch, load_task
from glimpse_envs.episodes.promises import check_arrays, check_components
from glimpse_envs.episodes.state import digest, digests_of
from glimpse_envs.flat import FlatActions, FlatObservations
from glimpse_envs.task import Arrays, Outcome, Rows

OF_BATCHES = ("num_envs", "copies", "autoreset_mode")
"""Arguments of batches only."""
OF_EVERY_TASK = ("render_mode", "render_height", "reveal", "flat", "flat_observation")
"""Arguments of single environments and batches, whatever the task."""
_SPACES = ("observation_space", "action_space", "single_observation_space", "single_action_space")


class GlimpseVectorEnv(VectorEnv, SharedAttributes):
    """A batch of rows of one task, each with an episode of its own.

    In the split "train" row i draws its e-th scene from the key (seed, i, e), so its episodes
    depend neither on the number of rows nor on threads. `reset(seed=s)` gives row i the key (s, i);
    `reset(seed=[...])` makes row i the single environment with seed s_i. In a fixed split
    ("validation", "test") scene k is keyed by (seed, split, k), with row i's seed; scenes are dealt
    in turn to the rows of the batch, from 0 on, and after the last from 0 again;
    `reset(options={"scene": k})` deals the scenes asked for, with one index for all rows or one per
    row. Single environments do not share the turns: each begins with scene 0. To score, use
    `glimpse_envs.evaluation.protocol.evaluate`, which plays each scene once.
    `reset(options={"reset_mask": mask})` resets only the rows in `mask`.

    With `copies=M` rows iM ... iM + M - 1 share scene and first glimpse, and are dealt again when
    all of them have ended. A row that has ended stands still until then: each step repeats its last
    observation, with reward 0, `terminated` True and `info["waiting"]` True, but without a new
    `final_obs`. Wrappers that count episodes by `terminated` (`RecordEpisodeStatistics`) count such
    a row at every step: leave out the rows that are waiting.

    Args:
        num_envs: rows; a multiple of `copies`.
        task: the task's class as "module:Class".
        autoreset_mode: "NextStep", "SameStep" or "Disabled" (see Gymnasium's `AutoresetMode`).
        render_mode: None, "rgb_array" or "human" (which shows row 0).
        render_height: of the frames in pixels, from 160 to 4,320; the legend of `reveal="seen"`
            adds a tenth.
        reveal: what frames show: "all" that is hidden, or what was "seen" so far, all else being
            black and the target left out until the end.
        copies: rows that share a scene.
        flat: True for actions of one `Box` or `MultiDiscrete`, "discrete" for one `Discrete` (see
            `glimpse_envs.flat.FlatActions`); False for a Dict.
        flat_observation: whether observations are one `Box` in place of a Dict.
        **kwargs: the task's own arguments.

    Raises:
        ValueError: an argument is unsuitable; the message names it and what it may be.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        task: str,
        autoreset_mode: str = "NextStep",
        render_mode: str | None = None,
        render_height: int = FRAME_HEIGHT,
        reveal: str = "all",
        copies: int = 1,
        flat: bool | str = False,
        flat_observation: bool = False,
        **kwargs: Any,
    ) -> None:
        check_integers(1, num_envs=num_envs, copies=copies)
        num_envs, copies = int(num_envs), int(copies)
        rules = load_task(task)
        parameters = rules.parameters(kwargs)
        known = [*parameters, *OF_EVERY_TASK, *OF_BATCHES]
        kwargs = enter_arguments(known, kwargs, partial(hint_of_batch, rules))
        if num_envs % copies:
            raise ValueError(f"num_envs={num_envs} must be a multiple of copies={copies}")
        if not isinstance(flat, bool) and not (isinstance(flat, str) and flat == "discrete"):
            raise ValueError(f"flat={shown(flat)} must be one of False, True, 'discrete'")
        check_flags(flat_observation=flat_observation)
        self.autoreset_mode = check_mode(autoreset_mode)
        self._arguments = dict(
            num_envs=num_envs,
            task=task,
            autoreset_mode=self.autoreset_mode.value,
            render_mode=render_mode,
            render_height=render_height,
            reveal=reveal,
            copies=copies,
            flat=flat,
            flat_observation=flat_observation,
            **kwargs,
        )
        self.task = rules(**kwargs)
        check_components(self.task)
        check_batch_memory(
            num_envs,
            self.task.observation_space,
            self.task.action_space,
            hidden=num_envs // copies * self._scene_bytes(),
        )
        self._display = Display(self.task, render_mode, reveal, render_height)
        self._identity = {"task": digest(task), **digests_of(parameters, kwargs)}
        self._identity |= {name: digest(value) for name, value in self.task.identity().items()}
        self.num_envs, self.copies = num_envs, copies
        self.render_mode = render_mode
        self.metadata = {
            "render_modes": list(RENDER_MODES),
            "render_fps": RENDER_FPS,
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_observation_space: spaces.Space = self.task.observation_space
        self.single_action_space: spaces.Space = self.task.action_space
        self.flat_actions: FlatActions | None = None
        self._flat_observations: FlatObservations | None = None
        if flat:
            self.flat_actions = FlatActions(self.task.action_space, joint=flat == "discrete")
            self.single_action_space = self.flat_actions.space
        if flat_observation:
            self._flat_observations = FlatObservations(self.task.observation_space)
            self.single_observation_space = self._flat_observations.space
        self.observation_space = batched(self.single_observation_space, num_envs)
        self.action_space = batched(self.single_action_space, num_envs)
        self._checker = ActionChecker(self.task.action_space, num_envs)
        self._episodes = Episodes(self.task, num_envs, copies, kwargs.get("split", "train"))

    def _scene_bytes(self) -> int:
        """Return the least number of bytes that a hidden scene takes: one for each pixel."""
        view = self.task.picture_view
        return 0 if view is None else prod(view.scene_shape)

    @property
    def split(self) -> str:
        """The split that is dealt: "train", "validation" or "test"."""
        return self._episodes.split

    @property
    def num_scenes(self) -> int | None:
        """Number of scenes in the split; None for "train"."""
        return self.task.num_scenes

    @property
    def level_distribution(self) -> LevelDistribution | None:
        """Distribution of the train split's lengths, read at every deal; a curriculum acts through
        it. Uniform over the task's range until another is set; None without lengths.

        Raises:
            ValueError: set where there are no lengths, or to a distribution with lengths that are
                not dealt.
            TypeError: set to something other than a distribution.
        """
        return self._episodes.levels

    @level_distribution.setter
    def level_distribution(self, distribution: LevelDistribution) -> None:
        self._episodes.set_levels(distribution)

    @property
    def ended(self) -> Bools:
        """(n,) whether a row has no episode under way: it has ended, or there was no reset yet."""
        return self._episodes.ended

    # --- reset -------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Info]:
        """Deal new episodes to all rows, or to those in `options["reset_mask"]` (n,) bool.

        Args:
            seed: None continues the streams (a first reset draws a seed from the system and keeps
                it as `np_random_seed`); an int keys row i by (seed, i); a list gives row i its i-th
                seed, with which the split "train" deals the episodes of a single environment, while
                rows whose seed is None continue. In a fixed split seeds draw clutter and
                places; scenes are dealt in turn, and seeding all rows begins again at scene 0:
                seed once, or choose the scenes by `options`.
            options: `reset_mask`; in a fixed split `scene`, the scene for all rows or one for
                each; where what is hidden has a length, `length`, for all rows or one for each;
                in the split "train" with an int seed, `first_row`: k makes the rows of this batch
                those from row k on of a larger batch with that seed.

        Raises:
            ValueError, TypeError: a seed or an option is invalid; nothing has changed.
            glimpse_envs.sources.SourceError: files are missing or damaged; the environment still
                needs a reset.
        """
        rows, one = self._episodes.begin(seed, options)
        if one is not None:
            self._np_random, self._np_random_seed = gym.utils.seeding.np_random(one)
        self._refresh()
        info = self._episodes.info(rows)
        if self.copies > 1:
            info = info | {"waiting": np.zeros(len(rows), np.bool_)}
        check_arrays(self.task, "info", info, len(rows))
        return self._observe(check=True), merge({}, info, rows, self.num_envs)

    # --- step --------------------------------------------------------------------------------

    def step(self, actions: Any) -> tuple[Any, Floats, Bools, Bools, Info]:
        """Answer and look once in every row.

        Args:
            actions: in `action_space`, a dict of arrays (n, ...) unless `flat`; a look outside
                [-1, 1] is refused, not clipped.

        Raises:
            ValueError: an action is not in the space; the message names it. Nothing has changed.
            gymnasium.error.ResetNeeded: before the first reset, or when `autoreset_mode` is
                "Disabled" and a row has ended.
        """
        ignored = self.ended & self._episodes.started
        space = self.single_action_space
        return self.step_checked(checked_but_of(ignored, self._as_valid, actions, space))

    def _as_valid(self, actions: Any) -> Arrays:
        if self.flat_actions is not None:
            actions = self.flat_actions.decode(actions)
        return self._checker(actions)

    def step_checked(self, actions: Arrays) -> tuple[Any, Floats, Bools, Bools, Info]:
        """`step` with valid actions, name -> (n, ...), as float64 or int64 arrays.

        Raises:
            gymnasium.error.ResetNeeded: before the first `reset`, or with `DISABLED` autoreset
                while rows have ended.
        """
        episodes = self._episodes
        if not episodes.started:
            raise gym.error.ResetNeeded("call reset() before the first step()")
        idle = episodes.ended.any()
        if idle and self.autoreset_mode is AutoresetMode.DISABLED:
            self._refuse_ended(episodes.rows_of(episodes.ended_groups()))
        acting = np.flatnonzero(~episodes.ended) if idle else episodes.rows
        waiting = episodes.ended.copy()
        rewards = np.zeros(self.num_envs)
        infos: Info = {}
        fresh = None  # rows that are dealt anew in the same step that ended them

        # With "SameStep" only those of a state that another mode has saved.
        dealt = episodes.ended_groups() if idle else None
        outcome, ending = episodes.act(acting, actions)
        rewards[acting] = outcome.reward
        terminated = episodes.ended & ~episodes.truncated
        truncated = episodes.truncated.copy()
        if dealt is not None and len(dealt):
            begun = episodes.deal(dealt)
            terminated[begun] = truncated[begun] = waiting[begun] = False
        if self.autoreset_mode is AutoresetMode.SAME_STEP and len(ending):
            infos = self._final_infos(acting, outcome, ending)
            fresh = episodes.deal(episodes.ended_groups())

        info = episodes.info(episodes.rows)
        if self.copies > 1:
            info = info | {"waiting": waiting}
        infos = merge_step(infos, outcome, acting, info, fresh, self.num_envs)
        self._refresh()
        return self._observe(), rewards, terminated, truncated, infos

    def _refuse_ended(self, rows: Rows) -> None:
        """Raise a `ResetNeeded` if there are `rows` (m,) that have ended."""
        if len(rows):
            more = f" and {len(rows) - 8} more" if len(rows) > 8 else ""
            raise gym.error.ResetNeeded(
                f"rows {rows[:8].tolist()}{more} have ended: reset them first, with "
                "reset(options={'reset_mask': mask})"
            )

    def _refresh(self) -> None:
        """Update the window, if there is one."""
        self._display.refresh(self._episodes.taken, self._episodes.ended)

    def _observe(self, check: bool = False) -> Any:
        return self._shown(self._episodes.rows, self._episodes.remaining(), check)

    def _shown(self, rows: Rows, remaining: Float32s, check: bool = False) -> Any:
        """Return the observations of `rows` (m,), name -> (m, ...), or flat (m, d)."""
        shown = self.task.observe(rows, remaining)
        if check:
            check_arrays(self.task, "observe", shown, len(rows))
        return shown if self._flat_observations is None else self._flat_observations(shown)

    def _final_infos(self, acting: Rows, outcome: Outcome, ending: Rows) -> Info:
        """`final_obs` and `final_info` of the rows `ending`, some of those `acting`."""
        values = outcome.as_info(np.searchsorted(acting, ending)) | self._episodes.info(ending)
        observation = self._shown(ending, np.zeros((len(ending), 1), np.float32))
        return final_infos(observation, values, ending, self.num_envs)

    # --- state -------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return counters, unfinished episodes, the level distribution's state, and digests of the
        arguments, so that `load_state_dict` goes on exactly, in an environment like this one."""
        return {**self._episodes.state_dict(), "arguments": dict(self._identity)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` of an environment with the same arguments returned; only
        `autoreset_mode` and what is shown (`render_mode`, `render_height`, `reveal`, `flat`,
        `flat_observation`) may differ.

        Raises:
            ValueError: the state is of another number of rows or other arguments, or its source's
                files have changed; nothing has changed.
            glimpse_envs.sources.SourceError: files are missing or damaged; nothing has changed.
        """
        self._episodes.load_state_dict(state, self._identity)
        self._display.forget()

    def __getstate__(self) -> dict[str, Any]:
        return {
            "arguments": self._arguments,
            "state": self.state_dict(),
            "spec": self.spec,
            "random": (self._np_random, self._np_random_seed),
            "level_distribution": self.level_distribution,
            "spaces": {name: getattr(self, name) for name in _SPACES},  # with their random states
            "seen": self._display.seen,
        }

    def __setstate__(self, pickled: dict[str, Any]) -> None:
        self.__init__(**pickled["arguments"])  # type: ignore[misc]  # built anew, not unpickled
        if pickled["level_distribution"] is not None:
            self.level_distribution = pickled["level_distribution"]
        self.load_state_dict(pickled["state"])
        self.spec = pickled["spec"]
        self._np_random, self._np_random_seed = pickled["random"]
        for name, space in pickled["spaces"].items():
            setattr(self, name, space)
        self._display.seen = pickled["seen"]

    # --- rendering ---------------------------------------------------------------------------

    def render(self) -> tuple[Bytes, ...] | None:
        """Return a frame (height, width, 3) uint8 RGB of every row; None in "human" mode.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset.
        """
        if self.render_mode is not None and not self._episodes.started:
            raise gym.error.ResetNeeded("call reset() before render()")
        return self._display.frames(self._episodes.taken, self._episodes.ended)

    def close_extras(self, **kwargs: Any) -> None:
        """Close the window of the "human" mode."""
        if hasattr(self, "_display"):  # absent where the constructor has failed
            self._display.close()


def batch_of(env: VectorEnv) -> GlimpseVectorEnv | None:
    """Return the batch under an environment's wrappers; None where it is not of this package."""
    batch = env.unwrapped
    return batch if isinstance(batch, GlimpseVectorEnv) else None
