"""Beginning a run, and resuming it: its config is read back and compared with the given one."""

import shlex
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from agents.training.checkpoints import leaves_of
from glimpse_envs.evaluation.record import Model
from glimpse_envs.evaluation.runs import Run, RunError, create_run, open_run

Config = TypeVar("Config")

FREE = frozenset({"device", "threads", "log_every", "checkpoint_every"})
"""Fields that a resumed run may have other values of: they do not change what is learned."""

_NOT_SET = object()


def begin_run(folder: Path, config: Any, policy_class: str, model: Model) -> Run:
    """Make `folder` a new run of `config`, the dataclass of an algorithm.

    Raises:
        RunError: the folder is a run already.
    """
    return create_run(
        folder,
        {
            "policy": policy_class,
            "model": asdict(model),
            "algorithm": config.algorithm,
            "config": asdict(config),
            "defaults": asdict(type(config)()),
            "seed": config.seed,
        },
    )


def run_to_resume(folder: Path, config: Any) -> Run | None:
    """The run in `folder`; None where there is none.

    Raises:
        RunError: see `check_same`.
    """
    if not (folder / "config.json").exists():
        return None
    run = open_run(folder)
    check_same(run, config)
    return run


def read_config(run: Run, kind: type[Config]) -> Config:
    """The config of `run`; fields newer than the run have their defaults.

    Raises:
        RunError: the run is of another algorithm, or has fields that `kind` lacks.
    """
    wanted = getattr(kind, "algorithm", None)
    if run.config.get("algorithm") != wanted:
        raise RunError(
            f"{run.folder} is a run of another algorithm: of {run.config.get('algorithm')}, not of "
            f"{wanted}. Resume it with its own, or give another folder."
        )
    revision = str(run.config.get("revision"))
    return config_from_json(kind, run.config["config"], str(run.folder), revision)


def check_same(run: Run, config: Any) -> None:
    """Refuse to resume `run` with a `config` that differs from its own in more than `FREE`.

    Raises:
        RunError: naming each field that differs by its path, such as network.core.
    """
    saved, given = (leaves_of(asdict(c), ".") for c in (read_config(run, type(config)), config))
    named = [
        f"{path} ({_value(saved, path)}, now {_value(given, path)})"
        for path in sorted((saved.keys() | given.keys()) - FREE)
        if saved.get(path, _NOT_SET) != given.get(path, _NOT_SET)
    ]
    if named:
        raise RunError(
            f"{run.folder} is a run with another config: {', '.join(named)}. Resume it with its "
            "own, or give another folder."
        )


def resume_command(module: str, algorithm: str, folder: Path) -> str:
    """The command that resumes the run in `folder`."""
    return f"python -m {module} {algorithm} --run {shlex.quote(str(folder))} --resume"


def config_from_json(kind: Any, values: dict[str, Any], where: str, revision: str) -> Any:
    """The dataclass `kind` with the `values` of a run or record at `where`, made at `revision`.

    Raises:
        RunError: naming the fields that `kind` lacks.
    """
    unknown = sorted(values.keys() - {field.name for field in fields(kind)})
    if unknown:
        raise RunError(
            f"{where} was made with {', '.join(unknown)}, which {kind.__name__} lacks: go on "
            f"with it at its own revision, {revision}."
        )
    hints = get_type_hints(kind)

    def read(name: str, value: Any) -> Any:
        if not is_dataclass(hints[name]):
            return value
        return config_from_json(hints[name], value, where, revision)

    return kind(**{name: read(name, value) for name, value in values.items()})


def _value(leaves: dict[str, Any], path: str) -> str:
    return repr(leaves[path]) if path in leaves else "not set"
