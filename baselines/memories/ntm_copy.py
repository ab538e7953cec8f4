"""The copy task of the Neural Turing Machine's paper (Graves et al. 2014, section 4.1).

    python -m baselines.memories.ntm_copy --minutes 20 --seed 0

A sequence of random 8-bit vectors is shown, then a delimiter; then, with nothing more shown, it is
to be put out. Trained on lengths 1 to 20, scored in wrong bits a sequence on longer ones. Killed or
stopped by Ctrl-C, the same command goes on from the last checkpoint.

As in the paper: memory 128 x 20, an LSTM of 100 units, one reading and one writing head, RMSProp
with momentum 0.9, gradients clipped to [-10, 10] entry by entry. `baselines.memories.copy_machine`
says what differs.
"""

import time
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import torch
import tyro

from agents.training.checkpoints import flatten, unflatten
from agents.training.command_line import run_command
from agents.training.interrupts import finish_on_interrupt
from agents.training.progress_bar import ProgressBar
from agents.training.resuming import check_same
from baselines.memories.copy_machine import (
    CopyConfig,
    CopyMachine,
    CopyTraining,
    draw_sequences,
    wrong_bits,
)
from glimpse_envs.evaluation.record import NTM_COPY, Model, Record, Score
from glimpse_envs.evaluation.records import pack, write_record
from glimpse_envs.evaluation.runs import create_run, hardware, open_run
from glimpse_envs.evaluation.statistics import wilson_interval

SCORED_LENGTHS = (10, 20, 40, 80, 120)
MODEL = Model("NTM LSTM", sees="everything", attention="soft", reference_kind="NTM")


class CopyRun:
    """A training in a run's folder, begun anew or taken up where it was left.

    Args:
        config: what to train; that of the run, where there is one.
        folder: made if it is not there.

    Raises:
        RunError: the run in `folder` has another config, or is damaged.
        ValueError: the config has a value that cannot be.
    """

    def __init__(self, config: CopyConfig, folder: Path) -> None:
        self.config, self.training = config, CopyTraining(config)
        self.updates, self.seconds = 0, 0.0
        self.window: dict[str, float] = {}  # sums of metrics since the last line
        if (folder / "config.json").exists():
            self.run = open_run(folder)
            check_same(self.run, config)
        else:
            self.run = create_run(folder, {
                "policy": "baselines.memories.copy_machine:CopyMachine",
                "model": asdict(MODEL),
                "algorithm": config.algorithm,
                "config": asdict(config),
                "seed": config.seed,
                "hardware": hardware(1),
            })  # fmt: skip
        if self.run.has_checkpoint:
            tensors, metadata = self.run.load_checkpoint()
            self.training.load_state_dict(unflatten(tensors, metadata["numbers"]))
            self.updates, self.seconds = metadata["updates"], metadata["seconds"]
            self.window = metadata["window"]
        self.run.cut_metrics(self.sequences)

    @property
    def sequences(self) -> int:
        """Learned from so far."""
        return self.updates * self.config.batch_size

    @property
    def finished(self) -> bool:
        """Whether it has had its minutes."""
        return self.seconds >= 60 * self.config.minutes

    def go(self, stop_after: int | None = None, progress_bar: bool = True) -> None:
        """Train to the end, to Ctrl-C or to so many updates in all, and save.

        Raises:
            FloatingPointError: the loss is not finite; what is saved is the last checkpoint.
        """
        total, log_every = 60 * self.config.minutes, self.config.log_every
        bar = ProgressBar(
            total, True, self.config.batch_size, self.sequences, self.seconds, progress_bar
        )
        with closing(bar), finish_on_interrupt() as interrupted:
            while not self.finished and not interrupted and self.updates != stop_after:
                started = time.process_time()
                metrics = self.training.update(self.seconds / total)
                self.seconds += time.process_time() - started
                self.updates += 1
                bar.show(self.sequences, self.seconds, metrics)
                for name, value in metrics.items():
                    self.window[name] = self.window.get(name, 0.0) + value / log_every
                if self.updates % log_every == 0:
                    line = {**self.window, "seconds": self.seconds}
                    self.run.append_metrics(self.sequences, line)
                    self.window = {}
                    self.save()
        self.save()

    def save(self) -> None:
        """Replace the checkpoint."""
        tensors, numbers = flatten(self.training.state_dict())
        self.run.save_checkpoint(
            tensors,
            {
                "numbers": numbers,
                "updates": self.updates,
                "seconds": self.seconds,
                "window": self.window,
            },
        )


