"""Write the golden values anew: `python -m tests.golden`; say in the commit why they change."""

import json
import sys
from typing import Any

from tests.golden import FOLDER, episodes, golden, learning
from tests.golden.machine import fingerprint
from tests.golden.published import published_numbers


def main() -> None:
    wanted = sys.argv[1:] or ["episodes", "weights", "outlines", "published"]
    if "episodes" in wanted:
        cases = episodes.cases().items()
        _write("episodes", {name: episodes.all_digests(*case) for name, case in cases})
    if "weights" in wanted:
        _write("weights", _with_those_of_this_machine(golden("weights")))
    if "outlines" in wanted:
        _write("outlines", {name: learning.outline(name) for name in learning.ALL_CASES})
    if "published" in wanted:
        _write("published", published_numbers())


def _with_those_of_this_machine(earlier: dict[str, Any]) -> dict[str, Any]:
    """Machine -> case -> digest. Where this machine's change, those of others are out of date."""
    digests = {name: learning.learned_digest(name) for name in learning.ALL_CASES}
    machine = fingerprint()
    unchanged = earlier.get(machine, digests) == digests
    return {**(earlier if unchanged else {}), machine: digests}


def _write(name: str, content: Any) -> None:
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
