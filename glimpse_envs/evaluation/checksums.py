"""Checksums of a run's other files, kept in its checkpoint, so that damage to them is found."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray


def checksum_of(tensors: Mapping[str, NDArray[Any]], text: str) -> str:
    """SHA-256 over a text and each tensor's name, dtype, shape and values."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"\n{name} {tensor.dtype} {tensor.shape}\n".encode())
        digest.update(tensor.tobytes())
    return digest.hexdigest()


def checksums_of(config: Path, metrics: Path, next_config: bytes | None) -> dict[str, Any]:
    """SHA-256 of config.json, of its next content, if there is one, and of the complete lines of
    the metrics, with their number of bytes.

    Raises:
        OSError: `config` cannot be read.
    """
    configs = [config.read_bytes(), next_config]
    content = _bytes_of(metrics)
    lines = content[: content.rfind(b"\n") + 1]
    return {
        "config": [_sha256(config) for config in configs if config is not None],
        "metrics": {"bytes": len(lines), "sha256": _sha256(lines)},
    }


def changed_file(known: Mapping[str, Any], config: Path, metrics: Path) -> Path | None:
    """The file that does not fit `checksums_of`; lines added to the metrics since are allowed."""
    if _sha256(_bytes_of(config)) not in known["config"]:
        return config
    lines = _bytes_of(metrics)[: known["metrics"]["bytes"]]
    return None if _sha256(lines) == known["metrics"]["sha256"] else metrics


def _bytes_of(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
