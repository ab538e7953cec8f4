"""The environments' pages say what the code says, and the guides name what exists."""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from agents.train import ALGORITHMS as AGENTS
from baselines.train import ALGORITHMS as BASELINES
from glimpse_envs import sources
from glimpse_envs.episodes.description import describe
from glimpse_envs.episodes.lookup import spec_of
from glimpse_envs.evaluation.records import write_record
from glimpse_envs.suite import SUITE, Row
from report.figures.environments import MAX_BYTES, draw_oracle, oracle_action, play
from report.markdown import ReportError, table
from report.page import ROOT
from report.pages.docstring import read_task_docstring
from report.pages.environment_facts import page_name
from report.pages.environments import make_pages
from report.pages.families import FOLDER, cards_block, families_block
from report.pages.notebook import notebook
from report.pages.spaces import space_table
from report.result_pages import result_pages
from report.trained_runs import TrainedRun, trained_runs
from tests.support.records import a_record
from tests.support.tasks.falling_ball import FallingBall

DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", *sorted(DOCS.glob("*.md")))


def test_pages_need_no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLIMPSE_DATA", str(tmp_path))
    assert len(make_pages({})) == len(SUITE) + 1


def test_a_page_tells_the_row_and_the_live_spaces() -> None:
    page = make_pages({})["CircleSquare.md"]
    assert page.startswith("# Glimpse/CircleSquare-v0\n")
    assert "| `glimpse` | `Box`, float32 | `(1, 5, 5)` | 0 to 1 |" in page
    assert "| 0 to 1 | Is it a square or a circle? 0 square, 1 circle |" in page
    assert "| `max_move` | `0.2` |" in page  # of the row
    assert "| `glimpse_cost` | `0.0` |" in page  # a default
    assert "| `clutter` |" not in page, "its scene takes none"
    assert "| `copies` | `1` |" in page  # of the batch
    assert "| chance | 0.5," in page


def test_a_page_links_to_its_results_and_tells_whom_to_cite(tmp_path: Path) -> None:
    names = ("ClutteredMNIST", "Copy", "Babi", "CircleSquare")
    for name, folder in zip(names[:3], (".", "memory", "texts"), strict=True):
        write_record(a_record(env_id=f"Glimpse/{name}-v0"), tmp_path / folder)
    write_record(a_record(env_id="Glimpse/ClutteredMNIST-v0"), tmp_path / "scenes")
    (tmp_path / "torn.json").write_text("{")
    (tmp_path / "other.json").write_text("[]")
    made = make_pages({}, result_pages(tmp_path))
    digits, tape, text, shape = (made[f"{name}.md"] for name in names)
    assert "| results | [pictures](../results.md) and [scenes](../scenes.md) |" in digits
    assert "| results | [memory](../memory.md) |" in tape
    assert "| results | not measured yet |" in shape
    section = "[citing and licences](../data.md#citing-and-licences)"
    assert f"The data are MNIST's (LeCun, Bottou, Bengio & Haffner, 1998): {section}." in digits
    assert f"The data are bAbI's (Weston et al., 2015): {section}." in text
    assert "The data are" not in tape + shape
    assert "\n## Citing and licences\n" in (DOCS / "data.md").read_text()


def test_chance_is_that_of_the_split_that_is_scored() -> None:
    pages = make_pages({})
    with closing(gym.make_vec("Glimpse/DescribeScene-v0", num_envs=1, split="test")) as scored:
        chance = f"{describe(scored).chance:.4g}"
    with closing(gym.make_vec("Glimpse/DescribeScene-v0", num_envs=1)) as trained:
        other = f"{describe(trained).chance:.4g}"
    assert other != chance
    assert (
        f"| chance | {chance}, the mean return in the test split of the best policy that sees "
        f"nothing, if all classes are equally frequent; {other} in training |"
        in (pages["DescribeScene.md"])
    )
    assert f"| 1 of 22 | {chance} | 1 |" in pages["README.md"]


def test_chance_on_images_is_that_of_equally_frequent_classes() -> None:
    pages = make_pages({})
    condition = "the best policy that sees nothing, if all classes are equally frequent"
    for name in ("ClutteredMNIST", "DigitSum", "FashionMNIST", "CenteredGlyphs"):
        assert condition in pages[f"{name}.md"], name
    for name in ("Search", "CircleSquare", "Catch", "Copy"):  # no class of an image is asked for
        assert condition not in pages[f"{name}.md"], name
    assert "on the test split, if all classes are equally frequent" in pages["README.md"]


def test_the_most_frequent_class_of_mnist_has_the_share_that_guides_tell() -> None:
    try:
        labels = sources.load("mnist", "test").labels
    except sources.SourceError as error:
        pytest.skip(f"files are absent: {error}")
    share = f"has {np.bincount(labels).max() / len(labels):.4f}"
    for guide in ("evaluating.md", "glossary.md"):
        assert share in (ROOT / "docs" / guide).read_text(), guide


