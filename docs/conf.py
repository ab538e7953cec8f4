"""The site: `make docs` builds it from these pages and the docstrings, offline."""

import os
import re
import sys
from pathlib import Path

import sphinx.application
from docutils import nodes

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent / "_ext")]

project = "glimpse_envs"
author = "the authors of glimpse_envs"
copyright = author
html_title = project
extensions = [
    *("myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinxext.opengraph"),
    *("mathml", "quotes", "reference", "signatures"),
]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

default_role = "py:obj"  # a link where the name is documented, otherwise code
smartquotes_action = "qe"  # dashes stay: "--" begins an option
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
html_favicon = "../agents/play/page/icon.svg"
html_css_files = ["site.css"]
html_js_files = ["sidebar.js"]
html_copy_source = False
html_math_renderer = "mathml"

# Previews of links in chats and on social media; they need the address of the published site.
html_baseurl = ogp_site_url = os.environ.get("READTHEDOCS_CANONICAL_URL", "")
ogp_image = "_static/preview.png"
ogp_image_alt = "A cluttered picture, the gaze of an agent, and the three windows that it sees"
ogp_social_cards = {"enable": False}

NAVIGATION = {
    "Introduction": (
        "first_agent",
        "Hard and soft, explained <explained>",
        "one_scene",
        "Play and watch <play>",
    ),
    "Environments": (
        "All environments <environments/README>",
        "Using an environment <using>",
        "Data files <data>",
        "Wrap a pixel environment <wrappers>",
    ),
    "Train and evaluate": (
        "training",
        "Report of a run <run_report>",
        *("evaluating", "reproducing", "curricula", "attention", "scale", "clients"),
    ),
    "Your own": (
        "Policy <own_policy>",
        "Task <own_task>",
        "Scene and sensor <own_scene>",
        "Source of pictures <own_source>",
        "Agent, core and baseline <own_agent>",
        "extending",
    ),
    "Results": (
        "Pictures <results>",
        "Remaining errors <mistakes>",
        "Hard against soft <comparison>",
        "Scenes <scenes>",
        "Glyphs <glyphs>",
        "Texts <texts>",
        "Memory <memory>",
        "Cost of memory <memory_cost>",
        "Worlds that move <worlds>",
        "Gradient variance <gradient_variance>",
        *("leaderboard", "speed"),
        "Coverage of intervals <intervals>",
        "Trials of settings <trials>",
        "Records <records/README>",
    ),
    "Reference": ("api/index", "related", "glossary", "Changelog <changelog>"),
}
"""Caption -> pages of the side bar. It is not in index.md, which is read on GitHub too."""


LISTED = {
    # By their short names, in the order of the page, so that families stay together.
    "environments/README": r"(?m)^\| \[`Glimpse/(.+?)-v\d+`\]\((\w+)\.md\)",
    "records/README": r"(?m)^\| \[(.+?)\]\((\w+)\.md\)",
}
"""Page -> what finds the title and the file of the pages below it in the side bar."""


PHRASE, WORDY = 9, 28
"""Characters of a cell from which on it holds several words, and many."""


def add_navigation(app: sphinx.application.Sphinx, name: str, source: list[str]) -> None:
    """Append hidden tables of contents to the pages that need one."""
    if name == "index":
        for caption, pages in NAVIGATION.items():
            lines = "\n".join(pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n```\n"
    listed = LISTED.get(name)
    if listed:
        lines = "\n".join(f"{title} <{page}>" for title, page in re.findall(listed, source[0]))
        source[0] += f"\n```{{toctree}}\n:hidden:\n\n{lines}\n```\n"


def mark_words(app: sphinx.application.Sphinx, document: nodes.document) -> None:
    """Give the cells of tables that hold several or many words a class, so that they get room."""
    for entry in document.findall(nodes.entry):
        length = len(entry.astext())
        if length > PHRASE and not list(entry.findall(nodes.reference)):
            entry.attributes["classes"].append("words" if length > WORDY else "phrase")


def write_dashes(app: sphinx.application.Sphinx, document: nodes.document) -> None:
    """Set the two hyphens that Sphinx puts between an argument and its description as a dash."""
    for text in list(document.findall(lambda node: node == " -- ")):
        text.parent.replace(text, nodes.Text(" \N{EN DASH} "))


def setup(app: sphinx.application.Sphinx) -> None:
    app.connect("source-read", add_navigation)
    app.connect("doctree-read", mark_words)
    app.connect("doctree-read", write_dashes)
