"""A run's metrics and config as TensorBoard's events, with a line in its table of settings."""

import json
from collections.abc import Mapping
from typing import Any

from torch.utils.tensorboard import SummaryWriter, summary

from agents.training.checkpoints import leaves_of
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import Run


class Events:
    """Writer of the events of `run`; a `agents.training.loggers.Logger`.

    Args:
        run: an open run.
        step: at which the run goes on; later events, of a process that was killed, are hidden.
    """

    def __init__(self, run: Run, step: int) -> None:
        self.folder = run.folder / "tensorboard"
        self.writer = SummaryWriter(str(self.folder), purge_step=step)
        # Four spaces make it preformatted Markdown.
        text = "\n".join(f"    {line}" for line in json.dumps(run.config, indent=2).splitlines())
        self.writer.add_text("config", text, step)
        self._write_settings(run.config["config"])
        self.writer.flush()

    def add(self, line: Mapping[str, float], step: int) -> None:
        """Write a line of metrics; of the error, also the share of episodes that were solved.

        Raises:
            RunError: the folder was deleted, which TensorBoard's own thread would not survive.
        """
        if not self.folder.is_dir():
            raise RunError(f"{self.folder} was deleted while the run was trained.")
        solved = {"solved": 1.0 - line["error"]} if "error" in line else {}
        for name, value in {**line, **solved}.items():
            self.writer.add_scalar(name, value, step)

    def _write_settings(self, config: Mapping[str, object]) -> None:
        """Write the config for the tab HParams, which shows with it the latest validation."""
        plain = {
            name: value if isinstance(value, (bool, int, float, str)) else json.dumps(value)
            for name, value in leaves_of(dict(config), ".").items()
        }
        shown = dict.fromkeys(("validation/success", "validation/return"), 0.0)  # names alone
        make: Any = summary.hparams  # which has no types, nor has what adds its entries
        writer: Any = self.writer
        for entry in make(plain, shown):
            writer.file_writer.add_summary(entry)

    def close(self) -> None:
        """Write what is left."""
        if self.folder.is_dir():
            self.writer.close()
