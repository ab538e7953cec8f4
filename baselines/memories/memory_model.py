"""Baselines of tapes and tables: they are shown the whole of it, and differ in memory alone.

First the controller, the agents' own core, is fed the cells one after another; then, with nothing
more to see but the query where there is one, it puts out the answers. At every step it may read a
memory, which is what the subclasses add.
"""

from abc import ABC, abstractmethod
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import gymnasium as gym
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn

import glimpse_envs  # noqa: F401  (registers the environments)
from agents.policy.networks import NetworkConfig, check_network, core_name, make_core
from agents.training.checkpoints import load_weights
from agents.training.config import TrainingConfig
from agents.training.resuming import read_config
from baselines.model import full_view
from glimpse_envs.evaluation.record import Model
from glimpse_envs.evaluation.runs import Run


@dataclass(frozen=True)
class MemoryConfig(TrainingConfig):
    """What all baselines of tapes and tables have in common."""

    env_id: str = "Glimpse/Copy-v0"
    """The environment, of a tape or a table."""
    network: NetworkConfig = field(default_factory=NetworkConfig)
    """The controller: of it `core` and `core_units` count here."""


@dataclass(frozen=True)
class MemorySetting:
    """What one environment hides, and what is asked of it.

    Args:
        cells: N, in the longest tape or table that is dealt.
        features: F, numbers that show a cell.
        query: q, numbers that show what is asked for; 0 where nothing is.
        answers: n, what there is to choose from, 0 for nothing.
        outputs: of the longest tape; None where one answer ends all.
        outputs_per_cell: how many more there are where a tape has one cell more.
        hops: steps at the end of which the one answer is given.
    """

    cells: int
    features: int
    query: int
    answers: int
    outputs: int | None = None
    outputs_per_cell: float = 0.0
    hops: int = 1

    def steps(self, cells: int) -> int:
        """Steps in which all answers on a scene of so many cells are given."""
        if self.outputs is None:
            return self.hops
        return self.outputs + round((cells - self.cells) * self.outputs_per_cell)

    @classmethod
    def of(cls, env_id: str, env_kwargs: dict[str, Any]) -> Self:
        """The setting of an environment of tapes or tables.

        Raises:
            ValueError: what is hidden there is neither.
        """
        kwargs = full_view(env_kwargs)
        with closing(gym.make(env_id, **kwargs)) as env:
            seen, action = env.observation_space, env.action_space
            levels: tuple[int, int] | None = env.unwrapped.task.levels  # type: ignore[attr-defined]
        assert isinstance(seen, spaces.Dict)
        assert isinstance(action, spaces.Dict)
        shape, answer = seen["scene"].shape, action["answer"]
        if levels is None or shape is None or len(shape) != 2:
            raise ValueError(
                f"{env_id} hides neither tape nor table (cells, features): its scene has {shape=}"
            )
        query = spaces.flatdim(seen["query"]) if "query" in seen.spaces else 0
        if isinstance(answer, spaces.Discrete):
            return cls(*shape, query, int(answer.n), hops=levels[1] + 1)
        assert isinstance(answer, spaces.MultiDiscrete)
        with closing(gym.make(env_id, **{**kwargs, "length": levels[1] + 1})) as env:
            longer, more = env.observation_space, env.action_space
        assert isinstance(longer, spaces.Dict)
        assert isinstance(more, spaces.Dict)
        outputs = len(answer.nvec)
        growth = spaces.flatdim(longer["scene"]) // shape[1] - shape[0]
        per_cell = (more["answer"].shape[0] - outputs) / growth  # type: ignore[index]  # not None
        return cls(*shape, query, int(answer.nvec[0]), outputs, per_cell)


class Answers(NamedTuple):
    """What a model says of B rows."""

    logits: Tensor  # (T, B, n); of a table T = 1
    # Of what was sampled on the way, for REINFORCE; (R, B), R reads, or None where nothing was.
    log_probs: Tensor | None = None
    values: Tensor | None = None  # (R, B), the baseline's


