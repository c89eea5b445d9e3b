"""Rules by which frames change class at each turn from down to up, so that no class has a cycle.

The idea is Tagger's (Hu et al., CoNEXT 2017, of which the first pages were read): a tag that grows
with the bounces of a path, and a lossy class after the last one. The order of the switches that
defines a bounce is that of up-down routing. The rules cover all paths, expected or not: within a
class a path goes up and then down.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyorch.addons.lab.cuts import Judged
from pyorch.addons.lab.drive import Entries, refuse_bundles
from pyorch.addons.lab.rules import AGENT, KEY
from pyorch.addons.lab.updown import UpDown, most_bounces, most_on_routes, orders
from pyorch.base.errors import refusal
from pyorch.base.units import format_time
from pyorch.network import topology
from pyorch.network.cycles import ShortestPaths, route_dependencies
from pyorch.network.topology import SWITCH, Topology
from pyorch.plan import RunSpec
from pyorch.setting.attributes import Catalogue, number, section_of
from pyorch.setting.dependency import phases
from pyorch.traffic import base as traffic

N_CLASSES = 8
MOST_CLASSES = N_CLASSES - 1
"""Lossless ones: one has to be left for frames that turn up again too often."""
_WHERE = "tags"


@dataclass(frozen=True)
class Tags:
    """Rules for a network. classes: lossless ones, in the order in which paths use them.

    lossy: the class of frames that turn up again in the last of these. ups: for each switch with
    neighbours above it their names, in order. mask: of all lossless classes.
    """

    classes: tuple[int, ...]
    lossy: int
    ups: tuple[tuple[str, tuple[str, ...]], ...]
    mask: int

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """The [[node]] entries with the rules; switches with the same rules share one."""
        changes = itertools.pairwise([*self.classes, self.lossy])
        written = ", ".join(f"{before}={after}" for before, after in changes)
        switches: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for switch, ups in self.ups:
            switches[ups].append(switch)
        return [
            {
                "names": names,
                AGENT: {KEY: f"{' '.join(ups)} > {' '.join(ups)} : {written}"},
            }
            for ups, names in switches.items()
        ]

    @property
    def settings(self) -> list[tuple[str, str, Any]]:
        """Section, key and value of the settings that they need besides the rules.

        Classes are served in turn: by strict priority the last one would starve the first.
        """
        return [("port", "class_service", "dwrr"), ("buffer", "lossless_classes", self.mask)]

    @property
    def content(self) -> dict[str, Any]:
        """The tables with which an experiment uses the rules."""
        settings = {section: {key: value} for section, key, value in self.settings}
        return {"agents": [AGENT], **settings, "node": self.nodes}


def bounces(path: Sequence[int], updown: UpDown) -> int:
    """How often a path, of switches as node numbers, turns from down to up."""
    ups = [updown.is_up(hop) for hop in itertools.pairwise(path)]
    return sum(after and not before for before, after in itertools.pairwise(ups))


def tags_of(spec: RunSpec, types: Catalogue) -> Tags:
    """Return rules for the network of a run, enough for its routes and the paths of its flows.

    They begin with the class of its flows, and continue with the next ones; the order of the
    switches is the one that needs fewest. Raises UserError if that is impossible, or if routes that
    change later may lead into a lossy class without a buffer.
    """
    setting = spec.setting
    network = topology.build(setting.topology)
    refuse_bundles(network)
    flows = traffic.flows(setting.traffic, network, spec.seed, setting.run.duration)
    given = [path.tolist()[1:-1] for path in flows.paths.values()]
    buffer = section_of(types, setting.attributes, "buffer") or {}
    mask = int(number(buffer.get("LosslessClasses", "8")))
    used = set(flows.classes.tolist()) & {cls for cls in range(N_CLASSES) if mask >> cls & 1}
    if len(used) != 1:
        what = "its flows are in " + (f"classes {sorted(used)}" if used else "no lossless class")
        raise refusal(_WHERE, what, "flows of one lossless class")
    first = used.pop()
    start, *later = phases(setting, network)
    count, order = fewest_classes(network, given, start[1].diverted)
    tags = make_tags(network, order, range(first, first + count), mask)
    if later and not number(buffer.get("LossyPool", "1")):
        what = f"after {format_time(later[0][0])} routes change, and frames that turn up again too "
        what += f"often get into class {tags.lossy}, which has no buffer"
        raise refusal(_WHERE, what, "buffer.lossy_pool above 0B")
    return tags


def fewest_classes(
    network: Topology, given: Sequence[Sequence[int]], entries: Entries | None = None
) -> tuple[int, UpDown]:
    """The number of classes needed for the routes and other paths, and the order of switches.

    given: switches of the others, as node numbers. entries: [[route]] entries; elsewhere all
    shortest paths.
    """
    routes = Judged(network, entries).routes() if entries else None
    graph = None if routes else route_dependencies(ShortestPaths.of(network))

    def classes(order: UpDown) -> int:
        own = most_on_routes(routes, order) if routes else most_bounces(graph, order)
        return 1 + max([own, *(bounces(path, order) for path in given)])

    best = min(orders(network), key=classes)
    return classes(best), best


def make_tags(network: Topology, updown: UpDown, classes: range, mask: int) -> Tags:
    """Return the rules by which frames take the next of some classes each time they turn up again.

    updown: the order of the switches. mask: of the present lossless classes. Raises UserError if
    there are not enough classes.
    """
    mask |= sum(1 << cls for cls in classes if cls < N_CLASSES)
    free = [cls for cls in range(N_CLASSES) if not mask >> cls & 1]
    if classes.stop > N_CLASSES or not free:
        what = f"{len(classes)} lossless classes are needed, from {classes.start} on"
        hint = "a lower class for the traffic; or up-down routing, which needs one"
        raise refusal(_WHERE, what, "classes 0 to 7, one of them lossy", hint)
    above: dict[int, list[int]] = defaultdict(list)
    for a, b in network.links:
        if network.kinds[a] == network.kinds[b] == SWITCH and updown.is_up((a, b)):
            above[a].append(b)
    names = network.names
    ups = tuple(
        (names[switch], tuple(names[one] for one in sorted(above[switch])))
        for switch in sorted(above)
    )
    return Tags(tuple(classes), free[0], ups, mask)
