"""Write the golden values anew: `python -m tests.golden`; say in the commit why they change."""

import json
import sys
from typing import Any

from tests.golden import FOLDER, episodes, golden, learning
from tests.golden.machine import fingerprint


def main() -> None:
    wanted = sys.argv[1:] or ["episodes", "weights", "outlines"]
    if "episodes" in wanted:
        cases = episodes.cases().items()
        _write("episodes", {name: episodes.all_digests(*case) for name, case in cases})
    if "weights" in wanted:
        _write("weights", _with_those_of_this_machine(golden("weights")))
    if "outlines" in wanted:
        _write("outlines", {name: learning.outline(name) for name in learning.ALL_CASES})


def _with_those_of_this_machine(earlier: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Machine -> case -> digest. Other machines keep those of cases that have not changed: whose
    digest here is as before or, where this machine is new, whose outline is nearly so."""
    machine, cases = fingerprint(), learning.ALL_CASES
    digests = {name: learning.learned_digest(name) for name in cases}
    if machine in earlier:
        kept = {name for name, digest in digests.items() if earlier[machine].get(name) == digest}
    else:
        outlines = {name: learning.beside_golden(name) for name in cases}
        kept = {name for name, (found, expected) in outlines.items() if found == expected}
    others = {
        other: {name: digest for name, digest in found.items() if name in kept}
        for other, found in earlier.items()
    }
    return {**others, machine: digests}


def _write(name: str, content: Any) -> None:
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
