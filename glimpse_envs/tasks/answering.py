"""Answers of tables and texts, where the first one counts or that of the last step.

With `reward="first"` 0 says nothing yet, and the first other answer ends the episode. With "final"
there is no answer 0, and only the last step's answer is scored.
"""

import numpy as np
from gymnasium import spaces

from glimpse_envs.core.arrays import Bools, Ints
from glimpse_envs.task import Component, ObservedPart, Outcome


def answer_component(
    names: tuple[str, ...], first: bool, repeats: tuple[ObservedPart, ...] = ()
) -> Component:
    """Return the component of answers called `names`, of which the `first` counts, or the last."""
    return Component(
        spaces.Discrete(len(names) + first),
        effect="scored",
        taught=True,
        entropy=False,
        optional=first,
        repeats=repeats,
        names=("",) * first + names,
    )


def outcome_of_answers(
    answers: Ints, targets: Ints, first: bool, last: Bools, answerable: Bools
) -> Outcome:
    """Return the outcome of the answers of m rows.

    Args:
        answers: (m,) from 1 on; 0: none yet.
        targets: (m,) the right ones, from 1 on.
        first: whether the first answer counts, or that of the last step.
        last: (m,) whether it is the last step.
        answerable: (m,) whether an answer can be right already.
    """
    right = answerable & (answers == targets)
    if first:
        given = answers != 0
        return Outcome(
            right.astype(np.float64), right, targets, given & answerable, terminated=given
        )
    right &= last
    return Outcome(right.astype(np.float64), right, targets - 1, last)
