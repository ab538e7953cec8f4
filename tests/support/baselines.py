"""Every kind of every baseline, small enough to be trained in seconds."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from agents.training.loop import train
from baselines.learner import SupervisedLearner
from baselines.memories.memory_model import MemoryModel
from baselines.model import Baseline, BaselineConfig
from baselines.pictures.picture_model import PictureModel
from baselines.setting import Setting
from baselines.train import ALGORITHMS, MODELS
from glimpse_envs.evaluation.runs import Run
from tests.support.episodes import CENTRED
from tests.support.tiny import SMALL, tiny_network

Changes = dict[str, Any]

DESCRIBED: Changes = {"env_id": "Glimpse/DescribeSceneGlyphs-v0", "env_kwargs": {}}
POINTED: Changes = {
    "env_id": "Glimpse/SearchGlyphs-v0",
    "env_kwargs": {"scene_size": 110, "images": 3, "budget": 2},
}
_CUT: Changes = {"channels": 8, "size": 14}
_MEMORY: Changes = {"network": tiny_network(core_units=32)}
_CELLS: Changes = {"key_units": 16, "value_units": 16, **_MEMORY}
KINDS: dict[str, tuple[str, Changes]] = {
    "content": ("soft_tiles", {"attention": "content", "key_units": 16, "network": SMALL}),
    "location": ("soft_tiles", {"attention": "location", "network": SMALL}),
    "draw": ("gaussian_window", {"window": "draw", "network": SMALL}),
    "retina": ("gaussian_window", {"window": "retina", "network": SMALL}),
    "affine": ("spatial_transformer", {"transform": "affine", **_CUT}),
    "attention": ("spatial_transformer", {"transform": "attention", **_CUT}),
    "sampling": (
        "attention_sampling",
        {"low_scale": 0.25, "patches": 2, "patch_size": 24, "channels": 16, "learning_rate": 1e-2},
    ),
    "selection": (
        "patch_selection",
        {"patch_size": 14, "stride": 7, "kept": 4, "at_once": 3, "channels": 8, "heads": 2},
    ),
    "captioner": (
        "captioner",
        {"channels": 4, "units": 32, "score_units": 16, "word_units": 16, **DESCRIBED},
    ),
    "pointer": ("pointer", {"channels": 4, "key_units": 8, **POINTED}),
    "strong": ("full_view", {"kind": "strong", "channels": 8}),
    "conv": ("full_view", {"kind": "conv"}),
    "dense": ("full_view", {"kind": "dense"}),
    "lstm": ("lstm_memory", _MEMORY),
    "ntm": ("ntm", {"cells": 8, "width": 8, **_MEMORY}),
    "soft": ("key_value_memory", _CELLS),
    "hard": ("key_value_memory", {"addressing": "hard", **_CELLS}),
    "soft_to_hard": ("key_value_memory", {"addressing": "soft_to_hard", "feed": False, **_CELLS}),
}
"""Name of the model in `MODELS`, and fields of its config."""

BUDGET = 2
PICTURE: Changes = {"env_id": CENTRED, "env_kwargs": {"budget": BUDGET, "glimpse_size": 14}}
COPY: Changes = {"env_id": "Glimpse/Copy-v0", "env_kwargs": {"length": 2, "symbols": 2}}
RECALL: Changes = {
    "env_id": "Glimpse/AssociativeRecall-v0",
    "env_kwargs": {"keys": 3, "values": 3, "cells": 2, "length": 2},
}
READ: Changes = {
    "env_id": "Glimpse/Stories-v0",
    "env_kwargs": {"min_length": 1, "length": 2},
}


def class_of(kind: str) -> type[Baseline]:
    """The model's class."""
    return MODELS[KINDS[kind][0]]


PICTURE_KINDS = [kind for kind in KINDS if issubclass(class_of(kind), PictureModel)]
MEMORY_KINDS = [kind for kind in KINDS if issubclass(class_of(kind), MemoryModel)]
CASES = [
    *((kind, PICTURE) for kind in PICTURE_KINDS),
    *((kind, task) for kind in MEMORY_KINDS for task in (COPY, RECALL)),
    *((kind, READ) for kind in MEMORY_KINDS if kind != "ntm"),  # it takes longer to read
]
"""Every kind on every task of its family, but what describes pictures."""


def small_config(kind: str, /, **changes: Any) -> BaselineConfig:
    """A task of two glimpses or two cells, learned in seconds."""
    family = (
        COPY | {"batch_size": 64, "learning_rate": 1e-2}
        if kind in MEMORY_KINDS
        else PICTURE | {"batch_size": 100, "learning_rate": 3e-3}
    )
    return class_of(kind).config_class(**{**family, **KINDS[kind][1], **changes})


def tiny_config(kind: str, /, **changes: Any) -> BaselineConfig:
    """Twelve updates of eight episodes; lines and checkpoints alternate."""
    tiny: Changes = {"episodes": 96, "batch_size": 8, "log_every": 3, "checkpoint_every": 4}
    if "network" in KINDS[kind][1]:
        tiny["network"] = tiny_network(detach_heads=False)
    return replace(small_config(kind), **{**tiny, **changes})


def learner_of(kind: str, config: BaselineConfig) -> SupervisedLearner:
    """The learner of one training."""
    return SupervisedLearner(config, class_of(kind))


def model_of(kind: str, **options: Any) -> Any:
    """An untrained model of `tiny_config`, in eval mode."""
    torch.manual_seed(0)
    config = tiny_config(kind, **options)
    setting = Setting.of(config.env_id, config.env_kwargs)
    return class_of(kind)(setting, config).eval()


def trained(config: BaselineConfig, kind: str, folder: Path, **options: Any) -> Run:
    """Train `config` in `folder`."""
    return train(ALGORITHMS[KINDS[kind][0]].make, config, folder, progress_bar=False, **options)
