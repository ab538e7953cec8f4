"""What a policy predicts at an observation, as plain data for people who watch it."""

from dataclasses import dataclass, field

from glimpse_envs.core.arrays import Floats


@dataclass(frozen=True)
class Gaussian:
    """Independent normals over a choice that is a place or a move.

    Attributes:
        mean, std: (n, D) each, in the units of the action.
    """

    mean: Floats
    std: Floats


@dataclass(frozen=True)
class Probabilities:
    """Probabilities of a choice, or of several made at once, such as moves of heads or bits.

    Attributes:
        parts: (n, k_i) each, rows adding up to 1.
    """

    parts: tuple[Floats, ...]


@dataclass(frozen=True)
class Places(Probabilities):
    """Probabilities of a choice among k places to look at.

    Attributes:
        places: (n, k, 2) in look coordinates, (x, y).
    """

    places: Floats


@dataclass(frozen=True)
class Outlook:
    """Distributions over the next action, and the value.

    Attributes:
        choices: component of the action -> its distribution, of n rows.
        value: (n,) the rewards still expected, as the policy's training counts them; None where it
            does not estimate them.
    """

    choices: dict[str, Gaussian | Probabilities] = field(default_factory=dict)
    value: Floats | None = None
