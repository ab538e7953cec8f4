"""The part of an observation that is a context: a coarse view of the whole scene, shown with the
first glimpse and black later."""

from gymnasium import spaces
from torch import Tensor

REFUSED = (
    "observation['context'], a coarse view of the whole scene, is for looks alone, and this "
    "network would read it as part of every glimpse: take core='dram', or look_coordinates='cells' "
    "where a look is a place (look='continuous') and what is observed is one glimpse "
    "(history=False) of square windows of two scales or more; or make the environment with "
    "context=False"
)


def context_shape(space: spaces.Dict) -> tuple[int, ...] | None:
    """(C, h, w) of the context among observations; None without one."""
    context = space.spaces.get("context")
    if context is None or len(context.shape or ()) != 3:
        return None
    return context.shape


def without_context(space: spaces.Dict) -> spaces.Dict:
    """`space` without the context, if there is one."""
    if context_shape(space) is None:
        return space
    return spaces.Dict([(name, part) for name, part in space.spaces.items() if name != "context"])


def is_shown(context: Tensor) -> Tensor:
    """(B,) bool, whether each `context` (B, ...) is shown: not black."""
    return context.flatten(1).any(dim=1)
