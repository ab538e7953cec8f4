"""Check that pickles, copies and restored states continue like the batch they were made of."""

import copy
import pickle
from typing import Any

import numpy as np

from glimpse_envs.testing.batches import make_batch, random_actions
from glimpse_envs.testing.equality import assert_same

STEPS = 30  # after an episode's end
MOMENTS = (0, 1, 2, 4, 8, 16)  # steps after which states are saved, besides an episode's last


def check_state(env_id: str, kwargs: dict[str, Any]) -> None:
    """Pickles, copies and restored states equal the batch itself and continue as it does, until the
    next ones are made; the last ones are made at the end of an episode."""
    envs, rng = make_batch(env_id, 4, **kwargs), np.random.default_rng(7)
    envs.reset(seed=7)
    step, end = 0, None
    while end is None or step < end + STEPS:
        if end is None and envs.ended.any():
            end = step
        if step == end or (end is None and step in MOMENTS):
            restored = make_batch(env_id, 4, **kwargs)
            restored.load_state_dict(envs.state_dict())
            twins = {
                f"a pickle made after step {step}": pickle.loads(pickle.dumps(envs)),
                f"a copy made after step {step}": copy.deepcopy(envs),
                f"a state saved after step {step} and restored": restored,
            }
            for name, twin in twins.items():
                lost = f"{name}: does state_arrays name all that deal does not bring back? It"
                assert_same(twin._observe(), envs._observe(), lost)
        actions = random_actions(envs, rng)
        expected = envs.step(actions)
        step += 1
        for name, twin in twins.items():
            assert_same(twin.step(actions), expected, f"{name}, at step {step}")
