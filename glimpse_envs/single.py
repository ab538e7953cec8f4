"""A single environment: a batch of one."""

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from glimpse_envs.env import RENDER_MODES, GlimpseVectorEnv, Info, check_mode
from glimpse_envs.task import Arrays, Task


class GlimpseEnv(gym.Env):
    """A single environment: row 0 of a `GlimpseVectorEnv` of one, which never resets itself.

    It takes the same arguments; `copies` must be 1 and `autoreset_mode` has no meaning here.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012

    def __init__(self, *, autoreset_mode: str = "Disabled", **kwargs: Any) -> None:
        check_mode(autoreset_mode)
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


def _first(values: dict[str, Any]) -> dict[str, Any]:
    """Row 0 of each array; flags as bool, which Gymnasium batches as flags."""
    firsts = {name: value[0] for name, value in values.items() if name[0] != "_"}
    return {name: bool(v) if isinstance(v, np.bool_) else v for name, v in firsts.items()}
