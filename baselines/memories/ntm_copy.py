"""The copy task of the Neural Turing Machine's paper (Graves et al. 2014, section 4.1).

    python -m baselines.memories.ntm_copy --minutes 20 --seed 0

The input is a sequence of random 8-bit vectors, then a delimiter, then nothing while the sequence
is to be repeated. Trained on lengths 1 to 20, scored in wrong bits a sequence on longer ones. After
a kill or Ctrl-C, the same command goes on from the last checkpoint.

As in the paper: memory 128 x 20, an LSTM of 100 units, one reading and one writing head, RMSProp
with momentum 0.9, gradients clipped to [-10, 10] entry by entry. Departures are listed in
`baselines.memories.copy_machine`.
"""

import json
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
from glimpse_envs.core.files import write_atomically
from glimpse_envs.evaluation.runs import create_run, hardware, open_run

SCORED_LENGTHS = (10, 20, 40, 80, 120)


class CopyRun:
    """A training in a run's folder, new or resumed.

    Args:
        config: of the training; it must be that of the run in `folder`, if there is one.
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
                "algorithm": type(config).__name__,
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
        """Number of training sequences so far."""
        return self.updates * self.config.batch_size

    @property
    def finished(self) -> bool:
        """Whether the training has taken all its minutes."""
        return self.seconds >= 60 * self.config.minutes

    def go(self, stop_after: int | None = None, progress_bar: bool = True) -> None:
        """Train until the end, Ctrl-C or `stop_after` updates in all, and save.

        Raises:
            FloatingPointError: the loss is not finite; the last checkpoint is kept.
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


def score(model: CopyMachine, sequences: int, seed: int = 0) -> dict[str, dict[str, float]]:
    """Scores of `model` on random sequences of `SCORED_LENGTHS`, the same for all models.

    Returns:
        By length: the mean of `wrong_bits` a sequence, the `greatest` number of them, and the share
        of sequences copied `wholly`.
    """
    generator = torch.Generator().manual_seed(seed)
    scores = {}
    for length in SCORED_LENGTHS:
        bits = draw_sequences(sequences, length, model.bits, generator)
        with torch.no_grad():
            wrong = torch.cat([wrong_bits(model(batch), batch) for batch in torch.split(bits, 50)])
        scores[str(length)] = {
            "wrong_bits": wrong.mean().item(),
            "greatest": wrong.max().item(),
            "wholly": (wrong == 0).float().mean().item(),
        }
    return scores


@dataclass(frozen=True)
class CopyOptions:
    """Folders of the results."""

    run: Path | None = None
    """Folder of the run; runs/ntm-copy-SEED by default."""
    record: Path = Path("results/memory")
    """Folder of the record."""


def main(arguments: list[str] | None = None) -> None:
    """The command line: train, score, and write the record."""
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
    # Loaded anew: a compiled step would be compiled once more for these batches.
    scores = score(CopyMachine.from_run(copy.run), config.test_sequences)
    for length, of_length in scores.items():
        print(f"length {length:>3}: {of_length['wrong_bits']:.2f} wrong bits a sequence")
    record = {
        "task": "NTM copy",
        "config": asdict(config),
        "seed": config.seed,
        "sequences": copy.sequences,
        "seconds": copy.seconds,
        "hardware": copy.run.config["hardware"],
        "revision": copy.run.config["revision"],
        "test_sequences": config.test_sequences,
        "by_length": scores,
    }
    path = options.record / f"ntm_copy_seed{config.seed}.json"
    write_atomically(path, f"{json.dumps(record, indent=1)}\n".encode())
    print(f"the record is {path}")


if __name__ == "__main__":
    main()
