"""Runs that end when what they learn is solved."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.algorithms.reinforce import Reinforce
from glimpse_envs.evaluation.runs import Run
from tests.support.same_runs import assert_same_run, metrics_of
from tests.support.tiny import UPDATES, tiny_config, tiny_network
from tests.support.trainings import Killed, trained

pytestmark = pytest.mark.learning

# --- until it is solved --------------------------------------------------------------------------


class Shares:
    """Says how much is solved, one share a look, and remembers which updates were looked at."""

    def __init__(self, *shares: float) -> None:
        self.shares, self.looked_at = list(shares), list[int]()

    def __call__(self, run: Run) -> float:
        self.looked_at.append(run.load_checkpoint()[1]["updates"])
        return self.shares.pop(0)


def shares_of(run: Run) -> dict[int, float]:
    """Images -> what was solved by then."""
    lines = run.read_metrics()
    return {int(line["step"]): line["solved_share"] for line in lines if "solved_share" in line}


SOLVING = tiny_config(solve_at=0.9, solve_every=3)


def test_a_run_that_is_solved_stops_and_says_so(tmp_path: Path) -> None:
    solved_share = Shares(0.2, 0.89, 0.9)
    run = trained(Reinforce, SOLVING, tmp_path, solved_share=solved_share)
    assert solved_share.looked_at == [3, 6, 9], "each after its updates are saved"
    assert shares_of(run) == {24: 0.2, 48: 0.89, 72: 0.9}
    assert run.load_checkpoint()[1]["updates"] == 9
    before = metrics_of(run)
    resumed = trained(Reinforce, SOLVING, tmp_path, resume=True, solved_share=Shares())
    assert resumed.load_checkpoint()[1]["updates"] == 9
    assert metrics_of(resumed) == before


def test_a_run_that_is_never_solved_goes_on_to_its_end(tmp_path: Path) -> None:
    config = replace(SOLVING, solve_every=5)
    solved_share = Shares(0.1, 0.3, 0.5)
    run = trained(Reinforce, config, tmp_path, solved_share=solved_share)
    assert solved_share.looked_at == [5, 10, UPDATES], "and is looked at there"
    resumed = trained(Reinforce, config, tmp_path, resume=True, solved_share=Shares())
    assert shares_of(resumed) == {40: 0.1, 80: 0.3, 96: 0.5}
    assert run.load_checkpoint()[1]["updates"] == UPDATES


def test_looking_whether_it_is_solved_changes_nothing(tmp_path: Path) -> None:
    looked = trained(
        Reinforce, SOLVING, tmp_path / "looked", solved_share=Shares(0.0, 0.0, 0.0, 0.0)
    )
    plain = trained(Reinforce, replace(SOLVING, solve_at=None), tmp_path / "plain")
    assert [m for m in metrics_of(looked) if "solved_share" not in m] == metrics_of(plain)
    ours, theirs = looked.load_checkpoint()[0], plain.load_checkpoint()[0]
    for name in theirs:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)


@pytest.mark.parametrize("stop_after", [4, 6])
def test_a_run_stopped_before_it_is_solved_goes_on_to_that(stop_after: int, tmp_path: Path) -> None:
    unbroken = trained(
        Reinforce, SOLVING, tmp_path / "unbroken", solved_share=Shares(0.2, 0.5, 0.95)
    )
    shares = Shares(0.2, 0.5, 0.95)
    for stop in (stop_after, None):
        broken = trained(
            Reinforce,
            SOLVING,
            tmp_path / "broken",
            resume=True,
            stop_after=stop,
            solved_share=shares,
        )
    assert_same_run(broken, unbroken)
    assert shares.looked_at == [3, 6, 9]


def test_a_run_killed_while_it_is_looked_at_is_looked_at_again(tmp_path: Path) -> None:
    unbroken = trained(Reinforce, SOLVING, tmp_path / "unbroken", solved_share=Shares(0.2, 0.95))

    def killed(run: Run) -> float:
        if run.load_checkpoint()[1]["updates"] == 6:
            raise Killed
        return 0.2

    with pytest.raises(Killed):
        trained(Reinforce, SOLVING, tmp_path / "broken", solved_share=killed)
    shares = Shares(0.95)
    broken = trained(Reinforce, SOLVING, tmp_path / "broken", resume=True, solved_share=shares)
    assert shares.looked_at == [6]
    assert_same_run(broken, unbroken)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"solve_at": 0.0}, r"solve_at=0\.0 must be a share above 0"),
        ({"solve_at": 1.5}, r"solve_at=1\.5 must be a share above 0, at most 1"),
        ({"solve_every": 0}, "solve_every=0"),
        ({"curriculum": "threshold"}, "curriculum='threshold': what .*Glyphs-v0 hides has no len"),
        ({"curriculum": "hard"}, "curriculum='hard' must be one of 'threshold', 'mixture'"),
        ({"network": tiny_network(direct_access="bits")}, "direct_access='bits' must be one of"),
    ],
)
def test_what_cannot_be_solved_is_refused_before_a_run_is_made(
    changes: dict[str, Any], named: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=named):
        trained(Reinforce, replace(SOLVING, **changes), tmp_path / "run", solved_share=Shares())
    with pytest.raises(ValueError, match="nothing here says what is solved"):
        trained(Reinforce, SOLVING, tmp_path / "run")
    assert not (tmp_path / "run").exists()
