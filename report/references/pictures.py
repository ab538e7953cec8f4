"""Published errors, and which of our models each is to be held against."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

Gaze = Literal["learned", "random", "soft", "full"]
"""How a model looks: at glimpses of its own choice or at random ones; softly, at every pixel, by
differentiable glimpses; or at the whole scene at once."""
Scalar = str | int | float | bool

# Arguments that change how an agent is trained or dealt scenes, not what the task is. A "view" that
# is not the agents' own shows in the model's name.
NEUTRAL_KWARGS = frozenset(
    {"budget", "split", "copies", "autoreset_mode", "render_mode", "reward", "history", "view"}
)

# Words in a model's name that put it outside the references of every gaze.
SEES_MORE = frozenset({"oracle", "raster", "context"})

RAM = "RAM, Mnih et al., NIPS 2014"
DRAW = "DRAW, Gregor et al., ICML 2015"
TFRAM = "slundqui/tfRAM"


@dataclass(frozen=True)
class Reference:
    """Test errors in percent that others report for one environment, budget and kind of gaze."""

    env_id: str
    glimpses: int
    """The budget; 1 where the whole scene is seen at once."""
    paper: float | None
    """None where no paper has one."""
    best_public: float | None
    """The best public number with the glimpse budget kept; None where there is none."""
    source: str
    setting: Mapping[str, Scalar]
    """The environment's arguments as in the source."""
    gaze: Gaze = "learned"
    kind: str = ""
    """A word that the model's name must have, such as "conv"; "" takes every name."""
    from_memory: bool = False
    """The paper's number was not checked against the paper: shown with a dagger, no claim."""

    @property
    def model(self) -> str:
        """The kind of model that it is about, for people."""
        return {
            "learned": "learned glimpses",
            "random": "random glimpses",
            "soft": f"soft {self.kind}",
            "full": f"full view {self.kind}",
        }[self.gaze].strip()

    @property
    def budget(self) -> str:
        """The glimpse budget, for people."""
        return "whole" if self.gaze == "full" else str(self.glimpses)

    def fits(self, env_id: str, env_kwargs: Mapping[str, Any], model: str, glimpses: int) -> bool:
        """Whether a model's result is like with like: same task, budget and kind of gaze."""
        return (
            (env_id, glimpses) == (self.env_id, self.glimpses)
            and gaze_of(model) == self.gaze
            and (not self.kind or self.kind.lower() in words_of(model))
            and all(
                name in NEUTRAL_KWARGS or (name in self.setting and self.setting[name] == value)
                for name, value in env_kwargs.items()
            )
        )


def words_of(model: str) -> set[str]:
    """The words of a model's name, in lower case."""
    return set(re.split(r"[^a-z0-9]+", model.lower()))


def gaze_of(model: str) -> Gaze | None:
    """How a model of this name looks; None where it is told more than its gaze shows."""
    words = words_of(model)
    if words & SEES_MORE:
        return None
    if "full" in words:
        return "full"
    if "soft" in words:
        return "soft"
    return "random" if "random" in words else "learned"


def sees_whole(model: str) -> bool:
    """Whether a model of this name has no glimpse budget, because it sees all at once."""
    return gaze_of(model) == "full"


def _setting(**kwargs: Scalar) -> Mapping[str, Scalar]:
    return MappingProxyType({"look": "continuous", "stop": False, "glimpse_cost": 0.0, **kwargs})


_CENTRED = _setting(source="mnist", scene_size=28, clutter=0, glimpse_size=8, scales=1)
_TRANSLATED = _setting(source="mnist", scene_size=60, clutter=0, glimpse_size=12, scales=3)
_CLUTTERED = _setting(
    source="mnist", scene_size=60, clutter=4, clutter_size=8, glimpse_size=12, scales=3
)
_LARGE = _setting(
    source="mnist", scene_size=100, clutter=8, clutter_size=8, glimpse_size=12, scales=4
)
_CIRCLE_SQUARE = MappingProxyType(
    {
        **_setting(scene_size=28, glimpse_size=5, scales=1, inside=True, max_move=0.2),
        "look": "relative",
    }
)

REFERENCES = (
    Reference(
        "Glimpse/ClutteredMNIST-v0", 8, 4.04, 2.63, f"{RAM} (one source); {TFRAM}", _CLUTTERED
    ),
    Reference(
        "Glimpse/ClutteredMNIST-v0", 8, 14.4, None, f"{RAM}, random glimpses (one source)",
        _CLUTTERED, gaze="random",
    ),
    Reference(
        "Glimpse/ClutteredMNIST-v0", 6, 4.08, 3.33, f"{RAM} (one source); {TFRAM}", _CLUTTERED
    ),
    Reference(
        "Glimpse/ClutteredMNIST-v0", 4, 4.96, 5.15, f"{RAM} (one source); {TFRAM}", _CLUTTERED
    ),
    Reference(
        "Glimpse/ClutteredMNIST-v0", 1, 8.09, None, f"{RAM}, convolutional network (one source)",
        _CLUTTERED, gaze="full", kind="conv",
    ),
    Reference(
        "Glimpse/ClutteredMNIST-v0", 1, 11.96, None, f"{RAM}, two layers of 256 (one source)",
        _CLUTTERED, gaze="full", kind="dense",
    ),
    Reference(
        "Glimpse/CenteredMNIST-v0", 6, 1.12, 1.21,
        f"{RAM}; kevinzakka/recurrent-visual-attention", _CENTRED,
    ),
    Reference("Glimpse/CenteredMNIST-v0", 7, 1.07, 0.80, f"{RAM}; MRAM (2025)", _CENTRED),
    Reference("Glimpse/TranslatedMNIST-v0", 8, 1.20, 0.94, f"{RAM}; {TFRAM}", _TRANSLATED),
    Reference(
        "Glimpse/ClutteredMNISTLarge-v0", 8, 8.11, 5.9, f"{RAM}; {TFRAM}", _LARGE, from_memory=True
    ),
    Reference(
        "Glimpse/ClutteredMNISTLarge-v0", 8, 28.4, None, f"{RAM}, random glimpses", _LARGE,
        gaze="random", from_memory=True,
    ),
    Reference(
        "Glimpse/ClutteredMNISTLarge-v0", 8, 3.36, None, f"{DRAW} (one source)", _LARGE,
        gaze="soft", kind="DRAW",
    ),
    Reference(
        "Glimpse/ClutteredMNISTLarge-v0", 4, 4.18, None, DRAW, _LARGE,
        gaze="soft", kind="DRAW", from_memory=True,
    ),
    Reference(
        "Glimpse/ClutteredMNISTLarge-v0", 1, 14.35, None, f"{RAM}, convolutional network", _LARGE,
        gaze="full", kind="conv", from_memory=True,
    ),
    Reference(
        "Glimpse/ClutteredMNISTLarge-v0", 1, None, 0.92,
        "whole-image convolutional network, fresh clutter every epoch (several public reports)",
        _LARGE, gaze="full", kind="strong",
    ),
    Reference(
        "Glimpse/CircleSquare-v0", 16, 0.9, 0.9,
        "APPLE (ICLR 2026), CrossQ after 1 M steps (SAC 1.8; PPO 21.3 after 10 M), from accuracies",
        _CIRCLE_SQUARE,
    ),
)  # fmt: skip
