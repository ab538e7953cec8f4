"""The command line that trains: an algorithm's name, then its config's fields as options."""

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import tyro

from agents.algorithms.algorithm import Trainable, find_algorithm
from agents.train_settings import (
    EarlyOptions,
    Presets,
    config_to_resume,
    config_to_start_from,
    length_given,
)
from agents.training.announcing import evaluate_command, last_validation, plan_of
from agents.training.command_line import (
    FOLDER,
    join_help_lines,
    refuse_repeated,
    run_command,
    without_options,
)
from agents.training.interrupts import raise_interrupted
from agents.training.loggers import LOGGERS, import_wandb
from agents.training.resuming import has_run, resume_command
from glimpse_envs.evaluation.trust import trust


@dataclass(frozen=True)
class RunOptions:
    """Folder of the run, and the settings to start from."""

    run: Annotated[Path | None, FOLDER] = None
    """Folder of the run; None: runs/ENVIRONMENT-ALGORITHM-SEED."""
    resume: bool = False
    """Resume the run in the folder of --run, if there is one, with its own settings. Only device,
    threads, log-every and checkpoint-every may change; minutes, episodes or timesteps may grow."""
    preset: str | None = None
    """Preset to start from, by its name; further options change its settings. The usage, without an
    algorithm, lists them."""
    from_record: Path | None = None
    """Record of a published run (a .json file) whose settings to start from; further options change
    them."""
    trust: tuple[str, ...] = ()
    """Third-party packages whose code the run or record may import, such as my_tasks."""
    tensorboard: bool = True
    """Write events for TensorBoard into the run's folder."""
    wandb: bool = False
    """Send metrics to Weights & Biases, to the project in WANDB_PROJECT; needs wandb installed."""

    @property
    def loggers(self) -> list[str]:
        return [name for name in LOGGERS if getattr(self, name)]


@dataclass(frozen=True)
@without_options("preset")
class RunOptionsWithoutPreset(RunOptions):
    """Folder of the run, and the settings to start from, where there are no presets."""


def run_main(
    module: str,
    algorithms: Mapping[str, Trainable],
    arguments: list[str] | None = None,
    prefix: str = "",
    presets: Presets = MappingProxyType({}),
) -> None:
    """The command line `python -m module` of `algorithms`; `prefix` begins the algorithm's name in
    a run's default folder."""
    given = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if given[0] in ("-h", "--help"):
        print(_help_of(module, algorithms, presets))
        sys.exit(0)
    run_command(lambda: _train_by(module, algorithms, presets, prefix, given), split=True)


def _help_of(module: str, algorithms: Mapping[str, Trainable], presets: Presets) -> str:
    """The usage, and one line for each algorithm."""
    command = f"python -m {module}"
    lines = [f"usage: {command} {{{','.join(algorithms)}}} [--help] [OPTIONS]"]
    lines.append(f"       {command} --from-record RECORD [OPTIONS]")
    lines.append(f"       {command} --run RUN --resume [OPTIONS]")
    if presets:
        lines.append(f"       {command} --preset {{{','.join(presets)}}} [OPTIONS]")
    width = max(map(len, algorithms))
    lines += ["", f"The options of an algorithm: {command} ALGORITHM --help", ""]
    for name, row in algorithms.items():
        about = " ".join((row.config.__doc__ or "").partition("\n\n")[0].split())
        lines.append(f"  {name:{width}}  {about}")
    lines += ["", "An algorithm of another package is module:NAME (docs/own_agent.md)."]
    return "\n".join(lines)


def _train_by(
    module: str,
    algorithms: Mapping[str, Trainable],
    presets: Presets,
    prefix: str,
    arguments: list[str],
) -> None:
    """Train by the command line's `arguments`."""
    named = not arguments[0].startswith("-")
    name, rest = (arguments[0], arguments[1:]) if named else (None, arguments)
    given = EarlyOptions.read(rest)
    trust(*given.trust)
    start, origin = config_to_start_from(module, name, algorithms, presets, given)
    algorithm = find_algorithm(start.algorithm, algorithms)
    default = _default_config(algorithm, start, given)
    training = _Training(module, algorithm, start, origin, default, given, prefix)
    first = RunOptions() if presets else RunOptionsWithoutPreset()

    def train(config: Any = default, options: RunOptions = first) -> None:
        training.run(config, options)

    # An empty name makes the option --seed, not --config.seed.
    kind = algorithm.config
    join_help_lines(kind, type(first))
    refuse_repeated(rest, kind, type(first))
    train.__annotations__["config"] = Annotated[kind, tyro.conf.arg(name="")]
    train.__annotations__["options"] = Annotated[type(first), tyro.conf.arg(name="")]
    prog = f"python -m {module} {start.algorithm}"
    if any(argument.startswith("--tyro-") for argument in rest):
        # A shell completes commands of one word: of an alias, as docs/training.md has it.
        prog = f"{module.removesuffix('.__main__')}.{start.algorithm}".replace(".", "-")
    tyro.cli(train, args=rest, prog=prog, description=kind.__doc__)


