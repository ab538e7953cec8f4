"""The learners that the leaderboard compares: which algorithm each is, and its records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from glimpse_envs.evaluation.record import Record

Family = Literal["pictures", "tapes", "tables"]
"""Of tasks, and the name of the preset of each."""

TABLES = frozenset(
    {"Glimpse/AssociativeRecall-v0", "Glimpse/DictionaryLookup-v0", "Glimpse/PointerChase-v0"}
)


@dataclass(frozen=True)
class Learner:
    """One row of the leaderboard.

    Args:
        name: for people.
        algorithms: family -> name of the algorithm; families that it cannot learn are left out.
        settings: of its config, that tell it from others of the same algorithm.
        has_presets: whether its settings are the families' presets, else its own defaults.
        about: what it is, for the page.
    """

    name: str
    algorithms: Mapping[Family, str]
    about: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    has_presets: bool = True

    def fits(self, record: Record) -> bool:
        """Whether a record is of a run of this learner."""
        return record.algorithm == self.algorithms.get(family_of(record.env_id)) and all(
            record.config.get(name) == value for name, value in self.settings.items()
        )


def family_of(env_id: str) -> Family:
    """The family of a task of the suite's score."""
    if env_id in TABLES:
        return "tables"
    return "tapes" if env_id in _TAPES else "pictures"


def _everywhere(algorithm: str) -> dict[Family, str]:
    return {"pictures": algorithm, "tapes": algorithm, "tables": algorithm}


def _control(gaze: str) -> Learner:
    about = {
        "random": "places are uniform",
        "raster": "places follow a raster",
        "oracle": "places are the target's, which nobody tells the others",
    }[gaze]
    return Learner(
        f"REINFORCE, {gaze} glimpses",
        {"pictures": "reinforce"},
        f"a control: {about}, and only answers are learned",
        {"gaze": gaze},
    )


_TAPES = frozenset(
    f"Glimpse/{name}-v0"
    for name in (
        *("Copy", "Reverse", "RepeatCopy", "DuplicatedInput", "ForwardReverse"),
        *("Addition", "PrioritySort"),
    )
)

LEARNERS = (
    Learner(
        "REINFORCE",
        _everywhere("reinforce"),
        "hard attention by the score function, with a learned baseline",
        {"gaze": "learned"},
    ),
    Learner(
        "A2C", _everywhere("actor_critic"), "hard attention by actor and critic", {"epochs": 1}
    ),
    Learner(
        "PPO",
        _everywhere("actor_critic"),
        "the same, with four epochs of four minibatches",
        {"epochs": 4, "minibatches": 4},
    ),
    Learner(
        "RecurrentPPO (sb3-contrib)",
        _everywhere("recurrent_ppo"),
        "from rewards alone, as any learner would be used that knows nothing of this suite",
        has_presets=False,
    ),
    Learner(
        "Soft attention",
        {"pictures": "gaussian_window", "tapes": "key_value_memory", "tables": "key_value_memory"},
        "DRAW's window over pictures, keys and values over tapes and tables; sees everything",
    ),
    Learner(
        "Full view",
        {"pictures": "full_view", "tapes": "lstm_memory", "tables": "lstm_memory"},
        "a residual network of pictures, an LSTM that reads tapes and tables once; no attention",
    ),
    *map(_control, ("oracle", "raster", "random")),
)