def test_a_page_of_memory_tells_lengths_and_that_0_says_nothing() -> None:
    pages = make_pages({})
    assert "| hidden | copy, length 1 to 10 |" in pages["Copy.md"]
    assert "| 0 to 30 | the answer or the symbol to output, 0 for none |" in pages["Copy.md"]
    assert "| budget | 20 in the longest episode |" in pages["Copy.md"]
    assert (
        "| `location` | `Box`, float32 | `(10,)` | 0 to 1 | the address"
        in (pages["PointerChase.md"])
    )


def test_the_list_has_every_id_once_and_links_to_its_page() -> None:
    pages = make_pages({})
    for row in SUITE.values():
        name = f"{page_name(row)}.md"
        assert name in pages
        assert pages["README.md"].count(f"[`{row.id}`]({name})") == 1


def test_a_page_asks_what_its_scene_asks_and_lists_the_arguments_of_its_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kwargs = spec_of("tests.support.parts:Tiny/DigitSum-v0").kwargs
    row = Row("Tiny/DigitSum-v0", kwargs["task"], {n: v for n, v in kwargs.items() if n != "task"})
    for page in ("environments", "families"):
        monkeypatch.setattr(f"report.pages.{page}.SUITE", {row.id: row})
    page, listed = make_pages({})["DigitSum.md"], make_pages({})["README.md"]
    assert "| question | What is the sum of the two digits? |" in page
    assert "| What is the sum of the two digits? 0, 1, 2, 3, 4, 5, 6, 7, 8 |" in page
    assert "class:" not in page
    assert "| `largest` | `4` | the greatest digit, 1 to 9. |" in page
    assert "| `wedges` | `12` | cells of a ring. |" in page
    assert "| 60x60 pixels, DigitSum | LogPolar, `(1, 5, 12)` | continuous | 6 | 1 of 9" in listed


class _Undocumented(FallingBall):
    """A task.

    Args:
        budget: glimpses.
    """

    def __init__(self, *, budget: int, source: str) -> None: ...


def test_the_page_of_an_own_scene_holds_its_code() -> None:
    page = (DOCS / "own_scene.md").read_text(encoding="utf-8")
    for name in ("__init__", "digit_sum", "log_polar"):
        code = (ROOT / "tests" / "support" / "parts" / f"{name}.py").read_text(encoding="utf-8")
        code = code.replace("tests.support.parts", "my_parts")
        assert f"```python\n{code}```" in page, name


def test_a_docstring_without_its_sections_is_refused() -> None:
    with pytest.raises(ValueError, match=r"it must have .*Description"):
        read_task_docstring(_Undocumented, {})


def test_an_undocumented_argument_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("report.pages.docstring.SECTIONS", ())
    with pytest.raises(ValueError, match=r"missing \['source'\], too many \[\]"):
        read_task_docstring(_Undocumented, {})


def test_a_key_without_a_meaning_is_refused() -> None:
    with pytest.raises(LookupError, match="'smell'"):
        space_table(spaces.Dict(smell=spaces.Discrete(3)), {}, (), "")


def test_ranges_are_those_of_the_leaves() -> None:
    text = space_table(
        spaces.Dict(look=spaces.MultiDiscrete([3, 4]), answer=spaces.Discrete(5, start=2)),
        {"look": "tiles"},
        (),
        "",
    )
    assert "| `(2,)` | 0 to 2, 0 to 3 | the tile" in text
    assert "| `()` | 2 to 6 | the answer |" in text


def test_a_bar_does_not_break_a_table() -> None:
    assert table(("a",), [("x | y",)]) == "| a |\n| --- |\n| x \\| y |"


@pytest.mark.parametrize("row", SUITE.values(), ids=lambda row: row.id)
def test_every_page_shows_small_films(row: Row) -> None:
    page = (ROOT / FOLDER / f"{page_name(row)}.md").read_text(encoding="utf-8")
    shown = re.findall(r"\]\((\w+)_(\w+)\.webp\)", page)
    kinds = ["oracle", "random"] + ["trained"] * (row.id in trained_runs(ROOT / "results"))
    assert shown == [(page_name(row), kind) for kind in kinds]
    assert ("no film of a trained agent yet" in page) == (len(kinds) == 2)
    for name, kind in shown:
        film = (ROOT / FOLDER / f"{name}_{kind}.webp").read_bytes()
        assert film[:4] == b"RIFF"
        assert film.count(b"ANMF") > 1, "it moves"
        assert len(film) <= MAX_BYTES


