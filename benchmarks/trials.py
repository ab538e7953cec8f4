"""Settings of REINFORCE's training at equal core-minutes, judged on validation scenes.

    python -m benchmarks.trials [--minutes 4] [--long 15] [--record results/benchmarks]

Each trial is one run of one seed on cluttered MNIST with eight glimpses, from the preset of
pictures with some changes. Differences below a percentage point are noise. Then the preset itself
is trained for longer, with three seeds.
"""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.policy.networks import NetworkConfig
from agents.presets import PRESETS
from agents.scoring.run_scores import evaluate_run
from agents.training.loop import train
from benchmarks.options import options_parser, write_benchmark

ENV_ID, VALIDATION, SEED = "Glimpse/ClutteredMNIST-v0", 5_000, 1
SEEDS = (0, 1, 2)
"""Of the longer runs."""

_ADAM = {"optimizer": "adam", "batch_size": 128, "learning_rate": 1e-3}
_SCENE = {"network": NetworkConfig()}

TRIALS: dict[str, dict[str, Any]] = {
    "looks in the scene (RAM); Adam, batch 128, rate 0.001": {**_SCENE, **_ADAM},
    "looks in the scene (RAM); Muon, batch 1024, rate 0.005": _SCENE,
    "looks at cells; Adam, batch 128, rate 0.001": _ADAM,
    "looks at cells; Muon, batch 512, rate 0.004": {"batch_size": 512, "learning_rate": 4e-3},
    "looks at cells; Muon, batch 1024, rate 0.005": {},
    "looks at cells; Muon, batch 1024, rate 0.01": {"learning_rate": 1e-2},
    "looks at cells; Muon, batch 1024, rate 0.005, looks weigh 0.3 for 0.1": {"look_weight": 0.3},
}
"""Settings in words -> changes of the preset."""


def main() -> None:
    """The command line."""
    parser = options_parser(__doc__)
    parser.add_argument("--minutes", type=float, default=4.0, help="core-minutes of a trial; 4")
    parser.add_argument("--long", type=float, default=15.0, help="core-minutes of a longer run; 15")
    arguments = parser.parse_args()
    found = []
    for settings, changes in TRIALS.items():
        episodes, error = tried(changes, arguments.minutes, SEED)
        print(f"{settings:70} {episodes:9,} episodes, error {error:.2%}", flush=True)
        found.append({"settings": settings, "episodes": episodes, "error": error, "note": ""})
    long = []
    for seed in SEEDS:
        episodes, error = tried({}, arguments.long, seed)
        print(f"{arguments.long:g} core-minutes, seed {seed}: error {error:.2%}", flush=True)
        long.append(error)
    entries = {
        "env_id": ENV_ID,
        "glimpses": 8,
        "minutes": arguments.minutes,
        "seed": SEED,
        "validation_episodes": VALIDATION,
        "trials": found,
        "long_minutes": arguments.long,
        "long_errors": long,
    }
    write_benchmark(arguments.record, "trials", entries)


def tried(changes: dict[str, Any], minutes: float, seed: int) -> tuple[int, float]:
    """Train with `changes` of the preset; return the episodes and the error on validation."""
    (preset,) = (c for c in PRESETS["pictures"] if isinstance(c, ReinforceConfig))
    config = replace(preset, env_id=ENV_ID, seed=seed, minutes=minutes, **changes)
    with TemporaryDirectory() as folder:
        run = train(Reinforce, config, Path(folder) / "run", progress_bar=False)
        _, metadata = run.load_checkpoint()
        score = evaluate_run(run, split="validation", episodes=VALIDATION)
    assert score.success is not None
    return metadata["episodes"], 1 - score.success


if __name__ == "__main__":
    main()
