"""A run is a folder: its config, its metrics and its latest checkpoint.

    RUN/config.json              what was run: policy, command, config, seed, versions, revision
    RUN/metrics.jsonl            one JSON object per line, each with an integer "step"
    RUN/checkpoint.safetensors   the latest tensors, metadata and their SHA-256
    RUN/tensorboard/             events, written by the trainer

A run stays readable if it is killed at any moment: whole files are replaced in one move, and at
most the last line of the metrics is torn, which reading leaves out. Only one process writes a run
(`glimpse_envs.evaluation.run_lock`); any may read it. A checkpoint holds the checksums of config
and metrics at its time, so that damage to them is found when it is loaded.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from glimpse_envs import __version__
from glimpse_envs.core.files import naming_file, write_atomically
from glimpse_envs.evaluation.checkpoints import load_checkpoint, save_checkpoint
from glimpse_envs.evaluation.checksums import changed_file, checksums_of
from glimpse_envs.evaluation.metric_lines import Number, drop_torn_line, json_number, whole_lines
from glimpse_envs.evaluation.provenance import (
    CHECKOUT,
    command_line,
    git_revision,
    hardware,
    versions,
)
from glimpse_envs.evaluation.run_errors import CheckpointError, RunError
from glimpse_envs.evaluation.run_pictures import (
    lost_pictures,
    own_pictures,
    replaced_pictures,
    unfit_pictures,
)
from glimpse_envs.evaluation.trust import check_trusted, own_packages, trust_named

FORMAT = 1
"""Version of the folder's layout; `open_run` refuses any other."""


