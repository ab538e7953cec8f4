"""Settings of REINFORCE's training at equal core-minutes, judged on validation scenes.

    python -m benchmarks.trials [--minutes 4] [--long 15] [--record results/benchmarks]

Each trial is one run of one seed on cluttered MNIST with eight glimpses, from the preset of
pictures with some changes. Differences below a percentage point are noise. Then the preset itself
is trained as long and for longer, with three seeds; its rivals (`RIVALS`) are trained for the
longer time, with the same seeds. The runs are kept; the same command goes on with them.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.algorithms.algorithm import Trainable
from agents.algorithms.reinforce import ReinforceConfig
from agents.policy.networks import NetworkConfig
from agents.presets import PRESETS
from agents.scoring.run_scores import evaluate_run
from agents.train import ALGORITHMS
from agents.training.command_line import run_command
from benchmarks.options import options_parser, write_benchmark
from benchmarks.whole_runs import train_to_end
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.evaluation.runs import Run

ENV_ID, VALIDATION, SEED = "Glimpse/ClutteredMNIST-v0", 5_000, 1
SEEDS = (0, 1, 2)
"""Of the preset's runs and of its rivals'."""

_SCENE = NetworkConfig()
_CELLS = replace(_SCENE, look_coordinates="cells")
_HALF = replace(
    _CELLS, what_units=128, where_units=64, glimpse_units=256, core_units=128, head_units=64
)
_QUARTER = replace(
    _CELLS, what_units=64, where_units=32, glimpse_units=128, core_units=64, head_units=32
)


def _adam(network: NetworkConfig) -> dict[str, Any]:
    return {
        "network": network,
        "optimizer": "adam",
        "batch_size": 128,
        "learning_rate": 1e-3,
        "weight_decay": 0.0,
    }


def _muon(
    network: NetworkConfig = _CELLS, batch: int = 1024, rate: float = 5e-3, **more: Any
) -> dict[str, Any]:
    return {
        "network": network,
        "optimizer": "muon",
        "batch_size": batch,
        "learning_rate": rate,
        "weight_decay": 0.0,
        **more,
    }


TRIALS: dict[str, dict[str, Any]] = {
    "looks in the scene (RAM); Adam, batch 128, rate 0.001": _adam(_SCENE),
    "looks in the scene (RAM); Muon, batch 1024, rate 0.005": _muon(_SCENE),
    "looks at cells; Adam, batch 128, rate 0.001": _adam(_CELLS),
    "looks at cells; Muon, batch 512, rate 0.004": _muon(batch=512, rate=4e-3),
    "looks at cells; Muon, batch 1024, rate 0.005": _muon(),
    "the same, rate 0.01": _muon(rate=1e-2),
    "the same, looks weigh 0.3 for 0.1": _muon(look_weight=0.3),
    "the same, each scene four times, leave-one-out baseline": _muon(
        copies=4, baseline="leave_one_out"
    ),
    "the same, weight decay 0.01": _muon(weight_decay=0.01),
    "half as many units": _muon(_HALF),
    "half as many units, rate 0.01": _muon(_HALF, rate=1e-2),
    "half as many units, rate 0.02": _muon(_HALF, rate=2e-2),
    "half as many units, looks weigh 0.3": _muon(_HALF, look_weight=0.3),
    "half as many units, batch 512": _muon(_HALF, batch=512),
    "a quarter of the units": _muon(_QUARTER),
}
"""Settings in words -> changes of the preset."""

RIVALS: dict[str, dict[str, Any]] = {
    "half as many units": _muon(_HALF),
    "half as many units, weight decay 0.1": _muon(_HALF, weight_decay=0.1),
}
"""Settings in words -> changes of the preset; they are compared with it in the longer runs."""


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = options_parser(__doc__)
    parser.add_argument("--minutes", type=float, default=4.0, help="core-minutes of a trial; 4")
    parser.add_argument("--long", type=float, default=15.0, help="core-minutes of a longer run; 15")
    parser.add_argument(
        "--out", type=Path, default=Path("runs/trials"), help="folder of the runs; runs/trials"
    )
    options = parser.parse_args(arguments)
    found, revisions = [], set()
    for settings, changes in TRIALS.items():
        folder = options.out / f"{folder_name(settings)}-{options.minutes:g}-minutes"
        run, error = tried(changes, options.minutes, SEED, folder)
        episodes = run.load_checkpoint()[1]["episodes"]
        print(f"{settings:60} {episodes:9,} episodes, error {error:.2%}", flush=True)
        trial = {"settings": settings, "sees": "glimpses", "episodes": episodes}
        found.append({**trial, "error": error, "note": ""})
        revisions.add(run.config["revision"])
    preset, rivals = [], []
    for minutes in (options.minutes, options.long):
        errors, of_runs = _by_seed({}, minutes, "preset", options.out)
        preset.append({"minutes": minutes, "errors": errors})
        revisions |= of_runs
    for settings, changes in RIVALS.items():
        errors, of_runs = _by_seed(changes, options.long, settings, options.out)
        rivals.append({"settings": settings, "minutes": options.long, "errors": errors})
        revisions |= of_runs
    entries = {
        "env_id": ENV_ID,
        "glimpses": 8,
        "minutes": options.minutes,
        "seed": SEED,
        "validation_episodes": VALIDATION,
        "trials": found,
        "preset": preset,
        "rivals": rivals,
        "revisions": sorted(revisions),
    }
    write_benchmark(options.record, "trials", entries)


def _by_seed(
    changes: dict[str, Any], minutes: float, settings: str, out: Path
) -> tuple[list[float], set[str]]:
    """Train with `changes` of the preset, once a seed; return the errors and the runs'
    revisions."""
    errors, revisions = [], set()
    for seed in SEEDS:
        folder = out / f"{folder_name(settings)}-{minutes:g}-minutes-seed{seed}"
        run, error = tried(changes, minutes, seed, folder)
        print(f"{settings}, {minutes:g} core-minutes, seed {seed}: error {error:.2%}", flush=True)
        errors.append(error)
        revisions.add(run.config["revision"])
    return errors, revisions


def folder_name(settings: str) -> str:
    """Settings in words as the name of a folder."""
    return re.sub(r"[^a-z0-9.]+", "-", settings.lower()).strip("-")


def tried(changes: dict[str, Any], minutes: float, seed: int, folder: Path) -> tuple[Run, float]:
    """Train with `changes` of the preset in `folder`, or go on there; return the run and its error
    on validation.

    Raises:
        RunError: see `benchmarks.whole_runs.train_to_end`.
    """
    (preset,) = (c for c in PRESETS["pictures"] if isinstance(c, ReinforceConfig))
    config = replace(preset, env_id=ENV_ID, seed=seed, minutes=minutes, **changes)
    run, score = trained_and_judged(ALGORITHMS["reinforce"], config, folder, VALIDATION)
    assert score.success is not None
    return run, 1 - score.success


def trained_and_judged(
    algorithm: Trainable, config: Any, folder: Path, scenes: int
) -> tuple[Run, Evaluation]:
    """Train in `folder`, or go on there; return the run and its score on so many validation scenes.

    Raises:
        RunError: see `benchmarks.whole_runs.train_to_end`.
    """
    run = train_to_end(algorithm, config, folder)
    return run, evaluate_run(run, split="validation", episodes=scenes, at_most=True)


if __name__ == "__main__":
    run_command(main)
