"""What others report of worlds that move, for comparison."""

from __future__ import annotations

from dataclasses import dataclass

NO_CLAIM = (
    "No claim is made against these numbers: RAM does not state where its ball starts and how fast "
    "it is. SUGARL's agents are DQN, see a frame of 84x84 of which all but the fovea is black, cut "
    "past frames anew at the present gaze, train for a million steps, and are reported as an "
    "inter-quartile mean over 26 games of scores divided by a full view's; these are PPO with an "
    "LSTM, see the fovea alone and past frames as they were seen, and train for an hour of one "
    "core a game. MultiRoom-N6 is another world than those here, from one log."
)


@dataclass(frozen=True)
class WorldReference:
    """A score that others report of a world."""

    env_id: str
    source: str
    score: str
    """With its unit."""
    trained: str
    """On how much."""


CATCH = WorldReference(
    "Glimpse/Catch-v0",
    "RAM, Mnih et al., arXiv v1, 2014",
    "about 85 % caught",
    "20 M frames",
)
CATCH_LATER = WorldReference(
    "Glimpse/Catch-v0",
    "a public re-implementation (one source)",
    "about 89 % caught",
    "15 M episodes",
)

WORLD_REFERENCES = (CATCH, CATCH_LATER)

FACTS = (
    "SUGARL (Shang & Ryoo, NeurIPS 2023), 26 Atari games through a fovea of 50, after 1 M steps: "
    "inter-quartile mean over games of the score, with a full view's as 1. SUGARL 0.805, one joint "
    "policy 0.171, random views 0.367, raster 0.487, a fixed view of the centre 0.588, read off "
    "their figures.",
    "MiniGrid's MultiRoom-N6 after 2 M frames: no bonus 0, RND 0.316, and only at a weight of "
    "0.005; a public research log.",
)
