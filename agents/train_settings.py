"""The settings that a training's command line starts from: those of the record, the preset or the
run to resume that it names, which is read before all other options."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from agents.algorithms.algorithm import Trainable, find_algorithm
from agents.training.resuming import BUDGETS, config_from_json, has_run, read_config
from glimpse_envs.evaluation.records import read_record
from glimpse_envs.evaluation.runs import Run, RunError, open_run
from glimpse_envs.evaluation.trust import check_code, check_trusted

Presets = Mapping[str, Sequence[Any]]
"""Name -> configs, one an algorithm; the first is the default."""


def config_to_start_from(
    module: str,
    name: str | None,
    algorithms: Mapping[str, Trainable],
    presets: Presets,
    arguments: list[str],
) -> tuple[Any, str | None]:
    """The config to start from (a record's, a preset's or the algorithm's defaults), and the option
    that names it, None for the defaults. Where no algorithm is named, it is that of the run to
    resume.

    Raises:
        OSError, RecordError: the record cannot be read.
        RunError: the run to resume is damaged, or of an algorithm that `module` does not train.
        ValueError: there is no such algorithm, preset or run, or two of them do not fit.
    """
    known = _known(arguments)
    if known.preset is not None and known.from_record is not None:
        raise ValueError("--preset and --from-record are both given: give one")
    if name is not None:
        find_algorithm(name, algorithms)
    if known.from_record is not None:
        found = _config_of_record(module, name, algorithms, known.from_record)
        return found, f"--from-record {known.from_record}"
    if known.preset is not None:
        if known.preset not in presets:
            raise ValueError(f"--preset {known.preset} must be one of {', '.join(presets)}")
        of = {config.algorithm: config for config in presets[known.preset]}
        name = name or next(iter(of))
        if name not in of:
            raise ValueError(f"--preset {known.preset} is for {', '.join(of)}, not for {name}")
        return of[name], f"--preset {known.preset}"
    name = name or _algorithm_to_resume(module, algorithms, arguments)
    if name is None:
        folder = _folder_to_resume(arguments)
        absent = "" if folder is None else f"there is no run in {folder} to resume; to begin one, "
        raise ValueError(f"{absent}name an algorithm first, one of {', '.join(algorithms)}")
    return find_algorithm(name, algorithms).config(), None


def _config_of_record(
    module: str, name: str | None, algorithms: Mapping[str, Trainable], path: Path
) -> Any:
    if not path.is_file():
        raise ValueError(
            f"--from-record {path}: there is no such file; a record is a JSON file, such as those "
            "in results/"
        )
    record = read_record(path)
    if ":" not in record.algorithm and record.algorithm not in algorithms:
        raise ValueError(
            f"{path} is of {record.algorithm}, which {module} does not train; it trains "
            f"{', '.join(algorithms)}"
        )
    if name not in (None, record.algorithm):
        raise ValueError(f"{path} is of {record.algorithm}, not of {name}")
    return config_of_record(path, algorithms)


def config_of_record(path: Path, algorithms: Mapping[str, Trainable]) -> Any:
    """The config of a record, whose code has to be trusted before it is imported.

    Raises:
        ValueError: its code is not trusted, its algorithm is none of `algorithms`, or the config
            does not fit.
        RecordError: the record is damaged.
    """
    record = read_record(path)
    if ":" in record.algorithm:
        check_code("algorithm", record.algorithm, path)
    kind = find_algorithm(record.algorithm, algorithms).config
    check_trusted(record.config, path)
    return config_from_json(kind, record.config, str(path), record.revision)


def _algorithm_to_resume(
    module: str, algorithms: Mapping[str, Trainable], arguments: list[str]
) -> str | None:
    """The algorithm of the run that `arguments` resume; None without one.

    Raises:
        RunError: the run is damaged, or of none of `algorithms`.
    """
    run = _run_to_resume(arguments)
    if run is None:
        return None
    name = str(run.config.get("algorithm"))
    if ":" in name:
        check_code("algorithm", name, run.config_path)
    elif name not in algorithms:
        raise RunError(
            f"{run.folder} is a run of {name}, which {module} does not train; it trains "
            f"{', '.join(algorithms)}"
        )
    return name


def length_given(kind: type[Any], arguments: list[str]) -> str | None:
    """The option of `arguments` that sets a training's length in episodes or timesteps, whichever
    `kind` has; None without one.

    Raises:
        ValueError: minutes are given, too.
    """
    (length,) = BUDGETS & {field.name for field in fields(kind)} - {"minutes"}
    known = _known(arguments)
    if getattr(known, length) is None:
        return None
    if known.minutes not in (None, "None"):
        raise ValueError(f"--{length} and --minutes are both given: give one")
    return length


def trusted(arguments: list[str]) -> list[str]:
    """The packages that `arguments` name after --trust."""
    return list(_known(arguments).trust)


def config_to_resume(kind: type[Any], arguments: list[str]) -> Any:
    """The config of the run that `arguments` resume; None without one.

    Raises:
        RunError: the run is damaged or of another algorithm.
        ValueError: --env-kwargs is given twice; tyro would drop the first.
    """
    if len(_known(arguments).env_kwargs) > 1:
        raise ValueError("--env-kwargs is given twice: give all pairs after one, a=1 b=2")
    run = _run_to_resume(arguments)
    return None if run is None else read_config(run, kind)


def _run_to_resume(arguments: list[str]) -> Run | None:
    """The run that `arguments` resume; None without one.

    Raises:
        RunError: it is damaged.
    """
    folder = _folder_to_resume(arguments)
    return None if folder is None or not has_run(folder) else open_run(folder)


def _folder_to_resume(arguments: list[str]) -> Path | None:
    """The folder of --run, in which there may be no run; None without it or --resume."""
    known = _known(arguments)
    folder: Path | None = known.run
    return folder if known.resume else None


def _known(arguments: list[str]) -> argparse.Namespace:
    """The options among `arguments` that are read before tyro reads all of them."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for name in ("--preset", "--minutes", "--episodes", "--timesteps"):
        parser.add_argument(name, nargs="?")
    parser.add_argument("--from-record", "--from_record", type=Path, nargs="?")
    parser.add_argument("--run", type=Path, nargs="?")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--trust", nargs="*", default=[])
    parser.add_argument("--env-kwargs", "--env_kwargs", action="append", nargs="*", default=[])
    return parser.parse_known_args(arguments)[0]
