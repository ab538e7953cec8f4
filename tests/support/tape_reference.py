"""The tape machine once more, one row in plain Python, and what its programs put out."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.tasks.tape.machine import TapeMachine
from tests.support.episodes import make_vector

IDS = {
    "copy": "Glimpse/Copy-v0",
    "reverse": "Glimpse/Reverse-v0",
    "repeat_copy": "Glimpse/RepeatCopy-v0",
    "duplicated_input": "Glimpse/DuplicatedInput-v0",
    "forward_reverse": "Glimpse/ForwardReverse-v0",
    "addition": "Glimpse/Addition-v0",
    "priority_sort": "Glimpse/PrioritySort-v0",
}

WAYS: dict[str, dict[str, Any]] = {
    "moves": {},
    "memory": {"memory": True},
    "absolute": {"look": "absolute"},
    "absolute memory": {"look": "absolute", "memory": True},
}
CASES = [
    (program, way)
    for program in IDS
    for way in WAYS
    if program != "forward_reverse" or way in ("moves", "memory")
]


def tape_of(envs: GlimpseVectorEnv) -> TapeMachine:
    """The rules of a batch of tape machines."""
    assert isinstance(envs.task, TapeMachine)
    return envs.task


@dataclass(frozen=True)
class Tape:
    """What is hidden from one row."""

    symbols: list[int]
    priorities: list[float]


def tapes_of(program: str, num_envs: int, seed: int, length: int, **kwargs: Any) -> list[Tape]:
    """The first tapes after `reset(seed=seed)`, of `length`, out of the full view."""
    for unseen in ("memory", "look", "slack"):
        kwargs.pop(unseen, None)
    kwargs = {"length": length} | kwargs
    envs = make_vector(IDS[program], num_envs, view="full", **kwargs)
    scenes = envs.reset(seed=seed, options={"length": length})[0]["scene"]
    choices = int(kwargs.get("symbols", 10 if program == "addition" else 30)) + 1
    tapes = []
    for scene in scenes:
        assert (scene[:, :choices].sum(axis=1) == 1).all()
        cells = scene[:, :choices].argmax(axis=1)
        filled = int((cells > 0).sum())
        assert (cells[:filled] > 0).all(), "no blank stands between symbols"
        priorities = scene[:filled, choices].tolist() if program == "priority_sort" else []
        tapes.append(Tape(cells[:filled].tolist(), priorities))
    return tapes


def outputs(program: str, tape: Tape, base: int = 10, duplicates: int = 3) -> list[int]:
    """What is right to put out."""
    symbols = tape.symbols
    if program == "copy":
        return symbols
    if program in ("reverse", "forward_reverse"):
        return symbols[::-1]
    if program == "repeat_copy":
        return symbols[1:] * symbols[0]
    if program == "duplicated_input":
        return symbols[::duplicates]
    if program == "addition":
        numbers = [symbols[::2], symbols[1::2]]
        total = sum((s - 1) * base**k for digits in numbers for k, s in enumerate(digits))
        return [total // base**k % base + 1 for k in range(len(symbols) // 2 + 1)]
    by_priority = sorted(zip(tape.priorities, symbols, strict=True), reverse=True)
    return [symbol for _, symbol in by_priority]


@dataclass
class Machine:
    """One row, played with plain numbers."""

    program: str
    tape: Tape
    right: list[int]
    memory_cells: int
    """0: there is no memory tape."""
    absolute: bool
    head: int = 0
    memory_head: int = 0
    memory: dict[int, int] = field(default_factory=dict)
    done: int = 0

    def step(self, look: list[int], answer: int, write: int) -> tuple[float, bool]:
        """What the answer earns, and whether it ends the episode; then the heads have moved."""
        reward = 0.0
        if answer:
            if answer != self.right[self.done]:
                return 0.0, True
            reward, self.done = 1 / len(self.right), self.done + 1
            if self.done == len(self.right):
                return reward, True
        if write and 0 <= self.memory_head < self.memory_cells:
            self.memory[self.memory_head] = write
        if self.absolute:
            self.head = look[0]
            self.memory_head = look[1] if self.memory_cells else 0
            return reward, False
        self.head += look[0] if self.program == "forward_reverse" else look[0] - 1
        self.head = max(-1, min(self.head, len(self.tape.symbols)))
        if self.memory_cells:
            self.memory_head = max(-1, min(self.memory_head + look[1] - 1, self.memory_cells))
        return reward, False

    def seen(self) -> tuple[int, int, float]:
        """The symbols under the heads, and the priority under the input head."""
        inside = 0 <= self.head < len(self.tape.symbols)
        symbol = self.tape.symbols[self.head] if inside else 0
        priority = self.tape.priorities[self.head] if inside and self.tape.priorities else 0.0
        return symbol, self.memory.get(self.memory_head, 0), priority


def one_hot(index: int, size: int) -> NDArray[np.float32]:
    """(size,) with a 1 at `index`."""
    hot = np.zeros(size, np.float32)
    hot[index] = 1.0
    return hot
