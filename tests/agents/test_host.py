"""What a training asks of its process."""

import platform
import subprocess
import sys

import pytest

KEPT = """
from pathlib import Path
import torch
from agents.training.host import settle_host

def pages():
    return int(Path("/proc/self/statm").read_text().split()[1])

if {settled}:
    settle_host(1)
    assert torch.get_num_threads() == 1
    assert float(torch.tensor(1e-30) * torch.tensor(1e-10)) == 0.0
before = pages()
parts = [torch.ones(size) for size in (2**22, 2**24, 2**22, 2**24)]  # 16 and 64 MiB
most = pages() - before
del parts
print((pages() - before) / most)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="settings of glibc")
def test_memory_that_is_freed_is_kept_for_the_next_update() -> None:
    shares = []
    for settled in (False, True):
        command = [sys.executable, "-c", KEPT.format(settled=settled)]
        shares.append(float(subprocess.run(command, check=True, capture_output=True).stdout))
    assert shares[0] < 0.5 < 0.9 < shares[1]
