"""A run or record that somebody sent runs no code of packages that nobody trusts."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from agents import train
from agents.evaluate import main as evaluate_main
from agents.training.announcing import evaluate_command
from agents.training.resuming import resume_command
from baselines.saliency.__main__ import main as saliency_main
from glimpse_envs.evaluation import trust as trusting
from glimpse_envs.evaluation.records import write_record
from glimpse_envs.evaluation.runs import create_run, load_policy, open_run
from glimpse_envs.evaluation.trust import (
    TrustError,
    check_trusted,
    trust,
    trust_named,
    trust_option,
)
from tests.evaluation.test_records import PICTURES


@pytest.fixture(autouse=True)
def trusts_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trusting, "_trusted", set())


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of somebody whose import leaves a trace: the file that is given."""
    (tmp_path / "their_code.py").write_text(
        "from pathlib import Path\n"
        "Path(__file__).with_name('ran').touch()\n"
        "class P:\n"
        "    @classmethod\n"
        "    def from_run(cls, run): return cls()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path / "ran"
    sys.modules.pop("their_code", None)


def sent(folder: Path, **changes: Any) -> Path:
    """The folder of a run as it comes from another machine."""
    entries: dict[str, Any] = {
        "policy": "agents.policy.glimpse_policy:GlimpsePolicy",
        "algorithm": "reinforce",
        "config": {"env_id": "Glimpse/CenteredGlyphs-v0", "env_kwargs": {}},
        "format": 1,
    }
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({**entries, **changes}))
    return folder


