"""Multiply-adds by torch's flop counter, with formulas for operations that it leaves out.

Included are products of matrices, convolutions, attention, recurrent layers and the sampling of a
picture at a grid of places. Excluded are element-wise work (activations, normalisation,
exponentials such as the Gaussian filters' values, sums, maxima and means), NumPy and the
environment.

Fused kernels of attention and of transformers are switched off while counting: the counter sees
nothing in them. An operation on several matrices for which there is no formula is an
error, so that none counts as nothing.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from math import prod
from typing import Any

import torch
from torch import Tag, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

aten = torch.ops.aten
Shape = tuple[int, ...]
FLOPS = 2  # a multiplication and an addition


def _vector_product(*shapes: Any, **_: Any) -> int:
    """A matrix (n, m), or a vector, with a vector: the largest of the shapes."""
    return FLOPS * max(prod(shape) for shape in shapes if isinstance(shape, torch.Size))


def _recurrent_layer(seen: Shape, from_input: Shape, from_state: Shape, *_: Any, **__: Any) -> int:
    """One layer, in one direction, over `seen` (T, B, inputs), with the weights of its gates."""
    return FLOPS * prod(seen[:-1]) * (prod(from_input) + prod(from_state))


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
    aten.grid_sampler_2d: _grid_sample,
    aten.affine_grid_generator: _affine_grid,
}
"""Operation -> its flops, from the shapes of its arguments; for torch 2.13 on the CPU."""

MOVES = frozenset(
    {
        *(aten.cat, aten.stack, aten.copy_, aten.where, aten.scatter, aten.scatter_),
        *(aten.index_put, aten.index_put_, aten._index_put_impl_, aten.slice_scatter),
        *(aten.index_copy, aten.index_copy_),
    }
)
"""Operations that take several matrices and multiply none, besides torch's pointwise ones."""


class _Refusal(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it untyped
    """Refuses operations on several matrices that are in none of `known`, `MOVES` and torch's
    pointwise ones.

    Raises:
        NotImplementedError: it names the operation.
    """

    def __init__(self, known: Collection[Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self._known = known

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        packet = getattr(func, "overloadpacket", func)
        if packet not in self._known and packet not in MOVES and Tag.pointwise not in func.tags:
            shapes = [
                tuple(leaf.shape)
                for leaf in tree_leaves((args, kwargs))
                if isinstance(leaf, torch.Tensor) and leaf.ndim > 1 and leaf.is_floating_point()
            ]
            if len(shapes) > 1:
                raise NotImplementedError(
                    f"the multiply-adds of {func} on {', '.join(map(str, shapes))} are not known: "
                    "add its formula to FORMULAS of agents/scoring/multiply_adds.py, or, where it "
                    "multiplies no matrices, its name to MOVES"
                )
        return func(*args, **kwargs)


@contextmanager
def _plain_kernels() -> Iterator[None]:
    """Attention and transformers as single products, which the counter sees."""
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


@contextmanager
def multiply_adds() -> Iterator[Callable[[], int]]:
    """Yield a function that returns the multiply-adds of what torch has done in the block.

    Raises:
        NotImplementedError: within the block, at an operation on several matrices that has no
            formula.
    """
    # Torch leaves it untyped.
    counter: Any = FlopCounterMode(display=False, custom_mapping=FORMULAS)
    # The refusal is outside the counter: it sees what the counter has taken apart.
    with _plain_kernels(), _Refusal(counter.flop_registry), counter:
        yield lambda: int(counter.get_total_flops()) // FLOPS


@contextmanager
def of_layers(total: Callable[[], int], model: nn.Module) -> Iterator[Callable[[], int]]:
    """Yield a function that returns how much of `total` is of `model`'s layers: of its parts,
    however deep, that have parameters.

    The rest is what `model` does itself or in parts that learn nothing: of a model of soft
    attention, reading.
    """
    spent = depth = 0

    def begin(*_: Any) -> None:
        nonlocal spent, depth
        spent -= total() if depth == 0 else 0
        depth += 1

    def end(*_: Any) -> None:
        nonlocal spent, depth
        depth -= 1
        spent += total() if depth == 0 else 0

    with ExitStack() as hooks:
        for part in model.modules():
            if part is not model and any(True for _ in part.parameters()):
                hooks.enter_context(part.register_forward_pre_hook(begin))
                hooks.enter_context(part.register_forward_hook(end))
        yield lambda: spent
