"""What is published of worlds that move: Catch, games through a fovea, and curiosity."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from statistics import fmean
from types import MappingProxyType
from typing import Any

from glimpse_envs.evaluation.record import Record
from glimpse_envs.suite import ATARI, MINIGRID
from report.blind_levels import (
    RECORD,
    BlindLevels,
    as_blind,
    interval_cell,
    read_blind_levels,
    row_of_level,
    world_of,
)
from report.gaze_findings import gaze_findings, several_settings
from report.group_cells import hardware_of
from report.grouping import group_runs
from report.groups import FEW_SEEDS, Group, interval_words
from report.how_made import meanings_blocks
from report.markdown import UNKNOWN, bullets, count, digits, listed, table
from report.page import Places, Published, page_of
from report.pages.records import pointer
from report.references.links import linked
from report.references.worlds import FACTS, NO_CLAIM, WORLD_REFERENCES
from report.runs import read_runs, record_links

PAGE = "docs/worlds.md"
FOLDER = "worlds"
CATCH, SEARCH = "Glimpse/Catch-v0", "Glimpse/Search-v0"

_HEAD = """# Worlds that move

<!-- Drawn by `python -m report` from results/worlds; do not edit. -->

The agent acts in a world that changes even where it does not look: [Catch](environments/Catch.md)
and Atari games [through a glimpse](wrappers.md). Bonuses of curiosity are tried on
[Search](environments/Search.md) and on MiniGrid's worlds, in which nothing is looked at: the agent
sees MiniGrid's own view, as a whole. All agents are actor-critic
with a recurrent network, trained on one CPU core by `python -m benchmarks.tables worlds`."""

_COLUMNS = (
    "**Return**. Mean over test episodes and seeds. For an Atari game it is the game's score: "
    "whole games are played, and rewards are not clipped. The interval of one run is Student's, "
    "over its episodes, and says nothing of other trainings; that of several runs is the range "
    "over seeds. There is none where all returns are equal.",
    "**Success**. Percentage of test episodes with success: an inter-quartile mean over the seeds "
    "(the mean with fewer than four). "
    f"Its interval, of 95 %, is {interval_words('episodes')}.",
    "**Steps**. Training episodes times their length, if all have the same length. *At most*: "
    "episodes times the length of the segments into which games and MiniGrid's worlds are cut; "
    "last segments may be shorter.",
    "**Gaze**. *Learned*: the agent chooses where to look. In Atari games, *static*: always the "
    "middle; *random*: a uniformly random location at every step; *raster*: one tile after "
    "another. With these three only the acts are learned. *SUGARL*: learned, and a step costs more "
    "the less its act can be guessed from the glimpses before and after it, by its authors' "
    "weights. *None*: acts without looking, "
    "random ones or the best of all that are taken for ever, `python -m benchmarks.blind_play`.",
    "**As blind**. No seed's score lies clearly, by Welch's 95 % interval of the difference, above "
    "the best of these: such a score shows no use of what is seen.",
    "**Bonus**. *ICM* and *RND* reward observations that were not predicted, divided by the "
    "standard deviation of the bonus's returns; *entropy* rewards the entropy of the choices. "
    "One run of each does not tell bonuses apart: the range over seeds, where there are several, "
    "shows how far trainings with the same settings lie apart.",
    "**Actions**. The likeliest actions are scored; in Atari games and MiniGrid, where these may "
    "lead in a circle for ever, sampled ones, as in RL Baselines3 Zoo. The column marks older "
    "records that differ.",
    FEW_SEEDS,
)

GAZE_BEGAN_ANEW = (
    "16a00b443445", "95b0a98cf820", "aa369e6ec86e", "c8720fa87931", "ca781d0185cd", "ce535ad6ab4e",
)  # fmt: skip
"""Revisions with records of games from before the gaze went on where a segment was cut."""
_BEGAN_ANEW = (
    "*Older*: in training, but not in the tests, which play whole games, the gaze began anew "
    "wherever a segment of a game was cut, and all frames of the stack were seen from there; since "
    "then both go on. A static gaze was not changed by that, so these rows do not show what a gaze "
    "that moves is worth: no row marked *older* is compared with another."
)

Cells = Callable[[Group], dict[str, str]]


def publish(places: Places) -> Published:
    """The page."""
    runs, problems = read_runs(places.results / FOLDER)
    blind = read_blind_levels(places.benchmarks)
    return Published({PAGE: worlds_page(group_runs(runs), places, blind)}, problems=problems)


def worlds_page(groups: Sequence[Group], places: Places, blind: BlindLevels) -> str:
    """The Markdown page.

    Args:
        groups: of all records.
        places: for the links to records.
        blind: what games and grids return without looking.
    """
    blocks = [_HEAD, "## How to read it", bullets(_COLUMNS), *meanings_blocks(groups)]
    if groups:
        blocks.append(pointer(PAGE))
    blocks += ["## Catch", *_section(_of(groups, CATCH), _catch, places), _references()]
    blocks.append("## Atari through a fovea of 50")
    played = _of(groups, ATARI)
    blocks += _section(played, partial(_game, blind=blind), places, ("game", "gaze"), blind)
    games = _by_gaze(played)
    seeing = {
        game: gazes
        for game, gazes in games.items()
        if not all(as_blind(group, blind) for found in gazes.values() for group in found)
    }
    blocks += [*_as_blind(games.keys() - seeing.keys()), *_uncontrolled(seeing)]
    comparable = [g for g in played if _world(g) in seeing and not _began_anew(g)]
    blocks += [*gaze_findings(_by_gaze(comparable)), *several_settings(games)]
    if any(_began_anew(group) for group in played):
        blocks.append(_BEGAN_ANEW)
    searched, grids = _of(groups, SEARCH), _of(groups, MINIGRID)
    blocks += ["## Curiosity", *_unequal([*searched, *grids])]
    blocks += ["### Search", *_section(searched, _searched, places)]
    cells = partial(_grid, blind=blind)
    blocks += ["### MiniGrid", *_section(grids, cells, places, ("world", "bonus"), blind)]
    blocks += ["## What others report", NO_CLAIM, bullets(map(linked, FACTS))]
    return page_of(blocks)


def _of(groups: Sequence[Group], env_id: str) -> list[Group]:
    return [group for group in groups if group.first.env_id == env_id]


def _section(
    groups: Sequence[Group],
    cells: Cells,
    places: Places,
    by: Sequence[str] = (),
    blind: BlindLevels = MappingProxyType({}),
) -> list[str]:
    """A table of the groups, and of blind play in their worlds, in the order of the columns `by`;
    and what they were made on."""
    if not groups:
        return ["Not measured yet."]
    lines = []
    for group in groups:
        shared = {
            "seeds": str(group.seeds),
            "episodes": group.episodes_cell,
            "core-minutes": f"{group.core_minutes:.0f}",
            "records": record_links(group.runs, places, PAGE),
        }
        lines.append(cells(group) | shared)
    heads = list(lines[0])
    for world in dict.fromkeys(_world(group) for group in groups):
        link = places.link(places.benchmarks / RECORD, PAGE)
        lines += [row_of_level(world, level, heads, link) for level in blind.get(world, ())]
    lines.sort(key=lambda line: [line[name] for name in by])
    rows = [[line[head] for head in heads] for line in lines]
    notes = dict.fromkeys(r.notes for group in groups for r in group.records if r.notes)
    told = [f"Observation: {note}." for note in notes]
    return [table(heads, rows), *told, hardware_of(groups)]


def _unequal(groups: Sequence[Group]) -> list[str]:
    """What equal times of training do not make equal."""
    minutes = {(g.first.env_id, f"{g.core_minutes:.0f}") for g in groups}
    if len(groups) < 2 or len(minutes) > len({g.first.env_id for g in groups}):
        return []
    return [
        "The rows of a table had equal core-minutes, and so unequal numbers of episodes, which are "
        "in the table: episodes differ in length, a bonus takes time, too, and machines and "
        "revisions, which stand in the records, differ in speed."
    ]


def _uncontrolled(games: Mapping[str, Mapping[str, Sequence[Group]]]) -> list[str]:
    """That a game whose gazes were not compared says nothing of the gaze."""
    alone = [game for game, by_gaze in games.items() if by_gaze.keys() == {"learned"}]
    if not alone:
        return []
    return [
        f"Of {listed(alone)} no other gaze is measured yet, so the score does not show what "
        "choosing glimpses buys."
    ]


def _by_gaze(groups: Sequence[Group]) -> dict[str, dict[str, list[Group]]]:
    """Game -> gaze -> its groups."""
    games: dict[str, dict[str, list[Group]]] = {}
    for group in groups:
        game = _world(group)
        games.setdefault(game, {}).setdefault(_gaze(group), []).append(group)
    return games


def _interval(group: Group) -> tuple[float, float] | None:
    """Of the mean return: Student's of one run, the range over several; None if not recorded."""
    if group.seeds == 1:
        return group.first.headline.return_interval
    found = [r.headline.mean_return for r in group.records if r.headline.mean_return is not None]
    return (min(found), max(found)) if found else None


