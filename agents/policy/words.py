"""Words that name what is looked at: their class is read from the present glimpse alone.

A memory learns which classes stand at which places, and then denies a class where it was never seen
in training. Here memory chooses among the other words, and whether a class is named; which class is
left to the fine scales of the glimpse, in which a place cannot be told. What names a class at one
place then names it at every place.
"""

from math import prod

import torch
from gymnasium import spaces
from torch import Tensor, nn

from agents.policy.distributions import Categorical
from agents.policy.glimpse_network import local_contrast, make_encoder
from agents.policy.heads import Head, Observation
from agents.policy.networks import NetworkConfig
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.task import Component


def join_words(others: Tensor, classes: Tensor) -> Tensor:
    """The log-probabilities (..., classes + others) of all words.

    Args:
        others: (..., 1 + others) logits, the first of which is for naming a class.
        classes: (..., classes) logits of which class is named.
    """
    wide = torch.promote_types(others.dtype, torch.float32)
    others, classes = (part.to(wide).log_softmax(dim=-1) for part in (others, classes))
    return torch.cat([others[..., :1] + classes, others[..., 1:]], dim=-1)


class WordsHead(Head):
    """The next word, of which the first `classes` name what is looked at.

    Args:
        units: of the core's output.
        words: number of all words.
        classes: number of words that are read from the glimpse.
        values: (K C, g, g), of the scales that they are read from.
        config: sizes, and the kind of encoder that reads classes: two dense layers, or that of
            glimpses.
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
        self.planes, hidden = values[0], config.what_units
        self.others = nn.Linear(units, 1 + words - classes)
        shape = (2 * values[0], *values[1:])
        first: list[nn.Module]
        if config.glimpse_network == "dense":
            first = [nn.Linear(prod(shape), hidden), nn.ReLU(), nn.Linear(hidden, hidden)]
        else:
            first = [nn.Unflatten(1, shape), make_encoder(shape, config)]
        self.classes = nn.Sequential(*first, nn.ReLU(), nn.Linear(hidden, classes))

    def forward(
        self, core: Tensor, observation: Observation, added: Tensor | None = None
    ) -> Categorical:
        glimpse = observation["glimpse"][:, : self.planes]
        seen = torch.cat([glimpse, local_contrast(glimpse)], dim=1).flatten(1)
        return Categorical(join_words(self.others(core), self.classes(seen)))


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
