"""What digests of floating-point numbers depend on, other than the code."""

import platform
from pathlib import Path

import torch


def fingerprint() -> str:
    """The processor, and the versions of torch and of the C library: where they differ, sums and
    exponentials round differently."""
    capability = torch.backends.cpu.get_cpu_capability()
    version = torch.__version__.partition("+")[0]
    return f"{_processor()}, {capability}, torch {version}, {' '.join(platform.libc_ver())}"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text().splitlines()
        named = dict(line.split(":", 1) for line in lines if ":" in line)
        named = {key.strip(): value.strip() for key, value in named.items()}
        return f"{named.get('vendor_id')} {named.get('cpu family')}/{named.get('model')}"
    return platform.machine()
