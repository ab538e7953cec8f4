"""What is published of worlds that move: Catch, games through a fovea, and curiosity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from glimpse_envs.evaluation.record import Record
from glimpse_envs.suite import ATARI, MINIGRID
from report.gaze_findings import gaze_findings, several_settings
from report.grouping import group_runs
from report.groups import FEW_SEEDS, Group, hardware_of
from report.how_made import meanings_blocks
from report.markdown import UNKNOWN, bullets, count, digits, listed, short_revision, table
from report.page import Places, Published, page_of
from report.pages.records import POINTER
from report.references.worlds import FACTS, NO_CLAIM, WORLD_REFERENCES
from report.runs import read_runs, record_links

PAGE = "docs/worlds.md"
FOLDER = "worlds"
CATCH, SEARCH = "Glimpse/Catch-v0", "Glimpse/Search-v0"

_HEAD = """# Worlds that move

<!-- Drawn by `python -m report` from results/worlds; do not edit. -->

The agent acts in a world that changes even where it does not look: [Catch](environments/Catch.md),
and Atari games and MiniGrid's worlds [through a glimpse](wrappers.md). All agents are actor-critic
with a recurrent network, trained on one CPU core by `python -m benchmarks.tables worlds`."""

_COLUMNS = (
    "**Return**. Mean over test episodes and seeds. For an Atari game it is the game's score: "
    "whole games are played, and rewards are not clipped. The interval of one run is Student's, "
    "over its episodes; that of several runs is the range over seeds. There is none where all "
    "returns are equal.",
    "**Success**. Percentage of test episodes with success: an inter-quartile mean over the seeds "
    "(the mean with fewer than four). Its interval, of 95 %, is Wilson's for one run, otherwise a "
    "bootstrap over seeds and episodes, stretched with fewer than five seeds.",
    "**Steps**. Training episodes times their length, if all have the same length; *at most*: "
    "times that of the segments into which games and MiniGrid's worlds are cut, the last of which "
    "may be shorter.",
    "**Gaze**. *Learned*: the agent chooses where to look. In Atari games, *static*: always the "
    "middle; *random*: a uniformly random location at every step; *raster*: one tile after "
    "another. With these three only the acts are learned. *SUGARL*: learned, and a step costs more "
    "the less its act can be guessed from the glimpses before and after it, by its authors' "
    "weights.",
    "**Bonus**. *ICM* and *RND* reward observations that were not predicted, divided by the "
    "standard deviation of the bonus's returns; *entropy* rewards the entropy of the choices.",
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
    "In trainings of the revisions {} the gaze began anew wherever a segment of a game was cut, "
    "and all frames of the stack were seen from there; since then both go on. Tests play whole "
    "games."
)
ONE_CRITIC = ("6aa1191ebc2c", "582b32c6ab06", "66d7072303bd")
"""Revisions with records of bonuses from before these had a critic of their own."""
_SHARED = (
    "In trainings of the revisions {} bonuses ended with the episode and shared the critic of the "
    "rewards, and their model took one step a batch; since then it takes as many as the policy."
)

Cells = Callable[[Group], dict[str, str]]


def publish(places: Places) -> Published:
    """The page."""
    runs, problems = read_runs(places.results / FOLDER)
    return Published({PAGE: worlds_page(group_runs(runs), places)}, problems=problems)


def worlds_page(groups: Sequence[Group], places: Places) -> str:
    """The Markdown page.

    Args:
        groups: of all records.
        places: for the links to records.
    """
    blocks = [_HEAD, "## How to read it", bullets(_COLUMNS), *meanings_blocks(groups)]
    if groups:
        blocks.append(POINTER.format("records.md"))
    blocks += ["## Catch", *_section(_of(groups, CATCH), _catch, places), _references()]
    blocks.append("## Atari through a fovea of 50")
    blocks += _section(_of(groups, ATARI), _game, places, by=("game", "gaze"))
    games = _by_gaze(_of(groups, ATARI))
    blocks += [*_uncontrolled(games), *gaze_findings(games), *several_settings(games)]
    blocks += _old(_of(groups, ATARI), GAZE_BEGAN_ANEW, _BEGAN_ANEW)
    blocks += ["## Curiosity", *_unequal([*_of(groups, SEARCH), *_of(groups, MINIGRID)])]
    for env_id, by in ((SEARCH, ()), (MINIGRID, ("world", "bonus"))):
        name = env_id.removeprefix("Glimpse/").removesuffix("-v0")
        blocks += [f"### {name}", *_section(_of(groups, env_id), _bonus, places, by=by)]
    curious = [g for g in groups if g.first.config.get("curiosity") is not None]
    blocks += _old(curious, ONE_CRITIC, _SHARED)
    blocks += ["## What others report", NO_CLAIM, bullets(FACTS)]
    return page_of(blocks)


def _of(groups: Sequence[Group], env_id: str) -> list[Group]:
    return [group for group in groups if group.first.env_id == env_id]


def _section(
    groups: Sequence[Group], cells: Cells, places: Places, by: Sequence[str] = ()
) -> list[str]:
    """A table of the groups in the order of the columns `by`, and what they were made on."""
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
    lines.sort(key=lambda line: [line[name] for name in by])
    heads = list(lines[0])
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
        "choosing glimpses buys; some games need little sight, such as Freeway, where always going "
        "up scores about as much."
    ]


def _by_gaze(groups: Sequence[Group]) -> dict[str, dict[str, list[Group]]]:
    """Game -> gaze -> its groups."""
    games: dict[str, dict[str, list[Group]]] = {}
    for group in groups:
        cells = _game(group)
        games.setdefault(cells["game"], {}).setdefault(cells["gaze"], []).append(group)
    return games


def _interval(group: Group) -> tuple[float, float] | None:
    """Of the mean return: Student's of one run, the range over several; None if not recorded."""
    if group.seeds == 1:
        return group.first.headline.return_interval
    found = [r.headline.mean_return for r in group.records if r.headline.mean_return is not None]
    return (min(found), max(found)) if found else None


