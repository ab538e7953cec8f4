"""An algorithm, a core and a baseline of another package pass through all commands."""

import math
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from gymnasium import spaces
from torch import Tensor, nn

from agents import evaluate, train
from agents.algorithms.reinforce import Reinforce
from agents.policy.glimpse_network import GlimpseNetwork
from agents.policy.networks import NetworkConfig, core_name
from agents.scoring.run_scores import validate_run
from agents.training.repeating import command_of_settings
from baselines import train as baselines
from benchmarks.tables.planning import find_table
from benchmarks.tables.table import FromDefaults, Row
from glimpse_envs.evaluation import trust as trusting
from glimpse_envs.evaluation.provenance import git_revision
from glimpse_envs.evaluation.records import read_records
from glimpse_envs.evaluation.runs import load_policy, open_run
from tests.support.episodes import CENTRED
from tests.support.same_runs import assert_same_run
from tests.support.tiny import UPDATES, tiny_config, tiny_network
from tests.support.trainings import Killed, trained

ROOT = Path(__file__).parents[2]
SHRUNK = "my_agents:SHRUNK"
TINY = [
    *("--env-id", CENTRED, "--batch-size", "8", "--validation-episodes", "0"),
    *("--network.core-units", "8", "--network.what-units", "8", "--network.glimpse-units", "8"),
]
TRUST = ["--trust", "my_agents"]


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "own_agent"))
    monkeypatch.setattr(trusting, "_trusted", set())


class Grey(nn.Linear):
    """An encoder of glimpses (B, 7)."""

    def __init__(self, shape: tuple[int, ...], units: int) -> None:
        super().__init__(7, units)


def refusal(capsys: pytest.CaptureFixture[str], main: Any, *arguments: str) -> str:
    with pytest.raises(SystemExit):
        main(list(arguments))
    return capsys.readouterr().err


