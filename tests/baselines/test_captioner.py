"""The captioner: what it reads, what it learns from, and descriptions in its own words."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from agents.play.game import Setting
from agents.play.machines import Machine
from agents.policy.blindness import LIT, lit_parts
from agents.report.trace import Witness
from agents.scoring.costs import measure_costs
from agents.scoring.multiply_adds import multiply_adds
from agents.scoring.run_record import make_record
from agents.scoring.run_scores import evaluate_run, policy_of
from baselines.learner import SupervisedLearner, cross_entropies
from baselines.pictures.captioner import Captioner, CaptionerConfig, doubly_stochastic
from baselines.sentences import log_any, wrong_words
from glimpse_envs import sources
from glimpse_envs.evaluation.films import film_episodes
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.evaluation.runs import Run, load_policy
from glimpse_envs.tasks.pictures.captions import Captions
from tests.support.baselines import DESCRIBED, learner_of, model_of, tiny_config, trained
from tests.support.episodes import make_vector

ENV_ID = DESCRIBED["env_id"]
WORDS = Captions("digit", tuple("0123456789"))
END = WORDS.end


def test_the_penalty_is_that_of_the_paper() -> None:
    """By hand: two scenes of three cells, the second of which is described in one word."""
    weights = torch.tensor(
        [[[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]], [[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]]]
    )
    asked = torch.tensor([[1.0, 1.0], [1.0, 0.0]])
    first = 0.0**2 + 0.25**2 + 0.75**2
    second = 0.0**2 + 1.0**2 + 1.0**2
    assert doubly_stochastic(weights, asked).item() == pytest.approx((first + second) / 2)
    even = torch.full((6, 4, 3), 1 / 3)
    assert doubly_stochastic(even, torch.ones(6, 4)).item() == pytest.approx(3 * (1 - 2) ** 2)
    assert doubly_stochastic(even[:3], torch.ones(3, 4)).item() == pytest.approx(0.0)


def test_both_right_descriptions_are_told_and_fed() -> None:
    learner = learner_of("captioner", tiny_config("captioner", batch_size=200))
    observation, targets, _ = learner.deal()
    batch: Any = learner.env.unwrapped
    labels = batch.task._stage.labels.T
    learner.close()
    sentences = np.concatenate([WORDS.write(*labels), WORDS.equivalent(*labels)])
    np.testing.assert_array_equal(targets.T, sentences)
    fed = observation["last_action"]  # (2 B, T, words)
    assert not fed[:, 0].any()
    asked = targets.T >= 0
    told = asked[:, :-1]
    assert torch.equal(fed[:, 1:].argmax(dim=2)[told], targets.T[:, :-1][told])
    assert torch.equal(observation["asked"], asked.float())
    assert observation["scene"].shape[0] == 200


def test_beyond_the_last_word_nothing_is_earned_or_paid() -> None:
    """Neither logits nor attention there reach the loss, whatever words are fed."""
    learner = learner_of("captioner", tiny_config("captioner", batch_size=32, precision="float32"))
    batch = learner.deal()
    learner.close()
    asked = batch.targets.T >= 0
    assert not asked.all()
    model = learner.policy.eval()

    def loss(observation: Any) -> torch.Tensor:
        answers = model(observation)
        missed = cross_entropies(answers.logits, batch.targets)
        return torch.stack([missed.mean(), answers.losses["doubly_stochastic"]])

    changed = batch.observation["last_action"].clone()
    changed[~asked] = torch.nn.functional.one_hot(torch.tensor(3), 22).float()
    assert not torch.equal(changed, batch.observation["last_action"])
    expected = loss(batch.observation)
    assert torch.equal(loss(batch.observation | {"last_action": changed}), expected)
    changed[:, 4] = 0.0
    assert not torch.equal(loss(batch.observation | {"last_action": changed}), expected)


def test_the_error_is_the_share_of_wrong_words() -> None:
    class Babbling(SupervisedLearner):
        def deal(self) -> Any:
            self.batch_now = super().deal()
            return self.batch_now

    learner = Babbling(tiny_config("captioner", batch_size=64), Captioner)
    with torch.no_grad():
        learner.policy.get_parameter("word.bias")[-1] = 1e6  # "." is the last word
    error = learner.update(0.0)["error"]
    targets = learner.batch_now.targets
    learner.close()
    asked = targets[:, :64] >= 0  # both sentences about a scene are of one length
    assert error == pytest.approx(1 - 64 / asked.sum().item())
    assert (targets[:, :64][asked] == END).sum() == 64


def test_the_likelihood_of_either_sentence_is_the_sum_of_both_unless_they_are_one() -> None:
    sentences = torch.tensor([[[1, 4], [2, 4]], [[3, 5], [3, 5]]])  # (T, R, B)
    log_likelihoods = torch.tensor([[0.2, 0.2], [0.3, 0.2]]).log()
    either = log_any(log_likelihoods, sentences)
    torch.testing.assert_close(either, torch.tensor([0.5, 0.2]).log())


def test_the_loss_is_that_of_either_sentence_as_if_each_were_told_alone() -> None:
    config = tiny_config("captioner", batch_size=24, precision="float32", doubly_stochastic=0.0)
    learner = learner_of("captioner", config)
    batch = learner.deal()
    learner.deal = lambda: batch  # type: ignore[method-assign]
    model = learner.policy.train()
    scene = batch.observation["scene"]
    said = []
    with torch.no_grad():
        for i in range(2):
            alone = {name: part.view(2, 24, *part.shape[1:])[i] for name, part in (
                (name, batch.observation[name]) for name in ("last_action", "asked"))}  # fmt: skip
            right = batch.targets.view(12, 2, 24)[:, i]
            log_probs = model({"scene": scene, **alone}).logits.log_softmax(dim=-1)
            word = log_probs.gather(2, right.clamp(min=0)[..., None])[..., 0]
            said.append((word * (right >= 0)).sum(dim=0))
    one = (batch.targets.view(12, 2, 24)[:, 0] == batch.targets.view(12, 2, 24)[:, 1]).all(dim=0)
    assert one.any()
    assert not one.all()
    either = torch.where(one, said[0], torch.logaddexp(said[0], said[1]))
    loss = learner.update(0.0)["loss/answer"]
    learner.close()
    assert loss == pytest.approx(-either.mean().item() / 12, rel=1e-4)


def test_a_word_is_wrong_by_the_likelier_sentence() -> None:
    sentences = torch.tensor([[[1, 4], [2, 6]], [[3, 5], [3, 5]], [[0, -1], [0, -1]]])  # (T, R, B)
    right = torch.tensor([[[0, 1], [1, 0]], [[0, 1], [1, 0]], [[0, 0], [0, 0]]], dtype=torch.bool)
    log_likelihoods = torch.tensor([[-9.0, -1.0], [-2.0, -3.0]])  # the second, then the first
    assert wrong_words(right, sentences, log_likelihoods) == pytest.approx(1 / 5)


def test_a_pair_is_learned_by_the_sentence_that_the_model_prefers() -> None:
    """The gradient weighs each sentence by its share of the likelihood of either."""
    log_likelihoods = torch.tensor([[0.03], [0.01]]).log().requires_grad_()
    log_any(log_likelihoods, torch.tensor([[[1], [2]]])).backward()  # type: ignore[no-untyped-call]
    torch.testing.assert_close(log_likelihoods.grad, torch.tensor([[0.75], [0.25]]))


def test_attention_adds_up_to_1_over_cells_and_pixels() -> None:
    model = model_of("captioner")
    observation = make_vector(ENV_ID, 5, view="full").reset(seed=0)[0]
    state = model.look_at(torch.as_tensor(observation["scene"]))
    assert state.values.shape == (5, 8 * 8, 4 * 4 + 2)
    _, seen, weights = model.step(state, torch.zeros(5, 16))
    assert seen.shape == (5, 4 * 4 + 2)
    assert weights.shape == (5, 64)
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(5))
    maps = model.attention(observation)
    assert maps.shape == (5, 1, 60, 60)
    assert (maps >= 0).all()
    np.testing.assert_allclose(maps.sum(axis=(2, 3)), 1, rtol=1e-5)


def test_places_tell_where_a_cell_is() -> None:
    places = model_of("captioner").places.view(8, 8, 2)
    assert (places[:, 0, 0] < places[:, -1, 0]).all(), "x grows along a row"
    assert (places[0, :, 1] < places[-1, :, 1]).all(), "y down a column"
    torch.testing.assert_close(places[0, 0], torch.tensor([-0.875, -0.875]))


@pytest.mark.parametrize("blind", [False, True])
def test_own_words_are_written_as_the_right_ones_are_taught(blind: bool) -> None:
    """`predict`, step by step, is `forward` on the words that it wrote; rows begin anew alone."""
    model = model_of("captioner", blind_memory=blind)
    rng = np.random.default_rng(0)
    words = np.eye(22, dtype=np.float32)[rng.integers(22, size=(6, 4))]  # (B, T)
    words[:, 0] = 0.0
    scene = make_vector(ENV_ID, 6, view="full").reset(seed=0)[0]["scene"].copy()
    together = model.likeliest({"scene": scene, "last_action": words, "asked": np.ones((6, 4))})
    state, start = None, np.ones(6, np.bool_)
    for step in range(4):
        action, state = model.predict({"scene": scene, "last_action": words[:, step]}, state, start)
        np.testing.assert_array_equal(action["answer"], together[step])
        start = np.zeros(6, np.bool_)
    start[[1, 4]], words[[1, 4], 0] = True, 0.0
    later = words[:, 3].copy()
    later[[1, 4]] = 0.0
    seen = {"scene": scene, "last_action": later}
    _, renewed = model.predict(seen, state, start)
    _, kept = model.predict(seen, state, np.zeros(6, np.bool_))
    _, first = model.predict(seen)
    totals = []
    for begins in (start, np.zeros(6, np.bool_), np.ones(6, np.bool_)):
        with multiply_adds() as counter:
            model.predict(seen, state, begins)
        totals.append(counter())
    assert totals[0] - totals[1] == (totals[2] - totals[1]) * 2 // 6, "of two new scenes of six"
    for new, old, fresh in zip(renewed, kept, first, strict=True):
        torch.testing.assert_close(new[[0, 2, 3, 5]], old[[0, 2, 3, 5]])
        torch.testing.assert_close(new[[1, 4]], fresh[[1, 4]])


def test_a_blind_memory_sees_where_something_is_and_not_what() -> None:
    model = model_of("captioner", blind_memory=True)
    scene = torch.as_tensor(make_vector(ENV_ID, 4, view="full").reset(seed=0)[0]["scene"])
    words = torch.eye(22)[[3, 7, END, 3]]  # two classes, and another word

    def remembered(scene: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        state, _, weights = model.step(model.look_at(scene), model.embedded(words))
        return torch.cat([state.hidden, state.cell, weights], dim=1)

    first = remembered(scene, words)
    brighter = torch.where(scene >= LIT, scene.clamp(min=0.5), 0.0)
    classes = words[[1, 0, 2, 1]]
    assert torch.equal(remembered(scene, classes), first)
    assert not torch.equal(remembered(scene, words.roll(1, dims=0)), first)
    same = lit_parts(brighter, model.grid) == lit_parts(scene, model.grid)
    rows = same.flatten(1).all(dim=1)
    assert rows.any()
    assert not torch.equal(brighter[rows], scene[rows])
    assert torch.equal(remembered(brighter, words)[rows], first[rows])
    assert not torch.equal(remembered(scene * 0.0, words), first)
    assert model.model.name == "Soft captioner LSTM, blind memory"
    with pytest.raises(ValueError, match="blind_memory=True needs classes_in_view=True"):
        model_of("captioner", blind_memory=True, classes_in_view=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("runs") / "run"
    return trained(tiny_config("captioner", validation_episodes=0), "captioner", folder)


def test_a_run_is_scored_on_old_and_new_combinations_with_its_costs(run: Run) -> None:
    model = load_policy(run.folder)
    assert isinstance(model, Captioner)
    new = evaluate_run(run, episodes=40, batch_size=15)
    old = evaluate_run(run, episodes=40, combinations="trained")
    assert (new.scale[0], old.scale[0]) == (1 / 16, 1 / 64), "chance on new scenes and on old"
    np.testing.assert_array_equal(evaluate_run(run, episodes=40).glimpses, new.glimpses)
    costs = measure_costs(model, new)
    steps = int(new.glimpses.max())
    adds = np.diff(costs.by_glimpse["multiply_adds"])
    assert costs.per_episode["values_delivered"] == costs.per_episode["pixels_covered"] == 3600
    assert len(adds) == steps - 1
    lasting = [(new.glimpses > step).mean() for step in range(1, steps)]
    np.testing.assert_allclose(adds / adds[0], np.array(lasting) / lasting[0], rtol=1e-3)
    record = make_record(run, [new])
    assert (record.budget, record.env_kwargs, record.model.attention) == (12, {}, "soft")
    assert record.headline.costs.keys() == costs.per_episode.keys() | {"seconds"}


def test_reports_and_the_page_show_where_each_word_is_read(run: Run) -> None:
    policy, kwargs = policy_of(run)
    witness = Witness(policy)
    score = evaluate(policy, ENV_ID, episodes=5, batch_size=3, watcher=witness, **kwargs)
    attention = witness.trace().attention
    assert attention is not None
    assert attention.shape == (int(score.glimpses.max()), 60, 60)
    np.testing.assert_allclose(attention.sum(axis=(1, 2)), 1, rtol=1e-5)
    episode = Machine(run, Setting(ENV_ID)).play(0)
    assert episode["soft"]
    assert len(episode["frames"]) == int(score.glimpses[0]) + 1


def test_a_film_has_a_frame_a_word_lit_where_it_reads() -> None:
    model = model_of("captioner")
    played = evaluate(model, ENV_ID, episodes=1, view="full")
    ((*frames, _, _, last),), _ = film_episodes(model, ENV_ID, [0], view="full")
    assert len(frames) == int(played.glimpses[0])
    assert (frames[-1] == last).all()
    assert all((one != two).any() for one, two in pairwise(frames))
    with torch.no_grad():
        model.read.weight *= 1e3
    ((other, *_),), _ = film_episodes(model, ENV_ID, [0], view="full")
    assert (other != frames[0]).any()


@pytest.mark.learning
def test_a_tiny_case_is_described_in_seconds() -> None:
    """Five images of 8x8 pixels, one or two to a scene, in its own words."""
    images = np.zeros((5, 1, 8, 8), np.uint8)
    for label in range(5):
        images[label, 0, label : label + 4, 1:7] = 255
        images[label, 0, :, label] = 255
    labels = images, np.arange(5)
    sources.from_arrays("five_bars", train=labels, validation=labels, test=labels)
    config = CaptionerConfig(
        env_id=ENV_ID,
        env_kwargs={"source": "five_bars", "scene_size": 16},
        channels=8,
        units=48,
        score_units=16,
        word_units=16,
        batch_size=32,
        learning_rate=1e-2,
        precision="float32",
    )
    learner, errors = SupervisedLearner(config, Captioner), [1.0] * 20
    for update in range(150):
        errors.append(learner.update(update / 150)["error"])
    learner.close()
    model = learner.policy.eval()
    shown = {"view": "full", **config.env_kwargs}
    score = evaluate(model, ENV_ID, episodes=200, combinations="trained", **shown)
    assert np.mean(errors[20:23]) > 0.5
    assert score.success is not None
    assert score.success > 0.9
