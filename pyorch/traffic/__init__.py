"""Traffic: flows of every kind, and the jobs that make them."""

from pyorch.traffic import kinds, messages  # they register themselves
from pyorch.traffic.jobs import chakra_kind, collective_kind, goal_kind

__all__ = ["chakra_kind", "collective_kind", "goal_kind", "kinds", "messages"]
