"""What the tests of tables share: making them, whole episodes, the table itself."""

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.tasks.table.base import Table
from glimpse_envs.testing import Actions
from tests.support.episodes import Observation, make_vector

RECALL = "Glimpse/AssociativeRecall-v0"
LOOKUP = "Glimpse/DictionaryLookup-v0"
CHASE = "Glimpse/PointerChase-v0"
TABLES = (RECALL, LOOKUP, CHASE)

LENGTHS = {RECALL: 6, LOOKUP: 8, CHASE: 5}
"""The greatest that the suite deals."""
SHORTEST: dict[str, Callable[[int], int]] = {
    RECALL: lambda n: n + 2,
    LOOKUP: lambda n: n,
    CHASE: lambda n: n + 1,
}
"""Steps of the shortest solution, by length."""


def table_of(envs: GlimpseVectorEnv) -> Table:
    """The rules of a batch of tables."""
    assert isinstance(envs.task, Table)
    return envs.task


def passing(envs: GlimpseVectorEnv, rng: np.random.Generator) -> Actions:
    """Uniform looks, and no answers."""
    return looking(envs, rng.integers(table_of(envs).cells, size=envs.num_envs))


def looking(envs: GlimpseVectorEnv, addresses: Any, answers: Any = 0) -> Actions:
    """Looks at `addresses` (n,), or one for all rows, as the environment has them."""
    looks = np.broadcast_to(np.asarray(addresses), envs.num_envs)
    actions = {"look": looks, "answer": np.broadcast_to(np.asarray(answers), envs.num_envs)}
    space = envs.single_action_space
    assert isinstance(space, spaces.Dict)
    if isinstance(space["look"], spaces.MultiBinary):
        actions["look"] = (looks[:, None] >> np.arange(table_of(envs).address_bits)) & 1
    return actions


def symbols(one_hots: NDArray[np.float32]) -> NDArray[np.int64]:
    """The indices (...) of one-hots (..., size), which must be such."""
    assert np.isin(one_hots, (0.0, 1.0)).all()
    assert (one_hots.sum(axis=-1) == 1.0).all()
    return one_hots.argmax(axis=-1)


def whole_table(env_id: str, rows: int, seed: int, **kwargs: Any) -> tuple[Observation, Any]:
    """What the full view shows of the first episodes after `reset(seed=seed)`, and the right
    answers (rows,)."""
    envs = make_vector(env_id, rows, view="full", autoreset_mode="Disabled", **kwargs)
    observation, _ = envs.reset(seed=seed)
    info = envs.step({"answer": np.zeros(rows, np.int64)})[4]
    return observation, info["target"]
