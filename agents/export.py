"""Write a run's weights without the rest: `python -m agents.export RUN --out results/weights/NAME`.

The new folder is a run that can be evaluated and filmed but not trained further: its config and the
weights of its policy, by default in half precision.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import tyro

from agents.scoring.run_scores import score_run
from agents.training.command_line import FOLDER, read_options, run_command
from glimpse_envs.core.files import check_writable, replacing
from glimpse_envs.evaluation.result import compare_table
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import Run, create_run, open_run
from glimpse_envs.evaluation.trust import trust

_POLICY = "policy/"


@dataclass(frozen=True)
class ExportConfig:
    """Write a run's weights, and compare its score with them to its own."""

    run: Annotated[Path, tyro.conf.Positional, FOLDER]
    """Folder of the run."""
    out: Annotated[Path, FOLDER]
    """Folder of the weights, results/weights/... for published ones."""
    half: bool = True
    """Write half precision. Rounding changes acts of which the policy is unsure, and in a world all
    that follows from them: use --no-half for small policies that act."""
    episodes: int = 1000
    """Maximum number of episodes of the comparison, at each scored level where there are
    levels."""
    split: Literal["validation", "test", "train"] = "validation"
    """Split of the comparison."""
    trust: tuple[str, ...] = ()
    """Third-party packages whose code the run may import, such as my_tasks."""


def export(run: Run, folder: Path, half: bool = True) -> Run:
    """Make `folder` a run of the weights of `run` alone, with `half` as float16.

    Raises:
        RunError: `folder` is there already, or `run` keeps no weights in its checkpoint.
        ValueError: `folder` cannot be made.
    """
    _check_new(folder)
    tensors, metadata = run.load_checkpoint()
    weights: dict[str, Any] = {}
    for name, tensor in tensors.items():
        if name.startswith(_POLICY):
            halved = half and tensor.dtype == np.float32 and np.abs(tensor).max(initial=0) < 6e4
            weights[name] = tensor.astype(np.float16) if halved else tensor
    if not weights:
        raise RunError(f"{run.checkpoint_path} holds no weights of a policy ({_POLICY}...)")
    exported = create_run(folder, {**run.config, "weights_only": True})
    kept = {name: value for name, value in metadata.items() if name in ("episodes", "seconds")}
    exported.save_checkpoint(weights, kept)
    return exported


def _check_new(folder: Path) -> None:
    if folder.exists():
        raise RunError(f"{folder} exists already; weights are written to a new folder: name one")
    check_writable("the folder", folder, folder=True)


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    config = read_options(ExportConfig, arguments, prog="python -m agents.export")
    run_command(lambda: _export(config))


def _export(config: ExportConfig) -> None:
    trust(*config.trust)
    run = open_run(config.run)
    _check_new(config.out)
    with replacing(config.out) as folder:
        exported = export(run, folder, config.half)
        size = exported.checkpoint_path.stat().st_size / 1e6
        found = {}
        for name, each in (("run", run), ("weights", exported)):
            scores = score_run(each, split=config.split, episodes=config.episodes, at_most=True)
            for score in scores:
                level = score.env_kwargs.get("length", "")
                found[f"{name} {level}".strip()] = score
    print(compare_table(found))
    print(f"{size:.2f} MB in {config.out}")


if __name__ == "__main__":
    main()
