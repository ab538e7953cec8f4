"""Files are replaced whole or not at all."""

import os
from pathlib import Path

import pytest

from glimpse_envs.core.files import replacing, write_atomically


def test_a_file_is_replaced_and_its_folder_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "record.json"
    for content in (b"first", b"second"):
        write_atomically(path, content)
        assert path.read_bytes() == content
    assert os.listdir(path.parent) == [path.name]


def test_the_temporary_path_has_the_suffix_and_no_pattern_finds_it(tmp_path: Path) -> None:
    with replacing(tmp_path / "film.mp4") as temporary:
        temporary.write_bytes(b"half")
        assert temporary.suffix == ".mp4"
        assert list(tmp_path.glob("*.mp4")) == [], "as after a kill"
    assert [path.read_bytes() for path in tmp_path.glob("*.mp4")] == [b"half"]


def test_an_error_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    path.write_bytes(b"old")

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_bytes(b"half")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fail()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == [path.name]
