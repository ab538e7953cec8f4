"""Files are replaced whole or not at all."""

import errno
import os
from pathlib import Path

import pytest

from glimpse_envs.core.files import check_writable, replacing, write_atomically


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


def test_a_full_disk_is_told_with_the_file(tmp_path: Path) -> None:
    def fail() -> None:
        with replacing(tmp_path / "record.json"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match=r"No space left on device: '.*record\.json'"):
        fail()


def test_what_cannot_be_written_is_named_before_it_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("unmounted")
    for folder in (False, True):
        check_writable("--out", tmp_path / "new" / "place", folder=folder)
        with pytest.raises(ValueError, match=f"--out .*: {tmp_path / 'file'} is a file, not a fol"):
            check_writable("--out", tmp_path / "file" / "place", folder=folder)
        for place in (tmp_path / "link", tmp_path / "link" / "place"):
            with pytest.raises(ValueError, match="link is a link to unmounted, which is not there"):
                check_writable("--out", place, folder=folder)
    check_writable("--out", tmp_path / "file")
    check_writable("--out", tmp_path, folder=True)
    with pytest.raises(ValueError, match="file must be a folder; it is a file"):
        check_writable("--out", tmp_path / "file", folder=True)
    with pytest.raises(ValueError, match="must be a file; it is a folder"):
        check_writable("--out", tmp_path)
    monkeypatch.setattr(os, "access", lambda place, mode: place != tmp_path)  # root may do all
    with pytest.raises(ValueError, match=f"--out .*: the folder {tmp_path} is closed to you"):
        check_writable("--out", tmp_path / "new" / "place")
    assert sorted(os.listdir(tmp_path)) == ["file", "link"]
