"""Worlds that move: Catch; games and MiniGrid's worlds through a glimpse; bonuses for curiosity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.tables.controls import gaze_controls
from benchmarks.tables.table import FromPreset, Row, Table
from glimpse_envs.suite import ATARI, MINIGRID
from report.references.worlds import CATCH

GAZES = ("learned", "static", "random", "raster")
"""Of the games: "learned" chooses places, the others follow a rule and only acts are learned."""

SUGARL = {"Pong": 4 / 800, "Breakout": 4 / 35, "Freeway": 4 / 1600}
"""Game -> weight of SUGARL's reward, its authors'."""

WEIGHTS = (0.03, 0.1, 0.3, 1.0)
"""Of a bonus: a sweep by factors of 3."""

_SPARSE = {"batch_size": 512, "learning_rate": 4e-3, "look_signal": "reward"}
"""Of a search that is paid for where it ends alone, which is what curiosity is for."""


def _game(game: str, gaze: str, name: str = "", **changes: Any) -> Row:
    look = {} if gaze == "learned" else {"look": gaze}
    env_kwargs = {"game": game, "fovea": 50, "segment": 128, **look}
    return Row(
        name=f"{game.lower()}-{name or gaze}",
        env_id=ATARI,
        env_kwargs=env_kwargs,
        recipe=FromPreset("games", "actor_critic"),
        changes=changes,
        minutes=60,
        seeds=1,
        scored=30,
        needs="atari: ale_py",
        priority=7,
    )


def _search(name: str, **changes: Any) -> Row:
    return Row(
        name=f"search-{name}",
        env_id="Glimpse/Search-v0",
        recipe=FromPreset("pictures", "actor_critic"),
        changes={"precision": "bfloat16", **_SPARSE, **changes},
        minutes=10,
        priority=6,
    )


def _grid(world: str, name: str, changes: Mapping[str, Any]) -> Row:
    return Row(
        name=f"{world.lower()}-{name}",
        env_id=MINIGRID,
        env_kwargs={"world": world, "view": "agent", "tile": 4, "segment": 32},
        recipe=FromPreset("grids", "actor_critic"),
        changes=changes,
        minutes=10,
        scored=200,
        needs="minigrid: minigrid",
        priority=8,
        notes="MiniGrid's own view of the cells in front of its agent, in pixels, as a whole",
    )


def _bonuses() -> dict[str, dict[str, Any]]:
    """Name -> settings, of MiniGrid's rows."""
    swept = {
        f"{kind}-{weight:g}": {"curiosity": kind, "curiosity_weight": weight}
        for kind in ("icm", "rnd")
        for weight in WEIGHTS
    }
    return {"none": {}, **swept}


_CATCH = Row(
    name="catch",
    env_id="Glimpse/Catch-v0",
    recipe=FromPreset("worlds", "actor_critic"),
    seeds=5,
    priority=1,
    reference=CATCH,
)


WORLDS = Table(
    "worlds",
    folder="worlds",
    seeds=3,
    rows=(
        _CATCH,
        *gaze_controls(_CATCH),
        _search("none"),
        _search("entropy", entropy_weight=0.01),
        _search("icm", curiosity="icm", curiosity_weight=0.1),
        _search("rnd", curiosity="rnd", curiosity_weight=0.1),
        *(_game(game, gaze) for game in SUGARL for gaze in GAZES),
        *(
            _game(game, "learned", "sugarl", sugarl_weight=weight)
            for game, weight in SUGARL.items()
        ),
        *(
            _grid(world, name, changes)
            for world in ("DoorKey-6x6", "MultiRoom-N4-S5")
            for name, changes in _bonuses().items()
        ),
    ),
)
