"""Soft glimpses one after another, read by the agents' own controller."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Annotated, Any

import numpy as np
import torch
import tyro
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor

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
from baselines.model import Answers, Observation
from baselines.pictures.picture_model import PictureConfig, PictureModel
from baselines.setting import Setting
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


class RecurrentReader(PictureModel, SoftReader):
    """Takes T soft glimpses of a picture, each chosen from the core's output.

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
        self.looks_per_answer = self.picture.budget // self.picture.answers if in_turn else 1
        self.values_read = self.picture.budget * prod(glimpse_space["glimpse"].shape or ())
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
        return Model(name, sees="everything", attention="soft", reference_kind=self.reference_kind)

    def prepare(self, scene: Tensor) -> Any:
        """Whatever `read` needs of `scene` (B, C, H, W), computed once an episode."""
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
            glimpses = self._glimpses(self.as_tensors(observation)["scene"])
            weights = [self.weights(prepared, core) for prepared, core, _ in glimpses]
        maps = torch.stack(weights, dim=1).float()
        if self.picture.answers > 1:
            turns = self.turns(len(maps), state, episode_start)
            of_answers = maps.view(len(maps), -1, self.looks_per_answer, *maps.shape[2:])
            maps = of_answers[np.arange(len(maps)), turns]
        return (maps / maps.sum(dim=(-2, -1), keepdim=True)).cpu().numpy()

    def _glimpses(self, scene: Tensor) -> Iterator[tuple[Any, Tensor, Tensor | None]]:
        """Of each glimpse: what was prepared, the core's output that chose it, and the logits of
        the answer after it; None where no answer is due."""
        budget, rows = self.picture.budget, len(scene)
        prepared, state = self.prepare(scene), self.core.initial_state(rows)
        for step in range(budget):
            core = self.core.choosing(state)
            seen = self.read(prepared, core)
            seen["remaining"] = scene.new_full((rows, 1), (budget - step - 1) / budget)
            state = self.core(self.glimpse_network(seen), state)
            due = (step + 1) % self.looks_per_answer == 0
            yield prepared, core, self.answer_head(state[0], seen).logits if due else None
