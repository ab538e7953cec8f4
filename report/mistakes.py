"""What several runs get wrong on the same scenes: the record that `benchmarks.mistakes` writes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glimpse_envs.core.files import write_atomically
from glimpse_envs.evaluation.from_json import STRICT, Count, Number, from_json
from glimpse_envs.evaluation.records import RecordError


@dataclass(frozen=True)
class Kind:
    """The episodes of one kind, of all runs together."""

    __pydantic_config__ = STRICT

    name: str
    episodes: Number
    wrong: Count

    @property
    def error(self) -> float:
        """In percent."""
        return 100 * self.wrong / self.episodes


@dataclass(frozen=True)
class HardScene:
    """A scene that many runs get wrong."""

    __pydantic_config__ = STRICT

    scene: Count
    """Its number in the split."""
    target: str
    """The right answer."""
    answers: tuple[str, ...]
    """Of each run."""


@dataclass(frozen=True)
class Mistakes:
    """Of R runs of one recipe, which differ in their seeds, each on the same scenes."""

    __pydantic_config__ = STRICT

    env_id: str
    env_kwargs: dict[str, Any]
    split: str
    """That was played: validation or test."""
    model: str
    """Its name in tables, the same for all runs."""
    seeds: tuple[Count, ...]
    """(R,) of the runs."""
    images: Number
    """Training images of a run, the mean of all."""
    hardware: str
    """That the first run was trained on."""
    revision: str
    """Commit of the code that played the scenes."""
    scenes: Number
    wrong: tuple[Count, ...]
    """(R,) scenes that each run gets wrong."""
    wrong_in: tuple[Count, ...]
    """(R + 1,) scenes that are wrong in 0, 1 ... R of the runs."""
    by_looks: tuple[Kind, ...]
    """By the number of chosen glimpses whose middle lies on a target."""
    by_answer: tuple[Kind, ...]
    """By the right answer."""
    by_clutter: tuple[Kind, ...]
    """By the share of the targets' boxes that clutter changes; empty where there is no clutter."""
    hardest: tuple[HardScene, ...]
    """The scenes that most runs get wrong, the most first."""
    by_visits: tuple[Kind, ...] = ()
    """By the number of targets that were visited; empty where a scene has one."""

    def expected(self) -> list[float]:
        """(R + 1,) scenes that would be wrong in 0, 1 ... R runs if each run's mistakes fell on
        scenes at random, whatever the others' are: the Poisson binomial distribution."""
        shares = np.ones(1)
        for wrong in self.wrong:
            share = wrong / self.scenes
            shares = np.convolve(shares, [1 - share, share])
        return [float(self.scenes * share) for share in shares]


def write_mistakes(mistakes: Mistakes, path: Path) -> None:
    """Write a record, a .json file."""
    text = json.dumps({"benchmark": "mistakes", **asdict(mistakes)}, indent=1, allow_nan=False)
    write_atomically(path, f"{text}\n".encode())


def read_mistakes(path: Path) -> Mistakes:
    """Read a record.

    Raises:
        RecordError: it is damaged; the message names the file.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(data, dict):
            data.pop("benchmark", None)
        found = from_json(Mistakes, data)
    except (OSError, ValueError) as error:
        raise RecordError(f"{path}: {error}") from error
    runs = len(found.seeds)
    if len(found.wrong) != runs or len(found.wrong_in) != runs + 1:
        raise RecordError(
            f"{path}: wrong and wrong_in must hold {runs} and {runs + 1} numbers, for "
            f"{runs} seeds; they hold {len(found.wrong)} and {len(found.wrong_in)}"
        )
    if sum(found.wrong_in) != found.scenes:
        raise RecordError(
            f"{path}: wrong_in must add up to {found.scenes} scenes; it is {sum(found.wrong_in)}"
        )
    return found
