"""The report of runs: what a browser shows of it, offline, on a screen and on a telephone."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.export import export
from agents.report.__main__ import ReportConfig, main, write_report
from agents.report.analysis import analyse
from agents.report.gaze import targets_visited
from agents.report.page import make_page
from agents.report.trace import Witness
from agents.scoring.run_groups import group_runs
from agents.scoring.run_scores import evaluate_run, policy_of
from glimpse_envs.core.boxes import middles_of
from glimpse_envs.evaluation.policy import Policy
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.evaluation.runs import Run
from glimpse_envs.rendering import Picture
from tests.support import baselines
from tests.support.tiny import tiny_config
from tests.support.trainings import trained


def test_a_witness_sees_what_the_evaluation_scores(seeds: list[Run]) -> None:
    policy, kwargs = policy_of(seeds[0])
    witness, env_id = Witness(policy), seeds[0].config["config"]["env_id"]
    score = evaluate(policy, env_id, episodes=25, batch_size=10, watcher=witness, **kwargs)
    trace = witness.trace()
    assert trace.alive.shape == (25, 3)
    assert score.successes is not None
    np.testing.assert_array_equal(trace.right[:, -1], score.successes)
    np.testing.assert_array_equal(trace.alive.sum(axis=1), score.glimpses)
    assert score.scanpaths is not None
    inside = np.all(np.abs(trace.offsets) <= trace.boxes / 2, axis=2)
    assert inside[:, 1:].mean() == pytest.approx(score.scanpaths.share_on_target)
    likeliest = trace.probabilities  # deterministic answers are the likeliest
    assert (likeliest >= 0.1).all()
    assert (likeliest <= 1).all()
    unwatched = evaluate(policy, env_id, episodes=25, batch_size=10, **kwargs)
    assert unwatched == score


class _Addresses(HTMLParser):
    """All that a page loads or links to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [v or "" for k, v in attrs if k in ("src", "href", "xlink:href", "data")]


