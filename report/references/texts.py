"""Published errors on bAbI with 1,000 training questions of a kind, for comparison."""

from __future__ import annotations

from dataclasses import dataclass

SOURCES = (
    "LSTM, and memory network with the facts given in training: Weston et al., Towards AI-Complete "
    "Question Answering, 2015.",
    "MemN2N: Sukhbaatar et al., End-To-End Memory Networks, 2015; three hops, position encoding, "
    "linear start and random noise, each kind trained alone; the best of ten starts by training "
    "error. † Only their mean was checked against the paper, not each of them.",
)


@dataclass(frozen=True)
class KindReference:
    """Test errors on one kind of bAbI's questions, in percent.

    Args:
        name: of the kind.
        lstm: reads all words, without a memory.
        memn2n: reads all statements softly.
        with_facts: a memory network that chooses statements, and is told the right ones in
            training.
    """

    name: str
    lstm: float
    memn2n: float
    with_facts: float


BABI = (
    KindReference("one fact", 50, 0.0, 0),
    KindReference("two facts", 80, 8.3, 0),
    KindReference("three facts", 80, 40.3, 0),
    KindReference("two arguments", 39, 2.8, 0),
    KindReference("three arguments", 30, 13.1, 2),
    KindReference("yes or no", 52, 7.6, 0),
    KindReference("counting", 51, 17.3, 15),
    KindReference("lists", 55, 10.0, 9),
    KindReference("negation", 36, 13.2, 0),
    KindReference("indefinite knowledge", 56, 15.1, 2),
    KindReference("basic coreference", 38, 0.9, 0),
    KindReference("conjunction", 26, 0.2, 0),
    KindReference("compound coreference", 6, 0.4, 0),
    KindReference("time", 73, 1.7, 1),
    KindReference("deduction", 79, 0.0, 0),
    KindReference("induction", 77, 1.3, 0),
    KindReference("position", 49, 51.0, 35),
    KindReference("size", 48, 11.1, 5),
    KindReference("path", 92, 82.8, 64),
    KindReference("motives", 9, 0.0, 0),
)
"""Kinds 1 to 20."""
