"""Describe a scene of one or two images, word by word."""

from typing import TYPE_CHECKING, Unpack

import numpy as np
from gymnasium import spaces

from glimpse_envs.core.arguments import check_choice
from glimpse_envs.core.arrays import Bools, Ints
from glimpse_envs.core.keys import Keys
from glimpse_envs.sources import SPLITS
from glimpse_envs.task import Arrays, Component, Outcome, Rows, rows_of
from glimpse_envs.tasks.pictures.captions import NO_WORD, Captions
from glimpse_envs.vision.picture_task import Looking, PictureTask
from glimpse_envs.vision.scenes.image_layout import PAIRS, ImageLayout
from glimpse_envs.vision.sensors.retina import Retina

if TYPE_CHECKING:
    from glimpse_envs.rendering import Picture


class DescribeScene(PictureTask):
    """Describe a scene of one or two images in a sentence, a word at each look.

    ## Description

    A digit lies to the left or right of another, above or below another, or alone in a corner. At
    each step the agent takes a glimpse and writes a word, until it writes "." or has written 12
    words: "the digit 3 is on the left of the digit 7 .", "the digit 3 is above the digit 7 ." or
    "the digit 3 is on the top left .". With ten classes there are 22 words: the classes, "the", the
    source's name of a class ("digit"), "is", "on", "of", "left", "right", "above", "below", "top",
    "bottom" and ".". The first two words are always the same, so three glimpses are taken before
    the first digit has to be named.

    It is the "MNIST with captions" of Mansimov et al. (ICLR 2016), with the same relations. There,
    two digits are up to four columns off their sides, and may overlap by as much; here each lies
    within its half, or quarter, of the scene. As there, one of two equivalent sentences belongs to
    the scene: the relation is uniform over eight, where "left of" and "right of" are two.

    Combinations of a class and a position (left, right, above, below, and four corners) are held
    out: class c at the p-th position (from 0, in this order) where (c + p) % 5 == 0, one in five.
    Scenes of "train" contain none of them. In scenes of "validation" and "test" every digit is in
    one of them, which tests composition: each class and each position was seen in training, but
    never together.

    ## Action Space

    A `Dict`:

    - `look`: where to take the next glimpse. With `look="continuous"` a location (x, y) in [-1, 1],
      where (-1, -1) is the scene's top-left corner and (1, 1) its bottom-right corner; with
      `"tiles"` the number of a tile, row by row; with `"relative"` a move, projected into the unit
      disc and scaled by `max_move`. With `inside=True` [-1, 1] spans the places from which all of a
      glimpse lies in the scene, and a tile is seen from the nearest of them.
    - `answer`: the next word.

    ## Observation Space

    A `Dict` of float32:

    - `glimpse`, in [0, 1], from the retina: (K C, g, g), scale by scale, finest first, each with
      its C channels. Scale k shows a window of side g 2**k pixels; what lies outside the scene is
      0.
    - `last_action` (words,): the word written last, one-hot; zeros before the first.
    - `location` (2,): where the glimpse was taken.
    - `remaining` (1,): glimpses left / 12.
    - `context` (C, 12, 12), with `context=True`: the whole scene in area means, with the first
      glimpse, and zeros later. It is DRAM's context, which serves to choose looks, not answers.

    With `history=True`, `glimpse` (12, ...) and `location` (12, 2) hold all glimpses so far, and
    zeros where none was taken yet. With `view="full"` there are only `scene` (C, H, W) and
    `last_action`, at every step.

    ## Rewards

    1 with the last word, if the sentence is right: one of the two sentences (one for a digit in a
    corner) that describe the scene in the form above. "A is on the left of B" and "B is on the
    right of A" are both right.

    ## Episode End

    The first glimpse is given by `reset`, at a uniformly random location, and counts towards the
    budget of 12. An episode ends with the word ".", or with the 12th word. With that no
    word is left to say, so the episode terminates. Episodes are never truncated.

    ## Information

    After a step:

    - `target`: the word that was right there. It is the written word if that continues one of the
      two right sentences; otherwise the next word of the scene's sentence, or of the equivalent one
      if only that was followed. After a mistake it is the word at that position of the scene's
      sentence.
    - `target_mask`: whether that sentence has a word at this position.
    - `success`: whether the sentence is complete and right.

    Always:

    - `sentences` (2, 12) int64: the words of the scene's sentence and of the equivalent one (for a
      digit in a corner, the same one twice), and -1 after the last.
    - `target_box` (2, 4): x0, y0, x1, y1 of the sentence's subject and object in look coordinates;
      NaN if there is no object.
    - `scene`, in a fixed split: the scene's number.
    - `waiting`, with `copies` of more than 1: whether the row waits because its episode has ended
      and that of a copy has not.

    ## References

    Mansimov, Parisotto, Ba and Salakhutdinov, Generating Images from Captions with Attention, ICLR
    2016; their generator is github.com/emansim/text2image, mnist-captions.

    ## Version History

    v0: initial version.

    Args:
        source: "glyphs" (built in), "mnist", or another source (see `ImageClassification`); the
            name of each class is a word.
        split: "train" deals new scenes without end; "validation" and "test" are 10,000 each, of the
            split's images.
        combinations: of class and position in the scenes: "trained", only those that are not held
            out; "new", only those that are held out; "all"; None: "trained" under the split
            "train", "new" under the others.
        scene_size: the scene's side in pixels, at least twice the images'.
        glimpse_size: g, the side of a glimpse in cells.
        scales: K, each covering twice the side of the last; None: the fewest of which the widest is
            1.6 times as wide as the scene, and shows nearly all of it from any place.
        **looking: inside, look, max_move, view, history and context, as of `PictureTask`.

    Raises:
        ValueError: an argument is out of its range or does not fit the others.
        glimpse_envs.sources.SourceError: files are missing or damaged, or a class has no image (at
            the first reset).
    """

    answer_reward = 0.0  # a single right word earns nothing

    def __init__(
        self,
        *,
        source: str = "glyphs",
        split: str = "train",
        combinations: str | None = None,
        scene_size: int = 60,
        glimpse_size: int = 12,
        scales: int | None = 3,
        **looking: Unpack[Looking],
    ) -> None:
        check_choice("split", split, SPLITS)
        if combinations is None:
            combinations = "trained" if split == "train" else "new"
        scene = ImageLayout(
            split=split, source=source, scene_size=scene_size, combinations=combinations
        )
        self._captions = Captions(scene.kind, scene.answers)
        super().__init__(
            scene,
            sensor=Retina(scene.shape, glimpse_size=glimpse_size, scales=scales),
            budget=Captions.LENGTH,
            full_budget=Captions.LENGTH,
            fixed_steps=False,
            **looking,
        )
        self.question, self._allowed = scene.question, scene.allowed
        self.how_to_play = f'Write a sentence such as "{self._captions.example}"'
        words = self._captions.words
        answer = Component(
            spaces.Discrete(len(words)),
            taught=True,
            entropy=False,
            names=tuple(words),
            classes=len(scene.answers),
        )
        self.components = self.components_with(answer=answer)

    def _further_parts(self) -> dict[str, spaces.Box]:
        return {"last_action": spaces.Box(0.0, 1.0, (len(self._captions.words),), np.float32)}

    @property
    def chance(self) -> float:
        """Mean return of the best blind policy: it writes the sentence that is most often right."""
        relations, alike = len(self._allowed), 1.0 / self._allowed.sum(axis=1)  # classes, at places
        pairs = [2 / relations * alike[p] * alike[p ^ 1] for p in range(PAIRS)]
        return float(max([*pairs, *(alike[PAIRS:] / relations)]))

    @property
    def ceiling(self) -> float:
        """Return of a right sentence."""
        return 1.0

    def allocate(self, num_envs: int, copies: int, taken: Ints) -> None:
        super().allocate(num_envs, copies, taken)
        shape = num_envs, self.budget
        self._written = np.full(shape, NO_WORD)
        # The scene's sentence and its equivalent.
        self._right = np.full((num_envs // copies, 2, self.budget), NO_WORD)

    def deal(self, groups: Rows, keys: Keys) -> None:
        super().deal(groups, keys)
        relations, subjects, objects = self._stage.labels[groups].T
        self._right[groups, 0] = self._captions.write(relations, subjects, objects)
        self._right[groups, 1] = self._captions.equivalent(relations, subjects, objects)
        self._written[rows_of(groups, self._copies)] = NO_WORD

    def _followed(self, rows: Rows) -> Bools:
        """Return whether the words of `rows` (m,) so far follow each of two right sentences,
        (2, m)."""
        right, written = self._right[rows // self._copies], self._written[rows, None]
        before = np.arange(self.budget) < self._taken[rows, None, None] - 1
        followed: Bools = ((right == written) | ~before).all(axis=2).T
        return followed

    def act(self, rows: Rows, actions: Arrays, last: Bools) -> Outcome:
        own, other = self._followed(rows)
        position = self._taken[rows] - 1
        words = self._answers[rows] = actions["answer"][rows]
        first, second = self._right[rows // self._copies, :, position].T
        target = np.where(other & (~own | (second == words)), second, first)
        asked, end = target != NO_WORD, self._captions.end
        self._written[rows, position] = words
        success = (own | other) & (words == target) & (target == end)
        target = np.where(asked, target, end)
        return Outcome(success.astype(np.float64), success, target, asked, terminated=words == end)

    def info(self, rows: Rows) -> Arrays:
        return super().info(rows) | {"sentences": self._right[rows // self._copies]}

    def _further(self, rows: Rows) -> Arrays:
        words = self._answers[rows, None] == np.arange(len(self._captions.words))
        return {"last_action": words.astype(np.float32)}

    def oracle(self) -> Arrays:
        rows = np.arange(len(self._taken))
        own, other = self._followed(rows)
        position = np.maximum(self._taken - 1, 0)
        first, second = self._right[rows // self._copies, :, position].T
        words = np.where(other & ~own, second, first)
        return self._looks_at_target() | {"answer": np.where(words < 0, self._captions.end, words)}

    def state_arrays(self) -> Arrays:
        return super().state_arrays() | {"written": self._written}

    def state_bounds(self) -> dict[str, tuple[float, float]]:
        words = (NO_WORD, self._captions.end)
        return super().state_bounds() | {"answers": words, "written": words}

    def picture(self, row: int, caption: str) -> "Picture":
        written, right = self._written[row], self._right[row // self._copies]
        equal = (right == written).all(axis=1)
        ended = bool((written == self._captions.end).any() or (written != NO_WORD).all())
        target = self._captions.text(right[1] if equal[1] and not equal[0] else right[0])
        return self.picture_of(
            row,
            caption,
            pending="" if ended else target,
            answer=self._captions.text(written) or None,
            target=target if ended else None,
        )
