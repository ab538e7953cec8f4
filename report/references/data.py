"""Whom to cite for the files that environments read, and under which licence they are."""

from __future__ import annotations

from typing import NamedTuple


class Citation(NamedTuple):
    """Of one set of files."""

    name: str
    authors: str
    work: str
    licence: str


CITATIONS = {
    "mnist": Citation(
        "MNIST",
        "LeCun, Bottou, Bengio & Haffner, 1998",
        "Gradient-based learning applied to document recognition, Proceedings of the IEEE",
        "CC BY-SA 3.0, as usually given",
    ),
    "fashion_mnist": Citation(
        "Fashion-MNIST",
        "Xiao, Rasul & Vollgraf, 2017",
        "[Fashion-MNIST: a novel image dataset for benchmarking machine learning algorithms]"
        "(https://arxiv.org/abs/1708.07747)",
        "MIT",
    ),
    "cifar10": Citation(
        "CIFAR-10",
        "Krizhevsky, 2009",
        "Learning multiple layers of features from tiny images, technical report",
        "none stated; the authors ask to cite it",
    ),
    "babi": Citation(
        "bAbI",
        "Weston et al., 2015",
        "[Towards AI-complete question answering: a set of prerequisite toy tasks]"
        "(https://arxiv.org/abs/1502.05698)",
        "CC BY 3.0",
    ),
}
"""Source or text, as environments name it -> its citation."""

ANCHOR = "citing-and-licences"
"""Of their section on the page of data."""
