"""Which records are of the same training run: the identity of a run, and the settings behind it."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from typing import Any

from glimpse_envs.evaluation.record import Record

# Entries of a config that differ in seed, machine or supervision, not in what was trained.
INCIDENTAL = frozenset(
    {
        *("seed", "device", "threads", "log_every", "checkpoint_every"),
        *("validate_every", "validation_episodes"),
    }
)


def settings_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a config that define what was trained, without `INCIDENTAL`; nested ones by
    path, such as "network.core". Options that are off (False or None) are left out."""
    return _switched_on(_entries(config))


def settings_of_all(records: Iterable[Record]) -> list[dict[str, Any]]:
    """`settings_of` each record's config, so that they can be compared.

    An option that a record lacks, because it was added later, has the default with which other
    records of the same algorithm were made, if all of these agree on it.
    """
    records = list(records)
    found: dict[str, dict[str, list[Any]]] = {}
    for record in records:
        for name, value in _entries(record.defaults).items():
            found.setdefault(record.algorithm, {}).setdefault(name, []).append(value)
    agreed = {
        algorithm: {name: v[0] for name, v in values.items() if all(x == v[0] for x in v)}
        for algorithm, values in found.items()
    }
    return [
        _switched_on(agreed.get(record.algorithm, {}) | _entries(record.config))
        for record in records
    ]


def _entries(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, value in config.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping):
            entries |= _entries(value, f"{path}.")
        elif path not in INCIDENTAL:
            entries[path] = value
    return entries


def _switched_on(entries: Mapping[str, Any]) -> dict[str, Any]:
    return {name: v for name, v in entries.items() if v is not None and v is not False}


def digest(value: object) -> str:
    """Eight hexadecimal digits that identify a value which JSON can hold."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:8]


def identity(record: Record) -> str:
    """Eight hexadecimal digits that identify a training run."""
    return _identity(record, settings_of(record.config))


def same_run(record: Record, other: Record) -> bool:
    """Whether two records are of one training run, even if options were added in between."""
    first, second = identities([record, other])
    return first == second


def identities(records: Collection[Record]) -> list[str]:
    """The identity of each record's run, so that they can be compared even if options were added in
    between."""
    return list(map(_identity, records, settings_of_all(records)))


def _identity(record: Record, settings: dict[str, Any]) -> str:
    trained = [record.env_id, record.env_kwargs, asdict(record.model), record.budget]
    return digest([*trained, record.levels, record.seed, settings])
