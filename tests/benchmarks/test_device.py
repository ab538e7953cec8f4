"""The benchmark of devices trains, and times the environments within the training."""

from dataclasses import replace

import pytest

from benchmarks.scale.device import config_of, measure


@pytest.mark.learning
@pytest.mark.parametrize("parts", [None, 2])
def test_speed_and_shares_are_measured(parts: int | None) -> None:
    config = replace(config_of("cpu", 16, parts), env_id="Glimpse/ClutteredGlyphs-v0")
    found = measure(config, updates=1)
    assert found.images_per_second > 0
    assert 0 < found.environments < 1
    assert found.device is None
