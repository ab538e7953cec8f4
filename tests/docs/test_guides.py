"""Every block of the guides: Python runs, quotes are in the code, commands are accepted."""

from __future__ import annotations

import functools
import os
import re
import runpy
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tyro

from glimpse_envs import __version__
from tests.support.guides import DOCS, GUIDES, ROOT, Block, blocks, commands

lines_of = runpy.run_path(str(DOCS / "_ext" / "quotes.py"))["lines_of"]
OWN = (ROOT / "examples" / "own_task", ROOT / "examples" / "own_agent")
"""Folders of packages outside the project, as pages import them."""
RUN = [page for page in GUIDES if any(not b.is_quote for b in blocks(page, "python"))]
QUOTES = [
    pytest.param(block, id=f"{page.stem}-{number}-{block.file}")
    for page in GUIDES
    for number, block in enumerate(blocks(page, "python"))
    if block.is_quote
]
COMMANDS = list(
    dict.fromkeys((name, tuple(words)) for page in GUIDES for name, words in commands(page))
)


@pytest.mark.learning
@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_the_python_of_a_page_runs_from_top_to_bottom(page: Path, tmp_path: Path) -> None:
    """In one namespace, in a process and a folder of its own, with trainings of seconds."""
    script = []
    for block in blocks(page, "python"):
        if block.file and not block.is_quote:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif not block.is_quote:
            script.append(block.text)
    brief = re.sub(r'\b(minutes\s*=\s*(?:"[^"]*",\s*)?)[\d.]+', r"\g<1>0.05", "\n".join(script))
    brief = re.sub(r"\b(episodes=|learn\()[\d_]{5,}", r"\g<1>2_000", brief)
    (tmp_path / "page.py").write_text(brief, encoding="utf-8")
    path = os.pathsep.join(map(str, (ROOT, *OWN, tmp_path)))
    done = subprocess.run(
        [sys.executable, "page.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=3600,
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("block", QUOTES)
def test_a_quote_is_in_the_code(block: Block) -> None:
    """Part by part, "..." standing for what was left out."""
    assert lines_of(block.quoted, (ROOT / block.file).read_text(encoding="utf-8"))


class Accepted(BaseException):
    """The options were accepted; nothing needs to be done with them."""


def _only_parse(patch: pytest.MonkeyPatch) -> None:
    """Let command lines raise `Accepted` where they would begin their work."""
    read, parse = tyro.cli, ArgumentParser.parse_args

    def accept(command: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if not isinstance(command, type):
            signature = functools.wraps(command)
            command = signature(lambda *_, **__: None)
        read(command, *args, **kwargs)
        raise Accepted

    def accept_arguments(parser: ArgumentParser, *args: Any, **kwargs: Any) -> Any:
        parse(parser, *args, **kwargs)
        raise Accepted

    patch.setattr("tyro.cli", accept)
    patch.setattr(ArgumentParser, "parse_args", accept_arguments)


@pytest.mark.learning
@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize(
    ("module", "options"), COMMANDS, ids=[" ".join([name, *words]) for name, words in COMMANDS]
)
def test_a_command_of_a_page_is_accepted(
    module: str, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = sorted((ROOT / "results").glob("*_Reinforce-LSTM_*.json"))[0]
    given = [str(record) if word == "results/RECORD.json" else word for word in options]
    for folder in OWN:
        monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr("glimpse_envs.evaluation.trust._trusted", {"my_tasks", "my_parts"})
    monkeypatch.setattr(sys, "argv", [module, *given])
    _only_parse(monkeypatch)
    with pytest.raises(Accepted):
        runpy.run_module(module, run_name="__main__", alter_sys=False)


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
def test_an_option_that_no_command_has_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["agents.suite", "runs/a", "--no-such-option", "1"])
    _only_parse(monkeypatch)
    with pytest.raises(SystemExit):
        runpy.run_module("agents.suite", run_name="__main__")


def test_the_version_to_cite_is_this_one() -> None:
    assert f"version = {{{__version__}}}" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
