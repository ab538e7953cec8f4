"""Digests of what must not change: episodes, learned weights and published numbers."""

from pathlib import Path

FOLDER = Path(__file__).parent
