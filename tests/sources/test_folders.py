"""Folders of images: splits, colours, and what is wrong with them."""

import os
import struct
import sys
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs.sources import (
    SPLITS,
    SourceError,
    describe,
    folder,
    forget,
    load,
)
from glimpse_envs.sources.image_files import read_image
from glimpse_envs.vision.scenes.by_class import load_by_class
from tests.support.episodes import CENTRED, make_vector, write_images


def write_image(path: Path, image: NDArray[np.uint8]) -> None:
    """Write an image, (h, w) grey or (h, w, 3) RGB."""
    path.parent.mkdir(parents=True, exist_ok=True)
    ordered = image if image.ndim == 2 else image[..., ::-1]
    path.write_bytes(cv2.imencode(path.suffix, ordered)[1].tobytes())


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    """A folder of 40 grey images of 6x5 pixels in two classes."""
    for number in range(40):
        name = ("cat", "dog")[number % 2]
        write_image(tmp_path / f"pets/{name}/{number}.png", np.full((5, 6), number, np.uint8))
    (tmp_path / "pets/notes.txt").write_text("not an image")
    (tmp_path / "pets/.hidden").mkdir()
    return tmp_path / "pets"


def test_folder_splits_are_stable_and_disjoint(pets: Path) -> None:
    info = describe(f"folder:{pets}")
    assert (info.image_shape, info.class_names) == ((1, 5, 6), ("cat", "dog"))
    before = {split: load(f"folder:{pets}", split) for split in SPLITS}
    seen = {split: set(examples.images[:, 0, 0, 0]) for split, examples in before.items()}
    assert sorted(set().union(*seen.values())) == list(range(40))
    assert sum(len(examples) for examples in before.values()) == 40
    for examples in before.values():
        assert np.array_equal(examples.labels, examples.images[:, 0, 0, 0] % 2)

    write_image(pets / "ant/100.png", np.full((5, 6), 100, np.uint8))
    for split in SPLITS:
        after = set(load(f"folder:{pets}", split).images[:, 0, 0, 0])
        assert after - {100} == seen[split]


