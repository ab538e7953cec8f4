"""Models are shown on the scenes that people play, with what they expected at each step."""

import itertools
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from starlette.testclient import TestClient

from agents.algorithms.reinforce import Reinforce
from agents.play import machines
from agents.play.__main__ import PlayConfig, main, setting_from
from agents.play.controls import names_of
from agents.play.game import Game, Setting
from agents.play.machines import Machine, published_run
from agents.play.server import Table, make_app
from agents.policy.distributions import (
    Bernoullis,
    Categorical,
    IndependentCategoricals,
    OptionalAnswer,
)
from agents.policy.gaussians import DiagonalGaussian
from agents.scoring.run_scores import evaluate_run
from glimpse_envs.evaluation.outlook import Gaussian, Probabilities
from glimpse_envs.evaluation.runs import Run
from glimpse_envs.task import Component
from tests.support.tiny import tiny_config
from tests.support.trainings import trained


def setting_of(run: Run) -> Setting:
    return setting_from(PlayConfig(), [run])


def test_a_model_sees_the_scene_and_first_glimpse_of_the_player(hard_run: Run) -> None:
    setting = setting_of(hard_run)
    scenes = iter([5])
    game = Game(setting, lambda: next(scenes))
    episode = Machine(hard_run, setting).play(5)
    first, mine = episode["frames"][0], game.view()["frame"]
    assert first["frame"]["path"] == mine["path"]
    assert first["eye"]["image"] == mine["image"]
    assert first["eye"]["target"] is None


def test_a_model_answers_as_its_evaluation_has_it(hard_run: Run) -> None:
    machine = Machine(hard_run, setting_of(hard_run))
    score = evaluate_run(hard_run, episodes=8)
    assert score.successes is not None
    assert [machine.play(k)["success"] for k in range(8)] == score.successes.tolist()


def test_an_episode_of_this_project_is_shown_to_its_end(
    hard_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machines, "LONGEST", 1)
    episode = Machine(hard_run, setting_of(hard_run)).play(0)
    assert len(episode["frames"]) == 3 + 1
    assert not episode["cut"]


def test_each_step_has_the_next_look_the_answers_and_the_value(hard_run: Run) -> None:
    episode = Machine(hard_run, setting_of(hard_run)).play(0)
    *steps, last = episode["frames"]
    assert len(steps) == 3
    assert "outlook" not in last
    for now, after in itertools.pairwise(steps):
        look = now["outlook"]["look"]
        seen = np.clip(look["mean"], 0, [now["frame"]["width"], now["frame"]["height"]])
        assert after["frame"]["path"][-1] == pytest.approx(seen, abs=1e-3), "the likeliest look"
        (answers,) = now["outlook"]["answer"]["parts"]
        assert sum(answers) == pytest.approx(1, abs=1e-3)
        assert episode["names"]["answer"][int(np.argmax(answers))] == after["frame"]["answer"]
        assert np.isfinite(now["outlook"]["value"])


def test_a_soft_model_has_a_frame_a_glimpse_lit_where_it_reads(soft_run: Run) -> None:
    episode = Machine(soft_run, setting_of(soft_run)).play(0)
    assert episode["soft"]
    assert len(episode["frames"]) == 3 + 1
    images = {frame["frame"]["image"] for frame in episode["frames"][:3]}
    assert len(images) > 1


def test_a_soft_model_has_its_belief_after_each_glimpse(soft_run: Run) -> None:
    episode = Machine(soft_run, setting_of(soft_run)).play(0)
    for shown in episode["frames"][:3]:
        (shares,) = shown["outlook"]["answer"]["parts"]
        assert sum(shares) == pytest.approx(1, abs=1e-3)
        assert episode["names"]["answer"][int(np.argmax(shares))] == shown["frame"]["answer"]


@pytest.mark.learning
@pytest.mark.parametrize("env_id", ["Copy", "PointerChase", "Stories", "Catch", "CircleSquare"])
def test_models_of_every_family_are_shown(tmp_path: Path, env_id: str) -> None:
    config = tiny_config(env_id=f"Glimpse/{env_id}-v0", env_kwargs={}, answer_by="reward")
    run = trained(Reinforce, config, tmp_path / "run")
    episode = Machine(run, setting_of(run)).play(0)
    assert {"frame", "eye", "outlook", "moment"} == episode["frames"][0].keys()


