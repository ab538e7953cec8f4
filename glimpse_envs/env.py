"""The only episode loop: `GlimpseVectorEnv`, and `GlimpseEnv`, a batch of one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from glimpse_envs.actions import ActionChecker
from glimpse_envs.scenes.scene import Keys
from glimpse_envs.task import Arrays, Judgement, Rows, Task

Info = dict[str, Any]
RENDER_MODES = ("rgb_array", "human")


class GlimpseVectorEnv(VectorEnv):
    """A batch of rows of one task, each with an episode of its own.

    Row i draws its e-th scene from the key (seed, i, e), so its episodes depend neither on the
    number of rows nor on threads. `reset(seed=s)` gives row i the key (s, i); `reset(seed=[...])`
    makes row i the single environment with seed s_i. In a fixed split ("validation", "test") scene
    k is keyed by (seed, k); scenes are dealt in turn, and `reset(options={"scene": k})`, one index
    or one a row, deals those asked for. `reset(options={"reset_mask": mask})` resets the rows in
    `mask` alone.

    With `copies=M` rows iM ... iM + M - 1 share scene and first glimpse, and are dealt again when
    all of them have ended; until then a row that has ended repeats its last observation, with
    reward 0, terminated, and `info["waiting"]` True.

    Args:
        num_envs: rows; a multiple of `copies`.
        task: the task's class as "module:Class".
        autoreset_mode: "SameStep", "NextStep" or "Disabled" (see Gymnasium's `AutoresetMode`).
        render_mode: None, "rgb_array" or "human" (which shows row 0).
        copies: rows that share a scene.
        **kwargs: the task's own arguments.

    Raises:
        ValueError: an argument has a value that is not one of these.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        task: str,
        autoreset_mode: str = "SameStep",
        render_mode: str | None = None,
        copies: int = 1,
        **kwargs: Any,
    ) -> None:
        for name, value in (("num_envs", num_envs), ("copies", copies)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise ValueError(f"{name}={value!r} must be a positive integer")
        if num_envs % copies:
            raise ValueError(f"num_envs={num_envs} must be a multiple of copies={copies}")
        self._mode = _checked_mode(autoreset_mode)
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode={render_mode!r} must be None or one of {RENDER_MODES}")
        self._arguments = dict(
            num_envs=num_envs,
            task=task,
            autoreset_mode=self._mode.value,
            render_mode=render_mode,
            copies=copies,
            **kwargs,
        )
        self.task = load_task(task)(**kwargs)
        self.num_envs, self.copies, self.num_groups = num_envs, copies, num_envs // copies
        self.render_mode = render_mode
        self.metadata = {
            "render_modes": list(RENDER_MODES),
            "render_fps": 4,
            "autoreset_mode": self._mode,
        }
        self.single_observation_space = self.task.observation_space
        self.single_action_space = self.task.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._checked = ActionChecker(self.task.action_space, num_envs)
        self._can_stop = "stop" in self.task.action_space.spaces
        self._window: Any = None

        self.task.allocate(num_envs, copies)
        self._rows = np.arange(num_envs)
        self._keys = Keys(
            seeds=np.zeros(self.num_groups, np.uint64),
            streams=np.zeros(self.num_groups, np.int64),
            episodes=np.full(self.num_groups, -1, np.int64),
            indices=np.full(self.num_groups, -1, np.int64),
        )
        self._next_scene = 0
        self._taken = np.zeros(num_envs, np.int64)
        self._ended = np.ones(num_envs, np.bool_)
        self._seeded = False

    @property
    def num_scenes(self) -> int | None:
        """How many scenes the split has, each with a number of its own; None for "train"."""
        return self.task.num_scenes

    # --- reset -------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Arrays, Info]:
        """Deal new episodes to all rows, or to those in `options["reset_mask"]` (n,) bool.

        Args:
            seed: None goes on with the streams (a first reset draws a seed from the system); an
                int keys row i by (seed, i); a list makes row i the single environment with its i-th
                seed.
            options: `reset_mask`, and, in a fixed split, `scene`: the scene for all rows or one
                for each.

        Raises:
            ValueError, TypeError: what was wrong by name; nothing has changed.
        """
        options = options or {}
        unknown = set(options) - {"reset_mask", "scene"}
        if unknown:
            raise ValueError(f"reset has the options 'reset_mask' and 'scene', not {unknown}")
        groups = self._masked_groups(options.get("reset_mask"))
        scenes = self._asked_scenes(options.get("scene"))
        self._reseed(seed, groups)
        self._deal(groups, scenes)
        if self.render_mode == "human":
            self._show()
        rows = self._rows_of(groups)
        return self._observe(self._rows), self._merge({}, self.task.evidence(rows), rows)

    def _masked_groups(self, mask: NDArray[np.bool_] | None) -> Rows:
        if mask is None:
            return np.arange(self.num_groups)
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"options['reset_mask'] must be a numpy array of bool, not {mask!r}")
        if mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(
                f"options['reset_mask'] must have shape ({self.num_envs},) and at least one True; "
                f"it is {mask}"
            )
        whole = mask.reshape(self.num_groups, self.copies)
        if (whole.any(axis=1) != whole.all(axis=1)).any():
            raise ValueError("options['reset_mask'] must take or leave all copies of a scene")
        if not self._seeded and not mask.all():
            raise ValueError("options['reset_mask'] must take all rows at the first reset")
        return np.flatnonzero(whole[:, 0])

    def _asked_scenes(self, scene: Any) -> NDArray[np.int64] | None:
        """Return the scene asked for of each group, (num_groups,)."""
        if scene is None:
            return None
        if self.num_scenes is None:
            raise ValueError(
                "options['scene'] needs split='validation' or 'test', whose scenes are fixed"
            )
        scenes = np.asarray(scene)
        if scenes.dtype.kind not in "iu" or scenes.shape not in ((), (self.num_envs,)):
            raise ValueError(
                f"options['scene'] must be an integer or {self.num_envs} of them; it is {scene!r}"
            )
        if scenes.min() < 0 or scenes.max() >= self.num_scenes:
            raise ValueError(
                f"options['scene'] must lie between 0 and {self.num_scenes - 1}; it is {scene!r}"
            )
        whole = np.broadcast_to(scenes, self.num_envs).reshape(self.num_groups, self.copies)
        if (whole != whole[:, :1]).any():
            raise ValueError("options['scene'] must be the same for all copies of a scene")
        return whole[:, 0].astype(np.int64)

    def _reseed(self, seed: int | list[int | None] | None, groups: Rows) -> None:
        if seed is None and self._seeded:
            return
        streams = np.arange(self.num_groups)
        if not isinstance(seed, list | tuple | np.ndarray):
            seeds = np.full(self.num_groups, _checked_seed(seed), np.uint64)
        else:
            if len(seed) != self.num_envs:
                raise ValueError(f"seed must be one int or {self.num_envs}; it has {len(seed)}")
            whole = [seed[i : i + self.copies] for i in range(0, self.num_envs, self.copies)]
            if any(len(set(same)) > 1 for same in whole):
                raise ValueError("seed must be the same for all copies of a scene")
            seeds = np.array([_checked_seed(same[0]) for same in whole], np.uint64)
            streams = np.zeros(self.num_groups, np.int64)
        if seed is not None and not isinstance(seed, list | tuple | np.ndarray):
            self._np_random, self._np_random_seed = gym.utils.seeding.np_random(int(seed))
        self._keys.seeds[groups] = seeds[groups]
        self._keys.streams[groups] = streams[groups]
        self._keys.episodes[groups] = -1
        if len(groups) == self.num_groups:
            self._next_scene = 0
        self._seeded = True

    def _deal(self, groups: Rows, scenes: NDArray[np.int64] | None = None) -> None:
        """Begin the next episode of `groups`, with `scenes` (num_groups,) if asked for."""
        keys = self._keys
        keys.episodes[groups] += 1
        if scenes is not None:
            keys.indices[groups] = scenes[groups]
        elif self.num_scenes is not None:
            keys.indices[groups] = (self._next_scene + np.arange(len(groups))) % self.num_scenes
            self._next_scene = (self._next_scene + len(groups)) % self.num_scenes
        self.task.deal(groups, keys)
        rows = self._rows_of(groups)
        self._taken[rows] = 1
        self._ended[rows] = False

    def _rows_of(self, groups: Rows) -> Rows:
        if len(groups) == self.num_groups:
            return self._rows
        return self._rows.reshape(self.num_groups, self.copies)[groups].ravel()

    # --- step --------------------------------------------------------------------------------

    def step(
        self, actions: Any
    ) -> tuple[Arrays, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Info]:
        """Answer and look once in every row.

        Args:
            actions: dict of arrays (n, ...) in `action_space`; a look outside [-1, 1] is refused,
                not clipped.

        Raises:
            ValueError: an action is not in the space; it is named, and nothing has changed.
            gymnasium.error.ResetNeeded: before the first reset, or when `autoreset_mode` is
                "Disabled" and a row has ended.
        """
        actions = self._checked(actions)
        if not self._seeded:
            raise gym.error.ResetNeeded("call reset() before the first step()")
        idle = self._ended.any()
        if idle and self._mode is AutoresetMode.DISABLED and len(self._ended_groups()):
            raise gym.error.ResetNeeded(
                f"rows {self._rows_of(self._ended_groups()).tolist()} have ended: reset them "
                "first, with reset(options={'reset_mask': mask})"
            )
        acting = np.flatnonzero(~self._ended) if idle else self._rows
        waiting = self._ended.copy() if self.copies > 1 else None
        rewards = np.zeros(self.num_envs)
        infos: Info = {}

        dealt = self._ended_groups() if idle and self._mode is AutoresetMode.NEXT_STEP else None
        judgement, ending = self._act(acting, actions)
        rewards[acting] = judgement.reward
        terminated = self._ended.copy()
        if dealt is not None and len(dealt):
            self._deal(dealt)
            terminated[self._rows_of(dealt)] = False
        elif self._mode is AutoresetMode.SAME_STEP and len(ending):
            infos = self._final_infos(acting, judgement, ending)
            dealt = self._ended_groups()
            self._deal(dealt)

        infos = self._step_infos(infos, acting, judgement, dealt)
        if waiting is not None:
            infos = self._merge(infos, {"waiting": waiting}, self._rows)
        if self.render_mode == "human":
            self._show()
        truncated = np.zeros(self.num_envs, np.bool_)
        return self._observe(self._rows), rewards, terminated, truncated, infos

    def _act(self, acting: Rows, actions: Arrays) -> tuple[Judgement, Rows]:
        """Judge the answers of the rows `acting` (m,), let those look that go on, and return the
        judgement and the rows whose episode ends."""
        last = self._taken[acting] >= self.task.budget
        if self._can_stop:
            last |= actions["stop"][acting] == 1
        judgement = self.task.judge(acting, actions, last)
        if not last.any():
            looking, ending = acting, acting[:0]
        else:
            looking, ending = acting[~last], acting[last]
            self._ended[ending] = True
        if len(looking):
            self._taken[looking] += 1
            self.task.look(looking, actions, self._taken)
            if self.task.glimpse_cost:
                judgement.reward[~last] -= self.task.glimpse_cost
        return judgement, ending

    def _ended_groups(self) -> Rows:
        return np.flatnonzero(self._ended.reshape(self.num_groups, self.copies).all(axis=1))

    def _observe(self, rows: Rows) -> Arrays:
        left = (self.task.budget - self._taken[rows]) / self.task.budget
        left[self._ended[rows]] = 0.0
        return self.task.observe(rows, left.astype(np.float32)[:, None])

    # --- info --------------------------------------------------------------------------------

    def _final_infos(self, acting: Rows, judgement: Judgement, ending: Rows) -> Info:
        """`final_obs` and `final_info` of the rows `ending`, as in Gymnasium's SyncVectorEnv."""
        observation = self._observe(ending)
        own: list[Arrays] = [{} for _ in range(len(ending))]
        for name, values in observation.items():
            for row, value in zip(own, values, strict=True):
                row[name] = value
        final_obs = np.full(self.num_envs, None, dtype=object)
        final_obs[ending] = own
        which = np.searchsorted(acting, ending)
        final_info = self._merge({}, self._said(judgement, which), ending)
        final_info = self._merge(final_info, self.task.evidence(ending), ending)
        return self._merge({}, {}, ending) | {
            "final_obs": final_obs,
            "_final_obs": self._mask(ending),
            "final_info": final_info,
            "_final_info": self._mask(ending),
        }

    def _step_infos(
        self, infos: Info, acting: Rows, judgement: Judgement, dealt: Rows | None
    ) -> Info:
        """What is said of every row after a step; a row dealt anew has no answer to speak of."""
        which = slice(None)
        rows = acting
        if dealt is not None and len(dealt) and self._mode is AutoresetMode.SAME_STEP:
            staying = ~self._mask(self._rows_of(dealt))[acting]
            rows, which = acting[staying], np.flatnonzero(staying)  # type: ignore[assignment]
        if len(rows):
            infos = self._merge(infos, self._said(judgement, which), rows)
        return self._merge(infos, self.task.evidence(self._rows), self._rows)

    @staticmethod
    def _said(judgement: Judgement, which: Any) -> Arrays:
        return {"target": judgement.target[which], "target_mask": judgement.counted[which]}

    def _merge(self, infos: Info, values: Arrays, rows: Rows) -> Info:
        """Add `values`, name -> (m, ...), of `rows` (m,) to `infos`, each with its mask."""
        for name, value in values.items():
            if len(rows) == self.num_envs:
                whole = value
            else:
                whole = np.zeros((self.num_envs, *value.shape[1:]), value.dtype)
                whole[rows] = value
            infos[name], infos[f"_{name}"] = whole, self._mask(rows)
        return infos

    def _mask(self, rows: Rows) -> NDArray[np.bool_]:
        if len(rows) == self.num_envs:
            return np.ones(self.num_envs, np.bool_)
        mask = np.zeros(self.num_envs, np.bool_)
        mask[rows] = True
        return mask

    # --- state -------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return counters and unfinished episodes, so that `load_state_dict` goes on exactly."""
        return {
            "seeds": self._keys.seeds.copy(),
            "streams": self._keys.streams.copy(),
            "episodes": self._keys.episodes.copy(),
            "indices": self._keys.indices.copy(),
            "next_scene": self._next_scene,
            "taken": self._taken.copy(),
            "ended": self._ended.copy(),
            "seeded": self._seeded,
            "task": self.task.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` of an environment with the same arguments returned.

        Raises:
            ValueError: the state is of another number of rows or other arguments; nothing has
                changed.
        """
        rows = len(state["taken"])
        if rows != self.num_envs or len(state["seeds"]) != self.num_groups:
            raise ValueError(
                f"the state is of {rows} rows in {len(state['seeds'])} groups; this environment "
                f"has {self.num_envs} in {self.num_groups}"
            )
        shapes = {name: np.shape(value) for name, value in self.task.state_dict().items()}
        if shapes != {name: np.shape(value) for name, value in state["task"].items()}:
            raise ValueError(
                "the state is of an environment with other arguments (its budget, history or "
                "glimpse differ)"
            )
        self._keys = Keys(
            *(state[name].copy() for name in ("seeds", "streams", "episodes", "indices"))
        )
        self._next_scene, self._seeded = state["next_scene"], state["seeded"]
        self._taken, self._ended = state["taken"].copy(), state["ended"].copy()
        if self._seeded:
            self.task.deal(np.arange(self.num_groups), self._keys)
        self.task.load_state_dict(state["task"])

    def __getstate__(self) -> dict[str, Any]:
        return {
            "arguments": self._arguments,
            "state": self.state_dict(),
            "spec": self.spec,
            "random": (self._np_random, self._np_random_seed),
        }

    def __setstate__(self, pickled: dict[str, Any]) -> None:
        self.__init__(**pickled["arguments"])  # type: ignore[misc]  # a pickle is made anew
        self.load_state_dict(pickled["state"])
        self.spec = pickled["spec"]
        self._np_random, self._np_random_seed = pickled["random"]

    # --- rendering ---------------------------------------------------------------------------

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Return a frame (height, width, 3) uint8 RGB of every row; None in "human" mode.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset.
        """
        if self.render_mode is None:
            gym.logger.warn(
                "render() needs a render_mode, given when the environment is made, "
                "e.g. render_mode='rgb_array'"
            )
            return None
        if not self._seeded:
            raise gym.error.ResetNeeded("call reset() before render()")
        if self.render_mode == "human":
            self._show()
            return None
        return tuple(self._frame(row) for row in range(self.num_envs))

    def _frame(self, row: int) -> NDArray[np.uint8]:
        from glimpse_envs.rendering import draw_frame

        caption = f"glimpse {self._taken[row]} of {self.task.budget}"
        return draw_frame(self.task.picture(row, caption))

    def _show(self) -> None:
        from glimpse_envs.rendering import Window

        if self._window is None:
            self._window = Window("glimpse_envs", self.metadata["render_fps"])
        self._window.show(self._frame(0))

    def close_extras(self, **kwargs: Any) -> None:
        """Close the window of the "human" mode."""
        if self._window is not None:
            self._window.close()
            self._window = None


class GlimpseEnv(gym.Env):
    """A single environment: row 0 of a `GlimpseVectorEnv` of one, which never resets itself.

    It takes the same arguments; `copies` must be 1 and `autoreset_mode` has no meaning here.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012

    def __init__(self, *, autoreset_mode: str = "Disabled", **kwargs: Any) -> None:
        _checked_mode(autoreset_mode)
        self.batch = GlimpseVectorEnv(1, autoreset_mode="Disabled", **kwargs)
        self.observation_space = self.batch.single_observation_space
        self.action_space = self.batch.single_action_space
        self.render_mode = self.batch.render_mode

    @property
    def task(self) -> Task:
        """The rules, of a batch of one."""
        return self.batch.task

    @property
    def num_scenes(self) -> int | None:
        """How many scenes the split has, each with a number of its own; None for "train"."""
        return self.batch.num_scenes

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Arrays, Info]:
        """Deal a new episode; in a fixed split `options={"scene": k}` deals scene k."""
        super().reset(seed=seed)
        observation, info = self.batch.reset(seed=seed, options=options)
        return _first(observation), _first(info)

    def step(self, action: Any) -> tuple[Arrays, float, bool, bool, Info]:
        """Answer and look once; see `GlimpseVectorEnv.step`."""
        if isinstance(action, dict):
            action = {name: np.asarray(value)[None] for name, value in action.items()}
        observation, reward, terminated, _, info = self.batch.step(action)
        return _first(observation), float(reward[0]), bool(terminated[0]), False, _first(info)

    def state_dict(self) -> dict[str, Any]:
        """Return counters and the unfinished episode."""
        return self.batch.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        self.batch.load_state_dict(state)

    def render(self) -> NDArray[np.uint8] | None:
        """Return a frame (height, width, 3) uint8 RGB; None in "human" mode."""
        frames = self.batch.render()
        return frames[0] if frames else None

    def close(self) -> None:
        """Close the window of the "human" mode."""
        self.batch.close()


def load_task(name: str) -> type[Task]:
    """Return the task class named "module:Class"."""
    module, _, class_name = name.partition(":")
    return getattr(import_module(module), class_name)


def _checked_mode(mode: str | AutoresetMode) -> AutoresetMode:
    values = [known.value for known in AutoresetMode]
    value = mode.value if isinstance(mode, AutoresetMode) else mode
    if value not in values:
        raise ValueError(f"autoreset_mode={mode!r} must be one of {values}")
    return AutoresetMode(value)


def _first(values: dict[str, Any]) -> dict[str, Any]:
    """Row 0 of each array; flags as bool, which Gymnasium batches as flags."""
    firsts = {name: value[0] for name, value in values.items() if name[0] != "_"}
    return {name: bool(v) if isinstance(v, np.bool_) else v for name, v in firsts.items()}


def _checked_seed(seed: Any) -> int:
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**64:
        raise ValueError(f"seed={seed!r} must be an integer from 0 to 2**64 - 1")
    return int(seed)
