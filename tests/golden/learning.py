"""What each algorithm and baseline has learned after a few updates: digests, and in outline."""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from agents.policy.networks import NetworkConfig
from agents.train import ALGORITHMS as AGENTS
from baselines.memories.copy_machine import CopyConfig, CopyTraining
from baselines.train import ALGORITHMS as BASELINES
from tests.golden import golden

UPDATES, FIRST_UPDATES = 20, 3
_NETWORK = NetworkConfig(
    what_units=16, where_units=8, glimpse_units=16, core_units=16, head_units=8
)
_SKIPPING = replace(_NETWORK, skip=True, answer_in_view=True)
_DIRECT = replace(_SKIPPING, answer_in_view=False, direct_access="symbols")

_PICTURE = dict(env_id="Glimpse/ClutteredGlyphs-v0", env_kwargs=dict(budget=4), batch_size=8)
_TILES = _PICTURE | dict(env_kwargs=dict(budget=3, look="tiles"))
_CIRCLE = dict(env_id="Glimpse/CircleSquare-v0", env_kwargs=dict(budget=5), batch_size=8)
_TAPE = dict(env_id="Glimpse/Reverse-v0", env_kwargs=dict(length=4), batch_size=8)
_WRITE = dict(env_id="Glimpse/ForwardReverse-v0", env_kwargs=dict(length=4), batch_size=8)
_TABLE = dict(env_id="Glimpse/AssociativeRecall-v0", env_kwargs=dict(length=3), batch_size=8)
_CHASE = dict(env_id="Glimpse/PointerChase-v0", batch_size=8)
_BITS = dict(look="bits", values=8, cells=64)

# name -> (learner, changes to its config)
AGENT_CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "reinforce": ("reinforce", _PICTURE),
    "reinforce stop": (
        "reinforce",
        _PICTURE
        | dict(
            env_kwargs=dict(budget=4, stop=True, glimpse_cost=0.02),
            answer_by="reward",
            entropy_weight=0.01,
        ),
    ),
    "reinforce dense": ("reinforce", _CIRCLE | dict(look_signal="log_likelihood")),
    "reinforce copies": ("reinforce", _PICTURE | dict(copies=4, baseline="leave_one_out")),
    "reinforce oracle": ("reinforce", _PICTURE | dict(gaze="oracle")),
    "reinforce random": ("reinforce", _CIRCLE | dict(gaze="random")),
    "reinforce tape": ("reinforce", _TAPE | dict(network=_SKIPPING, entropy_weight=0.01)),
    "a2c": ("actor_critic", _PICTURE),
    "a2c tape": (
        "actor_critic",
        _TAPE | dict(network=_SKIPPING, curriculum="mixture", entropy_weight=0.01),
    ),
    "a2c write": ("actor_critic", _WRITE | dict(network=_DIRECT, curriculum="mixture")),
    "a2c table": ("actor_critic", _TABLE | dict(network=_SKIPPING, curriculum="threshold")),
    "a2c bits": (
        "actor_critic",
        _CHASE
        | dict(
            env_kwargs=_BITS,
            answer_by="reward",
            network=replace(_DIRECT, direct_access="all"),
            entropy_weight=0.01,
        ),
    ),
    "a2c final": (
        "actor_critic",
        _CHASE | dict(env_kwargs=_BITS | dict(reward="final"), answer_by="reward"),
    ),
    "ppo": ("actor_critic", _PICTURE | dict(epochs=2, minibatches=2, advantage="n_step")),
    "ppo tape": (
        "actor_critic",
        _TAPE | dict(epochs=2, minibatches=2, normalise_advantages=True, answer_by="reward"),
    ),
    "exact": ("exact", _TILES),
    "straight_through": ("straight_through", _TILES),
}
BASELINE_CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "full_view": ("full_view", _PICTURE),
    "gaussian_window": ("gaussian_window", _PICTURE),
    "gaussian_window dense": ("gaussian_window", _CIRCLE | dict(window="retina")),
    "soft_tiles": ("soft_tiles", _PICTURE),
    "spatial_transformer": ("spatial_transformer", _PICTURE),
    "ntm": ("ntm", _TAPE),
    "key_value_memory": ("key_value_memory", _TAPE),
    "key_value_memory hard": ("key_value_memory", _TABLE | dict(addressing="hard")),
    "lstm_memory": ("lstm_memory", _TABLE),
}


Case = tuple[Any, dict[str, Any]]
"""What makes a learner from a config, and the changes to that config."""

ALL_CASES: dict[str, Case] = {
    **{name: (AGENTS[learner], changes) for name, (learner, changes) in AGENT_CASES.items()},
    **{name: (BASELINES[learner], changes) for name, (learner, changes) in BASELINE_CASES.items()},
    "ntm_copy": (CopyTraining, dict(batch_size=4, compile=False)),
}


def learned_digest(name: str) -> str:
    """The digest of what a case has learned after `UPDATES`, to the bit: of the values alone, in
    the order of the model, since names may change."""
    found = hashlib.blake2b(digest_size=8)
    for tensor in _learned(name, UPDATES)[1].values():
        found.update(np.ascontiguousarray(tensor.cpu().numpy()).tobytes())
    return found.hexdigest()


def outline(name: str) -> dict[str, float]:
    """The metrics of the first `FIRST_UPDATES` of a case, and the norm of what it has learned then:
    on another machine, whose sums round otherwise, they are nearly the same."""
    metrics, weights = _learned(name, FIRST_UPDATES)
    return {
        **metrics,
        "norm": float(sum(w.double().square().sum() for w in weights.values())) ** 0.5,
    }


def beside_golden(name: str) -> tuple[dict[str, float | None], Any]:
    """The outline of a case, without new metrics, and what equals it if it is nearly the golden."""
    found, expected = outline(name), golden("outlines").get(name, {"norm": -1.0})
    return {key: found.get(key) for key in expected}, pytest.approx(expected, rel=1e-3, abs=1e-4)


def _learned(name: str, updates: int) -> tuple[dict[str, float], dict[str, torch.Tensor]]:
    """The metrics, each named by its update, and the weights after so many updates."""
    torch.set_num_threads(1)
    make, changes = ALL_CASES[name]
    if make is CopyTraining:
        learner: Any = CopyTraining(CopyConfig(**changes))
    else:
        config = make.config()
        if hasattr(config, "network"):
            changes = {"network": _NETWORK, **changes}
        learner = make.make(replace(config, precision="float32", **changes))
    metrics = {
        f"{update + 1}: {metric}": value
        for update in range(updates)
        for metric, value in learner.update(update / UPDATES).items()
    }
    weights = learner.policy.state_dict()
    if make is not CopyTraining:
        learner.close()
    return metrics, weights
