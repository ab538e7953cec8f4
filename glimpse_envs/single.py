"""A single environment: a batch of one."""

from typing import Any

import gymnasium as gym
import numpy as np

from glimpse_envs.core.arguments import check_options, check_seed, enter_arguments
from glimpse_envs.core.arrays import Bytes
from glimpse_envs.env import OF_BATCHES, OF_EVERY_TASK, GlimpseVectorEnv
from glimpse_envs.episodes.actions import ActionChecker
from glimpse_envs.episodes.display import RENDER_FPS, RENDER_MODES
from glimpse_envs.episodes.infos import Info
from glimpse_envs.episodes.levels import LevelDistribution
from glimpse_envs.episodes.lookup import load_task
from glimpse_envs.task import Task


class GlimpseEnv(gym.Env):
    """A single environment: row 0 of a `GlimpseVectorEnv` of one, which never resets itself.

    It takes the same arguments, except `num_envs`, `copies` and `autoreset_mode`. The info of the
    last step has `is_success` where the task defines success.

    Raises:
        ValueError: an argument is for batches only, or unsuitable.
        TypeError: an argument is not known.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}  # noqa: RUF012

    def __init__(self, *, task: str, **kwargs: Any) -> None:
        batched = sorted(kwargs.keys() & OF_BATCHES)
        if batched:
            raise ValueError(
                f"{', '.join(batched)}: a single environment has one row and does not reset "
                "itself; for batches use gymnasium.make_vec without vectorization_mode"
            )
        rules = load_task(task)
        enter_arguments([*rules.parameters(kwargs), *OF_EVERY_TASK], kwargs, rules.hint_of)
        self.batch = GlimpseVectorEnv(1, task=task, autoreset_mode="Disabled", **kwargs)
        self.observation_space = self.batch.single_observation_space
        self.action_space = self.batch.single_action_space
        self.render_mode = self.batch.render_mode
        self._checker = ActionChecker(self.task.action_space, None)

    @property
    def task(self) -> Task:
        """The task, allocated for a batch of one row."""
        return self.batch.task

    @property
    def level_distribution(self) -> LevelDistribution | None:
        """Distribution of the train split's lengths; see `GlimpseVectorEnv`."""
        return self.batch.level_distribution

    @level_distribution.setter
    def level_distribution(self, distribution: LevelDistribution) -> None:
        self.batch.level_distribution = distribution

    @property
    def num_scenes(self) -> int | None:
        """Number of scenes in the split; None for "train"."""
        return self.batch.num_scenes

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Info]:
        """Deal a new episode; in a fixed split `options={"scene": k}` deals scene k, and where what
        is hidden has a length, `options={"length": n}` deals one of length n. A first reset without
        a seed draws one from the system and keeps it as `np_random_seed`.

        In a fixed split any seed begins again at scene 0, and a reset without one deals the next:
        `reset(seed=s + k)` in a loop plays scene 0 alone. Seed once, or choose scenes by `options`.

        Raises:
            ValueError: a seed or an option is invalid; the message names it. Nothing has changed.
            glimpse_envs.sources.SourceError: files are missing or damaged.
        """
        if seed is not None:
            check_seed(seed)
        options = check_options(options, ("scene", "length"))
        for name, value in options.items():
            if value is not None and not isinstance(value, int | np.integer):
                raise ValueError(f"options[{name!r}] must be an integer; it is {value!r}")
        before = self.batch.np_random
        observation, info = self.batch.reset(seed=seed, options=options)
        if self.batch.np_random is not before:  # a seed was given or drawn
            self._np_random, self._np_random_seed = self.batch.np_random, self.batch.np_random_seed
        return self._row(observation), _first(info)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Info]:
        """Answer and look once.

        Args:
            action: in `action_space`, a dict unless `flat`; a look outside [-1, 1] is refused, not
                clipped.

        Raises:
            ValueError: the action is not in the space; the message names it. Nothing has changed.
            gymnasium.error.ResetNeeded: before the first reset, and when the episode has ended.
        """
        flat = self.batch.flat_actions
        checked = self._checker(action if flat is None else flat.decode_one(action))
        if self.batch.ended[0]:
            raise gym.error.ResetNeeded("no episode is under way: call reset() first")
        observation, reward, terminated, truncated, info = self.batch.step_checked(checked)
        ends = bool(terminated[0]), bool(truncated[0])
        info = _first(info)
        if any(ends) and "success" in info:
            info["is_success"] = info["success"]
        return self._row(observation), float(reward[0]), *ends, info

    def _row(self, observation: Any) -> Any:
        return _first(observation) if isinstance(observation, dict) else observation[0]

    def state_dict(self) -> dict[str, Any]:
        """Return counters and the unfinished episode."""
        return self.batch.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned.

        Raises:
            ValueError: the state is of a batch or of other arguments; nothing has changed.
        """
        self.batch.load_state_dict(state)

    def render(self) -> Bytes | None:
        """Return a frame (height, width, 3) uint8 RGB; None in "human" mode."""
        frames = self.batch.render()
        return frames[0] if frames else None

    def get_keys_to_action(self) -> dict[tuple[int, ...], Any]:
        """Return key codes -> action, for `gymnasium.utils.play.play(env, wait_on_player=True)`.

        On tapes the left and right arrows move the input head, down and up the memory head; the key
        of a symbol (digits, then letters) puts it out, and with shift writes it. On tables letters
        choose the address, in order or as bits, and digits give the answer. The space bar makes no
        choice.

        Raises:
            ValueError: there are no keys for this environment's actions.
        """
        actions, flat = self.task.keys_to_action(), self.batch.flat_actions
        if flat is None:
            return actions
        rows = {
            name: np.stack([a[name] for a in actions.values()]) for name in self.task.components
        }
        return dict(zip(actions, flat.encode(rows), strict=True))

    def close(self) -> None:
        """Close the window of the "human" mode."""
        self.batch.close()


def _first(values: dict[str, Any]) -> dict[str, Any]:
    """Return row 0 of each array; flags as Python's bool, which Gymnasium batches as bool."""
    firsts: dict[str, Any] = {}
    for name, value in values.items():
        if name[0] != "_":
            first = value[0]
            firsts[name] = bool(first) if type(first) is np.bool_ else first
    return firsts
