"""The example of each client runs, where the client is installed, and is short."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from agents.report.drawings import output_of
from glimpse_envs.rendering import TapePicture
from glimpse_envs.rendering.verdict import answer_and_target, verdict_of
from glimpse_envs.testing import make_batch

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
CLIENTS = {
    "gymnasium_loop": "gymnasium",
    "minari_dataset": "minari",
    "ram": "torch",
    "recurrent_ppo": "sb3_contrib",
    "rllib_ppo": "tree",  # of ray[rllib]; ray alone has a package ray.rllib too
    "skrl_ppo": "skrl",
    "stable_baselines3_adapter": "stable_baselines3",
    "stable_baselines3_make_vec_env": "sb3_contrib",
    "tianshou_dqn": "tianshou",
    "torchrl_ppo": "torchrl",
}


def test_every_example_has_a_client_and_a_place_in_the_docs() -> None:
    assert {path.stem for path in EXAMPLES} == CLIENTS.keys()
    text = (ROOT / "docs" / "clients.md").read_text()
    for path in EXAMPLES:
        assert f"../examples/{path.name}" in text
        assert len(path.read_text().splitlines()) <= (100 if path.stem == "ram" else 60)


def run_python(*arguments: str, folder: Path, environment: dict[str, str]) -> str:
    """Run Python in a folder and return what it prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.learning
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path: Path, tmp_path: Path) -> None:
    package = CLIENTS[path.stem]
    try:
        found = find_spec(package)
    except ModuleNotFoundError:
        found = None
    if found is None:
        pytest.skip(f"{package} is not installed")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MINARI_DATASETS_PATH": str(tmp_path)}
    length = LENGTHS.get(path.stem, ["--steps", "64"])
    printed = run_python(str(path), *length, folder=tmp_path, environment=environment)
    assert printed.strip()
    assert "nan" not in printed.split()


LENGTHS = {
    "ram": ["--episodes", "64", "--rows", "64"],
    "minari_dataset": ["--episodes", "8"],
    "gymnasium_loop": ["--steps", "1024"],
}


@pytest.mark.learning
def test_the_agent_in_one_file_learns_where_to_look(tmp_path: Path) -> None:
    """Better than by its control, which looks at random places."""
    errors = []
    for control in ([], ["--random"]):
        printed = run_python(
            *(str(ROOT / "examples" / "ram.py"), "--episodes", "10000", "--rows", "64", *control),
            folder=tmp_path,
            environment={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        errors.append(float(printed.split()[-2]))
    assert errors[0] < errors[1] - 5


@pytest.mark.learning
def test_the_notebook_runs_and_shows_its_films(tmp_path: Path) -> None:
    """Its cells in one namespace, with a shorter training; the last line of a cell is shown."""
    cells = json.loads((ROOT / "examples" / "first_steps.ipynb").read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert not any(cell.get("outputs") for cell in cells)
    assert sum("MINUTES = 1.0" in cell for cell in code) == 1
    program = tmp_path / "notebook.py"
    shown = [
        re.sub(r"^(Film\(.*\))\Z", r"print(\1._repr_html_()[:30])", cell, flags=re.MULTILINE)
        for cell in code
    ]
    program.write_text("\n\n".join(shown).replace("MINUTES = 1.0", "MINUTES = 0.03"))
    printed = run_python(
        str(program), folder=tmp_path, environment={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert printed.count('<img src="data:image/gif') == 2
    assert printed.count("1000 test episodes") + printed.count("1,000 test episodes") == 2


def test_the_picture_of_an_own_task_shows_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "own_task"))
    env = make_batch("my_tasks:Mine/FindCoin-v0", num_envs=2)
    env.reset(seed=0)
    before = env.task.picture(0, "")
    assert isinstance(before, TapePicture)
    assert answer_and_target(before)[0] == "nothing put out yet"
    assert output_of(before) == "nothing"
    coins = env.task.oracle()["answer"]
    answers = np.array([coins[0], (coins[1] + 1) % 6])
    env.step({"look": np.zeros(2, np.int64), "answer": answers})
    right, wrong = (env.task.picture(row, "") for row in range(2))
    assert answer_and_target(right) == (f"put out {coins[0]}", "")
    assert answer_and_target(wrong) == (f"put out {answers[1]}", f"target {coins[1]}")
    assert verdict_of(right) is True
    assert verdict_of(wrong) is False
    assert isinstance(wrong, TapePicture)
    assert output_of(wrong) == str(answers[1])
    env.close()


@pytest.mark.learning
def test_a_task_of_another_package_is_checked_trained_and_scored(tmp_path: Path) -> None:
    """By the commands of anybody, from its own folder."""
    folder, run = ROOT / "examples" / "own_task", tmp_path / "run"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"}

    def command(*arguments: str) -> str:
        return run_python("-m", *arguments, folder=tmp_path, environment=environment)

    command("pytest", "-q", "-p", "no:cacheprovider", str(folder))
    own = ("--env-id", "my_tasks:Mine/FindCoin-v0")
    command("agents.train", "reinforce", *own, "--episodes", "256", "--run", str(run))
    score = command("agents.evaluate", str(run), "--episodes", "50", "--trust", "my_tasks")
    assert "my_tasks:Mine/FindCoin-v0: 50 test episodes" in score
