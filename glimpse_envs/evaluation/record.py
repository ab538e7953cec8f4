"""One JSON record per run, in one format for all families: the source of all published numbers.

A record's meaning is in fields that the learner sets, never in a part of a name.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from glimpse_envs.evaluation.actions import Actions
from glimpse_envs.evaluation.from_json import STRICT, Amount, Count, Number, Share

Sees = Literal["glimpses", "privileged", "everything"]
"""What a model is shown: an agent's glimpses; glimpses, with additional information in training; or
all that is hidden, from the first step on."""
LearnsFrom = Literal["label", "reward"]
"""What answers, if there are any, are learned from: `info["target"]`, or the reward alone."""
Attention = Literal["none", "hard", "soft", "soft_to_hard"]
"""How a model reads what it is shown: as it is; one place at a time, which it chooses; everywhere
at once, weighted; or softly at first in its training, then ever more often in one place, and always
there in tests."""
Gaze = Literal["learned", "static", "random", "raster", "oracle"]
"""Who chooses an agent's looks: the model, or, as a control, a scanner."""

NTM_COPY = "NTM copy"
"""Copying of bit vectors, from the paper on neural Turing machines; it has no environment:
`baselines.memories.ntm_copy`."""

HUMAN = "human"
"""The algorithm in records of people who played (`python -m agents.play`)."""

FEWEST_PLAYED = 30
"""The fewest episodes with which a record of people is shown."""

MULTIPLES = (1, 2, 4, 6)
"""Multiples of the greatest trained length at which a run is scored."""

SOLVED = 0.99
"""A task counts as solved from this share of validation episodes with success on."""


@dataclass(frozen=True)
class Model:
    """What was trained, as its learner describes it.

    Args:
        name: for tables, such as "Reinforce LSTM".
        sees, learns_from, attention, gaze: see the types; a gaze may be a person's, too.
        reference_kind: the published model that it reproduces, such as "conv" or "DRAW"; "" for
            none.
        remembers_frames: of a model that sees everything, whether an answer about a scene that
            moves rests on its earlier frames, too.
    """

    __pydantic_config__ = STRICT

    name: str
    sees: Sees = "glimpses"
    learns_from: LearnsFrom = "label"
    attention: Attention = "hard"
    gaze: Gaze | Literal["human"] = "learned"
    reference_kind: str = ""
    remembers_frames: bool = False


@dataclass(frozen=True)
class Score:
    """The result of one evaluation: each episode of a split, or of one level of it, played once.

    Shares lie in [0, 1]; intervals are of 95 %.
    """

    __pydantic_config__ = STRICT

    split: str
    """"test" or "validation"."""
    episodes: Number
    success: Share | None
    """Share of episodes with success; None where the task does not define success."""
    success_interval: tuple[Share, Share] | None
    """Wilson's interval of `success`."""
    mean_return: float | None
    """None in records that are older than this field."""
    return_interval: tuple[float, float] | None
    """Student's interval of `mean_return`."""
    glimpses: Amount | None
    """Mean number taken in an episode; None in records that are older than this field."""
    level: Count | None = None
    """The length of every episode; None where all lengths are played, or nothing has a length."""
    success_by_glimpse: tuple[Share, ...] = ()
    """(T,) after 1, 2, ... glimpses, an episode that has ended keeping its last value; empty where
    answers are not scored one by one."""
    costs: dict[str, Amount] = field(default_factory=dict)
    """Means per episode (`agents.scoring.costs`): `values_delivered`, numbers that reading handed
    to the model; `pixels_covered` or `cells_read`; `multiply_adds`, in all, and
    `multiply_adds_reading`; `seconds`, of the model and the environment alone, by the core's clock;
    where bits are copied, `wrong_bits`, and the most in any episode, `wrong_bits_greatest`. Costs
    that were not measured are absent."""
    costs_by_glimpse: dict[str, tuple[Amount, ...]] = field(default_factory=dict)
    """The same, name -> (T,), after 1, 2, ... glimpses."""
    normalised: float | None = None
    """`mean_return` with the task's chance as 0 and its ceiling as 1; None where these are not
    known, and in records that are older than this field."""
    successes: str = ""
    """Which episodes had success, in the split's order, by `pack`; empty where not known."""
    actions: Actions = "likeliest"
    """Whether the likeliest actions were taken, or samples."""


@dataclass(frozen=True)
class Validation:
    """The state of a training at one point of its curve.

    Args:
        core_seconds: of updates so far, evaluations excluded.
        episodes: learned from so far.
        success: share of validation episodes with success; None where the task does not define it.
        mean_return: of these episodes; None in records that are older than this field.
        scored: the number of these episodes.
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
    """Of the environment; `NTM_COPY` for the one task that is not in the suite."""
    env_kwargs: dict[str, Any]
    """Arguments of the task that differ from the id's defaults, flat scalars. view="full" is left
    out: `model.sees` tells it."""
    model: Model
    algorithm: str
    """A name in `agents.train.ALGORITHMS`, `baselines.train.ALGORITHMS` or `agents.sb3`'s,
    "ntm_copy", or `HUMAN`."""
    command: str
    """The command that began the run, as it can be typed at the root of the checkout, if it was one
    of this project's; "" where it was not kept."""
    seed: Count
    """Of the training run."""
    budget: Number
    """T, glimpses of the longest episode, the first included, or those that a soft model takes
    internally; 1 where all is read at once."""
    levels: tuple[Count, Count] | None
    """The least and the greatest length trained on; None where nothing has a length."""
    episodes: Count
    """Number of episodes learned from in the whole training."""
    seconds: Amount
    """Duration of the training: time of its core where one thread did all, else wall-clock time."""
    cores: Number
    """Number kept busy by the training, whose cost is `seconds * cores`."""
    hardware: str
    revision: str
    versions: dict[str, str]
    """Of the libraries, name -> version; empty in records that are older than this field."""
    config: dict[str, Any]
    """The learner's whole configuration."""
    scores: tuple[Score, ...]
    """The first is the headline: on the test split, for a task with lengths at the greatest trained
    one or at all of them; the others are of other lengths."""
    defaults: dict[str, Any] = field(default_factory=dict)
    """The learner's default configuration when the run was made. It completes older records, which
    lack options added since; empty in records that are older than this field."""
    curve: tuple[Validation, ...] = ()
    """Validation during the training, in order. The task was solved at the first point whose
    success is at least `SOLVED`."""
    notes: str = ""
    """Differences from the setting of the references, for readers of the table."""
    resumed: tuple[str, ...] = ()
    """Revisions other than `revision` that trained on where the run was resumed."""

    @property
    def headline(self) -> Score:
        """The score that tables show."""
        return self.scores[0]

    @property
    def on_gpu(self) -> bool:
        """Whether it was trained on a GPU, whose minutes are not those of a core."""
        return str(self.config.get("device", "cpu")).startswith("cuda")

    @property
    def is_shown(self) -> bool:
        """Whether it has enough episodes for tables, which records of people may lack."""
        return self.model.gaze != "human" or self.headline.episodes >= FEWEST_PLAYED

    def at(self, multiple: int) -> Score | None:
        """The score at `multiple` times the greatest trained length; None where there is none."""
        return None if self.levels is None else self.at_level(multiple * self.levels[1])

    def at_level(self, level: int) -> Score | None:
        """The score at `level`; None where there is none."""
        return next((score for score in self.scores if score.level == level), None)

    @property
    def solved_after(self) -> Validation | None:
        """The first point of the curve at which the task was solved; None if there is none."""
        reached = (p for p in self.curve if p.success is not None and p.success >= SOLVED)
        return next(reached, None)
