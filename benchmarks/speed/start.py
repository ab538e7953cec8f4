"""How long it takes to begin: importing, the first start with all compiling, and later ones."""

import os
import subprocess
import sys
import tempfile

_START = """
import gymnasium, glimpse_envs
envs = gymnasium.make_vec("{env_id}", num_envs=64)
envs.reset(seed=0)
envs.step(envs.action_space.sample())
"""


def start_seconds(env_id: str, repeats: int = 5) -> dict[str, float]:
    """Seconds of fresh processes, Python's own start left out.

    To import `glimpse_envs`, the best of `repeats`; to import, make, reset and step with nothing
    compiled yet; and the same again, the best.
    """
    python = _best("", repeats)
    with tempfile.TemporaryDirectory() as folder:
        code = _START.format(env_id=env_id)
        first = _run(code, folder)
        cached = _best(code, repeats, folder)
    imported = _best("import glimpse_envs", repeats)
    seconds = {"import": imported, "first start": first, "cached start": cached}
    return {name: value - python for name, value in seconds.items()}


def _best(code: str, repeats: int, cache: str | None = None) -> float:
    return min(_run(code, cache) for _ in range(repeats))


def _run(code: str, cache: str | None = None) -> float:
    """CPU seconds of a fresh process, which other processes on the machine hardly change."""
    environment = dict(os.environ, NUMBA_CACHE_DIR=cache) if cache else None
    before = os.times()
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    after = os.times()
    return (
        after.children_user - before.children_user + after.children_system - before.children_system
    )