def _as_blind(games: Collection[str]) -> list[str]:
    """That gazes cannot be compared in games where none of them is used."""
    if not games:
        return []
    return [
        f"In {listed(sorted(games))} every gaze scores as blind play does, so that nothing is said "
        "of choosing glimpses there."
    ]


def _began_anew(group: Group) -> bool:
    """Whether a gaze that moves was trained where it began anew at every cut."""
    old = any(record.revision.startswith(GAZE_BEGAN_ANEW) for record in group.records)
    return old and group.first.env_kwargs.get("look") != "static"


def _catch(group: Group) -> dict[str, str]:
    return {"model": group.label, **_success(group), **_steps(group)}


def _steps(group: Group) -> dict[str, str]:
    """Of training, a mean over the seeds, or the most there can have been of segments."""
    segment = group.first.env_kwargs.get("segment")
    if segment is not None:
        most = fmean(record.episodes * segment for record in group.records)
        return {"steps": f"at most {count(most)}"}
    if any(record.headline.glimpses != record.budget for record in group.records):
        return {"steps": UNKNOWN}
    return {"steps": count(fmean(record.episodes * record.budget for record in group.records))}


def _success(group: Group) -> dict[str, str]:
    low, high = group.interval
    return {
        "success %": f"{100 - group.error:.2f}",
        "95 % interval": f"{100 - high:.2f} to {100 - low:.2f}",
    }


