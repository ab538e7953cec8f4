"""Policies are scored by their likeliest actions, in games and grids by samples."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.algorithms.actor_critic import ActorCritic, ActorCriticConfig
from agents.evaluate import main as evaluate_main
from agents.play.game import Setting
from agents.play.machines import Machine
from agents.presets import PRESETS
from agents.report.__main__ import main as report_main
from agents.scoring.run_scores import evaluate_run, policy_of
from glimpse_envs.evaluation.actions import Actions, usual_actions
from glimpse_envs.evaluation.differences import compare
from glimpse_envs.evaluation.films import film_episodes
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.evaluation.records import read_record
from glimpse_envs.evaluation.runs import Run
from glimpse_envs.evaluation.sampling import samples_of
from glimpse_envs.suite import ATARI, MINIGRID, SUITE
from tests.support.tiny import SMALL
from tests.support.trainings import trained

pytestmark = pytest.mark.learning


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A policy that has hardly learned, in a world of six steps."""
    pytest.importorskip("minigrid")
    (preset,) = PRESETS["grids"]
    assert isinstance(preset, ActorCriticConfig)
    kwargs = {**preset.env_kwargs, "world": "Empty-5x5", "segment": 4}
    config = replace(
        preset, env_kwargs=kwargs, batch_size=4, minutes=None, episodes=8, network=SMALL
    )
    return trained(ActorCritic, config, tmp_path_factory.mktemp("grid"))


def test_games_and_grids_alone_are_played_by_samples() -> None:
    prefixed = f"glimpse_envs:{MINIGRID}"
    assert {usual_actions(name) for name in (ATARI, MINIGRID, prefixed)} == {"sampled"}
    assert {usual_actions(name) for name in (*SUITE, "CartPole-v1")} == {"likeliest"}


def test_samples_are_reproducible_and_differ_from_the_likeliest(run: Run) -> None:
    usual, again = (evaluate_run(run, episodes=6) for _ in range(2))
    likeliest = evaluate_run(run, episodes=6, actions="likeliest")
    assert (usual.actions, likeliest.actions) == ("sampled", "likeliest")
    np.testing.assert_array_equal(usual.returns, again.returns)
    assert not np.array_equal(usual.glimpses, likeliest.glimpses)
    assert "seed 0, actions sampled" in usual.summary()
    assert "sampled" not in likeliest.summary()
    with pytest.raises(ValueError, match="actions='best' must be one of"):
        evaluate_run(run, episodes=6, actions="best")  # type: ignore[arg-type]


def test_a_film_samples_where_the_score_does(run: Run) -> None:
    def filmed(actions: Actions | None = None) -> bytes:
        policy, kwargs = policy_of(run)
        (frames,), _ = film_episodes(policy, MINIGRID, [0], actions=actions, **kwargs)
        return np.stack(frames).tobytes()

    assert filmed() == filmed("sampled")
    assert filmed() != filmed("likeliest")


def test_another_seed_draws_other_samples(run: Run) -> None:
    policy, kwargs = policy_of(run)
    drawn = []
    for seed in (0, 0, 1):
        kwargs |= {"seed": seed}
        drawn.append(evaluate(policy, MINIGRID, episodes=6, deterministic=False, **kwargs))
    assert drawn[0].glimpses.tolist() == drawn[1].glimpses.tolist() != drawn[2].glimpses.tolist()
    with pytest.raises(ValueError, match="actions is 'sampled' of one and 'likeliest' of"):
        compare(drawn[0], evaluate_run(run, episodes=6, actions="likeliest"))


def test_a_film_takes_every_seed_that_scores_take(run: Run) -> None:
    policy, kwargs = policy_of(run)
    (frames,), _ = film_episodes(policy, MINIGRID, [1], seed=2**64 - 1, **kwargs)
    assert frames


def test_models_of_other_libraries_sample_alike_too_and_leave_torchs_generator() -> None:
    before = torch.random.get_rng_state()
    numbers = []
    for _ in range(2):
        with samples_of(object(), 3):
            numbers.append(torch.rand(4).tolist())
    assert numbers[0] == numbers[1]
    assert torch.equal(before, torch.random.get_rng_state())


class Guesses:
    """Draws with torch's own generator, as models of other libraries do."""

    def predict(
        self, observation: Any, state: Any, episode_start: Any, deterministic: bool
    ) -> tuple[dict[str, Any], None]:
        rows = len(observation["glimpse"])
        drawn = torch.zeros(rows) if deterministic else torch.randint(7, (rows,))
        return {"act": drawn.long().numpy()}, None


def test_a_policy_that_draws_with_torchs_generator_is_scored_alike_each_time(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    kwargs = policy_of(run)[1]
    monkeypatch.setattr("agents.scoring.run_scores.policy_of", lambda *_, **__: (Guesses(), kwargs))
    lengths = [evaluate_run(run, episodes=12).glimpses.tolist() for _ in range(2)]
    assert lengths[0] == lengths[1]
    assert len(set(lengths[0])) > 1, "some guesses lead to the goal"


def test_a_report_tells_the_actions(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    report_main([str(run.folder), "--episodes", "4", "--out", str(page)])
    assert "each played once with sampled actions" in page.read_text()


def test_a_scene_is_played_alike_each_time(run: Run) -> None:
    machine = Machine(run, Setting(MINIGRID, run.config["config"]["env_kwargs"]))
    first, other, again = (machine.play(scene) for scene in (1, 0, 1))
    assert first == again != other


def test_a_record_tells_the_actions_and_holds_the_usual_ones_alone(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [str(run.folder), "--episodes", "4", "--record", str(tmp_path / "results")]
    with pytest.raises(SystemExit):
        evaluate_main([*command, "--actions", "likeliest"])
    assert "leave out --actions likeliest or --record" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()
    evaluate_main([*command, "--actions", "sampled"])
    (path,) = (tmp_path / "results").glob("*.json")
    assert read_record(path).headline.actions == "sampled"
