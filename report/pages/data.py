"""The page of data: which files are published where, with which checksums, and one's own."""

from __future__ import annotations

from collections.abc import Iterator

from glimpse_envs.sources import cifar, folder
from glimpse_envs.sources.files import VARIABLE, PublishedFile
from glimpse_envs.sources.idx import DATASETS
from glimpse_envs.suite import SUITE
from report.markdown import bullets, table
from report.page import Places, Published
from report.pages.environments import page_name

PAGE = "docs/data.md"

_HEAD = f"""# Data

<!-- Drawn by `python -m report` from the code; do not edit. -->

Glyphs, circles and squares, tapes and tables are built in and need no files. Published pictures are
read from files:

- Where the environment variable `{VARIABLE}` names a folder, files are read from there and nothing
  is downloaded: `export {VARIABLE}=~/data`.
- Otherwise they are downloaded once, when an environment first needs them, into the user's cache
  (on Linux `~/.cache/glimpse_envs`).

Every file has to have its checksum. One that is missing or damaged is an error that names the file
and the cure.

## Files

The paths are those below `$GLIMPSE_DATA` or the cache. Environments that read from each folder:"""

_CIFAR = f"""For CIFAR-10, the folder may also hold the unpacked archive, `{cifar.FOLDER}/`, or the
archive compressed with xz. The checksums of its batches are compared in every case."""

_SPLITS = """## Splits

The test split is the published one. The last 10,000 training images are the validation split, and
the others the train split."""

_FOLDER = f"""## Pictures of your own

`source="folder:PATH"` reads a folder with a folder of images for each class:

```python
import gymnasium
import glimpse_envs
import numpy as np
from glimpse_envs.rendering import write_png

for name in ("cat", "dog"):  # pictures/cat/0.png, pictures/dog/0.png, ...
    for number in range(30):
        write_png(np.full((28, 28, 3), 8 * number, np.uint8), f"pictures/{{name}}/{{number}}.png")
env = gymnasium.make("Glimpse/ClutteredGlyphs-v0", source="folder:pictures")
```

- Images end in {", ".join(folder.SUFFIXES)} and are of one size. They are grey where all of them
  are, otherwise RGB.
- Where PATH holds the folders `train`, `validation` and `test`, these hold the folders of the
  classes. Otherwise each image falls into a split, 80 : 10 : 10, by a hash of its class and file
  name, and stays there when others are added."""


def publish(places: Places) -> Published:
    """The page."""
    blocks = [
        _HEAD,
        _readers(),
        _files(),
        _CIFAR,
        _SPLITS,
        _FOLDER,
        "[Back to the documentation](index.md)\n",
    ]
    return Published({PAGE: "\n\n".join(blocks)})


def _readers() -> str:
    """Which environments read which files."""
    names: dict[str, list[str]] = {}
    for source, file in _published():
        rows = (row for row in SUITE.values() if row.kwargs.get("source") == source)
        links = [f"[{page_name(row)}](environments/{page_name(row)}.md)" for row in rows]
        names[f"`{file.folder}/`"] = links
    return bullets(f"{folder}: {', '.join(links)}" for folder, links in names.items() if links)


def _files() -> str:
    rows = (
        (f"`{file.folder}/{file.name}`", f"`{file.checksum}`", f"[{host}]({file.url})")
        for _, file in _published()
        for host in [file.url.split("/")[2]]
    )
    return table(("file", "checksum", "published at"), rows)


def _published() -> Iterator[tuple[str, PublishedFile]]:
    """All files, each after the source that reads it."""
    for source, dataset in DATASETS.items():
        for kind in dataset.sha256:
            yield source, dataset.file(kind)
    yield cifar.DATA, cifar.ARCHIVE
