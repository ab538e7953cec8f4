"""`python -m glimpse_envs`: the list of environments, and the description of one or of a source."""

from contextlib import suppress
from copy import copy
from pathlib import Path

import cv2
import gymnasium as gym
import numpy as np
import pytest

from glimpse_envs.__main__ import main
from glimpse_envs.episodes.lookup import load_task
from glimpse_envs.rendering import write_png
from glimpse_envs.suite import ATARI, MINIGRID, SUITE


def test_every_environment_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [*SUITE, ATARI, MINIGRID]
    assert all(line.endswith(".") and len(line.split()) > 5 for line in lines)
    summaries = [row.summary for row in SUITE.values()]
    assert [line.split(maxsplit=2)[2] for line in lines[: len(SUITE)]] == summaries
    assert len(set(summaries)) == len(summaries)


def test_one_is_described_with_a_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "picture.png"
    main(["Glimpse/ClutteredGlyphs-v0", "budget=5", "look=tiles", "--out", str(path)])
    text = capsys.readouterr().out
    for part in ("Which", "budget       5 glimpses", "chance 0.1, ceiling 1", "glimpse",
                 "remaining", "look='tiles'", "clutter_size=8", str(path)):  # fmt: skip
        assert part in text
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("name", "actions"),
    [
        ("GlimpseBox/Copy-v0", "MultiDiscrete([ 3 31])"),
        ("GlimpseDiscrete/SearchGlyphs-v0", "Discrete("),
    ],
)
def test_an_id_with_plain_spaces_is_described_with_them(
    name: str, actions: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "picture.png"
    main([f"glimpse_envs.flat_ids:{name}", "--out", str(path)])
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    plain = [line[6:].strip() for line in lines if line.startswith("as one")]
    assert plain[0].startswith(actions)
    assert plain[1].startswith("Box(")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_an_id_without_a_version_is_no_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = copy(gym.spec("Glimpse/Copy-v0"))
    spec.id = spec.name = "Thing"
    spec.version = None
    monkeypatch.setitem(gym.registry, "Thing", spec)
    main(["math:Thing", "--out", str(tmp_path / "picture.png")])
    assert "observations" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["mnist", "folder:pictures"])
def test_a_file_that_is_called_like_a_source_is_not_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("mnist", "folder"):
        (tmp_path / f"{module}.py").write_text("raise RuntimeError('it was run')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with suppress(SystemExit):  # there are no such images here
        main([name])


@pytest.mark.learning
@pytest.mark.parametrize("env_id", [name for name in SUITE if "MNIST" not in name], indirect=True)
def test_every_argument_of_every_environment_is_explained(
    env_id: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kwargs = SUITE[env_id].kwargs
    if kwargs.get("source", "glyphs") != "glyphs":
        pytest.skip("needs files")
    main([env_id, "--out", str(tmp_path / "picture.png")])
    text = capsys.readouterr().out.partition("arguments, with their values here\n")[2]
    lines = dict(line.strip().split("=", 1) for line in text.splitlines() if "=" in line)
    assert kwargs.keys() <= lines.keys()
    assert lines.keys() == load_task(SUITE[env_id].task).parameters(kwargs).keys()
    assert all(len(line.split()) > 1 for line in lines.values()), lines


def test_a_source_is_surveyed_with_a_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for split in ("train", "validation", "test"):
        for number, name in enumerate(("cat", "dog")):
            for shade in range(3):  # those of the dogs are brighter, and all are in each split
                image = np.full((10, 12, 3), 100 * number + shade, np.uint8)
                write_png(image, tmp_path / "pictures" / split / name / f"{shade}.png")
    monkeypatch.chdir(tmp_path)
    main(["folder:pictures"])
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[1:3] == ["images       10 x 12, grey", "classes      2: cat, dog"]
    assert "train        6 images, 3 of each class" in lines
    assert "warning: 6 of 6 images of 'validation' are in 'train', too" in lines
    assert "warning: 6 of 6 images of 'test' are in 'train', too" in lines
    assert lines[-1] == "picture: pictures.png"
    drawn = cv2.imread("pictures.png")
    assert drawn is not None
    assert drawn.shape == (2 * (4 * 10 + 4) + 4, 3 * (4 * 12 + 4) + 4, 3)
    assert drawn[60, 5].tolist() == [100] * 3
    with pytest.raises(SystemExit):
        main(["folder:pictures", "budget=3"])
    assert "takes no KEY=VALUE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Glimpse/Nothing-v0"], "`Nothing` doesn't exist"),
        (["Glimpse/Nothing-v0"], "python -m glimpse_envs lists"),
        (["folder:nowhere"], "nowhere"),
        (["Glimpse/CenteredGlyphs"], "Did you mean 'Glimpse/CenteredGlyphs-v0'?"),
        (["CenteredGlyphs"], "Did you mean 'Glimpse/CenteredGlyphs-v0'?"),
        (["copy-v0"], "Did you mean 'Glimpse/Copy-v0'?"),
        (["Taxi-v2"], "` instead.\n"),
        (["my_taks:Mine/A-v0"], "its module my_taks cannot be imported"),
        (["Glimpse/CenteredGlyphs-v0", "budget"], "KEY=VALUE"),
        (["Glimpse/CenteredGlyphs-v0", "bugdet=3"], "did you mean 'budget'"),
        (["Glimpse/CenteredGlyphs-v0", "flat=True"], "flat cannot be set here"),
        (["Glimpse/CenteredGlyphs-v0", "render_mode=human"], "render_mode cannot be set here"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*arguments, "--out", str(tmp_path / "picture.png")])
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_closed_folder_is_named_before_an_environment_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *arguments: False)
    with pytest.raises(SystemExit):
        main(["Glimpse/Copy-v0", "--out", str(tmp_path / "picture.png")])
    assert f"the folder {tmp_path} is closed to you; name another" in capsys.readouterr().err
