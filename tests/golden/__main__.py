"""Write the golden digests anew: `python -m tests.golden`; say in the commit why they change."""

import json
import sys
from typing import Any

from tests.golden import FOLDER, episodes, learning
from tests.golden.machine import fingerprint
from tests.golden.published import published_numbers


def main() -> None:
    wanted = sys.argv[1:] or ["episodes", "weights", "published"]
    if "episodes" in wanted:
        cases = episodes.cases().items()
        _write("episodes", {name: episodes.all_digests(*case) for name, case in cases})
    if "weights" in wanted:
        digests = {name: digest() for name, digest in learning.ALL_CASES.items()}
        _write("weights", {"machine": fingerprint(), "digests": digests})
    if "published" in wanted:
        _write("published", published_numbers())


def _write(name: str, content: Any) -> None:
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
