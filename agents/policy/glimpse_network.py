"""The glimpse network: from the parts of an observation to one code."""

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.nn import functional as F

from agents.policy.context import REFUSED, context_shape
from agents.policy.encoders import check_picture, local_contrast, make_encoder
from agents.policy.glimpse_counts import COUNTS
from agents.policy.networks import NetworkConfig

WORD_UNITS = 32


class GlimpseNetwork(nn.Module):
    """What-and-where: glimpse and the rest of the observation are encoded separately and joined.

    From an observation, name -> (B, ...), to (B, glimpse_units). "What" is `glimpse`, in the full
    view `scene`, and without either the first part; "where" is all the rest, flattened. Parts of
    whole numbers are words, read by an embedding that all parts with as many words share. With
    DRAM's core the two codes are multiplied. A context is no part of a glimpse. With
    `count_glimpses` the counts belong to "where"; they need a memory, so that the network returns
    what is not yet joined, and `joined` is given both.

    Args:
        space: of the observations of a single row.
        config: sizes and kinds.

    Raises:
        ValueError: a part's space has no encoder, or is no picture and `config` needs one; or a
            context is observed.
    """

    def __init__(self, space: spaces.Dict, config: NetworkConfig) -> None:
        super().__init__()
        if context_shape(space) is not None:
            raise ValueError(REFUSED)
        self.word_units = config.word_units or WORD_UNITS
        parts = _encoded(space, config.leave_out)
        self.what_key = next((key for key in ("scene", "glimpse") if key in parts), parts[0])
        self.where_keys = [key for key in parts if key != self.what_key]
        self.vocabularies = {key: words for key in parts if (words := _words_in(key, space[key]))}
        self.embeddings = nn.ModuleDict(
            {
                str(words): nn.Embedding(words, self.word_units)
                for words in sorted(set(self.vocabularies.values()))
            }
        )
        shape = self._shape(space, self.what_key)
        self.contrast = config.contrast
        if config.contrast:
            check_picture(shape, "contrast=True", "leave it False")
            shape = (2 * shape[0], *shape[1:])
        self.what = make_encoder(shape, config.glimpse_network, config.what_units)
        where_size = sum(int(np.prod(self._shape(space, k))) for k in self.where_keys)
        told_where = where_size > 0 or config.count_glimpses
        self.multiplies = config.core == "dram" and told_where
        where_units = config.glimpse_units if self.multiplies else config.where_units
        self.where = nn.Linear(where_size, where_units) if where_size else None
        self.counts = nn.Linear(COUNTS, where_units) if config.count_glimpses else None
        self.what_units = config.what_units
        apart_size = where_units if told_where and not self.multiplies else 0
        self.join: nn.Module = nn.Linear(config.what_units + apart_size, config.glimpse_units)
        if config.normalise:
            self.join = nn.Sequential(self.join, nn.LayerNorm(config.glimpse_units))

    def _shape(self, space: spaces.Dict, key: str) -> tuple[int, ...]:
        """The shape of one part, words as their vectors."""
        shape = space[key].shape
        assert shape is not None
        return (*shape, self.word_units) if key in self.vocabularies else shape

    def _numbers(self, observation: dict[str, Tensor], key: str) -> Tensor:
        """One part (B, ...) as numbers: words (B, k) as their vectors (B, k, word_units)."""
        part = observation[key]
        if key not in self.vocabularies:
            return part
        return self.embeddings[str(self.vocabularies[key])](part.long())

    def forward(self, observation: dict[str, Tensor]) -> Tensor:
        apart = self._apart(observation)
        return apart if self.counts is not None else self.joined(apart)

    def _apart(self, observation: dict[str, Tensor]) -> Tensor:
        """What and, if there is any, where, not yet joined: (B, what_units + where's units)."""
        seen = self._numbers(observation, self.what_key)
        if self.contrast:
            seen = torch.cat([seen, local_contrast(seen)], dim=1)
        encoded = self.what(seen)
        if self.where is None:
            return encoded
        parts = [self._numbers(observation, key).flatten(1) for key in self.where_keys]
        return torch.cat([encoded, self.where(torch.cat(parts, dim=1))], dim=1)

    def joined(self, apart: Tensor, counts: Tensor | None = None) -> Tensor:
        """The code (B, glimpse_units) of what is `apart`, with `count_glimpses` of the `counts`
        (B, 2) too."""
        if self.counts is not None:
            assert counts is not None, "counts of glimpses are encoded here, and none were given"
            counted = self.counts(counts)
            what, where = apart[:, : self.what_units], apart[:, self.what_units :]
            where = counted if self.where is None else where + counted
            apart = torch.cat([what, where], dim=1)
        if self.multiplies:
            what, where = apart[:, : self.what_units], apart[:, self.what_units :]
            return F.relu(self.join(F.relu(what))) * F.relu(where)
        return F.relu(self.join(F.relu(apart)))


def _encoded(space: spaces.Dict, left_out: tuple[str, ...]) -> list[str]:
    """The parts of `space` that are encoded.

    Raises:
        ValueError: `left_out` names what is no part, or leaves nothing.
    """
    unknown = [name for name in left_out if name not in space.spaces]
    encoded = [name for name in space.spaces if name not in left_out]
    if unknown or not encoded:
        raise ValueError(
            f"leave_out={left_out} must name some, not all, of the parts that are encoded here: "
            f"{', '.join(space.spaces)}"
        )
    return encoded


def _words_in(key: str, space: spaces.Space) -> int:
    """The number of words of a part; 0 for a part of numbers.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(space, spaces.Discrete) and space.start == 0:
        return int(space.n)
    if isinstance(space, spaces.MultiDiscrete) and not space.start.any():
        return int(space.nvec.max())
    if isinstance(space, spaces.Box | spaces.MultiBinary) and space.shape:
        return 0
    raise ValueError(f"observation[{key!r}] has the space {space}, which no encoder reads")