def test_an_algorithm_is_trained_resumed_recorded_and_trained_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, results = str(tmp_path / "run"), tmp_path / "results"
    train.main([SHRUNK, *TINY, "--episodes", "16", "--share", "0.5", "--run", folder])
    assert f"evaluate it: python -m agents.evaluate {folder}\n" in capsys.readouterr().out
    resume = ["--run", folder, "--resume", "--episodes", "32"]
    said = refusal(capsys, train.main, *resume)
    assert "algorithm is 'my_agents:SHRUNK', code of the package 'my_agents'" in said
    train.main([*resume, *TRUST])
    run = open_run(folder)
    assert run.config["config"]["share"] == 0.5
    assert run.read_metrics()[-1]["step"] == 32
    command = command_of_settings(run.config)
    assert command is not None
    assert command.startswith(f"python -m agents.train {SHRUNK} ")

    evaluate.main([folder, "--episodes", "20", "--record", str(results)])
    (record,), _ = read_records(results)
    assert record.algorithm == SHRUNK
    assert record.versions["my_agents"].removesuffix("+dirty") == git_revision(ROOT)[:40]
    assert record.model.name == "Reinforce LSTM, leave-one-out baseline, 0.5 of it"
    trusting._trusted.clear()
    (file,) = results.glob("*.json")
    again = ["--from-record", str(file), "--episodes", "8", "--run", str(tmp_path / "again")]
    assert "give --trust my_agents" in refusal(capsys, train.main, *again)
    train.main([*again, *TRUST])
    assert open_run(tmp_path / "again").config["config"]["share"] == 0.5


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my_agents:NONE", "my_agents has no NONE that is an instance of agents.algorithms.algo"),
        ("my_agents:Shrunk", "my_agents has no Shrunk that is an"),
        ("my_agent:SHRUNK", "there is no module my_agent"),
        ("shrunk", "must be one of reinforce, actor_critic, exact, straight_through, or module:NA"),
        ("agents.train:REINFORCE", "agents.train has no REINFORCE"),
    ],
)
def test_what_is_no_algorithm_is_refused(
    name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refusal(capsys, train.main, name, *TINY)


def test_an_algorithm_is_named_as_its_config_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    my_agents = import_module("my_agents")
    monkeypatch.setattr(my_agents.ShrunkConfig, "algorithm", "shrunk")
    said = refusal(capsys, train.main, SHRUNK, *TINY)
    assert "ShrunkConfig.algorithm is 'shrunk'; it must be 'my_agents:SHRUNK'" in said


@pytest.mark.parametrize(
    ("option", "name", "part"),
    [
        ("core", "my_agents:LeakyCore", "core.core"),
        ("glimpse-network", "my_agents:SharedScales", "glimpse_network.what"),
    ],
)
def test_a_part_of_the_network_is_taken_by_its_class(
    option: str, name: str, part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "run")
    named = [f"--network.{option}", name, "--network.recall-glimpses", "2"]
    train.main(["reinforce", *TINY, *named, "--episodes", "8", "--run", folder])
    assert f"agents.evaluate {folder} --trust my_agents" in capsys.readouterr().out
    trusting._trusted.clear()
    said = refusal(capsys, evaluate.main, folder)
    entry = f"network.{option.replace('-', '_')}"
    assert f"{entry} is '{name}', code of the package 'my_agents'" in said
    evaluate.main([folder, "--episodes", "20", *TRUST])
    policy: Any = load_policy(folder)
    assert type(policy.get_submodule(part)).__name__ == name.rpartition(":")[2]


def test_a_core_has_its_class_for_a_name() -> None:
    config = NetworkConfig(core="my_agents:LeakyCore", recall_glimpses=2)
    assert core_name(config) == "LeakyCore, recall"


def test_an_encoder_that_was_tried_is_left_in_training() -> None:
    space = spaces.Dict({"glimpse": spaces.Box(0, 1, (3, 12, 12))})
    config = NetworkConfig(glimpse_network="my_agents:SharedScales")
    assert GlimpseNetwork(space, config).what.training


@pytest.mark.parametrize(
    ("core", "message"),
    [
        ("lstmm", "core='lstmm' must be one of 'rnn', 'gru', 'lstm', 'dram', 'feedforward', or"),
        ("my_agents:Leaky", "my_agents has no class Leaky that extends agents.policy.core.Core"),
    ],
)
def test_what_is_no_core_is_refused(
    core: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refusal(capsys, train.main, "reinforce", *TINY, "--network.core", core)


def test_a_core_of_another_size_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    core: Any = import_module("my_agents").LeakyCore
    init = core.__init__
    monkeypatch.setattr(core, "__init__", lambda self, inputs, units: init(self, inputs, 5))
    said = refusal(capsys, train.main, "reinforce", *TINY, "--network.core", "my_agents:LeakyCore")
    assert "core='my_agents:LeakyCore' was given core_units=8 and has units=5" in said


def test_what_is_no_glimpse_encoder_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(name: str) -> str:
        return refusal(capsys, train.main, "reinforce", *TINY, "--network.glimpse-network", name)

    kinds = "'dense', 'conv', 'atari', or a class"
    assert f"glimpse_network='dens' must be one of {kinds}" in refused("dens")
    said = refused("my_agents:Shared")
    assert "my_agents has no class Shared that extends torch.nn.modules.module.Module" in said
    encoder: Any = import_module("my_agents").SharedScales
    monkeypatch.setattr(encoder, "forward", lambda self, seen: self.each(seen.flatten(2)))
    assert "codes must be (rows, units), (2, " in refused("my_agents:SharedScales")


class Dropping(nn.Module):
    """An encoder whose noise is of torch's own stream."""

    def __init__(self, shape: tuple[int, ...], units: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(), nn.Dropout(), nn.Linear(math.prod(shape), units), nn.ReLU()
        )

    def forward(self, seen: Tensor) -> Tensor:
        codes: Tensor = self.layers(seen)
        return codes


class Mortal(Reinforce):
    """Dies right after its first validation."""

    def update(self, progress: float) -> dict[str, float]:
        if progress >= 4 / UPDATES:
            raise Killed
        return super().update(progress)


def test_a_run_whose_encoder_draws_numbers_of_its_own_is_resumed_exactly(tmp_path: Path) -> None:
    network = tiny_network(glimpse_network=f"{__name__}:Dropping")
    config = tiny_config(network=network, validate_every=4, validation_episodes=10)
    unbroken = trained(Reinforce, config, tmp_path / "unbroken", validate=validate_run)
    with pytest.raises(Killed):
        trained(Mortal, config, tmp_path / "broken", validate=validate_run)
    for stop_after in (7, None):
        options: dict[str, Any] = {"validate": validate_run, "stop_after": stop_after}
        broken = trained(Reinforce, config, tmp_path / "broken", resume=True, **options)
    assert_same_run(broken, unbroken)


def test_a_checkpoint_from_before_torchs_stream_was_kept_is_read() -> None:
    learner = Reinforce(tiny_config())
    state = learner.state_dict()
    del state["torch"]
    learner.load_state_dict(state)
    learner.close()


def test_what_does_not_fit_is_told_before_a_run_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sequence = ["--env-id", "Glimpse/DigitSequenceGlyphs-v0", "--run", str(tmp_path / "run")]
    said = refusal(capsys, baselines.main, "my_agents:POOL", *sequence)
    assert "my_agents:Pool: `forward` gave logits of the shape (1, 1, 11)" in said
    assert "which asks for 6 of 11 answers: they must be (6, 1, 11)" in said
    parts = ["--network.glimpse-network", f"{__name__}:Grey", *sequence]
    said = refusal(capsys, train.main, "reinforce", *parts)
    assert (
        f"glimpse_network='{__name__}:Grey' does not read what is seen here, of the shape" in said
    )
    assert not list(tmp_path.iterdir())


def test_a_table_trains_them() -> None:
    rows = {row.name: row.config() for row in find_table("my_agents:TABLE").rows}
    assert [config.algorithm for config in rows.values()] == [SHRUNK, "reinforce", "my_agents:POOL"]
    leaky: Any = rows["mine-leaky"]
    assert leaky.network.core == "my_agents:LeakyCore"
    with pytest.raises(ValueError, match="or module:NAME"):
        Row(name="none", env_id=CENTRED, recipe=FromDefaults("shrunk")).config()
