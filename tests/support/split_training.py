"""Trainings that several processes split: `python -m tests.support.split_training FOLDER CASE ...`,
by `torchrun` or alone; resumed where a run is there.

Weights are of float64, in which the order of sums, which differs between one process and two,
changes next to nothing.
"""

import sys
from dataclasses import replace
from pathlib import Path

import torch

from agents.algorithms.actor_critic import ActorCriticConfig
from agents.algorithms.exact import ExactConfig
from agents.algorithms.reinforce import ReinforceConfig
from agents.algorithms.straight_through import StraightThroughConfig
from agents.policy.networks import NetworkConfig
from agents.train import ALGORITHMS as LEARNERS
from agents.training.command_line import run_command
from agents.training.config import TrainingConfig
from agents.training.interrupts import raise_interrupted
from agents.training.resuming import resume_command
from baselines.memories.key_value_memory import KeyValueConfig
from baselines.pictures.gaussian_window import GaussianWindowConfig
from baselines.train import ALGORITHMS as BASELINES

UPDATES = 20
_SMALL = NetworkConfig(core_units=16, head_units=16)
_GLYPHS = "Glimpse/ClutteredGlyphs-v0"

CASES: dict[str, TrainingConfig] = {
    "reinforce": ReinforceConfig(
        env_id=_GLYPHS, copies=2, baseline="moving_average", network=_SMALL
    ),
    "parts": ReinforceConfig(env_id=_GLYPHS, parts=2, network=_SMALL),
    "random gaze": ReinforceConfig(env_id=_GLYPHS, gaze="random", network=_SMALL),
    "ppo": ActorCriticConfig(
        env_id=_GLYPHS,
        epochs=2,
        minibatches=4,
        copies=2,
        parts=2,
        normalise_advantages=True,
        target_kl=1e-6,
        network=_SMALL,
    ),
    "tape": ActorCriticConfig(
        env_id="Glimpse/Reverse-v0",
        env_kwargs={"min_length": 2, "length": 6},
        curriculum="threshold",
        answer_by="reward",
        look_weight=1.0,
        network=_SMALL,
    ),
    "recall": ActorCriticConfig(
        env_id="Glimpse/PrioritySort-v0",
        env_kwargs={"length": 4},
        network=replace(_SMALL, recall_glimpses=5, recall_units=8),
    ),
    # Of minibatches of one scene each, one process has no row: its context is read by none.
    "context": ActorCriticConfig(
        env_id="Glimpse/CenteredGlyphs-v0",
        env_kwargs={"context": True},
        copies=4,
        minibatches=4,
        network=replace(_SMALL, core="dram", detach_heads=False),
    ),
    "foreign": ActorCriticConfig(
        env_id="CartPole-v1",
        env_kwargs={"max_episode_steps": 30},  # some episodes are truncated
        answer_by="reward",
        look_weight=1.0,
        epochs=2,
        network=_SMALL,
    ),
    "soft": GaussianWindowConfig(env_id=_GLYPHS),
    "sampled reads": KeyValueConfig(addressing="soft_to_hard", network=_SMALL),
    "exact": ExactConfig(env_id=_GLYPHS, env_kwargs={"look": "tiles"}, network=_SMALL),
    "straight_through": StraightThroughConfig(
        env_id=_GLYPHS, env_kwargs={"look": "tiles"}, network=_SMALL
    ),
    "long": ReinforceConfig(
        env_id=_GLYPHS, episodes=16 * 5 * UPDATES, checkpoint_every=1, network=_SMALL
    ),
}
FLOAT32 = ("exact", "straight_through")
"""Learners that read tiles in float32; rounding errors grow, so their updates are fewer."""


def config_of(case: str) -> TrainingConfig:
    updates = 3 if case in FLOAT32 else UPDATES
    config = replace(
        CASES[case], batch_size=16, precision="float32", log_every=1, validation_episodes=0
    )
    return config if case == "long" else replace(config, episodes=updates * config.batch_size)


def train_case(case: str, folder: Path) -> None:
    config = config_of(case)
    torch.set_default_dtype(torch.float32 if case in FLOAT32 else torch.float64)
    try:
        {**LEARNERS, **BASELINES}[config.algorithm].train(
            config,
            folder,
            resume=True,
            progress_bar=False,
            how_to_resume=resume_command("agents.train", config, folder),
            on_interrupt=raise_interrupted,
        )
    finally:
        torch.set_default_dtype(torch.float32)


def main(folder: Path, cases: list[str]) -> None:
    for case in cases:
        train_case(case, folder / case)


if __name__ == "__main__":
    run_command(lambda: main(Path(sys.argv[1]), sys.argv[2:]), split=True)
