"""The parts of experiment files: networks, traffic, and the attributes of C++ objects."""

from pyorch.config import (  # they register themselves
    topology_file,
    topology_kinds,
    traffic_chakra,
    traffic_collectives,
    traffic_goal,
    traffic_kinds,
    traffic_messages,
)

__all__ = [
    "topology_file",
    "topology_kinds",
    "traffic_chakra",
    "traffic_collectives",
    "traffic_goal",
    "traffic_kinds",
    "traffic_messages",
]
