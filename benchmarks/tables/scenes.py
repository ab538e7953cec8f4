"""Large scenes, scenes of several images, searches, images that move: five seeds, most of half a
core-hour each, or of the episodes that the first one saw in it.

The settings are the presets', with changes that were compared on validation scenes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.tables.controls import gaze_controls
from benchmarks.tables.table import FromPreset, Row, Table, preset, published
from glimpse_envs.vision.sensors.retina import far_scales
from report.references.pictures import FULL_STRONG
from report.references.scenes import DRAM_SCENES, SAMPLING, SELECTION

_NETWORK = preset("pictures", "reinforce").network
_RETURNING = {"network": replace(_NETWORK, inhibition_of_return=True, refine_looks=True)}
"""Which of several digits were looked at already; few looks are left to correct one from afar."""

_GAINING = {"look_gain": True, "early_answer_weight": 0.5}
"""One answer from two digits: which look showed a digit is told apart from which did not."""

_EXPLORING = {"entropy_weight": 0.003, "entropy_floor": 1.5}
"""Looks settle soon, on one of the cells that show a digit: some entropy is kept, and the likeliest
look, refined, lies nearer to its middle."""

_FINE = {"network": replace(_NETWORK, inhibition_of_return=True, look_block=1, refine_looks=True)}
"""Few looks are left for each digit, and none to correct a look from afar."""

_WIDE_CONV: dict[str, Any] = {"glimpse_network": "conv", "what_units": 256}
"""Both digits are nearly always looked at; what is wrong is what was read, in training as well."""

_PAIRING = {
    **_GAINING,
    **_EXPLORING,
    "network": replace(_FINE["network"], **_WIDE_CONV),
}
_SUMMING = {**_GAINING, "network": replace(_RETURNING["network"], **_WIDE_CONV)}

_LARGE = preset("large_scenes", "reinforce")

_FAR = {"network": _LARGE.network}
"""Cells of wide scales are large. The middle of a block of them may lie far from the target, and of
several digits in one block, the visit of one closes the block to the others."""

FAR_GAZE: dict[str, Any] = {
    "curriculum": _LARGE.curriculum,
    "solve_share": _LARGE.solve_share,
    **_FAR,
}
"""In scenes from 480 pixels on, whose targets teach answers."""

_SEARCHING = {"batch_size": 512, "learning_rate": 4e-3, **_FAR}
"""The stop is taught where the gaze lies on the target or not. Without inhibition of return the
likeliest looks go back and forth between two digits."""

_BLIND = {
    "network": replace(
        _NETWORK, blind_memory=True, refine_looks=True, class_network="conv", class_units=256
    )
}
"""Combinations of classes and places that were never seen are what is scored; few looks are left
before the first class is named. Most errors are misread classes, which convolutions read best."""

_MAJORITY = {
    "batch_size": 512,
    "look_signal": "log_likelihood",
    **FAR_GAZE,
    **_GAINING,
    **_EXPLORING,
}
"""A second image makes the right answer no likelier (0.6 after one or two of the five images, 0.79
after three, 0.97 after four), but surer: looks that are paid by probability stop at the first. Of
sixteen looks that end in one answer few show an image: each is paid for what it adds itself. Where
0.7 of a level must be solved, first glimpses stay near the images for most of a short training."""

_BATCHES = {480: 512, 960: 512, 1920: 256}
"""Side in pixels -> scenes played at once; of the largest, 512 would take 2 GiB."""

_CLUTTERED = "Glimpse/ClutteredMNIST-v0"
_DESCRIBE = "Glimpse/DescribeScene-v0"
_PAIR = "Glimpse/DigitPair-v0"
_SUM = "Glimpse/DigitSum-v0"
_SEQUENCE = "Glimpse/DigitSequence-v0"
_SEARCH = "Glimpse/Search-v0"
_MOVING = "Glimpse/MovingDigit-v0"
_MEGAPIXEL = "Glimpse/MegapixelMNIST-v0"


def _row(name: str, env_id: str, algorithm: str, preset_name: str = "pictures", **row: Any) -> Row:
    # "auto" would depend on the machine.
    row["changes"] = {"precision": "bfloat16", **row.get("changes", {})}
    recipe = FromPreset(preset_name, algorithm)
    row = {"minutes": 30.0, "repeats": "episodes", **row}
    return Row(name=name, env_id=env_id, recipe=recipe, **row)


def _cluttered(side: int) -> Row:
    kwargs = {"scene_size": side, "scales": far_scales(side, 12), "clutter": side // 30}
    changes = {"batch_size": _BATCHES[side], **FAR_GAZE}
    # Any processor has it: one with AVX2 alone saw as many scenes a minute as one in bfloat16.
    changes["precision"] = "float32"
    name = f"cluttered-{side}"
    return _row(name, _CLUTTERED, "reinforce", env_kwargs=kwargs, changes=changes, priority=3)


_PLAYED = (
    _row("describe-hard", _DESCRIBE, "reinforce", priority=1, changes=_BLIND),
    _row(
        "pair-hard", _PAIR, "reinforce", priority=2, changes=_PAIRING,
        reference=published(_PAIR, 4), notes=DRAM_SCENES,
    ),
    _row("sum-hard", _SUM, "reinforce", priority=2, changes=_SUMMING, notes=DRAM_SCENES),
    _row(
        "sequence-hard", _SEQUENCE, "reinforce", priority=3,
        env_kwargs={"scales": 4}, changes=_FINE,
    ),
    _row("moving-hard", _MOVING, "reinforce", priority=3),
    *(_cluttered(side) for side in _BATCHES),
    _row("search-hard", _SEARCH, "actor_critic", priority=4, changes=_SEARCHING),
    _row("megapixel-hard", _MEGAPIXEL, "reinforce", priority=5, minutes=120.0, changes=_MAJORITY),
)  # fmt: skip
"""The agents' rows; each has controls, whose looks go by a rule."""


