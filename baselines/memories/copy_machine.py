"""An NTM that learns to copy, and its learner, for the command `baselines.memories.ntm_copy`.

Departures from the paper (Graves et al. 2014, section 4.1): an update sees a batch of sequences of
one length (the paper: one sequence) at a higher learning rate, which falls at the end; gradients
are means over the batch, which are clipped; and the memory is constant at first. Its optimizer is
Graves's RMSProp (2013, "Generating Sequences", equations 38 to 45) but for a constant: PyTorch adds
it after the root, where 1e-2 equals the root of his 1e-4 if the gradient does not vary.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from agents.policy.core import State
from agents.policy.cores import make_core
from agents.policy.networks import NetworkConfig
from agents.training.checkpoints import load_moments, load_weights
from agents.training.checks import check_counts, check_positive
from agents.training.resuming import read_config
from agents.training.row_draws import seed_of_draws
from baselines.memories.ntm import MemoryState, NTMMemory
from glimpse_envs.core.arguments import check_seed
from glimpse_envs.evaluation.record import Model
from glimpse_envs.evaluation.runs import Run

MODEL = Model("NTM LSTM", sees="everything", attention="soft", reference_kind="NTM")


@dataclass(frozen=True)
class CopyConfig:
    """Train an NTM to copy."""

    algorithm: ClassVar[str] = "ntm_copy"
    # The further options of the loop, which are fixed.
    episodes: ClassVar[int] = 0
    stop_at: ClassVar[float | None] = None
    validate_every: ClassVar[int] = 0
    validation_episodes: ClassVar[int] = 0
    device: ClassVar[str] = "cpu"
    threads: ClassVar[int] = 1

    seed: int = 0
    """Random seed of sequences and initial weights."""
    minutes: float = 6.0
    """Length of the training in minutes of CPU time on one core; the learning rate follows this
    clock."""
    batch_size: int = 16
    """Number of sequences at once, all of one length; each update learns from one such batch. The
    paper: 1."""
    bits: int = 8
    """Number of bits in each vector."""
    min_length: int = 1
    """Minimum number of vectors in a training sequence."""
    length: int = 20
    """Maximum number of vectors in a training sequence."""
    cells: int = 128
    """Number of cells of the memory, N."""
    width: int = 20
    """Number of entries of a cell, W."""
    units: int = 100
    """Number of units of the controller, an LSTM."""
    learning_rate: float = 5e-4
    """Learning rate of RMSProp; it falls linearly to 0 over the last third of the training. The
    paper: 1e-4 throughout."""
    momentum: float = 0.9
    """Momentum of RMSProp."""
    clip: float = 10.0
    """Maximum absolute value of each entry of the gradient; larger ones are clipped to it."""
    test_sequences: int = 200
    """Number of sequences scored after the training, at lengths of 10 to 120 and at --length."""
    compile: bool = False
    """Compile the step: needs a C++ compiler, takes half a minute, and more than doubles the
    speed."""
    log_every: int = 500
    """Number of updates from one line of metrics, and one checkpoint, to the next."""

    @property
    def checkpoint_every(self) -> int:
        return self.log_every


class Step(nn.Module):
    """One step of an NTM: from an input and the last read to the controller's state and the
    heads'."""

    def __init__(self, config: CopyConfig) -> None:
        super().__init__()
        self.memory = NTMMemory(config.units, config.cells, config.width)
        inputs = config.bits + 1 + self.memory.read_size
        self.core = make_core(NetworkConfig(core="lstm", core_units=config.units), inputs)

    def forward(
        self, vector: Tensor, core: State, memory: MemoryState
    ) -> tuple[State, MemoryState]:
        """The states after the input `vector` (B, bits + 1)."""
        core = self.core(torch.cat([vector, memory.read], dim=1), core)
        return core, self.memory(core[0], memory)


