"""Tape machine: a head reads one cell at a time; the program fixes the symbols to put out."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from glimpse_envs.core.arrays import Bools, Float32s, Floats, Ints
from glimpse_envs.core.fixed_splits import num_scenes_of
from glimpse_envs.core.keys import Keys
from glimpse_envs.task import Arrays, Component, Outcome, Reading, Rows, Task
from glimpse_envs.tasks.tape.arguments import TapeArguments
from glimpse_envs.tasks.tape.arrays import MACHINE, Tapes
from glimpse_envs.tasks.tape.chance import blind_return
from glimpse_envs.tasks.tape.kernels import (
    compare_answers,
    deal_tapes,
    move_heads,
    show_cells,
    solve,
)
from glimpse_envs.tasks.tape.keyboard import tape_keys
from glimpse_envs.tasks.tape.layout import TapeLayout
from glimpse_envs.tasks.tape.programs import QUESTIONS
from glimpse_envs.tasks.tape.views import (
    addresses_in_bits,
    compare_whole,
    priorities_under,
    whole_tapes,
)

if TYPE_CHECKING:
    from glimpse_envs.rendering.tape_picture import TapePicture


class TapeMachine(Task):
    """Read a tape through a head that sees one cell, and put out the program's output symbols.

    ## Description

    The input tape holds symbols from cell 0 on, and blanks everywhere else. A head sees one cell of
    it; it starts at cell 0, and can move one cell beyond either end. The agent puts out one symbol
    after another. With a memory tape, which is blank at first, it also writes and reads that
    through a second head. The interfaces are those of Reinforcement Learning Neural Turing Machines
    (RL-NTM), all of them discrete.

    The `program` decides what has to be put out, for a tape of L symbols or digits (its `length`):

    - `"copy"`: the L symbols.
    - `"reverse"`: the L symbols, last first.
    - `"repeat_copy"`: the L symbols, several times. The first cell says how often, from 2 to
      `repeats` times (symbol r means r times).
    - `"duplicated_input"`: each of the L symbols once; on the tape each stands `duplicates` times.
    - `"forward_reverse"`: the L symbols, last first, with an input head that cannot move back and a
      memory tape.
    - `"addition"`: the L + 1 digits of the sum of two numbers of L digits in base `symbols`, lowest
      digit first. The tape holds a digit of each number in turn (symbol d + 1 is digit d).
    - `"priority_sort"`: the L symbols by their priorities, highest first.

    ## Action Space

    A `Dict`:

    - `look`: how the heads move. The input head moves left (0), stays (1) or moves right (2); in
      forward_reverse it stays (0) or moves right (1). With a memory tape there are moves of both
      heads. With `look="absolute"` the cells to which the heads jump.
    - `answer`: the symbol to put out, or 0 for none.
    - `write`, with a memory tape: the symbol to write under the memory head before it moves; 0
      keeps what is there.

    ## Observation Space

    A `Dict` of float32:

    - `glimpse` (S + 1,): the symbol under the input head, one-hot, with index 0 for a blank. With a
      memory tape (2, S + 1): under the input head and under the memory head.
    - `priority` (1,), in priority_sort: of the cell under the input head, in [0, 1]; 0 for a blank.
    - `location`, with `look="absolute"`: the bits of the cells under the heads, lowest first.
    - `last_action`: the last moves, symbol put out and symbol written, each one-hot; zeros at
      first.
    - `remaining` (1,): steps left / budget.

    With `view="full"` there is only `scene` (cells, S + 1), each row a cell's one-hot symbol (in
    priority_sort (cells, S + 2), with its priority last), and an episode is one answer: all symbols
    to be put out, then zeros.

    ## Rewards

    A right symbol earns 1 / (number of symbols to put out), so the best return is exactly 1. A
    wrong symbol earns nothing and ends the episode. Putting out nothing costs only time. With
    `view="full"` the reward is the share of the symbols before the first wrong one; the last symbol
    counts as wrong if anything follows it.

    ## Episode End

    With the last right symbol, with the first wrong one, or when the budget is spent: `slack` times
    the steps of a shortest solution, rounded up. A shortest solution reads each symbol before it is
    needed (to sort, all of them before the first), and knows where the tape ends, which an agent
    can tell from the first `remaining`, 1 - 1 / budget. In priority_sort the steps are
    those of the hardest order of this length, so that the budget does not reveal the order. A spent
    budget terminates the episode, because the agent can see it. Episodes are never truncated.

    ## Information

    After a step:

    - `target`: the right symbol.
    - `target_mask`: whether a symbol was put out.
    - `success`: whether all symbols have been put out by now.

    Always:

    - `length`: L.
    - `target_cell`: the input cell of the next right symbol; -1 if it has to be computed, or if
      there is none.
    - `scene`, in a fixed split: the tape's number.

    ## References

    Zaremba & Sutskever, Reinforcement Learning Neural Turing Machines, 2015 (arXiv:1505.00521):
    copy, reverse, repeat_copy, duplicated_input, forward_reverse. There the agent also has to put
    out an end symbol, what is written is a vector learned by back-propagation, and whether to put
    out is apart from what: the symbol is predicted by cross-entropy, and only the heads are
    discrete. Zaremba et al., Learning Simple Algorithms from Examples, ICML 2016
    (arXiv:1511.07275): addition, there on a grid with the digits of one number above those of the
    other; here its columns stand one after the other on the tape. Graves et al., Neural Turing
    Machines, 2014 (arXiv:1410.5401): priority_sort, there 20 bit vectors with priorities in
    [-1, 1], of which the 16 highest are put out.

    ## Version History

    v0: initial version.

    Args:
        program: "copy", "duplicated_input", "repeat_copy", "reverse", "forward_reverse",
            "addition" or "priority_sort".
        split: "train" deals new tapes without end; "validation" and "test" have 10,000 each.
        min_length: the least L dealt.
        length: the greatest L dealt; it sets the size of observations under `view="full"`.
        symbols: S, the number of symbols.
        repeats: the greatest count of repeat_copy; 1 makes all counts 1.
        duplicates: how often each symbol stands in duplicated_input.
        memory: whether there is a memory tape; None: only in forward_reverse.
        look: "moves" or "absolute".
        slack: the budget as a multiple of the steps of a shortest solution, at least 1.
        view: "glimpse", or "full" for the whole tape in one step.

    Raises:
        ValueError: an argument is out of its range or does not fit the others.
    """

    answer_reward: Floats
    levels: tuple[int, int]
    view_arguments: ClassVar[frozenset[str]] = Task.view_arguments | {"slack"}
    glimpse_arguments: ClassVar[frozenset[str]] = frozenset()

    def __init__(
        self,
        *,
        program: str = "copy",
        split: str = "train",
        min_length: int = 1,
        length: int = 10,
        symbols: int = 30,
        repeats: int = 3,
        duplicates: int = 3,
        memory: bool | None = None,
        look: str = "moves",
        slack: float = 2.0,
        view: str = "glimpse",
    ) -> None:
        arguments = TapeArguments(
            program=program, split=split, min_length=min_length, length=length, symbols=symbols,
            repeats=repeats, duplicates=duplicates, memory=memory, look=look, slack=slack,
            view=view,
        )  # fmt: skip
        self.levels = (int(min_length), int(length))
        self.budget, self._full = arguments.budget, arguments.full
        self._split, self._program = split, program
        self.question = QUESTIONS[program]
        self._rules, self._sizes = arguments.rules, arguments.sizes
        self._shared_steps = arguments.shared_steps
        self._memory_cells = arguments.memory_cells
        self._layout = TapeLayout(self._rules, self._sizes, self._memory_cells, self._full)
        self.components = self._named(self._layout.components())
        self.observation_space = self._layout.observation_space()
        if not self._full:
            tapes = self._layout.tapes
            self.reading = Reading(values=tapes * self._layout.num_symbols, cells=tapes)

    def _named(self, components: Mapping[str, Component]) -> dict[str, Component]:
        """Return the components, with symbols named as they are shown where one is chosen."""
        shown = (str(symbol + self._least_shown) for symbol in range(self._layout.num_symbols - 1))
        names = ("", *shown)
        return {
            name: replace(part, names=names) if part.optional or name == "write" else part
            for name, part in components.items()
        }

    @property
    def chance(self) -> float:
        """Mean return of putting out one symbol at every step without reading the tape."""
        rules = self._rules
        return blind_return(rules.program, self.levels, rules.symbols, rules.times, self._full)

    @property
    def ceiling(self) -> float:
        """Return of putting out all symbols rightly."""
        return 1.0

    @property
    def num_scenes(self) -> int | None:
        return num_scenes_of(self._split)

    def allocate(self, num_envs: int, copies: int, taken: Ints) -> None:
        self._taken = taken
        sizes, groups = self._sizes, num_envs // copies
        self._tapes = Tapes.empty(groups, copies, sizes.cells, sizes.visits, sizes.outputs)
        self._machines = np.zeros(num_envs, MACHINE)
        self._memory = np.zeros((num_envs, self._memory_cells), np.int64)
        self.budgets = np.full(num_envs, self.budget)
        self.answer_reward = np.ones(num_envs)
        self._nothing = np.zeros(num_envs, np.int64)
        self._put_out = np.zeros((num_envs, sizes.outputs if self._full else 0), np.int64)

    def deal(self, groups: Rows, keys: Keys) -> None:
        deal_tapes(
            groups,
            keys.arrays,
            keys.levels,
            tuple(self._rules),
            tuple(self._tapes),
            self._machines,
            self._memory,
            self._shared_steps,
            self.budgets,
            self.answer_reward,
        )
        if self._full:
            self.budgets[:], self.answer_reward[:] = 1, 1.0
            self._put_out.reshape(len(self._tapes.facts), -1)[groups] = 0

    def act(self, rows: Rows, actions: Arrays, last: Bools) -> Outcome:
        if self._full:
            return self._answer_all(rows, actions["answer"])
        looks = actions["look"].reshape(len(self.budgets), -1)
        tapes, machines = self._tapes, self._machines
        rewards, targets = np.empty(len(rows)), np.empty(len(rows), np.int64)
        flags = np.empty((3, len(rows)), np.bool_)
        compare_answers(
            rows,
            np.ascontiguousarray(looks),
            np.ascontiguousarray(actions["answer"]),
            np.ascontiguousarray(actions["write"]) if self._memory_cells else self._nothing,
            tapes.group_of,
            tapes.facts,
            tapes.outputs,
            machines,
            rewards,
            targets,
            flags,
        )
        return Outcome(rewards, flags[2], targets, flags[0], terminated=flags[1])

    def _answer_all(self, rows: Rows, answers: Ints) -> Outcome:
        """Take answers (num_envs, outputs), each a whole output, of `rows` (m,)."""
        groups = self._tapes.group_of[rows]
        target, counts = self._tapes.outputs[groups, :-1], self._tapes.facts["count"][groups]
        compared = compare_whole(answers[rows], target, counts)
        self._put_out[rows] = answers[rows]
        self._machines["done"][rows] = compared.done
        target_mask = np.ones(len(rows), np.bool_)
        return Outcome(compared.share, compared.success, target, target_mask)

    def look(self, rows: Rows, actions: Arrays) -> None:
        rules, tapes = self._rules, self._tapes
        move_heads(
            rows,
            rules.absolute,
            rules.forward,
            tapes.group_of,
            tapes.facts,
            self._machines,
            self._memory,
        )

    def observe(self, rows: Rows, remaining: Float32s) -> Arrays:
        tapes, machines, layout = self._tapes, self._machines, self._layout
        if self._full:
            groups = tapes.group_of[rows]
            return {"scene": whole_tapes(tapes, groups, layout.num_symbols, layout.sorting)}
        glimpses = np.zeros((len(rows), layout.tapes, layout.num_symbols), np.float32)
        last = np.zeros((len(rows), layout.last_action), np.float32)
        show_cells(
            rows,
            tapes.group_of,
            tapes.facts,
            tapes.cells,
            machines,
            self._memory,
            glimpses,
            last,
            layout.shown_moves,
        )
        observation: Arrays = {"glimpse": glimpses if layout.tapes == 2 else glimpses[:, 0]}
        if layout.sorting:
            groups, heads = tapes.group_of[rows], machines["head"][rows]
            observation["priority"] = priorities_under(tapes, groups, heads)
        if self._rules.absolute:
            names = ("head", "memory_head")[: layout.tapes]
            places = [machines[name][rows] for name in names]
            observation["location"] = addresses_in_bits(places, layout.address_bits)
        return observation | {"last_action": last, "remaining": remaining}

    def info(self, rows: Rows) -> Arrays:
        groups = self._tapes.group_of[rows]
        return {
            "length": self._tapes.facts["length"][groups],
            "target_cell": self._tapes.sources[groups, self._machines["done"][rows]],
        }

    def keys_to_action(self) -> dict[tuple[int, ...], dict[str, Any]]:
        return tape_keys(self._layout, self._least_shown)

    @property
    def _least_shown(self) -> int:
        """The number as which symbol 1 is shown."""
        return 0 if self._program == "addition" else 1

    def oracle(self) -> Arrays:
        """Return the next actions (num_envs, ...) of the shortest solution followed so far, those
        of ended rows arbitrary."""
        if self._full:
            return {"answer": self._tapes.outputs[self._tapes.group_of, :-1]}
        rules, tapes = self._rules, self._tapes
        looks, answers, writes = solve(
            rules.absolute,
            rules.forward,
            tapes.group_of,
            tapes.facts,
            tapes.routes,
            self._machines,
            self._taken,
        )
        if not self._memory_cells:
            return {"look": looks[:, 0].copy(), "answer": answers}
        return {"look": looks, "answer": answers, "write": writes}

    def state_arrays(self) -> Arrays:
        machines = {name: self._machines[name] for name in MACHINE.names or ()}
        return machines | {"memory": self._memory, "put_out": self._put_out}

    def state_bounds(self) -> dict[str, tuple[float, float]]:
        symbols = (0, self._rules.symbols)
        looks = [(0, choices - 1) for choices in self._layout.choices]
        bounds: dict[str, tuple[float, float]] = {
            "head": (-1, self._sizes.cells),
            "memory_head": (-1, self._memory_cells),
            "done": (0, self._sizes.outputs),
            "look": looks[0],
            "memory_look": looks[-1] if self._memory_cells else (0, 0),
            "answer": (-1, self._rules.symbols),
        }
        return bounds | dict.fromkeys(("wrong", "write", "memory", "put_out"), symbols)

    def picture(self, row: int, caption: str) -> "TapePicture":
        from glimpse_envs.tasks.tape.drawing import picture_tapes

        tapes, machine = self._tapes, self._machines[row]
        group = tapes.group_of[row]
        expected = tapes.outputs[group, : tapes.facts["count"][group]]
        put_out = np.trim_zeros(self._put_out[row], "b")
        if not self._full:
            wrong = [machine["wrong"]] if machine["wrong"] else []
            put_out = np.append(expected[: machine["done"]], wrong).astype(np.int64)
        heads = int(machine["head"]), int(machine["memory_head"])
        return picture_tapes(
            cells=tapes.cells[group],
            memory=self._memory[row],
            heads=None if self._full else heads,
            priorities=tapes.priorities[group] if self._layout.sorting else None,
            put_out=put_out,
            expected=expected,
            least=self._least_shown,
            caption=caption,
        )
