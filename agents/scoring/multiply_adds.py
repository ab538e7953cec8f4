"""Multiply-adds by torch's flop counter, with formulas for operations that it leaves out.

Included are products of matrices, convolutions, attention, recurrent layers and the sampling of a
picture at a grid of places. Excluded are element-wise work (activations, normalisation,
exponentials such as the Gaussian filters' values, sums, maxima and means), NumPy and the
environment.
"""

from collections.abc import Callable
from math import prod
from types import TracebackType
from typing import Any, Self

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

aten = torch.ops.aten
Shape = tuple[int, ...]
FLOPS = 2  # a multiplication and an addition


def _vector_product(*shapes: Any, **_: Any) -> int:
    """A matrix (n, m), or a vector, with a vector: the largest of the shapes."""
    return FLOPS * max(prod(shape) for shape in shapes if isinstance(shape, torch.Size))


def _recurrent_layer(seen: Shape, from_input: Shape, from_state: Shape, *_: Any, **__: Any) -> int:
    """One layer, in one direction, over `seen` (T, B, inputs), with the weights of its gates."""
    return FLOPS * prod(seen[:-1]) * (prod(from_input) + prod(from_state))


def _fused_attention(query: Shape, key: Shape, value: Shape, *_: Any, **__: Any) -> int:
    count: Any = sdpa_flop_count  # torch leaves it untyped
    return int(count(query, key, value))


def _grid_sample(*_: Any, out_shape: Shape, **__: Any) -> int:
    """Bilinear: four pixels a value."""
    return FLOPS * 4 * prod(out_shape)


def _affine_grid(*_: Any, out_shape: Shape, **__: Any) -> int:
    """Each coordinate is a row of theta times (x, y, 1)."""
    return FLOPS * 3 * prod(out_shape)


FORMULAS: dict[Any, Callable[..., int]] = {
    aten.mv: _vector_product,
    aten.addmv: _vector_product,
    aten.dot: _vector_product,
    aten.mkldnn_rnn_layer: _recurrent_layer,
    aten._scaled_dot_product_flash_attention_for_cpu: _fused_attention,
    aten.grid_sampler_2d: _grid_sample,
    aten.affine_grid_generator: _affine_grid,
}
"""Operation -> its flops, of the shapes of what it takes; for torch 2.13 on the CPU."""


class MultiplyAdds:
    """Counts the multiply-adds of what torch does within its `with` block."""

    def __init__(self) -> None:
        # Torch leaves it untyped.
        self._counter: Any = FlopCounterMode(display=False, custom_mapping=FORMULAS)

    def __enter__(self) -> Self:
        self._counter.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._counter.__exit__(kind, error, trace)

    @property
    def total(self) -> int:
        """So far."""
        return int(self._counter.get_total_flops()) // FLOPS

    def in_layers(self, model: nn.Module) -> int:
        """Those of `model`'s layers: of its parts, however deep, that have parameters.

        The rest of `total` is what `model` does itself or in parts that learn nothing: of a model
        of soft attention, reading.
        """
        counts = self._counter.get_flop_counts()
        layers: list[str] = []
        for name, part in model.named_modules(prefix=type(model).__name__):
            apart = part is not model and not any(name.startswith(f"{n}.") for n in layers)
            if apart and name in counts and any(True for _ in part.parameters()):
                layers.append(name)
        return sum(sum(counts[name].values()) for name in layers) // FLOPS
