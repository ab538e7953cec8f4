"""Train a baseline: `python -m baselines.train gaussian_window --env-id Glimpse/ClutteredMNIST-v0`.

Ctrl-C saves; `python -m baselines.train gaussian_window --run RUN --resume` goes on. Runs, records
and `python -m agents.evaluate RUN` are those of the agents.
"""

from functools import partial

from agents.algorithms.algorithm import Algorithm
from agents.train_command import run_main
from baselines.learner import SupervisedLearner
from baselines.memories.key_value_memory import KeyValueMemory
from baselines.memories.lstm_memory import LSTMMemory
from baselines.memories.ntm import NTM
from baselines.model import Baseline
from baselines.pictures.attention_sampling import AttentionSampling
from baselines.pictures.captioner import Captioner
from baselines.pictures.full_view import FullView
from baselines.pictures.gaussian_window import GaussianWindow
from baselines.pictures.patch_selection import PatchSelection
from baselines.pictures.pointer import Pointer
from baselines.pictures.soft_tiles import SoftTiles
from baselines.pictures.spatial_transformer import SpatialTransformer
from baselines.presets import PRESETS

# The one list of baselines; a new one is a file and a row.
MODELS: dict[str, type[Baseline]] = {
    "soft_tiles": SoftTiles,
    "gaussian_window": GaussianWindow,
    "spatial_transformer": SpatialTransformer,
    "attention_sampling": AttentionSampling,
    "patch_selection": PatchSelection,
    "captioner": Captioner,
    "pointer": Pointer,
    "full_view": FullView,
    "ntm": NTM,
    "key_value_memory": KeyValueMemory,
    "lstm_memory": LSTMMemory,
}

ALGORITHMS: dict[str, Algorithm] = {
    name: Algorithm(model.config_class, partial(SupervisedLearner, model=model))
    for name, model in MODELS.items()
}


def main(arguments: list[str] | None = None) -> None:
    """The command line: a baseline's name, then its config's fields as options."""
    run_main("baselines.train", ALGORITHMS, arguments, presets=PRESETS)


if __name__ == "__main__":
    main()
