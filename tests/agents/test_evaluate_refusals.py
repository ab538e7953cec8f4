"""Runs, options and arguments that do not fit an evaluation are named."""

from pathlib import Path
from typing import Any

import pytest

from agents.algorithms.reinforce import Reinforce
from agents.evaluate import main
from agents.scoring.run_record import make_record
from agents.scoring.run_scores import evaluate_run
from glimpse_envs.evaluation.records import read_record
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import Run, load_policy
from tests.support.baselines import tiny_config as baseline_config
from tests.support.baselines import trained as trained_baseline
from tests.support.tiny import tiny_config, tiny_network
from tests.support.trainings import trained

pytestmark = pytest.mark.learning  # each test asks of a trained run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    config = tiny_config(env_kwargs={"budget": 3, "glimpse_size": 12})
    return trained(Reinforce, config, tmp_path_factory.mktemp("runs") / "tiny")


def test_a_record_is_only_of_the_looks_trained_with(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(run.folder), "--episodes", "50", "--gaze", "random", "--record", str(tmp_path)])
    assert ended.value.code == 2
    assert "the looks that the run was trained with" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--split", "train"], "leave out --split train or --record"),
        (["--seed", "7"], "leave out --seed 7 or --record"),
        (["--episodes", "5"], "score of 40 episodes, which one of 5 would replace"),
        (["--split", "validation"], "test score, which one of validation scenes would replace"),
    ],
)
def test_a_record_is_not_replaced_by_a_lesser_one(
    arguments: list[str],
    message: str,
    run: Run,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = [str(run.folder), "--episodes", "40", "--record", str(tmp_path)]
    main(command)
    (path,) = tmp_path.iterdir()
    before = path.read_text()
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([*command, *arguments])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert path.read_text() == before
    main([*command, "--episodes", "50"])
    assert read_record(path).headline.episodes == 50


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--film-with", "runs/other"], "--film-with runs/other is the second run of a film"),
        (
            ["--reveal", "seen"],
            "--reveal seen is an option of films: name the file of the film, too",
        ),
        (["--notes", "wide"], "--notes 'wide' is a text for a record: name its folder, too"),
        (["--film", "film.gif", "--film-episodes", "0"], "film_episodes=0 must be at least 1"),
        (["--film", "film.gif", "--film-height", "20"], "must be an integer from 160 to 4320"),
        (["--film-episodes", "2"], "--film-episodes 2 is an option of films"),
        (["--film-height", "200"], "--film-height 200 is an option of films"),
        (["--split", "train"], "say how many by `episodes`, such as 10000"),
    ],
)
def test_options_that_lack_another_are_refused(
    arguments: list[str], message: str, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(run.folder), *arguments])
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""


