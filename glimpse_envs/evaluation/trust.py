"""Which packages a run or a record may name code of.

The policy, its networks, the curriculum, the environment and its arguments name classes as
"module:Class", which are imported to be used; a folder from somebody else could thus run any code.
Allowed are the packages of this project, those that registered themselves by an entry point of the
group "glimpse_envs", and those that the user trusts.
"""

import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any

OURS = frozenset({"glimpse_envs", "agents", "baselines"})
_trusted: set[str] = set()


class TrustError(ValueError):
    """A run or record names code of a package that is not trusted."""


def trust(*packages: str) -> None:
    """Trust top-level packages, such as "my_tasks", in this process; they are not imported.

    Raises:
        ValueError: one is not the name of an installed top-level package; then none is trusted.
    """
    for package in packages:
        _check_package(package)
    _trusted.update(packages)


def trust_package_of(text: str) -> None:
    """Trust the package of the code "module:NAME" that the user names.

    Raises:
        ValueError: it is not the name of an installed package.
    """
    trust(_package(text))


def check_trusted(config: Mapping[str, Any], where: object) -> None:
    """Refuse a config that names code of packages that are not trusted.

    Args:
        config: of a run ("policy", "config") or of a learner ("env_id", "env_kwargs").
        where: the file that holds it, for the message.

    Raises:
        TrustError: there is such code; the message names the entry and its package.
    """
    for entry, text in _named(config):
        check_code(entry, text, where)


def check_code(entry: str, text: str, where: object) -> None:
    """Refuse the code "module:..." that an entry of the file `where` names, if it is not trusted.

    Raises:
        TrustError: see `check_trusted`.
    """
    package = _package(text)
    if package not in _known() | _trusted:
        raise TrustError(
            f"{where}: {entry} is {text!r}, code of the package {package!r}, which is none of "
            f"this project's. If you know and trust it, give --trust {package}"
        )


def trust_named(config: Mapping[str, Any]) -> None:
    """Trust the packages that the user's own config names; see `check_trusted`."""
    _trusted.update(_package(text) for _, text in _named(config))


def own_packages(config: Mapping[str, Any]) -> set[str]:
    """The packages other than this project's whose code a config names; see `check_trusted`. That
    of its algorithm is among them."""
    algorithm = config.get("algorithm")
    named = {_package(text) for _, text in _named(config)}
    if isinstance(algorithm, str) and ":" in algorithm:
        named.add(_package(algorithm))
    return named - OURS


def trust_option(config: Mapping[str, Any]) -> str:
    """The option of a command, after a space, that trusts the packages that a config names; ""
    if none is needed."""
    packages = {_package(text) for _, text in _named(config)} - _known()
    return "".join(f" {part}" for part in ("--trust", *sorted(packages))) if packages else ""


def _known() -> frozenset[str]:
    """The packages that every process trusts."""
    return OURS | {_package(point.value) for point in entry_points(group="glimpse_envs")}


def _named(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The entries that name code, and their texts."""
    learner = config.get("config", config)
    learner = learner if isinstance(learner, Mapping) else {}
    env_kwargs = learner.get("env_kwargs")
    arguments = env_kwargs if isinstance(env_kwargs, Mapping) else {}
    entries = {"policy": config.get("policy"), "env_id": learner.get("env_id")}
    entries["curriculum"] = learner.get("curriculum")
    entries |= {f"env_kwargs.{name}": value for name, value in arguments.items()}
    network = learner.get("network")
    if isinstance(network, Mapping):
        entries |= {f"network.{part}": value for part, value in network.items()}
    for entry, text in entries.items():
        if not isinstance(text, str) or ":" not in text:
            continue
        # A source "folder:PATH" is a folder of pictures; anywhere else `folder` is a module.
        if entry != "env_kwargs.source" or not text.startswith("folder:"):
            yield entry, text


def _check_package(name: str) -> None:
    if not name.isidentifier():
        top = _package(name)
        right = top if top.isidentifier() else "my_tasks"
        raise ValueError(
            f"--trust {name!r} must be the name of a top-level package, such as {right}"
        )
    if name not in sys.modules and find_spec(name) is None:
        raise ValueError(
            f"--trust {name}: there is no package {name} here; install it, or name the folder that "
            "holds it in PYTHONPATH"
        )


def _package(text: str) -> str:
    return text.partition(":")[0].partition(".")[0]
