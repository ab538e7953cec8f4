"""Sources of a user's own arrays and data sets, and folders of mixed sizes."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from glimpse_envs.sources import SourceError, describe, from_arrays, from_dataset, in_memory, load
from glimpse_envs.testing import assert_same
from tests.sources.test_folders import write_image
from tests.support.episodes import CENTRED, make_vector

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(0)
GREY, LABELS = RNG.integers(0, 256, (6, 5, 7), np.uint8), np.arange(6) % 3
COLOURED = RNG.integers(0, 256, (6, 3, 5, 7), np.uint8)


@pytest.fixture(autouse=True)
def _none_after() -> Iterator[None]:
    yield
    in_memory._REGISTERED.clear()


def test_registered_arrays_are_a_source() -> None:
    from_arrays(
        "mine", train=(GREY, LABELS), test=(GREY[:2, None], [2, 0]), class_names=tuple("abc")
    )
    info = describe("mine")
    assert (info.image_shape, info.class_names) == ((1, 5, 7), ("a", "b", "c"))
    assert np.array_equal(load("mine", "train").images[:, 0], GREY)
    envs = make_vector(CENTRED, 2, source="mine", split="test")
    _, reset = envs.reset(seed=0)
    assert (envs.num_scenes, reset["scene"].tolist()) == (2, [0, 1])
    *_, info_of_step = envs.step(envs.task.oracle())
    assert info_of_step["target"].tolist() == [2, 0]
    with pytest.raises(SourceError, match=r"registered without the split validation.*validation="):
        make_vector(CENTRED, 2, source="mine", split="validation").reset(seed=0)


def test_an_array_that_is_changed_later_changes_nothing() -> None:
    images = COLOURED.copy()
    from_arrays("mine", train=(images, LABELS))
    images[:] = 0
    assert np.array_equal(load("mine", "train").images, COLOURED)
    from_arrays("mine", train=(COLOURED, LABELS))
    with pytest.raises(ValueError, match="'mine' is registered with other images"):
        from_arrays("mine", train=(images, LABELS))


@pytest.mark.parametrize(
    ("changes", "right"),
    [
        ({"name": "mnist"}, "'mnist' is taken: it stands for glimpse_envs.sources.idx"),
        ({"name": "folder"}, "'folder' is taken: it stands for glimpse_envs.sources.folder"),
        ({"name": "folder:x"}, "must be letters"),
        ({"train": (GREY / 255, LABELS)}, r"mine: train: images must be .* uint8, not .* float64"),
        ({"train": (GREY / 255, LABELS)}, r"by \(255 \* images\).astype"),
        ({"train": (GREY[..., None], LABELS)}, r"give images.transpose\(0, 3, 1, 2\)"),
        ({"train": (GREY[0], LABELS)}, r"mine: train: images must be \(N, H, W\)"),
        ({"train": (GREY, LABELS + 1)}, "from 0 to 2 for the 3 .* no image has the label 0, .* 3"),
        ({"train": (GREY, LABELS * 9)}, "no image has the label 1, and one has 18"),
        ({"train": (GREY, LABELS[:2])}, r"labels must be \(6,\) integers.* they are \(2,\)"),
        ({"train": (GREY, LABELS * 1.0)}, r"labels must be \(6,\) integers.* float64"),
        ({"train": (GREY, LABELS - 1)}, "labels must be at least 0; one is -1"),
        ({"train": (GREY[:0], LABELS[:0])}, "there must be images"),
        ({"test": (GREY[:, :4], LABELS)}, r"test have the shape \(1, 4, 7\)"),
        ({"class_names": ("a", "b")}, "a label 2, but 2 class_names"),
        ({"class_names": ("a", "b", "a")}, "must be a name for each label, no two alike"),
        ({"class_names": "abc"}, "class_names='abc' must be a name for each label"),
    ],
    ids=str,
)
def test_arrays_that_are_no_images_are_refused(changes: dict[str, Any], right: str) -> None:
    with pytest.raises(ValueError, match=right):
        from_arrays(**({"name": "mine", "train": (GREY, LABELS)} | changes))
    assert not in_memory.is_registered("mine")


class Columns(dict[str, Any]):
    """A split as the data sets of Hugging Face have it."""

    features = {"label": SimpleNamespace(names=["cat", "dog", "eel"])}  # noqa: RUF012


class Picture:
    """What is used of PIL's images."""

    def __init__(self, pixels: np.ndarray) -> None:
        self.pixels = pixels

    def convert(self, mode: str) -> np.ndarray:
        assert mode == "RGB"
        return np.broadcast_to(self.pixels[..., None], (*self.pixels.shape, 3))


