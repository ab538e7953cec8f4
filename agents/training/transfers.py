"""Asynchronous copies between the host and a GPU, awaited only when they are needed."""

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glimpse_envs.core.threads import for_chunks

BYTES_AT_ONCE = 2**19
"""Of the pieces that threads copy: much above what it costs to hand one out."""


def to_device(array: NDArray | Tensor, like: Tensor) -> Tensor:
    """`array` of the host, of any shape, on the device of `like` and of its dtype; to a GPU from
    pinned memory, without waiting."""
    values = torch.as_tensor(array)
    if like.is_cuda:
        values = _pinned(values)
    return values.to(like.device, like.dtype, non_blocking=True)


def _pinned(values: Tensor) -> Tensor:
    """A copy of `values`, of any shape, in pinned memory, made on the environments' threads."""
    if values.ndim == 0:
        return values.pin_memory()
    pinned = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
    source, to = values.detach().numpy(), pinned.numpy()

    def copy(rows: NDArray) -> None:
        some = slice(rows[0], rows[-1] + 1)
        to[some] = source[some]

    of_row = max(1, values.nbytes // max(1, len(values)))
    for_chunks(copy, np.arange(len(values)), max(1, BYTES_AT_ONCE // of_row))
    return pinned


class ToHost:
    """Tensors, name -> (B, ...), on their way to the host."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        self._arrived: torch.cuda.Event | None = None
        self._tensors = {name: _to_host(tensor) for name, tensor in tensors.items()}
        if any(tensor.is_cuda for tensor in tensors.values()):
            self._arrived = torch.cuda.Event()  # type: ignore[no-untyped-call]  # untyped in torch
            self._arrived.record()

    def arrays(self) -> dict[str, NDArray]:
        """The arrays, once they have arrived; whole numbers as int64."""
        if self._arrived is not None:
            self._arrived.synchronize()
        arrays = {name: tensor.numpy() for name, tensor in self._tensors.items()}
        return {n: a if a.dtype.kind == "f" else a.astype(np.int64) for n, a in arrays.items()}


def _to_host(tensor: Tensor) -> Tensor:
    if not tensor.is_cuda:
        return tensor
    host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    return host.copy_(tensor, non_blocking=True)
