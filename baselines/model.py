"""The base of all baselines: each sees everything that is hidden, and answers from that."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.training.checkpoints import load_weights
from agents.training.config import TrainingConfig
from agents.training.resuming import read_config
from baselines.setting import Setting
from glimpse_envs.evaluation.policy import Policy
from glimpse_envs.evaluation.record import Model
from glimpse_envs.evaluation.runs import Run

Observation = dict[str, Tensor]
"""Name -> (B, ...): `scene`, and the question where one is asked."""

AT_ONCE = 2**23
"""Most numbers that the rows which are played at once observe: activations take many times the
memory of a large scene."""


@dataclass(frozen=True)
class BaselineConfig(TrainingConfig):
    """Options of every baseline."""

    supervise: Literal["scored", "all"] = "scored"
    """Answers that learn from the label. scored: those that the environment pays, as for agents;
    all: those after every soft glimpse."""


class Answers(NamedTuple):
    """Answers to B rows, and the sampled reads on the way to them."""

    logits: Tensor  # (T, B, n), after 1 ... T inner glimpses or steps
    log_probs: Tensor | None = None  # (R, B) of R sampled reads, in nats; None where there are none
    values: Tensor | None = None  # (R, B), the baseline that REINFORCE subtracts
    losses: Mapping[str, Tensor] = {}  # further ones, name -> (), such as a bonus for entropy


class Baseline(nn.Module, Policy):
    """Answers from everything that one environment hides.

    Args:
        setting: of the environment.
        config: of the training.

    Attributes:
        config_class: the class of `config`, by which a run is read back.
        follows: whether a scene that moves is seen frame by frame and remembered, so that `forward`
            is given all T frames (B, T, C, H, W) of an episode.

    Raises:
        ValueError: a size or kind in `config` is invalid, or the setting is of another family.
    """

    config_class: ClassVar[type[BaselineConfig]]
    follows: bool = False

    def __init__(self, setting: Setting, config: BaselineConfig) -> None:
        super().__init__()
        self.setting, self.config = setting, config

    @property
    @abstractmethod
    def model(self) -> Model:
        """Description of the model for records."""

    @abstractmethod
    def forward(self, observation: Observation) -> Answers:
        """Answers to the whole `observation`."""

    def set_progress(self, progress: float, generator: torch.Generator) -> None:
        """Follow the training's `progress` in [0, 1]; called before each of its batches.

        All noise of the training is drawn from `generator`, a CPU generator.
        """

    def likeliest(self, observation: dict[str, NDArray]) -> NDArray[np.int64]:
        """The likeliest answers (T, B) after each inner glimpse or step."""
        return self.played_logits(observation).argmax(dim=-1).cpu().numpy()

    @torch.no_grad()
    def played_logits(self, observation: dict[str, NDArray]) -> Tensor:
        """The logits (T, B, n) without gradients, of a few rows at a time where scenes are
        large."""
        seen = [part for _, part in few_rows(observation)]
        return torch.cat([self(self.as_tensors(part)).logits for part in seen], dim=1)

    def as_tensors(self, observation: dict[str, NDArray]) -> Observation:
        """The observation with the dtype and on the device of the weights."""
        like = next(self.parameters())
        return {name: torch.as_tensor(leaf).to(like) for name, leaf in observation.items()}

    # --- Stable-Baselines3's interface, in the environment's full view ----------------------------

    view = "full"

    def predict(
        self,
        observation: dict[str, NDArray],
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[dict[str, NDArray], None]:
        """The likeliest answers, (B, T) on tapes and (B,) elsewhere, and no state."""
        answers = self.likeliest(observation)
        return {"answer": answers.T if self.setting.answers_in_sequence else answers[-1]}, None

    @classmethod
    def from_run(cls, run: Run, device: str = "cpu") -> Self:
        """Load the model of a run from its last checkpoint, in eval mode.

        Raises:
            glimpse_envs.evaluation.run_errors.RunError: the run or its checkpoint is missing or
                damaged.
        """
        config = read_config(run, cls.config_class)
        model = cls(Setting.of(config.env_id, config.env_kwargs), config)
        load_weights(model, run)
        return model.to(device).eval()


def few_rows(
    observation: dict[str, NDArray],
) -> Iterator[tuple[slice, dict[str, NDArray]]]:
    """Split an observation, name -> (B, ...), into rows that are played at once: which they are,
    and what they see, name -> (b, ...)."""
    rows = len(next(iter(observation.values())))
    numbers = sum(leaf.size for leaf in observation.values())
    most = max(1, AT_ONCE * rows // numbers)
    for start in range(0, rows, most):
        part = slice(start, start + most)
        yield part, {name: leaf[part] for name, leaf in observation.items()}
