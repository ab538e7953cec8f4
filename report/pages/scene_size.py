"""How cost grows with the scene's side: the section of the page on hard against soft, and the block
of the README."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from report.chance import blind_error, is_near_chance, near_chance
from report.markdown import bullets, count, digits, listed, short_revision
from report.page import in_docs
from report.scaling import IN_WORDS, ModelName, Scaling, extremes_table, scaling_table
from report.trial_counts import sides_of_trials

SCALING_FIGURE = "docs/scaling.svg"
SHORT_FIGURE = "docs/scaling_in_short.svg"
FURTHER_FIGURE = "docs/scaling_five_models.svg"
FURTHER_FOLDER = "five_models"
"""Of a further measurement's record, within the folder of comparisons."""

SCALE = "`python -m benchmarks.scale --record results/comparison`"
PLACE = "docs/comparison.md#how-cost-grows-with-the-scene"

_SCALING = (
    "How the cost of a scene grows with its side, in milliseconds of one core. *Building* draws "
    "the scene, and reads an agent's first glimpse; *reading* is the sensor, or the filters and "
    "their products with the scene; *choosing and answering* is the rest of an episode or of a "
    "training update. Scenes are played in batches of the training's size. Models take turns in "
    "one process, and the best of several bursts counts. The retina has one more scale for each "
    "doubling of the side, so that its coarsest window always "
    "shows the same share of the scene; the number of pieces of clutter grows with the side. Error "
    "is measured after the same time of training for all; larger marks are larger scenes. The "
    "agent was trained with the curriculum `distance`: its first glimpses are near the target at "
    "first and move away with success, so training, but not the test, uses the target's location."
)


def scaling_blocks(scaling: Scaling | None) -> list[str]:
    """The section."""
    begin = ["## How cost grows with the scene", _SCALING]
    if scaling is None:
        return [*begin, f"Not measured yet: {SCALE}."]
    return [*begin, *_measured(scaling, SCALING_FIGURE)]


def further_blocks(scaling: Scaling | None) -> list[str]:
    """The section of a further measurement; nothing where there is none."""
    if scaling is None:
        return []
    models = f"{len(scaling.models)} models at {_pixels(sorted({p.side for p in scaling.points}))}"
    return [
        "### On another machine",
        f"The same with {models}. Its numbers are not to be compared with those above.",
        *_measured(scaling, FURTHER_FIGURE),
    ]


def _measured(scaling: Scaling, figure: str) -> list[str]:
    """What was measured, the figure, the table and what is found."""
    own_names = {model: model for model in scaling.models}
    found = [
        *_beside_rivals(scaling),
        _dense(scaling),
        _chance(scaling),
        _unmeasured(scaling, own_names),
        scaling.notes,
    ]
    return [
        f"`{scaling.env_id}`, products in {scaling.precision}, {scaling.minutes:g} core-minutes of "
        "training at each side, one run for each model and side, so that no claim is made, "
        f"{scaling.points[0].scenes:,} test scenes ({scaling.hardware}). "
        "Costs were timed in one run, of revision "
        f"{short_revision(scaling.revision)}{_trained_by(scaling)}.",
        f"![Cost and error against the scene's side]({in_docs(figure)})",
        scaling_table(scaling),
        " ".join(filter(None, found)),
    ]


def _trained_by(scaling: Scaling) -> str:
    """Revisions of the trainings, of those that recorded theirs."""
    trained = [point.revision for point in scaling.points if point.revision]
    others = dict.fromkeys(r for r in trained if r != scaling.revision)
    if not others:
        return ""
    lacking = len(scaling.points) - len(trained)
    unknown = f"; that of {lacking} earlier trainings was not recorded" if lacking else ""
    names = listed([short_revision(revision) for revision in others])
    return f"; models were trained by {names}{unknown}"


def _chance(scaling: Scaling) -> str:
    """The error of guesses, by the environment."""
    blind = blind_error(scaling.env_id)
    return "" if blind is None else f"Blind guesses are wrong in {blind:.0f} %."


def _beside_rivals(scaling: Scaling) -> list[str]:
    """Where the agent's lines of error and of cost cross those of each other model."""
    rivals = [name for name in IN_WORDS if name != "reinforce"]
    return [told for rival in rivals if (told := _beside(scaling, rival))]


