"""Whether a run uses random numbers: if not, its seed makes no difference."""

from __future__ import annotations

from collections.abc import Hashable

from pyorch.network.cycles import ShortestPaths
from pyorch.network.topology import Topology
from pyorch.setting.canonical import Setting
from pyorch.traffic import base as traffic

MOST_SCENES = 200
"""Maximum number of different scenes to check; more count as using random numbers."""


_DRAWING = "ns3::lossless::Port", "ns3::rdma::Host"
_CHANCES = "BitErrorRate", "LossRate", "ClockTolerance", "PacingJitter"  # of these; 0: not drawn


def _has_chances(setting: Setting) -> bool:
    """Whether ports, clocks or NICs draw something, of all nodes or of some."""
    tables = (setting.attributes, *(one.attributes for one in setting.nodes))
    owners = [one.get(name, {}) for one in tables for name in _DRAWING]
    return any(float(owner.get(name, 0)) for owner in owners for name in _CHANCES)


def scene_of(setting: Setting) -> Hashable:
    """Return the parts of a setting that decide whether its runs use random numbers."""
    schemes = *setting.agents, *setting.host_agents, setting.congestion_control
    return setting.topology, (*setting.traffic,), setting.run, any(schemes), _has_chances(setting)


def may_draw(setting: Setting, network: Topology) -> bool:
    """Whether something of a setting may depend on the seed.

    Traffic reports it itself; links that fail at random and equally short paths (whose choice is
    salted) are drawn, as are errors on links, clocks and uneven pacing; agents and congestion
    controls may use random numbers.
    """
    schemes = setting.agents or setting.host_agents or setting.congestion_control
    if schemes or setting.topology.random_failed_links or _has_chances(setting):
        return True
    if network.failures or traffic.draws(setting.traffic, network, setting.run.duration):
        return True
    return ShortestPaths.of(network).has_choice()
