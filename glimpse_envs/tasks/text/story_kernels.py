"""Dealing stories: a compiled loop over groups of rows.

`keys` are the seeds, streams, episodes and indices of `glimpse_envs.core.keys.Keys`; every number
is drawn from the scene's own words, for the purposes SCENE.
"""

import numpy as np

from glimpse_envs.core.arrays import Ints, KeyArrays
from glimpse_envs.core.kernels import kernel
from glimpse_envs.core.randomness import SCENE, below, fill_keyed_words
from glimpse_envs.tasks.text.story_words import (
    DROPS,
    MOVES,
    PEOPLE,
    PLACES,
    TAKES,
    THINGS,
    VOCABULARY,
)

_WHERE, _IS, _THE, _TO = (VOCABULARY.index(word) for word in ("where", "is", "the", "to"))
_PERSON, _THING, _PLACE, _MOVE, _TAKE, _DROP = (
    VOCABULARY.index(words[0]) for words in (PEOPLE, THINGS, PLACES, MOVES, TAKES, DROPS)
)
_PEOPLE, _THINGS, _PLACES = len(PEOPLE), len(THINGS), len(PLACES)
_MOVES, _TAKES, _DROPS = len(MOVES), len(TAKES), len(DROPS)
_DRAWS = 4
"""Random words that a statement needs: who, what is done, to which place or thing, which verb."""


@kernel
def deal_stories(
    groups: Ints,
    keys: KeyArrays,
    things: bool,
    told: tuple[Ints, Ints],
    asked: tuple[Ints, Ints, Ints],
) -> None:
    """Draw the stories of `groups` (m,), of the lengths that `told` gives.

    With `things` the first statement is a move, and the second one takes a thing, so that there is
    one to ask for. Then, as without, a uniform person acts: half of those who are somewhere drop
    what they hold or take what they can, and all others move to another place.

    Args:
        things: whether people also take and drop things, of which one is asked for.
        told: `counts` (num_groups,), given, and `statements` (num_groups, S, W), filled, the last
            one first.
        asked: filled: `questions` (num_groups, Q), `answers` (num_groups,), `facts` (num_groups,
            F), numbers counted back from the question.
    """
    (counts, statements), (questions, answers, facts) = told, asked
    words = np.empty(1 + _DRAWS * statements.shape[1], np.uint32)
    place_of = np.empty(_PEOPLE, np.int64)  # of each person; -1: unknown
    moved = np.empty(_PEOPLE, np.int64)  # the statement that said so, counted from the first
    holder = np.empty(_THINGS, np.int64)  # of each thing; -1: nobody
    lies = np.empty(_THINGS, np.int64)  # where each thing was dropped; -1: never touched
    touched = np.empty(_THINGS, np.int64)  # the statement that it was taken or dropped in
    carried = np.empty(_THINGS, np.int64)  # the statement that told where its dropper was
    for group in groups:
        count = counts[group]
        fill_keyed_words(words[: 1 + _DRAWS * count], group, keys, SCENE)
        statements[group] = 0
        place_of[:], holder[:], lies[:], touched[:] = -1, -1, -1, -1
        first = below(words[1], _PEOPLE)
        for number in range(count):
            at = 1 + _DRAWS * number
            written = statements[group, count - 1 - number]
            person = below(words[at], _PEOPLE)
            if things and number == 1:
                person = first
            written[0] = _PERSON + person
            acts = things and place_of[person] >= 0 and (number == 1 or words[at + 1] % 2 == 0)
            thing = _thing_for(person, words[at + 2], place_of, holder, lies) if acts else -1
            if thing < 0:
                # Any place but the present one; all are as likely where that is unknown.
                here = place_of[person]
                place = below(words[at + 2], _PLACES if here < 0 else _PLACES - 1)
                if here >= 0 and place >= here:
                    place += 1
                place_of[person], moved[person] = place, number
                written[1] = _MOVE + below(words[at + 3], _MOVES)
                written[2], written[3], written[4] = _TO, _THE, _PLACE + place
                continue
            if holder[thing] == person:
                holder[thing], lies[thing] = -1, place_of[person]
                carried[thing] = moved[person]
                written[1] = _DROP + below(words[at + 3], _DROPS)
            else:
                holder[thing] = person
                written[1] = _TAKE + below(words[at + 3], _TAKES)
            touched[thing] = number
            written[2], written[3] = _THE, _THING + thing
        if things:
            thing = _one_of(touched, words[0])
            last = holder[thing]
            told_by = carried[thing] if last < 0 else moved[last]
            answers[group] = lies[thing] if last < 0 else place_of[last]
            earlier, later = min(told_by, touched[thing]), max(told_by, touched[thing])
            facts[group, 0], facts[group, 1] = count - 1 - earlier, count - 1 - later
            questions[group, 0], questions[group, 1] = _WHERE, _IS
            questions[group, 2], questions[group, 3] = _THE, _THING + thing
        else:
            person = _one_of(place_of, words[0])
            answers[group], facts[group, 0] = place_of[person], count - 1 - moved[person]
            questions[group, 0], questions[group, 1] = _WHERE, _IS
            questions[group, 2] = _PERSON + person


@kernel
def _one_of(known: Ints, word: np.uint32) -> np.int64:
    """Return a uniform index at which `known` (n,) is not -1."""
    left = below(word, (known >= 0).sum())
    for index in range(len(known)):
        if known[index] >= 0:
            if left == 0:
                return np.int64(index)
            left -= 1
    return np.int64(-1)


@kernel
def _thing_for(
    person: np.int64, word: np.uint32, place_of: Ints, holder: Ints, lies: Ints
) -> np.int64:
    """Return a uniform thing of those that `person` holds or can take: nobody holds them, and they
    lie at the person's place or were not told of yet; -1 where there is none."""
    able = np.full(len(holder), -1, np.int64)
    for thing in range(len(holder)):
        free = holder[thing] < 0 and (lies[thing] < 0 or lies[thing] == place_of[person])
        if free or holder[thing] == person:
            able[thing] = thing
    return _one_of(able, word) if (able >= 0).any() else np.int64(-1)
