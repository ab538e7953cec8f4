"""Soft attention that describes a picture word by word.

Show, Attend and Tell (Xu et al., ICML 2015), with deterministic soft attention (section 4.2): a
convolutional network makes an annotation vector of each cell of a grid; before each word an LSTM
weighs them all by an additive score, gates their sum (section 4.2.1) and writes the word from the
one before, its state and that sum (equation 7, the deep output). The doubly stochastic penalty
(equation 14) draws the attention that a cell is paid over all words towards 1.

Departures: the convolutional network is small and learned along with the rest, not pretrained; an
annotation also holds its cell's place, of which the paper's know from their wide receptive fields;
and the penalty's sum over words ends with each description's last word. Which class a word names is
read, unless `classes_in_view` is False, from what attention reads alone, as by the hard agent (see
`agents.policy.words`), and `blind_memory` hides classes from the LSTM (`agents.policy.blindness`).
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from agents.policy.blindness import lit_parts, without_classes
from agents.policy.encoders import channels_last
from agents.policy.words import join_words
from agents.training.checks import check_counts, check_not_negative
from agents.training.command_line import without_options
from baselines.attention import attend
from baselines.model import Answers, Baseline, Observation
from baselines.pictures.full_view import residual_stages
from baselines.pictures.picture_model import PictureConfig
from baselines.setting import Setting
from glimpse_envs.evaluation.outlook import Outlook, Probabilities
from glimpse_envs.evaluation.record import Model


@dataclass(frozen=True)
@without_options("supervise")  # every word is
class CaptionerConfig(PictureConfig):
    """Train a soft captioner."""

    algorithm: ClassVar[str] = "captioner"

    env_id: str = "Glimpse/DescribeScene-v0"
    """Id of the environment, which asks for a description word by word."""
    channels: int = 16
    """Number of channels of the first convolution; an annotation has four times as many features.
    Each cell of the grid covers 8x8 pixels."""
    units: int = 128
    """Number of units of the LSTM."""
    score_units: int = 64
    """Number of units of the additive score."""
    word_units: int = 32
    """Number of entries of a word's embedding."""
    classes_in_view: bool = True
    """Read which class a word names from the annotations alone, without their places; otherwise
    from the LSTM too, like all words."""
    blind_memory: bool = False
    """Show the LSTM and the attention's score only which places are lit, not the features there,
    and of a word that names a class only that one was named, like the hard agent's
    --network.blind-memory. Needs --classes-in-view."""
    doubly_stochastic: float = 0.01
    """Weight of the doubly stochastic penalty, a mean over sentences: over the cells, the sum of (1
    - attention over all words) squared; at least 0."""


class CaptionerState(NamedTuple):
    """Of B rows that describe a scene of n cells."""

    values: Tensor  # (B, n, D), annotations, of which the last columns are what memory sees
    keys: Tensor  # (B, n, K), of the score
    hidden: Tensor  # (B, units), of the LSTM, as below
    cell: Tensor


