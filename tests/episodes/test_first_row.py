"""A part of a batch: `reset(options={"first_row": k})`."""

from typing import Any

import numpy as np
import pytest

from glimpse_envs.testing import assert_same, random_actions
from tests.support.episodes import make_vector


@pytest.mark.parametrize("copies", [1, 2])
def test_a_batch_that_begins_at_a_row_is_that_part_of_the_larger_one(
    env_id: str, copies: int
) -> None:
    """In all episodes, also those after a first one, and after loading a state."""
    whole, part = (make_vector(env_id, rows, copies=copies) for rows in (6, 2))
    seen = whole.reset(seed=5)[0]
    assert_same(
        part.reset(seed=5, options={"first_row": 4})[0], {n: a[4:] for n, a in seen.items()}
    )
    again = make_vector(env_id, 2, copies=copies)
    again.reset(seed=0)
    again.load_state_dict(part.state_dict())
    rng = np.random.default_rng(1)
    for _ in range(10):
        action = random_actions(whole, rng)
        late = {name: a[4:] for name, a in action.items()}
        seen, reward, *_ = whole.step(action)
        for batch in (part, again):
            shown, paid, *_ = batch.step(late)
            assert_same(shown, {name: a[4:] for name, a in seen.items()})
            np.testing.assert_array_equal(paid, reward[4:])


@pytest.mark.parametrize(
    ("first_row", "seed", "split", "message"),
    [
        (1, 0, "train", "must be a multiple of copies=2 from 0"),
        (-2, 0, "train", "must be a multiple of copies=2 from 0"),
        (True, 0, "train", "must be a multiple of copies=2 from 0"),
        (2, None, "train", "needs one integer as seed, not None"),
        (2, [3, 3], "train", "needs one integer as seed"),
        (2, 0, "test", "needs split='train'"),
    ],
)
def test_a_first_row_that_cannot_be_is_refused(
    first_row: Any, seed: Any, split: str, message: str
) -> None:
    env = make_vector("Glimpse/ClutteredGlyphs-v0", 2, copies=2, split=split)
    with pytest.raises(ValueError, match=message):
        env.reset(seed=seed, options={"first_row": first_row})