@dataclass(frozen=True)
class Run:
    """An open run: `folder`, and `config`, the whole of its config.json."""

    folder: Path
    config: dict[str, Any]

    @property
    def config_path(self) -> Path:
        return self.folder / "config.json"

    @property
    def checkpoint_path(self) -> Path:
        return self.folder / "checkpoint.safetensors"

    @property
    def metrics_path(self) -> Path:
        return self.folder / "metrics.jsonl"

    @property
    def _files(self) -> tuple[Path, Path]:
        return self.config_path, self.metrics_path

    @property
    def has_checkpoint(self) -> bool:
        return self.checkpoint_path.exists()

    def check_pictures(self, source: str | None = None) -> None:
        """Raise a `RunError` where the user's own pictures, those of `source` or the run's, have
        other classes than those of the training, or are grey where they were coloured."""
        wrong = unfit_pictures(self.config, source)
        if wrong is not None:
            raise RunError(f"{self.folder}: {wrong}")

    def pictures_replaced(self, source: str | None = None) -> bool:
        """Whether the user's own pictures, those of `source` or the run's, are others than at the
        beginning of the training."""
        return replaced_pictures(self.config, source)

    def with_pictures(self, source: str | None) -> Run:
        """Return the run, reading from `source` if its own pictures cannot be read any more.

        Raises:
            RunError: they cannot be read, and `source` is None.
        """
        lost = lost_pictures(self.config)
        if lost is None:
            return self
        if source is None:
            raise RunError(
                f"The pictures that {self.folder} was trained on cannot be read: {lost} If they "
                "were moved, name their place: --env-kwargs source=folder:PATH in agents.evaluate, "
                "--source folder:PATH in agents.compare and agents.report, load_policy(RUN, "
                "source=...) in Python."
            )
        settings = self.config["config"]
        moved = {**settings, "env_kwargs": {**settings["env_kwargs"], "source": source}}
        return Run(self.folder, {**self.config, "config": moved})

    def append_metrics(self, step: int, values: Mapping[str, Number]) -> None:
        """Add one line of metrics; NaN and the infinities, which JSON lacks, become null.

        Raises:
            ValueError: `values` hold "step".
        """
        if "step" in values:
            raise ValueError("values hold 'step', which is an argument of its own.")
        record = {"step": int(step)} | {name: json_number(v) for name, v in values.items()}
        line = json.dumps(record, allow_nan=False) + "\n"
        drop_torn_line(self.metrics_path)
        with naming_file(self.metrics_path), self.metrics_path.open("ab", buffering=0) as file:
            file.write(line.encode())

    def read_metrics(self) -> list[dict[str, float]]:
        """Return the metrics in the order written, null as NaN; [] before the first line.

        A last line without its newline was torn by a kill and is left out. Raises `RunError` where
        any other line is damaged.
        """
        return [
            {name: math.nan if value is None else value for name, value in record.items()}
            for _, record in whole_lines(self.metrics_path)
        ]

    def cut_metrics(self, step: int) -> None:
        """Drop every line after `step`, so that a resumed run writes each step once."""
        kept = [line for line, record in whole_lines(self.metrics_path) if record["step"] <= step]
        if self.metrics_path.exists():
            write_atomically(self.metrics_path, b"".join(kept))

    def replace_config(self, config: Mapping[str, Any]) -> Run:
        """Replace config.json, and return the run with it."""
        text = _config_text(config)
        if self.has_checkpoint:
            # The checkpoint knows both at first: a kill between the moves must not look like damage
            self.save_checkpoint(*self.load_checkpoint(), next_config=text)
        write_atomically(self.config_path, text)
        return Run(self.folder, json.loads(text))

    def save_checkpoint(
        self,
        tensors: Mapping[str, NDArray[Any]],
        metadata: Mapping[str, Any],
        *,
        next_config: bytes | None = None,
    ) -> None:
        """Replace the checkpoint in one move by `tensors` (any shapes) and JSON-able `metadata`.

        Args:
            next_config: a further content of config.json that fits the checkpoint.

        Raises:
            RunError: config.json does not exist any more.
        """
        try:
            files = checksums_of(*self._files, next_config)
        except FileNotFoundError as error:
            raise RunError(f"{self.config_path} was deleted while the run was trained.") from error
        save_checkpoint(self.checkpoint_path, tensors, metadata, files)

    def load_checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return (tensors, metadata) as last saved.

        Raises:
            CheckpointError: there is no checkpoint, or it is truncated or damaged in any bit.
            RunError: config.json or metrics.jsonl was changed since.
        """
        path = self.checkpoint_path
        if not path.exists():
            raise CheckpointError(
                f"{self.folder} has no checkpoint yet: {path.name} is not there. "
                "Train the run until it saves one."
            )
        tensors, metadata, files = load_checkpoint(path)
        changed = changed_file(files, *self._files) if files else None
        if changed is not None:
            raise RunError(
                f"{changed} was changed or deleted since the checkpoint was saved. Put back a "
                "copy, or train again."
            )
        return tensors, metadata


def create_run(folder: str | Path, config: Mapping[str, Any]) -> Run:
    """Make `folder` a new run and return it. The packages that `config` names are trusted from then
    on.

    Args:
        folder: of the run; it is made where it is not there.
        config: at least "policy", the "module:Class" that reads the run's checkpoints, and by
            convention "config" (the config dataclass as JSON) and "seed". "command", "versions",
            "revision", "hardware" and "created" are added where they are missing, and the
            "class_names", "image_shape" and "fingerprint" of a user's own pictures.

    Raises:
        RunError: the folder is a run already, or holds files of one.
        ValueError: the policy is not written "module:Class".
    """
    folder = Path(folder)
    _split_policy(config.get("policy"))
    if (folder / "config.json").exists():
        raise RunError(
            f"{folder} is a run already. Resume it (--resume, in Python resume=True), delete it, "
            "or give a folder that is not there."
        )
    for name in ("checkpoint.safetensors", "model.zip", "metrics.jsonl"):
        if (folder / name).exists():
            raise RunError(
                f"{folder} holds a {name} but no config.json. Put back a copy of its config.json "
                "and resume it, or give another folder."
            )
    trust_named(config)
    provenance = {
        "command": command_line(),
        "versions": versions(own_packages(config)),
        "revision": git_revision(),
        "hardware": hardware(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    text = _config_text({**provenance, **own_pictures(config), **config, "format": FORMAT})
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "config.json", text)
    # Read back, so that a new run and the same run opened later hold the same config.
    return Run(folder, json.loads(text))


def open_run(folder: str | Path) -> Run:
    """Open the run in `folder`.

    Raises:
        RunError: the folder is missing, holds no config.json or a damaged one, or was written in
            another format.
        TrustError: it names code of a package that is not trusted.
    """
    folder = Path(folder)
    path = folder / "config.json"
    if not folder.is_dir():
        found = "it is a file, not a folder" if folder.exists() else "the folder does not exist"
        raise RunError(f"There is no run at {folder}: {found}.")
    if not path.exists():
        raise RunError(
            f"{folder} is not a run: it holds no config.json. Give the run's own folder."
        )
    try:
        config = json.loads(path.read_bytes())
    except ValueError as error:
        raise RunError(f"{path} is damaged, it is not JSON ({error}). Put back a copy.") from error
    if not isinstance(config, dict):
        raise RunError(f"{path} is damaged: it should hold an object, not {config!r:.40}.")
    if config.get("format") != FORMAT:
        raise RunError(
            f"{path} is of format {config.get('format')!r}; glimpse_envs {__version__} reads "
            f"format {FORMAT}. Use the glimpse_envs that wrote it, or train again."
        )
    check_trusted(config, path)
    return Run(folder, config)


def load_policy(run: Run | str | Path, *, source: str | None = None, **kwargs: Any) -> Any:
    """Load the trained policy of a run.

    The run's "policy", `"module:Class"`, is imported and `Class.from_run(run, **kwargs)` returned,
    so evaluation serves every learner without importing any.

    Args:
        run: its folder, or the open run.
        source: of the pictures, where those of the training were moved since.
        **kwargs: of the policy's `from_run`, such as `device`.

    Raises:
        RunError: the run or its policy is missing, or the pictures that it was trained on cannot be
            read, or have other classes now.
    """
    run = (run if isinstance(run, Run) else open_run(run)).with_pictures(source)
    run.check_pictures(source)
    try:
        module_name, class_name = _split_policy(run.config.get("policy"))
    except ValueError as error:
        raise RunError(f"{run.folder / 'config.json'}: {error}") from error
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise RunError(
            f"The policy of {run.folder} is {module_name}:{class_name}, and {module_name} cannot "
            f"be imported ({error}). Install what holds it, or start from the checkout's root."
            f"{_hiding(module_name, error)}"
        ) from error
    policy = getattr(module, class_name, None)
    if policy is None or not hasattr(policy, "from_run"):
        raise RunError(
            f"The policy of {run.folder} is {module_name}:{class_name}, but {module_name} has no "
            f"class {class_name} with a method from_run(run). Was it renamed since the run began?"
        )
    return policy.from_run(run, **kwargs)


def _hiding(module_name: str, error: ImportError) -> str:
    """What to do where a folder of the user's, in the working directory, hides a package of this
    checkout that has the module; else nothing."""
    package = module_name.partition(".")[0]
    found = [Path(place) for place in getattr(sys.modules.get(package), "__path__", ())]
    lacking = isinstance(error, ModuleNotFoundError) and str(error.name).startswith(f"{package}.")
    if not lacking or CHECKOUT in (place.parent for place in found):
        return ""
    hiding = next((place for place in found if place.parent == Path.cwd()), None)
    if hiding is None or not (CHECKOUT / package).is_dir():
        return ""
    return f" Your folder {hiding} hides the checkout's: start by `python -P`."


def _split_policy(policy: object) -> tuple[str, str]:
    match policy.split(":") if isinstance(policy, str) else None:
        case [module_name, class_name] if module_name and class_name.isidentifier():
            return module_name, class_name
    raise ValueError(f"'policy' should be written \"module:Class\", it is {policy!r}.")


def _config_text(config: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(config, indent=2)}\n".encode()
