"""The fastest precision of matrix products on this machine."""

from typing import Any, Literal

import torch

Precision = Literal["float32", "bfloat16"]


def fastest_precision() -> Precision:
    """bfloat16 where the processor multiplies it natively, else float32."""
    # Older versions of torch lack the function.
    capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return "bfloat16" if capabilities.get("avx512_bf16") else "float32"