@pytest.mark.parametrize(
    ("option", "name", "message"),
    [
        ("--film", "nowhere/film.gif", "there is no folder"),
        ("--film", "film.avi", "must end in .mp4, .gif, .webp"),
        ("--film", "a_folder.gif", "a_folder.gif must be a file; it is a folder"),
        ("--record", "a_file", "must be a folder; it is a file"),
        ("--record", "a_file/results", "a_file is a file, not a folder"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is_played(
    option: str,
    name: str,
    message: str,
    run: Run,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def play(*_: Any, **__: Any) -> None:
        raise AssertionError("it is refused before it plays")

    monkeypatch.setattr("agents.evaluate.film_run", play)
    monkeypatch.setattr("agents.evaluate.score_run", play)
    (tmp_path / "a_file").touch()
    (tmp_path / "a_folder.gif").mkdir()
    with pytest.raises(SystemExit) as ended:
        main([str(run.folder), option, str(tmp_path / name)])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a_file", "a_folder.gif"]


def test_a_view_without_looks_is_scanned_by_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained(Reinforce, tiny_config(env_kwargs={"view": "full"}), tmp_path)
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path), "--gaze", "raster"])
    assert ended.value.code == 2
    assert "gaze='raster': there is no look to choose" in capsys.readouterr().err


def test_a_run_without_a_checkpoint_cannot_be_scored(tmp_path: Path) -> None:
    run = trained(Reinforce, tiny_config(), tmp_path)
    run.checkpoint_path.unlink()
    with pytest.raises(RunError, match="no checkpoint"):
        evaluate_run(run)


def test_a_run_that_does_not_name_its_model_is_scored_but_not_recorded(run: Run) -> None:
    config = {name: value for name, value in run.config.items() if name != "model"}
    nameless = Run(run.folder, config)
    evaluation = evaluate_run(nameless, episodes=20)
    with pytest.raises(RunError, match="has model None; it must be an object"):
        make_record(nameless, [evaluation])


def test_a_run_of_another_version_is_refused_by_name(tmp_path: Path) -> None:
    run = trained(Reinforce, tiny_config(), tmp_path)
    config = run.config
    network = config["config"]["network"]
    run.replace_config(
        {**config, "config": {**config["config"], "network": {**network, "wings": 2}}}
    )
    with pytest.raises(RunError, match="was made with wings, which NetworkConfig lacks"):
        load_policy(run.folder)
    run.replace_config(
        {**config, "config": {**config["config"], "network": {**network, "core_units": 16}}}
    )
    with pytest.raises(RunError, match="does not fit GlimpsePolicy as it is now"):
        load_policy(run.folder)


def test_a_config_that_cannot_be_read_names_the_entry(tmp_path: Path) -> None:
    run = trained(Reinforce, tiny_config(), tmp_path)
    config, learner = run.config, run.config["config"]
    network = learner["network"]
    for changed, message in (
        ({**learner, "network": {**network, "core_units": "8"}}, "core_units is '8'; it must be"),
        ({**learner, "network": None}, "network is None; it must be"),
        ({**learner, "env_kwargs": [3]}, r"env_kwargs is \[3\]; it must be"),
        ({k: v for k, v in learner.items() if k != "network"}, "lacks network"),
        ({k: v for k, v in learner.items() if k != "env_id"}, "lacks env_id"),
        ({k: v for k, v in learner.items() if k != "env_kwargs"}, "lacks env_kwargs"),
        ("none", "config is 'none'; it must be an object"),
    ):
        damaged = run.replace_config({**config, "config": changed})
        with pytest.raises(RunError, match=message):
            evaluate_run(damaged, episodes=20)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        (
            {"glimpse_size": 8},
            r"observation\['glimpse'\] \(1, 12, 12\), and would have \(1, 8, 8\)",
        ),
        ({"history": True}, r"would have \(3, 1, 12, 12\)"),
        ({"view": "full"}, r"action\['look'\] .* and would have none"),
        ({"look": "relative"}, "look continuous, and would have relative"),
    ],
)
def test_what_a_policy_was_not_trained_to_see_or_do_is_refused(
    run: Run, changes: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        evaluate_run(run, episodes=10, **changes)


def test_looks_at_cells_go_as_far_as_in_the_scene_trained_on(tmp_path: Path) -> None:
    kwargs: dict[str, Any] = {"budget": 3, "glimpse_size": 12}
    network = tiny_network(look_coordinates="cells")
    run = trained(
        Reinforce,
        tiny_config(env_id="Glimpse/TranslatedGlyphs-v0", env_kwargs=kwargs, network=network),
        tmp_path / "cells",
    )
    with pytest.raises(ValueError, match="scene_size=120: the policy was trained with places of"):
        evaluate_run(run, episodes=10, scene_size=120)
    assert evaluate_run(run, episodes=10, budget=2).episodes == 10


def test_a_model_of_the_full_view_knows_no_other_budget(tmp_path: Path) -> None:
    model = trained_baseline(baseline_config("location"), "location", tmp_path)
    with pytest.raises(ValueError, match="budget=2: this policy sees the whole scene"):
        evaluate_run(model, episodes=10, budget=2)
    with pytest.raises(ValueError, match="glimpse_size=7: this policy sees the whole scene"):
        evaluate_run(model, episodes=10, glimpse_size=7)


@pytest.mark.parametrize("film", [False, True])
def test_a_misspelt_argument_is_one_line(
    film: bool, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--film", str(tmp_path / "film.gif")] if film else []
    with pytest.raises(SystemExit) as ended:
        main([str(run.folder), "--episodes", "20", "--env-kwargs", "buget=6", *options])
    assert ended.value.code == 2
    printed = capsys.readouterr().err
    assert printed.startswith(
        "error: Glimpse/CenteredGlyphs-v0: unexpected keyword argument 'buget': did you mean"
    )
    assert "creator" not in printed, "Gymnasium's list of all arguments"


def test_arguments_after_two_options_are_refused(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else only the last would count."""
    for first, second in (
        (["--env-kwargs", "budget=3"], ["--env_kwargs", "reward=dense"]),
        (["--trust", "my_tasks"], ["--trust=my_parts"]),
    ):
        with pytest.raises(SystemExit) as ended:
            main([str(run.folder), *first, "--episodes", "20", *second])
        assert ended.value.code == 2
        printed = capsys.readouterr()
        assert f"error: {first[0]} is given twice: give all after one" in printed.err
        assert printed.out == ""


def test_an_option_of_its_own_is_no_argument_of_the_environment(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([str(run.folder), "--env-kwargs", "split=validation"])
    assert "give split as an option of its own" in capsys.readouterr().err
    for name in ("at_most", "progress", "watcher", "id", "render_mode", "copies", "flat"):
        with pytest.raises(SystemExit):
            main([str(run.folder), "--env-kwargs", f"{name}=1"])
        assert f"env_kwargs: {name} cannot be set here" in capsys.readouterr().err
