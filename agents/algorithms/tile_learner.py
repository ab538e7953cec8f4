"""The base of learners that read all tiles of a scene while training.

They learn a policy of single glimpses, for environments with look="tiles", and are scored there,
one glimpse at a time. Training reads the scene at every tile, in the environment's full view: this
privilege gives gradients of low variance.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any

import torch
import tyro
from torch import Tensor
from torch.nn import functional as F

from agents.algorithms.learner import AgentConfig, GradientLearner
from agents.algorithms.tiles import TileReader
from agents.episodes.environments import make_training_env
from agents.episodes.trajectory import Observation
from agents.policy.distributions import Categorical
from agents.policy.glimpse_policy import Decision, GlimpsePolicy
from agents.policy.making import policy_from
from agents.policy.networks import NetworkConfig, TileNetworkOptions, core_name
from agents.training.checks import check_finite
from agents.training.command_line import without_options
from agents.training.row_draws import draw_rows
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.episodes.description import Description, describe_id
from glimpse_envs.episodes.lookup import full_view
from glimpse_envs.evaluation.record import Model


@dataclass(frozen=True)
@without_options("curriculum", "solve_share")
class TileConfig(AgentConfig):
    """Options of all learners over tiles."""

    network: Annotated[NetworkConfig, tyro.conf.arg(constructor=TileNetworkOptions)] = field(
        default_factory=NetworkConfig
    )
    """Sizes and kinds of the networks."""


@dataclass(frozen=True)
class TileEpisodes:
    """B episodes before their first glimpse.

    Args:
        glimpses: (B, n, K C, g, g) in [0, 1], of all tiles.
        locations: (n, 2) in [-1, 1], (x, y) of the tiles' middles.
        targets: (B,) int64, the right answers.
        first: (B,) int64, the first tiles.
        pays: T rewards of a right answer, one after each glimpse.
    """

    glimpses: Tensor
    locations: Tensor
    targets: Tensor
    first: Tensor
    pays: tuple[float, ...]

    @property
    def tiles(self) -> int:
        """n."""
        return len(self.locations)

    def pick(self, tiles: Tensor) -> Tensor:
        """The weights (B, n) by which `shown` shows the `tiles` (B,) alone."""
        return F.one_hot(tiles, self.tiles).to(self.glimpses)

    def shown(self, weights: Tensor, taken: int) -> Observation:
        """The observation of glimpse number `taken`, a sum over the tiles by `weights` (B, n)."""
        # Of a single tile exactly what is there, which products in bfloat16 would round.
        with torch.autocast(weights.device.type, enabled=False):
            return {
                "glimpse": torch.einsum("bn,bnkij->bkij", weights, self.glimpses),
                "location": weights @ self.locations,
                "remaining": self._remaining(taken, len(weights)),
            }

    def everywhere(self, taken: int, paths: int = 1) -> Observation:
        """The observations of glimpse number `taken` at all tiles, for each of `paths` paths of
        looks in each episode: (B paths n, ...), the tiles varying fastest."""
        rows = len(self.glimpses) * paths
        return {
            "glimpse": self.glimpses.repeat_interleave(paths, dim=0).flatten(0, 1),
            "location": self.locations.repeat(rows, 1),
            "remaining": self._remaining(taken, rows * self.tiles),
        }

    def _remaining(self, taken: int, rows: int) -> Tensor:
        budget = len(self.pays)
        # Rounded to float32, as the environment rounds it.
        left = torch.tensor((budget - taken) / budget, dtype=torch.float32)
        return left.to(self.glimpses).expand(rows, 1)


@dataclass(frozen=True)
class TileLosses:
    """Losses of B episodes.

    Args:
        losses: name -> (B,).
        right: (T, B) in [0, 1], the probability that the likeliest answer after each glimpse is
            right.
    """

    losses: dict[str, Tensor]
    right: Tensor


def look_of(decision: Decision) -> Categorical:
    """The distribution over the next tile.

    Raises:
        FloatingPointError: it is not finite.
    """
    look = decision.heads["look"]
    assert isinstance(look, Categorical)
    if not look.is_finite():
        raise FloatingPointError("the policy's look is not finite")
    return look


class TileLearner(GradientLearner):
    """A learner whose episodes hold the glimpses at all tiles.

    Args:
        config: of the training.

    Raises:
        ValueError: the environment has no tiles, has an argument that the full view does not take,
            or hides more than one still picture that is answered once.
    """

    policy: GlimpsePolicy
    config: TileConfig

    def __init__(self, config: TileConfig) -> None:
        check_finite(config, "entropy_weight")
        glimpsed = describe_id(config.env_id, config.env_kwargs)
        view = _checked_view(glimpsed, config)
        _check_answered_once(glimpsed, config)
        env = make_training_env(config, view="full")
        super().__init__(config, env, lambda _: policy_from(config.network, glimpsed))
        self.reader = TileReader(view).to(self.device)
        last, budget = glimpsed.answer_reward, glimpsed.budget
        assert last is not None
        assert budget is not None
        self.pays = (*[last if last < 1.0 else 0.0] * (budget - 1), last)

    def privileged_model(self, kind: str) -> Model:
        """The description of the model of a learner of this `kind`."""
        name = f"{kind} {core_name(self.config.network)}, trained on all tiles"
        return Model(name, "privileged")

    def deal(self) -> TileEpisodes:
        """Fresh episodes; the first tile is uniform, and one for all copies of a scene, as in the
        environment."""
        observation, _ = self.env.reset()
        rows = len(observation["scene"])
        blind: dict[str, Any] = {"answer": torch.zeros(rows, dtype=torch.int64).numpy()}
        *_, info = self.env.step(blind)
        scene = torch.as_tensor(observation["scene"]).to(self.device)
        self.given = [{"scene": scene}], ()
        tiles = len(self.reader.locations)
        copies = self.config.copies
        first = draw_rows(
            lambda shape: torch.randint(tiles, shape, generator=self.generator),
            (rows // copies,),
            self.generator,
        )
        return TileEpisodes(
            glimpses=self.reader(scene),
            locations=self.reader.locations,
            targets=torch.as_tensor(info["target"]).to(self.device),
            first=first.repeat_interleave(copies).to(self.device),
            pays=self.pays,
        )

    def descend_losses(self, outcome: TileLosses, **weights: float) -> dict[str, float]:
        """Take one step down the weighted mean losses; return the metrics."""
        means = {name: loss.mean() for name, loss in outcome.losses.items()}
        total = torch.stack([weights[name] * mean for name, mean in means.items()]).sum()
        norm = self.descend(total, **means)
        right = outcome.right.mean(dim=1).tolist()
        return {
            **{f"loss/{name}": mean.item() for name, mean in means.items()},
            "error": 1.0 - right[-1],
            "return": sum(pay * share for pay, share in zip(self.pays, right, strict=True)),
            "glimpses": float(len(self.pays)),
            "gradient_norm": norm,
        }


def _checked_view(glimpsed: Description, config: TileConfig) -> PictureView:
    """The picture's view by tiles.

    Raises:
        ValueError: there are no tiles, or the full view is another task.
    """
    view, parts, algorithm = glimpsed.picture_view, glimpsed.components, config.algorithm
    if "scene" not in glimpsed.observation_space.spaces and view is None:
        raise ValueError(f"{algorithm} is for pictures, and {config.env_id} hides none")
    if "look" not in parts:
        raise ValueError(
            f"{algorithm} trains a policy of single glimpses: leave view='full' out of env_kwargs "
            "(training reads the whole scene in any case)"
        )
    if view is None or view.look != "tiles":
        look = None if view is None else view.look
        raise ValueError(f"{algorithm} needs look=tiles: add it to env_kwargs (look is {look!r})")
    shape = glimpsed.observation_space["location"].shape
    refused = {
        "history=True": shape is None or len(shape) != 1,
        "context=True": "context" in glimpsed.observation_space.spaces,
        "stop=True": "stop" in parts,
        f"glimpse_cost={glimpsed.glimpse_cost}": glimpsed.glimpse_cost != 0.0,
    }
    for argument, given in refused.items():
        if given:
            cure = "leave it out of env_kwargs"
            if argument.partition("=")[0] not in config.env_kwargs:
                cure = f"{config.env_id} always has {argument}: choose another task"
            raise ValueError(
                f"{algorithm} takes no {argument}: it is trained in the full view, which has no "
                "history, context, stop or glimpse_cost, and so would be trained on another task; "
                f"{cure}"
            )
    return view


def _check_answered_once(glimpsed: Description, config: TileConfig) -> None:
    """Check that all tiles of one scene, and one answer, are the whole episode.

    Raises:
        ValueError: the picture moves, is answered several times, or more is shown than glimpses.
    """
    whole = describe_id(config.env_id, full_view(config.env_id, config.env_kwargs))
    further = glimpsed.observation_space.spaces.keys() - {"glimpse", "location", "remaining"}
    steps = whole.budget
    if steps != 1 and whole.fixed_steps:
        found = f"that of {config.env_id} changes at each of {steps} steps"
    elif steps != 1:
        found = f"{config.env_id} asks for up to {steps} answers, one after another"
    elif further:
        found = f"{config.env_id} also shows {', '.join(sorted(further))}"
    else:
        return
    raise ValueError(
        f"{config.algorithm} reads all tiles of a picture that stands still and is answered once, "
        f"from its glimpses alone, but {found}: choose another task, or train by reinforce or "
        "actor_critic"
    )
