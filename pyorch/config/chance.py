"""Whether a run draws anything from its seed: if not, runs of other seeds are the same run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from pyorch.config import traffic
from pyorch.config.cycles import ShortestPaths
from pyorch.spec import SettingData

if TYPE_CHECKING:
    from pyorch.config.topology import Topology

_Key = Literal["topology", "traffic", "run", "agents", "host_agents", "congestion_control"]
SCENE: tuple[_Key, ...] = get_args(_Key)
"""What of RunSpec.data tells whether it draws anything."""
MOST_SCENES = 200
"""As many different scenes are looked at: of more, one may draw."""


def may_draw(data: SettingData, network: Topology) -> bool:
    """Whether something of a setting may depend on the seed (RunSpec.data without it).

    Traffic is asked; links that fail at random and equally short paths (whose choice is salted) are
    drawn; an agent, or a congestion control, may draw.
    """
    if data["agents"] or data["host_agents"] or data["congestion_control"]:
        return True
    if data["topology"].get("random_failed_links"):
        return True
    if traffic.draws(data["traffic"], network, data["run"]["duration_ps"]):
        return True
    return bool(network.failures) or ShortestPaths.of(network).has_choice()
