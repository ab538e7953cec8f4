"""A training begins with the settings of a preset or of a record, and options change them."""

import json
import shlex
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from agents.algorithms.actor_critic import ActorCriticConfig
from agents.algorithms.algorithm import Algorithm
from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.policy.networks import NetworkConfig
from agents.presets import PRESETS
from agents.train import ALGORITHMS, main
from agents.training.announcing import plan_of
from agents.training.config import check_config
from agents.training.repeating import command_to_repeat
from agents.training.resuming import BUDGETS, FREE, config_from_json
from baselines.presets import PRESETS as BASELINE_PRESETS
from baselines.train import ALGORITHMS as BASELINES
from baselines.train import main as baselines_main
from glimpse_envs.evaluation.records import read_record
from glimpse_envs.evaluation.run_identity import same_run, settings_of
from glimpse_envs.evaluation.runs import Run, open_run

RESULTS = Path(__file__).parents[2] / "results"
RECORDS = {
    path: read_record(path)
    for folder in (RESULTS, RESULTS / "comparison", RESULTS / "memory")
    for path in sorted(folder.glob("*_seed*.json"))
}
EACH = {record.algorithm: path for path, record in RECORDS.items()}
"""Algorithm -> one of its records."""


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The configs that would have been trained."""
    configs: list[Any] = []

    def train(self: Algorithm, config: Any, folder: Path, **options: Any) -> Run:
        check_config(config)
        configs.append(config)
        return Run(folder, {})

    monkeypatch.setattr(Algorithm, "train", train)
    return configs


@pytest.mark.parametrize("presets", [PRESETS, BASELINE_PRESETS], ids=["agents", "baselines"])
def test_each_algorithm_of_a_preset_is_trained_with_it(presets: Any, begun: list[Any]) -> None:
    command = main if presets is PRESETS else baselines_main
    for name, configs in presets.items():
        command(["--preset", name])
        assert begun[-1] == configs[0]
        for config in configs:
            command([config.algorithm, "--preset", name, "--seed", "3"])
            assert begun[-1] == replace(config, seed=3)


@pytest.mark.parametrize("env_id", ["Copy", "Reverse", "RepeatCopy", "AssociativeRecall"])
def test_published_agents_of_tapes_and_tables_have_their_preset(env_id: str) -> None:
    preset = PRESETS["tables" if env_id == "AssociativeRecall" else "tapes"][0]
    expected = settings_of(asdict(preset))
    found = [
        # An option that is newer than a record has its default there.
        settings_of(
            asdict(config_from_json(ActorCriticConfig, record.config, path.name, record.revision))
        )
        for path, record in RECORDS.items()
        if (record.env_id, record.algorithm) == (f"Glimpse/{env_id}-v0", "actor_critic")
    ]
    differing = [
        {
            name
            for name in settings.keys() | expected.keys()
            if name[:4] != "env_" and settings.get(name) != expected.get(name)
        }
        for settings in found
    ]
    assert set() in differing
    # A row may train on when its task is solved.
    assert all(names in (set(), {"minutes", "stop_at"}) for names in differing)


@pytest.mark.learning
def test_every_published_record_is_a_config_of_its_algorithm() -> None:
    algorithms = ALGORITHMS | BASELINES
    for path, record in RECORDS.items():
        if record.algorithm != "ntm_copy":  # which has a command of its own
            kind = algorithms[record.algorithm].config
            config = config_from_json(kind, record.config, path.name, record.revision)
            settings = settings_of(json.loads(json.dumps(asdict(config))))
            assert settings | settings_of(record.config) == settings, path.name
            assert (config.seed, config.env_id) == (record.seed, record.env_id), path.name


@pytest.mark.learning
def test_a_published_run_that_is_repeated_today_is_the_same_run() -> None:
    algorithms = ALGORITHMS | BASELINES
    for path, record in RECORDS.items():
        if record.algorithm == "ntm_copy":
            continue
        kind = algorithms[record.algorithm].config
        config = config_from_json(kind, record.config, path.name, record.revision)
        again = replace(record, config=asdict(config), defaults=asdict(kind()))
        assert same_run(record, again), path.name


@pytest.mark.parametrize("algorithm", sorted(EACH.keys() - {"ntm_copy"}))
def test_a_record_is_trained_again_as_it_says(algorithm: str, begun: list[Any]) -> None:
    path = EACH[algorithm]
    command, rows = (main, ALGORITHMS) if algorithm in ALGORITHMS else (baselines_main, BASELINES)
    command(["--from-record", str(path)])
    record = RECORDS[path]
    kind = rows[algorithm].config
    assert begun[-1] == config_from_json(kind, record.config, path.name, record.revision)
    command(["--from-record", str(path), "--seed", "77", "--minutes", "2", "--device", "cpu"])
    assert begun[-1] == replace(begun[-2], seed=77, minutes=2.0, device="cpu")


@pytest.mark.parametrize("folder", sorted((RESULTS / "weights").iterdir()), ids=lambda f: f.name)
def test_published_weights_are_trained_again_by_a_command_without_paths(
    folder: Path, begun: list[Any]
) -> None:
    run = open_run(folder)
    command = command_to_repeat(run.config)
    assert "/" not in command.replace("--env-id Glimpse/", "")
    _, _, module, *arguments = shlex.split(command)
    assert module == "agents.train"
    main(arguments)
    kind = ALGORITHMS[run.config["algorithm"]].config
    whole = config_from_json(kind, run.config["config"], str(folder), run.config["revision"])
    assert same_settings(begun[-1], whole)


@pytest.mark.parametrize("path", EACH.values(), ids=EACH.keys())
def test_any_run_of_a_table_is_trained_again_by_itself(path: Path, begun: list[Any]) -> None:
    record = RECORDS[path]
    rows = ALGORITHMS | BASELINES
    if record.algorithm not in rows:
        pytest.skip("is trained by its own command, not by a table's")
    kind = rows[record.algorithm].config
    policy = f"{'agents' if record.algorithm in ALGORITHMS else 'baselines'}.some:Policy"
    config = config_from_json(kind, record.config, path.name, record.revision)
    whole = {
        "command": "python -m benchmarks.tables --rows several",
        "policy": policy,
        "algorithm": record.algorithm,
        "config": json.loads(json.dumps(asdict(config))),
        "defaults": json.loads(json.dumps(asdict(kind()))),
    }
    _, _, module, *arguments = shlex.split(command_to_repeat(whole))
    {"agents.train": main, "baselines.train": baselines_main}[module](arguments)
    assert same_settings(begun[-1], config)
    assert command_to_repeat({**whole, "policy": "others:Policy"}) == whole["command"]


def same_settings(one: Any, other: Any) -> bool:
    """Whether two configs differ in nothing that changes what is learned."""
    unheeded = BUDGETS - {"minutes"} if one.minutes is not None else frozenset()
    first, second = (
        {k: v for k, v in asdict(each).items() if k not in FREE | unheeded} for each in (one, other)
    )
    return first == second


def test_episodes_take_the_place_of_minutes(
    begun: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    record = next(path for path, each in RECORDS.items() if each.config.get("minutes"))
    command = main if RECORDS[record].algorithm in ALGORITHMS else baselines_main
    for trained_by, start in ((main, ["--preset", "tapes"]), (command, ["--from-record", record])):
        trained_by([*map(str, start), "--episodes", "200"])
        assert (begun[-1].episodes, begun[-1].minutes) == (200, None)
        trained_by([*map(str, start), "--episodes=200", "--minutes", "None"])
        assert (begun[-1].episodes, begun[-1].minutes) == (200, None)
        trained_by([*map(str, start), "--minutes", "3"])
        assert begun[-1].minutes == 3.0
    assert "200 episodes" in plan_of("actor_critic", begun[0], Path("run"))
    done = len(begun)
    with pytest.raises(SystemExit) as ended:
        main(["--preset", "tapes", "--episodes", "200", "--minutes", "3"])
    assert ended.value.code == 2
    assert "--episodes and --minutes are both given: give one" in capsys.readouterr().err
    assert len(begun) == done


def test_arguments_of_a_preset_stay_where_the_environment_does(begun: list[Any]) -> None:
    main(["--preset", "games", "--env-kwargs", "game=Breakout"])
    assert begun[-1].env_kwargs == {"game": "Breakout", "fovea": 50, "segment": 128}
    other = ["--env-id", "Glimpse/CenteredGlyphs-v0", "--env-kwargs", "budget=4"]
    main(["--preset", "games", *other])
    assert begun[-1].env_kwargs == {"budget": 4}
    main(["--preset", "games", *other[:2]])
    assert begun[-1].env_kwargs == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--preset", "tables", "--env-id", "Glimpse/CenteredGlyphs-v0"],
            "has no length (--preset tables sets this: give --curriculum, too)",
        ),
        (["--preset", "tables", "--batch-size", "0"], "batch_size=0 must be at least 1\n"),
    ],
)
def test_a_setting_of_a_preset_that_does_not_fit_is_said_to_be_the_presets(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--run", str(tmp_path / "run")])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_what_does_not_fit_is_refused_by_name(
    begun: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, other = tmp_path / "text.md", tmp_path / "list.json"
    text.write_text("# No record")
    other.write_text("[]")
    tape, soft = EACH["actor_critic"], EACH["gaussian_window"]
    for arguments, message in (
        (["--preset", "music"], "--preset music must be one of pictures, large_scenes, tapes"),
        (["exact", "--preset", "tapes"], "--preset tapes is for actor_critic, reinforce, not for"),
        (["--preset", "tapes", "--from-record", str(tape)], "are both given"),
        (["reinforce", "--from-record", str(tape)], "is of actor_critic, not of reinforce"),
        (["--from-record", str(soft)], "is of gaussian_window, which agents.train does not train"),
        (["--from-record", str(tmp_path / "no.json")], "no.json: there is no such file; a record"),
        (["--from-record", str(text)], f"{text}: is not JSON"),
        (["--from-record", str(other)], f"{other}: holds a JSON list"),
        (["--seed", "3"], "name an algorithm first, one of reinforce"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
        assert message in capsys.readouterr().err
    assert begun == []


@dataclass(frozen=True)
class OwnNetwork(NetworkConfig):
    """With an option of its own."""

    layers: int = 3
    """Number of layers."""


@dataclass(frozen=True)
class OwnConfig(ReinforceConfig):
    """Extends REINFORCE's, with another default that presets leave alone, and one that they set."""

    algorithm: ClassVar[str] = f"{__name__}:OWN"

    share: float = 0.5
    """Share of something."""
    network: OwnNetwork = field(default_factory=OwnNetwork)
    copies: int = 4
    episodes: int = 7


OWN = Algorithm(OwnConfig, Reinforce)


def test_an_own_algorithm_takes_the_preset_of_the_one_that_it_extends(
    begun: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([OwnConfig.algorithm, "--preset", "pictures", "--share", "0.1", "--run", str(tmp_path)])
    (config,) = begun
    preset: Any = PRESETS["pictures"][0]
    assert isinstance(config, OwnConfig)
    assert (config.share, config.copies) == (0.1, 4)
    assert config.episodes == preset.episodes
    assert config.network == OwnNetwork(**asdict(preset.network), layers=3)
    with pytest.raises(SystemExit):
        main([OwnConfig.algorithm, "--preset", "worlds", "--run", str(tmp_path)])
    assert f"is for actor_critic, not for {OwnConfig.algorithm}" in capsys.readouterr().err


def test_a_preset_is_a_config_like_any_other() -> None:
    tapes = PRESETS["tapes"][0]
    assert isinstance(tapes, ActorCriticConfig)
    assert (tapes.stop_at, tapes.curriculum, tapes.network.answer_in_view) == (
        0.99,
        "mixture",
        True,
    )
