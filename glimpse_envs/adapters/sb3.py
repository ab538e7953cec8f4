"""Adapter to Stable-Baselines3: a `VecEnv` over one batched environment, with flat actions.

from stable_baselines3 import PPO
from glimpse_envs.adapters.sb3 import make_sb3_env

PPO("MultiInputPolicy", make_sb3_env("Glimpse/ClutteredGlyphs-v0", 64, history=True)).learn(10**6)
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from glimpse_envs.adapters.row_infos import GoingInfos, SharedInfo, dicts_of_rows
from glimpse_envs.core.arguments import check_integers, shown
from glimpse_envs.core.arrays import Bools, Bytes, Float32s, Ints
from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.episodes.infos import read_outcome
from glimpse_envs.episodes.lookup import arguments_of, spec_of
from glimpse_envs.flat import FlatActions
from glimpse_envs.task import Arrays

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices
except ImportError as error:
    raise ImportError(
        'Stable-Baselines3 is not installed: pip install "glimpse-envs[sb3]"'
    ) from error

StepReturn = tuple[Arrays, Float32s, Bools, list[dict[str, Any]]]
"""Observations, rewards, dones and infos of n rows."""


def make_sb3_env(
    env_id: str,
    n_envs: int,
    *,
    seed: int | None = None,
    flat: bool | str | None = None,
    flat_observation: bool | None = None,
    **kwargs: Any,
) -> "GlimpseVecEnv":
    """Make `n_envs` rows of an environment for Stable-Baselines3. They count the returns and
    lengths of their episodes, as its `VecMonitor` does.

    In the splits "validation" and "test" every `reset` begins again at scene 0, so that each call
    of `evaluate_policy`, and so an `EvalCallback`, scores the same scenes.

    Args:
        env_id: such as "Glimpse/ClutteredGlyphs-v0".
        n_envs: rows.
        seed: of the first `reset`; a model with a seed of its own replaces it.
        flat: True for actions of one `Box` or `MultiDiscrete`, "discrete" for one `Discrete`, which
            DQN needs; None for those of the id, or True where it has a Dict.
        flat_observation: whether observations are one Box in place of a Dict, for algorithms that
            have no "MultiInputPolicy" (CrossQ, ARS); None for those of the id.
        **kwargs: the environment's arguments, such as `history=True`; `render_mode`,
            `render_height` and `reveal` too.

    Raises:
        ValueError: `n_envs` or an argument is invalid; the message names it.
        gymnasium.error.Error: there is no such id.
    """
    check_integers(1, n_envs=n_envs)
    ours = {"num_envs", "autoreset_mode", "copies", "task"} & kwargs.keys()
    if ours:
        raise ValueError(f"{', '.join(sorted(ours))}: make_sb3_env sets this itself; leave it out")
    if flat is not None and flat is not True and flat != "discrete":
        raise ValueError(f"flat={shown(flat)} must be True, 'discrete' or None")
    known = task_arguments(env_id, kwargs)
    unknown = sorted(kwargs.keys() - known - {"render_mode", "render_height", "reveal"})
    if unknown:
        raise ValueError(
            f"{env_id} does not take {', '.join(unknown)}; it takes {', '.join(sorted(known))}"
        )
    of_id = spec_of(env_id).kwargs
    if flat_observation is None:
        flat_observation = of_id.get("flat_observation", False)
    batch = gym.make_vec(
        env_id,
        num_envs=n_envs,
        autoreset_mode="SameStep",
        flat=False,
        flat_observation=flat_observation,
        **kwargs,
    )
    assert isinstance(batch, GlimpseVectorEnv)
    venv = GlimpseVecEnv(batch, joint=(flat or of_id.get("flat")) == "discrete")
    if seed is not None:
        venv.seed(seed)
    return venv


def task_arguments(env_id: str, kwargs: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the arguments that an environment takes, with `kwargs` given.

    Raises:
        ValueError: it is not an environment of a glimpse task.
        gymnasium.error.Error: there is no such id.
    """
    known = arguments_of(env_id, kwargs)
    if known is None:
        raise ValueError(
            f"{env_id!r} is made of no task of glimpses: use Stable-Baselines3's make_vec_env, for "
            "worlds seen through a glimpse with wrapper_class=glimpse_envs.wrappers.FlatAction"
        )
    return known


