"""Checks that a task keeps its contract, for the tests of packages with tasks of their own.

from glimpse_envs.testing import check_task

def test_my_task():
    check_task("my_package:Mine/MyTask-v0")
"""

from collections.abc import Callable
from typing import Any

from glimpse_envs.testing.batches import (
    Actions,
    first_returns,
    make_batch,
    random_actions,
    rows_that_fit,
)
from glimpse_envs.testing.contract import (
    check_duties,
    check_lengths,
    check_spaces,
    check_splits,
)
from glimpse_envs.testing.equality import assert_same, first_rows, same
from glimpse_envs.testing.frames import check_frames
from glimpse_envs.testing.returns import check_chance, check_constant_answers, check_oracle
from glimpse_envs.testing.rows import check_autoreset, check_blocks, check_copies, check_seeds
from glimpse_envs.testing.states import check_state
from glimpse_envs.testing.subsets import check_subsets

__all__ = [
    "CHECKS",
    "Actions",
    "assert_same",
    "check_task",
    "first_returns",
    "first_rows",
    "make_batch",
    "random_actions",
    "rows_that_fit",
    "same",
]


def check_task(env_id: str, **kwargs: Any) -> None:
    """Check an environment of a glimpse task, single and batched, with the arguments `kwargs`.

    It checks that

    - budgets are set, splits differ and have the right numbers of scenes, and lengths beyond the
      greatest are dealt or refused;
    - observations and specs fit, and frames are drawn;
    - the oracle's mean return is the ceiling, and that of random actions and of each constant
      answer at most chance; that the best constant answer returns chance, where it is the best
      blind policy; all within four standard errors;
    - equal seeds give equal episodes, whatever the number of rows and the autoreset mode, and a
      single environment is row 0 of any batch;
    - methods that are given some rows, and resets of some rows in mid-episode, leave the others
      alone;
    - `copies` share a scene, and a pickle, a copy and a restored state continue alike.

    Raises:
        AssertionError: a check fails; the message names what is wrong.
        gymnasium.error.Error: there is no such id.
    """
    for check in CHECKS:
        check(env_id, kwargs)


CHECKS: tuple[Callable[[str, dict[str, Any]], None], ...] = (
    check_duties,
    check_splits,
    check_lengths,
    check_spaces,
    check_subsets,
    check_blocks,
    check_frames,
    check_oracle,
    check_chance,
    check_constant_answers,
    check_seeds,
    check_autoreset,
    check_copies,
    check_state,
)
