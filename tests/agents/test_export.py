"""Exported weights score what their run scores, and are not trained further."""

from pathlib import Path

import numpy as np
import pytest

from agents.algorithms.reinforce import Reinforce
from agents.evaluate import main as evaluate
from agents.export import export, main
from agents.scoring.run_scores import evaluate_run
from glimpse_envs import sources
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import create_run, open_run
from tests.support.tiny import tiny_config
from tests.support.trainings import trained


def test_a_run_made_by_hand_is_exported_without_its_costs(tmp_path: Path) -> None:
    run = create_run(tmp_path / "run", {"policy": "agents.policy:GlimpsePolicy", "config": {}})
    run.save_checkpoint({"policy/weight": np.ones(3, np.float32)}, {})
    tensors, metadata = export(run, tmp_path / "out", half=False).load_checkpoint()
    assert (list(tensors), metadata) == (["policy/weight"], {})


@pytest.mark.learning
def test_weights_alone_are_scored_and_not_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tiny_config(episodes=2000)
    run = trained(Reinforce, config, tmp_path / "run")
    out = tmp_path / "weights"
    main([str(run.folder), "--out", str(out), "--episodes", "50"])
    assert "weights" in capsys.readouterr().out
    exported = open_run(out)
    assert exported.checkpoint_path.stat().st_size < run.checkpoint_path.stat().st_size / 4
    tensors, _ = exported.load_checkpoint()
    assert {tensor.dtype for tensor in tensors.values()} == {np.dtype(np.float16)}
    found, expected = (evaluate_run(each, episodes=500) for each in (exported, run))
    assert found.successes is not None
    assert expected.successes is not None
    assert np.mean(found.successes == expected.successes) > 0.98

    whole, _ = export(run, tmp_path / "whole", half=False).load_checkpoint()
    full, _ = run.load_checkpoint()
    assert all(np.array_equal(tensor, full[name]) for name, tensor in whole.items())

    with pytest.raises(RunError, match="the weights of a run alone"):
        trained(Reinforce, config, out, resume=True)
    with pytest.raises(SystemExit):
        evaluate([str(out), "--record", str(tmp_path)])
    assert "the weights of one alone" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([str(run.folder), "--out", str(out)])
    assert f"{out} exists already; weights are written to a new" in capsys.readouterr().err


def test_without_validation_images_weights_are_compared_on_another_split(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    train, test = ((rng.integers(0, 256, (20, 12, 12), np.uint8), np.arange(20) % 4) for _ in "ab")
    sources.from_arrays("unvalidated", train=train, test=test)
    config = tiny_config(env_kwargs={"source": "unvalidated"}, episodes=16, validation_episodes=0)
    run = trained(Reinforce, config, tmp_path / "run")
    command = [str(run.folder), "--out", str(tmp_path / "weights")]
    with pytest.raises(SystemExit):
        main(command)
    said = capsys.readouterr().err
    assert "without the split validation" in said
    assert "or choose another split (--split)" in said
    main([*command, "--split", "test"])
    assert open_run(tmp_path / "weights").has_checkpoint


@pytest.mark.parametrize(("task", "least"), [("CenteredGlyphs", {}), ("Copy", {"length": 2})])
def test_an_export_that_fails_or_is_interrupted_leaves_nothing(
    task: str,
    least: dict[str, int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = tiny_config(env_id=f"Glimpse/{task}-v0", env_kwargs=least, episodes=8)
    run = trained(Reinforce, config, tmp_path / "run")
    out = tmp_path / "new" / "weights"
    with pytest.raises(SystemExit):
        main([str(run.folder), "--out", str(out), "--episodes", "0"])
    assert "episodes=0 must be" in capsys.readouterr().err
    assert list(out.parent.iterdir()) == []

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("agents.export.score_run", interrupted)
        with pytest.raises(SystemExit):
            main([str(run.folder), "--out", str(out), "--episodes", "5"])
    assert list(out.parent.iterdir()) == []
    main([str(run.folder), "--out", str(out), "--episodes", "5"])
    assert open_run(out).has_checkpoint
    assert list(out.parent.iterdir()) == [out]


def test_a_place_that_cannot_be_written_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = trained(Reinforce, tiny_config(episodes=8), tmp_path / "run")
    out = run.config_path / "weights"
    with pytest.raises(SystemExit):
        main([str(run.folder), "--out", str(out)])
    assert f"the folder {out} cannot be written: {run.config_path} is a" in capsys.readouterr().err