@pytest.mark.parametrize(
    ("changes", "entry"),
    [
        ({"policy": "their_code:P"}, "policy is 'their_code:P'"),
        ({"policy": "their_code:P", "config": None}, "policy is 'their_code:P'"),
        ({"config": {"env_id": "their_code:Env-v0", "env_kwargs": {}}}, "env_id is 'their_code:"),
        (
            {"config": {"env_id": "A-v0", "env_kwargs": {"task": "their_code:P"}}},
            "env_kwargs.task is 'their_code:P'",
        ),
        (
            {"config": {"env_id": "A-v0", "env_kwargs": {}, "curriculum": "their_code:P"}},
            "curriculum is 'their_code:P'",
        ),
    ],
)
def test_a_run_that_names_code_of_others_is_refused_by_every_command(
    changes: dict[str, Any],
    entry: str,
    package: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = str(sent(tmp_path / "run", **changes))
    for command, arguments in (
        (evaluate_main, [folder]),
        (train.main, ["reinforce", "--run", folder, "--resume"]),
    ):
        with pytest.raises(SystemExit) as ended:
            command(arguments)
        printed = capsys.readouterr().err
        assert ended.value.code == 2
        assert entry in printed
        assert "give --trust their_code" in printed
    assert not package.exists()


def test_a_record_that_names_code_of_others_is_refused(
    package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = {"env_id": "Glimpse/Copy-v0", "env_kwargs": {"task": "their_code:P"}}
    path = write_record(replace(PICTURES, config=config), tmp_path)
    with pytest.raises(SystemExit):
        train.main(["--from-record", str(path), "--run", str(tmp_path / "run")])
    assert "give --trust their_code" in capsys.readouterr().err
    assert not package.exists()


def test_code_that_the_user_trusts_runs(
    package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sent(tmp_path / "run", policy="their_code:P")
    with pytest.raises(TrustError):
        load_policy(folder)
    trust("their_code")
    assert type(load_policy(folder)).__name__ == "P"
    assert package.exists()


@pytest.mark.parametrize("command", ["evaluate", "train", "saliency"])
def test_the_commands_take_the_packages_to_trust(
    command: str, package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(sent(tmp_path / "run", policy="their_code:Missing", algorithm="exact"))
    commands = {
        "evaluate": lambda: evaluate_main([folder, "--trust", "their_code"]),
        "train": lambda: train.main(
            ["reinforce", "--run", folder, "--resume", "--trust", "their_code"]
        ),
        "saliency": lambda: saliency_main(
            [folder, "--out", str(tmp_path / "a.png"), "--trust", "their_code"]
        ),
    }
    with pytest.raises(SystemExit):
        commands[command]()
    printed = capsys.readouterr().err
    assert "--trust" not in printed
    assert printed.startswith("error: ")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("numpy.linalg", "'numpy.linalg' must be the name of a top-level package, such as numpy"),
        ("a b", "'a b' must be the name of a top-level package, such as my_tasks"),
        ("", "'' must be the name of a top-level package"),
        ("their_missing_code", "there is no package their_missing_code here; install it"),
    ],
)
def test_what_is_no_package_cannot_be_trusted(name: str, complaint: str, package: Path) -> None:
    with pytest.raises(ValueError, match=f"--trust .*{complaint}"):
        trust("their_code", name)
    with pytest.raises(TrustError):
        check_trusted({"policy": "their_code:P"}, "a run")
    assert not package.exists()


def test_packages_that_registered_themselves_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("theirs", "their_code.envs:register", "glimpse_envs")
    config = {"env_id": "their_code.envs:Env-v0"}
    with pytest.raises(TrustError, match="a run: env_id is 'their_code"):
        check_trusted(config, "a run")
    monkeypatch.setattr(trusting, "entry_points", lambda group: [point])
    check_trusted(config, "a run")


def test_what_this_process_begins_and_folders_of_pictures_are_trusted(tmp_path: Path) -> None:
    config = {"env_id": "my_code:Env-v0", "env_kwargs": {"source": "folder:digits"}}
    create_run(tmp_path / "run", {"policy": "my_learner:P", "config": config})
    assert open_run(tmp_path / "run").config["config"] == config
    check_trusted({"env_id": "A-v0", "env_kwargs": {"source": "folder:digits"}}, "a run")


@pytest.mark.parametrize(
    ("entry", "config"),
    [
        ("policy", {"policy": "folder:P"}),
        ("env_id", {"env_id": "folder:Env-v0"}),
        ("curriculum", {"curriculum": "folder:P"}),
        ("env_kwargs.task", {"env_kwargs": {"task": "folder:P"}}),
        ("env_kwargs.scene", {"env_kwargs": {"scene": "folder:P"}}),
        ("network.core", {"network": {"core": "folder:P"}}),
        ("network.glimpse_network", {"network": {"glimpse_network": "folder:P"}}),
        ("network.class_network", {"network": {"class_network": "folder:P"}}),
    ],
)
def test_folder_is_a_module_where_no_source_is_named(entry: str, config: dict[str, Any]) -> None:
    with pytest.raises(TrustError, match=f"{entry} is 'folder:.*give --trust folder"):
        check_trusted(config, "a run")


def test_every_published_record_names_nothing_of_others() -> None:
    check_trusted(asdict(PICTURES)["config"], "a record")


def test_printed_commands_trust_what_the_run_names(monkeypatch: pytest.MonkeyPatch) -> None:
    mine: dict[str, Any] = {
        "env_id": "their_tasks:Mine-v0",
        "env_kwargs": {"task": "their_code.a:P", "b": "c"},
    }
    assert trust_option({"config": mine}) == trust_option(mine) == " --trust their_code their_tasks"
    trust_named(mine)  # in this process alone
    assert trust_option(mine) == " --trust their_code their_tasks"
    registered = EntryPoint(name="theirs", value="their_tasks", group="glimpse_envs")
    monkeypatch.setattr(trusting, "entry_points", lambda group: [registered])
    assert trust_option(mine) == " --trust their_code"
    ours = {"env_id": "Glimpse/CenteredGlyphs-v0", "env_kwargs": {"source": "folder:/a"}}
    assert trust_option(ours) == ""
    config = replace(train.ALGORITHMS["reinforce"].config(), env_kwargs=mine["env_kwargs"])
    assert evaluate_command(config, Path("r")).endswith(" --trust their_code")
    assert resume_command("agents.train", config, Path("r")).endswith("--resume --trust their_code")
