"""The policy of all agents: glimpse network, core and heads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.policy.blindness import Blindness
from agents.policy.cells import CellsHead, make_cells_head
from agents.policy.context import REFUSED, ContextScores, context_shape, without_context
from agents.policy.core import State
from agents.policy.cores import DRAMCore, make_core
from agents.policy.distributions import Distribution
from agents.policy.glimpse_counts import glimpse_counts
from agents.policy.glimpse_network import GlimpseNetwork
from agents.policy.heads import GaussianHead, Head, Repeater, make_head
from agents.policy.inhibition import Inhibition, make_inhibition
from agents.policy.networks import NetworkConfig, check_network, core_outputs
from agents.policy.words import make_words_head
from agents.training.checkpoints import load_weights
from agents.training.precision import wide
from agents.training.resuming import config_from_json, setting_of
from agents.training.transfers import to_device
from glimpse_envs.core.misfits import check_batch
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.episodes.description import ACT, describe_id
from glimpse_envs.evaluation.outlook import Outlook
from glimpse_envs.evaluation.policy import Policy
from glimpse_envs.task import Component

if TYPE_CHECKING:
    from glimpse_envs.evaluation.runs import Run


@dataclass(frozen=True)
class Decision:
    """The policy's output for one observation.

    Args:
        heads: component of the action -> its distribution.
        value: (B,) the baseline, an estimate of the return-to-go.
    """

    heads: dict[str, Distribution]
    value: Tensor

    def chunk(self, count: int) -> "list[Decision]":
        """The decisions of `count` equal runs of rows, in their order."""
        heads = {name: head.chunk(count) for name, head in self.heads.items()}
        return [
            Decision({name: parts[k] for name, parts in heads.items()}, value)
            for k, value in enumerate(self.value.chunk(count))
        ]


@dataclass(frozen=True)
class Grounds:
    """What the policy decides on, for B rows.

    Args:
        output: (B, units) of the core, on which answers depend.
        choosing: (B, units), on which all else depends.
        observation: name -> (B, ...), with what is remembered of the context.
        visits: (B, ...) with inhibition of return.
    """

    output: Tensor
    choosing: Tensor
    observation: dict[str, Tensor]
    visits: Tensor | None

    @classmethod
    def joined(cls, parts: "Sequence[Grounds]") -> Self:
        """Those of the rows of all `parts`, one after another."""
        output = torch.cat([part.output for part in parts])
        apart = any(part.choosing is not part.output for part in parts)
        visits = [part.visits for part in parts if part.visits is not None]
        return cls(
            output,
            torch.cat([part.choosing for part in parts]) if apart else output,
            {n: torch.cat([part.observation[n] for part in parts]) for n in parts[0].observation},
            torch.cat(visits) if visits else None,
        )


class GlimpsePolicy(nn.Module, Policy):
    """A policy for every environment whose observation has encoders and whose components have
    heads.

    The gradient of answers and of acts always reaches the whole network. With `detach_heads` the
    gradient of the other heads (look, stop) and of the baseline stops at the core's output, as in
    RAM.

    Args:
        observation_space: of a single row.
        components: the parts of the action.
        config: sizes and kinds.
        view: of the picture, if there is one.

    Raises:
        ValueError: a value in `config` is invalid, or a space has no head or encoder.
    """

    def __init__(
        self,
        observation_space: spaces.Dict,
        components: Mapping[str, Component],
        config: NetworkConfig,
        view: PictureView | None = None,
    ) -> None:
        super().__init__()
        check_network(config)
        answer = components.get("answer")
        if answer is not None and isinstance(answer.space, spaces.MultiDiscrete):
            raise ValueError(
                f"the answer is a sequence of {len(answer.space.nvec)} in one action, as in the "
                "full view of a tape, and agents give one at a time: leave out view=full, or train "
                "a baseline (python -m baselines.train lstm_memory)"
            )
        self.config, self.components = config, components
        self.observation_space: spaces.Dict = observation_space
        self.action_space = spaces.Dict([(name, one.space) for name, one in components.items()])
        units = core_outputs(config) + (config.glimpse_units if config.skip else 0)
        words: Head | None = None
        core_space = without_context(observation_space)
        self.blindness: Blindness | None = None
        if answer is not None and view is not None:
            words = make_words_head(observation_space, answer, view, config, units)
            if config.blind_memory and words is not None:
                self.blindness = Blindness(core_space, answer.classes, view)
                core_space = self.blindness.space
        self.glimpse_network = GlimpseNetwork(core_space, config)
        context = context_shape(observation_space)
        self.core = make_core(config, config.glimpse_units, context)
        self.has_context = context is not None
        self.heads = nn.ModuleDict()
        for name, component in components.items():
            head = words if name == "answer" else None
            if name == "look" and config.look_coordinates == "cells":
                head = make_cells_head(observation_space, view, config, units)
            self.heads[name] = head or make_head(name, component, config, units)
        self.context_scores: ContextScores | None = None
        looks = dict(self.heads.items()).get("look")
        if isinstance(looks, CellsHead):
            self.context_scores = looks.context
        if context is not None and config.core != "dram" and self.context_scores is None:
            raise ValueError(REFUSED)
        self.repeaters = nn.ModuleDict()
        for name in _repeating(components, config.direct_access):
            component = components[name]
            bits = isinstance(component.space, spaces.MultiBinary)
            self.repeaters[name] = Repeater(units, component.repeats, bits)
        self.inhibition: Inhibition | None = None
        if config.inhibition_of_return:
            heads: Any = dict(self.heads.items())
            self.inhibition = make_inhibition(
                observation_space, components, heads, view, units, config.wide_inhibition
            )
        self.baseline = nn.Sequential(
            nn.Linear(units, config.head_units),
            nn.ReLU(),
            nn.Linear(config.head_units, 1),
        )
        self.generator = torch.Generator().manual_seed(0)

    def initial_state(self, rows: int) -> State:
        """The memory (B, units), ... before the first glimpse: the core's state, then what is
        remembered of the context, with inhibition of return the visits, and with counts of
        glimpses their number."""
        state = self.core.initial_state(rows)
        if self.context_scores is not None:
            state = (*state, self.context_scores.nothing_seen(rows))
        if self.inhibition is not None:
            state = (*state, self.inhibition.no_visits(rows))
        return (*state, state[0].new_zeros(rows, 1)) if self.config.count_glimpses else state

    def as_tensors(self, observation: dict[str, NDArray]) -> dict[str, Tensor]:
        """The observation on the parameters' device and of their dtype."""
        parameter = next(self.parameters())
        return {name: to_device(value, parameter) for name, value in observation.items()}

    def encode(self, observation: dict[str, Tensor]) -> Tensor:
        """The codes (B, units) of observations, name -> (B, ...), which need no memory."""
        blind = self.blindness
        return self.glimpse_network(observation if blind is None else blind(observation))

    def forward(
        self, observation: dict[str, Tensor], state: State, seen: Tensor | None = None
    ) -> tuple[Decision, State]:
        """Decide on one observation, name -> (B, ...); `seen` is its code, if `encode` has computed
        it already."""
        grounds, state = self.remember(observation, state, seen)
        return self.decide(grounds), state

    def remember(
        self, observation: dict[str, Tensor], state: State, seen: Tensor | None = None
    ) -> tuple[Grounds, State]:
        """What to decide on after one observation, and the next state; arguments as in
        `forward`."""
        seen = self.encode(observation) if seen is None else seen
        visits: Tensor | None = None
        remembered: State = ()
        if self.config.count_glimpses:
            taken = state[-1] + 1
            state, remembered = state[:-1], (taken,)
            seen = self.glimpse_network.joined(seen, glimpse_counts(taken, observation))
        if self.inhibition is not None:
            visits = self.inhibition.with_present(state[-1], observation)
            state, remembered = state[:-1], (visits, *remembered)
        if self.context_scores is not None:
            features = self.context_scores.remember(state[-1], observation["context"])
            state, remembered = state[:-1], (features, *remembered)
            observation = {**observation, "context": features}
        elif self.has_context and isinstance(self.core, DRAMCore):
            state = self.core.with_context(state, observation["context"])
        state = self.core(seen, state)
        output, choosing = state[0], self.core.choosing(state)
        if self.config.skip:
            same = choosing is output
            output = torch.cat([output, seen], dim=1)
            choosing = output if same else torch.cat([choosing, seen], dim=1)
        return Grounds(output, choosing, observation, visits), (*state, *remembered)

    def decide(self, grounds: Grounds) -> Decision:
        """The decisions of all rows; no row depends on another."""
        observation, visits = grounds.observation, grounds.visits
        apart = grounds.choosing.detach() if self.config.detach_heads else grounds.choosing
        heads = {}
        for name, head in self.heads.items():
            # Where nothing is asked, only acts are left to train the core, as in RAM's Catch.
            chosen = grounds.choosing if name == ACT else apart
            known = grounds.output if self.components[name].taught else chosen
            heads[name] = head(known, observation, self._added(name, known, observation, visits))
        return Decision(heads, wide(self.baseline(apart)[:, 0]))

    def _added(
        self, name: str, known: Tensor, observation: dict[str, Tensor], visits: Tensor | None
    ) -> Tensor | None:
        """The logits (B, n) of direct access and of inhibition, to be added to those of the head
        `name`; None without either."""
        added: Tensor | None = None
        if name in self.repeaters:
            added = self.repeaters[name](known, observation)
        if name == "look" and self.inhibition is not None:
            inhibited = self.inhibition(known, visits, observation)
            added = inhibited if added is None else added + inhibited
        return added

    def set_look_std(self, std: float) -> None:
        """Set the standard deviation of continuous looks, for schedules."""
        for name, head in self.heads.items():
            if name == "look" and isinstance(head, GaussianHead):
                head.set_std(std)

    # --- Stable-Baselines3's interface ----------------------------------------------------------

    def predict(
        self,
        observation: dict[str, NDArray],
        state: State | None = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[dict[str, NDArray], State]:
        """Actions for a batch of observations, name -> (B, ...), and the next state.

        Args:
            observation: arrays.
            state: as returned by the last call; None at the start.
            episode_start: (B,) True where the state is reset first.
            deterministic: take the likeliest action instead of a sample.
        """
        decision, state = self._decide(observation, state, episode_start)
        actions = {}
        for name, head in decision.heads.items():
            chosen = head.mode() if deterministic else head.sample(self.generator)
            actions[name] = head.to_env(chosen).cpu().numpy()
        return actions, state

    def outlook(
        self,
        observation: dict[str, NDArray],
        state: State | None,
        episode_start: NDArray[np.bool_] | None,
    ) -> Outlook:
        decision, _ = self._decide(observation, state, episode_start)
        choices = {name: head.outlook() for name, head in decision.heads.items()}
        return Outlook(choices, decision.value.double().cpu().numpy())

    def _decide(
        self,
        observation: dict[str, NDArray],
        state: State | None,
        episode_start: NDArray[np.bool_] | None,
    ) -> tuple[Decision, State]:
        """The decision on a batch of observations, without gradients, and the next state.

        Raises:
            ValueError: the observation is a single one, or of another environment.
        """
        check_batch(observation, self.observation_space)
        tensors = self.as_tensors(observation)
        first = next(iter(tensors.values()))
        with torch.no_grad():
            begun = self.initial_state(len(first))
            if state is None:
                state = begun
            elif episode_start is not None:
                starts = torch.as_tensor(np.asarray(episode_start)).to(first.device)[:, None]
                state = tuple(
                    torch.where(starts, new, old) for new, old in zip(begun, state, strict=True)
                )
            return self(tensors, state)

    @classmethod
    def from_run(cls, run: "Run", device: str = "cpu") -> Self:
        """Load the policy of a run from its last checkpoint.

        Raises:
            glimpse_envs.evaluation.run_errors.RunError: the run or its checkpoint is missing or
                damaged.
        """
        saved, revision = setting_of(run, "network", dict), str(run.config.get("revision"))
        network = config_from_json(NetworkConfig, saved, f"{run.config_path}: network", revision)
        env_id, env_kwargs = setting_of(run, "env_id", str), setting_of(run, "env_kwargs", dict)
        description = describe_id(env_id, env_kwargs)
        policy = cls(
            description.observation_space, description.components, network, description.picture_view
        )
        load_weights(policy, run)
        return policy.to(device).eval()


def _repeating(components: Mapping[str, Component], access: str | None) -> list[str]:
    """The components with direct access: all but the look for "symbols", every one for "all"."""
    if access is None:
        return []
    named = [name for name, component in components.items() if component.repeats]
    # The look last, so that the order of the others does not depend on `access`.
    return [name for name in named if name != "look"] + [
        name for name in named if name == "look" and access == "all"
    ]
