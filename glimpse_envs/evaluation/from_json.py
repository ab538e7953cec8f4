"""Dataclasses read from JSON and checked against their own annotations, by pydantic."""

import json
from collections.abc import Hashable, Mapping
from functools import cache
from typing import Annotated, Any, TypeVar, cast

try:
    from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
except ImportError as error:
    raise ImportError("records need pydantic: pip install 'glimpse-envs[evaluation]'") from error

T = TypeVar("T")

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
"""A count, 0 included."""
Number = Annotated[int, Field(ge=1)]
"""A count of at least 1."""
Amount = Annotated[float, Field(ge=0)]

STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
"""For `__pydantic_config__` of each dataclass: nothing is converted, no key may be unknown."""


class FieldError(ValueError):
    """A value does not fit its annotation; the message names the key, the value and what fits."""


def from_json(kind: type[T], data: object) -> T:
    """Return the dataclass `kind` in the JSON value `data`.

    Raises:
        FieldError: a field is missing, unknown or of another type.
    """
    adapter: TypeAdapter[T] = _adapter(cast(Hashable, kind))
    try:
        return adapter.validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        details = error.errors(include_url=False)
        raise FieldError("; ".join(map(_message, details[:3]))) from error


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast(Any, kind))


def _message(detail: Mapping[str, Any]) -> str:
    keys = [f"[{key}]" if isinstance(key, int) else f".{key}" for key in detail["loc"]]
    path = "".join(keys).removeprefix(".")
    if detail["type"] in ("missing", "missing_argument"):
        return f"lacks {path}"
    if detail["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        return f"holds {path}, which is not known"
    return f"{path} is {detail['input']!r:.80}; {detail['msg'].replace('Input should', 'it must')}"
