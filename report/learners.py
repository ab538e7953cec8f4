"""The learners that the leaderboard compares: which algorithm each is, and its records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from glimpse_envs.evaluation.record import Gaze, Record
from glimpse_envs.suite import SUITE
from report.controls import RULES, about_control

MINUTES = 10.0
"""Of one core, for which every learner is trained on every task."""


@dataclass(frozen=True)
class Learner:
    """One row of the leaderboard.

    Args:
        name: for people.
        algorithms: family of tasks (see `glimpse_envs.suite.Row`) -> name of the algorithm;
            families that it cannot learn are left out.
        about: what it is, for the page.
        settings: of its config, that tell it from others of the same algorithm.
        has_presets: whether its settings are the families' presets, else its own defaults.
    """

    name: str
    algorithms: Mapping[str, str]
    about: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    has_presets: bool = True

    def fits(self, record: Record) -> bool:
        """Whether a record is of a run of this learner for `MINUTES`."""
        settings = {"gaze": "learned", **self.settings}
        config = {"gaze": "learned", **record.config}  # older ones of actor-critic have no gaze
        if config.get("minutes") != MINUTES:
            return False
        return record.algorithm == self.algorithms.get(SUITE[record.env_id].family) and all(
            config.get(name) == value for name, value in settings.items()
        )


def _everywhere(algorithm: str) -> dict[str, str]:
    return {"pictures": algorithm, "tape": algorithm, "table": algorithm}


def _control(gaze: Gaze) -> Learner:
    return Learner(
        f"REINFORCE, {gaze} glimpses",
        {"pictures": "reinforce"},
        about_control(gaze),
        {"gaze": gaze},
    )


LEARNERS = (
    Learner(
        "REINFORCE",
        _everywhere("reinforce"),
        "hard attention by the score function, with a learned baseline",
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
        {"pictures": "gaussian_window", "tape": "key_value_memory", "table": "key_value_memory"},
        "DRAW's window over pictures, keys and values over tapes and tables; sees everything",
    ),
    Learner(
        "Full view",
        {"pictures": "full_view", "tape": "lstm_memory", "table": "lstm_memory"},
        "a residual network of pictures, an LSTM that reads tapes and tables once; no attention",
    ),
    *map(_control, RULES),
)
