"""Where records are read and pages are written."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
BENCHMARKS = RESULTS / "benchmarks"
DOCS = ROOT / "docs"
