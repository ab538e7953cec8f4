"""The sheet shows a model's saliency and an agent's scanpath on the very same scenes."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from agents.algorithms.reinforce import Reinforce
from agents.training.loop import train
from baselines.saliency.__main__ import SaliencyConfig, draw_saliency, main
from baselines.saliency.overlays import draw_bars, draw_label, draw_map
from glimpse_envs.evaluation.films import film_episodes
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import Run, load_policy
from glimpse_envs.rendering.palette import PATH, PRESENT
from tests.support.baselines import tiny_config, trained
from tests.support.episodes import CENTRED, TRANSLATED
from tests.support.tiny import tiny_config as agent_config


def test_a_map_is_brightest_where_it_matters_most() -> None:
    scene, saliency = np.full((1, 20, 20), 0.5, np.float32), np.zeros((20, 20))
    saliency[4:8, 10:14] = 3.0
    cell = draw_map(scene, saliency, size=106)
    inner = cell[2 + 5 * 4 + 3 : 2 + 5 * 8 - 2, 2 + 5 * 10 + 3 : 2 + 5 * 14 - 2]
    assert np.abs(inner.astype(int) - PRESENT).max() <= 2
    assert np.ptp(cell[80, 20]) == 0, "elsewhere the scene is grey"
    assert 0 < cell[80, 20, 0] < 127
    assert (draw_map(scene, np.zeros((20, 20)), size=106)[50, 50] == cell[80, 20]).all()


def test_bars_are_as_high_as_what_they_stand_for() -> None:
    cell = draw_bars(np.array([1.0, 0.0, 0.5, 2.0]), size=160)
    first, last = ((cell == colour).all(axis=2) for colour in (PATH, PRESENT))
    columns = np.flatnonzero(first.any(axis=0) | last.any(axis=0))
    quarter = first[:, columns[0]].sum(), last[:, columns[-1]].sum()
    assert quarter == (64, 128)
    assert first[:, 100].sum() == 32
    assert (draw_bars(np.zeros(2)) != PRESENT).any(axis=2).all(), "no glimpse mattered"


def test_all_cells_are_of_one_size() -> None:
    cells = [
        draw_map(np.zeros((3, 9, 17)), np.zeros((9, 17))),
        draw_bars(np.ones(40)),
        draw_label(["a title that is much too long for a cell of this width", "and more"]),
    ]
    assert len({cell.shape for cell in cells}) == 1


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Run:
    config = agent_config(env_kwargs={"budget": 3, "glimpse_size": 10})
    return train(Reinforce, config, tmp_path_factory.mktemp("agent"), progress_bar=False)


def cells_of(sheet: NDArray[np.uint8], columns: int) -> list[list[NDArray[np.uint8]]]:
    """The cells of a sheet with a title, row by row."""
    height, width, gap = 188, 160, 12
    top, rows = 14 + 2 * gap, (sheet.shape[0] - 14 - 2 * gap) // (height + gap)
    assert sheet.shape == (top + rows * (height + gap), columns * (width + gap) + gap, 3)
    return [
        [
            sheet[top + row * (height + gap) :, gap + column * (width + gap) :][:height, :width]
            for column in range(columns)
        ]
        for row in range(rows)
    ]


@pytest.mark.learning
@pytest.mark.parametrize(("kind", "rows"), [("strong", 3), ("dense", 2), ("content", 4)])
def test_the_sheet_shows_the_agents_scanpath_on_the_same_scenes(
    kind: str, rows: int, tmp_path: Path, agent: Run
) -> None:
    run = trained(tiny_config(kind), kind, tmp_path)
    config = SaliencyConfig(run.folder, tmp_path / "a.png", agent.folder, episodes=3, seed=5)
    cells = cells_of(draw_saliency(config), columns=1 + 3)
    assert len(cells) == rows + 2
    kwargs = {"seed": 5, **agent.config["config"]["env_kwargs"]}
    _, scanpaths = film_episodes(load_policy(agent.folder), CENTRED, range(3), **kwargs)
    for shown, expected in zip(cells[rows][1:], scanpaths, strict=True):
        np.testing.assert_array_equal(shown, expected)
    for row in cells:
        assert (row[1] != row[2]).any(), "each scene has its own"


def test_the_command_writes_the_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, out = trained(tiny_config("conv"), "conv", tmp_path), tmp_path / "new" / "sheet.png"
    main([str(run.folder), "--out", str(out), "--episodes", "2", "--split", "validation"])
    assert f"drawn in {out}" in capsys.readouterr().out
    picture = cv2.imread(str(out))
    assert picture is not None
    assert len(cells_of(np.asarray(picture, np.uint8), columns=3)) == 3
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path / "none"), "--out", str(out)])
    assert ended.value.code == 2
    assert "There is no run at" in capsys.readouterr().err


@pytest.mark.learning
def test_runs_of_another_kind_and_other_scenes_are_refused(tmp_path: Path, agent: Run) -> None:
    soft = trained(tiny_config("location"), "location", tmp_path / "soft")
    tape = trained(tiny_config("lstm"), "lstm", tmp_path / "tape")
    words = trained(tiny_config("captioner"), "captioner", tmp_path / "words")
    elsewhere = tiny_config("dense", env_id=TRANSLATED, env_kwargs={"budget": 2})
    other = trained(elsewhere, "dense", tmp_path / "other")
    moves = tiny_config("dense", env_id="Glimpse/MovingDigitGlyphs-v0", env_kwargs={})
    moving = trained(moves, "dense", tmp_path / "moving")
    blind, full, heads = (
        train(Reinforce, agent_config(**changes), tmp_path / name, progress_bar=False)
        for name, changes in (
            ("blind", {"gaze": "random"}),
            ("full", {"env_kwargs": {"view": "full"}}),
            ("heads", {"env_id": "Glimpse/Copy-v0", "env_kwargs": {"length": 2}}),
        )
    )
    refused: list[tuple[Run, Run | None, int, str]] = [
        (agent, None, 2, "a run of Reinforce LSTM, which is no baseline that answers a picture by"),
        (tape, None, 2, "LSTM without memory, which is no baseline that answers a picture by"),
        (words, None, 2, "Soft captioner LSTM, which is no baseline that answers a picture by one"),
        (moving, None, 2, "Full view dense, which is no baseline that answers a picture by one"),
        (soft, soft, 2, "a run of Soft tiles LSTM, which learned no looks"),
        (soft, blind, 2, "which learned no looks"),
        (soft, full, 2, "which learned no looks"),
        (other, agent, 2, "sees other scenes than"),
        (soft, heads, 2, "sees other scenes than"),
        (soft, None, 0, "episodes=0 must be at least 1"),
    ]
    for run, second, scenes, message in refused:
        folder = None if second is None else second.folder
        with pytest.raises(ValueError, match=message):
            draw_saliency(SaliencyConfig(run.folder, tmp_path / "a.png", folder, scenes))
    with pytest.raises(RunError, match="There is no run at"):
        draw_saliency(SaliencyConfig(soft.folder, tmp_path / "a.png", tmp_path / "none"))
