"""The classes of a user's own pictures, which a run was trained to name."""

from collections.abc import Mapping
from typing import Any

from glimpse_envs.core.arguments import shown
from glimpse_envs.sources import SourceError, describe


def own_classes(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries "class_names", by label, and "fingerprint" of config.json, for a run on
    pictures that may change, such as a folder's; {} for any other run."""
    source = _source_in(config)
    try:
        info = None if source is None else describe(source)
    except (ValueError, SourceError):  # said where the environment is made
        return {}
    if info is None or not info.fingerprint:
        return {}
    return {"class_names": list(info.class_names), "fingerprint": info.fingerprint}


def changed_pictures(config: Mapping[str, Any]) -> bool:
    """Whether pictures were added, removed or replaced since the training."""
    now = own_classes(config).get("fingerprint")
    return "fingerprint" in config and now is not None and now != config["fingerprint"]


def lost_pictures(config: Mapping[str, Any]) -> str | None:
    """Return why the pictures of a run cannot be read any more; None if they can."""
    source = _source_in(config)
    try:
        if source is not None and "class_names" in config:
            describe(source)
    except (ValueError, SourceError) as error:
        return str(error)
    return None


def changed_classes(config: Mapping[str, Any]) -> str | None:
    """Return what is wrong where the classes are not those of the training any more, else None."""
    trained, now = config.get("class_names"), own_classes(config).get("class_names")
    if trained is None or now is None or trained == now:
        return None
    return (
        f"it was trained to name the classes {shown(trained)} of source={_source_in(config)!r}, "
        f"which has the classes {shown(now)} now. Put back those, or train again."
    )


def _source_in(config: Mapping[str, Any]) -> str | None:
    settings = config.get("config")
    kwargs = settings.get("env_kwargs") if isinstance(settings, Mapping) else None
    source = kwargs.get("source") if isinstance(kwargs, Mapping) else None
    return source if isinstance(source, str) else None
