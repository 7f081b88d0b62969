"""Pure exploration: one description of a problem, and strategies that need nothing else."""

from bestarm.core.pure_exploration.optimum import characteristic_time, nearest
from bestarm.core.pure_exploration.top_arms import top_arms

__all__ = ["characteristic_time", "nearest", "top_arms"]
