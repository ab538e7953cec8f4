"""What games and grids return to an agent that sees nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import blind_play
from benchmarks.blind_play import BlindPlay, main, names_of_acts, play, worlds
from benchmarks.tables.worlds import WORLDS
from glimpse_envs.suite import ATARI, MINIGRID
from report.blind_levels import RANDOM

EMPTY = {"world": "Empty-5x5", "view": "agent", "tile": 4}


def test_each_game_and_grid_of_the_table_is_played_once() -> None:
    found = worlds()
    games = [kwargs["game"] for env_id, kwargs in found if env_id == ATARI]
    assert games == ["Pong", "Breakout", "Freeway"]
    grids = [kwargs["world"] for env_id, kwargs in found if env_id == MINIGRID]
    assert grids == ["DoorKey-6x6", "MultiRoom-N4-S5"]
    assert len(found) == len(games) + len(grids)
    trained = {row.name.split("-")[0] for row in WORLDS.rows if row.env_id in (ATARI, MINIGRID)}
    assert trained == {"pong", "breakout", "freeway", "doorkey", "multiroom"}


def test_acts_have_the_names_that_their_world_gives_them() -> None:
    pytest.importorskip("minigrid")
    assert names_of_acts(MINIGRID, EMPTY)[:3] == ["left", "right", "forward"]


def test_one_act_for_ever_stays_where_it_is_and_random_acts_arrive() -> None:
    pytest.importorskip("minigrid")
    played = {score.acts: score for score in play(MINIGRID, EMPTY, 30)}
    assert list(played) == [RANDOM, *names_of_acts(MINIGRID, EMPTY)]
    assert played[RANDOM].episodes == 30
    assert played[RANDOM].mean_return > 0.1, "a room of nine cells"
    assert played["forward"].episodes == 10
    assert [score.mean_return for name, score in played.items() if name != RANDOM] == [0.0] * 7
    assert list(play(MINIGRID, EMPTY, 30)) == list(played.values()), "equal runs"


def test_acts_of_a_game_are_those_of_its_smallest_set() -> None:
    pytest.importorskip("ale_py")
    kwargs = {"game": "Freeway", "fovea": 50, "look": "static"}
    assert names_of_acts(ATARI, kwargs) == ["NOOP", "UP", "DOWN"]


def test_the_record_holds_what_was_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    score = BlindPlay(MINIGRID, EMPTY, RANDOM, 6, 0.25, (0.0, 0.5))
    monkeypatch.setattr(blind_play, "worlds", lambda: [(MINIGRID, EMPTY)])
    monkeypatch.setattr(blind_play, "play", lambda *case: [score] if case[2] == 6 else [])
    main(["--episodes", "6", "--record", str(tmp_path)])
    (entry,) = json.loads((tmp_path / "blind_play.json").read_text())["plays"]
    assert entry["acts"] == RANDOM
    assert (entry["mean_return"], entry["return_interval"]) == (0.25, [0.0, 0.5])
    assert "(Empty-5x5, agent, 4), random: 0.25" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--episodes", "1"])
    assert "--episodes 1 must be at least 2" in capsys.readouterr().err
