"""Names of sources."""

SOURCES: dict[str, str] = {
    "glyphs": "glimpse_envs.sources.glyphs",
    "mnist": "glimpse_envs.sources.idx",
    "fashion_mnist": "glimpse_envs.sources.idx",
    "cifar10": "glimpse_envs.sources.cifar",
    "folder:PATH": "glimpse_envs.sources.folder",
}
"""The one list of sources: name -> the module, or the class "module:Class", that has its `describe`
and `load`."""
