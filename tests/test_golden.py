"""What must not change: episodes, learned weights and published numbers, held to the bit.

Where a change is meant, `python -m tests.golden` writes the digests anew.
"""

import json
from typing import Any

import pytest

from glimpse_envs import sources
from tests.golden import FOLDER, episodes, learning
from tests.golden.machine import fingerprint
from tests.golden.published import published_numbers


def _golden(name: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{name}.json").read_text())


@pytest.mark.learning
@pytest.mark.parametrize("case", episodes.cases())
def test_equal_seeds_and_actions_give_the_same_episodes_as_ever(case: str) -> None:
    env_id, kwargs = episodes.cases()[case]
    try:
        found = episodes.all_digests(env_id, kwargs)
    except sources.SourceError as error:
        pytest.skip(f"{env_id} needs files which are absent: {error}")
    # `info` may have new entries.
    for kind, digests in _golden("episodes")[case].items():
        assert {name: found[kind].get(name) for name in digests} == digests, kind


@pytest.mark.parametrize("case", learning.ALL_CASES)
def test_equal_seeds_give_the_same_weights_as_ever(case: str) -> None:
    golden = _golden("weights")
    if golden["machine"] != fingerprint():
        pytest.skip(
            f"the weights are of another machine, {golden['machine']}: sums round otherwise"
        )
    assert learning.ALL_CASES[case]() == golden["digests"][case]


def test_published_numbers_are_those_measured() -> None:
    found = published_numbers()
    missing = {
        run: numbers for run, numbers in _golden("published").items() if found.get(run) != numbers
    }
    assert not missing