class MemoryBaseline(nn.Module, ABC):
    """Answers from a whole tape or table.

    Args:
        setting: of the environment.
        config: of the training.
        read_size: numbers that one step reads.

    Attributes:
        config_class: of its training; a run of it is read back by that.
        model: what it is, as records describe it; its `attention` is how it reads a memory, "none"
            without one.

    Raises:
        ValueError: a size or kind in `config` cannot be.
    """

    config_class: ClassVar[type[Any]]

    def __init__(self, setting: MemorySetting, config: MemoryConfig, read_size: int) -> None:
        super().__init__()
        check_network(config.network)
        self.setting, self.network, self.read_size = setting, config.network, read_size
        # The last entry of an input is the phase: 1 where the answers are given.
        inputs = setting.features + setting.query + 1 + read_size
        self.core = make_core(config.network, inputs)
        self.answer_head = nn.Linear(self.core.units + read_size, setting.answers)

    @property
    @abstractmethod
    def model(self) -> Model: ...

    @property
    def core_name(self) -> str:
        """What the controller is called in tables."""
        return core_name(self.network)

    def feeds(self) -> bool:
        """Whether the controller is fed the cells before it answers."""
        return True

    def begin(self, scene: Tensor) -> Any:
        """The memory before the first step, for `scene` (B, N, F)."""
        return None

    def visit(self, core: Tensor, memory: Any, answering: bool) -> tuple[Tensor, Any]:
        """What the controller's output (B, units) reads, (B, read_size), and the memory after it;
        `answering` tells whether the cells have all been fed."""
        return core.new_zeros(len(core), 0), memory

    def finish(self, memory: Any) -> tuple[Tensor | None, Tensor | None]:
        """`log_probs` and `values` of `Answers`, of the memory after the last step."""
        return None, None

    def forward(self, observation: dict[str, Tensor]) -> Answers:
        """Answers to `scene` (B, N, F) and, where something is asked for, `query` (B, q)."""
        scene = observation["scene"]
        rows, cells, features = scene.shape
        unasked = scene.new_zeros(rows, self.setting.query)
        fed, memory = scene.new_zeros(rows, 1), self.begin(scene)
        read, state = scene.new_zeros(rows, self.read_size), self.core.initial_state(rows)
        if self.feeds():
            for cell in scene.unbind(dim=1):
                state = self.core(torch.cat([cell, unasked, fed, read], dim=1), state)
                read, memory = self.visit(state[0], memory, answering=False)
        unseen = scene.new_zeros(rows, features)
        asked = observation["query"] if self.setting.query else unasked
        said = []
        for _ in range(self.setting.steps(cells)):
            state = self.core(torch.cat([unseen, asked, fed + 1, read], dim=1), state)
            read, memory = self.visit(state[0], memory, answering=True)
            said.append(torch.cat([state[0], read], dim=1))
        if self.setting.outputs is None:
            said = said[-1:]
        return Answers(self.answer_head(torch.stack(said)), *self.finish(memory))

    def cells_read(self, cells: int) -> float:
        """Cells that are touched in one episode on a scene of so many cells, counted each time."""
        return float(cells)

    def set_progress(self, progress: float, generator: torch.Generator) -> None:
        """Called before each batch of training, for what changes with `progress` in [0, 1] and for
        noise, which is to be drawn from `generator` alone."""

    # --- Stable-Baselines3's way of asking, in the environment's full view ------------------------

    def env_kwargs(self, env_kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of the environment that it is scored in, of those it was trained with."""
        return full_view(env_kwargs)

    def predict(
        self,
        observation: dict[str, NDArray],
        state: Any = None,
        episode_start: NDArray | None = None,
        deterministic: bool = False,
    ) -> tuple[dict[str, NDArray], None]:
        """The likeliest answers: (B, T) of tapes, (B,) of tables; there is nothing to remember."""
        like = next(self.parameters())
        tensors = {name: torch.as_tensor(leaf).to(like) for name, leaf in observation.items()}
        with torch.no_grad():
            likeliest = self(tensors).logits.argmax(dim=-1).cpu().numpy()  # (T, B)
        return {"answer": likeliest[0] if self.setting.outputs is None else likeliest.T}, None

    @classmethod
    def from_run(cls, run: Run, device: str = "cpu") -> Self:
        """Load the model of a run from its last checkpoint.

        Raises:
            glimpse_envs.evaluation.runs.RunError: the run or its checkpoint is missing or damaged.
        """
        config: Any = read_config(run, cls.config_class)
        make: Any = cls  # subclasses take no read_size
        model: Self = make(MemorySetting.of(config.env_id, config.env_kwargs), config)
        load_weights(model, run)
        return model.to(device).eval()
