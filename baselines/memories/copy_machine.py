"""An NTM that learns to copy, and its training by the command `baselines.memories.ntm_copy`.

Departures from the paper (Graves et al. 2014, section 4.1): an update sees a batch of sequences of
one length (the paper: one sequence) at a higher learning rate, which falls at the end, and the
memory is constant at first.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from agents.policy.networks import NetworkConfig, State, make_core
from agents.training.checkpoints import load_weights
from agents.training.checks import check_counts, check_positive
from agents.training.resuming import read_config
from baselines.memories.ntm import MemoryState, NTMMemory
from glimpse_envs.evaluation.runs import Run


@dataclass(frozen=True)
class CopyConfig:
    """Train an NTM to copy."""

    algorithm: ClassVar[str] = "ntm_copy"

    seed: int = 0
    """Random seed of the initial weights and the sequences."""
    minutes: float = 20.0
    """Length of the training in core-minutes; the learning rate follows this clock."""
    batch_size: int = 16
    """Sequences in each update, all of one length; the paper: 1."""
    bits: int = 8
    """Bits of each vector."""
    min_length: int = 1
    """Least number of vectors in a training sequence."""
    length: int = 20
    """Greatest number of vectors in a training sequence."""
    cells: int = 128
    """Number of cells of the memory, N."""
    width: int = 20
    """Numbers in each cell, W."""
    units: int = 100
    """Units of the controller, an LSTM."""
    learning_rate: float = 3e-4
    """Learning rate of RMSProp; over the last third of the training it falls to 0 in a straight
    line. The paper: 1e-4 throughout."""
    momentum: float = 0.9
    """Momentum of RMSProp."""
    clip: float = 10.0
    """Greatest absolute value of each entry of the gradient; larger ones are cut to it."""
    test_sequences: int = 200
    """Sequences scored at each length after the training."""
    compile: bool = False
    """Compile the step, which needs a C++ compiler and half a minute, and more than doubles the
    speed."""
    log_every: int = 500
    """Updates between two lines of metrics, each with a checkpoint."""


class Step(nn.Module):
    """One step of an NTM: the controller takes an input and the last read, and steers the heads."""

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
    def from_run(cls, run: Run) -> Self:
        """Load the model of a run from its last checkpoint.

        Raises:
            glimpse_envs.evaluation.runs.RunError: the run or its checkpoint is missing or damaged.
        """
        model = cls(read_config(run, CopyConfig))
        load_weights(model, run)
        return model.eval()


def draw_sequences(rows: int, length: int, bits: int, generator: torch.Generator) -> Tensor:
    """Random zeros and ones (rows, length, bits) float32."""
    return torch.randint(2, (rows, length, bits), generator=generator).float()


class CopyTraining:
    """Model, optimizer and randomness of a training, and the updates."""

    def __init__(self, config: CopyConfig) -> None:
        check_counts(
            config, "batch_size", "bits", "min_length", "cells", "width", "units",
            "test_sequences", "log_every",
        )  # fmt: skip
        check_positive(config, "minutes", "learning_rate", "clip")
        if not 0 <= config.momentum < 1:
            raise ValueError(f"momentum={config.momentum} must be at least 0 and below 1")
        if config.length < config.min_length:
            raise ValueError(
                f"length={config.length} must be at least min_length={config.min_length}"
            )
        self.config = config
        torch.manual_seed(config.seed)
        self.model = CopyMachine(config)
        if config.compile:
            self.model.step.compile(dynamic=False)
        # alpha as in Graves (2013, "Generating Sequences", equation 38).
        self.optimizer = torch.optim.RMSprop(
            self.model.parameters(),
            lr=config.learning_rate,
            alpha=0.95,
            momentum=config.momentum,
            foreach=True,
        )
        self.generator = torch.Generator().manual_seed(config.seed)

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
        logits = self.model(bits)
        loss = F.binary_cross_entropy_with_logits(logits, bits)
        if not torch.isfinite(loss):
            raise FloatingPointError(f"the loss is {loss.item()}; lower the learning rate")
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        nn.utils.clip_grad_value_(self.model.parameters(), config.clip)
        self.optimizer.step()
        wrong = wrong_bits(logits, bits).mean().item()
        return {
            "wrong_bits": wrong,
            "error": wrong / (length * config.bits),
            "loss": loss.item(),
            "glimpses": float(2 * length + 1),
        }

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next update depends on, nested dicts of tensors and numbers."""
        return {
            "policy": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict()["state"],
            "generator": self.generator.get_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a state that `state_dict` returned."""
        self.model.load_state_dict(state["policy"])
        groups = self.optimizer.state_dict()["param_groups"]
        moments = {int(index): values for index, values in state.get("optimizer", {}).items()}
        self.optimizer.load_state_dict({"state": moments, "param_groups": groups})
        self.generator.set_state(state["generator"])


def wrong_bits(logits: Tensor, bits: Tensor) -> Tensor:
    """The number of wrong bits (B,) in the copy of each sequence (B, L, bits)."""
    return ((logits > 0) != (bits > 0.5)).sum(dim=(1, 2)).float()
