"""Sources of other packages, by class and by name."""

from pathlib import Path
from typing import Any

import gymnasium as gym
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


class Mistaken(Bars):
    """A source with mistakes: what it describes and what it returns are set from outside."""

    info: Any = SourceInfo("", (1, 8, 8), ("upright", "level"))
    examples: Any = (np.zeros((2, 1, 8, 8), np.uint8), np.arange(2))

    def describe(self, source: str) -> SourceInfo:
        found: SourceInfo = self.info
        return found

    def load(self, source: str, split: str) -> Examples:
        return Examples(*self.examples) if len(self.examples) == 2 else self.examples


class Disk:
    """Arrays in the folder that the argument names."""

    def describe(self, source: str) -> SourceInfo:
        return SourceInfo(source, (1, 8, 8), ("dark", "light"))

    def load(self, source: str, split: str) -> Examples:
        folder = Path(source.partition("?")[2])
        return Examples(np.load(folder / f"{split}.npy"), np.arange(2))


class NoSource:
    """Has no examples."""


def test_a_class_is_a_source() -> None:
    assert describe(PATH).class_names == ("upright", "level")
    assert load(PATH, "test").images.shape == (2, 1, 8, 8)
    task = make_vector("Glimpse/CenteredGlyphs-v0", 1, source=PATH).task
    assert (task.question, task.chance) == ("Which bar is it?", 0.5)
    scenes = hidden_of("Glimpse/CenteredGlyphs-v0", 2, 0, source=PATH, split="test").scenes
    assert scenes.sum(axis=(1, 2, 3)).tolist() == [16, 16]


def test_a_class_is_given_its_argument(tmp_path: Path) -> None:
    for name, light in (("one", 200), ("two", 100)):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "test.npy", np.full((2, 1, 8, 8), light, np.uint8))
    for name, light in (("one", 200), ("two", 100)):
        source = f"{__name__}:Disk?{tmp_path / name}"
        scenes = hidden_of("Glimpse/CenteredGlyphs-v0", 2, 0, source=source, split="test").scenes
        assert scenes.max() == np.float32(light / 255)


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
        ("glyphs?size=3", "must be one of glyphs,"),
        ("bars", "must be one of glyphs, .* a class as a string, 'module:Class', or registered"),
    ],
)
def test_what_is_no_source_is_refused(source: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        describe(source)


@pytest.mark.parametrize(
    ("images", "labels", "message"),
    [
        # Kernels would write beyond the picture, or read beyond the images.
        (np.zeros((2, 3, 8, 8), np.uint8), np.arange(2), r"images of the shape \(3, 8, 8\)"),
        (np.zeros((2, 1, 30, 30), np.uint8), np.arange(2), r"images of the shape \(1, 30, 30\)"),
        (np.zeros((0, 1, 8, 8), np.uint8), np.arange(0), "returned no images"),
        (np.zeros((2, 1, 8, 8), np.uint8), np.array([0, 7]), "a label 7; describe names 2"),
        (np.zeros((2, 1, 8, 8), np.uint8), np.array([0, -1]), "a label -1"),
        # A cast would make them black, or move labels.
        (np.full((2, 1, 8, 8), 0.8), np.arange(2), "images must be uint8, .* but are float64"),
        (np.zeros((2, 1, 8, 8), np.uint8), np.array([0.0, 0.9]), "labels must be integers"),
    ],
)
def test_examples_that_break_their_description_are_refused(
    images: Any, labels: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Mistaken, "examples", (images, labels))
    env = gym.make("Glimpse/CenteredGlyphs-v0", source=f"{__name__}:Mistaken")
    with pytest.raises(ValueError, match=message):
        env.reset(seed=0)


def test_a_source_must_return_its_own_types(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{__name__}:Mistaken"
    monkeypatch.setattr(Mistaken, "examples", ())
    with pytest.raises(ValueError, match=r"must return Examples, not \(\)"):
        load(name, "train")
    for info, message in (
        ((1, 8, 8), r"must return a SourceInfo .* not \(1, 8, 8\)"),
        (SourceInfo(name, (8, 8, 1), ("a", "b")), "a C of 1 for grey or 3 for RGB"),
    ):
        monkeypatch.setattr(Mistaken, "info", info)
        with pytest.raises(ValueError, match=message):
            describe(name)
