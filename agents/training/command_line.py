"""What all commands share: KEY=VALUE pairs, options and their help, errors in one line."""

import ast
import inspect
import os
import signal
import sys
import textwrap
from collections import Counter
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import gymnasium as gym
import tyro

from agents.training.distributed import (
    connected,
    first_prints,
    refuse_several,
    started_in_several,
)
from agents.training.interrupts import Interrupted
from glimpse_envs.core.pairs import parse_pairs
from glimpse_envs.core.pipes import output_of_command
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.sources import SourceError
from glimpse_envs.wrappers.errors import WrappedEnvError

KEY_VALUE_PAIRS = tyro.constructors.PrimitiveConstructorSpec(
    nargs="*",
    metavar="[KEY=VALUE ...]",
    instance_from_str=parse_pairs,
    is_instance=lambda instance: isinstance(instance, dict),
    str_from_instance=lambda instance: [f"{name}={value}" for name, value in instance.items()],
)
"""How tyro reads an environment's arguments."""


def parse_folder(words: list[str]) -> Path:
    """The folder of a run.

    Raises:
        ValueError: it is empty, which would be the working directory.
    """
    if not words[0].strip():
        raise ValueError("the folder of a run is empty: name one, such as runs/mine")
    return Path(words[0])


FOLDER = tyro.constructors.PrimitiveConstructorSpec(
    nargs=1,
    metavar="FOLDER",
    instance_from_str=parse_folder,
    is_instance=lambda instance: isinstance(instance, Path),
    str_from_instance=lambda instance: [str(instance)],
)
"""How tyro reads the folder of a run."""


Config = TypeVar("Config")
_HIDDEN: Any = tyro.conf.Suppress  # which mypy takes for a type


def without_options(*names: str) -> Callable[[type[Config]], type[Config]]:
    """A class decorator, below `@dataclass`: the command line offers no option for the inherited
    fields `names`, which the learner cannot use. They keep their values, of a record for example.
    """

    def leave_out(config: type[Config]) -> type[Config]:
        hints = get_type_hints(config, include_extras=True)
        for name in names:
            config.__annotations__[name] = _HIDDEN[hints[name]]
        return config

    return leave_out


def read_options(kind: type[Config], arguments: list[str] | None, **options: Any) -> Config:
    """Read a config from the command line; `options` are those of `tyro.cli`. An option of several
    values that is given twice is an error."""
    join_help_lines(kind)
    try:
        refuse_repeated(sys.argv[1:] if arguments is None else arguments, kind)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    return tyro.cli(kind, args=arguments, **options)


def refuse_repeated(words: list[str], *kinds: type, prefix: str = "--") -> None:
    """Raise a ValueError where a command line's `words` give an option of several values twice,
    of the configs `kinds` or of those nested in them: tyro would drop the first ones."""
    given = Counter(word.partition("=")[0].replace("_", "-") for word in words)
    for kind in kinds:
        for name, hint in get_type_hints(kind, include_extras=True).items():
            option = f"{prefix}{name.replace('_', '-')}"
            values, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
            if isinstance(values, type) and is_dataclass(values):
                refuse_repeated(words, values, prefix=f"{option}.")
            repeatable = tyro.conf.UseAppendAction in marks
            if get_origin(values) in (tuple, dict) and not repeatable and given[option] > 1:
                raise ValueError(f"{option} is given twice: give all after one")


def join_help_lines(*kinds: type) -> None:
    """Let the help of the configs `kinds`, and of those nested in them, be wrapped anew: tyro keeps
    the line breaks of docstrings beside those of the terminal's width."""
    for kind in kinds:
        docs: dict[str, str] = {}
        for base in reversed(kind.__mro__):
            docs |= _field_docs(base)
        for field in fields(kind):
            if field.name in docs:
                text = " ".join(docs[field.name].split())
                field.metadata = MappingProxyType({**field.metadata, "help": text})
        hints = get_type_hints(kind).values()
        join_help_lines(*(one for one in hints if isinstance(one, type) and is_dataclass(one)))


def _field_docs(kind: type) -> dict[str, str]:
    """The docstrings below the fields of a class's own."""
    try:
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    except (OSError, TypeError, SyntaxError):  # it has no source
        return {}
    docs = {}
    for node, below in pairwise(body.body if isinstance(body, ast.ClassDef) else []):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            match below:
                case ast.Expr(value=ast.Constant(value=str(doc))):
                    docs[node.target.id] = doc
    return docs


USER_ERRORS = (
    RunError, SourceError, WrappedEnvError, ValueError, FloatingPointError, OSError,
    gym.error.Error,
)  # fmt: skip
"""Errors whose message is enough for a user."""


def run_command(command: Callable[[], object], *, split: bool = False) -> None:
    """Run `command`; an error of `USER_ERRORS` is one line on stderr and exit status 2, Ctrl-C one
    line and 130, and a training that was interrupted and saved one line and 128 more than the
    signal's number. Of several processes one prints; without `split`, several are refused."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # as `agents` sets it for the imports
        signal.signal(signal.SIGINT, signal.default_int_handler)
    status = 0
    with connected() as first_to_report:
        try:
            if not split:
                refuse_several("this command")
            with first_prints(), output_of_command():
                command()
        except USER_ERRORS as error:
            if first_to_report():
                notes = getattr(error, "__notes__", ())
                print("\n".join([f"error: {error}", *notes]), file=sys.stderr)
            sys.exit(2)
        except Interrupted as interrupt:
            if first_to_report():
                print("interrupted", file=sys.stderr)
            status = 128 + interrupt.number
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a further one would interrupt the exit
            if first_to_report():
                print("interrupted", file=sys.stderr)
            sys.exit(130)
    if started_in_several():
        # Gloo's threads may still hold tensors when the interpreter ends, which then aborts the
        # process, and with it the training of all (pytorch/pytorch#179291).
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    if status:
        sys.exit(status)
