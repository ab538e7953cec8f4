"""The settings that a training's command line starts from: those of the record, the preset or the
run to resume that it names, which is read before all other options."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Self

from agents.algorithms.algorithm import Trainable, find_algorithm
from agents.training.resuming import BUDGETS, config_from_json, has_run, read_config
from glimpse_envs.evaluation.records import read_record
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import Run, open_run
from glimpse_envs.evaluation.trust import check_code, check_trusted

Presets = Mapping[str, Sequence[Any]]
"""Name -> configs, one an algorithm; the first is the default."""


@dataclass(frozen=True)
class EarlyOptions:
    """The options that are read before tyro reads all of them.

    Args:
        preset, from_record, run, resume, trust: see `agents.train_command.RunOptions`.
        minutes, episodes, timesteps: the training's length, as text; None where it is not given.
        env_kwargs: the pairs after each --env-kwargs.
        others: all else that is given.
    """

    preset: str | None
    from_record: Path | None
    run: Path | None
    resume: bool
    trust: list[str]
    minutes: str | None
    episodes: str | None
    timesteps: str | None
    env_kwargs: list[list[str]]
    others: list[str]

    @classmethod
    def read(cls, arguments: list[str]) -> Self:
        """Read them from a command line's `arguments`."""
        parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        for name in ("--preset", "--minutes", "--episodes", "--timesteps"):
            parser.add_argument(name, nargs="?")
        parser.add_argument("--from-record", "--from_record", type=Path, nargs="?")
        parser.add_argument("--run", type=Path, nargs="?")
        parser.add_argument("--resume", action="store_true")
        parser.add_argument("--trust", nargs="*", default=[])
        parser.add_argument("--env-kwargs", "--env_kwargs", action="append", nargs="*", default=[])
        known, others = parser.parse_known_args(arguments)
        return cls(**vars(known), others=others)

    @property
    def name_a_run_alone(self) -> bool:
        """Whether a run to resume is given, and nothing that another could begin with."""
        lengths = (self.minutes, self.episodes, self.timesteps)
        starts = (self.preset, self.from_record, *lengths, self.env_kwargs, self.others)
        return self.resume and self.run is not None and not any(starts)

    def run_to_resume(self) -> Run | None:
        """The run in the folder of --run; None where there is none, or without --resume.

        Raises:
            RunError: it is damaged.
        """
        if self.run is None or not self.resume or not has_run(self.run):
            return None
        return open_run(self.run)


def config_to_start_from(
    module: str,
    name: str | None,
    algorithms: Mapping[str, Trainable],
    presets: Presets,
    given: EarlyOptions,
) -> tuple[Any, str | None]:
    """The config to start from (a record's, a preset's or the algorithm's defaults), and the option
    that names it, None for the defaults. Where no algorithm is named, it is that of the run to
    resume.

    Raises:
        OSError, RecordError: the record cannot be read.
        RunError: the run to resume is damaged, or of an algorithm that `module` does not train.
        ValueError: there is no such algorithm, preset or run, or two of them do not fit.
    """
    if given.preset is not None and given.from_record is not None:
        raise ValueError("--preset and --from-record are both given: give one")
    if name is not None:
        find_algorithm(name, algorithms)
    if given.from_record is not None:
        found = _config_of_record(module, name, algorithms, given.from_record)
        return found, f"--from-record {given.from_record}"
    if given.preset is not None:
        if given.preset not in presets:
            raise ValueError(f"--preset {given.preset} must be one of {', '.join(presets)}")
        return _config_of_preset(name, algorithms, presets[given.preset], given.preset), (
            f"--preset {given.preset}"
        )
    if name is None and given.resume and given.run is None:
        raise ValueError("--resume needs the folder of the run: give --run")
    name = name or _algorithm_to_resume(module, algorithms, given)
    if name is None:
        wanted = given.resume and given.run is not None
        absent = f"there is no run in {given.run} to resume; to begin one, " if wanted else ""
        raise ValueError(f"{absent}name an algorithm first, one of {', '.join(algorithms)}")
    return find_algorithm(name, algorithms).config(), None


def _config_of_preset(
    name: str | None, algorithms: Mapping[str, Trainable], configs: Sequence[Any], preset: str
) -> Any:
    """The config of a preset; for an algorithm of the user's own whose config extends one of these,
    its defaults with what the preset sets."""
    of = {config.algorithm: config for config in configs}
    name = name or next(iter(of))
    if name in of:
        return of[name]
    kind = find_algorithm(name, algorithms).config
    extended = next((config for config in configs if issubclass(kind, type(config))), None)
    if extended is None:
        raise ValueError(f"--preset {preset} is for {', '.join(of)}, not for {name}")
    return _with_changes(kind(), type(extended)(), extended)


def _with_changes(own: Any, usual: Any, changed: Any) -> Any:
    """`own`, with what `changed` has otherwise than `usual`, field by field of dataclasses."""
    if changed == usual:
        return own
    if not is_dataclass(changed) or not isinstance(own, type(changed)):
        return changed
    given: dict[str, Any] = {
        one.name: _with_changes(*(getattr(each, one.name) for each in (own, usual, changed)))
        for one in fields(changed)
    }
    return replace(own, **given)  # type: ignore[type-var]  # an instance, as `changed` is


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
    module: str, algorithms: Mapping[str, Trainable], given: EarlyOptions
) -> str | None:
    """The algorithm of the run to resume; None without one.

    Raises:
        RunError: the run is damaged, or of none of `algorithms`.
    """
    run = given.run_to_resume()
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


def length_given(kind: type[Any], given: EarlyOptions) -> str | None:
    """The option that sets a training's length in episodes or timesteps, whichever
    `kind` has; None without one.

    Raises:
        ValueError: minutes are given, too.
    """
    (length,) = BUDGETS & {field.name for field in fields(kind)} - {"minutes"}
    if getattr(given, length) is None:
        return None
    if given.minutes not in (None, "None"):
        raise ValueError(f"--{length} and --minutes are both given: give one")
    return length


def config_to_resume(kind: type[Any], given: EarlyOptions) -> Any:
    """The config of the run to resume; None without one.

    Raises:
        RunError: the run is damaged or of another algorithm.
        ValueError: --env-kwargs is given twice; tyro would drop the first.
    """
    if len(given.env_kwargs) > 1:
        raise ValueError("--env-kwargs is given twice: give all pairs after one, a=1 b=2")
    run = given.run_to_resume()
    return None if run is None else read_config(run, kind)
