"""Experiments on lossless Ethernet, as a library: `Study` loads one, or builds it from objects.

Everything here is loaded when it is first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyorch.byhand import OpenRun
    from pyorch.config.canonical import PauseStorm, SlowReceiver
    from pyorch.config.experiment import RunTable as Run
    from pyorch.config.experiment import TraceTable as Trace
    from pyorch.config.topology_kinds import (
        Dumbbell,
        Explicit,
        ExplicitLink,
        FatTree,
        LeafSpine,
        Line,
        Ring,
        Star,
    )
    from pyorch.config.traffic_collectives import Collective
    from pyorch.config.traffic_kinds import (
        AllToAll,
        Cycle,
        Greedy,
        Incast,
        Permutation,
        Poisson,
    )
    from pyorch.config.traffic_kinds import Ring as RingTraffic
    from pyorch.config.traffic_messages import Message, Messages
    from pyorch.errors import Problem, UserError
    from pyorch.pipeline import Plan
    from pyorch.report.expect import ExpectModel as Expect
    from pyorch.study import RunsFailedError, Study

_TOPOLOGIES = "Dumbbell Explicit ExplicitLink FatTree LeafSpine Line Ring Star"
_TRAFFIC = "AllToAll Cycle Greedy Incast Permutation Poisson"
_WHERE = {
    **dict.fromkeys(_TOPOLOGIES.split(), "pyorch.config.topology_kinds"),
    **dict.fromkeys(_TRAFFIC.split(), "pyorch.config.traffic_kinds"),
    **dict.fromkeys(("Message", "Messages"), "pyorch.config.traffic_messages"),
    **dict.fromkeys(("PauseStorm", "SlowReceiver"), "pyorch.config.canonical"),
    **dict.fromkeys(("Problem", "UserError"), "pyorch.errors"),
    **dict.fromkeys(("RunsFailedError", "Study"), "pyorch.study"),
    "Collective": "pyorch.config.traffic_collectives",
    "Expect": "pyorch.report.expect:ExpectModel",
    "OpenRun": "pyorch.byhand",
    "Plan": "pyorch.pipeline",
    "RingTraffic": "pyorch.config.traffic_kinds:Ring",
    "Run": "pyorch.config.experiment:RunTable",
    "Trace": "pyorch.config.experiment:TraceTable",
}

__all__ = [
    "AllToAll",
    "Collective",
    "Cycle",
    "Dumbbell",
    "Expect",
    "Explicit",
    "ExplicitLink",
    "FatTree",
    "Greedy",
    "Incast",
    "LeafSpine",
    "Line",
    "Message",
    "Messages",
    "OpenRun",
    "PauseStorm",
    "Permutation",
    "Plan",
    "Poisson",
    "Problem",
    "Ring",
    "RingTraffic",
    "Run",
    "RunsFailedError",
    "SlowReceiver",
    "Star",
    "Study",
    "Trace",
    "UserError",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'pyorch' has no attribute {name!r}")
    if name not in ("Problem", "UserError", "Study", "RunsFailedError"):
        import_module("pyorch.config")  # registers all kinds
    if "IPython" in sys.modules:
        import_module("pyorch.report.planned").show_in_notebooks()
    module, _, other = _WHERE[name].partition(":")
    return getattr(import_module(module), other or name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
