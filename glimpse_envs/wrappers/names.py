"""Names of worlds of other packages, from which Gymnasium's ids are made."""

import re

from glimpse_envs.core.arguments import shown

_VERSION = re.compile(r"(NoFrameskip|Deterministic)?-v\d+$")


def check_name(argument: str, name: object, prefix: str, example: str) -> None:
    """Raise a ValueError unless `name` is a world's bare name.

    Args:
        argument: its name, for the messages.
        name: the value given.
        prefix: what stands before the name in ids, such as "ALE/".
        example: a valid name.
    """
    if not isinstance(name, str) or not name:
        raise ValueError(f"{argument}={shown(name)} must be a name, such as {example!r}")
    alone = _VERSION.sub("", name.rpartition(":")[2].removeprefix(prefix))
    if alone != name:
        raise ValueError(
            f"{argument}={shown(name)} must be the name alone, {alone or example!r}, without what "
            "Gymnasium's id has before and after it"
        )