class Captioner(Baseline):
    """Writes a word a step; at each, soft attention reads all cells of the scene.

    Raises:
        ValueError: a size in `config` cannot be, or the setting asks for no description.
    """

    config_class = CaptionerConfig
    config: CaptionerConfig

    def __init__(self, setting: Setting, config: CaptionerConfig) -> None:
        super().__init__(setting, config)
        check_counts(config, "channels", "units", "score_units", "word_units")
        check_not_negative(config, "doubly_stochastic")
        if config.blind_memory and not config.classes_in_view:
            raise ValueError(
                "blind_memory=True needs classes_in_view=True: what memory does not see must be "
                "read from the annotations"
            )
        inputs, height, width = setting.described.view.scene_shape
        self.side = height, width
        features, units, words = 4 * config.channels, config.units, setting.num_answers
        classes = setting.classes if config.classes_in_view else 0
        # Where classes are hidden, the last three columns: a cell's place, and whether it is lit.
        self.hidden_classes = classes if config.blind_memory else 0
        known = 3 if self.hidden_classes else features + 2
        self.encode = nn.Sequential(*residual_stages(inputs, config.channels))
        self.grid = -(-height // 8), -(-width // 8)
        self.register_buffer("places", _places(*self.grid), persistent=False)
        self.known = slice(-known, None)
        self.key = nn.Linear(known, config.score_units, bias=False)
        self.query = nn.Linear(units, config.score_units)
        self.read = nn.Linear(config.score_units, 1, bias=False)
        self.first = nn.Linear(known, 2 * units)
        self.gate = nn.Linear(units, 1)
        kinds = words - self.hidden_classes + (self.hidden_classes > 0)
        self.embed = nn.Linear(kinds, config.word_units, bias=False)
        self.core = nn.LSTMCell(config.word_units + known, units)
        self.deep = nn.Linear(units + known, config.word_units)
        self.word = nn.Linear(config.word_units, words - classes + (classes > 0))
        self.classes = nn.Linear(features, classes) if classes else None
        self.annotated = slice(0, features)

    places: Tensor  # (n, 2), middles of the cells

    @property
    def model(self) -> Model:
        name = "Soft captioner LSTM" + (", blind memory" if self.hidden_classes else "")
        return Model(name, sees="everything", attention="soft")

    def forward(self, observation: Observation) -> Answers:
        """Answers about `scene` (B, C, H, W), each after the words of `last_action` (R B, T,
        words), R sentences a scene: the first of all scenes, then the second. `asked` (R B, T) is 0
        beyond the last word."""
        last = self.embedded(observation["last_action"].transpose(0, 1))  # (T, R B, word_units)
        scene = observation["scene"]
        state, outputs, found, weights = self.look_at(scene), [], [], []
        sentences = last.shape[1] // len(scene)
        state = CaptionerState(*(part.repeat(sentences, *[1] * (part.ndim - 1)) for part in state))
        for word in last:
            state, seen, attention = self.step(state, word)
            outputs.append(state.hidden)
            found.append(seen)
            weights.append(attention)
        losses = {}
        if self.config.doubly_stochastic:
            penalty = doubly_stochastic(torch.stack(weights), observation["asked"].T)
            losses["doubly_stochastic"] = self.config.doubly_stochastic * penalty
        logits = self.write(last, torch.stack(outputs), torch.stack(found))
        return Answers(logits, losses=losses)

    def embedded(self, words: Tensor) -> Tensor:
        """One-hot `words` (..., words) as their vectors (..., word_units)."""
        if self.hidden_classes:
            words = without_classes(words, self.hidden_classes)
        vectors: Tensor = self.embed(words)
        return vectors

    def look_at(self, scene: Tensor) -> CaptionerState:
        """The state before the first word about `scene` (B, C, H, W)."""
        # Convolutions are faster where a pixel's channels lie side by side.
        seen = self.encode(channels_last(scene))
        seen = seen.flatten(2).mT  # (B, n, features)
        columns = [seen, self.places.to(seen).expand(len(seen), -1, -1)]
        if self.hidden_classes:
            columns.append(lit_parts(scene, self.grid).to(seen).flatten(2).mT)
        values = torch.cat(columns, dim=2)
        known = values[..., self.known]
        hidden, cell = self.first(known.mean(dim=1)).tanh().chunk(2, dim=1)
        return CaptionerState(values, self.key(known), hidden, cell)

    def step(self, state: CaptionerState, last: Tensor) -> tuple[CaptionerState, Tensor, Tensor]:
        """Read before the word that comes after the embedded one, `last` (B, word_units).

        Returns:
            the next state, what is read (B, D), and the attention (B, n) to each cell.
        """
        values, keys, hidden, cell = state

        def score(query: Tensor, keys: Tensor) -> Tensor:
            scores: Tensor = self.read((query[:, None] + keys).tanh())[..., 0]
            return scores

        seen, weights = attend(self.query(hidden), keys, values, score=score, need_weights=True)
        seen = self.gate(hidden).sigmoid() * seen
        hidden, cell = self.core(torch.cat([last, seen[:, self.known]], dim=1), (hidden, cell))
        return CaptionerState(values, keys, hidden, cell), seen, weights

    def write(self, last: Tensor, output: Tensor, found: Tensor) -> Tensor:
        """Logits (..., words) of the word after the embedded one, `last` (..., word_units), from
        the LSTM's `output` (..., units) and from what is read, `found` (..., D)."""
        known = torch.cat([output, found[..., self.known]], dim=-1)
        logits: Tensor = self.word(last + self.deep(known))
        if self.classes is None:
            return logits
        return join_words(logits, self.classes(found[..., self.annotated]))

    # --- Playing: its own words -------------------------------------------------------------------

    def predict(
        self,
        observation: dict[str, NDArray],
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[dict[str, NDArray], Any]:
        """The likeliest next word (B,) after `last_action`, and the state (`CaptionerState`)."""
        state, logits, _ = self._play(observation, state, episode_start)
        return {"answer": logits.argmax(dim=1).cpu().numpy()}, state

    def outlook(
        self, observation: dict[str, NDArray], state: Any, episode_start: NDArray[np.bool_]
    ) -> Outlook:
        """The probabilities of the next word."""
        _, logits, _ = self._play(observation, state, episode_start)
        return Outlook({"answer": Probabilities((logits.double().softmax(dim=1).cpu().numpy(),))})

    def attention(
        self,
        observation: dict[str, NDArray],
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float32]:
        """How the next word's attention shares itself out over the pixels, (B, 1, H, W)."""
        _, _, weights = self._play(observation, state, episode_start)
        maps = weights.float().view(-1, 1, *self.grid)
        maps = F.interpolate(maps, self.side, mode="bilinear", align_corners=False)
        return (maps / maps.sum(dim=(-2, -1), keepdim=True)).cpu().numpy()

    @torch.no_grad()
    def _play(
        self, observation: dict[str, NDArray], state: Any, start: NDArray[np.bool_] | None
    ) -> tuple[CaptionerState, Tensor, Tensor]:
        """The next state, logits (B, words) and attention (B, n); rows of new episodes begin."""
        seen = self.as_tensors(observation)
        if state is None:
            state = self.look_at(seen["scene"])
        elif start is not None and start.any():
            new = torch.as_tensor(start).to(state.hidden.device).nonzero()[:, 0]
            fresh = self.look_at(seen["scene"][new])
            pairs = zip(state, fresh, strict=True)
            state = CaptionerState(*(old.index_copy(0, new, part) for old, part in pairs))
        last = self.embedded(seen["last_action"])
        state, read, weights = self.step(state, last)
        return state, self.write(last, state.hidden, read), weights


def doubly_stochastic(weights: Tensor, asked: Tensor) -> Tensor:
    """The mean over sentences of sum_i (1 - sum_t alpha_ti)^2 (Xu et al. 2015, equation 14), ().

    Args:
        weights: (T, B, n), alpha, each row adding up to 1 over the n cells.
        asked: (T, B), 1 at the words of a description and 0 beyond them, which do not count.
    """
    paid = (weights * asked[..., None]).sum(dim=0)  # (B, n)
    return (1 - paid).square().sum(dim=1).mean()


def _places(height: int, width: int) -> Tensor:
    """The middles (n, 2), (x, y) in [-1, 1], of a grid's cells, row by row."""
    down, across = ((torch.arange(side) + 0.5) * 2 / side - 1 for side in (height, width))
    return torch.cartesian_prod(down, across).flip(1)
