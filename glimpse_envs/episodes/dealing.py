"""Keys of the next episodes: seeds, streams, episodes, and the scenes of fixed splits."""

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arguments import check_reset_mask, checked_seeds, shown
from glimpse_envs.core.arrays import Bools, Ints, Words
from glimpse_envs.core.keys import Keys
from glimpse_envs.episodes.levels import WORDS, LevelDistribution
from glimpse_envs.task import Rows, rows_of

Seed = int | list[int | None] | None

VALIDATION_SALT = np.uint64(0x9E3779B97F4A7C15)
"""Of the seeds in "validation": there a scene shares no random word with the one of the same number
in "test", nor with any other of a small seed."""
_NO_OPTION = {
    "scene": " needs split='validation' or 'test', whose scenes are fixed",
    "length": ": this environment has no lengths",
}


class Dealer:
    """Keys of all groups of rows (see `Keys`); resets and deals advance them.

    Args:
        num_envs: rows.
        copies: rows in a group, which share a scene.
        split: "train", "validation" or "test".

    Attributes:
        keys: of every group.
        next_scene: the next scene of a fixed split.
        started: whether every row has an episode; set from outside once all are dealt.
    """

    def __init__(self, num_envs: int, copies: int, split: str) -> None:
        self.num_envs, self.copies, self.num_groups = num_envs, copies, num_envs // copies
        self._rows = np.arange(num_envs)
        self._salt = VALIDATION_SALT if split == "validation" else np.uint64(0)
        self.keys = Keys(
            seeds=np.zeros(self.num_groups, np.uint64),
            streams=np.zeros(self.num_groups, np.int64),
            episodes=np.full(self.num_groups, -1, np.int64),
            indices=np.full(self.num_groups, -1, np.int64),
            levels=np.zeros(self.num_groups, np.int64),
        )
        self.next_scene = 0
        self.started = False

    def rows_of(self, groups: Rows) -> Rows:
        """Return the rows of `groups` (m,), (m copies,)."""
        if len(groups) == self.num_groups:
            return self._rows
        return rows_of(groups, self.copies)

    def groups_in(self, mask: Bools | None) -> Rows:
        """Return the groups whose rows `mask` (num_envs,) selects; None selects all.

        Raises:
            TypeError, ValueError: `mask` is not such an array, selects no row, or only some copies
                of a scene.
        """
        if mask is None:
            return np.arange(self.num_groups)
        check_reset_mask(mask, self.num_envs)
        whole = mask.reshape(self.num_groups, self.copies)
        if (whole.any(axis=1) != whole.all(axis=1)).any():
            raise ValueError("options['reset_mask'] must take or leave all copies of a scene")
        if not self.started and not mask.all():
            raise ValueError("options['reset_mask'] must take all rows at the first reset")
        return np.flatnonzero(whole[:, 0])

    def option(self, name: str, value: Any, bounds: tuple[int, int] | None) -> Ints | None:
        """Return the option `name` of each group, (num_groups,); None where `value` is None.

        Args:
            name: "scene" or "length".
            value: one integer or (num_envs,) of them.
            bounds: the least and the greatest; None where there is nothing to choose from.

        Raises:
            ValueError: `value` is not made of integers, is out of bounds, or differs among copies.
        """
        if value is None:
            return None
        if bounds is None:
            raise ValueError(f"options[{name!r}]{_NO_OPTION[name]}")
        least, greatest = bounds
        wanted = "an integer" + (f" or {self.num_envs} of them" if self.num_envs > 1 else "")
        refusal = f"options[{name!r}] must be {wanted}; it is {value!r}"
        try:
            integers = np.asarray(value)
        except ValueError as error:  # lists of different lengths
            raise ValueError(refusal) from error
        if integers.dtype.kind not in "iu" or integers.shape not in ((), (self.num_envs,)):
            raise ValueError(refusal)
        if integers.min() < least or integers.max() > greatest:
            raise ValueError(
                f"options[{name!r}] must lie between {least} and {greatest}; it is {value!r}"
            )
        whole = np.broadcast_to(integers, self.num_envs).reshape(self.num_groups, self.copies)
        if (whole != whole[:, :1]).any():
            raise ValueError(f"options[{name!r}] must be the same for all copies of a scene")
        return whole[:, 0].astype(np.int64)

    def first_group(self, first_row: Any, seed: Seed, num_scenes: int | None) -> int:
        """Return the number that the first group has in a larger batch, in which `first_row` is the
        number of its first row; None stands for 0.

        Raises:
            ValueError: `first_row` is not the number of a group's first row, `seed` is not one
                integer, or the split is fixed, with `num_scenes` scenes.
        """
        if first_row is None:
            return 0
        if num_scenes is not None:
            raise ValueError("options['first_row'] needs split='train', which deals by row")
        whole = isinstance(first_row, int | np.integer) and not isinstance(first_row, bool)
        if not whole or not 0 <= first_row < 2**31 or first_row % self.copies:
            raise ValueError(
                f"options['first_row'] must be a multiple of copies={self.copies} from 0 to "
                f"2**31 - 1; it is {first_row!r}"
            )
        if not isinstance(seed, int | np.integer):
            raise ValueError(f"options['first_row'] needs one integer as seed, not {seed!r}")
        return int(first_row) // self.copies

    def reseed(self, seed: Seed, groups: Rows, first_group: int = 0) -> int | None:
        """Begin the streams of `groups` anew, numbered from `first_group` where `seed` is one
        integer. None, alone or in a list, continues the stream; at the first reset it draws a seed
        from the system. Return the one seed that was given or drawn for all; None where there is
        none.

        Raises:
            ValueError: a seed is no integer from 0 to 2**64 - 1, or there are too few or too many.
        """
        if seed is None and self.started:
            return None
        one: int | None = None
        checked = checked_seeds(seed, self.num_envs)
        if isinstance(checked, list):
            given = self._one_a_group(checked)
            streams = np.zeros(self.num_groups, np.int64)
        else:
            one = _drawn_seed() if checked is None else checked
            given = [one] * self.num_groups
            streams = first_group + np.arange(self.num_groups)
        if self.started:
            groups = groups[[given[group] is not None for group in groups]]
        for group in groups:
            known = given[group]
            self.keys.seeds[group] = np.uint64(_drawn_seed() if known is None else known)
        self.keys.seeds[groups] ^= self._salt
        self.keys.streams[groups] = streams[groups]
        self.keys.episodes[groups] = -1
        if len(groups) == self.num_groups:
            self.next_scene = 0
        return one

    def _one_a_group(self, seeds: list[int | None]) -> list[int | None]:
        """Return the seed of each group from those of the rows."""
        whole = [seeds[i : i + self.copies] for i in range(0, self.num_envs, self.copies)]
        if any(len(set(same)) > 1 for same in whole):
            raise ValueError("seed must be the same for all copies of a scene")
        return [same[0] for same in whole]

    def next_episode(self, groups: Rows, scenes: Ints | None, num_scenes: int | None) -> None:
        """Move the keys of `groups` (m,) to their next episode. In a fixed split its scene is that
        in `scenes` (num_groups,), or, where this is None, the next in turn."""
        self.keys.episodes[groups] += 1
        if scenes is not None:
            self.keys.indices[groups] = scenes[groups]
        elif num_scenes is not None:
            self.keys.indices[groups] = (self.next_scene + np.arange(len(groups))) % num_scenes
            self.next_scene = (self.next_scene + len(groups)) % num_scenes

    def choose_levels(
        self,
        groups: Rows,
        asked: Ints | None,
        distribution: LevelDistribution,
        bounds: tuple[int, int],
    ) -> None:
        """Set the levels in the keys of `groups` (m,): those `asked` for (num_groups,), or drawn
        from `distribution` by the keys themselves.

        Raises:
            ValueError: `distribution` does not draw integers within `bounds`.
        """
        if asked is not None:
            self.keys.levels[groups] = asked[groups]
            return
        from glimpse_envs.core.randomness import draw_level_words  # needs Numba

        words = np.empty((len(groups), WORDS), np.uint32)
        draw_level_words(groups, self.keys.arrays, words)
        self.keys.levels[groups] = _checked_levels(distribution, words, bounds)

    def state_dict(self) -> dict[str, Any]:
        """Return keys and counters."""
        arrays = {name: array.copy() for name, array in vars(self.keys).items()}
        return {**arrays, "next_scene": self.next_scene, "started": self.started}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` of the same number of groups returned."""
        self.keys = Keys(**{name: state[name].copy() for name in vars(self.keys)})
        self.next_scene, self.started = state["next_scene"], state["started"]

    def check_scenes(self, num_scenes: int | None) -> None:
        """Raise a ValueError unless the scenes of all groups are in a split of `num_scenes`."""
        last = int(max(self.keys.indices.max(), self.next_scene))
        if num_scenes is not None and last >= num_scenes:
            raise ValueError(
                f"the state is of scene {last}, but the split has only {num_scenes}: its source "
                "has changed"
            )


def _checked_levels(distribution: LevelDistribution, words: Words, bounds: tuple[int, int]) -> Ints:
    """Return the levels (m,) that `distribution` draws from `words` (m, WORDS), checked, because
    kernels index arrays by them."""
    least, greatest = bounds
    drawn = distribution.draw(words)
    levels: NDArray = np.empty(0)
    with suppress(ValueError):  # of lists of different lengths
        levels = np.asarray(drawn)
    if (
        levels.shape != (len(words),)
        or levels.dtype.kind not in "iu"
        or not ((levels >= least) & (levels <= greatest)).all()
    ):
        raise ValueError(
            f"{type(distribution).__name__}.draw must return {len(words)} integers from {least} to "
            f"{greatest}, the lengths of this environment; it returned {shown(drawn)}"
        )
    return levels.astype(np.int64)


def _drawn_seed() -> int:
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
