"""Published errors, and which of our models each is to be held against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from glimpse_envs.evaluation.record import Model, Record
from glimpse_envs.suite import SUITE
from report.grouping import NEUTRAL_KWARGS
from report.kinds import Kind, kind_of
from report.trained_runs import own_arguments

Scalar = str | int | float | bool

RAM = "RAM, Mnih et al., NIPS 2014"
DRAW = "DRAW, Gregor et al., ICML 2015"
TFRAM = "slundqui/tfRAM"

# The models that published errors are of. Only what they see and how, by whom a gaze is chosen, and
# the kind are compared with ours; `learns_from` is not, for papers have both.
LEARNED = Model("learned glimpses")
RANDOM = Model("random glimpses", gaze="random")
SOFT_DRAW = Model("soft DRAW", "everything", attention="soft", reference_kind="DRAW")
FULL_CONV = Model("full view conv", "everything", attention="none", reference_kind="conv")
FULL_DENSE = Model("full view dense", "everything", attention="none", reference_kind="dense")
FULL_STRONG = Model("full view strong", "everything", attention="none", reference_kind="strong")


@dataclass(frozen=True)
class Reference:
    """Test errors in percent that others report for one environment, budget and model."""

    env_id: str
    glimpses: int
    """The budget; 1 where the whole scene is seen at once."""
    paper: float | None
    """None where no paper has one."""
    best_public: float | None
    """The best public number with the glimpse budget kept; None where there is none."""
    source: str
    setting: Mapping[str, Scalar]
    """The environment's arguments as in the source; those that it leaves out are the id's own."""
    model: Model = LEARNED
    from_memory: bool = False
    """The paper's number was not checked against the paper: shown with a dagger, no claim."""
    leaves_open: bool = False
    """The source does not tell all of its setting, or the number exactly: no claim."""

    @property
    def kind(self) -> Kind:
        return kind_of(self.model)

    @property
    def budget(self) -> str:
        """The glimpse budget, for people."""
        return "whole" if self.kind == "full" else str(self.glimpses)

    @property
    def dagger(self) -> str:
        """The mark of a paper's number that was not checked."""
        return "†" if self.from_memory else ""

    def fits(self, record: Record) -> bool:
        """Whether a record is like with like: same task, budget and model."""
        if (record.env_id, record.budget) != (self.env_id, self.glimpses):
            return False
        own = own_arguments(SUITE[self.env_id])
        theirs, ours = own | dict(self.setting), own | record.env_kwargs
        task = ours.keys() - NEUTRAL_KWARGS
        return self.fits_model(record.model) and all(theirs.get(n) == ours[n] for n in task)

    def fits_model(self, model: Model) -> bool:
        """Whether a model sees, looks and is made like the reference's."""
        same = (kind_of(model), model.gaze) == (self.kind, self.model.gaze)
        return same and self.model.reference_kind in ("", model.reference_kind)


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
        _CLUTTERED, model=RANDOM,
    ),
    Reference(
        "Glimpse/ClutteredMNIST-v0", 6, 4.08, 3.33, f"{RAM} (one source); {TFRAM}", _CLUTTERED
    ),
    Reference(
        "Glimpse/ClutteredMNIST-v0", 4, 4.96, 5.15, f"{RAM} (one source); {TFRAM}", _CLUTTERED
    ),
    Reference(
        "Glimpse/ClutteredMNIST-v0", 1, 8.09, None, f"{RAM}, convolutional network (one source)",
        _CLUTTERED, model=FULL_CONV,
    ),
    Reference(
        "Glimpse/ClutteredMNIST-v0", 1, 11.96, None, f"{RAM}, two layers of 256 (one source)",
        _CLUTTERED, model=FULL_DENSE,
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
        model=RANDOM, from_memory=True,
    ),
    Reference(
        "Glimpse/ClutteredMNISTLarge-v0", 8, 3.36, None, f"{DRAW} (one source)", _LARGE,
        model=SOFT_DRAW,
    ),
    Reference(
        "Glimpse/ClutteredMNISTLarge-v0", 4, 4.18, None, DRAW, _LARGE,
        model=SOFT_DRAW, from_memory=True,
    ),
    Reference(
        "Glimpse/ClutteredMNISTLarge-v0", 1, 14.35, None, f"{RAM}, convolutional network", _LARGE,
        model=FULL_CONV, from_memory=True,
    ),
    Reference(
        "Glimpse/ClutteredMNISTLarge-v0", 1, None, 0.92,
        "whole-image convolutional network, fresh clutter every epoch (public, without a paper)",
        _LARGE, model=FULL_STRONG,
    ),
    Reference(
        "Glimpse/CircleSquare-v0", 16, 0.9, None,
        "APPLE (ICLR 2026), CrossQ after 1 M steps (SAC 1.8; PPO 21.3 after 10 M), from "
        "accuracies; its reward is a cross-entropy",
        _CIRCLE_SQUARE,
    ),
)  # fmt: skip
