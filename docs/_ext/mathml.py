"""Formulas as MathML, which browsers draw themselves: no script, no fonts, no network."""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


def _write(translator: Any, node: nodes.Element, as_block: bool) -> None:
    try:
        formula = tex2mathml(node.astext(), as_block=as_block)
    except Exception as error:  # docutils raises many kinds at a formula that it cannot read
        raise ExtensionError(f"the formula {node.astext()!r}: {error}") from error
    # Browsers put no space between "log" and a letter.
    formula = re.sub(r"<mo>&ApplyFunction;</mo>\s*(?=<m[is])", '<mspace width="0.17em"/>', formula)
    # The bars of a norm would take the height of what follows the first, and that of an index.
    formula = re.sub(r"<mo[^>]*>(?=‖)", '<mo stretchy="false">', formula)
    tag = "div" if as_block else "span"
    translator.body.append(f'<{tag} class="math">{formula}</{tag}>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer(
        "mathml",
        (lambda translator, node: _write(translator, node, False), None),
        (lambda translator, node: _write(translator, node, True), None),
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
