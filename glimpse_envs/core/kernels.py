"""Compiled kernels, with a cache on disk that is never stale and never in the way.

Numba's own cache checks only the file of the kernel itself, so it would miss a change in a function
that the kernel calls from another file; and it raises where it can be neither written nor read.

Imported only by kernels: this module needs Numba.
"""

import hashlib
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import config, njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

PACKAGE = Path(__file__).parents[1]


def kernel(function: Callable | None = None, /, **options: Any) -> Any:
    """Decorate a function as a kernel: compiled without the GIL, at its first call, and cached.

    All files whose functions and constants a kernel uses must be among `kernel_files`.

    Args:
        function: the function, where the decorator has no options.
        **options: of `numba.njit`, such as `inline="always"`.

    Raises:
        RuntimeError: Numba is told not to compile.
    """
    if vars(config)["DISABLE_JIT"]:
        raise RuntimeError(
            "NUMBA_DISABLE_JIT=1: kernels count on Numba's integers, which are wider than NumPy's "
            "in sums; unset it (NUMBA_BOUNDSCHECK=1 checks indices in compiled kernels)"
        )

    def compiled(function: Callable) -> Any:
        dispatcher = njit(nogil=True, **options)(function)
        try:
            dispatcher._cache = _KernelCache(function)
        except RuntimeError as error:  # there is no writable folder
            _warn(error)
        return dispatcher

    return compiled if function is None else compiled(function)


def kernel_files() -> list[Path]:
    """Return the files of this package that have kernels, or functions that kernels call, and those
    from which these import, whose constants may be compiled in."""
    marks = (b"\nfrom numba", b"core.kernels import")
    sources = {path: path.read_bytes() for path in PACKAGE.rglob("*.py")}
    found = {path for path, source in sources.items() if any(mark in source for mark in marks)}
    imports = re.compile(rb"^from %b\.([\w.]+) import" % PACKAGE.name.encode(), re.MULTILINE)
    names = {name.decode() for path in found for name in imports.findall(sources[path])}
    found |= {PACKAGE / f"{name.replace('.', '/')}.py" for name in names}
    return sorted(found & sources.keys())


def _digest() -> str:
    sources = hashlib.sha256()
    for path in kernel_files():
        sources.update(path.read_bytes())
    return sources.hexdigest()


_DIGEST = _digest()  # at import, while the files are those that are being imported


class _KernelFiles(IndexDataCacheFile):
    """Numba's files of one kernel. Machine code lies under a name of its own for each source and
    signature, and is written before the index: whatever an interrupted or concurrent process left,
    no entry leads to other code."""

    def save(self, key: Any, data: Any) -> None:
        known = self._load_index()
        own = hashlib.sha256(repr((self._source_stamp, key)).encode()).hexdigest()[:16]
        base = self._index_name.removesuffix(".nbi")
        known[key] = f"{base}.{own}.nbc"
        self._save_data(known[key], data)
        self._save_index(known)
        for path in Path(self._cache_path).glob(f"{base}.*.nbc"):
            if path.name not in known.values():
                path.unlink(missing_ok=True)  # of earlier sources


class _KernelCache(FunctionCache):
    """Numba's cache, used only while the sources of all kernels are unchanged; damaged entries are
    compiled anew, and what cannot be written is not kept."""

    def __init__(self, function: Callable) -> None:
        super().__init__(function)
        own = self._impl.locator.get_source_stamp()
        stamp = (own, _DIGEST, vars(config)["BOUNDSCHECK"])
        self._cache_file = _KernelFiles(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged pickle raises anything
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            try:
                super().save_overload(sig, data)
            except OSError:
                raise
            except Exception:  # the index is damaged: begin a new one
                self.flush()
                super().save_overload(sig, data)
        except OSError as error:  # no space, or the folder has gone
            _warn(error)


_warned = False


def _warn(error: Exception) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"compiled kernels cannot be cached ({error}), so every process compiles them anew, "
            "for about a minute: set NUMBA_CACHE_DIR to a folder that can be written to",
            RuntimeWarning,
            stacklevel=3,
        )
