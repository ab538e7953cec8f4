"""Digests of weights: what each algorithm and baseline has learned after twenty updates."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from agents.policy.networks import NetworkConfig
from agents.train import ALGORITHMS as AGENTS
from baselines.memories.copy_machine import CopyConfig, CopyTraining
from baselines.train import ALGORITHMS as BASELINES

UPDATES = 20
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


def agent_digest(name: str) -> str:
    """The digest of one of `AGENT_CASES`."""
    learner, changes = AGENT_CASES[name]
    return _digest_of(AGENTS[learner], changes)


def baseline_digest(name: str) -> str:
    """The digest of one of `BASELINE_CASES`."""
    learner, changes = BASELINE_CASES[name]
    return _digest_of(BASELINES[learner], changes)


def copy_digest() -> str:
    """The digest of the NTM's copy of bits."""
    torch.set_num_threads(1)
    training = CopyTraining(CopyConfig(batch_size=4, compile=False))
    for update in range(UPDATES):
        training.update(update / UPDATES)
    return _digest(training.policy.state_dict())


def _digest_of(algorithm: Any, changes: dict[str, Any]) -> str:
    torch.set_num_threads(1)
    config = algorithm.config()
    if hasattr(config, "network"):
        changes = {"network": _NETWORK, **changes}
    learner = algorithm.make(replace(config, precision="float32", **changes))
    for update in range(UPDATES):
        learner.update(update / UPDATES)
    digest = _digest(learner.policy.state_dict())
    learner.close()
    return digest


def _digest(weights: dict[str, torch.Tensor]) -> str:
    """Of the values alone, in the order of the model: names may change."""
    found = hashlib.blake2b(digest_size=8)
    for tensor in weights.values():
        found.update(np.ascontiguousarray(tensor.cpu().numpy()).tobytes())
    return found.hexdigest()


ALL_CASES: dict[str, Callable[[], str]] = (
    {name: lambda name=name: agent_digest(name) for name in AGENT_CASES}
    | {name: lambda name=name: baseline_digest(name) for name in BASELINE_CASES}
    | {"ntm_copy": copy_digest}
)
