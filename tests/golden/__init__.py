"""What must not change: digests of episodes and of learned weights."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def golden(name: str) -> dict[str, Any]:
    """The golden values of a kind, such as "episodes"."""
    return json.loads((FOLDER / f"{name}.json").read_text())
