"""Dataclasses read from JSON and checked against their own annotations."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


@dataclass(frozen=True)
class Within:
    """Bounds of a number, for use in `Annotated[float, Within(0, 1)]`."""

    least: float
    most: float = math.inf

    def __str__(self) -> str:
        return f"of at least {self.least}" + (f", at most {self.most}" * (self.most < math.inf))


Share = Annotated[float, Within(0, 1)]
Count = Annotated[int, Within(0)]
"""A count, 0 included."""
Number = Annotated[int, Within(1)]
"""A count of at least 1."""
Amount = Annotated[float, Within(0)]


class FieldError(ValueError):
    """A value does not fit its annotation; the message names the key, the value and what fits."""


def from_json(kind: type[T], data: object) -> T:
    """The dataclass `kind` in the JSON value `data`; its annotations decide what each field takes.

    Understood are scalars, `None`, unions, `Literal`, tuples, dicts by text, nested dataclasses and
    `Annotated` with `Within`. JSON's lists become tuples where a tuple is annotated.

    Raises:
        FieldError: a field is missing, unknown or of another type.
    """
    read: T = _read(kind, data, "")
    return read


def _read(kind: Any, value: Any, path: str) -> Any:
    if is_dataclass(kind):
        return _read_dataclass(kind, value, path)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        read = _within(kind, arguments[0], value, path)
        for bounds in arguments[1:]:
            if isinstance(bounds, Within) and not bounds.least <= read <= bounds.most:
                raise _error(kind, value, path)
        return read
    if origin in (Union, UnionType):
        if value is None and NoneType in arguments:
            return None
        (inner,) = (argument for argument in arguments if argument is not NoneType)
        return _within(kind, inner, value, path)
    if origin is tuple:
        return _read_tuple(kind, value, path)
    if origin is dict:
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            raise _error(kind, value, path)
        return {name: _read(arguments[1], v, f"{path}.{name}") for name, v in value.items()}
    if not _fits(kind, value):
        raise _error(kind, value, path)
    return float(value) if kind is float else value


def _within(outer: Any, kind: Any, value: Any, path: str) -> Any:
    """Read `kind`, a part of the annotation `outer`; errors describe the whole of it."""
    try:
        return _read(kind, value, path)
    except FieldError as error:
        if is_dataclass(kind):
            raise
        raise _error(outer, value, path) from error


def _read_dataclass(kind: Any, value: Any, path: str) -> Any:
    if not isinstance(value, Mapping):
        raise FieldError(f"{path or kind.__name__} is {value!r:.80}; it must be an object")
    prefix = f"{path}." if path else ""
    known = {f.name: f for f in fields(kind)}
    required = [
        name for name, f in known.items() if f.default is MISSING and f.default_factory is MISSING
    ]
    missing = [prefix + name for name in required if name not in value]
    if missing:
        raise FieldError(f"lacks {', '.join(missing)}")
    unknown = [prefix + str(name) for name in value if name not in known]
    if unknown:
        raise FieldError(f"holds {', '.join(unknown)}, which a {kind.__name__} does not have")
    hints = get_type_hints(kind, include_extras=True)
    return kind(**{name: _read(hints[name], v, prefix + name) for name, v in value.items()})


def _read_tuple(kind: Any, value: Any, path: str) -> tuple[Any, ...]:
    arguments = get_args(kind)
    if not isinstance(value, list | tuple):
        raise _error(kind, value, path)
    if arguments[-1] is Ellipsis:
        arguments = arguments[:1] * len(value)
    if len(value) != len(arguments):
        raise _error(kind, value, path)
    return tuple(
        _read(argument, v, f"{path}[{i}]")
        for i, (argument, v) in enumerate(zip(arguments, value, strict=True))
    )


def _fits(kind: Any, value: Any) -> bool:
    if kind is Any:
        return True
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if kind is float:
        return isinstance(value, int | float) and type(value) is not bool and math.isfinite(value)
    return type(value) is kind


def _error(kind: Any, value: Any, path: str) -> FieldError:
    return FieldError(f"{path} is {value!r:.80}; it must be {_described(kind)}")


_NOUNS: dict[Any, str] = {
    int: "a whole number", float: "a number", str: "text", bool: "true or false", NoneType: "none",
    Any: "any value",
}  # fmt: skip


def _described(kind: Any) -> str:
    """Return a description of the values that an annotation accepts."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        bounds = " ".join(str(a) for a in arguments[1:] if isinstance(a, Within))
        return f"{_described(arguments[0])} {bounds}".strip()
    if origin is Literal:
        return f"one of {', '.join(map(repr, arguments))}"
    if origin in (Union, UnionType):
        return " or ".join(map(_described, arguments))
    if origin is tuple and arguments[-1] is not Ellipsis:
        return f"a list of ({', '.join(map(_described, arguments))})"
    if origin is tuple:
        return f"a list, of each entry {_described(arguments[0])}"
    if origin is dict:
        return f"an object, of each value {_described(arguments[1])}"
    return _NOUNS.get(kind, "an object")
