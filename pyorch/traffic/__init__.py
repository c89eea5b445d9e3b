"""Traffic: flows of every kind, and the jobs that make them."""

# they register themselves, in the order in which messages list them
from pyorch.traffic.jobs import chakra_kind, collective_kind, goal_kind

# isort: split
from pyorch.traffic import kinds, messages

__all__ = ["chakra_kind", "collective_kind", "goal_kind", "kinds", "messages"]