def test_a_split_sorted_by_label_is_told() -> None:
    images = np.repeat(GREY, 2, axis=0)
    rows = {"image": list(images), "label": list(np.arange(12) // 4)}
    with pytest.warns(UserWarning, match="mine: test: the images are sorted by label") as of_arrays:
        from_arrays("mine", train=(GREY, LABELS), test=(images, np.arange(12) // 4))
    with pytest.warns(UserWarning, match="theirs: test: the images are sorted") as of_data_set:
        from_dataset("theirs", {"train": rows, "test": rows})
    assert {one.filename for one in (*of_arrays, *of_data_set)} == {__file__}
    from_arrays("yours", train=(images, np.arange(12) // 4), test=(images, np.arange(12) % 3))


@pytest.mark.parametrize(
    ("splits", "says"),
    [
        ({"train": None}, r"mine: train must be a pair, \(images, labels\), not NoneType"),
        ({"train": (GREY,)}, r"must be a pair, \(images, labels\), not tuple of 1"),
        ({"train": (GREY, LABELS), "test": GREY}, r"mine: test must be a pair.*not ndarray"),
    ],
)
def test_a_split_that_is_no_pair_is_named(splits: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        from_arrays("mine", **splits)
    assert not in_memory.is_registered("mine")


@pytest.mark.parametrize("mode", ["I;16", "I", "F"])
def test_images_of_more_than_a_byte_are_refused(mode: str) -> None:
    image = SimpleNamespace(mode=mode, convert=lambda _: GREY[0])
    data = {"train": {"image": [image], "label": [0]}}
    with pytest.raises(ValueError, match=f"mode '{mode}', of more than a byte a channel"):
        from_dataset("mine", data)


def test_a_data_set_is_a_source() -> None:
    grey = Columns(image=[Picture(one) for one in GREY], label=LABELS.tolist())
    from_dataset("grey", {"train": grey, "extra": None})
    from_arrays("same", train=(GREY, LABELS), class_names=("cat", "dog", "eel"))
    assert describe("grey").class_names == ("cat", "dog", "eel")
    assert np.array_equal(load("grey", "train").images, load("same", "train").images)
    colours: dict[str, Any] = {"image": list(COLOURED.transpose(0, 2, 3, 1)), "label": LABELS}
    from_dataset("colours", {"train": colours})
    assert np.array_equal(load("colours", "train").images, COLOURED)
    colours["image"][0] = colours["image"][0][:4]
    with pytest.raises(ValueError, match="differ in size: give resize="):
        from_dataset("mixed", {"train": colours})
    from_dataset("mixed", {"train": colours}, resize=8)
    assert describe("mixed").image_shape == (3, 8, 8)
    with pytest.raises(ValueError, match="no split 'train', only test"):
        from_dataset("other", {"test": colours})
    with pytest.raises(ValueError, match=r"a mapping of splits, such as \{'train': dataset\}, not"):
        from_dataset("other", [colours])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the split train has no column 'image'"):
        from_dataset("other", {"train": [colours]})


class Pairs(list[tuple[Any, int]]):
    """A data set in the form of torchvision's."""

    classes = ("cat", "dog", "eel")


def test_a_data_set_of_pairs_is_a_source() -> None:
    pairs = Pairs((Picture(one), int(label)) for one, label in zip(GREY, LABELS, strict=True))
    from_dataset("pairs", {"train": pairs, "test": Pairs(pairs[:2])})
    assert describe("pairs").class_names == Pairs.classes
    assert np.array_equal(load("pairs", "train").images[:, 0], GREY)
    assert np.array_equal(load("pairs", "test").labels, LABELS[:2])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"resize": 0}, "resize=0 must be an integer of at least 1"),
        ({"resize": 8.0}, "resize=8.0 must be an integer"),
        ({"image": "img"}, "the split train has no column 'img': name the right one by image="),
        ({"label": "fine"}, "the split train has no column 'fine': name the right one by label="),
    ],
)
def test_a_data_set_is_asked_for_by_its_columns(changes: dict[str, Any], message: str) -> None:
    columns = {"image": list(GREY), "label": LABELS}
    with pytest.raises(ValueError, match=message):
        from_dataset("wrong", {"train": columns}, **changes)
    with pytest.raises(ValueError, match="the split test has no images: leave it out"):
        from_dataset("wrong", {"train": columns, "test": {"image": [], "label": []}})


def test_another_process_is_told_to_register_it() -> None:
    from_arrays("mine", train=(GREY, LABELS))
    program = (
        "import gymnasium, glimpse_envs; gymnasium.make('Glimpse/CenteredGlyphs-v0', source='mine')"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert "source='mine' must be one of" in done.stderr
    assert "registered in each process" in done.stderr


def test_a_state_is_of_the_arrays_it_was_made_with() -> None:
    from_arrays("mine", train=(GREY, LABELS))
    envs = make_vector(CENTRED, 2, source="mine")
    envs.reset(seed=0)
    state = envs.state_dict()
    make_vector(CENTRED, 2, source="mine").load_state_dict(state)
    in_memory._REGISTERED.clear()
    from_arrays("mine", train=(GREY, LABELS[::-1]))
    with pytest.raises(ValueError, match="another content of its source"):
        make_vector(CENTRED, 2, source="mine").load_state_dict(state)


def test_a_folder_of_mixed_sizes_is_resized(tmp_path: Path) -> None:
    for i, size in enumerate([(5, 6), (20, 9), (8, 8)]):
        write_image(tmp_path / f"cat/{i}.png", np.full(size, 100 + i, np.uint8))
    with pytest.raises(SourceError, match=r"folder:PATH\?resize=SIDE"):
        describe(f"folder:{tmp_path}")
    source = f"folder:{tmp_path}?resize=28"
    assert describe(source).image_shape == (1, 28, 28)
    one, other = (make_vector(CENTRED, 3, source=source) for _ in range(2))
    assert_same(one.reset(seed=1), other.reset(seed=1))


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_transparent_images_of_a_data_set_are_refused(mode: str) -> None:
    pil = pytest.importorskip("PIL.Image")
    clear = pil.new(mode, (4, 4), (9,) * (len(mode) - 1) + (0,))
    with pytest.raises(ValueError, match="an image has transparent pixels"):
        from_dataset("mine", {"train": {"image": [clear], "label": [0]}})
    opaque = pil.new(mode, (4, 4), (9,) * (len(mode) - 1) + (255,))
    from_dataset("opaque", {"train": {"image": [opaque], "label": [0]}})
    assert (load("opaque", "train").images == 9).all()
