"""Hard attention over tiles without sampling noise: every next tile is tried.

After t glimpses the policy is in the state s_t, gives the right answer y with probability
p(y | s_t), which pays w_t, and looks at tile a with probability π(a | s_t), which leads to
s_{t+1}(a). Since training reads the scene at all n tiles (`agents.algorithms.tile_learner`), one
can sum over the looks. The objective after a look is, with a sum over the tiles a,

- `objective="expected_reward"`: R_t = w_t Σ_a π(a) p(y | s_t(a)), the expected reward of an agent
  that samples looks and answers;
- `"marginal_likelihood"`: R_t = w_t log Σ_a π(a) p(y | s_t(a)), of hard attention as a latent
  variable (Wu, Shapiro & Cotterell 2018, "Hard non-monotonic attention for character-level
  transduction");
- `"hybrid"`: answers climb the log-likelihood of the label, w_t Σ_a π(a) log p(y | s_t(a)) with π
  constant, and looks climb R_t of the expected reward with p constant. It is REINFORCE with
  answer_by="label" and look_signal="probability", without the noise.

With `paths="next"` only the next tile is summed over, and the history before it is sampled:
E[Σ_t R_t] over histories is climbed, by the gradient of

    Σ_t ( R_t + Σ_a π(a | s_{t-1}) V(s_t(a)) ),

an all-action policy gradient with one exact step of look-ahead. V, constant there, is the policy's
baseline: the return after the answer in s_t, and 0 in s_T. Its target is the exact
backup, V(s_t) <- R_{t+1} + Σ_a π(a | s_t) V(s_{t+1}(a)). The last look and the answers are learned
without bias, earlier looks as far as V is right. With two glimpses nothing is sampled.

With `paths="all"` all n^(T-1) paths of looks are followed, and the sum over a is over all paths to
the t-th glimpse: only scenes and first tiles are sampled, and no baseline is needed or trained.

Cost: a look takes n passes through glimpse network and core, not one; all paths take n^(T-1).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from agents.algorithms.tile_learner import (
    TileConfig,
    TileEpisodes,
    TileLearner,
    TileLosses,
    look_of,
)
from agents.policy.core import State
from agents.policy.glimpse_policy import Decision, GlimpsePolicy
from agents.training.checks import check_choices, check_counts, check_not_negative, check_unused
from agents.training.precision import autocast
from glimpse_envs.evaluation.record import Model


@dataclass(frozen=True)
class ExactConfig(TileConfig):
    """Train a recurrent attention model over tiles by exact sums over its looks."""

    algorithm: ClassVar[str] = "exact"

    objective: Literal["hybrid", "expected_reward", "marginal_likelihood"] = "hybrid"
    """Objective. hybrid: answers maximise the label's log-likelihood, looks the expected reward;
    expected_reward, marginal_likelihood: both maximise this one."""
    paths: Literal["next", "all"] = "next"
    """Looks that are summed over. next: the next one, after sampled ones; all: all of the episode,
    which only small tasks allow."""
    max_paths: int = 4096
    """Greatest number of paths through a scene that --paths all accepts."""
    baseline_weight: float = 0.5
    """Weight of the baseline's squared error."""


# --- objectives -----------------------------------------------------------------------------------

