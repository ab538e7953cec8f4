"""Digit sequence: read a row of images from left to right, and say where it ends."""

from typing import TYPE_CHECKING, Unpack

import numpy as np
from gymnasium import spaces

from glimpse_envs.core.arguments import check_choice, check_integers, check_lengths
from glimpse_envs.core.arrays import Bools, Floats, Ints
from glimpse_envs.core.boxes import middles_of
from glimpse_envs.core.keys import Keys
from glimpse_envs.sources import SPLITS
from glimpse_envs.task import Arrays, Component, Outcome, Rows, rows_of
from glimpse_envs.vision.picture_task import Looking, PictureTask
from glimpse_envs.vision.scenes.image_row import ImageRow
from glimpse_envs.vision.sensors.retina import Retina

if TYPE_CHECKING:
    from glimpse_envs.rendering import Picture


class DigitSequence(PictureTask):
    """Read a row of images from left to right, an answer every few glimpses, and say where it ends.

    ## Description

    The scene shows a row of S images of a `source`, from 1 to `length`. S is the scene's level, and
    the agent does not know it. After each `looks_per_answer` glimpses, N, one answer is scored: the
    class of the first image, of the second, and so on, and then "end".

    It is the task of DRAM on street numbers (Ba, Mnih and Kavukcuoglu, ICLR 2015, section 4.2: S of
    at most 5, N = 3, at most 18 glimpses of 54x54 pixels), with rows of digits. Each digit is
    scaled to `image_size` pixels by area means, lies up to `jitter` pixels above or below the row,
    and up to `gap` pixels from the next. The row's location is uniformly random. Digits are uniform
    and independent of each other.

    ## Action Space

    A `Dict`:

    - `look`: where to take the next glimpse. With `look="continuous"` a location (x, y) in [-1, 1],
      where (-1, -1) is the scene's top-left corner and (1, 1) its bottom-right corner; with
      `"tiles"` the number of a tile, row by row; with `"relative"` a move, projected into the unit
      disc and scaled by `max_move`. With `inside=True` [-1, 1] spans the places from which all of a
      glimpse lies in the scene, and a tile is seen from the nearest of them.
    - `answer`: the class of the image whose turn it is, or "end" after the last. Only every N-th
      answer counts.

    ## Observation Space

    A `Dict` of float32:

    - `glimpse`, in [0, 1], from the retina: (K C, g, g), scale by scale, finest first, each with
      its C channels. Scale k shows a window of side g 2**k pixels; what lies outside the scene is
      0.
    - `location` (2,): where the glimpse was taken.
    - `remaining` (1,): glimpses left / T, where T = N (`length` + 1) is the budget of the longest
      row, whatever this row's length, so that it does not tell the length.
    - `context` (C, 12, 12), with `context=True`: the whole scene in area means, with the first
      glimpse, and zeros later. It is DRAM's context, which serves to choose looks, not answers.

    With `history=True`, `glimpse` (T, ...) and `location` (T, 2) hold all glimpses so far, and
    zeros where none was taken yet. With `view="full"` there is only `scene` (C, H, W), and every
    step is scored.

    ## Rewards

    1 / (S + 1) for every right answer that is scored, so 1 for a whole row. A wrong one ends the
    episode; in DRAM the reward is the number of right answers so far, and only the gradient ends.

    ## Episode End

    The first glimpse is given by `reset`, at a uniformly random location, and counts. The episode
    terminates with the first wrong answer that is scored, or with the right "end", after N (S + 1)
    glimpses. Episodes are never truncated.

    ## Information

    After a step:

    - `target`: the right answer.
    - `target_mask`: whether the answer was scored.
    - `success`: whether the whole row was read correctly.

    Always:

    - `length`: S.
    - `answers` (L + 1,) int64, where L is the argument `length`: the S + 1 right answers in turn,
      then -1.
    - `target_box` (4,): x0, y0, x1, y1, in look coordinates, of the image whose turn it is; of the
      last image once "end" is the right answer.
    - `scene`, in a fixed split: the scene's number.
    - `waiting`, with `copies` of more than 1: whether the row waits because its episode has ended
      and that of a copy has not.

    ## References

    Ba, Mnih and Kavukcuoglu, Multiple Object Recognition with Visual Attention, ICLR 2015.

    ## Version History

    v0: initial version.

    Args:
        source: "glyphs" (built in), "mnist", or another source (see `ImageClassification`).
        split: "train" deals new scenes without end; under "validation" and "test" the first image
            of scene k is image k.
        scene_size: the scene's height in pixels.
        scene_width: its width in pixels.
        min_length: the fewest images in a row.
        length: the most images in a row.
        image_size: the side of each image in pixels.
        jitter: the most pixels of an image above or below its row.
        gap: the most pixels between neighbours.
        looks_per_answer: N, glimpses for each answer.
        glimpse_size: g, the side of a glimpse in cells.
        scales: K, each covering twice the side of the last; None: the fewest of which the widest is
            1.6 times as wide as the scene, and shows nearly all of it from any place.
        **looking: inside, look, max_move, view, history and context, as of `PictureTask`.

    Raises:
        ValueError: an argument is out of its range or does not fit the others; the longest row has
            no room.
        glimpse_envs.sources.SourceError: files are missing or damaged (at the first reset).
    """

    answer_reward: Floats
    levels: tuple[int, int]
    scores_mix_levels = True

    def __init__(
        self,
        *,
        source: str = "glyphs",
        split: str = "train",
        scene_size: int = 54,
        scene_width: int = 110,
        min_length: int = 1,
        length: int = 5,
        image_size: int = 20,
        jitter: int = 4,
        gap: int = 2,
        looks_per_answer: int = 3,
        glimpse_size: int = 12,
        scales: int | None = 3,
        **looking: Unpack[Looking],
    ) -> None:
        check_choice("split", split, SPLITS)
        check_lengths(1, min_length, length)
        check_integers(1, looks_per_answer=looks_per_answer)
        scene = ImageRow(
            split=split,
            source=source,
            scene_size=scene_size,
            scene_width=scene_width,
            length=length,
            image_size=image_size,
            jitter=jitter,
            gap=gap,
        )
        names, longest = (*scene.answers, "end"), int(length) + 1
        super().__init__(
            scene,
            sensor=Retina(scene.shape, glimpse_size=glimpse_size, scales=scales),
            budget=int(looks_per_answer) * longest,
            full_budget=longest,
            fixed_steps=False,
            **looking,
        )
        self.levels = int(min_length), int(length)
        self._per_answer = 1 if self._full else int(looks_per_answer)
        self.question, self._names, self._end = scene.question, names, len(scene.answers)
        answer = Component(
            spaces.Discrete(len(names)),
            effect="scored",
            taught=True,
            entropy=False,
            names=names,
            every=self._per_answer,
        )
        self.components = self.components_with(answer=answer)

    @property
    def chance(self) -> float:
        """Mean return of the best blind policy, if all lengths are equally likely: it answers a
        fixed number of classes, then "end"."""
        least, greatest = self.levels
        return max(
            float(np.mean([self._blind(guessed, row) for row in range(least, greatest + 1)]))
            for guessed in range(greatest + 1)
        )

    def _blind(self, guessed: int, length: int) -> float:
        """Return the mean return of `guessed` classes, then "end", in rows of `length`."""
        right = sum(self._end**-k for k in range(1, min(guessed, length) + 1))
        ended = self._end**-length if guessed == length else 0.0
        return (right + ended) / (length + 1)

    @property
    def ceiling(self) -> float:
        """Return of reading the whole row."""
        return 1.0

    def allocate(self, num_envs: int, copies: int, taken: Ints) -> None:
        super().allocate(num_envs, copies, taken)
        self.answer_reward = np.ones(num_envs)
        groups, longest = num_envs // copies, self.levels[1] + 1
        self._lengths = np.ones(groups, np.int64)
        self._right = np.full((groups, longest), -1, np.int64)
        self._given = np.full((num_envs, longest), -1, np.int64)  # scored answers

    def deal(self, groups: Rows, keys: Keys) -> None:
        self._lengths[groups] = keys.levels[groups]
        super().deal(groups, keys)
        self._right[groups, :-1] = self._stage.labels.reshape(len(self._lengths), -1)[groups]
        self._right[groups, -1] = -1
        self._right[groups, self._lengths[groups]] = self._end
        rows = rows_of(groups, self._copies)
        self.answer_reward[rows] = 1.0 / (self._lengths[rows // self._copies] + 1)
        self._given[rows] = -1

    def _turns(self, rows: Rows, glimpses: Ints) -> tuple[Ints, Ints]:
        """Return the number, from 0 on, of the answer for which each of `glimpses` (m,), from 1 on,
        is taken, and the right answer, (m,) each."""
        groups = rows // self._copies
        turns = np.clip((glimpses - 1) // self._per_answer, 0, self._lengths[groups])
        return turns, self._right[groups, turns]

    def _boxes(self, rows: Rows, glimpses: Ints) -> Floats:
        """Return the boxes (m, 4), in look coordinates, of the images whose turn it is."""
        groups, (turns, _) = rows // self._copies, self._turns(rows, glimpses)
        boxes = self._target_boxes.reshape(len(self._lengths), -1, 4)
        return boxes[groups, np.minimum(turns, self._lengths[groups] - 1)].astype(np.float64)

    def act(self, rows: Rows, actions: Arrays, last: Bools) -> Outcome:
        turns, target = self._turns(rows, self._taken[rows])
        answers = self._answers[rows] = actions["answer"][rows]
        scored = self._taken[rows] % self._per_answer == 0
        right = scored & (answers == target)
        self._given[rows[scored], turns[scored]] = answers[scored]
        success = right & (target == self._end)
        reward = right * self.answer_reward[rows]
        return Outcome(reward, success, target, scored, terminated=scored & ~right | success)

    def info(self, rows: Rows) -> Arrays:
        boxes = self._boxes(rows, self._taken[rows]).astype(np.float32)
        groups = rows // self._copies
        own = {"length": self._lengths[groups], "answers": self._right[groups]}
        return super().info(rows) | own | {"target_box": boxes}

    def oracle(self) -> Arrays:
        rows = np.arange(len(self._taken))
        answer = {"answer": self._turns(rows, self._taken)[1]}
        if self._full:
            return answer
        boxes = self._boxes(rows, self._taken + 1)
        return {"look": self._view.looks_at(middles_of(boxes), self._gaze.locations)} | answer

    def state_arrays(self) -> Arrays:
        return super().state_arrays() | {"given": self._given}

    def state_bounds(self) -> dict[str, tuple[float, float]]:
        answers = (-1, self._end)
        return super().state_bounds() | {"answers": answers, "given": answers}

    def picture(self, row: int, caption: str) -> "Picture":
        group = row // self._copies
        whole = self._right[group, : self._lengths[group] + 1].tolist()
        given = [answer for answer in self._given[row].tolist() if answer >= 0]
        going_on = given == whole[: len(given)] and len(given) < len(whole)
        target = self._text(whole)
        return self.picture_of(
            row,
            caption,
            pending=target if going_on else "",
            answer=self._text(given) if given else None,
            target=None if going_on else target,
        )

    def _text(self, answers: list[int]) -> str:
        return " ".join(self._names[answer] for answer in answers)