def _return(group: Group, blind: BlindLevels) -> dict[str, str]:
    mean = group.mean_return
    mark = " (as blind)" if as_blind(group, blind) else ""
    return {
        "return": UNKNOWN if mean is None else f"{digits(mean)}{mark}",
        "interval": interval_cell(_interval(group)),
    }


def _game(group: Group, blind: BlindLevels) -> dict[str, str]:
    return {
        "game": _world(group),
        "gaze": _gaze(group),
        "actions": group.first.headline.actions,
        **_return(group, blind),
        **_steps(group),
    }


def _world(group: Group) -> str:
    return world_of(group.first.env_id, group.first.env_kwargs)


def _gaze(group: Group) -> str:
    rules = ("static", "random", "raster")
    learned = "SUGARL" if group.first.config.get("sugarl_weight") else "learned"
    gaze = group.first.env_kwargs.get("look")
    return f"{gaze if gaze in rules else learned}{', older' if _began_anew(group) else ''}"


def _searched(group: Group) -> dict[str, str]:
    record = group.first
    return {"model": record.model.name, "bonus": bonus_of(record), **_success(group)}


def _grid(group: Group, blind: BlindLevels) -> dict[str, str]:
    record = group.first
    return {
        "world": _world(group),
        "model": record.model.name,
        "bonus": bonus_of(record),
        "actions": record.headline.actions,
        **_return(group, blind),
        **_steps(group),
    }


def bonus_of(record: Record) -> str:
    """The bonuses that an agent was trained with, and their weights."""
    config: dict[str, Any] = record.config
    bonuses = []
    if config.get("curiosity") is not None:
        bonuses.append(f"{config['curiosity'].upper()}, weight {config['curiosity_weight']:g}")
    if config.get("sugarl_weight"):
        bonuses.append(f"SUGARL, weight {config['sugarl_weight']:g}")
    if config.get("entropy_weight"):
        bonuses.append(f"entropy, weight {config['entropy_weight']:g}")
    return "; ".join(bonuses) or "none"


def _references() -> str:
    heads = ("reported by", "score", "trained on")
    return table(heads, [(linked(r.source), r.score, r.trained) for r in WORLD_REFERENCES])
