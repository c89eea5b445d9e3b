"""Whether cyclic dependencies are within lossless classes, with the rules of the tagger."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter

from pyorch.network.cycles import Egress
from pyorch.network.topology import Topology
from pyorch.setting.attributes import DEFAULTS, number
from pyorch.setting.canonical import Setting

TAGGER, _RULES = "ns3::pfc::Tagger", "Rules"
_CHANGE = re.compile(r"([0-7])\s*=\s*([0-7])")
_LOSSLESS, _DEFAULT = "LosslessClasses", "8"

_State = tuple[Egress, int]


def lossless_classes(setting: Setting) -> int:
    """The lossless classes of a run as a bit mask, of all its switches together."""
    kinds = (setting.buffer_policy, DEFAULTS["buffer_policy"])
    given = [setting.attributes.get(kind, {}).get(_LOSSLESS) for kind in kinds]
    masks = [next(filter(None, given), _DEFAULT)]
    of_nodes = [one for node in setting.nodes for one in node.attributes.values()]
    mask = 0
    for text in [*masks, *(one[_LOSSLESS] for one in of_nodes if _LOSSLESS in one)]:
        mask |= int(number(text))
    return mask


def has_rules(setting: Setting) -> bool:
    """Whether the tagger is among the agents of a run."""
    return TAGGER in setting.agents


def is_lossless_cycle(
    setting: Setting,
    network: Topology,
    turns: Iterable[tuple[Egress, Egress]],
    used: Iterable[int],
) -> bool:
    """Whether turns, which form a cycle, may form one within lossless classes.

    used: the classes in which frames start, at any egress: if not, no deadlock is possible, but
    rules that hold only for where frames really start are not recognised. A frame that changes
    class waits in the new one, and is charged to the old one until it has been sent.
    """
    lossless = lossless_classes(setting)
    starts = [cls for cls in used if lossless >> cls & 1]
    if not starts or not has_rules(setting):
        return bool(starts)
    changes = _changes(setting, network)
    after: dict[Egress, list[Egress]] = defaultdict(list)
    for before, then in turns:
        after[before].append(then)
    waiting: list[_State] = list(itertools.product(after, starts))
    graph: dict[_State, list[_State]] = {}
    while waiting:
        state = waiting.pop()
        if state in graph:
            continue
        (node, _), cls = state
        graph[state] = []
        for then in after.get(state[0], ()):
            turn = (node, then[0], network.far(then[1]))
            new = changes.get(turn, {}).get(cls, cls)
            if lossless >> new & 1:
                graph[state].append((then, new))
        waiting += graph[state]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        return True
    return False


def _changes(setting: Setting, network: Topology) -> dict[tuple[int, int, int], dict[int, int]]:
    """Return the classes that change, old -> new, by previous node, switch and next node."""
    found: dict[tuple[int, int, int], dict[int, int]] = defaultdict(dict)
    numbers = network.numbers
    rules = dict.fromkeys(network.names, setting.attributes.get(TAGGER, {}).get(_RULES, ""))
    for entry in setting.nodes:
        if (text := entry.attributes.get(TAGGER, {}).get(_RULES)) is not None:
            rules |= dict.fromkeys(entry.nodes, text)
    for name, text in rules.items() if has_rules(setting) else ():
        for rule in text.split(";"):  # the module refuses those of another form
            ends, _, classes = rule.partition(":")
            sides = [[numbers[n] for n in side.split() if n in numbers] for side in ends.split(">")]
            changes = {int(old): int(new) for old, new in _CHANGE.findall(classes)}
            for a, b in itertools.product(sides[0], sides[-1]):
                found[a, numbers[name], b] |= changes
    return found
