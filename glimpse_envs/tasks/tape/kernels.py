"""Compiled loops over the rows of the tape machine: deals, answers, moves, glimpses, oracle.

Imported only by the task: this module needs Numba.
"""

import numpy as np

from glimpse_envs.core.arrays import Bools, Float32s, Floats, Ints, KeyArrays, Records
from glimpse_envs.core.kernels import kernel
from glimpse_envs.core.randomness import SCENE, keyed_block
from glimpse_envs.tasks.tape.programs import (
    INPUT,
    MEMORY,
    PUT_OUT,
    SOURCE,
    WRITTEN,
    lay,
    steps_of,
    steps_to_visit,
    words_needed,
)


@kernel
def budget_of(slack: float, steps: int | np.int64) -> np.int64:
    """Return the budget for a shortest solution of `steps`."""
    return np.int64(np.ceil(slack * steps - 1e-9))  # 1.1 times 10 is slightly more than 11


@kernel
def deal_tapes(
    groups: Ints,
    keys: KeyArrays,
    lengths: Ints,
    rules: tuple,
    tapes: tuple,
    machines: Records,
    memory: Ints,
    shared_steps: Ints,
    budgets: Ints,
    answer_rewards: Floats,
) -> None:
    """Lay the tapes of `groups` (m,) anew and put their rows at the start.

    Args:
        keys: the seeds, streams, episodes and indices of `glimpse_envs.core.keys.Keys`.
        lengths: (groups,), L of each tape.
        rules, tapes: plain tuples of `Rules` and `Tapes`: a cache of compiled kernels refers to
            argument types by name, and would be unreadable after such a class was removed.
        machines: (num_envs,) of `MACHINE`.
        memory: (num_envs, M), the memory tapes, 0 is blank; M = 0: there are none.
        shared_steps: (L + 1,), the steps that all tapes of a length are given, whatever their own
            shortest solutions take; 0 where each is given its own.
        budgets, answer_rewards: (num_envs,), set for the rows of `groups`.
    """
    program, symbols, times, greatest, slack, absolute, _ = rules
    group_of, facts, tape_cells, tape_priorities, routes, outputs, sources = tapes
    copies = len(group_of) // len(facts)
    words = np.empty(words_needed(program, greatest) + 3, np.uint32)  # whole blocks
    for group in groups:
        length, fact = lengths[group], facts[group]
        for i in range(0, words_needed(program, length), 4):
            block = keyed_block(i // 4, group, keys, SCENE)
            words[i], words[i + 1], words[i + 2], words[i + 3] = block
        cells, priorities, route = tape_cells[group], tape_priorities[group], routes[group]
        for i in range(fact["filled"]):
            cells[i] = 0
            priorities[i] = 0.0
        filled, visits = lay(program, length, symbols, times, words, cells, priorities, route)
        count = 0
        for i in range(visits):
            if route[i, PUT_OUT]:
                outputs[group, count] = route[i, PUT_OUT]
                sources[group, count] = route[i, SOURCE]
                count += 1
        for i in range(count, max(count, fact["count"]) + 1):
            outputs[group, i], sources[group, i] = 0, -1
        fact["length"], fact["filled"] = length, filled
        fact["visits"], fact["count"] = visits, count
        steps = shared_steps[length]
        if not steps:
            steps = steps_of(route, visits, absolute)
        budget = budget_of(slack, steps)
        for row in range(group * copies, (group + 1) * copies):
            budgets[row], answer_rewards[row] = budget, 1.0 / count
            machine = machines[row]
            machine["head"] = machine["memory_head"] = machine["done"] = machine["wrong"] = 0
            machine["look"] = machine["memory_look"] = machine["write"] = 0
            machine["answer"] = -1
            for i in range(memory.shape[1]):
                memory[row, i] = 0


@kernel
def compare_answers(
    rows: Ints,
    looks: Ints,
    answers: Ints,
    writes: Ints,
    group_of: Ints,
    facts: Records,
    outputs: Ints,
    machines: Records,
    rewards: Floats,
    targets: Ints,
    flags: Bools,
) -> None:
    """Compare the answers of `rows` (m,) with the next symbols to put out, and reward right ones.

    Args:
        looks: (num_envs, heads).
        answers, writes: (num_envs,).
        group_of, facts, outputs: as in `Tapes`.
        rewards, targets: (m,), filled.
        flags: (3, m), filled: target_mask, terminated, success.
    """
    heads = looks.shape[1]
    for i, row in enumerate(rows):
        group, answer, machine = group_of[row], answers[row], machines[row]
        count, done = facts[group]["count"], machine["done"]
        target, reward = outputs[group, done], 0.0
        if answer == target and done < count:
            # So the rewards of an episode add up to exactly 1, however 1 / count is rounded.
            reward = (done + 1) / count - done / count
            done += 1
            machine["done"] = done
        else:
            machine["wrong"] = answer
        rewards[i], targets[i] = reward, target
        flags[0, i], flags[1, i] = answer != 0, done == count or machine["wrong"] != 0
        flags[2, i] = done == count
        machine["look"], machine["answer"] = looks[row, 0], answer
        if heads == 2:
            machine["memory_look"], machine["write"] = looks[row, 1], writes[row]


@kernel
def move_heads(
    rows: Ints,
    absolute: bool,
    forward: bool,
    group_of: Ints,
    facts: Records,
    machines: Records,
    memory: Ints,
) -> None:
    """Write the symbols that `rows` (m,) have just chosen, then move their heads."""
    room = memory.shape[1]
    for row in rows:
        machine = machines[row]
        at, write = machine["memory_head"], machine["write"]
        if write > 0 and 0 <= at < room:
            memory[row, at] = write
        if absolute:
            machine["head"], machine["memory_head"] = machine["look"], machine["memory_look"]
            continue
        move = machine["look"] if forward else machine["look"] - 1
        filled = facts[group_of[row]]["filled"]
        machine["head"] = min(max(machine["head"] + move, -1), filled)
        if room:
            machine["memory_head"] = min(max(at + machine["memory_look"] - 1, -1), room)


@kernel
def show_cells(
    rows: Ints,
    group_of: Ints,
    facts: Records,
    cells: Ints,
    machines: Records,
    memory: Ints,
    glimpses: Float32s,
    last_actions: Float32s,
    moves: tuple[int, int],
) -> None:
    """Show `rows` (m,) the symbols under their heads and their last action.

    Args:
        glimpses: (m, tapes, S + 1) of zeros, filled with one-hot symbols.
        last_actions: (m, n) of zeros, filled with the one-hot parts of the last action.
        moves: choices of the input and the memory head; 0 where they are not shown.
    """
    room, choices = memory.shape[1], glimpses.shape[2]
    for i, row in enumerate(rows):
        group, machine = group_of[row], machines[row]
        at = machine["head"]
        symbol = cells[group, at] if 0 <= at < facts[group]["filled"] else 0
        glimpses[i, 0, symbol] = 1.0
        if room:
            at = machine["memory_head"]
            symbol = memory[row, at] if 0 <= at < room else 0
            glimpses[i, 1, symbol] = 1.0
        if machine["answer"] < 0:
            continue
        if moves[0]:
            last_actions[i, machine["look"]] = 1.0
        if moves[1]:
            last_actions[i, moves[0] + machine["memory_look"]] = 1.0
        start = moves[0] + moves[1]
        last_actions[i, start + machine["answer"]] = 1.0
        if room:
            last_actions[i, start + choices + machine["write"]] = 1.0


@kernel
def solve(
    absolute: bool,
    forward: bool,
    group_of: Ints,
    facts: Records,
    routes: Ints,
    machines: Records,
    taken: Ints,
) -> tuple[Ints, Ints, Ints]:
    """Return the next actions of the shortest solutions that the rows have followed so far: looks
    (num_envs, 2), answers (num_envs,) and writes (num_envs,)."""
    num_envs = len(machines)
    looks = np.empty((num_envs, 2), np.int64)
    answers, writes = np.empty(num_envs, np.int64), np.empty(num_envs, np.int64)
    for row in range(num_envs):
        machine, group, steps = machines[row], group_of[row], taken[row] - 1
        route, final = routes[group], facts[group]["visits"] - 1
        visit, due = 0, steps_to_visit(route, 0, absolute)
        while due < steps and visit < final:
            visit += 1
            due += steps_to_visit(route, visit, absolute)
        goal, answers[row], writes[row] = visit, 0, 0
        if due == steps:
            answers[row], writes[row] = route[visit, PUT_OUT], route[visit, WRITTEN]
            goal = min(visit + 1, final)
        one, other = route[goal, INPUT], route[goal, MEMORY]
        if not absolute:
            one = np.sign(one - machine["head"]) + (0 if forward else 1)
            other = np.sign(other - machine["memory_head"]) + 1
        looks[row, 0], looks[row, 1] = one, other
    return looks, answers, writes
