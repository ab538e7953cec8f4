"""What baselines are: they see the whole scene in one step, and take what glimpses they take inside
themselves, where gradients flow."""

from abc import ABC, abstractmethod
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn

import glimpse_envs  # noqa: F401  (registers the environments)
from agents.training.checkpoints import load_weights
from agents.training.config import TrainingConfig
from agents.training.resuming import read_config
from glimpse_envs.evaluation.record import Model
from glimpse_envs.evaluation.runs import Run

# What the full view, of one step, does not take.
GLIMPSE_ONLY = frozenset({"history", "stop", "glimpse_cost"})


@dataclass(frozen=True)
class BaselineConfig(TrainingConfig):
    """What all baselines have in common."""

    supervise: Literal["counted", "all"] = "counted"
    """Which answers learn from the label: those that the environment counts, as the agents', or
    those after every glimpse."""


@dataclass(frozen=True)
class Setting:
    """What one environment hides, and how an agent is shown it.

    Args:
        scene_shape: (C, H, W).
        glimpse_space: an agent's observations.
        answers: how many there are to choose from.
        budget: T, an agent's glimpses.
        tile_locations: (n, 2) in [-1, 1], the middles of the tiles.
        window_sides: in pixels, of each of a glimpse's K windows, finest first.
        look_margin: pixels along the scene's edges that looks in [-1, 1] leave out.
        every_answer_counts: the environment pays every answer, not the last alone.
    """

    scene_shape: tuple[int, int, int]
    glimpse_space: spaces.Dict
    answers: int
    budget: int
    tile_locations: NDArray[np.float64]
    window_sides: tuple[float, ...]
    look_margin: float
    every_answer_counts: bool

    @property
    def glimpse_size(self) -> int:
        """g, the side of a glimpse in cells."""
        shape = self.glimpse_space["glimpse"].shape
        assert shape is not None
        return shape[-1]

    @classmethod
    def of(cls, env_id: str, env_kwargs: dict[str, Any]) -> Self:
        """The setting of an environment of pictures.

        Raises:
            ValueError: what is hidden there is no picture.
        """
        kwargs = full_view(env_kwargs)
        with (
            closing(gym.make(env_id, **{**kwargs, "view": "glimpse"})) as seen,
            closing(gym.make(env_id, **kwargs)) as whole,
        ):
            task: Any = seen.unwrapped.task  # type: ignore[attr-defined]
            glimpse_space, full_space = seen.observation_space, whole.observation_space
        assert isinstance(glimpse_space, spaces.Dict)
        assert isinstance(full_space, spaces.Dict)
        shape = full_space["scene"].shape
        if shape is None or len(shape) != 3:
            raise ValueError(f"{env_id} hides no picture (C, H, W): its scene has shape {shape}")
        return cls(
            scene_shape=shape,
            glimpse_space=glimpse_space,
            answers=int(task.action_space["answer"].n),
            budget=task.budget,
            tile_locations=task.tile_locations,
            window_sides=task.window_sides,
            look_margin=task.look_margin,
            every_answer_counts=task.answer_reward < 1.0,
        )


def full_view(env_kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the same environment where all is seen in one step."""
    kept = {name: value for name, value in env_kwargs.items() if name not in GLIMPSE_ONLY}
    return {**kept, "view": "full"}


class Baseline(nn.Module, ABC):
    """Answers from the whole scene, after each of the glimpses that it takes inside itself.

    Attributes:
        config_class: of its training; a run of it is read back by that.
        model: what it is, as records describe it.
    """

    config_class: ClassVar[type[BaselineConfig]]

    @property
    @abstractmethod
    def model(self) -> Model: ...

    @abstractmethod
    def forward(self, scene: Tensor) -> Tensor:
        """Logits (T, B, n) of the answers after 1 ... T glimpses at `scene` (B, C, H, W)."""

    def set_progress(self, progress: float, generator: torch.Generator) -> None:
        """Called before each batch of training, for what changes with `progress` in [0, 1] and for
        noise, which is to be drawn from `generator` alone."""

    # --- Stable-Baselines3's way of asking, in the environment's full view ------------------------

    def env_kwargs(self, env_kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of the environment that it is scored in, of those it was trained with."""
        return full_view(env_kwargs)

    def answers(self, observation: dict[str, NDArray]) -> NDArray[np.int64]:
        """The likeliest answers (B, T) after each glimpse, for `observation["scene"]`."""
        scene = torch.as_tensor(observation["scene"]).to(next(self.parameters()))
        with torch.no_grad():
            return self(scene).argmax(dim=-1).T.cpu().numpy()

    def predict(
        self,
        observation: dict[str, NDArray],
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[dict[str, NDArray], None]:
        """The likeliest last answer of each row, name -> (B,); there is nothing to remember."""
        return {"answer": self.answers(observation)[:, -1]}, None

    @classmethod
    def from_run(cls, run: Run, device: str = "cpu") -> Self:
        """Load the model of a run from its last checkpoint.

        Raises:
            glimpse_envs.evaluation.runs.RunError: the run or its checkpoint is missing or damaged.
        """
        config: Any = read_config(run, cls.config_class)
        model: Self = cls(Setting.of(config.env_id, config.env_kwargs), config)
        load_weights(model, run)
        return model.to(device).eval()
