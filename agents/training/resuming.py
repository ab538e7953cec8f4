"""Beginning a run, and resuming it: its config is read back and compared with the given one."""

import json
import shlex
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, get_origin, get_type_hints

from agents.training.checkpoints import leaves_of
from agents.training.distributed import processes
from agents.training.host import hardware_with
from glimpse_envs.evaluation.from_json import FieldError, from_json
from glimpse_envs.evaluation.record import Model
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import Run, create_run, open_run
from glimpse_envs.evaluation.trust import trust_named, trust_option

Config = TypeVar("Config")
Value = TypeVar("Value")

FREE = frozenset({"device", "threads", "log_every", "checkpoint_every"})
"""Fields that may change when a run is resumed: they do not change what is learned."""

BUDGETS = frozenset({"minutes", "episodes", "timesteps"})
"""Fields that may grow when a run is resumed: its schedules are stretched."""

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
            "defaults": asdict(settled(type(config)())),
            "seed": config.seed,
            "processes": processes(),
            "hardware": hardware_with(config.device),
        },
    )


def check_model(algorithm: str, model: Model) -> None:
    """Check the description of a model, which the learner of `algorithm` gives.

    Raises:
        ValueError: a field's value is not one that a record can hold.
    """
    if not isinstance(model, Model):
        raise ValueError(
            f"{algorithm}: the `model` of its learner is {model!r:.80}; it must be a Model, of "
            "glimpse_envs.evaluation.record"
        )
    try:
        from_json(Model, asdict(model))
    except FieldError as error:
        raise ValueError(f"{algorithm}: of the `model` of its learner, {error}") from error


def has_run(folder: Path) -> bool:
    """Whether there is a run in `folder`, which may be missing."""
    return (folder / "config.json").exists()


def run_to_resume(folder: Path, config: Any) -> Run | None:
    """The run in `folder`; None where there is none. What `config` names is trusted.

    Raises:
        RunError: see `check_same`; or the run was exported without what training needs, or the
            classes of its pictures have changed.
    """
    if not has_run(folder):
        return None
    trust_named(asdict(config))
    run = open_run(folder)
    if run.config.get("weights_only"):
        raise RunError(
            f"{folder} holds the weights of a run alone, which cannot be trained further: "
            "evaluate it, or train again from its record (--from-record)"
        )
    check_same(run, config)
    run.check_pictures()
    return run


def settled(config: Config, run: Run | None = None) -> Config:
    """`config` with precision="auto" resolved: as in the run that is resumed, or else for this
    machine."""
    if getattr(config, "precision", None) != "auto":
        return config
    given: Any = config
    source: Any = given if run is None else read_config(run, type(config))
    return replace(given, precision=source.settled.precision)


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
    return config_from_json(kind, run.config.get("config"), str(run.config_path), revision)


def setting_of(run: Run, name: str, kind: type[Value]) -> Value:
    """The entry `name` of the learner's config of `run`.

    Raises:
        RunError: the entry is missing or no `kind`.
    """
    config = run.config.get("config")
    if not isinstance(config, dict):
        raise RunError(f"{run.config_path}: config is {config!r:.80}; it must be an object")
    value = config.get(name)
    if not isinstance(value, kind):
        found = f"{name} is {value!r:.80}" if name in config else f"the config lacks {name}"
        raise RunError(
            f"{run.config_path}: {found}; it must be a {kind.__name__}. Put back a copy."
        )
    return value


def check_same(run: Run, config: Any) -> None:
    """Refuse to resume `run` with a `config` that differs from its own in more than `FREE` and
    greater `BUDGETS`.

    Raises:
        RunError: naming each field that differs by its path, such as network.core.
    """
    saved, given = (
        leaves_of(_as_read(c), ".") for c in (read_config(run, type(config)), settled(config, run))
    )
    differing = [
        path
        for path in sorted((saved.keys() | given.keys()) - FREE)
        if saved.get(path, _NOT_SET) != given.get(path, _NOT_SET)
        and not (path in BUDGETS and _is_greater(given[path], saved[path]))
    ]
    if differing:
        named = [f"{path} ({_value(saved, path)}, now {_value(given, path)})" for path in differing]
        shrunk = [path for path in differing if path in BUDGETS and given[path] and saved[path]]
        may_grow = f" {' and '.join(shrunk)} may only grow." if shrunk else ""
        raise RunError(
            f"{run.folder} is a run with another config: {', '.join(named)}.{may_grow} Resume it "
            "with its own, or give another folder."
        )


def _as_read(config: Any) -> dict[str, Any]:
    """A config as JSON gives it back, in which tuples are lists."""
    read: dict[str, Any] = json.loads(json.dumps(asdict(config)))
    return read


def _is_greater(value: float | None, saved: float | None) -> bool:
    return value is not None and saved is not None and value > saved


def resume_command(module: str, config: Any, folder: Path) -> str:
    """The command that resumes the run in `folder`, of a training by `config`."""
    count = processes()
    start = "python -m" if count == 1 else f"torchrun --nproc-per-node {count} -m --"
    trust = trust_option(asdict(config))
    return f"{start} {module} {config.algorithm} --run {shlex.quote(str(folder))} --resume{trust}"


def config_from_json(kind: Any, values: Any, where: str, revision: str) -> Any:
    """The dataclass `kind` with the `values` of a run or record at `where`, made at `revision`.

    Raises:
        RunError: naming the fields that `kind` lacks, or whose values are of another type, or the
            configs within it that `values` lack.
    """
    if not isinstance(values, dict):
        raise RunError(f"{where}: {kind.__name__} is {values!r:.80}; it must be an object")
    unknown = sorted(values.keys() - {field.name for field in fields(kind)})
    if unknown:
        raise RunError(
            f"{where} was made with {', '.join(unknown)}, which {kind.__name__} lacks: go on "
            f"with it at its own revision, {revision}."
        )
    hints = get_type_hints(kind)
    missing = [
        field.name
        for field in fields(kind)
        if is_dataclass(hints[field.name]) and field.name not in values
    ]
    if missing:
        raise RunError(f"{where}: the config lacks {', '.join(missing)}. Put back a copy.")
    try:
        # For the kinds of values: numbers stay as they are written, 1 or 1.0.
        from_json(kind, values)
    except FieldError as error:
        raise RunError(f"{where}: of the config, {error}. Put back a copy.") from error
    nested = {
        name: config_from_json(hints[name], value, where, revision)
        for name, value in values.items()
        if is_dataclass(hints[name])
    }
    # JSON has lists alone.
    sequences = {
        name: tuple(value)
        for name, value in values.items()
        if isinstance(value, list) and get_origin(hints[name]) is tuple
    }
    return kind(**{**values, **nested, **sequences})


def _value(leaves: dict[str, Any], path: str) -> str:
    return repr(leaves[path]) if path in leaves else "not set"
