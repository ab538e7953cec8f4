"""The page of measured speeds."""

import json
from pathlib import Path
from typing import Any

from report.page import ROOT
from report.pages.speed import SHOWN, make_page, speed_in_short


def test_what_was_not_measured_is_told_with_its_command(tmp_path: Path) -> None:
    page = make_page(tmp_path)
    assert page.count("not measured yet") == 8
    assert "`python -m benchmarks.speed.processes --record`" in page


def test_trainings_are_told_to_be_timed_by_the_wall(tmp_path: Path) -> None:
    told = " ".join(make_page(tmp_path).split())
    assert "CPU time with one thread" in told
    assert "trainings by wall-clock time" in told


def test_images_a_second_of_several_processes_stand_beside_those_of_one(tmp_path: Path) -> None:
    record = {
        "env_id": "Glimpse/ClutteredMNIST-v0",
        "batch_size": 1024,
        "processes": 2,
        "images_per_second": {"one": 1000.0, "several": 1500.0},
        "ratio": 1.5,
        "hardware": "two cores",
        "revision": "0123456789abcdef",
    }
    (tmp_path / "processes.json").write_text(json.dumps(record))
    page = make_page(tmp_path)
    assert "a batch of 1,024 shared out: 1,000 images a second by one process" in page
    assert "1,500 by 2, 1.50 times as many, by wall-clock time (two cores" in page


def test_catch_stands_beside_envpools(tmp_path: Path) -> None:
    record = {
        "envpool": "1.1.1",
        "steps_per_second": {
            "ours": {"256": 1e6, "1024": 3e6},
            "envpool": {"256": 7e5, "1024": 7.5e5},
        },
        "ratio": 4.0,
        "hardware": "a core",
        "revision": "0123456789abcdef",
    }
    (tmp_path / "catch.json").write_text(json.dumps(record))
    page = make_page(tmp_path)
    assert "## Compared with EnvPool 1.1.1's Catch" in page
    assert "| 1,024 | 3,000 | 750 |" in page
    assert "ours takes 4.0 times as many steps" in page


def test_each_models_speed_stands_beside_the_peak(tmp_path: Path) -> None:
    speed = {
        "model": "full_strong",
        "env_id": "Glimpse/ClutteredGlyphs-v0",
        "batch_size": 128,
        "images_per_second": 1234.5,
        "megaflops": 100.0,
        "gigaflops": 123.45,
    }
    record = {
        "precision": "bfloat16",
        "hardware": "a core",
        "revision": "0123456789abcdef",
        "peak_gigaflops": 1234.5,
        "speeds": [speed],
    }
    (tmp_path / "models.json").write_text(json.dumps(record))
    row = "| full strong | `Glimpse/ClutteredGlyphs-v0` | 128 | 1,234 | 100.0 | 0.10 |"
    assert row in make_page(tmp_path)


def test_a_gpus_speeds_stand_by_batch(tmp_path: Path) -> None:
    speeds = [
        {
            "batch_size": 8192,
            "parts": 1,
            "images_per_second": 1234.4,
            "environments": 0.25,
            "device": 0.1,
        },
        {
            "batch_size": 16384,
            "parts": 2,
            "images_per_second": 2345.0,
            "environments": 0.5,
            "device": None,
        },
    ]
    record = {
        "env_id": "Glimpse/ClutteredMNIST-v0",
        "precision": "bfloat16",
        "threads": 16,
        "hardware": "a GPU, 16 cores",
        "revision": "0123456789abcdef",
        "speeds": speeds,
        "notes": "As it printed them.",
    }
    (tmp_path / "device.json").write_text(json.dumps(record))
    page = make_page(tmp_path)
    assert "on 16 threads (a GPU, 16 cores, revision 0123456" in page
    assert "| 8,192 | 1 | 1,234 | 25% | 10% |" in page
    assert "| 16,384 | 2 | 2,345 | 50% | — |" in page
    assert "As it printed them." in page


def test_environments_without_their_files_are_named(tmp_path: Path) -> None:
    record = json.loads((ROOT / "results" / "benchmarks" / "throughput.json").read_text())
    (tmp_path / "throughput.json").write_text(json.dumps(record))
    assert "for want of their files" not in make_page(tmp_path)
    missing = {"Glimpse/CIFAR10-v0": "no file", "Glimpse/FashionMNIST-v0": "no file"}
    (tmp_path / "throughput.json").write_text(json.dumps(record | {"missing": missing}))
    told = "for want of their files: `Glimpse/CIFAR10-v0` and `Glimpse/FashionMNIST-v0`."
    assert told in make_page(tmp_path)


def test_the_readme_has_the_fastest_of_one_core_and_a_peers_ratios() -> None:
    def speed(env_id: str, threads: int, rows: int | None, steps: float) -> dict[str, Any]:
        return {"env_id": env_id, "threads": threads, "rows": rows, "steps_per_second": steps}

    record = {
        "steps_per_second": [
            speed(SHOWN, 1, None, 3e4),
            speed(SHOWN, 1, 256, 1.1e6),
            speed(SHOWN, 2, 1024, 2e6),
            speed("Glimpse/Copy-v0", 1, 1024, 5e6),
        ],
        "against_ap_gym": [{"ratio": 238.4}, {"ratio": 21.6}, {"ratio": None}],
    }
    told = speed_in_short(record)
    assert "1.1 M steps a second on one core" in told
    assert "256 rows); 22 and 238 times as many as ap_gym" in told
    assert "ap_gym" not in speed_in_short({**record, "against_ap_gym": []})
    assert speed_in_short(None).startswith("- **Environments**: batched and compiled;")