SCENES = Table(
    "scenes",
    folder="scenes",
    seeds=5,
    rows=(
        *_PLAYED,
        _row("describe-soft", _DESCRIBE, "captioner", priority=1, changes={"blind_memory": True}),
        _row("describe-hard-sighted", _DESCRIBE, "reinforce", priority=7, seeds=1),
        _row("describe-soft-sighted", _DESCRIBE, "captioner", priority=7, seeds=1),
        *(
            _row(
                f"{name}-hard-context", env_id, "reinforce", priority=2, changes=changes,
                env_kwargs={"context": True}, reference=published(env_id, 4, context=True),
                notes=DRAM_SCENES,
            )
            for name, env_id, changes in (("pair", _PAIR, _PAIRING), ("sum", _SUM, _SUMMING))
        ),
        _row("pair-full", _PAIR, "full_view", priority=4),
        _row(
            "sum-full", _SUM, "full_view", priority=4, reference=published(_SUM, 1, FULL_STRONG),
            notes="a residual network; the paper's has three convolutions and a layer of 512",
        ),
        _row("sequence-full", _SEQUENCE, "full_view", priority=4),
        _row("moving-full", _MOVING, "full_view", priority=4),
        *(
            _row(f"{name}-soft", env_id, "gaussian_window", priority=4)
            for name, env_id in (("pair", _PAIR), ("sum", _SUM), ("sequence", _SEQUENCE))
        ),
        _row(
            "moving-soft", _MOVING, "gaussian_window", priority=4,
            changes={"precision": "float32"}, notes="in float32; the hard agent in bfloat16",
        ),
        _row("sequence-hard-near", _SEQUENCE, "reinforce", priority=7, changes=_FINE, seeds=1),
        _row(
            "pair-hard-dram", _PAIR, "reinforce", priority=7, seeds=1, notes=DRAM_SCENES,
            changes={**_PAIRING, "network": replace(_PAIRING["network"], core="dram")},
        ),
        *(
            _row(f"{name}-tiles", env_id, "soft_tiles", priority=7, seeds=1)
            for name, env_id in (
                ("pair", _PAIR), ("sum", _SUM), ("sequence", _SEQUENCE), ("moving", _MOVING)
            )
        ),
        *(
            _row(
                f"cluttered-480-{name}", _CLUTTERED, algorithm, priority=4,
                env_kwargs={"scene_size": 480, "clutter": 16},
                # Larger batches would leave few updates; a validation plays as long as many train.
                changes={"batch_size": 32, "validation_episodes": 200},
            )
            for name, algorithm in (("full", "full_view"), ("soft", "gaussian_window"))
        ),
        _row("search-soft", _SEARCH, "pointer", priority=4),
        _row(
            "search-hard-wide", _SEARCH, "actor_critic", priority=4, seeds=1,
            env_kwargs={"scales": 6}, changes=_SEARCHING,
            notes="the sixth window shows the whole scene from any place; with five, digits that "
            "are far from the gaze are out of sight",
        ),
        _row(
            "megapixel-sampling", _MEGAPIXEL, "attention_sampling", "megapixel", priority=6,
            minutes=120.0, env_kwargs={"fixed": True, "noise": "over"},
            reference=published(_MEGAPIXEL, 1, SAMPLING),
            notes="as long as the agent; the paper's 500 epochs are 2.5 million scenes",
        ),
        _row(
            "megapixel-selection", _MEGAPIXEL, "patch_selection", "megapixel", priority=6,
            minutes=120.0,
            # A validation on 1,000 scenes takes minutes.
            env_kwargs={"fixed": True, "noise": "under"}, changes={"validation_episodes": 100},
            reference=published(_MEGAPIXEL, 1, SELECTION),
            notes="as long as the agent; the paper's 150 epochs are 750,000 scenes",
        ),
        *(
            _row(
                f"megapixel-{name}", _MEGAPIXEL, algorithm, priority=8, seeds=1, minutes=120.0,
                # A batch of large pictures takes seconds; a validation on 1,000 takes minutes.
                changes={"batch_size": size, "validation_episodes": 100},
            )
            for name, algorithm, size in (("full", "full_view", 4), ("soft", "gaussian_window", 16))
        ),
        *(control for row in _PLAYED for control in gaze_controls(row)),
    ),
)  # fmt: skip