class GlimpseVecEnv(VecEnv):
    """Stable-Baselines3's `VecEnv` over one batched environment.

    `step` takes flat actions in `action_space` (see `glimpse_envs.flat.FlatActions`), or Dict
    actions, name -> (n, ...), so that agents of this project pass through `evaluate_policy`
    and the wrappers. Observations are float32, name -> (n, ...); rewards (n,) float32; dones (n,).

    The info of a row that ends has the environment's `final_info`, `terminal_observation`,
    `TimeLimit.truncated`, `is_success` where the task defines success, and `episode`, in the form
    of `VecMonitor`: learners log its return and length (`rollout/ep_rew_mean`). The info of a row
    that goes on has `target` and `target_mask`, where the task has targets. Such infos are shared
    and read-only, because making hundreds of dicts takes as long as the step itself: `copy()` them.
    Targets of several parts are not shared.

    Args:
        batch: the rows, under `SameStep`, without `copies`.
        joint: whether flat actions are one `Discrete`.
    """

    def __init__(self, batch: GlimpseVectorEnv, joint: bool = False) -> None:
        self.batch = batch
        self.flat = FlatActions(batch.task.action_space, joint)
        self._actions: Arrays = {}
        self._dealt: Arrays = {}  # name -> (n, ...), infos of the deals
        # Of the episodes under way, (n,) each.
        self._returns, self._lengths = (np.zeros(batch.num_envs, kind) for kind in (float, int))
        self._began = time.monotonic()
        self._going, self._untargeted = GoingInfos(), SharedInfo({"TimeLimit.truncated": False})
        super().__init__(batch.num_envs, batch.single_observation_space, self.flat.space)
        self.metadata = batch.metadata

    @property
    def spec(self) -> Any:
        """Gymnasium's specification of the environment."""
        return self.batch.spec

    @property
    def reset_infos(self) -> list[dict[str, Any]]:
        """Infos of the latest deal of each row, built on access."""
        return dicts_of_rows(self._dealt, self.num_envs)

    @reset_infos.setter
    def reset_infos(self, infos: list[dict[str, Any]]) -> None:
        """`VecEnv` sets this to as many empty dicts, before the first reset."""

    # --- episodes ----------------------------------------------------------------------------

    def reset(self) -> Arrays:
        """Deal new episodes to all rows, with the seed and options that were set before. In a fixed
        split the seed stays, and the episodes begin again.

        Raises:
            ValueError: some rows have an option that others have not, or an option is invalid.
        """
        fixed = self.batch.num_scenes is not None
        if fixed and self._seeds[0] is None:
            self.seed()
        names = {name for options in self._options for name in options}
        for name in sorted(names):
            without = [row for row, one in enumerate(self._options) if name not in one]
            if without:
                raise ValueError(
                    f"set_options: the environments {without} have no option {name!r}, and others "
                    "have: give it to all, or to none"
                )
        options = {name: [one.get(name) for one in self._options] for name in names}
        observation, info = self.batch.reset(seed=self._seeds[0], options=options)
        self._dealt = {name: value.copy() for name, value in info.items() if name[0] != "_"}
        if not fixed:
            self._reset_seeds()
        self._reset_options()
        self._returns[:] = self._lengths[:] = 0
        return observation

    def step(self, actions: NDArray | Mapping[str, NDArray]) -> StepReturn:
        """`step_async` and `step_wait`."""
        self.step_async(actions)
        return self.step_wait()

    def step_async(self, actions: NDArray | Mapping[str, NDArray]) -> None:
        """Take the actions of the next `step_wait`, flat (n, d) or a Dict, name -> (n, ...)."""
        self._actions = dict(actions) if isinstance(actions, Mapping) else self.flat.decode(actions)

    def step_wait(self) -> StepReturn:
        """Step all rows; rows that end begin a new episode in the same step."""
        observation, rewards, terminated, truncated, info = self.batch.step(self._actions)
        dones = terminated | truncated
        self._returns += rewards
        self._lengths += 1
        infos = self._step_infos(info, dones, truncated)
        return observation, rewards.astype(np.float32), dones, infos

    def _step_infos(self, info: dict[str, Any], dones: Bools, truncated: Bools) -> list[dict]:
        asked: Arrays = {name: info[name] for name in ("target", "target_mask") if name in info}
        if "target" not in asked:
            infos: list[dict] = [self._untargeted] * self.num_envs  # all end, or nothing is asked
        elif len(asked) == 2 and asked["target"].ndim == 1:
            infos = self._going.of(**asked)
        else:  # targets of several parts, or without a mask: too rare to be shared
            asked["TimeLimit.truncated"] = np.zeros(self.num_envs, np.bool_)
            infos = dicts_of_rows(asked, self.num_envs)
        ended = np.flatnonzero(dones)
        if not len(ended):
            return infos
        for name, value in self._dealt.items():
            value[ended] = info[name][ended]
        final = {name: value[ended] for name, value in read_outcome(info, dones).items()}
        if "success" in final:
            final["is_success"] = final["success"]
        final["terminal_observation"] = info["final_obs"][ended]
        final["TimeLimit.truncated"] = truncated[ended]
        final["episode"] = self._end_episodes(ended)
        for row, own in zip(ended.tolist(), dicts_of_rows(final, len(ended)), strict=True):
            infos[row] = own
        return infos

    def _end_episodes(self, ended: Ints) -> NDArray[np.object_]:
        """Return (m,) dicts, one per episode that has ended in the rows `ended` (m,): its return,
        its length, and the seconds since this environment was made. The next episodes begin."""
        seconds = round(time.monotonic() - self._began, 6)
        totals = zip(self._returns[ended].tolist(), self._lengths[ended].tolist(), strict=True)
        self._returns[ended] = self._lengths[ended] = 0
        return np.array([{"r": paid, "l": steps, "t": seconds} for paid, steps in totals], object)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Key row i by (seed, i) at the next reset, as the batched environment does: rows of runs
        with neighbouring seeds share nothing. None draws a seed from the system."""
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1)[0])
        self._seeds = [seed] * self.num_envs
        return self._seeds

    def close(self) -> None:
        """Close the environment's window."""
        self.batch.close()

    # --- attributes and methods --------------------------------------------------------------

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return the batched environment's attribute, once for each row."""
        return [getattr(self.batch, attr_name)] * len(self._rows(indices))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set the batched environment's attribute, which all rows share.

        Raises:
            ValueError: `indices` are not all rows.
        """
        self._refuse_some(f"set_attr({attr_name!r})", indices)
        setattr(self.batch, attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Call the batched environment's method once, for all rows; return its result for each row.

        Raises:
            ValueError: `indices` are not all rows.
        """
        self._refuse_some(f"env_method({method_name!r})", indices)
        return [getattr(self.batch, method_name)(*method_args, **method_kwargs)] * self.num_envs

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper], indices: VecEnvIndices = None
    ) -> list[bool]:
        """Return for each row whether it is wrapped: in nothing, but as a `Monitor` does, its infos
        tell the episodes' returns and lengths, whatever wrappers around the batch change."""
        return [issubclass(Monitor, wrapper_class)] * len(self._rows(indices))

    def get_images(self) -> Sequence[Bytes | None]:
        """A frame (height, width, 3) RGB of each row; None without `render_mode="rgb_array"`."""
        frames = self.batch.render() if self.render_mode == "rgb_array" else None
        return [None] * self.num_envs if frames is None else frames

    def _rows(self, indices: VecEnvIndices) -> list[int]:
        given: Iterable[int] = self._get_indices(indices)
        return list(given)

    def _refuse_some(self, what: str, indices: VecEnvIndices) -> None:
        if sorted(self._rows(indices)) != list(range(self.num_envs)):
            raise ValueError(
                f"{what} is of all rows, which share one environment; indices={indices!r} must be "
                "None"
            )
