"""Gymnasium environments for hard attention: the agent chooses each glimpse.

Importing this registers every environment of `glimpse_envs.suite.SUITE`:

    import gymnasium
    import glimpse_envs

    env = gymnasium.make("Glimpse/ClutteredGlyphs-v0")
    envs = gymnasium.make_vec("Glimpse/ClutteredGlyphs-v0", num_envs=64)
"""

from glimpse_envs.core.threads import set_threads
from glimpse_envs.sources import register_source
from glimpse_envs.suite import register, register_all
from glimpse_envs.vision.scenes import register_scene
from glimpse_envs.vision.sensors import register_sensor

__all__ = ["register", "register_scene", "register_sensor", "register_source", "set_threads"]
__version__ = "0.1.0"

register_all()
