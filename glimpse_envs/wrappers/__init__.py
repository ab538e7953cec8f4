"""Any pixel environment seen through a glimpse, single and batched."""

from glimpse_envs.wrappers.batched import GlimpseVectorWrapper
from glimpse_envs.wrappers.errors import WrappedEnvError
from glimpse_envs.wrappers.flat_action import FlatAction
from glimpse_envs.wrappers.segments import Segments
from glimpse_envs.wrappers.single import GlimpseWrapper

__all__ = ["FlatAction", "GlimpseVectorWrapper", "GlimpseWrapper", "Segments", "WrappedEnvError"]
