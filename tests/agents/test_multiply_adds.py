"""Multiply-adds, held against counts by hand."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from agents.policy.cores import make_core
from agents.policy.networks import NetworkConfig
from agents.scoring.multiply_adds import multiply_adds, of_layers
from baselines.attention import attend

SIZES = NetworkConfig(
    what_units=5, where_units=3, glimpse_units=7, core_units=6, head_units=4, core="gru"
)


def counted(work: Any) -> int:
    with multiply_adds() as counter, torch.no_grad():
        work()
    return counter()


def attention_over(keys: int, size: int, rows: int) -> None:
    """`attend` by the fused kernel: values as large as keys, no weights asked for."""
    cells = torch.randn(rows, keys, size)
    attend(torch.randn(rows, size), cells, cells)


def transformer(layers: int) -> nn.TransformerEncoder:
    """Of 8 numbers a word, 2 heads and 16 hidden units, in eval mode."""
    layer = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True)
    return nn.TransformerEncoder(layer, layers).eval()


# Of 3 texts of 10 words: queries, keys, values and outputs; scores and weighing; two layers.
TRANSFORMER = 3 * (10 * 4 * 8 * 8 + 2 * 10 * 10 * 8 + 10 * 2 * 8 * 16)

X, H = torch.randn(3, 5), torch.randn(3, 7)
WORDS, HEADS = torch.randn(10, 3, 8), torch.randn(3, 2, 10, 4)

CORES = {"rnn": 1, "gru": 3, "lstm": 4}  # and their gates

BY_HAND = {
    "linear": (lambda: nn.Linear(5, 2)(X), 3 * 5 * 2),
    "matrix times vector": (lambda: X @ torch.randn(5), 3 * 5),
    "dot": (lambda: torch.randn(5) @ torch.randn(5), 5),
    "convolution": (lambda: nn.Conv2d(2, 8, 3)(torch.randn(3, 2, 9, 6)), 3 * 7 * 4 * 8 * 2 * 9),
    "GRU cell": (lambda: nn.GRUCell(5, 7)(X, H), 3 * 3 * 7 * (5 + 7)),
    "LSTM cell": (lambda: nn.LSTMCell(5, 7)(X, (H, H)), 3 * 4 * 7 * (5 + 7)),
    "GRU": (lambda: nn.GRU(5, 7)(torch.randn(4, 3, 5)), 4 * 3 * 3 * 7 * (5 + 7)),
    "LSTM": (lambda: nn.LSTM(5, 7)(torch.randn(4, 3, 5)), 4 * 3 * 4 * 7 * (5 + 7)),
    "LSTM, two layers": (
        lambda: nn.LSTM(5, 7, num_layers=2)(torch.randn(4, 3, 5)),
        4 * 3 * 4 * 7 * (5 + 7 + 7 + 7),
    ),
    # Each of 3 rows scores 9 keys of 4 numbers and weighs 9 values of 4 numbers.
    "fused attention": (lambda: attention_over(9, 4, 3), 3 * 2 * 9 * 4),
    "transformer": (lambda: transformer(2)(WORDS.transpose(0, 1)), 2 * TRANSFORMER),
    "attention of many heads": (
        lambda: nn.MultiheadAttention(8, 2).eval()(WORDS, WORDS, WORDS),
        3 * (10 * 4 * 8 * 8 + 2 * 10 * 10 * 8),
    ),
    "fused attention with a mask": (
        lambda: F.scaled_dot_product_attention(HEADS, HEADS, HEADS, is_causal=True),
        3 * 2 * 2 * 10 * 10 * 4,
    ),
    "bilinear reading": (
        lambda: F.grid_sample(torch.randn(3, 2, 9, 9), torch.rand(3, 4, 5, 2), align_corners=False),
        3 * 2 * 4 * 5 * 4,
    ),
    # x and y of each of 4 x 5 places: three products each.
    "affine grid": (
        lambda: F.affine_grid(torch.randn(3, 2, 3), [3, 1, 4, 5], align_corners=False),
        3 * 4 * 5 * 2 * 3,
    ),
    "work entry by entry": (lambda: (X * 2 + X).tanh().sum(), 0),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_operations_by_hand(name: str) -> None:
    work, expected = BY_HAND[name]
    assert counted(work) == expected


def test_fused_kernels_are_off_only_while_counting() -> None:
    seen = [torch.backends.mha.get_fastpath_enabled()]

    def work() -> None:
        seen.append(torch.backends.mha.get_fastpath_enabled())
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        counted(work)
    assert [*seen, torch.backends.mha.get_fastpath_enabled()] == [True, False, True]


def test_an_operation_on_matrices_without_a_formula_is_refused_by_name() -> None:
    with pytest.raises(NotImplementedError, match=r"aten\._cdist_forward.*\(3, 5\).*FORMULAS"):
        counted(lambda: torch.cdist(X, X))
    assert counted(lambda: torch.cat([X, X])) == 0


@pytest.mark.parametrize(("core", "gates"), CORES.items())
def test_cores_by_hand(core: Any, gates: int) -> None:
    cell = make_core(NetworkConfig(core=core, core_units=7), inputs=5)
    assert counted(lambda: cell(X, cell.initial_state(3))) == 3 * gates * 7 * (5 + 7)


class Mixed(nn.Module):
    """A layer, a part that learns nothing, and work of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleDict({"deep": nn.Sequential(nn.Linear(5, 4), nn.Linear(4, 3))})
        self.reader = nn.Bilinear(1, 1, 1)  # never called
        self.plain = Product()

    def forward(self, x: Tensor) -> Tensor:
        return self.plain(self.layers["deep"](x)) @ torch.ones(2, 11)


class Product(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x @ torch.ones(3, 2)


def test_layers_are_told_from_the_rest() -> None:
    model = Mixed()
    with multiply_adds() as counter, of_layers(counter, model) as layers, torch.no_grad():
        model(X)
    assert layers() == 3 * (5 * 4 + 4 * 3)
    assert counter() - layers() == 3 * (3 * 2 + 2 * 11)
    with multiply_adds(), torch.no_grad():
        model(X)
    assert layers() == 3 * (5 * 4 + 4 * 3), "only within its block"


def test_a_part_of_a_layer_that_is_called_apart_is_a_layer_too() -> None:
    model = Mixed()
    deep = model.layers["deep"]
    assert isinstance(deep, nn.Sequential)
    with multiply_adds() as counter, of_layers(counter, model) as layers, torch.no_grad():
        model(X)
        deep[0](X)
    assert layers() == 3 * (5 * 4 + 4 * 3) + 3 * 5 * 4