Objective = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""From the log-probabilities of paths of looks and of the right answer after each, both (B, m), to
the objective and the expected reward, both (B,)."""


def marginal_likelihood(log_path: Tensor, log_right: Tensor) -> tuple[Tensor, Tensor]:
    """The log-likelihood (B,) of the right answer over all paths (B, P), as both results."""
    marginal = torch.logsumexp(log_path + log_right, dim=1)
    return marginal, marginal


def expected_reward(log_path: Tensor, log_right: Tensor) -> tuple[Tensor, Tensor]:
    """The expected reward (B,) over all paths (B, P), as both results."""
    reward = (log_path + log_right).exp().sum(dim=1)
    return reward, reward


def hybrid(log_path: Tensor, log_right: Tensor) -> tuple[Tensor, Tensor]:
    """The likelihood for answers and the reward for paths (B, P); both results (B,)."""
    likelihood = (log_path.detach().exp() * log_right).sum(dim=1)
    reward = (log_path + log_right.detach()).exp().sum(dim=1)
    # Both gradients, and the value of the likelihood.
    return likelihood + (reward - reward.detach()), reward


OBJECTIVES: dict[str, Objective] = {
    "hybrid": hybrid,
    "expected_reward": expected_reward,
    "marginal_likelihood": marginal_likelihood,
}


# --- episodes -------------------------------------------------------------------------------------


def next_tile_losses(
    policy: GlimpsePolicy, episodes: TileEpisodes, objective: Objective, generator: torch.Generator
) -> TileLosses:
    """The losses of `paths="next"`.

    `objective`: minus Σ_t R_t, with the gradient that the module's text gives; `baseline`: half the
    mean squared error; `entropy`: of the looks, summed over them.

    Args:
        policy: decides; its gradient is kept.
        episodes: about to begin.
        objective: of `OBJECTIVES`.
        generator: samples the histories.
    """
    rows, budget = len(episodes.targets), len(episodes.pays)
    decision, state = _begin(policy, episodes)
    zero = torch.zeros_like(decision.value)
    log_right, right = _answers(decision, episodes, paths=1)
    gained = episodes.pays[0] * objective(zero[:, None], log_right)[0]
    missed, entropy, shares = zero, zero, [right[:, 0]]
    for taken, pay in enumerate(episodes.pays[1:], start=2):
        look = look_of(decision)
        log_p = look.logits.log_softmax(dim=-1)  # (B, n)
        # Unpaid answers have no gradient: tiles are then tried for their values alone.
        with torch.set_grad_enabled(torch.is_grad_enabled() and pay > 0):
            tried, _ = policy(episodes.everywhere(taken), _repeat(state, episodes.tiles))
        log_right, right = _answers(tried, episodes, paths=episodes.tiles)
        maximised, earned = objective(log_p, log_right)
        later = zero
        if taken < budget:
            later = (log_p.exp() * tried.value.detach().view(rows, -1)).sum(dim=1)
        # The later return adds its gradient, not its value.
        gained = gained + pay * maximised + (later - later.detach())
        missed = missed + 0.5 * (decision.value - (pay * earned + later).detach()) ** 2
        entropy = entropy + look.entropy()
        shares.append((log_p.detach().exp() * right).sum(dim=1))
        if taken < budget:
            tile = look.sample(generator)
            decision, state = policy(episodes.shown(episodes.pick(tile), taken), state)
    losses = {
        "objective": -gained,
        "baseline": missed / max(budget - 1, 1),
        "entropy": entropy,
    }
    return TileLosses(losses, torch.stack(shares))


def all_paths_losses(
    policy: GlimpsePolicy, episodes: TileEpisodes, objective: Objective
) -> TileLosses:
    """The losses of `paths="all"`, as those of `next_tile_losses` but without a baseline's; a
    look's entropy is the mean over the paths to it."""
    rows = len(episodes.targets)
    decision, state = _begin(policy, episodes)
    log_path = torch.zeros_like(decision.value)[:, None]  # (B, m), of the m paths so far
    log_right, right = _answers(decision, episodes, paths=1)
    gained = episodes.pays[0] * objective(log_path, log_right)[0]
    entropy, shares = torch.zeros_like(decision.value), [right[:, 0]]
    for taken, pay in enumerate(episodes.pays[1:], start=2):
        look, paths = look_of(decision), log_path.shape[1]
        entropies = look.entropy().view(rows, paths)
        entropy = entropy + (log_path.detach().exp() * entropies).sum(dim=1)
        log_p = look.logits.log_softmax(dim=-1).view(rows, paths, -1)
        log_path = (log_path[:, :, None] + log_p).flatten(1)  # (B, m n)
        state = _repeat(state, episodes.tiles)
        decision, state = policy(episodes.everywhere(taken, paths), state)
        log_right, right = _answers(decision, episodes, paths=log_path.shape[1])
        gained = gained + pay * objective(log_path, log_right)[0]
        shares.append((log_path.detach().exp() * right).sum(dim=1))
    return TileLosses({"objective": -gained, "entropy": entropy}, torch.stack(shares))


def _begin(policy: GlimpsePolicy, episodes: TileEpisodes) -> tuple[Decision, State]:
    """Decide on the first glimpses."""
    first = episodes.shown(episodes.pick(episodes.first), taken=1)
    decision, state = policy(first, policy.initial_state(len(episodes.first)))
    return decision, state


def _answers(decision: Decision, episodes: TileEpisodes, paths: int) -> tuple[Tensor, Tensor]:
    """The log-probability of the right answer, and whether it is the likeliest, (B, paths) each,
    of decisions on `paths` paths of looks in each episode."""
    answer = decision.heads["answer"]
    targets = episodes.targets.repeat_interleave(paths)
    right = (answer.mode() == targets).view(-1, paths)
    return answer.log_prob(targets).view(-1, paths), right.to(decision.value)


def _repeat(state: State, tiles: int) -> State:
    """Each row of the memory `tiles` times over."""
    return tuple(part.repeat_interleave(tiles, dim=0) for part in state)


class Exact(TileLearner):
    """The learner: one `update` deals a batch of scenes and takes one step.

    The metric "error" is the expectation over the looks that are summed over.

    Args:
        config: see `ExactConfig`.

    Raises:
        ValueError: the configuration does not fit the environment, or there are too many paths.
    """

    config: ExactConfig

    def __init__(self, config: ExactConfig) -> None:
        check_choices(config)
        check_not_negative(config, "baseline_weight")
        check_counts(config, "max_paths")
        if config.paths == "all":
            check_unused(config, "paths='next'", "baseline_weight")
        else:
            check_unused(config, "paths='all'", "max_paths")
        super().__init__(config)
        tiles, looks = len(self.reader.locations), len(self.pays) - 1
        if config.paths == "all" and tiles**looks > config.max_paths:
            self.close()
            raise ValueError(
                f"paths='all' would follow {tiles}**{looks} = {tiles**looks} paths a scene, more "
                f"than max_paths={config.max_paths}: raise it, or use paths='next'"
            )

    @property
    def model(self) -> Model:
        return self.privileged_model("Exact")

    def learn(self, progress: float) -> dict[str, float]:
        """Deal a batch of scenes and descend their losses."""
        config, objective = self.config, OBJECTIVES[self.config.objective]
        episodes = self.deal()
        with autocast(self.device, config.torch_precision):
            if config.paths == "all":
                outcome = all_paths_losses(self.policy, episodes, objective)
            else:
                outcome = next_tile_losses(self.policy, episodes, objective, self.generator)
        return self.descend_losses(
            outcome,
            objective=1.0,
            baseline=config.baseline_weight,
            entropy=-config.entropy_weight,
        )
