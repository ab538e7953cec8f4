"""In what a recorded agent's settings differ from RAM's, read off its config, in words."""

from collections.abc import Mapping
from typing import Any


def differences_from_ram(config: Mapping[str, Any]) -> str:
    """Return what a REINFORCE agent's `config` changes of Mnih et al. (NIPS 2014): a core of 256
    rectifiers, looks from a Gaussian around a place, rewards for right answers alone, SGD in
    batches of 20. What `config` does not tell is left out."""
    network = config.get("network", {})
    core, units = network.get("core"), network.get("core_units")
    found = []
    if core is not None and (core, units) != ("rnn", 256):
        found.append(f"the core has {units} units of the kind {core.upper()}, not 256 rectifiers")
    if network.get("normalise"):
        found.append("the glimpse network is normalised")
    if network.get("look_coordinates") == "cells":
        found.append("a look is one of the cells that are seen, not a Gaussian's place")
    if config.get("look_signal") == "probability":
        found.append("looks are rewarded with the probability of the right answer, not with 0 or 1")
    if "optimizer" in config:
        found.append(
            f"{config['optimizer'].capitalize()} learns from {config['batch_size']:,} scenes an "
            "update, each drawn afresh, not SGD from 20"
        )
    if config.get("answer_by") == "label":
        found.append("as in RAM, answers learn from the label")
    return "; ".join(found)