def test_the_first_images_of_a_split_are_of_all_classes(tmp_path: Path) -> None:
    for number in range(500):
        name = "abcde"[number // 100]
        write_image(tmp_path / f"{name}/{number}.png", np.full((5, 6), number % 256, np.uint8))
    for split in SPLITS:
        labels = load(f"folder:{tmp_path}", split).labels
        first = labels[: len(labels) // 2]
        assert set(first) == set(range(5)), split
        assert (np.diff(labels) < 0).any()


def test_a_changed_folder_is_read_again(pets: Path) -> None:
    source = f"folder:{pets}"
    describe(source)
    write_image(pets / "ant/0.png", np.full((5, 6), 100, np.uint8))
    assert describe(source).class_names == ("ant", "cat", "dog")
    same_size = np.full((5, 6), 41, np.uint8)
    write_image(pets / "ant/0.png", same_size)
    shown = {value for split in SPLITS for value in load(source, split).images[:, 0, 0, 0]}
    assert shown == {*range(40), 41}
    (pets / "cat/0.png").unlink()
    assert sum(len(load(source, split)) for split in SPLITS) == 40


def test_an_unchanged_folder_is_read_once(pets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = f"folder:{pets}"
    train = load(source, "train")
    monkeypatch.setattr(folder, "read_image", lambda path: pytest.fail(f"{path} is read again"))
    assert describe(source).class_names == ("cat", "dog")
    assert load(source, "train") is train


def test_what_is_forgotten_is_read_again(pets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, read = f"folder:{pets}", []

    def noted(path: Path) -> NDArray[np.uint8]:
        read.append(path)
        return read_image(path)

    monkeypatch.setattr(folder, "read_image", noted)
    examples = source, "train", describe(source)
    images = load_by_class(*examples)[0]
    assert load_by_class(*examples)[0] is images
    read.clear()
    forget()
    assert load_by_class(*examples)[0] is not images
    assert set(read) == set(pets.glob("*/*.png"))


def test_an_environment_keeps_the_images_it_was_made_with(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 256, (4, 28, 28), np.uint8)
    source = write_images(tmp_path / "own", images)
    played = make_vector(CENTRED, 4, source=source, split="test")
    waiting = make_vector(CENTRED, 2, source=source)
    played.reset(seed=0)
    for split in SPLITS:
        write_image(tmp_path / f"own/{split}/zebra/0.png", images[0])
    assert describe(source).class_names == ("first", "second", "zebra")
    played.reset(seed=1)
    assert set(played.task.oracle()["answer"]) == {0, 1}
    with pytest.raises(SourceError, match="own' have changed since the environment was made"):
        waiting.reset(seed=0)


def test_the_hash_of_a_name_gives_80_10_10() -> None:
    counts = np.bincount([folder.split_of(f"class/{n}.png") for n in range(5000)])
    assert np.abs(counts / 5000 - [0.8, 0.1, 0.1]).max() < 0.02
    # Users' splits must not move with a new version.
    held_out = {n: folder.split_of(f"cat/{n}.png") for n in range(20)}
    assert {n: split for n, split in held_out.items() if split} == {10: 2}


def test_one_coloured_image_makes_all_rgb(pets: Path) -> None:
    image = np.zeros((5, 6, 3), np.uint8)
    image[...] = (200, 100, 50)
    write_image(pets / "cat/red.bmp", image)
    split = SPLITS[folder.split_of("cat/red.bmp")]
    examples = load(f"folder:{pets}", split)
    assert describe(f"folder:{pets}").image_shape == (3, 5, 6)
    assert [200, 100, 50] in examples.images[:, :, 0, 0].tolist()


def test_a_folder_may_bring_its_own_splits(tmp_path: Path) -> None:
    for value, split in enumerate(SPLITS):
        write_image(tmp_path / f"own/{split}/cat/a.png", np.full((4, 4), value, np.uint8))
    for value, split in enumerate(SPLITS):
        assert load(f"folder:{tmp_path / 'own'}", split).images.ravel().tolist() == [value] * 16
    (tmp_path / "own/validation").rename(tmp_path / "elsewhere")
    with pytest.raises(SourceError, match=r"own is sorted into splits, but has no .*validation"):
        describe(f"folder:{tmp_path / 'own'}")


def test_val_is_no_class(tmp_path: Path) -> None:
    for split in ("train", "val", "test"):
        write_image(tmp_path / f"own/{split}/cat/a.png", np.zeros((4, 4), np.uint8))
    with pytest.raises(SourceError, match="has the folders train and val: rename val to valid"):
        describe(f"folder:{tmp_path / 'own'}")
    (tmp_path / "own/val").rename(tmp_path / "own/validation")
    assert describe(f"folder:{tmp_path / 'own'}").class_names == ("cat",)


def test_an_image_that_would_be_left_out_is_named(pets: Path) -> None:
    (pets / "cat/more.WEBP").write_bytes(b"RIFF")
    with pytest.raises(SourceError, match=r"more\.WEBP is of a format that is not read: convert"):
        describe(f"folder:{pets}")


def test_images_below_a_class_are_named(pets: Path) -> None:
    (pets / "cat" / "notes").mkdir()
    (pets / "cat" / ".cache").mkdir()
    write_image(pets / "cat/.cache/1.png", np.zeros((5, 6), np.uint8))
    assert len(load(f"folder:{pets}", "train")) > 0
    missed = r"kittens is a folder within a class.*missed: move them"
    for name in ("1.png", "1.gif"):
        image = pets / "cat/kittens/young" / name
        image.parent.mkdir(parents=True, exist_ok=True)
        image.write_bytes(b"whatever it holds")
        with pytest.raises(SourceError, match=missed):
            describe(f"folder:{pets}")
        image.unlink()


def test_folders_not_in_order_say_what_is_wrong(pets: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"nowhere is not a folder.*one folder of images"):
        describe(f"folder:{tmp_path / 'nowhere'}")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="empty has no folders in it"):
        describe(f"folder:{tmp_path / 'empty'}")
    (tmp_path / "empty/cat").mkdir()
    with pytest.raises(SourceError, match="cat holds no image"):
        describe(f"folder:{tmp_path / 'empty'}")
    write_image(tmp_path / "empty/cat/0.png", np.zeros((5, 6), np.uint8))
    with pytest.raises(SourceError, match=r"has 1 images, of which none is in the split \w+"):
        [load(f"folder:{tmp_path / 'empty'}", split) for split in SPLITS]
    write_image(pets / "dog/tall.png", np.zeros((7, 6), np.uint8))
    with pytest.raises(SourceError, match=r"tall\.png has 6x7 pixels, but .* has 6x5"):
        describe(f"folder:{pets}")


@pytest.mark.parametrize("option", ["resize=x", "resize=0", "resize=99999", "size=28"])
def test_an_option_that_there_is_not_is_named(option: str, pets: Path) -> None:
    with pytest.raises(ValueError, match=f"has the option '{option}'; there is only resize=SIDE"):
        describe(f"folder:{pets}?{option}")


def test_a_folder_may_have_a_question_mark(pets: Path) -> None:
    asking = pets.rename(pets.with_name("pets?"))
    assert describe(f"folder:{asking}").class_names == ("cat", "dog")


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".bmp"])
def test_a_damaged_image_is_named(suffix: str, pets: Path) -> None:
    path = pets / f"cat/broken{suffix}"
    write_image(path, np.random.default_rng(0).integers(0, 256, (5, 6), np.uint8))
    whole = path.read_bytes()
    for content in (b"", b"text", whole[: len(whole) * 2 // 3]):
        path.write_bytes(content)
        with pytest.raises(SourceError, match=rf"broken\{suffix} is not an image.*Replace"):
            describe(f"folder:{pets}")


def header_of(kind: str, width: int, height: int) -> bytes:
    """The beginning of an image file of that size, without its pixels."""
    if kind == "png":
        chunk = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
        return b"\x89PNG\r\n\x1a\n\0\0\0\r" + chunk + struct.pack(">I", zlib.crc32(chunk))
    if kind == "bmp":
        return b"BM" + struct.pack("<IIIIii", 0, 0, 54, 40, width, height) + bytes(64)
    frame = struct.pack(">HHBHH", 0xFFC0, 11, 8, height, width)
    return b"\xff\xd8" + struct.pack(">HH", 0xFFE0, 4) + b"ab" + frame + bytes(16)


@pytest.mark.parametrize("kind", ["png", "bmp", "jpg"])
def test_an_image_too_large_is_refused_before_it_is_decoded(kind: str, pets: Path) -> None:
    (pets / f"cat/bomb.{kind}").write_bytes(header_of(kind, 50_000, 50_000))
    with pytest.raises(SourceError, match=rf"bomb\.{kind} has 50000x50000 pixels.* may have"):
        describe(f"folder:{pets}")


def test_what_is_no_file_is_named(pets: Path) -> None:
    odd = pets / "cat/d.png"
    odd.mkdir()
    with pytest.raises(SourceError, match=r"d\.png is not a file"):
        describe(f"folder:{pets}")
    odd.rmdir()
    for target in ("nowhere.png", "d.png", "/dev/zero"):
        odd.symlink_to(target)
        with pytest.raises(SourceError, match=r"d\.png (cannot be read|is not a file)"):
            describe(f"folder:{pets}")
        odd.unlink()
    with odd.open("wb") as sparse:
        sparse.truncate(2**33)
    with pytest.raises(SourceError, match=r"d\.png has 8,589,934,592 bytes"):
        describe(f"folder:{pets}")


@pytest.mark.skipif(sys.platform != "linux", reason="names are text elsewhere")
def test_a_name_that_is_no_text_is_shown(pets: Path) -> None:
    Path(os.fsdecode(os.fsencode(pets / "cat") + b"/\xff.png")).touch()
    with pytest.raises(SourceError, match=r"\\xff\.png' has a name that is not UTF-8"):
        describe(f"folder:{pets}")


def test_images_that_together_exceed_the_memory_are_refused(
    pets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "memory_of_machine", lambda: 3000)
    with pytest.raises(SourceError, match=r"pets has 40 images, which need 7,200 bytes"):
        describe(f"folder:{pets}")


def test_a_state_is_of_the_images_it_was_made_with(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 256, (4, 28, 28), np.uint8)
    source = write_images(tmp_path / "own", images)
    envs = make_vector(CENTRED, 2, source=source)
    envs.reset(seed=0)
    state = envs.state_dict()
    make_vector(CENTRED, 2, source=source).load_state_dict(state)
    train = tmp_path / "own/train"
    (train / "first").rename(train / "swapped")
    (train / "second").rename(train / "first")
    (train / "swapped").rename(train / "second")
    other = make_vector(CENTRED, 2, source=source)
    with pytest.raises(ValueError, match="it has another content of its source"):
        other.load_state_dict(state)


def write_png(path: Path, kind: int, pixels: NDArray[np.uint8], **chunks: bytes) -> None:
    """Write a PNG, (h, w, channels) of a colour type, with further chunks before its pixels."""
    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, kind, 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    parts = {"IHDR": header, **chunks, "IDAT": zlib.compress(rows), "IEND": b""}
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + b"".join(
            struct.pack(">I", len(data))
            + name.encode()
            + data
            + struct.pack(">I", zlib.crc32(name.encode() + data))
            for name, data in parts.items()
        )
    )


PALETTE = {"PLTE": bytes([9] * 6), "tEXt": b"Comment\0" + b"x" * 4000}


@pytest.mark.parametrize(
    ("kind", "channels", "chunks"),
    [
        (4, 2, {}),
        (6, 4, {}),
        (3, 1, PALETTE | {"tRNS": bytes([255, 7])}),
        (0, 1, {"tRNS": bytes([0, 7])}),
    ],
    ids=["grey and alpha", "colours and alpha", "palette", "one grey"],
)
def test_transparent_pixels_are_refused(
    kind: int, channels: int, chunks: dict[str, bytes], tmp_path: Path
) -> None:
    """Their colour, often black, is not what is seen."""
    path = tmp_path / "icon.png"
    pixels = np.ones((5, 6, channels), np.uint8)
    write_png(path, kind, pixels * (1 if kind == 3 else 200), **chunks)
    with pytest.raises(SourceError, match=r"icon\.png has transparent pixels"):
        read_image(path)


@pytest.mark.parametrize(
    ("kind", "channels", "chunks"),
    [(4, 2, {}), (6, 4, {}), (3, 1, PALETTE | {"tRNS": bytes([255, 255])}), (3, 1, PALETTE)],
)
def test_opaque_pixels_are_read(
    kind: int, channels: int, chunks: dict[str, bytes], tmp_path: Path
) -> None:
    path = tmp_path / "icon.png"
    pixels = np.full((5, 6, channels), 1 if kind == 3 else 255, np.uint8)
    write_png(path, kind, pixels, **chunks)
    assert (read_image(path) == (9 if kind == 3 else 255)).all()
