"""Experiments on lossless Ethernet, as a library: `Study` loads one, or builds it from objects.

Everything here is loaded when it is first used, so that importing the package costs nothing. Kinds
that installed packages bring are here, too, by the names of their classes, such as `Collective`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyorch.base.errors import Problem, UserError
    from pyorch.network.kinds import (
        Dumbbell,
        Explicit,
        ExplicitLink,
        FatTree,
        LeafSpine,
        Line,
        Ring,
        Star,
    )
    from pyorch.pipeline import Plan
    from pyorch.report.expect import ExpectModel as Expect
    from pyorch.run.byhand import OpenRun
    from pyorch.setting.canonical import PauseStorm, SlowReceiver
    from pyorch.setting.experiment import RunTable as Run
    from pyorch.setting.experiment import TraceTable as Trace
    from pyorch.study import RunsFailedError, Study
    from pyorch.traffic.kinds import AllToAll, Cycle, Greedy, Incast, Permutation, Poisson
    from pyorch.traffic.kinds import Ring as RingTraffic
    from pyorch.traffic.messages import Message, Messages

_TOPOLOGIES = "Dumbbell Explicit ExplicitLink FatTree LeafSpine Line Ring Star"
_TRAFFIC = "AllToAll Cycle Greedy Incast Permutation Poisson"
_WHERE = {
    **dict.fromkeys(_TOPOLOGIES.split(), "pyorch.network.kinds"),
    **dict.fromkeys(_TRAFFIC.split(), "pyorch.traffic.kinds"),
    **dict.fromkeys(("Message", "Messages"), "pyorch.traffic.messages"),
    **dict.fromkeys(("PauseStorm", "SlowReceiver"), "pyorch.setting.canonical"),
    **dict.fromkeys(("Problem", "UserError"), "pyorch.base.errors"),
    **dict.fromkeys(("RunsFailedError", "Study"), "pyorch.study"),
    "Expect": "pyorch.report.expect:ExpectModel",
    "OpenRun": "pyorch.run.byhand",
    "Plan": "pyorch.pipeline",
    "RingTraffic": "pyorch.traffic.kinds:Ring",
    "Run": "pyorch.setting.experiment:RunTable",
    "Trace": "pyorch.setting.experiment:TraceTable",
}

__all__ = [
    "AllToAll",
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
    from pyorch.base.lazy import found

    if name not in _WHERE and name[0].isupper():
        from pyorch.kinds import class_of_package

        if (brought := class_of_package(name)) is not None:
            return brought
    if name in _WHERE and name not in ("Problem", "UserError", "Study", "RunsFailedError"):
        import_module("pyorch.network")  # registers all kinds
        import_module("pyorch.traffic")
    if name in _WHERE and "IPython" in sys.modules:
        import_module("pyorch.report.planned").show_in_notebooks()
    return found(__name__, _WHERE, name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