def test_no_two_films_are_the_same() -> None:
    films = sorted((ROOT / FOLDER).glob("*.webp"))
    assert len({hashlib.sha256(film.read_bytes()).hexdigest() for film in films}) == len(films)
    assert len(films) >= 2 * len(SUITE)


@pytest.mark.parametrize(
    "name", ["ClutteredGlyphs", "SearchGlyphs", "Catch", "Copy", "PointerChase"]
)
def test_the_oracle_of_a_film_collects_the_ceiling(name: str) -> None:
    frames, total = play(SUITE[f"Glimpse/{name}-v0"], oracle_action)
    assert total == pytest.approx(1.0)
    assert len(frames) > 2


def _weights(folder: Path, name: str, env_id: str, **kwargs: object) -> Path:
    run = folder / "weights" / name
    run.mkdir(parents=True)
    config = {"config": {"env_id": env_id, "env_kwargs": kwargs}}
    (run / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return run


def test_published_weights_are_filmed_on_the_page_of_their_environment(tmp_path: Path) -> None:
    env_id = "Glimpse/ClutteredMNIST-v0"
    _weights(tmp_path, "a-game", "CartPole-v1")
    assert trained_runs(tmp_path) == {}
    fewer = _weights(tmp_path, "b-four", env_id, budget=4)
    assert trained_runs(tmp_path) == {env_id: TrainedRun(fewer, {"budget": 4})}
    own = _weights(tmp_path, "c-eight", env_id, budget=8, glimpse_cost=0.0)  # as by default
    _weights(tmp_path, "d-six", env_id, budget=6)
    assert trained_runs(tmp_path) == {env_id: TrainedRun(own, {})}


def test_a_film_says_what_its_agent_was_trained_with(tmp_path: Path) -> None:
    env_id = "Glimpse/ForwardReverse-v0"
    run = TrainedRun(tmp_path, {"min_length": 2, "slack": 3.0})
    page = make_pages({env_id: run})["ForwardReverse.md"]
    assert "An agent trained with min length 2 and slack 3" in page
    assert "no film of a trained agent" not in page


def test_the_families_are_shown_by_films_that_are_there() -> None:
    for block, folder in ((families_block(), ROOT), (cards_block(), DOCS)):
        films = re.findall(r"\]\(([\w/]+\.webp)\)", block)
        assert len(films) >= 4
        assert all((folder / film).exists() for film in films)


@pytest.mark.parametrize("guide", PAGES, ids=lambda guide: guide.name)
def test_what_a_guide_names_is_there(guide: Path) -> None:
    text = guide.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    paths = re.findall(r"`((?:glimpse_envs|agents|baselines|docs)/[\w/]*(?:\.py)?)`", text)
    missing = [link for link in links if not (guide.parent / link).exists()]
    missing += [path for path in paths if not (ROOT / path).exists()]
    ours = r"python -m\s+((?:glimpse_envs|agents|baselines|benchmarks|report)\b(?:\.\w+)*)"
    commands = set(re.findall(ours, text))
    missing += [command for command in commands if find_spec(command) is None]
    trained = re.findall(r"python -m (?:agents|baselines)\.train ([\w|]+)(?![\w|:])", text)
    learners = {name for names in trained for name in names.split("|")}
    missing += sorted(learners - AGENTS.keys() - BASELINES.keys())
    assert missing == []


def test_the_notebook_has_the_code_of_its_page_in_order() -> None:
    page = "# A\n\n[b](b.md) ![c](d/c.png)\n\n```python\nx = 1\n\ny = 2\n```\n\n```sh\nls\n```\n"
    first, code, last = notebook(page)["cells"]
    assert first["source"] == ["# A\n", "\n", "[b](../docs/b.md) ![c](../docs/d/c.png)"]
    assert (code["cell_type"], "".join(code["source"])) == ("code", "x = 1\n\ny = 2")
    assert last["source"] == ["```sh\n", "ls\n", "```"]


@pytest.mark.parametrize("folder", [None, "empty"])
def test_a_film_of_absent_data_stays(
    folder: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GLIMPSE_DATA", raising=False)
    if folder is not None:
        monkeypatch.setenv("GLIMPSE_DATA", str(tmp_path))
    monkeypatch.setattr("glimpse_envs.sources.files.download", lambda file: pytest.fail(file.url))
    sources.forget()
    film = tmp_path / "FashionMNIST_oracle.webp"
    row = SUITE["Glimpse/FashionMNIST-v0"]
    with pytest.raises(ReportError, match=r"FashionMNIST-v0 cannot be drawn: .*GLIMPSE_DATA"):
        draw_oracle(row, film)
    film.write_bytes(b"drawn before")
    draw_oracle(row, film)
    assert film.read_bytes() == b"drawn before"
