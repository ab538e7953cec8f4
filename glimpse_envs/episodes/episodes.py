"""The episodes of a batch: dealing, acting, looking and ending."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from glimpse_envs.core.arguments import check_options, shown
from glimpse_envs.core.arrays import Bools, Float32s, Ints
from glimpse_envs.core.memory import naming_memory
from glimpse_envs.episodes.dealing import Dealer, Seed
from glimpse_envs.episodes.levels import LevelDistribution, UniformLevels
from glimpse_envs.episodes.promises import check_budgets, check_outcome
from glimpse_envs.episodes.state import check_state, digest
from glimpse_envs.task import Arrays, Outcome, Rows, Task

_TIMES = ("taken", "ended", "truncated")


class Episodes:
    """One episode of `task` in each of `num_envs` rows; each `copies` rows in turn share a scene.

    Args:
        task: its rows are allocated here.
        num_envs: n, a multiple of `copies`.
        copies: rows in a group.
        split: "train", "validation" or "test".

    Attributes:
        rows: all of them, (n,).
        taken: (n,), how many glimpses a row has taken; changed in place.
        ended: (n,), which rows have no episode under way; before the first one all.
        truncated: (n,), which of the ended rows ran out of time.

    Raises:
        ValueError: the rows do not fit into memory.
    """

    def __init__(self, task: Task, num_envs: int, copies: int, split: str) -> None:
        self.task, self.num_envs, self.copies, self.split = task, num_envs, copies, split
        self.taken = np.zeros(num_envs, np.int64)
        self.ended, self.truncated = np.ones(num_envs, np.bool_), np.zeros(num_envs, np.bool_)
        with naming_memory(num_envs):
            task.allocate(num_envs, copies, self.taken)
        self.rows = np.arange(num_envs)
        self._can_stop = "stop" in task.action_space.spaces
        self._dealer = Dealer(num_envs, copies, split)
        self._levels: LevelDistribution | None = None
        if task.levels is not None:
            self._levels = UniformLevels(*task.levels)

    @property
    def started(self) -> bool:
        """Whether every row has had an episode."""
        return self._dealer.started

    @property
    def levels(self) -> LevelDistribution | None:
        """The distribution of the train split's lengths; see `set_levels`."""
        return self._levels

    def set_levels(self, distribution: LevelDistribution) -> None:
        """Deal lengths by `distribution` from now on.

        Raises:
            ValueError: there are no lengths, or `distribution` has some that are not dealt.
            TypeError: `distribution` is not a LevelDistribution.
        """
        if self.task.levels is None:
            raise ValueError("level_distribution: this environment has no lengths")
        if not isinstance(distribution, LevelDistribution):
            raise TypeError(
                "level_distribution must be a LevelDistribution, such as MixtureLevels(1, 10) of "
                f"glimpse_envs.episodes.levels, not {shown(distribution)}"
            )
        least, greatest = self.task.levels
        if distribution.least < least or distribution.greatest > greatest:
            raise ValueError(
                f"level_distribution goes from {distribution.least} to {distribution.greatest}; "
                f"this environment deals lengths from {least} to {greatest}"
            )
        self._levels = distribution

    def info(self, rows: Rows) -> Arrays:
        """Return the task's info of `rows` (m,), name -> (m, ...), and in a fixed split `scene`,
        the numbers of their scenes."""
        entries = self.task.info(rows)
        if self.task.num_scenes is None:
            return entries
        return entries | {"scene": self._dealer.keys.indices[rows // self.copies]}

    # --- deals -------------------------------------------------------------------------------

    def begin(self, seed: Seed, options: dict[str, Any] | None) -> tuple[Rows, int | None]:
        """Deal new episodes, as `GlimpseVectorEnv.reset` says; return the rows that have one, and
        the one seed that was given or drawn for all, if there is one.

        Raises:
            ValueError, TypeError: a seed or an option is invalid; nothing has changed.
        """
        options = check_options(options, ("reset_mask", "scene", "length", "first_row"))
        task, dealer = self.task, self._dealer
        groups = dealer.groups_in(options.get("reset_mask"))
        scenes = options.get("scene")
        if scenes is not None:
            bounds = None if task.num_scenes is None else (0, task.num_scenes - 1)
            scenes = dealer.option("scene", scenes, bounds)
        lengths = dealer.option("length", options.get("length"), task.levels)
        first_group = dealer.first_group(options.get("first_row"), seed, task.num_scenes)
        one = dealer.reseed(seed, groups, first_group)
        rows = self.deal(groups, scenes, lengths)
        dealer.started = True
        return rows, one

    def deal(self, groups: Rows, scenes: Ints | None = None, lengths: Ints | None = None) -> Rows:
        """Begin the next episode of `groups` (m,), with `scenes` and of `lengths`, (num_groups,)
        each, if asked for; return their rows. Without groups the task is not called. After an error
        all rows need a reset."""
        if not len(groups):
            return self.rows_of(groups)
        task, dealer = self.task, self._dealer
        try:
            dealer.next_episode(groups, scenes, task.num_scenes)
            if self._levels is not None and task.levels is not None:
                fixed = task.num_scenes is not None
                levels = UniformLevels(*task.levels) if fixed else self._levels
                dealer.choose_levels(groups, lengths, levels, task.levels)
            rows = dealer.rows_of(groups)
            self.taken[rows] = 1  # the first glimpse
            self.ended[rows] = self.truncated[rows] = False
            task.deal(groups, dealer.keys)
            check_budgets(task, self.num_envs)
        except BaseException:
            dealer.started = False  # some episodes have ended, and there are none to follow
            raise
        return rows

    def ended_groups(self) -> Rows:
        """Return the groups all of whose rows have ended."""
        if self.copies == 1:
            return np.flatnonzero(self.ended)
        return np.flatnonzero(self.ended.reshape(-1, self.copies).all(axis=1))

    def rows_of(self, groups: Rows) -> Rows:
        """Return the rows of `groups` (m,), (m copies,)."""
        return self._dealer.rows_of(groups)

    # --- steps -------------------------------------------------------------------------------

    def act(self, acting: Rows, actions: Arrays) -> tuple[Outcome, Rows]:
        """Let the rows `acting` (m,) act, and then those look whose episodes go on; return the
        outcome and the rows whose episodes end."""
        taken, budgets = self.taken, self.task.budgets
        if len(acting) < self.num_envs:
            taken, budgets = taken[acting], budgets[acting]
        spent = taken >= budgets
        last = spent
        if self._can_stop:
            last = spent | (actions["stop"][acting] == 1)
        outcome = self.task.act(acting, actions, last)
        check_outcome(self.task, outcome, len(acting))
        if outcome.terminated is not None:
            last = last | outcome.terminated
        if outcome.truncated is not None:
            last = last | outcome.truncated
        if not last.any():
            looking, ending = acting, acting[:0]
        else:
            looking, ending = acting[~last], acting[last]
            self.ended[ending] = True
            if outcome.truncated is not None or not self.task.budget_is_seen:
                over = self._is_over(acting, actions, outcome, spent)
                self.truncated[ending] = ~over[last]
        if len(looking):
            self.taken[looking] += 1
            self.task.look(looking, actions)
            if self.task.glimpse_cost:
                price = self.task.glimpse_cost * ~last
                outcome = outcome._replace(reward=outcome.reward - price)
        return outcome, ending

    def _is_over(self, acting: Rows, actions: Arrays, outcome: Outcome, spent: Bools) -> Bools:
        """Return which episodes of the rows `acting` terminate, time limits aside, (m,)."""
        over = spent.copy() if self.task.budget_is_seen else np.zeros_like(spent)
        if self._can_stop:
            over |= actions["stop"][acting] == 1
        if outcome.terminated is not None:
            over |= outcome.terminated
        return over

    def remaining(self) -> Float32s:
        """Return glimpses left / budget (n, 1), 0 where an episode has ended."""
        budgets = self.task.budgets
        left = ((budgets - self.taken) / budgets).astype(np.float32)
        left[self.ended] = 0.0
        return left[:, None]

    # --- state -------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return counters, unfinished episodes, and the level distribution's state."""
        return {
            **self._dealer.state_dict(),
            **{name: getattr(self, name).copy() for name in _TIMES},
            "task": self.task.state_dict(),
            "level_distribution": {
                "kind": digest(self._levels and self._levels.settings),
                **(self._levels.state_dict() if self._levels else {}),
            },
        }

    def load_state_dict(self, state: dict[str, Any], identity: Mapping[str, int]) -> None:
        """Restore what `state_dict` returned, with the digests of its "arguments".

        Args:
            state: of as many rows.
            identity: argument -> its digest here.

        Raises:
            ValueError: the state is of another number of rows or other arguments, or its source's
                files have changed; nothing has changed.
        """
        own = {**self.state_dict(), "arguments": dict(identity)}
        check_state(state, own, self.task, self._levels)
        dealer = Dealer(self.num_envs, self.copies, self.split)
        dealer.load_state_dict(state)
        if dealer.started:
            dealer.check_scenes(self.task.num_scenes)
            self.task.deal(np.arange(dealer.num_groups), dealer.keys)
            budgets = self.task.budgets.copy()
            if (state["taken"] > budgets).any():
                self.load_state_dict(own, identity)
                raise ValueError(
                    f"the state's taken must be at most {budgets}, the rows' budgets; "
                    f"it is {shown(state['taken'])}"
                )
        self._dealer = dealer
        for name in _TIMES:
            getattr(self, name)[:] = state[name]
        self.task.load_state_dict(state["task"])
        if self._levels is not None:
            self._levels.load_state_dict(state["level_distribution"])
