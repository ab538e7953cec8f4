"""The one list of models that `benchmarks.comparison` compares: hard attention, hard attention with
privileged training, soft attention, and networks in the full view. A new contender is a row."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.algorithms.algorithm import Algorithm
from agents.train import ALGORITHMS as AGENTS
from agents.training.config import TrainingConfig
from baselines.pictures.picture_model import PictureModel
from baselines.train import ALGORITHMS as BASELINES
from baselines.train import MODELS

# All algorithms that train on pictures.
ALGORITHMS: dict[str, Algorithm] = AGENTS | {
    name: BASELINES[name] for name, model in MODELS.items() if issubclass(model, PictureModel)
}


@dataclass(frozen=True)
class Contender:
    """An algorithm, and how it differs from its defaults."""

    algorithm: str
    """A name in `ALGORITHMS`."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Config fields that differ from their defaults."""
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the environment."""
    trials: int = 0
    """Approximate number of short trainings on cluttered MNIST by which its defaults were
    chosen."""

    @property
    def notes(self) -> str:
        """How its settings were chosen, for its record."""
        if not self.trials:
            return "defaults, untuned"
        trainings = "short training" if self.trials == 1 else "short trainings"
        return f"defaults, picked by about {self.trials} {trainings} on cluttered MNIST"

    def config(self, env_id: str, env_kwargs: Mapping[str, Any], **given: Any) -> TrainingConfig:
        """The config of its training in an environment.

        Args:
            env_id, env_kwargs: of the environment; the contender's arguments are added.
            **given: further fields, the same for all contenders.
        """
        arguments = {**env_kwargs, **self.env_kwargs}
        return ALGORITHMS[self.algorithm].config(
            env_id=env_id, env_kwargs=arguments, **{**self.changes, **given}
        )


TILES = {"look": "tiles"}

# All with the networks that their configs start with, so that the controller is the same.
CONTENDERS: dict[str, Contender] = {
    # Hard: one glimpse at a time.
    "reinforce": Contender("reinforce", trials=30),
    "random": Contender("reinforce", {"gaze": "random"}, trials=30),
    "reinforce_tiles": Contender("reinforce", env_kwargs=TILES, trials=30),
    "a2c": Contender("actor_critic", trials=4),
    "ppo": Contender("actor_critic", {"epochs": 4, "minibatches": 4}, trials=2),
    # Privileged: hard when scored, but trained on all tiles.
    "exact": Contender("exact", env_kwargs=TILES, trials=5),
    "straight_through": Contender("straight_through", env_kwargs=TILES, trials=1),
    # Soft: every pixel at every glimpse.
    "soft_tiles": Contender("soft_tiles", trials=1),
    "soft_tiles_by_location": Contender("soft_tiles", {"attention": "location"}),
    "draw": Contender("gaussian_window", trials=15),
    "soft_retina": Contender("gaussian_window", {"window": "retina"}, trials=15),
    # Full view: every pixel at once.
    "spatial_transformer": Contender("spatial_transformer", trials=10),
    "full_strong": Contender("full_view", trials=1),
    "full_conv": Contender("full_view", {"kind": "conv"}),
    "full_dense": Contender("full_view", {"kind": "dense"}),
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
