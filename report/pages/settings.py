"""How a recorded agent's settings differ from RAM's, in words, from its config."""

from collections.abc import Mapping
from typing import Any

RAM_SETTINGS: dict[str, tuple[Any, str]] = {
    "what_units": (128, "{} units encode the glimpse, not 128"),
    "where_units": (128, "{} units encode the place of a glimpse, not 128"),
    "glimpse_units": (256, "{} units join the codes of glimpse and place, not 256"),
    "glimpse_network": ("dense", "the glimpse is read by convolutions, not by a dense layer"),
    "contrast": (False, "the contrast of the glimpse is seen too"),
    "normalise": (False, "the glimpse network is normalised"),
    "detach_heads": (True, "the gradients of looks and of the baseline reach the core"),
    "recall_glimpses": (0, "the codes of the latest {} glimpses are read by soft attention"),
    "skip": (False, "heads also see the encoded glimpse directly, past the core"),
    "inhibition_of_return": (False, "places of earlier glimpses are shown to the head of looks"),
    "refine_looks": (False, "the likeliest look lies between cells"),
    "look_gain": (False, "what the answer would earn before a look is subtracted from its return"),
    "entropy_weight": (0.0, "a bonus for the entropy of choices is paid, with weight {:g}"),
    "entropy_floor": (None, "up to {:g} nats a choice"),
}
"""Field of the network or the training -> RAM's value, and the text for another value."""
_LOOKS = {
    "cells": "a look is one of the cells that are seen, not a place drawn from a Gaussian",
    "log_move": "a look is a move drawn from a Gaussian on a logarithmic scale, not a place",
}
_SIGNALS = {
    "probability": "looks are rewarded with the probability of the right answer, not with 0 or 1",
    "log_likelihood": "looks are rewarded with the right answer's log-probability, not with 0 or 1",
}


def differences_from_ram(config: Mapping[str, Any]) -> str:
    """Return what a REINFORCE agent's `config` changes of Mnih et al. (NIPS 2014): 128, 128 and 256
    units for what, where and both; a core of 256 rectifiers; looks from a Gaussian around a place,
    whose gradient stops at the core; rewards for right answers alone; SGD in batches of 20. What
    `config` does not tell is left out."""
    network = config.get("network", {})
    core, units = network.get("core"), network.get("core_units")
    found = []
    if core is not None and (core, units) != ("rnn", 256):
        found.append(f"the core has {units} units of the kind {core.upper()}, not 256 rectifiers")
    found += _changed(network)
    found += filter(None, [_LOOKS.get(network.get("look_coordinates", ""))])
    found += filter(None, [_SIGNALS.get(config.get("look_signal", ""))])
    found += _changed(config)
    early = config.get("early_answer_weight")
    if early:
        found.append(f"answers are learned after every glimpse, with weight {early:g}")
    if "batch_size" in config:
        scenes = f"{config['batch_size']:,} scenes an update, each drawn afresh, not"
        optimizer = config.get("optimizer")
        if optimizer is None:  # old records do not tell
            found.append(f"the optimizer learns from {scenes} from 20")
        else:
            found.append(f"{optimizer.capitalize()} learns from {scenes} SGD from 20")
    if config.get("answer_by") == "label":
        found.append("as in RAM, answers learn from the label")
    return "; ".join(found)


def _changed(settings: Mapping[str, Any]) -> list[str]:
    """Texts for the fields of `RAM_SETTINGS` in `settings` that have another value."""
    return [
        words.format(settings[field])
        for field, (value, words) in RAM_SETTINGS.items()
        if field in settings and settings[field] != value
    ]
