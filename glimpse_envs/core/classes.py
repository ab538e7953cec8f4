"""Classes and other objects by name: one of a list, or "module:NAME" of any package."""

import inspect
from collections.abc import Iterable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, TypeVar, cast

from glimpse_envs.core.arguments import did_you_mean, shown

Instance = TypeVar("Instance")


def find_class(argument: str, name: object, base: type, known: Mapping[str, str]) -> Any:
    """Return the class that an argument names.

    Args:
        argument: its name, for the messages.
        name: one of `known`, or "module:Class".
        base: the class that it must extend.
        known: name -> "module:Class".

    Raises:
        ValueError: there is no such class, it does not extend `base` or is abstract, or its module
            or a dependency of that is missing.
    """
    module, class_name = parse_class_name(argument, name, known)
    found = _imported(f"{argument}={name!r}", module, class_name)
    if not isinstance(found, type) or not issubclass(found, base):
        raise ValueError(
            f"{argument}={name!r}: {module} has no class {class_name} that extends "
            f"{base.__module__}.{base.__name__}"
        )
    missing = sorted(getattr(found, "__abstractmethods__", ()))
    if missing:
        raise ValueError(
            f"{argument}={name!r} is abstract, it lacks {', '.join(missing)}: define "
            f"{'it' if len(missing) == 1 else 'them'} in the class, not in __init__, or give a "
            "class that extends it"
        )
    return found


def parse_class_name(
    argument: str, name: object, known: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, str]:
    """Return the module and the class that `name` stands for, as of `find_class`, unchecked.

    Raises:
        ValueError: `name` is not in `known` and not a string "module:Class".
    """
    path = known.get(name, name) if isinstance(name, str) else ""
    module, _, class_name = path.partition(":")
    if not module or not class_name:
        names = "".join(f"{one!r}, " for one in known) + ("or " if known else "")
        raise ValueError(
            f"{argument}={shown(name)} must be {names}the name of a class as a string, "
            f"'module:Class'{suggested_class(name, known)}"
        )
    return module, class_name


def suggested_class(name: object, known: Iterable[str]) -> str:
    """Return the end of a message that suggests the name of a class: that of `name` where it is a
    class itself, or else the nearest of `known`; "" where there is none."""
    if not isinstance(name, type):
        return did_you_mean(name, known)
    if not name.__qualname__.isidentifier():
        return ": move it to the top level of its module, where it can be found by name"
    return f". Did you mean {f'{name.__module__}:{name.__qualname__}'!r}?"


def find_instance(what: str, name: str, kind: type, known: Mapping[str, Instance]) -> Instance:
    """Return the object called `name`.

    Args:
        what: such objects in a word, for the messages.
        name: one of `known`, or "module:NAME".
        kind: the class that an object of another package must be an instance of.
        known: name -> object.

    Raises:
        ValueError: there is no such object, it is not a `kind`, or its module or a dependency of
            that cannot be imported.
    """
    if name in known:
        return known[name]
    module, colon, attribute = name.partition(":")
    if not colon:
        raise ValueError(
            f"{what} {name!r} must be one of {', '.join(known)}, or module:NAME"
            f"{did_you_mean(name, known)}"
        )
    found = _imported(f"{what} {name!r}", module, attribute)
    if not isinstance(found, kind):
        raise ValueError(
            f"{what} {name!r}: {module} has no {attribute} that is an instance of "
            f"{kind.__module__}.{kind.__name__}"
        )
    return cast(Instance, found)


def _imported(what: str, module: str, attribute: str) -> Any:
    """Return an attribute of a module; None where it has no such one."""
    try:
        return getattr(import_module(module), attribute, None)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError)
        reason = f"there is no module {error.name}" if missing else str(error)
        raise ValueError(f"{what}: {reason}") from error


def check_by_keyword(argument: str, name: object, kind: type, by_position: int = 0) -> None:
    """Raise a ValueError where the class `kind` that an argument names takes arguments by position
    besides the first `by_position`: all others are passed on by keyword."""
    given = inspect.signature(kind).parameters.values()
    every = [one.name for one in given if one.kind is one.POSITIONAL_OR_KEYWORD]
    names = every[by_position:]
    if names:
        right = ", ".join(["self", *every[:by_position], "*", names[0]])
        raise ValueError(
            f"{argument}={name!r}: __init__ takes {', '.join(names)} by position, and only "
            f"arguments by keyword are passed on: put an asterisk before {names[0]}, as in "
            f"({right})"
        )


def add_name(known: dict[str, str], name: str, path: str) -> None:
    """Add `name` to the list `known`, name -> "module:Class".

    Raises:
        ValueError: the name stands for another class already, or `name` or `path` is malformed.
    """
    fits = isinstance(name, str) and isinstance(path, str) and ":" not in name and ":" in path
    if not fits:
        raise ValueError(
            f"{shown(name)} must be a name without ':', and {shown(path)} the name of a class as a "
            f"string, 'module:Class'{suggested_class(path, ())}"
        )
    if known.setdefault(name, path) != path:
        raise ValueError(f"the name {name!r} is taken: it stands for {known[name]}")
