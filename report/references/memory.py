"""Published numbers of memory tasks, for comparison; their settings differ, so none is a claim."""

from __future__ import annotations

from dataclasses import dataclass

NO_CLAIM = (
    "No claim is made against RL-NTM's or D-NTM's counts: input, write and loss here are not "
    "theirs. RL-NTM learns what to write by back-propagation and only the heads' moves by "
    "REINFORCE; D-NTM and NTM recall bit vectors."
)

FACTS = (
    "RL-NTM (Zaremba & Sutskever, 2015), over 30 symbols: with an LSTM controller it solves Copy "
    "and DuplicatedInput only, with the direct-access controller all five tasks. Each is solved "
    "in under 20,000 updates of 200 episodes or never, by 30 to 50 % of the seeds; without a "
    "curriculum nothing longer than 5 is solved.",
    "D-NTM (Gulcehre et al., 2016), soft against hard addressing with the same controller: mean "
    "error on bAbI-10k 24.24 % soft and 21.79 % hard with a GRU that reads three times; 12.81 % "
    "soft, 68.30 % hard and 37.79 % from soft to hard with a feed-forward controller. Soft "
    "addressing solves its associative recall, hard addressing fails.",
    "NTM (Graves et al., 2014): copy, trained to length 20, goes on to length 120; associative "
    "recall is learned in about 30,000 episodes.",
)

RL_NTM = "RL-NTM"


@dataclass(frozen=True)
class MemoryReference:
    """A row that others report of a task of the same name."""

    env_id: str
    source: str
    model: str
    sees: str
    solved: str
    episodes: str = "—"
    minutes: str = "—"


def _rl_ntm(name: str, lstm: bool, hours: int | None = None) -> tuple[MemoryReference, ...]:
    env_id, cell = f"Glimpse/{name}-v0", "one cell a step"
    solved = ("30 to 50 % of seeds", "under 4.0 M")
    spent = f"{hours} h, a workstation" if hours else "—"
    controller = MemoryReference(env_id, RL_NTM, "LSTM", cell, *(solved if lstm else ("no",)))
    direct = MemoryReference(env_id, RL_NTM, "direct access", cell, *solved, spent)
    return controller, direct


MEMORY_REFERENCES = (
    *_rl_ntm("Copy", lstm=True),
    *_rl_ntm("DuplicatedInput", lstm=True),
    *_rl_ntm("Reverse", lstm=False, hours=35),
    *_rl_ntm("RepeatCopy", lstm=False, hours=26),
    *_rl_ntm("ForwardReverse", lstm=False),
    MemoryReference("Glimpse/AssociativeRecall-v0", "D-NTM", "hard", "one cell a read", "no"),
    MemoryReference("Glimpse/AssociativeRecall-v0", "D-NTM", "soft", "every cell", "yes"),
    MemoryReference(
        "Glimpse/AssociativeRecall-v0", "NTM", "soft", "every cell", "yes", "about 30 k"
    ),
)
