"""Settings of REINFORCE's training at equal core-minutes, judged on validation scenes.

    python -m benchmarks.trials [--minutes 4] [--record results/benchmarks]

Each trial is one run of one seed on cluttered MNIST with eight glimpses, from the preset of
pictures with some changes. Differences below a percentage point are noise.
"""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.presets import PRESETS
from agents.scoring.run_scores import evaluate_run
from agents.training.loop import train
from benchmarks.options import options_parser, write_benchmark

ENV_ID, VALIDATION, SEED = "Glimpse/ClutteredMNIST-v0", 5_000, 1

TRIALS: dict[str, dict[str, Any]] = {
    "Adam, batch 128, rate 0.001": {
        "optimizer": "adam", "batch_size": 128, "learning_rate": 1e-3,
    },
    "Adam, batch 256, rate 0.0015": {
        "optimizer": "adam", "batch_size": 256, "learning_rate": 1.5e-3,
    },
    "Adam, batch 512, rate 0.002": {
        "optimizer": "adam", "batch_size": 512, "learning_rate": 2e-3,
    },
    "Muon, batch 512, rate 0.004": {"batch_size": 512, "learning_rate": 4e-3},
    "Muon, batch 1024, rate 0.005": {},
    "Muon, batch 1024, rate 0.01": {"learning_rate": 1e-2},
}  # fmt: skip
"""Settings in words -> changes of the preset."""


def main() -> None:
    """The command line."""
    parser = options_parser(__doc__)
    parser.add_argument("--minutes", type=float, default=4.0, help="core-minutes of a trial; 4")
    arguments = parser.parse_args()
    found = []
    for settings, changes in TRIALS.items():
        episodes, error = tried(changes, arguments.minutes)
        print(f"{settings:32} {episodes:9,} episodes, error {error:.2%}", flush=True)
        found.append({"settings": settings, "episodes": episodes, "error": error, "note": ""})
    entries = {
        "env_id": ENV_ID,
        "minutes": arguments.minutes,
        "seed": SEED,
        "validation_episodes": VALIDATION,
        "trials": found,
    }
    write_benchmark(arguments.record, "trials", entries)


def tried(changes: dict[str, Any], minutes: float) -> tuple[int, float]:
    """Train with `changes` of the preset; return the episodes and the error on validation."""
    (preset,) = (c for c in PRESETS["pictures"] if isinstance(c, ReinforceConfig))
    config = replace(preset, env_id=ENV_ID, seed=SEED, minutes=minutes, **changes)
    with TemporaryDirectory() as folder:
        run = train(Reinforce, config, Path(folder) / "run", progress_bar=False)
        _, metadata = run.load_checkpoint()
        score = evaluate_run(run, split="validation", episodes=VALIDATION)
    assert score.success is not None
    return metadata["episodes"], 1 - score.success


if __name__ == "__main__":
    main()