def _default_config(algorithm: Trainable, start: Any, given: EarlyOptions) -> Any:
    """Return the config whose fields the options change: that of the run to resume, or `start`;
    without its minutes where another length is given.

    Raises:
        ValueError: a run that is trained for minutes is given another length.
    """
    resumed = config_to_resume(algorithm.config, given)
    default = resumed or start
    length = length_given(algorithm.config, given)
    if length is None or default.minutes is None:
        return default
    if resumed is not None:
        raise ValueError(
            f"--{length} has no effect on this run, which is trained for minutes="
            f"{default.minutes:g}: give greater --minutes to train it longer"
        )
    return replace(default, minutes=None)


@dataclass(frozen=True)
class _Training:
    """A training as a command asks for it.

    Args:
        module: of the command, `python -m module`.
        algorithm: the algorithm.
        start: the config of the preset or record, or the algorithm's own.
        origin: what `start` is from, in words; None for the algorithm's own.
        default: the config whose fields the options have changed.
        given: options that were read before the others.
        prefix: begins the algorithm's name in a run's default folder.
    """

    module: str
    algorithm: Trainable
    start: Any
    origin: str | None
    default: Any
    given: EarlyOptions
    prefix: str

    def run(self, config: Any, options: RunOptions) -> None:
        """Train by `config`, as the options have left it, and say where the run is."""
        config = self._with_env_kwargs(config)
        folder = options.run or self._default_folder(config)
        missing = options.resume and not has_run(folder)
        if missing and self.given.name_a_run_alone:
            raise ValueError(
                f"there is no run in {folder} to resume, and no settings are given that one could "
                "begin with: correct --run, or give an --env-id"
            )

        def announce(trained: Any) -> None:
            if missing:
                print(f"there is no run in {folder} to resume: a new one begins")
            print(plan_of(self.start.algorithm, trained, folder), flush=True)

        if options.wandb:
            import_wandb()  # before a run is begun that the next attempt would find there
        with _naming(self.origin, self.start, config):
            run = self.algorithm.train(
                config,
                folder,
                loggers=options.loggers,
                resume=options.resume,
                progress_bar=True,
                how_to_resume=resume_command(self.module, config, folder),
                on_begin=announce,
                on_interrupt=raise_interrupted,
            )
        score = last_validation(run)
        if score is not None:
            print(score)
        command = evaluate_command(config, run.folder, run.config.get("policy"))
        print(f"the run is in {run.folder}; evaluate it: {command}")

    def _with_env_kwargs(self, config: Any) -> Any:
        """Return `config` with the default's arguments of the environment beside those given; of
        another environment only with those given."""
        if config.env_id == self.default.env_id:
            return replace(config, env_kwargs={**self.default.env_kwargs, **config.env_kwargs})
        return config if self.given.env_kwargs else replace(config, env_kwargs={})

    def _default_folder(self, config: Any) -> Path:
        environment = config.env_id.rpartition("/")[2]
        short = self.start.algorithm.rpartition(":")[2]  # of another package's, module:NAME
        return Path("runs") / f"{environment}-{self.prefix}{short}-{config.seed}"


@contextmanager
def _naming(origin: str | None, start: Any, config: Any) -> Iterator[None]:
    """Add to a `ValueError` from the block that `origin` set the fields at fault, where `config`
    still has their values from `start`.

    Raises:
        ValueError: that of the block, with the options to change.
    """
    try:
        yield
    except ValueError as error:
        defaults, named = type(start)(), re.findall(r"(\w+)(?:[=:]|\.\w)", str(error))
        names = [
            field.name
            for field in fields(start)
            if field.name in named
            and getattr(config, field.name) == getattr(start, field.name)
            and getattr(start, field.name) != getattr(defaults, field.name)
        ]
        if origin is None or not names:
            raise
        parts = ((name, is_dataclass(getattr(start, name))) for name in names)
        options = " and ".join(
            f"--{n.replace('_', '-')}{'.*' if many else ''}" for n, many in parts
        )
        raise ValueError(f"{error} ({origin} sets this: give {options}, too)") from error
