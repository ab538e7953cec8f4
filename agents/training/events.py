"""A run's metrics and config as TensorBoard's events."""

import json
from collections.abc import Mapping
from typing import Self

from torch.utils.tensorboard import SummaryWriter

from glimpse_envs.evaluation.runs import Run, RunError


class Events:
    """Writer of the events of `run`, as a context manager.

    Args:
        run: an open run.
        step: where it goes on; later events of a process that was killed are hidden.
    """

    def __init__(self, run: Run, step: int) -> None:
        self.folder = run.folder / "tensorboard"
        self.writer = SummaryWriter(str(self.folder), purge_step=step)
        # Four spaces make it preformatted Markdown.
        text = "\n".join(f"    {line}" for line in json.dumps(run.config, indent=2).splitlines())
        self.writer.add_text("config", text, step)
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.folder.is_dir():
            self.writer.close()
