"""Infos as Stable-Baselines3 takes them: a dict for each row."""

from itertools import repeat
from typing import Any, NoReturn

from glimpse_envs.core.arrays import Bools, Ints
from glimpse_envs.task import Arrays


class SharedInfo(dict[str, Any]):
    """An info that several rows share, and that therefore cannot be changed."""

    def _refuse(self, *arguments: Any, **named: Any) -> NoReturn:
        raise TypeError(
            "the infos of rows that go on are shared and cannot be changed: change a copy()"
        )

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type, tuple[dict[str, Any]]]:
        return dict, (dict(self),)  # deep copies and unpickled infos are not shared


class GoingInfos(dict[int, dict]):
    """Infos of rows that go on, one for each target and target mask."""

    def of(self, target: Ints, target_mask: Bools) -> list[dict]:
        """Return the infos of rows with these targets (n,) and `target_mask` (n,)."""
        return list(map(self.__getitem__, (2 * target + target_mask).tolist()))

    def __missing__(self, key: int) -> dict:
        entries = {"target": key // 2, "target_mask": key % 2 == 1, "TimeLimit.truncated": False}
        return self.setdefault(key, SharedInfo(entries))


def dicts_of_rows(values: Arrays, rows: int) -> list[dict[str, Any]]:
    """Return `values`, name -> (rows, ...), as a dict for each row, with Python's numbers."""
    if not values:
        return [{} for _ in range(rows)]
    columns = [value.tolist() if value.ndim == 1 else list(value) for value in values.values()]
    # Runs in C from end to end: a comprehension takes half as long again.
    return list(map(dict, map(zip, repeat(tuple(values)), zip(*columns, strict=True))))
