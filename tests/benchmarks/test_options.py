"""The commands of the benchmarks are called in their help as they are typed."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest


@pytest.mark.parametrize("module", ["benchmarks.variance", "benchmarks.speed.throughput"])
def test_the_help_has_the_command_as_it_is_typed(module: str) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", module, "--help"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.startswith(f"usage: python -m {module} [-h]")


@pytest.mark.parametrize(
    ("module", "part"),
    [
        ("benchmarks.speed.throughput", ["--env-id", "Glimpse/Copy-v0"]),
        ("benchmarks.speed.models", ["--models", "draw"]),
        ("benchmarks.cost.read_cost", ["--cells", "16"]),
        ("benchmarks.scale.device", ["--parts", "2"]),
        ("benchmarks.variance.__main__", ["--only", "width"]),
    ],
)
def test_a_part_does_not_replace_the_record_of_the_whole(
    module: str,
    part: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [module, *part, "--record", str(tmp_path)])
    with pytest.raises(SystemExit):
        import_module(module).main()
    message = f"--record is for the whole measurement: leave {part[0]} out"
    assert message in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []
