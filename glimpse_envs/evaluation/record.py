"""One JSON record a run, of one kind for all families: what all that is published is drawn from.

Meaning is a field that the learner sets, never a word in a name.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from glimpse_envs.evaluation.from_json import STRICT, Amount, Count, Number, Share

Sees = Literal["glimpses", "privileged", "everything"]
"""What a model is shown: an agent's glimpses; glimpses, but more than these while it is trained;
or all that is hidden, from the first step on."""
LearnsFrom = Literal["label", "reward"]
"""What answers, where there are any, are learned from: `info["target"]`, or the reward alone."""
Attention = Literal["none", "hard", "soft", "soft_to_hard"]
"""How a model reads what it is shown: as it is; one place at a time, which it chooses; everywhere
at once, weighted; or softly at first and in one place by the end of its training."""
Gaze = Literal["learned", "random", "raster", "oracle"]
"""Who chooses an agent's looks: the model, or, as a control, a scanner."""

NTM_COPY = "NTM copy"
"""The copying of bit vectors of the neural Turing machine's paper, which has no environment:
`baselines.memories.ntm_copy`."""

HUMAN = "human"
"""The algorithm in records of people who played (`python -m agents.play`)."""

FEWEST_PLAYED = 30
"""Episodes from which on a record of people is shown."""

MULTIPLES = (1, 2, 4, 6)
"""Multiples of the greatest trained length that a run is scored at."""

SOLVED = 0.99
"""The share of validation episodes with success from which on a task counts as solved."""


@dataclass(frozen=True)
class Model:
    """What was trained, as its learner describes it.

    Args:
        name: for tables, such as "Reinforce LSTM".
        sees, learns_from, attention, gaze: see the types; a gaze may be a person's, too.
        reference_kind: a published model that it repeats, such as "conv" or "DRAW"; "" for none.
    """

    __pydantic_config__ = STRICT

    name: str
    sees: Sees = "glimpses"
    learns_from: LearnsFrom = "label"
    attention: Attention = "hard"
    gaze: Gaze | Literal["human"] = "learned"
    reference_kind: str = ""


@dataclass(frozen=True)
class Score:
    """What one evaluation found: each episode of a split, or of one level of it, played once.

    Shares lie in [0, 1]; intervals are of 95 %.
    """

    __pydantic_config__ = STRICT

    split: str
    """"test" or "validation"."""
    episodes: Number
    success: Share | None
    """Share of episodes with success; None where the task has no such thing."""
    success_interval: tuple[Share, Share] | None
    """Wilson's interval of `success`."""
    mean_return: float | None
    """None in records made before it was kept."""
    return_interval: tuple[float, float] | None
    """Student's interval of `mean_return`."""
    glimpses: Amount | None
    """Taken in an episode, a mean; None in records made before it was kept."""
    level: Count | None = None
    """The length of every episode; None where all lengths are played, or there are none."""
    success_by_glimpse: tuple[Share, ...] = ()
    """(T,) after 1, 2, ... glimpses, an episode that has ended keeping its last; empty where
    answers are not judged one by one."""
    costs: dict[str, Amount] = field(default_factory=dict)
    """Of one episode, a mean (`agents.scoring.costs`): `values_delivered`, numbers that reading
    handed to the model; `pixels_covered` or `cells_read`; `multiply_adds`, in all, and
    `multiply_adds_reading`; `seconds`, of the model and the environment alone, by the core's clock;
    where bits are copied, `wrong_bits` and the most of any episode, `wrong_bits_greatest`. Those
    that were not measured are absent."""
    costs_by_glimpse: dict[str, tuple[Amount, ...]] = field(default_factory=dict)
    """The same, name -> (T,), after 1, 2, ... glimpses."""
    normalised: float | None = None
    """`mean_return` with the task's chance as 0 and its ceiling as 1; None where nobody knows
    these, and in records made before it was kept."""
    successes: str = ""
    """Which episodes had success, in the split's order, by `pack`; empty where not known."""


@dataclass(frozen=True)
class Validation:
    """Where a training stood: one point of its curve.

    Args:
        core_seconds: of updates so far, evaluations excluded.
        episodes: learned from so far.
        success: share of validation episodes with success; None where the task has no such thing.
        mean_return: of these episodes; None in records made before it was kept.
        scored: how many these episodes are.
    """

    __pydantic_config__ = STRICT

    core_seconds: Amount
    episodes: Count
    success: Share | None
    mean_return: float | None
    scored: Number


@dataclass(frozen=True)
class Record:
    """One training run and its scores."""

    __pydantic_config__ = STRICT

    env_id: str
    """Of the environment; `NTM_COPY` for the one task that is none of the suite."""
    env_kwargs: dict[str, Any]
    """What differs from the id's defaults in the task, flat scalars; that a model sees everything
    (view="full") is in `model.sees` and left out."""
    model: Model
    algorithm: str
    """A name in `agents.train.ALGORITHMS`, `baselines.train.ALGORITHMS` or `agents.sb3`'s,
    "ntm_copy", or `HUMAN`."""
    command: str
    """With which the run was begun, as it can be typed at the root of the checkout; "" where it was
    not kept."""
    seed: Count
    """Of the training run."""
    budget: Number
    """T, glimpses of the longest episode, the first included, or those that a soft model takes
    inside itself; 1 where all is read at once."""
    levels: tuple[Count, Count] | None
    """The least and the greatest length trained on; None where nothing has a length."""
    episodes: Count
    """Learned from in the whole training."""
    seconds: Amount
    """Time of the training, of its core where one thread did all, else on the wall's clock."""
    cores: Number
    """Kept busy by the training, so that its cost is `seconds * cores`."""
    hardware: str
    revision: str
    versions: dict[str, str]
    """Of the libraries, name -> version; empty in records made before they were kept."""
    config: dict[str, Any]
    """The learner's whole configuration."""
    scores: tuple[Score, ...]
    """The first is the headline: the test split, of a task with lengths at the greatest trained
    one or of all; the others are of other lengths."""
    defaults: dict[str, Any] = field(default_factory=dict)
    """The learner's configuration with nothing changed, when the run was made: what records lack
    that were made before an option was added; empty in records made before it was kept."""
    curve: tuple[Validation, ...] = ()
    """Validation while it was trained, in order. The task was solved at the first point whose
    success is at least `SOLVED`."""
    notes: str = ""
    """What differs from the references' setting, for the reader of the table."""

    @property
    def headline(self) -> Score:
        """The score that tables show."""
        return self.scores[0]

    @property
    def is_shown(self) -> bool:
        """Whether there are episodes enough for tables, which those of people may lack."""
        return self.model.gaze != "human" or self.headline.episodes >= FEWEST_PLAYED

    def at(self, multiple: int) -> Score | None:
        """The score at `multiple` times the greatest trained length; None where there is none."""
        return None if self.levels is None else self.at_level(multiple * self.levels[1])

    def at_level(self, level: int) -> Score | None:
        """The score at `level`; None where there is none."""
        return next((score for score in self.scores if score.level == level), None)

    @property
    def solved_after(self) -> Validation | None:
        """The first point of the curve at which the task was solved; None where it never was."""
        reached = (p for p in self.curve if p.success is not None and p.success >= SOLVED)
        return next(reached, None)
