"""Signatures as people write them: short names of arrays, and values that fit a line."""

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

LONGEST = 80
"""Characters of the value of a constant; longer ones are left to its description."""

_MODULE = r"~?(?:\w+\.)*"
_ANNOTATED = re.compile(rf"{_MODULE}Annotated\[")
_ARRAY = rf"{_MODULE}ndarray\[tuple\[{_MODULE}Any, \.\.\.\], {_MODULE}dtype\[(~?[\w.]+)\]\]"
_SEQUENCE = rf"{_MODULE}_NestedSequence"
_SCALARS = r"complex \| bytes \| str"
_SUPPORTS = rf"{_MODULE}_SupportsArray\[{_MODULE}dtype\[{_MODULE}Any\]\]"
_ARRAY_LIKE = (
    rf"{_MODULE}_Buffer \| {_SUPPORTS} \| {_SEQUENCE}\[{_SUPPORTS}\] \| {_SCALARS} \| "
    rf"{_SEQUENCE}\[{_SCALARS}\]"
)


def readable(signature: str) -> str:
    """A signature with arrays by their names, annotations without what commands make of them, and
    defaults that are Python: a "~" before a dotted name shows its last part alone."""
    while found := _ANNOTATED.search(signature):
        kept, end = _first_of(signature, found.end())
        signature = signature[: found.start()] + kept + signature[end:]
    signature = re.sub(_ARRAY_LIKE, "ArrayLike", signature)
    signature = re.sub(_ARRAY, lambda array: _named(array[1]), signature)
    signature = re.sub(r"<function (\w+)>", r"\1", signature)
    signature = re.sub(r"<class '([\w.]+)'>", r"\1", signature)
    return re.sub(r"(= ?)<(?:[^<>]|<[^<>]*>)*>", r"\1...", signature)


def _named(dtype: str) -> str:
    return "NDArray" if dtype.endswith("_ScalarT") else f"NDArray[{dtype}]"


def _first_of(text: str, begin: int) -> tuple[str, int]:
    """The first entry in a bracket that opens before `begin`, and the place behind its end."""
    depth, comma = 1, None
    for at in range(begin, len(text)):
        depth += (text[at] in "[({") - (text[at] in "])}")
        if text[at] == "," and depth == 1 and comma is None:
            comma = at
        if depth == 0:
            return text[begin : at if comma is None else comma], at + 1
    raise ValueError(f"a bracket is not closed: {text[begin:]}")


def _shorten(app: Sphinx, *event: Any) -> tuple[str | None, str | None]:
    *_, signature, returned = event
    return signature and readable(signature), returned and readable(returned)


def _shorten_attributes(app: Sphinx, document: nodes.document, page: str) -> None:
    """The same for types and values of attributes and constants, which have no signature."""
    for node in document.findall(addnodes.desc_annotation):
        text = node.astext()
        if text.lstrip().startswith("=") and len(text) > LONGEST:
            node.children = [nodes.Text(" = ...")]
        elif "ndarray[" in text:
            node.children = [nodes.Text(readable(text))]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-signature", _shorten)
    app.connect("doctree-resolved", _shorten_attributes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
