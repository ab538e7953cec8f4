"""A checkpoint as one file of safetensors, whose header holds metadata and a SHA-256 of it all."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.files import write_atomically
from glimpse_envs.evaluation.checksums import checksum_of
from glimpse_envs.evaluation.run_errors import CheckpointError

_CURE = "Put back a copy, or delete the file and train the run again."


def save_checkpoint(
    path: Path,
    tensors: Mapping[str, NDArray[Any]],
    metadata: Mapping[str, Any],
    files: Mapping[str, Any],
) -> None:
    """Replace the checkpoint at `path` in one move.

    Args:
        path: of the file.
        tensors: name -> array of any shape.
        metadata: of the training, as JSON has it.
        files: checksums of the run's other files, as JSON has them.
    """
    from safetensors.numpy import save

    arrays = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    text, known = json.dumps(metadata), json.dumps(files)
    header = {"metadata": text, "files": known, "sha256": checksum_of(arrays, text + known)}
    write_atomically(path, save(arrays, metadata=header))


def load_checkpoint(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any], dict[str, Any]]:
    """Return the tensors, metadata and checksums of files ({} where it has none) at `path`, tensors
    of any shape.

    Raises:
        CheckpointError: the file is truncated or damaged in any bit.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(
            f"{path} is truncated or damaged: it is not whole safetensors ({error}). {_CURE}"
        ) from error
    if not {"metadata", "sha256"} <= header.keys():
        raise CheckpointError(
            f"{path} was not saved by a run: its header should hold 'metadata' and 'sha256', it "
            f"holds {sorted(header)}. {_CURE}"
        )
    files = header.get("files", "")
    found = checksum_of(tensors, header["metadata"] + files)
    if found != header["sha256"]:
        raise CheckpointError(
            f"{path} is damaged: its SHA-256 is {found}, not {header['sha256']}. {_CURE}"
        )
    return tensors, json.loads(header["metadata"]), json.loads(files) if files else {}