def _old(groups: Sequence[Group], revisions: Sequence[str], what: str) -> list[str]:
    """What was otherwise in trainings of `revisions`, as long as there are records of such."""
    found = {record.revision for group in groups for record in group.records}
    old = sorted({short_revision(r) for r in found if r.startswith(tuple(revisions))})
    return [what.format(listed(old))] if old else []


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


def _return(group: Group) -> dict[str, str]:
    mean, interval = group.mean_return, _interval(group)
    if interval is not None and interval[0] == interval[1]:
        interval = None  # equal returns tell nothing of how far others may lie
    return {
        "return": UNKNOWN if mean is None else digits(mean),
        "interval": UNKNOWN if interval is None else " to ".join(map(digits, interval)),
    }


def _game(group: Group) -> dict[str, str]:
    kwargs = group.first.env_kwargs
    rules = ("static", "random", "raster")
    gaze = kwargs.get("look")
    learned = "SUGARL" if group.first.config.get("sugarl_weight") else "learned"
    return {
        "game": str(kwargs.get("game", "Pong")),
        "gaze": gaze if gaze in rules else learned,
        "actions": group.first.headline.actions,
        **_return(group),
        **_steps(group),
    }


def _bonus(group: Group) -> dict[str, str]:
    record = group.first
    model = {"model": record.model.name, "bonus": bonus_of(record)}
    if record.env_id == SEARCH:
        return {**model, **_success(group)}
    world = {"world": str(record.env_kwargs.get("world"))}
    acted = {"actions": record.headline.actions}
    return {**world, **model, **acted, **_return(group), **_steps(group)}


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
    return table(heads, [(r.source, r.score, r.trained) for r in WORLD_REFERENCES])
