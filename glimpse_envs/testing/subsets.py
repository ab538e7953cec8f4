"""Check that the methods of a task which are given some rows read and change these alone."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from glimpse_envs.task import Outcome, Task
from glimpse_envs.testing.batches import make_batch, random_actions
from glimpse_envs.testing.equality import assert_same, rows_in

ROWS = 7
SOME, OTHERS = np.array([1, 4, 6]), np.array([0, 2, 3, 5])
_SOME = f"rows {SOME.tolist()} of {ROWS}"


def check_subsets(env_id: str, kwargs: dict[str, Any]) -> None:
    """`observe` and `info` return the rows asked for, as new arrays; `act`, `look` and a masked
    reset leave observations, infos and states of the other rows as they were."""
    envs = make_batch(env_id, ROWS, "Disabled", **kwargs)
    envs.reset(seed=8)
    task, name, episodes = envs.task, type(envs.task).__name__, envs._episodes
    remaining = episodes.remaining()

    def observed(rows: Any) -> Any:
        return task.observe(rows, remaining[rows])

    _check_returned(observed, f"{name}.observe", "observations")
    _check_returned(task.info, f"{name}.info", "infos")

    def of_others() -> Any:
        states = {key: one for key, one in task.state_arrays().items() if len(one) == ROWS}
        parts = {"observation": observed(np.arange(ROWS)), "info": task.info(np.arange(ROWS))}
        return copy.deepcopy(rows_in(parts | {"state": states}, OTHERS))

    before = of_others()
    actions = random_actions(envs, np.random.default_rng(8))
    if "stop" in actions:
        actions["stop"][:] = 0
    last = episodes.taken[SOME] >= task.budgets[SOME]
    outcome = task.act(SOME, actions, last)
    _check_outcome(task, outcome)
    assert_same(of_others(), before, _changed(f"{name}.act"))

    over = last | (outcome.terminated is not None and outcome.terminated)
    looking = SOME[~(over | (outcome.truncated is not None and outcome.truncated))]
    if len(looking):
        episodes.taken[looking] += 1
        task.look(looking, actions)
        assert_same(of_others(), before, _changed(f"{name}.look"))

    envs._episodes.act(OTHERS, actions)  # a row at its beginning would not show that it was reset
    before = of_others()
    envs.reset(options={"reset_mask": np.isin(np.arange(ROWS), SOME)})
    assert_same(of_others(), before, _changed(f"a masked reset, and so {name}.deal,"))


def _check_returned(values_of: Callable[[Any], Any], method: str, kind: str) -> None:
    """`values_of(rows)` are those of the rows, in arrays that no other call returns."""
    whole = values_of(np.arange(ROWS))
    where = f"{method} must return the {kind} of `rows` alone; for {_SOME} what it returns"
    assert_same(values_of(SOME), rows_in(whole, SOME), where)
    for part, value in values_of(np.arange(ROWS)).items():
        assert not np.may_share_memory(value, whole[part]), (
            f"{method} returns the same array as {part!r} at every call: return a copy, such as "
            f"array[rows], so that {kind} that users keep do not change"
        )


def _check_outcome(task: Task, outcome: Outcome) -> None:
    for part, value in outcome._asdict().items():
        found = np.shape(value)[:1]
        assert value is None or found == (len(SOME),), (
            f"{type(task).__name__}.act returns the outcome of its `rows` alone; for {_SOME} its "
            f"{part} has shape {np.shape(value)}, whose first number must be {len(SOME)}"
        )


def _changed(method: str) -> str:
    return f"{method} must change its own rows alone; for {_SOME}, what the others have,"
