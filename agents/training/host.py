"""Settings of the process that trains."""

import ctypes
import sys

import torch

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt, in <malloc.h>
_MOST_FOR_MMAP, _MOST = 2**25, 2**31 - 1


def settle_host(threads: int) -> None:
    """Compute on `threads` CPU threads, with denormal numbers as 0, and keep memory that is freed.

    An update frees what the next one takes again: if the C library gave it back in between, its
    pages would be cleared anew. Blocks of less than 32 MiB are kept, by the whole process and until
    its end, so that it never shrinks.
    """
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # of glibc, not of every C library
        if mallopt is not None:
            mallopt(_MMAP_THRESHOLD, _MOST_FOR_MMAP)
            mallopt(_TRIM_THRESHOLD, _MOST)
