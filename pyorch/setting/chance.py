"""Whether a run uses random numbers: if not, its seed makes no difference."""

from __future__ import annotations

from collections.abc import Hashable

from pyorch.network.cycles import ShortestPaths
from pyorch.network.topology import Topology
from pyorch.setting.canonical import Setting
from pyorch.traffic import base as traffic

MOST_SCENES = 200
"""Maximum number of different scenes to check; more count as using random numbers."""


_CHANCES = {
    "ns3::lossless::Port": ("BitErrorRate", "LossRate", "ClockTolerance"),
    "ns3::rdma::Host": ("PacingJitter",),
}
"""Attributes that are drawn from the seed unless they are 0."""


def _has_chances(setting: Setting) -> bool:
    """Whether ports, clocks or NICs draw something, of all nodes or of some."""
    return any(
        float(attributes.get(type_id, {}).get(name, 0)) != 0
        for attributes in (setting.attributes, *(one.attributes for one in setting.nodes))
        for type_id, names in _CHANCES.items()
        for name in names
    )


def scene_of(setting: Setting) -> Hashable:
    """Return the parts of a setting that decide whether its runs use random numbers."""
    drawing = (*setting.agents, *setting.host_agents, setting.congestion_control)
    chance = any(drawing) or _has_chances(setting)
    return setting.topology, (*setting.traffic,), setting.run, chance


def may_draw(setting: Setting, network: Topology) -> bool:
    """Whether something of a setting may depend on the seed.

    Traffic reports it itself; links that fail at random and equally short paths (whose choice is
    salted) are drawn, as are errors on links, clocks and uneven pacing; agents and congestion
    controls may use random numbers.
    """
    if setting.agents or setting.host_agents or setting.congestion_control:
        return True
    if _has_chances(setting):
        return True
    if setting.topology.random_failed_links:
        return True
    if traffic.draws(setting.traffic, network, setting.run.duration):
        return True
    return bool(network.failures) or ShortestPaths.of(network).has_choice()