def score(model: CopyMachine, sequences: int, seed: int = 0) -> dict[int, Score]:
    """How `model` copies random sequences of each of `SCORED_LENGTHS`, the same for all models.

    Returns:
        length -> score; an episode has success if every bit of its sequence is copied.
    """
    generator = torch.Generator().manual_seed(seed)
    scores = {}
    for length in SCORED_LENGTHS:
        bits = draw_sequences(sequences, length, model.bits, generator)
        with torch.no_grad():
            wrong = torch.cat([wrong_bits(model(batch), batch) for batch in torch.split(bits, 50)])
        whole = (wrong == 0).numpy()
        low, high = wilson_interval(int(whole.sum()), sequences)
        scores[length] = Score(
            split="test",
            episodes=sequences,
            success=float(whole.mean()),
            success_interval=(low, high),
            mean_return=None,
            return_interval=None,
            glimpses=None,
            level=length,
            costs={"wrong_bits": wrong.mean().item(), "wrong_bits_greatest": wrong.max().item()},
            successes=pack(whole),
        )
    return scores


def make_record(copy: CopyRun, scores: dict[int, Score]) -> Record:
    """The record of a run and its scores; the greatest length of the training stands first."""
    config = copy.config
    return Record(
        env_id=NTM_COPY,
        env_kwargs={},
        model=MODEL,
        algorithm=config.algorithm,
        command=copy.run.config["command"],
        seed=config.seed,
        budget=1,
        levels=(config.min_length, config.length),
        episodes=copy.sequences,
        seconds=round(copy.seconds, 1),
        cores=1,
        hardware=copy.run.config["hardware"],
        revision=copy.run.config["revision"],
        versions=copy.run.config["versions"],
        config=asdict(config),
        scores=tuple(sorted(scores.values(), key=lambda score: score.level != config.length)),
    )


@dataclass(frozen=True)
class CopyOptions:
    """Where all is kept."""

    run: Path | None = None
    """The run's folder; runs/ntm-copy-SEED where none is given."""
    record: Path = Path("results/memory")
    """The folder of the record."""


def main(arguments: list[str] | None = None) -> None:
    """The command line: train, score, and write the record down."""
    prog, about = "python -m baselines.memories.ntm_copy", "Train an NTM to copy, and score it."
    kinds = tyro.conf.arg(name="")
    config, options = tyro.cli(
        tuple[Annotated[CopyConfig, kinds], Annotated[CopyOptions, kinds]],
        args=arguments, prog=prog, description=about,
    )  # fmt: skip
    run_command(lambda: _train_and_score(config, options))


def _train_and_score(config: CopyConfig, options: CopyOptions) -> None:
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    copy = CopyRun(config, options.run or Path("runs") / f"ntm-copy-{config.seed}")
    copy.go()
    if not copy.finished:
        print(f"saved after {copy.sequences:,} sequences; the same command goes on")
        return
    # Read anew: a compiled step would be compiled once more for these batches.
    scores = score(CopyMachine.from_run(copy.run), config.test_sequences)
    for length, found in scores.items():
        print(f"length {length:>3}: {found.costs['wrong_bits']:.2f} wrong bits a sequence")
    print(f"recorded in {write_record(make_record(copy, scores), options.record)}")


if __name__ == "__main__":
    main()