def _beside(scaling: Scaling, rival: ModelName) -> str:
    """Which of the agent and a rival errs less at which sides, and how their costs differ."""
    called = f"the {IN_WORDS[rival]}"
    hard, other = (
        {point.side: point for point in scaling.points if point.key == key}
        for key in ("reinforce", rival)
    )
    sides = sorted(hard.keys() & other.keys())
    if not sides:
        return ""
    errs_less = {
        f"{called} errs less than the agent": [
            n for n in sides if other[n].interval_percent[1] < hard[n].interval_percent[0]
        ],
        f"the agent errs less than {called}": [
            n for n in sides if hard[n].interval_percent[1] < other[n].interval_percent[0]
        ],
    }
    errors = [f"{model} at {_pixels(found)}" for model, found in errs_less.items() if found]
    alike = [n for n in sides if not any(n in found for found in errs_less.values())]
    errors += [f"their intervals overlap at {_pixels(alike)}"] if alike else []
    ratios = {n: other[n].inference.total / hard[n].inference.total for n in sides}
    told = [
        f"{digits(ratios[side], 2)} times as much at {_pixels([side])}"
        for side in dict.fromkeys((sides[0], sides[-1]))
    ]
    crossed = [
        f"; the costs cross between {_pixels(pair)}"
        for pair in pairwise(sides)
        if (ratios[pair[0]] < 1) != (ratios[pair[1]] < 1)
    ]
    costs = f"A scene costs {called} {listed(told)}{''.join(crossed)}."
    return f"After the same time of training {listed(errors)}. {costs}" if errors else costs


def _dense(scaling: Scaling) -> str:
    """What costs would be of scenes that are not mostly black, at the largest side."""
    side = max(point.side for point in scaling.points)
    at_side = {point.key: point for point in scaling.points if point.side == side}
    sums = {each.side: each.milliseconds for each in scaling.dense_sums}
    if side not in sums or "reinforce" not in at_side:
        return ""
    hard = at_side.pop("reinforce").inference.total + sums[side]
    others = [
        f"the {IN_WORDS[name]} {digits(point.inference.total / hard, 2)} times as much"
        for name, point in at_side.items()
    ]
    return (
        "These scenes are black but for their pieces, and the agent's sensor sums large ones there "
        f"alone. A scene of {_pixels([side])} that is nowhere black would take it up to "
        f"{digits(sums[side], 2)} ms more"
        + (f", and would cost {listed(others)} as the agent." if others else ".")
    )


def _pixels(sides: Sequence[float]) -> str:
    """Sides in words: "60 and 1,920 pixels"."""
    return f"{listed([f'{side:,}' for side in sides])} pixels"


def _unmeasured(scaling: Scaling, called: Mapping[str, str]) -> str:
    """Which models lack at which sides, and which are near chance; `called` has the name of each
    model."""
    sides = {point.side for point in scaling.points}
    lacks = {
        called[model]: sorted(sides - {point.side for point in scaling.of(model)})
        for model in scaling.models
    }
    lacking = [f"{model} at {_pixels(found)}" for model, found in lacks.items() if found]
    blind = blind_error(scaling.env_id)
    stuck = [
        f"{called[point.model]} at {_pixels([point.side])} ({count(point.images)} images)"
        for point in scaling.points
        if is_near_chance(point.interval_percent[1], blind)
    ]
    said = [f"Not measured: {listed(lacking)}."] if lacking else []
    return " ".join([*said, *([near_chance(stuck)] if stuck else [])])


def _tuned(benchmarks: Path) -> str:
    """On scenes of which sides the settings were chosen."""
    agents, others = sides_of_trials(benchmarks, "Cluttered")
    if not agents or not others:
        return ""
    return (
        " Recorded [trials](docs/trials.md) on cluttered images are of agents at "
        f"{_pixels(agents)}, and of models that see everything at {_pixels(others)}."
    )


def scaling_in_short(scaling: Scaling | None, benchmarks: Path) -> str:
    """The README's block: what choosing where to look buys as scenes grow; `benchmarks` has the
    records of trials."""
    if scaling is None:
        return f"Not measured yet: {SCALE}."
    training = (
        "The agent's training used a curriculum: its first glimpse was near the target at first, "
        f"and farther away with success. The others had none.{_tuned(benchmarks)} The soft window "
        "is DRAW's, of 12x12 filters at every side"
    )
    with_retina = any(point.key == "soft_retina" for point in scaling.points)
    training += "; the soft retina has the agent's windows." if with_retina else "."
    called = {point.model: IN_WORDS[point.key] for point in scaling.points}
    named = listed([f'{words} "{model}"' for model, words in called.items()])
    found = [
        *_beside_rivals(scaling),
        _dense(scaling),
        training,
        _unmeasured(scaling, called),
        scaling.notes,
        f"Other tables call {named}. [Costs by part]({PLACE}).",
    ]
    return (
        f"![Error and cost against the scene's side]({SHORT_FIGURE})\n\n"
        f"{extremes_table(scaling)}\n\n"
        f"`{scaling.env_id}` with its scene enlarged: error after {scaling.minutes:g} core-minutes "
        "of training, and milliseconds of one core to play a scene, in batches of the training's "
        f"size; one run for each model and side, so no claim is made. {_chance(scaling)}".rstrip()
        + f"\n\n{bullets(filter(None, found))}"
    )
