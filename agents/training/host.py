"""Settings of the process that trains."""

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from glimpse_envs.evaluation.provenance import hardware

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt, in <malloc.h>
_MOST = 2**31 - 1
_MOST_OF_OLD = 2**25  # older C libraries refuse more


def settle_host(threads: int) -> None:
    """Compute on `threads` CPU threads, with denormal numbers as 0, and keep memory that is freed
    (see `keep_memory`)."""
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    keep_memory()


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Compute on `count` threads of torch, and afterwards on as many as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def hardware_with(device: str) -> str:
    """The machine's processor and cores, after the name of its GPU where the model is on one."""
    if torch.device(device).type != "cuda":
        return hardware()
    return f"{torch.cuda.get_device_name(device)}, {hardware()}"


def keep_memory() -> None:
    """Keep memory that is freed, by the whole process and until its end, so that it never shrinks.

    An update, or a batch that is played, frees what the next one takes again: if the C library gave
    it back in between, its pages would be cleared anew. Blocks of less than 2 GiB are kept (32 MiB
    by older C libraries).
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # of glibc, not of every C library
        if mallopt is not None:
            if not mallopt(_MMAP_THRESHOLD, _MOST):
                mallopt(_MMAP_THRESHOLD, _MOST_OF_OLD)
            mallopt(_TRIM_THRESHOLD, _MOST)
