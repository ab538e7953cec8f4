"""Sources of other packages, by class and by name."""

import numpy as np
import pytest

from glimpse_envs import register_source, sources
from glimpse_envs.sources import (
    SOURCES,
    Examples,
    SourceInfo,
    describe,
    from_arrays,
    in_memory,
    load,
)
from tests.support.episodes import hidden_of, make_vector

PATH = f"{__name__}:Bars"


class Bars:
    """Upright and level bars."""

    def describe(self, source: str) -> SourceInfo:
        return SourceInfo(source, (1, 8, 8), ("upright", "level"), kind="bar")

    def load(self, source: str, split: str) -> Examples:
        images = np.zeros((2, 1, 8, 8), np.uint8)
        images[0, 0, :, 3:5] = images[1, 0, 3:5] = 255
        return Examples(images, np.arange(2))


class NoSource:
    """Has no examples."""


def test_a_class_is_a_source() -> None:
    assert describe(PATH).class_names == ("upright", "level")
    assert load(PATH, "test").images.shape == (2, 1, 8, 8)
    task = make_vector("Glimpse/CenteredGlyphs-v0", 1, source=PATH).task
    assert (task.question, task.chance) == ("Which bar is it?", 0.5)
    scenes = hidden_of("Glimpse/CenteredGlyphs-v0", 2, 0, source=PATH, split="test").scenes
    assert scenes.sum(axis=(1, 2, 3)).tolist() == [16, 16]


def test_a_name_stands_for_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    known = SOURCES.copy()
    for module in (sources, in_memory):
        monkeypatch.setattr(module, "SOURCES", known)
    register_source("bars", PATH)
    assert describe("bars").name == "bars"
    with pytest.raises(ValueError, match="the name 'bars' is taken"):
        register_source("bars", f"{__name__}:NoSource")
    with pytest.raises(ValueError, match="the name 'mnist' is taken"):
        register_source("mnist", PATH)
    with pytest.raises(ValueError, match="the name 'bars' is taken: it stands for tests"):
        from_arrays("bars", train=(np.zeros((2, 4, 4), np.uint8), np.arange(2)))
    assert not in_memory.is_registered("bars")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("no.such_package:Bars", "there is no module no"),
        (f"{__name__}:Nothing", "has no class Nothing with the methods describe and load"),
        (f"{__name__}:NoSource", "has no class NoSource with the methods describe and load"),
        ("bars", "must be one of glyphs, .* a class 'module:Class', or registered"),
    ],
)
def test_what_is_no_source_is_refused(source: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        describe(source)
