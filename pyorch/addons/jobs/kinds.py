"""Kinds of traffic and metrics of jobs of ranks, which register themselves."""

# in the order in which messages list them
from pyorch.addons.jobs import goal_kind

# isort: split
from pyorch.addons.jobs import chakra_kind, collective_kind, metrics, model_kind, workload_kind

__all__ = [
    "chakra_kind", "collective_kind", "goal_kind", "metrics", "model_kind", "workload_kind",
]  # fmt: skip
