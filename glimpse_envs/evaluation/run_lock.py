"""Only one process at a time writes a run."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from glimpse_envs.core.files import check_writable
from glimpse_envs.evaluation.run_errors import RunError

_LEFTOVER = re.compile(r"\.(config\.json|metrics\.jsonl|checkpoint\.safetensors|model\.zip)-\w+")


class RunBusyError(RunError):
    """Another process writes the run."""


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Keep other processes from writing the run in `folder`, which is made where it is missing.

    The lock ends with the process, even if it is killed. Temporary files of a process that was
    killed are removed.

    Raises:
        RunBusyError: another process, or another training of this one, writes the run.
        ValueError: there cannot be such a folder, or it cannot be written to.
    """
    check_writable("the run", folder, folder=True)
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock", timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise RunBusyError(
            f"{folder} is being trained by another process. Wait for its end, stop it by Ctrl-C, "
            "or give another folder."
        ) from error
    try:
        for path in folder.iterdir():
            if _LEFTOVER.fullmatch(path.name):
                shutil.rmtree(path)
        yield
    finally:
        lock.release()
