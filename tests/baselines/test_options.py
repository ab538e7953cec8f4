"""The commands offer an option only to learners that can use it."""

import re
from pathlib import Path

import pytest

from agents import train as agents
from baselines import train as baselines

EVERYWHERE = {"--env-id", "--seed", "--episodes", "--batch-size", "--run", "--resume"}
OF_LEVELS = {"--curriculum", "--solve-share"}
OF_LOOKS = {"--network.look-std", "--network.learn-look-std"}
OF_ANSWERS = {"--network.answer-in-view", "--network.direct-access"}
NOT_OF_MEMORIES = {
    "--supervise", "--network.glimpse-network", "--network.skip", *OF_LOOKS, *OF_ANSWERS,
}  # fmt: skip

# What a learner cannot use: tiles have no standard deviation, pictures no levels and no answer
# that may be left out, a feed-forward network one answer and no controller.
UNUSABLE = {
    "reinforce": set(),
    "actor_critic": set(),
    "exact": {*OF_LEVELS, *OF_LOOKS, *OF_ANSWERS},
    "straight_through": {*OF_LEVELS, *OF_LOOKS, *OF_ANSWERS},
    "soft_tiles": {*OF_LEVELS, "--network.skip", *OF_LOOKS, *OF_ANSWERS},
    "gaussian_window": {*OF_LEVELS, "--network.skip", *OF_LOOKS, *OF_ANSWERS},
    "spatial_transformer": {*OF_LEVELS, "--supervise", "--network.core-units"},
    "attention_sampling": {*OF_LEVELS, "--supervise", "--network.core-units"},
    "patch_selection": {*OF_LEVELS, "--supervise", "--network.core-units"},
    "captioner": {*OF_LEVELS, "--supervise", "--network.core-units"},
    "pointer": {*OF_LEVELS, "--supervise", "--network.core-units"},
    "full_view": {*OF_LEVELS, "--supervise", "--network.core-units"},
    "ntm": NOT_OF_MEMORIES,
    "key_value_memory": NOT_OF_MEMORIES,
    "lstm_memory": NOT_OF_MEMORIES,
}
USABLE = {
    "soft_tiles": {"--supervise", "--network.glimpse-network", "--network.detach-heads"},
    "exact": {"--network.skip", "--network.core"},
    "ntm": {*OF_LEVELS, "--network.core", "--network.core-units"},
    "reinforce": {*OF_LEVELS, *OF_LOOKS, *OF_ANSWERS},
}


def test_every_learner_is_listed() -> None:
    assert UNUSABLE.keys() == agents.ALGORITHMS.keys() | baselines.ALGORITHMS.keys()


@pytest.mark.parametrize("algorithm", UNUSABLE)
def test_help_offers_what_a_learner_can_use(
    algorithm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main = agents.main if algorithm in agents.ALGORITHMS else baselines.main
    with pytest.raises(SystemExit):
        main([algorithm, "--help"])
    offered = set(re.findall(r"--[a-z][a-z.-]+", capsys.readouterr().out))
    assert offered >= EVERYWHERE | USABLE.get(algorithm, set())
    assert not offered & UNUSABLE[algorithm]


def test_an_option_that_a_learner_cannot_use_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        baselines.main(["ntm", "--network.skip", "--run", str(tmp_path / "run")])
    assert ended.value.code == 2
    assert "--network.skip" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
