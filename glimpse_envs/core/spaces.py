"""Dict spaces whose parts keep their order, which Gymnasium would sort by name."""

from collections.abc import Mapping

from gymnasium import spaces
from gymnasium.vector.utils import batch_space


def ordered(parts: Mapping[str, spaces.Space]) -> spaces.Dict:
    """Return the Dict space of `parts`, name -> space, in this order."""
    return spaces.Dict(list(parts.items()))  # pairs: a dict would be sorted


def batched(space: spaces.Space, num_envs: int) -> spaces.Space:
    """Return the space of `num_envs` rows of `space`; a Dict's parts keep their order."""
    if not isinstance(space, spaces.Dict):
        return batch_space(space, num_envs)
    return ordered({name: batch_space(part, num_envs) for name, part in space.items()})