class CopyMachine(nn.Module):
    """An NTM that reads a sequence and then repeats it, vector by vector."""

    def __init__(self, config: CopyConfig) -> None:
        super().__init__()
        self.bits = config.bits
        self.step = Step(config)
        self.output = nn.Linear(config.units + self.step.memory.read_size, config.bits)

    def forward(self, sequences: Tensor) -> Tensor:
        """Logits (B, L, bits) of the copies of `sequences` (B, L, bits) of zeros and ones."""
        rows, length = sequences.shape[:2]
        inputs = F.pad(sequences, (0, 1, 0, 1))  # a channel and a step for the delimiter
        inputs[:, length, self.bits] = 1.0
        nothing = torch.zeros_like(inputs[:, 0])
        core = self.step.core.initial_state(rows)
        memory = self.step.memory.initial_state(rows)
        outputs = []
        for step in range(2 * length + 1):
            vector = inputs[:, step].contiguous() if step <= length else nothing
            core, memory = self.step(vector, core, memory)
            if step > length:
                outputs.append(torch.cat([core[0], memory.read], dim=1))
        return self.output(torch.stack(outputs, dim=1))

    @classmethod
    def from_run(cls, run: Run, cells: int | None = None) -> Self:
        """Load the model of a run from its last checkpoint.

        Args:
            run: of `CopyTraining`.
            cells: of its memory, on which no weight's shape depends; None: those of the training.

        Raises:
            glimpse_envs.evaluation.run_errors.RunError: the run or its checkpoint is missing or
                damaged.
            ValueError: there cannot be so few cells.
        """
        config = read_config(run, CopyConfig)
        model = cls(config if cells is None else replace(config, cells=cells))
        load_weights(model, run)
        return model.eval()


def draw_sequences(rows: int, length: int, bits: int, generator: torch.Generator) -> Tensor:
    """Random zeros and ones (rows, length, bits) float32."""
    return torch.randint(2, (rows, length, bits), generator=generator).float()


class CopyTraining:
    """The learner: model, optimizer and random stream.

    Raises:
        ValueError: the config has an invalid value.
    """

    policy_class = "baselines.memories.copy_machine:CopyMachine"
    model = MODEL
    resumable = True

    def __init__(self, config: CopyConfig) -> None:
        check_counts(
            config, "batch_size", "bits", "min_length", "cells", "width", "units",
            "test_sequences", "log_every",
        )  # fmt: skip
        check_seed(config.seed)
        check_positive(config, "minutes", "learning_rate", "clip")
        if not 0 <= config.momentum < 1:
            raise ValueError(f"momentum={config.momentum} must be at least 0 and below 1")
        if config.length < config.min_length:
            raise ValueError(
                f"length={config.length} must be at least min_length={config.min_length}"
            )
        self.config = config
        torch.manual_seed(config.seed)
        self.policy = CopyMachine(config)
        if config.compile:
            self.policy.step.compile(dynamic=False)
        self.optimizer = torch.optim.RMSprop(
            self.policy.parameters(),
            lr=config.learning_rate,
            alpha=0.95,
            eps=1e-2,
            momentum=config.momentum,
            centered=True,
            foreach=True,
        )
        self.generator = torch.Generator().manual_seed(seed_of_draws(config.seed))

    def update(self, progress: float) -> dict[str, float]:
        """Learn from one batch; return the wrong bits of a sequence and the loss in nats a bit.

        Raises:
            FloatingPointError: the loss is not finite; the model is unchanged.
        """
        config = self.config
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * min(1.0, 3 * (1 - progress))
        lengths = (config.min_length, config.length + 1)
        length = int(torch.randint(*lengths, (), generator=self.generator))
        bits = draw_sequences(config.batch_size, length, config.bits, self.generator)
        logits = self.policy(bits)
        loss = F.binary_cross_entropy_with_logits(logits, bits)
        if not torch.isfinite(loss):
            raise FloatingPointError(f"the loss is {loss.item()}; lower the learning rate")
        self.optimizer.zero_grad(set_to_none=True)
        # The optimizer's constants are for the sum over a sequence.
        total = loss * length * config.bits
        torch.autograd.backward(total)
        nn.utils.clip_grad_value_(self.policy.parameters(), config.clip)
        self.optimizer.step()
        wrong = wrong_bits(logits, bits).mean().item()
        return {
            "wrong_bits": wrong,
            "error": wrong / (length * config.bits),
            "loss": loss.item(),
            "glimpses": float(2 * length + 1),
        }

    def state_dict(self) -> dict[str, Any]:
        """The state on which the next update depends, nested dicts of tensors and numbers."""
        return {
            "policy": self.policy.state_dict(),
            "optimizer": self.optimizer.state_dict()["state"],
            "generator": self.generator.get_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        self.policy.load_state_dict(state["policy"])
        load_moments(self.optimizer, state.get("optimizer", {}))
        self.generator.set_state(state["generator"])

    def close(self) -> None:
        """Nothing is open."""


def wrong_bits(logits: Tensor, bits: Tensor) -> Tensor:
    """The number of wrong bits (B,) in the copy of each sequence (B, L, bits)."""
    return ((logits > 0) != (bits > 0.5)).sum(dim=(1, 2)).float()
