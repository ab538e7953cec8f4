"""The copy task of the Neural Turing Machine's paper (Graves et al. 2014, section 4.1).

    python -m baselines.memories.ntm_copy --seed 0 --scored-cells 128 512

The input is a sequence of random 8-bit vectors and a delimiter; the output, without further input,
is the same sequence. Training is on lengths 1 to 20; the score is the number of wrong bits in
longer sequences. The cells are a ring, around which the writing head may come back to the first
vectors of a long sequence; no weight's shape depends on the number of cells, so that a trained
machine may be scored with more of them. After a kill or Ctrl-C, `--run RUN --resume` goes on from
the last checkpoint.

As in the paper: memory 128 x 20, an LSTM of 100 units, one reading and one writing head, RMSProp
with momentum 0.9, gradients clipped to [-10, 10] entry by entry. Departures are listed in
`baselines.memories.copy_machine`.
"""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import torch
import tyro

from agents.train_settings import EarlyOptions, config_to_resume
from agents.training.command_line import FOLDER, join_help_lines, run_command
from agents.training.loop import train
from agents.training.resuming import read_config
from agents.training.training_length import what_is_left
from baselines.memories.copy_machine import (
    MODEL,
    CopyConfig,
    CopyMachine,
    CopyTraining,
    draw_sequences,
    wrong_bits,
)
from baselines.memories.ntm import NTMMemory
from glimpse_envs.evaluation.record import NTM_COPY, Record, Score
from glimpse_envs.evaluation.records import pack, write_record
from glimpse_envs.evaluation.runs import Run
from glimpse_envs.evaluation.statistics import wilson_interval

SCORED_LENGTHS = (10, 20, 40, 80, 120)
TEST_SEED = 2**32 - 1
"""The last of those that torch's CPU generator, which keeps 32 bits of a seed, tells apart:
trainings count theirs from 0, and draw their sequences in the same way."""


def score(
    model: CopyMachine,
    sequences: int,
    seed: int = TEST_SEED,
    lengths: Sequence[int] = SCORED_LENGTHS,
) -> dict[int, Score]:
    """Score `model` on random sequences of each of `lengths`, of which those of the first ones,
    `SCORED_LENGTHS`, are the same for all models.

    Returns:
        length -> score; an episode has success if every bit of its sequence is copied.
    """
    generator = torch.Generator().manual_seed(seed)
    scores = {}
    for length in lengths:
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


def make_record(run: Run, scores: dict[int, Score], cells: int) -> Record:
    """The record of a run and its scores with a memory of `cells`; the greatest length of the
    training stands first."""
    config = read_config(run, CopyConfig)
    _, metadata = run.load_checkpoint()
    return Record(
        env_id=NTM_COPY,
        env_kwargs={} if cells == config.cells else {"cells": cells},
        model=MODEL,
        algorithm=config.algorithm,
        command=run.config["command"],
        seed=config.seed,
        budget=1,
        levels=(config.min_length, config.length),
        episodes=metadata["episodes"],
        seconds=round(metadata["seconds"], 1),
        cores=1,
        hardware=run.config["hardware"],
        revision=run.config["revision"],
        versions=run.config["versions"],
        config=asdict(config),
        defaults=run.config.get("defaults", {}),
        scores=tuple(sorted(scores.values(), key=lambda score: score.level != config.length)),
    )


@dataclass(frozen=True)
class CopyOptions:
    """Folders of the run and of the record."""

    run: Annotated[Path | None, FOLDER] = None
    """Folder of the run; None: runs/ntm-copy-SEED."""
    resume: bool = False
    """Resume the run in the folder of --run, if there is one, with its own settings. Only log-every
    may change; minutes may grow."""
    record: Path = Path("results/memory")
    """Folder of the record."""
    scored_cells: tuple[int, ...] = ()
    """Numbers of cells of the memory in the scores, a record for each; that of the training where
    none is given."""


def main(arguments: list[str] | None = None) -> None:
    """The command line: train, score and write the record."""
    prog, about = "python -m baselines.memories.ntm_copy", "Train an NTM to copy, and score it."
    kinds = tyro.conf.arg(name="")

    def command() -> None:
        given = sys.argv[1:] if arguments is None else arguments
        start = config_to_resume(CopyConfig, EarlyOptions.read(given)) or CopyConfig()
        join_help_lines(CopyConfig, CopyOptions)
        config, options = tyro.cli(
            tuple[Annotated[CopyConfig, kinds], Annotated[CopyOptions, kinds]],
            args=given, prog=prog, description=about, default=(start, CopyOptions()),
        )  # fmt: skip
        _train_and_score(config, options)

    run_command(command)


def _train_and_score(config: CopyConfig, options: CopyOptions) -> None:
    for cells in options.scored_cells:
        NTMMemory(1, cells, 1)  # refused before the training
    folder = options.run or Path("runs") / f"ntm-copy-{config.seed}"
    how = f"python -m baselines.memories.ntm_copy --run {shlex.quote(str(folder))} --resume"
    run = train(CopyTraining, config, folder, resume=options.resume, how_to_resume=how)
    if what_is_left(run):
        return
    lengths = list(dict.fromkeys([*SCORED_LENGTHS, config.length]))
    for cells in options.scored_cells or (config.cells,):
        # Loaded from the run, because a compiled step would be compiled again for these batches.
        model = CopyMachine.from_run(run, cells)
        scores = score(model, config.test_sequences, lengths=lengths)
        for length, found in sorted(scores.items()):
            wrong = found.costs["wrong_bits"]
            print(f"{cells} cells, length {length:>3}: {wrong:.2f} wrong bits a sequence")
        print(f"recorded in {write_record(make_record(run, scores, cells), options.record)}")


if __name__ == "__main__":
    main()
