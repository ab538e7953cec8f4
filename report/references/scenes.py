"""Published errors on scenes of several digits; theirs leave open what ours had to choose."""

from __future__ import annotations

from types import MappingProxyType

from glimpse_envs.evaluation.record import Model
from report.references.pictures import FULL_STRONG, Reference

DRAM = "DRAM, Ba et al., ICLR 2015"
ATS = "attention sampling, Katharopoulos & Fleuret, ICML 2019"
IPS = "patch selection, Bergner et al., ICLR 2023, in the fork MRiffiAslett/ips_MaxRiffiAslett"

SAMPLING = Model("attention sampling", "everything", reference_kind="attention sampling")
SELECTION = Model("patch selection", "everything", attention="soft", reference_kind="IPS")

DRAM_SCENES = (
    "DRAM's paper does not tell the glimpses' size, the noise of its pairs, or whether digits may "
    "overlap: these are this suite's own"
)

_SCALES = (
    "DRAM's glimpses have two scales, here five, of which the widest shows nearly the whole scene "
    "at every glimpse, also to the core that answers"
)
_FIRST = "DRAM's context also chooses the first glimpse, which is at a random place here"

_CONTEXT = MappingProxyType({"context": True})
"""DRAM's coarse view of the whole scene, which no glimpse is."""

SCENE_REFERENCES = (
    Reference(
        "Glimpse/DigitPair-v0", 4, 7.0, None,
        f"{DRAM}, without its context (one source; RAM 9); {_SCALES}", MappingProxyType({}),
        leaves_open=True,
    ),
    Reference(
        "Glimpse/DigitPair-v0", 4, 5.0, None, f"{DRAM} (one source); {_SCALES}. {_FIRST}",
        _CONTEXT, leaves_open=True,
    ),
    Reference(
        "Glimpse/DigitSum-v0", 4, 2.5, None,
        f"{DRAM} (one source; the model of its pairs, so with its context; its figure shows 5 "
        f"glimpses); {_SCALES}. {_FIRST}",
        _CONTEXT, leaves_open=True,
    ),
    Reference(
        "Glimpse/DigitSum-v0", 1, 3.2, None, f"{DRAM}, convolutional network (one source)",
        MappingProxyType({}), model=FULL_STRONG, leaves_open=True,
    ),
    Reference(
        "Glimpse/MegapixelMNIST-v0", 1, 20.0, None,
        f"{ATS} (read off the curve in idiap/attention-sampling: 17 to 24; it leaves chance after "
        "about 210 epochs, a million scenes)",
        MappingProxyType({"fixed": True, "noise": "over"}), model=SAMPLING, leaves_open=True,
    ),
    Reference(
        "Glimpse/MegapixelMNIST-v0", 1, None, 0.9,
        f"{IPS} (one run, its log; its noise is Bezier curves, and it learns four tasks at once)",
        MappingProxyType({"fixed": True, "noise": "under"}), model=SELECTION, leaves_open=True,
    ),
)  # fmt: skip
"""Errors of what this suite's ids ask; each environment's settings are in its reference."""
