"""Names of worlds of others, which Gymnasium's ids are made from."""

import re

from glimpse_envs.core.arguments import shown

_VERSION = re.compile(r"(NoFrameskip|Deterministic)?-v\d+$")


def check_name(argument: str, name: object, prefix: str, example: str) -> None:
    """Raise a ValueError unless `name` is a world's name alone.

    Args:
        argument: its name, for the messages.
        name: what was given.
        prefix: of the ids that names are part of, such as "ALE/".
        example: a right name.
    """
    if not isinstance(name, str) or not name:
        raise ValueError(f"{argument}={shown(name)} must be a name, such as {example!r}")
    alone = _VERSION.sub("", name.rpartition(":")[2].removeprefix(prefix))
    if alone != name:
        raise ValueError(
            f"{argument}={shown(name)} must be the name alone, {alone or example!r}, without what "
            "Gymnasium's id has before and after it"
        )
