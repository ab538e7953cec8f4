"""A run on a user's own pictures knows their classes."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from agents.algorithms.reinforce import Reinforce
from agents.compare import main as compare_command
from agents.evaluate import main as evaluate_command
from agents.scoring.run_films import film_run
from agents.scoring.run_scores import evaluate_run, score_run
from glimpse_envs.evaluation.records import read_record
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import load_policy, open_run
from tests.support.episodes import write_images
from tests.support.tiny import tiny_config
from tests.support.trainings import trained


def test_other_classes_are_neither_scored_nor_trained_on(tmp_path: Path) -> None:
    """Swapped names would turn all right answers into wrong ones, without an error."""
    images = np.random.default_rng(0).integers(0, 256, (4, 28, 28), np.uint8)
    source, folder = write_images(tmp_path / "own", images), tmp_path / "run"
    config = tiny_config(env_kwargs={"budget": 3, "source": source})
    run = trained(Reinforce, config, folder)
    assert open_run(folder).config["class_names"] == ["first", "second"]
    assert evaluate_run(run, episodes=4).episodes == 4

    for split in ("train", "validation", "test"):
        (tmp_path / "own" / split / "second").rename(tmp_path / "own" / split / "a_new_name")
    wrong = (
        r"run: it was trained to name the classes \['first', 'second'\] of source='folder:.*', "
        r"which has the classes \['a_new_name', 'first'\] now"
    )
    with pytest.raises(RunError, match=wrong):
        evaluate_run(run, episodes=4)
    with pytest.raises(RunError, match=wrong):
        load_policy(folder)
    with pytest.raises(RunError, match=wrong):
        trained(Reinforce, config, folder, resume=True)


def test_moved_pictures_are_read_where_they_are_now(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    images = np.random.default_rng(0).integers(0, 256, (4, 28, 28), np.uint8)
    source, folder = write_images(tmp_path / "own", images), tmp_path / "run"
    run = trained(Reinforce, tiny_config(env_kwargs={"budget": 3, "source": source}), folder)
    before = evaluate_run(run, episodes=4)
    (tmp_path / "own").rename(tmp_path / "moved")
    for read in (lambda: load_policy(folder), lambda: evaluate_run(folder, episodes=4)):
        with pytest.raises(RunError, match=r"run was trained on cannot be read.*were moved, name"):
            read()
    moved = f"folder:{tmp_path / 'moved'}"
    after = evaluate_run(folder, episodes=4, source=moved)
    np.testing.assert_array_equal(after.returns, before.returns)
    assert load_policy(folder, source=moved).view == "glimpse"
    assert not open_run(folder).pictures_replaced(moved)
    (scored,) = score_run(open_run(folder), episodes=4, source=moved)
    assert scored.mean_return == before.mean_return
    film_run(open_run(folder), tmp_path / "film.gif", episodes=1, source=moved)
    results = tmp_path / "results"
    options = ["--episodes", "4", "--record", str(results), "--env-kwargs", f"source={moved}"]
    evaluate_command([str(folder), *options])
    assert "note" not in capsys.readouterr().out
    (path,) = results.glob("*.json")
    assert read_record(path).headline.mean_return == before.mean_return
    compare_command([str(folder), "--episodes", "4", "--source", moved])
    assert "Reinforce LSTM" in capsys.readouterr().out
    other = write_images(tmp_path / "other", images[::-1])
    with pytest.raises(SystemExit):
        evaluate_command([str(folder), *options[:-1], f"source={other}"])
    assert "leave out --env-kwargs" in capsys.readouterr().err, "they are other pictures"
    (tmp_path / "moved").rename(tmp_path / "own")
    with pytest.raises(SystemExit):
        evaluate_command([str(folder), *options])
    assert "leave out --env-kwargs" in capsys.readouterr().err, "they were not moved"


def test_pictures_of_another_folder_must_have_the_same_classes_and_colours(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 256, (4, 28, 28), np.uint8)
    source, folder = write_images(tmp_path / "own", images), tmp_path / "run"
    trained(Reinforce, tiny_config(env_kwargs={"budget": 3, "source": source}), folder)
    alike = write_images(tmp_path / "alike", images[::-1])
    assert evaluate_run(folder, episodes=4, source=alike).episodes == 4
    assert open_run(folder).pictures_replaced(alike)
    other, coloured = write_images(tmp_path / "other", images), tmp_path / "coloured"
    for split in ("train", "validation", "test"):
        (tmp_path / "other" / split / "second").rename(tmp_path / "other" / split / "zebra")
        for name in ("first", "second"):
            (coloured / split / name).mkdir(parents=True)
            picture = np.zeros((28, 28, 3), np.uint8) + np.array([9, 99, 199], np.uint8)
            cv2.imwrite(str(coloured / split / name / "1.png"), picture)
    classes = r"to name the classes \['first', 'second'\] .* has the classes \['first', 'zebra'\]"
    colours = r"on pictures of one channel \(grey\) of .* has 3 channels \(colour\) now"
    for gone in (False, True):
        if gone:
            (tmp_path / "own").rename(tmp_path / "elsewhere")
        for wrong, message in (
            (other, classes),
            (f"folder:{coloured}", colours),
            ("glyphs", "the classes"),
        ):
            with pytest.raises(RunError, match=message):
                evaluate_run(folder, episodes=4, source=wrong)
            with pytest.raises(RunError, match=message):
                load_policy(folder, source=wrong)


def test_replaced_pictures_are_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    images = np.random.default_rng(0).integers(0, 256, (4, 28, 28), np.uint8)
    source, folder = write_images(tmp_path / "own", images), tmp_path / "run"
    trained(Reinforce, tiny_config(env_kwargs={"budget": 3, "source": source}), folder)
    evaluate_command([str(folder), "--episodes", "4"])
    assert "note" not in capsys.readouterr().out
    write_images(tmp_path / "own", images[::-1])
    results = tmp_path / "results"
    evaluate_command([str(folder), "--episodes", "4", "--record", str(results)])
    assert "note: pictures were added, removed or replaced" in capsys.readouterr().out
    (path,) = results.rglob("*.json")
    compare_command([str(folder), "--episodes", "4"])
    assert "Of Reinforce LSTM: pictures were added, removed or replaced" in capsys.readouterr().out
    evaluate_command([str(folder), "--episodes", "4", "--against", str(folder)])
    assert capsys.readouterr().out.count("note: pictures were added, removed or replaced") == 2
    assert (
        read_record(path).notes
        == "pictures were added, removed or replaced since the training began"
    )


def test_pictures_of_the_suite_have_no_classes_to_check(tmp_path: Path) -> None:
    assert "class_names" not in trained(Reinforce, tiny_config(), tmp_path / "run").config
