"""Soft glimpses one after another, read by the agents' own controller."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Annotated, Any, NamedTuple

import numpy as np
import torch
import tyro
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor

from agents.policy.core import State
from agents.policy.cores import make_core
from agents.policy.glimpse_network import GlimpseNetwork
from agents.policy.heads import make_head
from agents.policy.networks import (
    OF_AGENTS_ALONE,
    NetworkConfig,
    NetworkOptions,
    check_network,
    check_without_recall,
    core_name,
)
from agents.scoring.counted_scenes import SoftReader
from agents.training.command_line import without_options
from baselines.model import Answers, Observation, few_rows
from baselines.pictures.picture_model import PictureConfig, PictureModel
from baselines.setting import Setting
from glimpse_envs.evaluation.outlook import Outlook, Probabilities
from glimpse_envs.evaluation.record import Model
from glimpse_envs.task import Component


@dataclass(frozen=True)
@without_options(
    "word_units",
    "look_std",
    "learn_look_std",
    "skip",
    "recall_glimpses",
    "recall_units",
    *OF_AGENTS_ALONE,
)
class ReaderNetworkOptions(NetworkOptions):
    """Sizes and kinds of the networks, as for agents."""


@dataclass(frozen=True)
class ReaderConfig(PictureConfig):
    """Options of every reader of soft glimpses."""

    network: Annotated[NetworkConfig, tyro.conf.arg(constructor=ReaderNetworkOptions)] = field(
        default_factory=NetworkConfig
    )
    """Sizes and kinds of the networks, as for agents."""


class Followed(NamedTuple):
    """Of B rows whose scenes move."""

    core: State  # the core's state after the latest frame
    frames: NDArray[np.int64]  # (B,), how many were seen


class RecurrentReader(PictureModel, SoftReader):
    """Takes T soft glimpses of a picture, each chosen from the core's output; of a scene that moves
    one of each of its T frames, which `forward` is given together, and `predict` one by one.

    Glimpse network, core and answer head are the agents' own (`agents.policy.networks`). The first
    glimpse is chosen from the empty memory, so that its window is the same in every scene; an
    agent's first glimpse is at a random place. Where several answers are asked for in turn, each
    comes after as many soft glimpses as an agent takes for it.

    Args:
        setting: of the environment.
        config: of the training.
        glimpse_space: space of each part of the glimpses that `read` gives, by name.
        label: the way of reading, for tables.
        reference_kind: see `glimpse_envs.evaluation.record.Model`.
    """

    config: ReaderConfig

    def __init__(
        self,
        setting: Setting,
        config: ReaderConfig,
        glimpse_space: dict[str, spaces.Space],
        label: str,
        reference_kind: str = "",
    ) -> None:
        super().__init__(setting, config)
        in_turn = self.picture.answers > 1
        self.follows = self.picture.moves
        self.looks_per_answer = self.picture.budget // self.picture.answers if in_turn else 1
        glimpses = 1 if self.follows else self.picture.budget
        self.values_read = glimpses * prod(glimpse_space["glimpse"].shape or ())
        network = config.network
        check_network(network)
        check_without_recall(network)
        self.network, self.label, self.reference_kind = network, label, reference_kind
        remaining = spaces.Box(0.0, 1.0, (1,), np.float32)
        # A list, for a plain dict would be sorted.
        space = spaces.Dict([*glimpse_space.items(), ("remaining", remaining)])
        self.glimpse_network = GlimpseNetwork(space, network)
        self.core = make_core(network, network.glimpse_units)
        answer = Component(spaces.Discrete(setting.num_answers), taught=True)
        self.answer_head = make_head("answer", answer, network)

    @property
    def model(self) -> Model:
        name = f"Soft {self.label} {core_name(self.network)}"
        return Model(
            name,
            sees="everything",
            attention="soft",
            reference_kind=self.reference_kind,
            remembers_frames=self.follows,
        )

    def prepare(self, scene: Tensor) -> Any:
        """Whatever `read` needs of `scene` (B, C, H, W), computed once for each scene or frame."""
        return scene

    @abstractmethod
    def read(self, prepared: Any, core: Tensor) -> dict[str, Tensor]:
        """The next glimpse, name -> (B, ...), chosen from the core's output (B, units)."""

    @abstractmethod
    def weights(self, prepared: Any, core: Tensor) -> Tensor:
        """How much each pixel weighs in the glimpse that `read` gives, (B, H, W), at least 0."""

    def forward(self, observation: Observation) -> Answers:
        each = [logits for *_, logits in self._glimpses(observation["scene"])]
        return Answers(torch.stack([logits for logits in each if logits is not None]))

    def attention(
        self,
        observation: dict[str, NDArray],
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float32]:
        """How each inner glimpse shares itself out over the pixels, (B, T, H, W): those before the
        next answer."""
        with torch.no_grad():
            if self.follows:
                before = self._followed(len(observation["scene"]), state, episode_start)
                core = self.core.choosing(before.core)
                parts = [
                    self.weights(self.prepare(self.as_tensors(seen)["scene"]), core[rows])
                    for rows, seen in few_rows(observation)
                ]
                weights = [torch.cat(parts)]
            else:
                scene = self.as_tensors(observation)["scene"]
                weights = [self.weights(seen, core) for seen, core, _ in self._glimpses(scene)]
        maps = torch.stack(weights, dim=1).float()
        if self.picture.answers > 1:
            turns = self.turns(len(maps), state, episode_start)
            of_answers = maps.view(len(maps), -1, self.looks_per_answer, *maps.shape[2:])
            maps = of_answers[np.arange(len(maps)), turns]
        return (maps / maps.sum(dim=(-2, -1), keepdim=True)).cpu().numpy()

    def _glimpses(self, scene: Tensor) -> Iterator[tuple[Any, Tensor, Tensor | None]]:
        """Of each glimpse: what was prepared, the core's output that chose it, and the logits of
        the answer after it; None where no answer is due. A scene that moves is (B, T, C, H, W)."""
        budget, rows = self.picture.budget, len(scene)
        frames = scene.unbind(dim=1) if self.follows else ()
        prepared = None if self.follows else self.prepare(scene)
        state = self.core.initial_state(rows)
        for step in range(budget):
            prepared = self.prepare(frames[step]) if self.follows else prepared
            core = self.core.choosing(state)
            left = scene.new_full((rows, 1), (budget - step - 1) / budget)
            seen, state = self._look(prepared, left, state)
            due = (step + 1) % self.looks_per_answer == 0
            yield prepared, core, self.answer_head(state[0], seen).logits if due else None

    def _look(
        self, prepared: Any, remaining: Tensor, state: State
    ) -> tuple[dict[str, Tensor], State]:
        """One glimpse, name -> (B, ...), and the core's state after it; `remaining` is (B, 1)."""
        seen = {**self.read(prepared, self.core.choosing(state)), "remaining": remaining}
        return seen, self.core(self.glimpse_network(seen), state)

    # --- Playing: a scene that moves --------------------------------------------------------------

    def predict(
        self,
        observation: dict[str, NDArray],
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[dict[str, NDArray], Any]:
        """The likeliest answers (B,), and the state, `Followed` where the scene moves."""
        if not self.follows:
            return super().predict(observation, state, episode_start, deterministic)
        logits, followed = self._follow(observation, state, episode_start)
        return {"answer": logits.argmax(dim=-1).cpu().numpy()}, followed

    def outlook(
        self, observation: dict[str, NDArray], state: Any, episode_start: NDArray[np.bool_]
    ) -> Outlook | None:
        if not self.follows:
            return super().outlook(observation, state, episode_start)
        logits, _ = self._follow(observation, state, episode_start)
        shares = logits.double().softmax(dim=-1).cpu().numpy()
        return Outlook({"answer": Probabilities((shares,))})

    @torch.no_grad()
    def _follow(
        self,
        observation: dict[str, NDArray],
        state: Followed | None,
        episode_start: NDArray[np.bool_] | None,
    ) -> tuple[Tensor, Followed]:
        """The logits (B, n) of the answer to one more frame, and the state after it."""
        before = self._followed(len(observation["scene"]), state, episode_start)
        frames, budget = before.frames + 1, self.picture.budget
        logits, cores = [], []
        for rows, seen in few_rows(observation):
            scene = self.as_tensors(seen)["scene"]
            left = torch.as_tensor((budget - frames[rows]).clip(0) / budget).to(scene)[:, None]
            core: State = tuple(part[rows] for part in before.core)
            glimpse, core = self._look(self.prepare(scene), left, core)
            logits.append(self.answer_head(core[0], glimpse).logits)
            cores.append(core)
        joined = tuple(torch.cat(parts) for parts in zip(*cores, strict=True))
        return torch.cat(logits), Followed(joined, frames)

    def _followed(
        self, rows: int, state: Followed | None, episode_start: NDArray[np.bool_] | None
    ) -> Followed:
        """The state before a frame, which is the first of the rows that begin an episode."""
        if state is None:
            return Followed(self.core.initial_state(rows), np.zeros(rows, np.int64))
        begins = np.zeros(rows, np.bool_) if episode_start is None else np.asarray(episode_start)
        begins = begins.astype(np.bool_)
        if not begins.any():
            return state
        new = torch.as_tensor(begins, device=state.core[0].device)[:, None]
        first = self.core.initial_state(rows)
        core = tuple(
            torch.where(new, begun, kept) for begun, kept in zip(first, state.core, strict=True)
        )
        return Followed(core, np.where(begins, 0, state.frames))