@pytest.fixture(scope="module")
def page(seeds: list[Run], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report") / "report.html"
    folders = tuple(run.folder for run in seeds)
    return write_report(ReportConfig(folders, out, episodes=60, mistakes=5))


def test_a_world_without_answers_has_failed_episodes_and_no_sureness(tmp_path: Path) -> None:
    kwargs = {"scene_size": 6, "glimpse_size": 2}
    config = tiny_config(env_id="Glimpse/Catch-v0", env_kwargs=kwargs, answer_by="reward")
    run = trained(Reinforce, config, tmp_path / "run")
    text = write_report(ReportConfig((run.folder,), None, episodes=20, mistakes=4)).read_text()
    assert "Failed: 4 episodes" in text
    assert "return 0.00" in text
    for alien in ("Surest", "no answer", "Error by glimpse"):
        assert alien not in text


@pytest.mark.learning
def test_a_page_stands_alone_and_has_all_parts(page: Path) -> None:
    text = page.read_text()
    addresses = _Addresses()
    addresses.feed(text)
    assert addresses.found
    assert all(address.startswith("data:") for address in addresses.found)
    assert not re.search(r"url\(|@import", text)
    for part in ("Learning curves", "Error by glimpse", "Where it looked", "By glimpse:",
                 "Confusion matrix", "Surest and wrong: 5 episodes", "Cost",
                 "How to repeat it"):  # fmt: skip
        assert part in text
    assert text.count('<svg class="scene"') == 15


@pytest.mark.learning
def test_what_a_run_says_of_itself_cannot_change_the_page(seeds: list[Run], tmp_path: Path) -> None:
    run = trained(Reinforce, tiny_config(), tmp_path / "run")
    run.replace_config({**run.config, "command": "<script>alert(1)</script>"})
    out = write_report(ReportConfig((run.folder,), None, episodes=20, mistakes=0))
    assert out == run.folder / "report.html"
    assert "<script" not in out.read_text()


@pytest.mark.learning
@pytest.mark.parametrize("env_id", ["Glimpse/Copy-v0", "Glimpse/AssociativeRecall-v0"])
def test_tapes_and_tables_have_accuracy_by_length_and_paths(env_id: str, tmp_path: Path) -> None:
    config = tiny_config(
        env_id=env_id, env_kwargs={"length": 2}, look_signal="reward", validation_episodes=0
    )
    run = trained(Reinforce, config, tmp_path / "run")
    out = write_report(ReportConfig((run.folder,), None, episodes=20, mistakes=3))
    text = out.read_text()
    assert "Scored on 20 validation episodes of length 2, each" in text
    assert "Accuracy by length" in text
    assert "Where it read and wrote" in text
    assert text.count('<svg class="paths"') >= 4
    assert "Where it looked" not in text


def test_several_environments_have_their_own_questions_and_lengths(
    seeds: list[Run], tmp_path: Path
) -> None:
    """A task that mixes lengths in its scores, too, has its accuracy by length."""
    runs = [seeds[0].folder]
    for name, env_kwargs in (("Copy", {"length": 2}), ("DigitSequence", {"source": "glyphs"})):
        config = tiny_config(
            env_id=f"Glimpse/{name}-v0", env_kwargs=env_kwargs, episodes=8, validation_episodes=0
        )
        runs.append(trained(Reinforce, config, tmp_path / name).folder)
    out = tmp_path / "all.html"
    text = write_report(ReportConfig(tuple(runs), out, episodes=5, mistakes=0)).read_text()
    assert "<p>Glimpse/CenteredGlyphs-v0: Which" in text
    assert "<p>Glimpse/Copy-v0: Put out" in text
    assert "5 validation episodes of the lengths in the table" in text
    lengths = dict(re.findall(r"<td>(\w+): [^<]*seed 0</td><td[^>]*>([^<]*)</td>", text))
    assert lengths == {"run0": "—", "Copy": "2", "DigitSequence": "mixed"}
    alike = write_report(ReportConfig((runs[0],), out, episodes=5, mistakes=0)).read_text()
    assert "<p>Which" in alike


def test_of_several_targets_it_is_told_how_many_were_visited(tmp_path: Path) -> None:
    kwargs = {"budget": 15}
    config = tiny_config(env_id="Glimpse/DigitPairGlyphs-v0", env_kwargs=kwargs, episodes=8)
    run = trained(Reinforce, config, tmp_path / "run")
    text = write_report(ReportConfig((run.folder,), None, episodes=40, mistakes=0)).read_text()
    assert "By glimpse, up to number 13 of 15:" in text
    witness = Witness(policy_of(run)[0])
    score = evaluate_run(run, split="validation", episodes=40, watcher=witness)
    trace = witness.trace()
    assert score.scanpaths is not None
    assert trace.on_target[:, 1:].mean() == pytest.approx(score.scanpaths.share_on_target)
    visited = trace.visited
    assert len(set(visited.tolist())) > 1
    assert f"has up to 2 targets, of which {visited.mean():.2f} are visited on average" in text
    assert score.successes is not None
    for number in set(visited.tolist()):
        those = visited == number
        right = 100 * score.successes[those].mean()
        cells = f"{number or 'none'}</td><td>{100 * those.mean():.1f} %</td><td>{right:.1f} %"
        assert cells in text
    failed = ~score.successes
    seen = (failed & (visited == 2)).sum()
    assert f"Of the {failed.sum()} failed episodes {seen} had visited every target" in text


def test_of_one_target_it_is_told_when_it_was_visited_first(tmp_path: Path) -> None:
    kwargs = {"budget": 6}
    config = tiny_config(env_id="Glimpse/ClutteredGlyphs-v0", env_kwargs=kwargs, episodes=8)
    run = trained(Reinforce, config, tmp_path / "run")
    text = write_report(ReportConfig((run.folder,), None, episodes=40, mistakes=0)).read_text()
    assert re.search(r"one target, which is visited in \d+\.\d % of episodes: the middle", text)
    witness = Witness(policy_of(run)[0])
    score = evaluate_run(run, split="validation", episodes=40, watcher=witness)
    arrival = witness.trace().arrival
    assert {0, 1} < set(arrival.tolist()), "some never arrive, some are dealt on the target"
    assert score.successes is not None
    assert "By the first glimpse on it:" in text
    for number in set(arrival.tolist()):
        those = arrival == number
        right = 100 * score.successes[those].mean()
        cells = f"{number or 'none'}</td><td>{100 * those.mean():.1f} %</td><td>{right:.1f} %"
        assert cells in text


@pytest.mark.learning
def test_a_soft_model_shows_what_it_attends_to(tmp_path: Path) -> None:
    hard = tiny_config()
    config = baselines.tiny_config("retina", env_id=hard.env_id, env_kwargs=hard.env_kwargs)
    run = baselines.trained(config, "retina", tmp_path / "soft")
    policy, _ = policy_of(run)
    witness = Witness(policy)
    evaluate_run(run, episodes=10, watcher=witness)
    trace = witness.trace()
    attention = trace.attention
    assert attention is not None
    assert (trace.probabilities[trace.scored] >= 0.1).all(), "of the likeliest of ten answers"
    np.testing.assert_allclose(attention.sum(axis=(1, 2)), 1, rtol=1e-3)
    text = write_report(ReportConfig((run.folder,), None, episodes=20, mistakes=2)).read_text()
    assert "Where it attended" in text
    assert "% sure" in text
    assert 'class="fixation"' not in text, "it takes no glimpses"


@pytest.mark.learning
def test_answers_of_a_model_that_sees_everything_have_their_names(tmp_path: Path) -> None:
    shapes: Any = {"env_id": "Glimpse/CircleSquare-v0", "env_kwargs": {"scene_size": 12}}
    run = baselines.trained(baselines.tiny_config("retina", **shapes), "retina", tmp_path / "soft")
    analysis = analyse(run, split="validation", episodes=20, mistakes=2)
    assert analysis.answers == ("square", "circle")


def test_weights_alone_tell_how_they_were_trained(seeds: list[Run], tmp_path: Path) -> None:
    """For how long, and by which command for them alone."""
    weights = export(seeds[0], tmp_path / "weights")
    table = "python -m benchmarks.tables pictures"
    weights.replace_config({**weights.config, "command": table})
    text = write_report(ReportConfig((weights.folder,), None, episodes=5, mistakes=0)).read_text()
    row = re.search(r"<td>weights: seed 0</td>(.*?)</tr>", text, re.DOTALL)
    assert row is not None
    assert re.search(r"<td[^>]*>96</td>.*\d s<", row[1])
    assert "No metrics were logged" not in text
    assert "Weights alone keep no metrics." in text
    assert "\npython -m agents.train reinforce --env-id Glimpse/CenteredGlyphs-v0 --" in text


def test_an_option_that_does_not_fit_is_refused_and_nothing_is_written(
    seeds: list[Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paper = tmp_path / "report.pdf"
    for arguments, message in (
        (["--episodes", "0"], "episodes=0 must be at least 1"),
        (["--out", str(paper)], f"a report's path must end in .html; it is {paper}"),
        (["--out", f"{__file__}/report.html"], f"cannot be written: {__file__} is a file, not a"),
    ):
        with pytest.raises(SystemExit):
            main([str(seeds[0].folder), *arguments])
        assert message in capsys.readouterr().err
    assert not paper.exists()
    with pytest.raises(ValueError, match="at least one run"):
        write_report(replace(ReportConfig(()), runs=()))
    assert not (seeds[0].folder / "report.html").exists()


@pytest.mark.learning
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (360, "dark")])
def test_a_browser_shows_it_offline_on_any_screen(
    page: Path, browser: Any, width: int, scheme: str
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, offline=True
    )
    shown, complaints = context.new_page(), []
    shown.on("console", lambda message: complaints.append(message.text))
    shown.on("pageerror", lambda error: complaints.append(str(error)))
    shown.goto(page.as_uri())
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    assert shown.evaluate("[...document.images].every(image => image.naturalWidth > 0)")
    assert shown.locator("details").first.is_visible()
    ground = shown.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", ground))) < 200) == (scheme == "dark")
    closed = shown.locator("body > details").last
    closed.locator("summary").first.click()
    assert closed.get_by_text("How to repeat it").is_visible()
    context.close()
    assert complaints == []


def test_the_head_of_a_page_has_the_episodes_of_all_runs(seeds: list[Run]) -> None:
    analyses = [analyse(run, split="validation", episodes=n, mistakes=0)
                for run, n in zip(seeds[:2], (5, 1200), strict=True)]  # fmt: skip
    text = make_page(group_runs(seeds[:2]), analyses)
    assert "Scored on 5 to 1,200 validation episodes, each" in text


def test_a_report_on_random_looks_draws_those_that_were_scored(tmp_path: Path) -> None:
    run = trained(Reinforce, tiny_config(gaze="random", episodes=8), tmp_path / "run")
    found = analyse(run, split="validation", episodes=30, mistakes=30)
    assert found.evaluation.successes is not None
    assert found.evaluation.locations is not None
    assert len(found.replays) == (~found.evaluation.successes).sum() > 0
    view = found.seen.picture_view
    assert view is not None
    for drawn in found.replays:
        picture = drawn.pictures[-1]
        assert isinstance(picture, Picture)
        assert picture.answer != picture.target
        scored = view.space.to_pixels(found.evaluation.locations[drawn.episode])
        np.testing.assert_allclose(picture.path, scored, atol=1e-2)


class OneDigit(Policy):
    """Looks at the first digit for ever, and names two of them rightly."""

    privileged = True

    def predict(
        self,
        observation: dict[str, Any],
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
        info: Any = None,
    ) -> tuple[dict[str, Any], Any]:
        step, place = state or (0, middles_of(np.asarray(info["target_box"], np.float64)))
        turn = step // 3
        right = np.maximum(np.asarray(info["answers"])[:, min(turn, 2)], 0)
        answer = right if turn < 2 else (right + 1) % 10
        return {"look": place.astype(np.float32), "answer": answer}, (step + 1, place)


def test_of_targets_in_turn_it_is_not_told_which_were_visited() -> None:
    policy = OneDigit()
    witness = Witness(policy)
    kwargs: dict[str, Any] = {"split": "validation", "episodes": 20, "min_length": 4, "length": 5}
    evaluation = evaluate(policy, "Glimpse/DigitSequenceGlyphs-v0", watcher=witness, **kwargs)
    assert (evaluation.success, evaluation.mean_glimpses) == (0.0, 9.0)
    trace = witness.trace()
    assert trace.in_turn
    assert trace.visited_all.all(), "each has one target at a time"
    analysis: Any = SimpleNamespace(evaluation=evaluation, trace=trace)
    assert targets_visited(analysis) == ""


@pytest.mark.parametrize("minutes", [None, 0.001])
def test_episodes_are_no_setting_of_a_training_by_minutes(
    minutes: float | None, tmp_path: Path
) -> None:
    episodes = 64 if minutes is None else 4_000_000
    config = tiny_config(minutes=minutes, episodes=episodes)
    run = trained(Reinforce, config, tmp_path / "run")
    text = write_report(ReportConfig((run.folder,), None, episodes=20, mistakes=0)).read_text()
    assert (f"by default {ReinforceConfig().episodes}" in text) == (minutes is None)
