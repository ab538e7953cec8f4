"""The site: `make docs` builds it from these pages and the docstrings, offline."""

import sys
from pathlib import Path

import sphinx.application

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent / "_ext")]

project = "glimpse_envs"
author = "the authors of glimpse_envs"
copyright = author
html_title = project
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "mathml", "reference"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

default_role = "code"
napoleon_numpy_docstring = False
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "undoc-members": True}
autodoc_class_signature = "separated"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
toc_object_entries = False
suppress_warnings = ["ref.python"]  # several classes of one name in a signature

html_theme = "furo"
pygments_dark_style = "github-dark"  # furo's own underlines modules as if they were links
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_math_renderer = "mathml"

NAVIGATION = {
    "Guides": (
        *("first_agent", "using", "own_policy", "own_task", "own_scene", "own_source"),
        *("curricula", "evaluating", "reproducing", "scale", "clients"),
        *("training", "run_report", "play", "attention", "data", "wrappers", "extending"),
    ),
    "Explained": ("explained", "one_scene"),
    "Environments": ("environments/README",),
    "Reference": ("api/index",),
    "Results": (
        *("results", "scenes", "comparison", "memory", "memory_cost", "worlds"),
        *("gradient_variance", "speed", "records"),
    ),
}
"""Caption -> pages of the side bar. It is not in index.md, which is read on GitHub too."""


def add_navigation(app: sphinx.application.Sphinx, name: str, source: list[str]) -> None:
    """Append hidden tables of contents to the pages that need one."""
    if name == "index":
        for caption, pages in NAVIGATION.items():
            lines = "\n".join(pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n```\n"
    if name == "environments/README":
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"


def setup(app: sphinx.application.Sphinx) -> None:
    app.connect("source-read", add_navigation)
