"""The fastest precision of matrix products on this machine, tensors kept out of it, and exponents
kept from underflow."""

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import torch
from torch import Tensor

Precision = Literal["auto", "float32", "bfloat16"]
UsedPrecision = Literal["float32", "bfloat16"]

LEAST_EXPONENT = -50.0
"""Lower bound of a Gaussian's exponent: torch's exponential takes ten times as long where its
result underflows, as it would at most places that lie far from a narrow Gaussian's middle."""


def fastest_precision(device: str = "cpu") -> UsedPrecision:
    """bfloat16 where the processor, or the CUDA device, multiplies it faster, else float32.

    Intel's processors multiply bfloat16 fast by AMX; by AVX-512 alone, as on virtual machines that
    hide AMX, they take longer than in float32.
    """
    if torch.device(device).type == "cuda":
        faster = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        has = _capabilities()
        by_vectors = has.get("avx512_bf16") and "Intel" not in has.get("cpu_name", "")
        faster = bool(has.get("amx_bf16") or by_vectors)
    return "bfloat16" if faster else "float32"


def _capabilities() -> dict[str, Any]:
    """The processor's; older versions of torch do not tell them."""
    found: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return found


def is_emulated(precision: str, device: str = "cpu") -> bool:
    """Whether products in `precision` are known to take many times as long as in float32: bfloat16
    on an x86 processor without instructions for it."""
    known = hasattr(torch.cpu, "get_capabilities") and platform.machine() in ("x86_64", "AMD64")
    on_cpu = torch.device(device).type == "cpu"
    return precision == "bfloat16" and known and on_cpu and not _capabilities().get("avx512_bf16")


@contextmanager
def autocast(device: torch.device, precision: torch.dtype) -> Iterator[None]:
    """Products in `precision`, sums in float32."""
    if precision == torch.float32:
        yield
        return
    with torch.autocast(device.type, dtype=precision):
        yield


def present_precision(device: torch.device) -> torch.dtype:
    """That of products within the present `autocast`; float32 outside of one."""
    inside = torch.is_autocast_enabled(device.type)
    return torch.get_autocast_dtype(device.type) if inside else torch.float32


def wide(tensor: Tensor) -> Tensor:
    """`tensor`, of any shape, in float32 at least: half precision ends at 65,504, with 3
    digits."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))
