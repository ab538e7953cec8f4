"""A task's docstring in its parts: the summary, the `## sections`, and what each argument means."""

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from glimpse_envs.core.arguments import keyword_parameters
from glimpse_envs.task import Task
from glimpse_envs.vision.scenes.scene import Hidden

SECTIONS = (
    "Description",
    "Action Space",
    "Observation Space",
    "Rewards",
    "Episode End",
    "Information",
    "References",
    "Version History",
)
"""What every task's docstring has, in this order, as Gymnasium's environments do."""

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_FIELD = re.compile(r"^(Args|Raises):$", re.MULTILINE)
_ENTRY = re.compile(r"^    (\S[^:]*): ")


@dataclass(frozen=True)
class Docstring:
    """The parts of a class's docstring, as Markdown."""

    summary: str
    sections: dict[str, str]
    """Heading -> text."""
    arguments: dict[str, str]
    """Name -> meaning, on one line."""


def read_docstring(documented: type) -> Docstring:
    """Take a class's docstring apart.

    Raises:
        ValueError: the class has none.
    """
    text = inspect.getdoc(documented)
    if not text:
        raise ValueError(f"{documented.__name__} has no docstring, from which its page is made")
    prose, *fields = _FIELD.split(text)  # prose, then a name and a body in turn
    opening, *parts = _HEADING.split(prose)
    return Docstring(
        summary=opening.strip(),
        sections={
            heading: body.strip() for heading, body in zip(parts[::2], parts[1::2], strict=True)
        },
        arguments=_entries(dict(zip(fields[::2], fields[1::2], strict=True)).get("Args", "")),
    )


def read_task_docstring(task: type[Task], kwargs: Mapping[str, Any]) -> Docstring:
    """Take a task's docstring apart, with the arguments of its parts, which `kwargs` name, and
    those that it passes on to its base (`**looking`). A scene's text is a section of its own, after
    the description; its references stand before the task's.

    Raises:
        ValueError: its sections are not `SECTIONS`, or its Args are not those of `__init__`.
    """
    docstring = read_docstring(task)
    if tuple(docstring.sections) != SECTIONS:
        raise ValueError(
            f"the docstring of {task.__name__} has the sections {list(docstring.sections)}; "
            f"it must have {list(SECTIONS)}, each as a line '## Description'"
        )
    known = task.parameters(kwargs)
    meanings = {name: one for name, one in docstring.arguments.items() if name[:2] != "**"}
    own = meanings.keys()
    passed_on = len(own) < len(docstring.arguments) and task.__base__
    for part in (*task.parts(kwargs), *([passed_on] if passed_on else [])):
        meanings = read_docstring(part).arguments | meanings
    documented = own | (meanings.keys() & known)
    # A part may not take some that the task does: a scene without a source, clutter.
    accepted = known.keys() | keyword_parameters(task)
    if documented != accepted:
        raise ValueError(
            f"the Args of {task.__name__}'s docstring must be those of its __init__: "
            f"missing {sorted(accepted - documented)}, too many {sorted(documented - accepted)}"
        )
    return replace(
        docstring,
        sections=_with_scenes(docstring.sections, task.parts(kwargs)),
        arguments={name: meanings[name] for name in known},
    )


def _with_scenes(sections: dict[str, str], parts: Iterable[type]) -> dict[str, str]:
    """The sections of a task with those of the scenes among its parts."""
    found = dict(sections)
    for scene in (read_docstring(part) for part in parts if issubclass(part, Hidden)):
        references = scene.sections.get("References")
        found = {"Description": found["Description"], "Scene": scene.summary, **found}
        if references:
            found["References"] = f"{references}\n\n{found['References']}"
    return found


def _entries(field: str) -> dict[str, str]:
    """Name -> meaning of the entries "    name: meaning", whose later lines are indented deeper."""
    entries: dict[str, str] = {}
    names: list[str] = []
    for line in field.splitlines():
        start = _ENTRY.match(line)
        if start:
            names = start[1].split(", ")
            entries |= dict.fromkeys(names, line[start.end() :].strip())
        elif line.strip():
            entries |= {name: f"{entries[name]} {line.strip()}" for name in names}
    return entries
