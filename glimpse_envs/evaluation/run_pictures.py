"""The user's own pictures, such as a folder's, on which a run was trained: what it keeps of them,
and whether they are still there and the same."""

from collections.abc import Mapping
from typing import Any

from glimpse_envs.core.arguments import shown
from glimpse_envs.sources import SourceError, SourceInfo, describe


def own_pictures(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries "class_names", by label, "image_shape", (C, h, w), and "fingerprint" of
    config.json, for a run on pictures that may change, such as a folder's; {} for any other run."""
    info = _described(_source_in(config))
    if info is None or not info.fingerprint:
        return {}
    return {
        "class_names": list(info.class_names),
        "image_shape": list(info.image_shape),
        "fingerprint": info.fingerprint,
    }


def unfit_pictures(config: Mapping[str, Any], source: str | None = None) -> str | None:
    """Return what is wrong where the pictures of `source`, None for the run's own, are not such as
    the run was trained to name; None if they are, or are the project's."""
    trained, source = config.get("class_names"), source or _source_in(config)
    now = None if trained is None else _described(source)
    if now is None:
        return None
    channels = config.get("image_shape", now.image_shape)[0]
    if trained == list(now.class_names) and channels == now.image_shape[0]:
        return None
    if trained != list(now.class_names):
        which = f"to name the classes {shown(trained)}"
        has = f"has the classes {shown(list(now.class_names))}"
    else:
        which = f"on pictures of {_channels(channels)}"
        has = f"has {_channels(now.image_shape[0])}"
    own = _source_in(config)
    now_at = ", which" if source == own else f", and source={source!r}"
    return (
        f"it was trained {which} of source={own!r}{now_at} {has} now. Put back those, or train "
        "again."
    )


def replaced_pictures(config: Mapping[str, Any], source: str | None = None) -> bool:
    """Whether the pictures of `source`, None for the run's own, are others than those at the
    training's beginning; False for the project's."""
    now = _described(source or _source_in(config))
    return "fingerprint" in config and now is not None and now.fingerprint != config["fingerprint"]


def lost_pictures(config: Mapping[str, Any]) -> str | None:
    """Return why the pictures of a run cannot be read any more; None if they can."""
    source = _source_in(config)
    try:
        if source is not None and "class_names" in config:
            describe(source)
    except (ValueError, SourceError) as error:
        return str(error)
    return None


def _channels(count: int) -> str:
    return "one channel (grey)" if count == 1 else f"{count} channels (colour)"


def _described(source: str | None) -> SourceInfo | None:
    try:
        return None if source is None else describe(source)
    except (ValueError, SourceError):  # said where the environment is made
        return None


def _source_in(config: Mapping[str, Any]) -> str | None:
    settings = config.get("config")
    kwargs = settings.get("env_kwargs") if isinstance(settings, Mapping) else None
    source = kwargs.get("source") if isinstance(kwargs, Mapping) else None
    return source if isinstance(source, str) else None
