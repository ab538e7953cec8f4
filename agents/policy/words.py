"""Words that name what is looked at: their class is read from the present glimpse alone.

A memory learns which classes stand at which places, and then denies a class where it was never seen
in training. Here memory chooses among the other words, and whether a class is named; which class is
left to the fine scales of the glimpse, in which a place cannot be told. What names a class at one
place then names it at every place.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod

import torch
from gymnasium import spaces
from torch import Tensor, nn

from agents.policy.distributions import Categorical, Distribution
from agents.policy.encoders import local_contrast, make_encoder
from agents.policy.heads import Head, Observation
from agents.policy.networks import NetworkConfig
from agents.training.precision import autocast, present_precision, wide
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.evaluation.outlook import Probabilities
from glimpse_envs.task import Component


def join_words(others: Tensor, classes: Tensor) -> Tensor:
    """The log-probabilities (..., classes + others) of all words.

    Args:
        others: (..., 1 + others) logits, the first of which is for naming a class.
        classes: (..., classes) logits of which class is named.
    """
    others, classes = (wide(part).log_softmax(dim=-1) for part in (others, classes))
    return torch.cat([others[..., :1] + classes, others[..., 1:]], dim=-1)


@dataclass(frozen=True)
class Words(Distribution):
    """The next word. Few words name a class, and reading which one is expensive, so it is read only
    in the rows where it matters: for the likeliest word, where naming a class is likelier than each
    other word; for a given word, where that names a class. On a GPU it is read in all rows, since
    counting them would mean waiting for it.

    Args:
        others: (B, 1 + others) logits, the first of which is for naming a class.
        seen: (B, ...), what classes are read from.
        read: from rows of `seen` (b, ...) to the logits (b, classes) of which class is named.
        classes: number of words that name a class; they are the first of all words.
    """

    others: Tensor
    seen: Tensor
    read: Callable[[Tensor], Tensor]
    classes: int

    @property
    def every(self) -> Categorical:
        """The distribution over all words, with the classes of all rows read."""
        return Categorical(join_words(self.others, self.read(self.seen)))

    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        return self.every.sample(generator)

    def mode(self) -> Tensor:
        if self.others.is_cuda:
            return self.every.mode()
        others = wide(self.others.detach()).log_softmax(dim=-1)
        likeliest, which = others[:, 1:].max(dim=-1)
        # A class is no likelier than naming one is.
        rows = (others[:, 0] >= likeliest).nonzero()[:, 0]
        with torch.no_grad():
            named, kind = wide(self.read(self.seen[rows])).log_softmax(dim=-1).max(dim=-1)
        is_named = others[rows, 0] + named >= likeliest[rows]
        word = which + self.classes
        return word.index_copy(0, rows, torch.where(is_named, kind, word[rows]))

    def log_prob(self, action: Tensor) -> Tensor:
        if self.others.is_cuda:
            return self.every.log_prob(action)
        others = wide(self.others).log_softmax(dim=-1)
        column = (action - self.classes + 1).clamp(min=0)
        found = others.gather(-1, column[:, None])[:, 0]
        rows = (action < self.classes).nonzero()[:, 0]
        named = Categorical(wide(self.read(self.seen[rows])))
        return found.index_add(0, rows, named.log_prob(action[rows]))

    def entropy(self) -> Tensor:
        return self.every.entropy()

    def outlook(self) -> Probabilities:
        return self.every.outlook()


class WordsHead(Head):
    """The next word, of which the first `classes` name what is looked at.

    Args:
        units: of the core's output.
        words: number of all words.
        classes: number of words that are read from the glimpse.
        values: (K C, g, g), of the scales that they are read from.
        config: its `class_network` and `class_units`, or those of glimpses.
    """

    def __init__(
        self,
        units: int,
        words: int,
        classes: int,
        values: tuple[int, int, int],
        config: NetworkConfig,
    ) -> None:
        super().__init__()
        kind = config.class_network or config.glimpse_network
        hidden = config.class_units or config.what_units
        self.planes, self.words = values[0], classes
        self.others = nn.Linear(units, 1 + words - classes)
        shape = (2 * values[0], *values[1:])
        first: list[nn.Module]
        if kind == "dense":
            first = [nn.Linear(prod(shape), hidden), nn.ReLU(), nn.Linear(hidden, hidden)]
        else:
            first = [nn.Unflatten(1, shape), make_encoder(shape, kind, hidden)]
        self.classes = nn.Sequential(*first, nn.ReLU(), nn.Linear(hidden, classes))

    def forward(self, core: Tensor, observation: Observation, added: Tensor | None = None) -> Words:
        glimpse = observation["glimpse"][:, : self.planes]
        read = partial(self.read, precision=present_precision(core.device))
        return Words(self.others(core), glimpse, read, self.words)

    def read(self, glimpse: Tensor, precision: torch.dtype) -> Tensor:
        """The logits (b, classes) of the class that glimpses (b, K C, g, g) show, by products of
        `precision`."""
        with autocast(glimpse.device, precision):
            seen = torch.cat([glimpse, local_contrast(glimpse)], dim=1).flatten(1)
            logits: Tensor = self.classes(seen)
        return logits


def make_words_head(
    space: spaces.Dict,
    component: Component,
    view: PictureView,
    config: NetworkConfig,
    units: int,
) -> WordsHead | None:
    """The head of `component` where it has words for classes, and observations of `space` show one
    glimpse to read them from; else None."""
    if not component.classes or not config.class_scales:
        return None
    shape = space["glimpse"].shape if "glimpse" in space.spaces else None
    if shape is None or len(shape) != 3:
        return None
    assert isinstance(component.space, spaces.Discrete), "words are choices of one"
    planes = min(config.class_scales * view.scene_shape[0], shape[0])
    words = int(component.space.n)
    return WordsHead(units, words, component.classes, (planes, *shape[1:]), config)
