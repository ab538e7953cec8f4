"""What must not change: episodes and learned weights, held to the bit.

Weights of another machine are held in outline.

Where a change is meant, `python -m tests.golden` writes the values anew.
"""

import pytest

from glimpse_envs import sources
from tests.golden import episodes, golden, learning
from tests.golden.machine import fingerprint


@pytest.mark.learning
@pytest.mark.parametrize("case", episodes.cases())
def test_equal_seeds_and_actions_give_the_same_episodes_as_ever(case: str) -> None:
    env_id, kwargs = episodes.cases()[case]
    try:
        found = episodes.all_digests(env_id, kwargs)
    except sources.SourceError as error:
        pytest.skip(f"{env_id} needs files which are absent: {error}")
    # `info` may have new entries.
    for kind, digests in golden("episodes")[case].items():
        assert {name: found[kind].get(name) for name in digests} == digests, kind


@pytest.mark.learning
@pytest.mark.parametrize("case", learning.ALL_CASES)
def test_equal_seeds_give_the_same_weights_as_ever(case: str) -> None:
    digests = golden("weights").get(fingerprint(), {})
    if case not in digests:
        pytest.skip("the weights are of other machines, whose sums round otherwise")
    assert learning.learned_digest(case) == digests[case]


@pytest.mark.learning
@pytest.mark.parametrize("case", learning.ALL_CASES)
def test_equal_seeds_learn_nearly_the_same_on_every_machine(case: str) -> None:
    found, expected = learning.beside_golden(case)
    assert found == expected
