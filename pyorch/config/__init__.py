"""Experiment files: from TOML to validated, canonical settings."""

from pyorch.config import (  # they register themselves
    topology_kinds,
    traffic_collectives,
    traffic_kinds,
    traffic_messages,
)
from pyorch.config.document import Document
from pyorch.config.experiment import Experiment
from pyorch.config.load import list_experiments, load_experiment

__all__ = [
    "Document",
    "Experiment",
    "list_experiments",
    "load_experiment",
    "topology_kinds",
    "traffic_collectives",
    "traffic_kinds",
    "traffic_messages",
]
