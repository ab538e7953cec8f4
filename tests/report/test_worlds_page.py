"""The page of worlds says what the records do, and nothing without them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from glimpse_envs.evaluation.record import Model, Record
from glimpse_envs.suite import ATARI, MINIGRID
from report.blind_levels import BlindLevel, BlindLevels, read_blind_levels
from report.grouping import group_runs
from report.page import Places
from report.pages.worlds import GAZE_BEGAN_ANEW, worlds_page
from tests.support.records import a_record, as_runs

PPO = Model("PPO LSTM, answer by reward", learns_from="reward")


def a_game(gaze: str, value: float, seed: int = 0, longest: int = 900) -> Record:
    look = {} if gaze == "learned" else {"look": gaze}
    score: dict[str, Any] = {"success": None, "success_interval": None, "successes": ""}
    score |= {"mean_return": value, "return_interval": (value - 1, value + 1), "episodes": 30}
    kwargs = {"game": "Pong", "fovea": 50, **look}
    return a_record(PPO, score=score, env_id=ATARI, env_kwargs=kwargs, seed=seed, budget=longest)


def page_of(*records: Record, blind: BlindLevels | None = None) -> str:
    return worlds_page(group_runs(as_runs(records)), Places(), blind or {})


def test_games_are_told_apart_by_their_gaze() -> None:
    text = page_of(a_game("learned", -3.25), a_game("raster", -12.0))
    assert "| Pong | learned | likeliest | -3.25 | -4.25 to -2.25 | — | 1 |" in text
    assert "| Pong | raster | likeliest | -12 | -13 to -11 | — | 1 |" in text


def test_sugarl_s_reward_is_a_gaze_of_its_own_beside_the_learned() -> None:
    learned = a_game("learned", 2.0)
    own = replace(a_game("learned", 8.0, seed=0), config={**learned.config, "sugarl_weight": 0.005})
    text = page_of(learned, own)
    assert "| Pong | SUGARL | likeliest | 8 | 7 to 9 |" in text
    assert "In Pong the learned gaze scored less than the SUGARL one by 6" in text


def test_seeds_of_a_game_are_one_row_however_long_their_episodes() -> None:
    text = page_of(a_game("static", 1.0), a_game("static", 4.0, seed=1, longest=1200))
    assert "| Pong | static | likeliest | 2.5 | 1 to 4 | — | 2 |" in text


def test_great_scores_have_no_exponent() -> None:
    text = page_of(a_game("learned", 1234.0))
    assert "| Pong | learned | likeliest | 1,234 | 1,233 to 1,235 | — | 1 |" in text


def test_the_length_of_training_is_a_mean_over_seeds() -> None:
    runs = [
        a_record(PPO, env_id="Glimpse/Catch-v0", budget=24, episodes=n, seed=seed,
                 score={"glimpses": 24.0})
        for seed, n in enumerate((1_000_000, 2_000_000))
    ]  # fmt: skip
    assert "| 36 M | 2 | 1.5 M |" in page_of(*runs)


def test_scores_by_samples_and_by_likeliest_actions_are_apart() -> None:
    score: dict[str, Any] = {"success": None, "success_interval": None, "successes": ""}
    runs = [
        a_record(
            PPO, env_id=MINIGRID, env_kwargs={"world": "DoorKey-6x6"}, seed=seed,
            score={**score, "mean_return": float(seed), "actions": actions},
        )
        for seed, actions in enumerate(("likeliest", "sampled"))
    ]  # fmt: skip
    text = page_of(*runs)
    assert "| none | likeliest | 0 | — | — | 1 |" in text
    assert "| none | sampled | 1 | — | — | 1 |" in text


def test_bonuses_and_their_weights_are_rows() -> None:
    def a_run(**config: Any) -> Record:
        score: dict[str, Any] = {"success": None, "success_interval": None, "successes": ""}
        kwargs = {"world": "DoorKey-6x6", "view": "agent"}
        return a_record(
            PPO, score={**score, "mean_return": 0.5}, env_id=MINIGRID, env_kwargs=kwargs,
            config=config,
        )  # fmt: skip

    text = page_of(a_run(), a_run(curiosity="rnd", curiosity_weight=0.003, entropy_weight=0.01))
    assert "| DoorKey-6x6 | PPO LSTM, answer by reward | none | likeliest | 0.5 |" in text
    bonuses = "RND, weight 0.003; entropy, weight 0.01"
    assert f"| DoorKey-6x6 | PPO LSTM, answer by reward | {bonuses} | likeliest | 0.5 |" in text


def test_catch_stands_by_what_ram_reports() -> None:
    text = page_of(*(a_record(PPO, 3.0, env_id="Glimpse/Catch-v0", seed=s) for s in range(5)))
    assert "| PPO LSTM, answer by reward | 97.00 |" in text
    assert "about 85 % caught" in text


def test_the_steps_of_training_are_told_where_episodes_are_of_one_length() -> None:
    def page(glimpses: float) -> str:
        catch = a_record(PPO, env_id="Glimpse/Catch-v0", budget=24, episodes=1_000_000,
                         score={"glimpses": glimpses})  # fmt: skip
        return page_of(catch)

    assert "| 24 M | 1 | 1.0 M |" in page(24.0)
    assert "| — | 1 | 1.0 M |" in page(12.5)
    assert "an inter-quartile mean over the seeds" in page(24.0)


def test_the_steps_of_segments_are_a_bound() -> None:
    kwargs = {"game": "Pong", "fovea": 50, "segment": 128}
    game = a_record(PPO, env_id=ATARI, env_kwargs=kwargs, episodes=10_000)
    assert "| at most 1.3 M |" in page_of(game)


def test_what_a_learned_gaze_bought_is_told_by_game() -> None:
    def game(name: str, look: str | None, mean: float) -> Record:
        kwargs = {"game": name} | ({} if look is None else {"look": look})
        score: dict[str, Any] = {
            "success": None, "success_interval": None, "successes": "",
            "mean_return": mean, "return_interval": (mean - 1, mean + 1), "episodes": 30,
        }  # fmt: skip
        return a_record(PPO, score=score, env_id=ATARI, env_kwargs=kwargs)

    text = page_of(
        game("Pong", None, 5.0), game("Pong", "static", 9.0), game("Pong", "random", 4.5),
        game("Pong", "raster", 3.3), game("Freeway", None, 5.0),
    )  # fmt: skip
    # Of equal errors, Welch's interval is about that of one mean, times the root of 2.
    assert (
        "In Pong the learned gaze scored more than the raster one by 1.7 (0.316 to 3.08) and less "
        "than the static one by 4 (-5.38 to -2.62). It is not told apart from the random one."
        in text
    )
    assert "fewer than 5 seeds, so no claim is made" in text
    assert "In Freeway" not in text


def test_gazes_are_compared_where_their_trainings_are_alike() -> None:
    def found(*segments: tuple[str | None, int]) -> str:
        return page_of(
            *(
                a_record(
                    PPO,
                    env_id=ATARI,
                    env_kwargs={"game": "Pong", "segment": segment}
                    | ({} if look is None else {"look": look}),
                    score={"mean_return": 5.0, "return_interval": (4.0, 6.0), "episodes": 30},
                )
                for look, segment in segments
            )
        )

    assert "In Pong the learned gaze is not told apart" in found((None, 32), ("static", 32))
    assert "In Pong the" not in found((None, 32), ("static", 128))
    apart = "settings are equal. Pong static: 5 with segment 128; 5 with segment 32."
    assert apart in found(("static", 32), ("static", 128))
    assert "all other settings" not in found((None, 128), ("static", 32))
    both = found((None, 32), ("static", 32), (None, 128), ("static", 128))
    assert "In Pong the" not in both, "of several settings none speaks for the gaze"


def test_gazes_that_began_anew_in_training_are_marked_and_compared_with_none() -> None:
    old = GAZE_BEGAN_ANEW[0] + "0" * 28
    learned, static = a_game("learned", 5.0), a_game("static", 9.0)
    text = page_of(replace(learned, revision=old), replace(static, revision=old))
    assert "| Pong | learned, older | likeliest | 5 |" in text
    assert "| Pong | static | likeliest | 9 |" in text, "its place was the same"
    assert "the gaze began anew" in text
    assert "the learned gaze scored" not in text
    text = page_of(learned, static, replace(a_game("random", 1.0), revision=old))
    assert "| Pong | random, older | likeliest | 1 |" in text
    assert "In Pong the learned gaze scored less than the static one by 4 (" in text
    assert "than the random" not in text
    text = page_of(learned, replace(static, revision=old))
    assert "the gaze began anew" not in text
    assert "In Pong the learned gaze scored less than the static one by 4" in text


def test_older_gazes_count_where_it_is_said_that_none_sees_or_none_is_measured() -> None:
    old = GAZE_BEGAN_ANEW[0] + "0" * 28
    seeing, blindly = replace(a_game("learned", -3.0), revision=old), a_game("static", -19.0)
    assert "every gaze scores as blind play" not in page_of(seeing, blindly, blind={"Pong": PONG})
    text = page_of(replace(a_game("random", 5.0), revision=old), a_game("learned", 5.0))
    assert "no other gaze is measured" not in text
    assert "Of Pong no other gaze is measured yet" in page_of(a_game("learned", 5.0))


def test_gazes_that_were_scored_otherwise_are_not_compared() -> None:
    learned, static = a_game("learned", 9.0), a_game("static", 1.0)
    (score,) = static.scores
    for other in ({"actions": "sampled"}, {"episodes": 100}):
        apart = replace(static, scores=(replace(score, **other),))
        assert "the learned gaze scored" not in page_of(learned, apart)
        assert page_of(learned, static, apart).count("| Pong | static |") == 2
    assert "the learned gaze scored more" in page_of(learned, static)


def test_a_grid_s_own_world_is_not_taken_for_a_game() -> None:
    score = {"mean_return": 0.5, "return_interval": (0.4, 0.6), "episodes": 30}
    text = page_of(a_record(PPO, env_id=MINIGRID, score=score), blind={"Pong": PONG})
    assert "| DoorKey-6x6 | " in text
    assert "random acts" not in text


PONG = [
    BlindLevel("random acts", 30, -20.0, (-21.0, -19.0)),
    BlindLevel("always UP", 10, -9, (-10, -8)),
]


def test_scores_without_looking_are_rows_and_what_is_no_higher_is_marked() -> None:
    text = page_of(
        a_game("learned", -3.0), a_game("random", -8.0), a_game("raster", -9.5),
        blind={"Pong": PONG},
    )  # fmt: skip
    assert "| Pong | learned | likeliest | -3 | -4 to -2 |" in text
    assert "| Pong | random | likeliest | -8 (as blind) | -9 to -7 |" in text
    assert "| Pong | raster | likeliest | -9.5 (as blind) | -10.5 to -8.5 |" in text
    link = "../results/benchmarks/blind_play.json"
    row = "| Pong | none: random acts | — | -20 | -21 to -19 | — | — | — | — |"
    assert f"{row} [30 episodes]({link}) |" in text
    assert "| Pong | none: always UP | — | -9 | -10 to -8 |" in text
    assert "In Pong the learned gaze scored more than the random one" in text
    assert "as blind)" not in page_of(a_game("learned", -9.0)), "not measured"


def test_nothing_is_said_of_gazes_that_all_play_as_if_blind() -> None:
    games = a_game("learned", -9.0), a_game("static", -19.0)
    text = page_of(*games, blind={"Pong": PONG})
    assert "In Pong every gaze scores as blind play does" in text
    assert "the learned gaze scored" not in text
    assert "the learned gaze scored" in page_of(*games)


def test_several_seeds_play_as_if_blind_if_all_do() -> None:
    def page(best: float) -> str:
        games = a_game("static", -12.0), a_game("static", best, seed=1)
        return page_of(*games, blind={"Pong": PONG})

    assert "(as blind)" in page(-9.0)
    assert "(as blind)" not in page(4.0), "one seed uses what it sees"


def test_the_uncertainty_of_blind_play_counts() -> None:
    def page(interval: tuple[float, float] | None) -> str:
        blind = [BlindLevel("always UP", 10, -9.0, interval)]
        return page_of(a_game("static", -7.5), blind={"Pong": blind})

    assert "(as blind)" in page((-11.0, -7.0))
    assert "(as blind)" not in page((-9.1, -8.9))


def test_of_one_act_for_ever_the_best_is_read(tmp_path: Path) -> None:
    def played(acts: str, mean: float, **kwargs: Any) -> dict[str, Any]:
        return {
            "env_id": ATARI if "game" in kwargs else MINIGRID, "env_kwargs": kwargs,
            "acts": acts, "episodes": 10, "mean_return": mean,
            "return_interval": [mean - 1, mean + 1],
        }  # fmt: skip

    plays = [
        played("random", 1.0, game="Pong"), played("UP", 5.0, game="Pong"),
        played("DOWN", 2.0, game="Pong"), played("random", 0.1, world="Empty-5x5", tile=4),
        played("left", 0.0, world="Empty-5x5"), played("right", 0.0, world="Empty-5x5"),
    ]  # fmt: skip
    assert read_blind_levels(tmp_path) == {}
    (tmp_path / "blind_play.json").write_text(json.dumps({"plays": plays}))
    assert read_blind_levels(tmp_path) == {
        "Pong": [
            BlindLevel("random acts", 10, 1.0, (0.0, 2.0)),
            BlindLevel("always UP", 10, 5.0, (4.0, 6.0)),
        ],
        "Empty-5x5": [
            BlindLevel("random acts", 10, 0.1, (-0.9, 1.1)),
            BlindLevel("any one act", 10, 0.0, (-1.0, 1.0)),
        ],
    }


def test_equal_times_are_said_to_be_unequal_episodes() -> None:
    configs = ({"curiosity": None}, {"curiosity": "icm", "curiosity_weight": 1})
    runs = [a_record(PPO, env_id="Glimpse/Search-v0", config=config) for config in configs]
    assert "unequal numbers of episodes" in page_of(*runs)
    assert "unequal numbers of episodes" not in page_of(runs[0])


def test_what_was_not_measured_is_said() -> None:
    text = page_of()
    assert text.count("Not measured yet.") == 4
    assert "about 85 % caught" in text
