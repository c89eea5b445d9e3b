"""Kinds of traffic and metrics of jobs of ranks, in the order in which messages list them."""

from pyorch.metrics import MODELS
from pyorch.traffic.base import KINDS

for kind in ("collective", "goal", "chakra", "transformer:model", "workload"):
    name, _, module = kind.partition(":")
    KINDS.later(f"pyorch.addons.jobs.{module or name}_kind", name)
MODELS.later("pyorch.addons.jobs.metrics", "bus_bandwidth iteration_time lateness")
