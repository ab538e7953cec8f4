"""The one list of models that `benchmarks.comparison` compares: hard attention, hard attention with
privileged training, soft attention, and networks in the full view. A new contender is a row."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agents.algorithms.algorithm import Algorithm, Trainable, find_algorithm
from agents.train import ALGORITHMS as AGENTS
from agents.training.config import TrainingConfig
from baselines.pictures.picture_model import PictureModel
from baselines.train import ALGORITHMS as BASELINES
from baselines.train import MODELS
from benchmarks.tables.table import find_preset, preset
from glimpse_envs.evaluation.trust import trust_package_of

# All algorithms that train on pictures.
ALGORITHMS: dict[str, Algorithm] = AGENTS | {
    name: BASELINES[name] for name, model in MODELS.items() if issubclass(model, PictureModel)
}


_AGENT = preset("pictures", "reinforce")
_UNITS = ("what_units", "where_units", "glimpse_units", "core_units", "head_units")
CONTROLLER = {name: getattr(_AGENT.network, name) for name in _UNITS}
"""Sizes of the controller of all models that take glimpses, hard or soft, by field of
`NetworkConfig`: those of the agents' preset."""


@dataclass(frozen=True)
class Contender:
    """An algorithm, and how it differs from its preset of pictures."""

    algorithm: str
    """A name in `ALGORITHMS`, or "module:NAME" of another package."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Config fields that differ from the preset's, or from the defaults where it has none."""
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the environment."""
    trials: int = 0
    """Approximate number of short trainings, on cluttered digits, by which its settings were
    chosen."""

    @property
    def trainable(self) -> Trainable:
        """Its algorithm, of this project or of another package."""
        return find_algorithm(self.algorithm, ALGORITHMS)

    @property
    def notes(self) -> str:
        """How its settings were chosen, for its record."""
        if not self.trials:
            return "settings not tuned for it"
        trainings = "short training" if self.trials == 1 else "short trainings"
        return f"settings chosen by about {self.trials} {trainings} on cluttered digits"

    def config(self, env_id: str, env_kwargs: Mapping[str, Any], **given: Any) -> TrainingConfig:
        """The config of its training in an environment.

        Args:
            env_id, env_kwargs: of the environment; the contender's arguments are added.
            **given: further fields, the same for all contenders.
        """
        start = find_preset("pictures", self.algorithm) or self.trainable.config()
        changes: dict[str, Any] = {**self.changes, **given}
        if hasattr(start, "network"):
            network = changes.get("network", start.network)
            changes["network"] = replace(network, **CONTROLLER)
        return replace(
            start, env_id=env_id, env_kwargs={**env_kwargs, **self.env_kwargs}, **changes
        )


TILES = {"look": "tiles"}
MUON = {"optimizer": "muon", "learning_rate": 4e-3}
MUON_OF_RAM = {"optimizer": "muon", "learning_rate": 5e-3, "batch_size": 1024}
"""Found for RAM's convolutional network."""
_OPTIMIZER = ("optimizer", "learning_rate", "weight_decay", "batch_size")
MUON_OF_AGENTS = {name: getattr(_AGENT, name) for name in _OPTIMIZER}

CONTENDERS: dict[str, Contender] = {
    # Hard: one glimpse at a time.
    "reinforce": Contender("reinforce", trials=30),
    "random": Contender("reinforce", {"gaze": "random"}, trials=30),
    "reinforce_tiles": Contender("reinforce", env_kwargs=TILES),
    "a2c": Contender("actor_critic", trials=4),
    "ppo": Contender("actor_critic", {"epochs": 2, "minibatches": 2}, trials=4),
    # Privileged: hard when scored, but trained on all tiles.
    "exact": Contender("exact", {**MUON, "batch_size": 128}, TILES, trials=6),
    "straight_through": Contender("straight_through", MUON_OF_AGENTS, TILES, trials=3),
    # Soft: every pixel at every glimpse.
    "soft_tiles": Contender("soft_tiles", trials=3),
    "soft_tiles_by_location": Contender("soft_tiles", {"attention": "location"}),
    "draw": Contender("gaussian_window", trials=20),
    "soft_retina": Contender("gaussian_window", {"window": "retina"}, trials=15),
    # Full view: every pixel at once.
    "spatial_transformer": Contender("spatial_transformer", trials=12),
    "full_strong": Contender("full_view", MUON, trials=3),
    "full_conv": Contender("full_view", {"kind": "conv", **MUON_OF_RAM}, trials=5),
    "full_dense": Contender("full_view", {"kind": "dense", **MUON_OF_RAM}),
}

# The contenders of `make compare`.
A_FEW = (
    "reinforce",
    "random",
    "a2c",
    "straight_through",
    "soft_tiles",
    "draw",
    "spatial_transformer",
    "full_strong",
)


def contender_of(name: str) -> Contender:
    """A contender of `CONTENDERS`, or an algorithm of another package, "module:NAME", by its own
    defaults; its package is trusted from then on.

    Raises:
        ValueError: there is no such contender or algorithm.
    """
    if name in CONTENDERS:
        return CONTENDERS[name]
    if ":" not in name:
        raise ValueError(
            f"models: {name!r} must be one of {', '.join(CONTENDERS)}, all, or module:NAME, an "
            "algorithm of another package"
        )
    trust_package_of(name)
    found = Contender(name)
    _ = found.trainable  # its name is right
    return found
