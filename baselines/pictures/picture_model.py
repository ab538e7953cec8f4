"""Baselines that classify pictures."""

from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from agents.scoring.counted_scenes import SceneReader
from agents.training.command_line import without_options
from baselines.model import Answers, Baseline, BaselineConfig
from baselines.setting import Setting
from glimpse_envs.evaluation.outlook import Outlook, Probabilities


@dataclass(frozen=True)
@without_options("curriculum", "solve_share")
class PictureConfig(BaselineConfig):
    """Options of every baseline of pictures, which have no levels for a curriculum."""


class InTurn(NamedTuple):
    """Of B rows whose pictures are answered in several steps."""

    answers: NDArray[np.int64]  # (B, T), from the first look at each picture
    given: NDArray[np.int64]  # (B,), how many of them were given


class PictureModel(Baseline, SceneReader):
    """Classifies a picture, once after each of the glimpses that it takes inside itself, and a
    picture that moves at every step. Where several answers are asked for in turn, `forward`
    gives them all (T, B, n), and an episode gives them step by step.

    Raises:
        ValueError: the setting hides no picture, or asks for a description.
    """

    def __init__(self, setting: Setting, config: BaselineConfig) -> None:
        super().__init__(setting, config)
        self.picture = setting.picture
        self.values_read = prod(self.picture.view.scene_shape)

    @property
    def outputs(self) -> int:
        """The number of outputs of a network whose last layer gives all answers at once."""
        return self.picture.answers * self.setting.num_answers

    def answers_of(self, outputs: Tensor) -> Answers:
        """The answers that a last layer gives at once, (B, `outputs`)."""
        return Answers(outputs.view(len(outputs), self.picture.answers, -1).transpose(0, 1))

    def answers(self, observation: dict[str, NDArray]) -> NDArray | None:
        """The likeliest answers (B, T) after each inner glimpse, of which `predict` gives the last;
        None where an episode has an answer of `predict` at each of several steps."""
        if self.picture.moves or self.picture.answers > 1:
            return None
        return self.likeliest(observation).T

    def beliefs(self, observation: dict[str, NDArray]) -> NDArray[np.float32] | None:
        """The probabilities of the answers (B, T, n) after each inner glimpse; None where they
        depend on earlier frames, too."""
        if self.follows:
            return None
        logits = self.played_logits(observation).float()  # (T, B, n)
        return logits.softmax(dim=-1).transpose(0, 1).cpu().numpy()

    # --- Playing: answers in turn -----------------------------------------------------------------

    def predict(
        self,
        observation: dict[str, NDArray],
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[dict[str, NDArray], Any]:
        """The likeliest answers (B,), and the state, `InTurn` where several are asked for."""
        if self.picture.answers == 1:
            return super().predict(observation, state, episode_start, deterministic)
        turns = self.turns(len(observation["scene"]), state, episode_start)
        new, answers = turns == 0, np.zeros((len(turns), self.picture.answers), np.int64)
        if state is not None:
            answers[~new] = state.answers[~new]
        if new.any():
            seen = {name: leaf[new] for name, leaf in observation.items()}
            answers[new] = self.likeliest(seen).T
        given = answers[np.arange(len(turns)), turns]
        return {"answer": given}, InTurn(answers, turns + 1)

    def outlook(
        self, observation: dict[str, NDArray], state: Any, episode_start: NDArray[np.bool_]
    ) -> Outlook | None:
        if self.picture.answers == 1:
            return None
        turns = self.turns(len(observation["scene"]), state, episode_start)
        beliefs = self.beliefs(observation)
        assert beliefs is not None
        shares = beliefs[np.arange(len(turns)), turns].astype(np.float64)
        return Outlook({"answer": Probabilities((shares,))})

    def turns(
        self, rows: int, state: InTurn | None, episode_start: NDArray[np.bool_] | None
    ) -> NDArray[np.int64]:
        """The number (rows,) of the answer, from 0 on, whose turn it is."""
        if state is None:
            return np.zeros(rows, np.int64)
        turns = np.minimum(state.given, self.picture.answers - 1)
        return turns if episode_start is None else np.where(episode_start, 0, turns)
