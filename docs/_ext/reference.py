"""The API reference: a page for each package, with its modules, written before each build."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
PACKAGES = ("glimpse_envs", "agents", "baselines")
FOLDER = "api"
_COMMON = """What most people need:

- `gymnasium.make(id)` and `gymnasium.make_vec(id, num_envs=n)` make the
  :doc:`environments <../environments/README>`;
  :py:class:`~glimpse_envs.env.GlimpseVectorEnv` is the batched one.
- :py:func:`glimpse_envs.evaluation.protocol.evaluate` scores any policy.
- :py:func:`agents.train.train_agent` trains an agent, and
  :py:func:`agents.scoring.run_scores.evaluate_run` scores a run.
- :py:func:`glimpse_envs.adapters.sb3.make_sb3_env` makes a `VecEnv` for Stable-Baselines3.
- :py:class:`~glimpse_envs.wrappers.single.GlimpseWrapper` shows any pixel environment through a
  glimpse.
- :py:func:`glimpse_envs.suite.register` registers a task of your own, a
  :py:class:`~glimpse_envs.task.Task`, and
  :py:func:`glimpse_envs.testing.check_task` tests it.

Every module of the three packages is listed below. Interfaces may change before 1.0.
"""


def public_modules() -> dict[str, list[str]]:
    """Package -> its public modules, the package itself first where it says something."""
    found: dict[str, list[str]] = {}
    for top in PACKAGES:
        for path in sorted((ROOT / top).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if parts[-1] == "__main__":
                continue
            is_package = parts[-1] == "__init__"
            package = ".".join(parts[:-1])
            found.setdefault(package, [])
            if is_package:
                found[package].insert(0, package)
            else:
                found[package].append(".".join(parts))
    return found


def public_names(module: str) -> Iterator[str]:
    """The classes and functions that a module defines, but for underscored ones and kernels,
    which are compiled inner loops."""
    path = ROOT.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name.startswith("_"):
            continue
        if not any(ast.unparse(mark).startswith("kernel") for mark in node.decorator_list):
            yield node.name


def write_pages(app: Sphinx) -> None:
    """Write the pages of the packages and their list; a page that would not change stays."""
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(exist_ok=True)
    pages = {"index": _list(public_modules())}
    for package, modules in public_modules().items():
        pages[package] = _page(package, modules)
    for old in folder.glob("*.rst"):
        if old.stem not in pages:
            old.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def summary(module: str) -> str:
    """The first paragraph of a module's docstring, in one line; "" where it has none."""
    path = ROOT.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(docstring.partition("\n\n")[0].split())


def _list(modules: dict[str, list[str]]) -> str:
    """The calls that most people need, then every module with what it is for."""
    entries = "".join(f"   {package}\n" for package in modules)
    blocks = [_title("API reference", "="), _COMMON]
    blocks.append(f".. toctree::\n   :hidden:\n\n{entries}")
    for package, names in modules.items():
        about = f" {_escape(summary(package))}" if package in names else ""
        lines = [
            f"- :py:mod:`{name.removeprefix(f'{package}.')} <{name}>`: {_escape(summary(name))}\n"
            for name in names
            if name != package
        ]
        blocks += [_title(package, "-"), f":doc:`{package}`.{about}\n", "".join(lines)]
    return "\n".join(blocks)


def _page(package: str, modules: list[str]) -> str:
    blocks = [_title(package, "=")]
    for module in modules:
        heading = "" if module == package else _title(module.removeprefix(f"{package}."), "-")
        # What a package collects is described where it is defined; the top package's is for users.
        option = "" if module in PACKAGES else "   :ignore-module-all:\n"
        blocks.append(f"{heading}\n.. automodule:: {module}\n{option}")
    return "\n".join(blocks)


def _escape(text: str) -> str:
    """Plain text, with code in backquotes, as reStructuredText."""
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = [re.sub(r"([*|_])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def _title(text: str, line: str) -> str:
    escaped = text.replace("_", r"\_")
    return f"{escaped}\n{line * len(escaped)}\n"


def as_restructured_text(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Docstrings are plain text: `*` and `|` mean themselves, an indented block after a colon is
    code, and "## Rewards" is a heading."""
    for index, line in enumerate(lines):
        if line.startswith("## "):
            lines[index] = f".. rubric:: {line.removeprefix('## ')}"
            continue
        parts = re.split(r"(`[^`]*`)", line)
        parts[::2] = [re.sub(r"(?<!\\)([*|])", r"\\\1", part) for part in parts[::2]]
        lines[index] = "".join(parts)
        after = lines[index + 1 : index + 3]
        if (
            line.endswith(":")
            and after[:1] == [""]
            and after[1:]
            and _indent(after[1]) > _indent(line)
        ):
            lines[index] += ":"


def keep_first_colon(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Hide a colon in the first line of an attribute's docstring from napoleon, which would take
    what is before it for a type; called again after napoleon, to bring it back."""
    for index, line in enumerate(lines):
        if _COLON in line:
            lines[index] = line.replace(_COLON, ":")
            return
    if what in ("attribute", "data", "property") and lines:
        lines[0] = lines[0].replace(":", _COLON)


_COLON = "\N{RATIO}"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    # Napoleon has the priority 500.
    app.connect("autodoc-process-docstring", as_restructured_text, priority=400)
    app.connect("autodoc-process-docstring", keep_first_colon, priority=450)
    app.connect("autodoc-process-docstring", keep_first_colon, priority=550)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