def test_a_stop_is_named_by_what_it_does() -> None:
    assert names_of("stop", Component(spaces.Discrete(2))) == ["go on", "stop"]


def test_runs_of_other_environments_are_refused(hard_run: Run) -> None:
    with pytest.raises(ValueError, match=r"was trained on .* give a run of the same environment"):
        Machine(hard_run, Setting("Glimpse/Catch-v0"))
    with pytest.raises(ValueError, match="was trained on"):
        Machine(hard_run, Setting("Glimpse/CenteredGlyphs-v0", {"budget": 4}))


def test_published_weights_are_found_by_their_setting(hard_run: Run) -> None:
    folder = hard_run.folder.parent
    assert published_run(setting_of(hard_run), folder) == hard_run.folder
    assert published_run(Setting("Glimpse/CenteredGlyphs-v0"), folder) is None


def test_models_are_shown_when_the_players_episode_has_ended(hard_run: Run) -> None:
    setting = setting_of(hard_run)
    table = Table(setting, [Machine(hard_run, setting)] * 2)
    client = TestClient(make_app(table, 8000), base_url="http://127.0.0.1:8000")
    game = client.post("/api/games", json={}).json()
    url = f"/api/games/{game['id']}"
    early = client.get(f"{url}/models")
    assert early.status_code == 400
    assert "once yours has ended" in early.json()["error"]
    while not game["ended"]:
        game = client.post(f"{url}/step", json={"action": {"answer": 1}}).json()
    one, two = client.get(f"{url}/models").json()
    assert one == two
    assert one == client.get(f"/api/watch?scene={game['scene']}").json()[0]


def test_distributions_as_plain_data_are_what_they_sample() -> None:
    logits = torch.tensor([[0.3, -1.0, 2.0]])
    softmax = logits.softmax(dim=-1).numpy()

    def parts(distribution: Any) -> list[np.ndarray]:
        found = distribution.outlook()
        assert isinstance(found, Probabilities)
        return list(found.parts)

    assert parts(Categorical(logits))[0] == pytest.approx(softmax)
    two = parts(IndependentCategoricals(torch.cat([logits, logits[:, :2]], 1), (3, 2)))
    assert [part.shape for part in two] == [(1, 3), (1, 2)]
    assert two[0] == pytest.approx(softmax)
    bits = parts(Bernoullis(torch.tensor([[0.0, 3.0]])))
    assert bits[0][0].tolist() == [0.5, 0.5]
    assert bits[1][0, 1] == pytest.approx(1 / (1 + np.exp(-3)))
    (answer,) = parts(OptionalAnswer(torch.tensor([1.0]), logits))
    given = OptionalAnswer(torch.tensor([1.0]), logits)
    exact = [float(given.log_prob(torch.tensor([k])).exp()) for k in range(4)]
    assert answer[0] == pytest.approx(exact)
    gaussian = DiagonalGaussian(torch.tensor([[0.1, -0.2]]), torch.tensor([0.15, 0.3])).outlook()
    assert isinstance(gaussian, Gaussian)
    assert gaussian.std.tolist() == pytest.approx(np.array([[0.15, 0.3]]))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--split", "train"], "must be test or validation"),
        (["CartPole-v1"], "cannot be played here"),
        (["my_taks:Mine/A-v0"], "its module my_taks cannot be imported"),
        (["--run", "nowhere"], "There is no run at nowhere"),
        (["--env-kwargs", "view=full"], "is played with its own actions, through glimpses"),
        (["--env-kwargs", "bugdet=3"], "argument 'bugdet': did you mean 'budget'? The arguments"),
        (["--seed", "-1"], "seed=-1 must be an integer of at least 0"),
        (["--port", "80000"], "port=80000 must be from 1 to 65535"),
    ],
)
def test_the_command_says_what_cannot_be_played(
    arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    printed = capsys.readouterr()
    assert error in printed.err
    assert "creator" not in printed.err, "Gymnasium's list of all arguments"
    assert printed.out == ""


def test_a_port_that_is_taken_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(SystemExit):
        main(["--port", str(other.getsockname()[1])])
    printed = capsys.readouterr()
    assert "is taken by another program: name another by --port" in printed.err
    assert printed.out == ""
