"""Competitors take turns, and each is timed by the clock that counts its work alone."""

from types import SimpleNamespace

import pytest

from benchmarks.speed import timing
from benchmarks.speed.timing import Case, best_rates


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Three clocks that stand still: of the thread, the process and the wall."""
    seconds = SimpleNamespace(thread=0.0, process=0.0, wall=0.0)
    stands = SimpleNamespace(
        thread_time=lambda: seconds.thread,
        process_time=lambda: seconds.process,
        perf_counter=lambda: seconds.wall,
    )
    monkeypatch.setattr(timing, "time", stands)
    return seconds


def test_the_best_of_a_case_s_bursts_counts_by_its_own_clock(clocks: SimpleNamespace) -> None:
    turns: list[str] = []

    def case(name: str, durations: list[float], **kind: int | bool) -> Case:
        left = iter(durations)

        def burst() -> int:
            turns.append(name)
            took = next(left)
            clocks.thread += took
            clocks.process += 2 * took
            clocks.wall += 4 * took
            return 12

        return Case(name, burst, **kind)  # type: ignore[arg-type]

    rates = best_rates(
        [
            case("one thread", [9.0, 3.0, 2.0, 4.0]),
            case("its own threads", [9.0, 3.0, 2.0, 4.0], own_threads=True),
            case("two threads", [9.0, 1.0, 2.0, 4.0], threads=2),
        ],
        repeats=3,
    )
    assert rates == [12 / 2, 12 / 4, 12 / 4]
    assert turns == ["one thread", "its own threads", "two threads"] * 4
