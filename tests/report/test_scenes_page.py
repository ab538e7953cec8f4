"""The page of scenes: errors beside costs and published errors, and what is not measured yet."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from glimpse_envs.evaluation.record import Model
from glimpse_envs.evaluation.records import write_record
from report.page import Places
from report.pages.scenes import FOLDER, HEADER, PAGE, SLOWER_CODE, publish
from report.references.links import linked
from report.references.scenes import SCENE_REFERENCES, SELECTION
from tests.support.records import FULL_STRONG, REINFORCE, a_record

CAPTIONER = Model("Soft captioner LSTM", "everything", attention="soft")
DESCRIBE, PAIR, SUM = (f"Glimpse/{name}-v0" for name in ("DescribeScene", "DigitPair", "DigitSum"))


def page_of(folder: Path) -> str:
    return publish(Places(folder / "results", folder)).texts[PAGE]


def cells_of(page: str, model: str) -> dict[str, str]:
    (line,) = (line for line in page.splitlines() if line.startswith(f"| {model} |"))
    return dict(zip(HEADER, (cell.strip() for cell in line.split("|")[1:-1]), strict=True))


def test_without_records_it_says_what_to_run_and_what_others_report(tmp_path: Path) -> None:
    page = page_of(tmp_path)
    assert "Not measured yet: `python -m benchmarks.tables scenes`" in page
    assert "DigitPair-v0, learned glimpses, 4 glimpses: paper 7.00 %" in page
    assert "DigitPair-v0 (context), learned glimpses, 4 glimpses: paper 5.00 %" in page
    assert "DigitSum-v0, full view strong, the whole scene: paper 3.20 %" in page
    assert "(fixed, noise under), patch selection, the whole scene: best public 0.90 %" in page
    assert all(linked(reference.source) in page for reference in SCENE_REFERENCES)


def test_errors_stand_beside_costs_and_published_errors(tmp_path: Path) -> None:
    folder = tmp_path / "results" / FOLDER
    for seed in range(5):
        write_record(a_record(env_id=PAIR, budget=4, error=3.0, seed=seed), folder)
    write_record(a_record(FULL_STRONG, env_id=SUM, error=4.0), folder)
    write_record(a_record(REINFORCE, env_id=DESCRIBE, budget=12, error=2.0), folder)
    write_record(a_record(CAPTIONER, env_id=DESCRIBE, budget=12, error=1.0), folder)
    page = page_of(tmp_path)
    sections = page.split("\n## ")
    (described,) = (part for part in sections if part.startswith("DescribeScene-v0\n"))
    (pairs,) = (part for part in sections if part.startswith("DigitPair-v0\n"))
    hard, soft = cells_of(described, "Reinforce LSTM"), cells_of(described, "Soft captioner LSTM")
    assert (hard["error %"], soft["error %"]) == ("2.00", "1.00")
    assert (hard["sees"], soft["sees"]) == ("one glimpse at a time", "every pixel")
    assert (hard["multiply-adds an episode"], soft["pixels covered"]) == ("12 M", "3.6 k")
    pair = cells_of(pairs, "Reinforce LSTM")
    # The paper leaves open what its pairs look like.
    assert (pair["paper"], pair["seeds"]) == ("7.00 (under, no claim)", "5")
    assert cells_of(page, "Full view strong")["paper"] == "3.20 (above, no claim)"
    assert "DigitPair-v0, learned glimpses, 4 glimpses: paper" not in page
    assert "Not measured yet" not in page


def test_no_claim_is_made_against_noise_of_another_kind(tmp_path: Path) -> None:
    folder = tmp_path / "results" / FOLDER
    drawn = {"fixed": True, "noise": "under"}
    for seed in range(5):
        one: dict[str, Any] = {"budget": 1, "error": 0.1, "seed": seed, "env_kwargs": drawn}
        write_record(a_record(SELECTION, env_id="Glimpse/MegapixelMNIST-v0", **one), folder)
    found = cells_of(page_of(tmp_path), SELECTION.name)
    assert (found["best public"], found["seeds"]) == ("0.90 (under, no claim)", "5")


def test_what_is_near_chance_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "results" / FOLDER
    megapixel = "Glimpse/MegapixelMNIST-v0"  # ten classes
    write_record(a_record(CAPTIONER, env_id=megapixel, error=88.0), folder)
    write_record(a_record(REINFORCE, env_id=megapixel, error=80.0), folder)
    page = page_of(tmp_path)
    (said,) = (line for line in page.splitlines() if line.startswith("Near chance, "))
    assert f"blind guesses: {CAPTIONER.name} (" in said
    assert REINFORCE.name not in said


def test_trainings_of_unequal_length_are_a_range(tmp_path: Path) -> None:
    folder = tmp_path / "results" / FOLDER
    for seed, minutes in enumerate((30, 30, 73)):
        write_record(a_record(env_id=PAIR, seed=seed, seconds=60.0 * minutes, cores=1), folder)
    assert cells_of(page_of(tmp_path), "Reinforce LSTM")["core-minutes"] == "30 to 73"


def test_the_precisions_of_one_table_are_told_where_they_differ(tmp_path: Path) -> None:
    folder = tmp_path / "results" / FOLDER
    write_record(a_record(env_id=PAIR, config={"precision": "bfloat16"}), folder)
    assert "Trained in" not in page_of(tmp_path)
    write_record(a_record(FULL_STRONG, env_id=PAIR, config={"precision": "float32"}), folder)
    told = f"Trained in bfloat16: *{REINFORCE.name}*. Trained in float32: *{FULL_STRONG.name}*. "
    assert told in page_of(tmp_path)


def test_tasks_without_random_glimpses_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "results" / FOLDER
    control = replace(REINFORCE, name="Reinforce LSTM, random glimpses", gaze="random")
    write_record(a_record(env_id=PAIR), folder)
    write_record(a_record(env_id=SUM, env_kwargs={"scales": 3}), folder)
    write_record(a_record(control, env_id=PAIR), folder)
    write_record(a_record(FULL_STRONG, env_id=DESCRIBE), folder)
    said = "random glimpses are not trained yet, or not for as long, on DigitSum-v0. What"
    assert said in page_of(tmp_path)
    short = write_record(a_record(control, env_id=SUM, seconds=60.0, episodes=9, curve=()), folder)
    assert said in page_of(tmp_path)
    short.unlink()
    in_time = write_record(a_record(control, env_id=SUM, episodes=9, curve=()), folder)
    assert "not trained yet" not in page_of(tmp_path)
    in_time.unlink()
    write_record(a_record(control, env_id=SUM, seconds=60.0), folder)  # of as many episodes
    assert "not trained yet" not in page_of(tmp_path)


def test_a_control_with_less_training_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "results" / FOLDER
    control = replace(REINFORCE, name="Reinforce LSTM, random glimpses", gaze="random")
    write_record(a_record(REINFORCE, env_id=PAIR, seconds=1800.0), folder)
    write_record(a_record(control, env_id=PAIR, seconds=600.0), folder)
    page = page_of(tmp_path)
    assert "Trained for less time than the agents that choose their looks: Reinforce LSTM," in page
    for record in folder.glob("*.json"):
        record.unlink()
    write_record(a_record(REINFORCE, env_id=PAIR, seconds=1800.0), folder)
    write_record(a_record(control, env_id=PAIR, seconds=1800.0), folder)
    assert "Trained for less time" not in page_of(tmp_path)


def test_an_oracle_that_errs_more_is_said_to_be_no_bound(tmp_path: Path) -> None:
    folder = tmp_path / "results" / FOLDER
    oracle = replace(REINFORCE, name="Reinforce LSTM, oracle glimpses", gaze="oracle")
    write_record(a_record(REINFORCE, env_id=PAIR, error=1.0), folder)
    write_record(a_record(oracle, env_id=PAIR, error=4.0), folder)
    assert f"errs less than {oracle.name}, which looks at" in page_of(tmp_path)
    for record in folder.glob("*oracle*.json"):
        record.unlink()
    cases: list[dict[str, Any]] = [
        {"error": 1.2},
        {"error": 4.0, "seconds": 60.0},
        {"error": 4.0, "env_kwargs": {"context": True}},
    ]
    for case in cases:
        write_record(a_record(oracle, env_id=PAIR, **case), folder)
        assert "an oracle may be" not in page_of(tmp_path)
        next(folder.glob("*oracle*.json")).unlink()


def test_seeds_of_unlike_numbers_of_episodes_show_their_range(tmp_path: Path) -> None:
    folder = tmp_path / "results" / FOLDER
    for seed, episodes in enumerate((1_000_000, 1_200_000)):
        write_record(a_record(env_id=PAIR, seed=seed, episodes=episodes), folder)
    assert cells_of(page_of(tmp_path), REINFORCE.name)["episodes"] == "1.1 M"
    write_record(a_record(env_id=PAIR, seed=2, episodes=2_000_000), folder)
    assert cells_of(page_of(tmp_path), REINFORCE.name)["episodes"] == "1.0 M to 2.0 M"


def test_models_that_were_trained_by_slower_code_are_marked(tmp_path: Path) -> None:
    folder = tmp_path / "results" / FOLDER
    for revision, after in ((SLOWER_CODE[0] + "0" * 32, " (slower code)"), ("0" * 40, "")):
        for model in (FULL_STRONG, REINFORCE):
            write_record(a_record(model, env_id=PAIR, episodes=500_000, revision=revision), folder)
        page = page_of(tmp_path)
        assert cells_of(page, FULL_STRONG.name)["episodes"] == f"500 k{after}"
        assert cells_of(page, REINFORCE.name)["episodes"] == "500 k", "agents are as fast"


def test_returns_that_are_the_share_of_success_have_no_column(tmp_path: Path) -> None:
    """Also where seeds differ, whose error is an inter-quartile mean."""
    folder = tmp_path / "results" / FOLDER
    for seed, error in enumerate((8.0, 9.0, 9.0, 12.0)):
        write_record(a_record(error=error, seed=seed, env_id=PAIR), folder)
    assert "| mean return |" not in page_of(tmp_path)
    write_record(
        a_record(CAPTIONER, env_id=PAIR, score={"mean_return": 3.0, "return_interval": (2.0, 4.0)}),
        folder,
    )
    assert "| mean return |" in page_of(tmp_path)


def test_a_target_s_place_that_training_knew_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "results" / FOLDER
    write_record(a_record(env_id=PAIR, config={"curriculum": None}), folder)
    assert "How models were made" not in page_of(tmp_path)
    near = replace(REINFORCE, name="Near")
    write_record(a_record(near, env_id=SUM, config={"curriculum": "distance"}), folder)
    assert "\n- Near on DigitSum-v0: trained with the curriculum `distance`" in page_of(tmp_path)


def test_words_of_names_are_explained_where_they_stand(tmp_path: Path) -> None:
    folder = tmp_path / "results" / FOLDER
    write_record(a_record(replace(REINFORCE, name="A2C LSTM, looks at cells"), env_id=PAIR), folder)
    page = page_of(tmp_path)
    assert "- **looks at cells**: each look is a choice" in page
    assert "**inhibition of return**" not in page


def test_times_are_not_said_to_be_equal(tmp_path: Path) -> None:
    assert "core-minutes in its row" in page_of(tmp_path).replace("\n", " ")


def test_a_context_is_compared_with_what_a_paper_says_of_one_alone(tmp_path: Path) -> None:
    folder = tmp_path / "results" / FOLDER
    for name, kwargs in (("without", {}), ("with", {"context": True})):
        model = replace(REINFORCE, name=name)
        write_record(a_record(model, env_id=PAIR, budget=4, error=6.0, env_kwargs=kwargs), folder)
        write_record(a_record(model, env_id=SUM, budget=4, error=6.0, env_kwargs=kwargs), folder)
    of_pairs, of_sums = (
        {line.split(" |")[0]: line for line in part.splitlines() if line.startswith("| with")}
        for part in page_of(tmp_path).split("\n## ")[3:5]
    )
    assert "7.00 (" in of_pairs["| without"]
    assert "5.00 (" in of_pairs["| with (context)"]
    assert "2.50 (" not in of_sums["| without"]
    assert "2.50 (" in of_sums["| with (context)"]
    assert " one glimpse at a time | " in of_pairs["| without"]
    assert "at a time, and the whole scene coarsely | " in of_pairs["| with (context)"]


def test_returns_stand_beside_all_errors_of_a_task_where_one_is_not_its_success(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "results" / FOLDER
    for model, error, mean in ((REINFORCE, 1.04, 0.892), (FULL_STRONG, 1.24, 0.9884)):
        score: dict[str, Any] = {"mean_return": mean, "return_interval": (mean - 0.01, mean + 0.01)}
        write_record(a_record(model, error, score, env_id=PAIR), folder)
    short = page_of(tmp_path).split("## In short")[1].split("## ")[0]
    assert "; return 0.892" in short
    assert "; return 0.988" in short, "it lies near the success, but is not it"
