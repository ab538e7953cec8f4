"""The demo: watch an agent learn where to look. `make demo`, or `python -m agents.demo`.

Two models are trained side by side for the same time on built-in cluttered digits: one chooses its
glimpses, its twin is given random ones. Then both are scored on 10,000 unseen scenes.
"""

import multiprocessing
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.presets import PRESETS
from agents.scoring.run_scores import evaluate_run
from agents.scoring.scanners import RandomScanner
from agents.training.checks import check_counts, check_positive
from agents.training.command_line import read_options, run_command
from agents.training.interrupts import Interrupted, raise_interrupted
from agents.training.loop import train
from agents.training.precision import fastest_precision
from agents.training.resuming import resume_command
from glimpse_envs.evaluation.counting import count_episodes
from glimpse_envs.evaluation.films import write_showcase
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.evaluation.result import Evaluation, compare_table
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.run_lock import writing
from glimpse_envs.evaluation.runs import load_policy, open_run

TWIN_SAVES = 10.0
"""Seconds in which the twin ends its update and saves when the demo is interrupted."""


@dataclass(frozen=True)
class DemoConfig:
    """Train, evaluate and film a hard-attention agent."""

    env_id: str = "Glimpse/ClutteredGlyphs-v0"
    """Id of the environment."""
    minutes: float = 3.0
    """Length of the training in minutes of CPU time; the two models train at the same time."""
    episodes: int = 10_000
    """Number of test episodes to score on."""
    out: Path = Path("demo")
    """Folder of the runs, the film and the pictures; those of an earlier demo are replaced."""
    seed: int = 0
    """Random seed of scenes, samples and initial weights."""


def run_demo(demo: DemoConfig) -> dict[str, Evaluation]:
    """Train the two models, print the table, write film and contact sheet; return the scores.

    Raises:
        RunError: a training failed, or a folder of the demo is in use.
        ValueError: an option is invalid, or the environment hides no picture that can be scanned;
            an earlier demo is as it was.
        SourceError: the environment's data are missing; likewise.
        Interrupted: Ctrl-C; what is trained is saved, and is not scored.
    """
    check_counts(demo, "episodes")
    check_positive(demo, "minutes")
    with closing(gym.make(demo.env_id)) as env:
        RandomScanner(env, demo.seed)  # as the twin makes it, whose error would come as a traceback
        env.reset(seed=demo.seed)  # the data of the training are there
    count_episodes(
        demo.env_id, {}, split="test", episodes=demo.episodes, at_most=False, batch_size=1
    )
    demo.out.mkdir(parents=True, exist_ok=True)
    (preset,) = (c for c in PRESETS["pictures"] if isinstance(c, ReinforceConfig))
    learned = replace(
        preset,
        env_id=demo.env_id,
        minutes=demo.minutes,
        seed=demo.seed,
        precision=fastest_precision(),
    )
    control = replace(learned, gaze="random")
    folders = {"learned": demo.out / "run-learned", "random": demo.out / "run-random"}
    with ExitStack() as locks:  # both, before either is cleared
        for folder in folders.values():
            locks.enter_context(writing(folder))
        for folder in folders.values():
            _clear_run(folder)

    print(f"Training on {demo.env_id} for {demo.minutes:g} minutes: one model learns where to")
    print("look; its twin, trained in a second process, is given random glimpses.")
    with _training_beside(control, folders["random"]):
        train(
            Reinforce,
            learned,
            folders["learned"],
            how_to_resume=resume_command("agents.train", learned, folders["learned"]),
            on_interrupt=raise_interrupted,
        )

    print(f"\nScoring on {demo.episodes:,} unseen scenes ...")
    runs = {name: open_run(folder) for name, folder in folders.items()}
    scores = {
        "learned glimpses": evaluate_run(runs["learned"], episodes=demo.episodes),
        "random glimpses (trained so)": evaluate_run(runs["random"], episodes=demo.episodes),
        "raster scan (same model)": evaluate_run(
            runs["random"], episodes=demo.episodes, gaze="raster"
        ),
        "chance": evaluate(_Chance(demo.env_id), demo.env_id, episodes=demo.episodes),
    }
    print(f"\n{compare_table(scores)}\n")

    film, sheet = demo.out / "film.mp4", demo.out / "scanpaths.png"
    write_showcase(
        load_policy(folders["learned"]), demo.env_id, film, sheet, title="learned glimpses"
    )
    print(f"film:          {film}\ncontact sheet: {sheet}\nruns:          {demo.out}/run-*")
    return scores


@contextmanager
def _training_beside(config: ReinforceConfig, folder: Path) -> Iterator[None]:
    """Train in a second process meanwhile, to the end or, if this one is broken off, until it has
    saved.

    Raises:
        RunError: that training failed.
    """
    twin = multiprocessing.get_context("spawn").Process(
        target=_train_quietly, args=(config, folder), daemon=True
    )
    twin.start()
    try:
        yield
        twin.join()
    except Interrupted:
        # A terminal's Ctrl-C has reached the twin, too, and a second signal would break off its
        # update; where it has not, the first signal is the one below.
        twin.join(TWIN_SAVES)
        raise
    finally:
        twin.terminate()
        twin.join(TWIN_SAVES)
    if twin.exitcode != 0:
        raise RunError("the twin's training failed; its error stands above")


class _Chance:
    """A policy with random looks and answers."""

    def __init__(self, env_id: str) -> None:
        self.space = gym.make_vec(env_id, num_envs=1).single_action_space
        self.space.seed(0)

    def __call__(self, observation: dict[str, Any]) -> dict[str, Any]:
        rows = len(observation["remaining"])
        samples = [self.space.sample() for _ in range(rows)]
        return {name: np.stack([sample[name] for sample in samples]) for name in samples[0]}


def _train_quietly(config: ReinforceConfig, folder: Path) -> None:
    resume = resume_command("agents.train", config, folder)
    train(Reinforce, config, folder, progress_bar=False, how_to_resume=resume)


def _clear_run(folder: Path) -> None:
    """Remove the files of an earlier run, and no others."""
    for name in ("config.json", "metrics.jsonl", "checkpoint.safetensors"):
        (folder / name).unlink(missing_ok=True)
    for events in (folder / "tensorboard").glob("events.out.tfevents.*"):
        events.unlink()


def main() -> None:
    """The command line."""
    demo = read_options(DemoConfig, None, prog="python -m agents.demo")
    run_command(lambda: run_demo(demo))


if __name__ == "__main__":
    main()
