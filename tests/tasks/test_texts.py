"""Stories by a second telling of them, and what readers are shown and paid."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from glimpse_envs.core.arrays import Ints
from glimpse_envs.core.keys import Keys
from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.rendering import TablePicture
from glimpse_envs.rendering.legend import legend_of
from glimpse_envs.tasks.text.reading import ReadText
from glimpse_envs.tasks.text.story_words import DROPS, MOVES, PEOPLE, PLACES, TAKES, VOCABULARY
from glimpse_envs.tasks.text.text import Passages, Text, TextShape
from glimpse_envs.testing import Actions
from tests.support.episodes import Observation, make_single, make_vector, oracle, play

STORIES = "Glimpse/Stories-v0"


def told(envs: GlimpseVectorEnv) -> list[tuple[list[list[str]], list[str], str, list[int]]]:
    """Of each row: the statements, the first one first, the question, the answer, and the indices
    of the facts."""
    task = envs.task
    assert isinstance(task, ReadText)
    observation, info = envs.reset(seed=4)
    found = []
    answers = task.oracle()["answer"]
    for row in range(envs.num_envs):
        count = int(info["length"][row])
        lines = [task.sentence(words).split() for words in observation["scene"][row]]
        assert all(lines[:count])
        assert not any(lines[count:])
        facts = [count - 1 - fact for fact in info["target_statements"][row] if fact >= 0]
        question = task.sentence(observation["question"][row]).split()
        answer = task.components["answer"].names[answers[row]]
        found.append((lines[count - 1 :: -1] if count else [], question, answer, facts))
    return found


def test_a_sentence_is_read_as_it_is_observed() -> None:
    asked = []
    for encoding in ("ids", "onehot"):
        envs = make_vector(STORIES, 2, encoding=encoding)
        observation, _ = envs.reset(seed=0)
        assert isinstance(envs.task, ReadText)
        asked.append([envs.task.sentence(words) for words in observation["question"]])
        for wrong in (observation["question"], np.array([9999]), np.array([0.5])):
            with pytest.raises(ValueError, match="words must be those of one sentence, as"):
                envs.task.sentence(wrong)
    assert asked[0] == asked[1]
    assert all(question.startswith("where") for question in asked[0])


def place_of(statements: list[list[str]], asked: str) -> str | None:
    """Where somebody or something is after `statements`, in plain Python; None: not known."""
    places: dict[str, str] = {}
    holders: dict[str, str] = {}
    for who, verb, *rest in statements:
        if verb in MOVES:
            places[who] = rest[-1]
        elif verb in TAKES:
            holders[rest[-1]] = who
        else:
            assert verb in DROPS
            holders.pop(rest[-1], None)
            if who in places:
                places[rest[-1]] = places[who]
    return places.get(holders.get(asked, asked))


@pytest.mark.parametrize("facts", [1, 2])
def test_the_answer_is_that_of_the_story_and_of_its_facts_alone(facts: int) -> None:
    envs = make_vector(STORIES, 400, view="full", facts=facts, length=14)
    for statements, question, answer, which in told(envs):
        assert question[:2] == ["where", "is"]
        assert place_of(statements, question[-1]) == answer
        assert len(which) == facts
        assert which == sorted(which)
        assert place_of([statements[fact] for fact in which], question[-1]) == answer


def test_things_are_taken_and_dropped_by_those_who_can() -> None:
    for statements, *_ in told(make_vector(STORIES, 300, view="full", facts=2, length=20)):
        places: dict[str, str] = {}
        holders: dict[str, str] = {}
        lies: dict[str, str] = {}
        for who, verb, *rest in statements:
            thing = rest[-1]
            if verb in MOVES:
                assert places.get(who) != thing, "to another place"
                places[who] = thing
            elif verb in TAKES:
                assert thing not in holders
                assert lies.get(thing, places[who]) == places[who]
                holders[thing] = who
            else:
                assert holders.pop(thing) == who
                lies[thing] = places[who]


@pytest.mark.parametrize("facts", [1, 2])
def test_all_lengths_people_and_answers_are_as_frequent(facts: int) -> None:
    n = 6000
    envs = make_vector(STORIES, n, facts=facts, min_length=3, length=5)
    _, info = envs.reset(seed=0)
    task = envs.task
    assert isinstance(task, ReadText)
    lengths = np.bincount(info["length"], minlength=6)[3:]
    answers = np.bincount(task._passages.answers, minlength=len(PLACES))
    people = np.bincount(task._passages.statements[:, 0, 0], minlength=len(VOCABULARY))
    people = people[[VOCABULARY.index(person) for person in PEOPLE]]
    for counts in (lengths, answers, people):
        share = 1 / len(counts)
        assert counts.sum() == n
        assert abs(counts / n - share).max() < 4 * np.sqrt(share * (1 - share) / n)


def test_a_look_reads_one_statement_and_the_first_is_the_last_one() -> None:
    whole, _ = make_vector(STORIES, 50, view="full").reset(seed=3)
    envs = make_vector(STORIES, 50, look="absolute", slack=9.0, autoreset_mode="Disabled")
    seen, info = envs.reset(seed=3)
    np.testing.assert_array_equal(seen["glimpse"], whole["scene"][:, 0])
    np.testing.assert_array_equal(seen["question"], whole["question"])
    for number in (4, 9, 0):
        passing = {"look": np.full(50, number), "answer": np.zeros(50, np.int64)}
        seen, *_, info = envs.step(passing)
        np.testing.assert_array_equal(seen["glimpse"], whole["scene"][:, number])
        bits = seen["location"] @ (1 << np.arange(8))
        np.testing.assert_array_equal(bits, number)
        blank = ~seen["glimpse"].any(axis=1)
        np.testing.assert_array_equal(blank, number >= info["length"])


def test_moves_go_to_neighbours_and_stay_within_the_text() -> None:
    envs = make_vector(STORIES, 30, look="moves", autoreset_mode="Disabled", slack=20.0)
    _, info = envs.reset(seed=1)
    last, place = info["length"] - 1, np.zeros(30, np.int64)
    random = np.random.default_rng(0)
    for _ in range(39):
        moves = random.choice(3, 30, p=[0.2, 0.2, 0.6])
        seen, *_ = envs.step({"look": moves, "answer": np.zeros(30, np.int64)})
        place = np.clip(place + moves - 1, 0, last)
        np.testing.assert_array_equal(seen["location"] @ (1 << np.arange(8)), place)
    assert (place > 0).any()


def test_one_hot_words_are_the_numbers_words() -> None:
    for view in ("glimpse", "full"):
        numbers, _ = make_vector(STORIES, 20, view=view).reset(seed=2)
        hot, _ = make_vector(STORIES, 20, view=view, encoding="onehot").reset(seed=2)
        for name in numbers.keys() & {"glimpse", "scene", "question"}:
            shape = (*numbers[name].shape, len(VOCABULARY))
            assert hot[name].dtype == np.float32
            np.testing.assert_array_equal(hot[name].reshape(shape).argmax(-1), numbers[name])
            assert (hot[name].reshape(shape).sum(-1) == 1).all()


@pytest.mark.parametrize("look", ["absolute", "moves"])
@pytest.mark.parametrize("facts", [1, 2])
def test_the_oracle_reads_the_facts_and_answers(look: str, facts: int) -> None:
    envs = make_vector(STORIES, 200, look=look, facts=facts, autoreset_mode="NextStep")
    observation, info = envs.reset(seed=0)
    played = play(envs, observation, oracle)
    assert played.success.all()
    np.testing.assert_array_equal(played.returns, envs.task.ceiling)
    if look == "absolute":
        unread = (info["target_statements"] > 0).sum(axis=1)
        np.testing.assert_array_equal(played.steps, 1 + unread)


@pytest.mark.parametrize("look", ["absolute", "moves"])
def test_an_oracle_with_few_glimpses_answers_with_the_last(look: str) -> None:
    envs = make_vector(STORIES, 200, look=look, facts=2, slack=0.3, autoreset_mode="NextStep")
    observation, _ = envs.reset(seed=0)
    played = play(envs, observation, oracle)
    np.testing.assert_array_equal(played.returns, envs.task.ceiling)
    assert (played.steps <= 3).all()


def test_a_ceiling_asks_for_no_more_glimpses_than_there_are() -> None:
    envs = make_vector(STORIES, 1, facts=2, slack=0.1, glimpse_cost=0.1)
    assert envs.task.budget == 1
    assert envs.task.ceiling == 1.0
    assert make_vector(STORIES, 1, facts=2, glimpse_cost=0.1).task.ceiling == pytest.approx(0.9)


@pytest.mark.parametrize("reward", ["first", "final"])
def test_right_answers_are_paid_and_glimpses_cost(reward: str) -> None:
    n, cost = 40, 0.01
    envs = make_vector(
        STORIES, n, reward=reward, glimpse_cost=cost, slack=0.5, autoreset_mode="NextStep"
    )
    observation, info = envs.reset(seed=0)
    budgets = np.ceil(info["length"] / 2)

    def hurried(envs: GlimpseVectorEnv, _: Observation) -> Actions:
        task = envs.task
        assert isinstance(task, ReadText)
        right = task._passages.answers + (reward == "first")
        return {"look": np.zeros(n, np.int64), "answer": right}

    played = play(envs, observation, hurried)
    steps = np.ones(n) if reward == "first" else budgets
    np.testing.assert_array_equal(played.steps, steps)
    np.testing.assert_allclose(played.returns, 1 - cost * (steps - 1))
    assert played.success.all()
    waited = 0.0 if reward == "first" else np.ceil(np.arange(2, 11) / 2).mean() - 1
    assert envs.task.ceiling == pytest.approx(1 - cost * waited)
    assert envs.task.chance == pytest.approx(1 / len(PLACES) - cost * waited)


def test_a_wrong_answer_ends_the_episode_and_a_spent_budget_pays_nothing() -> None:
    for answer in (1, 0):
        envs = make_vector(STORIES, 60, autoreset_mode="NextStep")
        observation, info = envs.reset(seed=0)

        def act(_: GlimpseVectorEnv, __: Observation, given: int = answer) -> Actions:
            return {"look": np.ones(60, np.int64), "answer": np.full(60, given)}

        played = play(envs, observation, act)
        np.testing.assert_array_equal(played.steps, 1 if answer else 2 * info["length"])
        np.testing.assert_array_equal(played.returns, played.success)
        assert not played.success.all()
        assert played.success.any() == (answer > 0)


def test_a_picture_has_the_lines_the_path_and_the_facts() -> None:
    env = make_single(STORIES, look="absolute", facts=2, slack=9.0)
    _, info = env.reset(seed=5)
    env.step({"look": 3, "answer": 0})
    picture = env.task.picture(0, "")
    assert isinstance(picture, TablePicture)
    assert picture.lines
    assert picture.path == (0, 3)
    assert picture.relevant == frozenset(info["target_statements"].tolist())
    assert picture.addresses == tuple(range(9, -1, -1))
    words = [len(line.split()) for line in picture.cells]
    assert words[::-1][: info["length"]].count(0) == 0
    assert picture.query.startswith("where is the ")
    assert picture.answer is None
    assert picture.target in PLACES


def test_pictures_of_long_texts_show_the_facts_and_the_latest_statements_read() -> None:
    env = make_single(STORIES, look="absolute", facts=2, length=60, min_length=60)
    _, info = env.reset(seed=5)
    shown = set()
    for number in (50, 31, 7, 40, *range(20, 40)):
        env.step({"look": number, "answer": 0})
        picture = env.task.picture(0, "")
        assert isinstance(picture, TablePicture)
        shown.add(len(picture.cells))
        assert {number, *info["target_statements"].tolist()} <= set(picture.addresses)
    assert shown == {12}


def test_the_legend_tells_of_lines_with_the_steps_beside_them() -> None:
    env = make_single(STORIES)
    env.reset(seed=0)
    signs = [entry.text for entry in legend_of(env.task.picture(0, ""))]
    assert signs == ["present line", "visited, at the steps beside", "holds the answer", "not seen"]


def test_a_budget_is_of_one_glimpse_at_least() -> None:
    for slack, budget in ((1e-10, 1), (0.15, 2), (1.0, 10)):
        assert make_single(STORIES, slack=slack).task.budget == budget


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"text": "novels"}, "text='novels' must be 'stories', 'babi', or the name of a class"),
        ({"facts": 3}, "facts=3 must be 1 or 2"),
        ({"facts": 2, "min_length": 1}, "min_length=1 must be"),
        ({"length": 1}, "min_length=2 must be at most length=1"),
        ({"look": "discrete"}, "look='discrete' must be one of"),
        ({"encoding": "words"}, "encoding='words' must be one of"),
        ({"slack": 0}, "slack=0 leaves no glimpse"),
        ({"slack": 1e20}, r"slack=1e\+20 makes a budget of 1e\+21 steps: it must be at most"),
        ({"view": "full", "glimpse_cost": 0.1}, "view='full' shows no glimpses"),
        ({"text": "babi", "kind": 21}, "kind=21 must be from 1 to 20"),
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gym.make(STORIES, **changes)


class Weather(Text):
    """One statement on the weather."""

    vocabulary = ("", "it", "rains", "shines", "how")
    answers = ("badly", "well")
    shape = TextShape(statements=1, words=2, question=1, facts=1)
    chance, fewest_facts, num_scenes = 0.5, 1, None
    lengths = np.ones(1, np.int64)

    def __init__(self, *, split: str = "train", dry: bool = True) -> None:
        self.dry = dry

    def allocate(self, groups: int) -> Passages:
        told, asked = np.array([[[1, 3 if self.dry else 2]]]), np.array([[4]])
        right, one = np.array([int(self.dry)]), np.ones(1, np.int64)
        return Passages(told, one, asked, right, np.zeros((1, 1), np.int64), np.zeros(groups, int))

    def deal(self, groups: Ints, keys: Keys, passages: Passages) -> None:
        passages.which[groups] = 0


@pytest.mark.parametrize("dry", [True, False])
def test_a_text_of_another_package_is_read(dry: bool) -> None:
    env = gym.make(STORIES, text=f"{__name__}:Weather", look="absolute", dry=dry)
    observation, _ = env.reset(seed=0)
    assert observation["glimpse"].tolist() == [1, 3 if dry else 2]
    look = env.action_space["look"]  # type: ignore[index]
    assert isinstance(look, spaces.Discrete)
    assert look.n == 1
    *_, info = env.step({"look": 0, "answer": 2 if dry else 1})
    assert info["success"]


class ByPosition(Weather):
    def __init__(self, split: str = "train", dry: bool = True) -> None:
        super().__init__(split=split, dry=dry)


def test_a_text_takes_its_arguments_by_keyword() -> None:
    with pytest.raises(ValueError, match=r"split, dry by position.* put an asterisk before"):
        gym.make(STORIES, text=f"{__name__}:ByPosition", dry=False)
