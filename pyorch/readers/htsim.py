"""Connection matrices (.cm) and fat-trees (.topo) of htsim.

Connections start at a time [ps] or by a trigger, which others set off as they end. What waits for a
trigger waits here until the messages that set it off have arrived.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyorch.base.reading import read_text, words_of
from pyorch.base.units import MAX_BYTES as MOST_BYTES
from pyorch.base.units import MAX_TIME, is_number, whole
from pyorch.readers import arrow
from pyorch.readers.graphs import MAX_BYTES, MAX_PARTS, Edge, Graph, Tell
from pyorch.readers.records import MOST_MESSAGES, MessageList

_ENDS = re.compile(r"(\d{1,9})->(\d{1,9})", re.ASCII)
_COUNTS = ("Nodes", "Connections", "Triggers", "Failures")
_TOKENS = ("id", "start", "size", "trigger", "send_done_trigger", "recv_done_trigger", "prio")
_FIRES = ("send_done_trigger", "recv_done_trigger")
_FEW = 1_000
"""From so many connections on Arrow reads them, if all are of one form."""
_ROW = "src->dst with " + ", ".join(_TOKENS) + ", each a whole number"


@dataclass
class _Matrix:
    """Lines so far. rows: connections. kinds: of triggers, with their counts."""

    counts: dict[str, int] = field(default_factory=dict)
    rows: list[tuple[int, str, str, dict[str, int]]] = field(default_factory=list)
    kinds: dict[int, tuple[str, int]] = field(default_factory=dict)


def messages(file: Path, label: str, tell: Tell) -> MessageList | None:
    """Read a connection matrix. `prio` is checked, but has no effect."""
    found = _Matrix()
    good = True
    text = read_text(file, label)
    for number, words in words_of(text, "#"):
        if "->" in words[0] and not found.rows and found.counts.get("Connections", 0) > _FEW:
            nodes, count = found.counts.get("Nodes", 0), found.counts["Connections"]
            many = arrow.of_connections(text, number - 1, nodes, count)
            if many is not None and not found.counts.get("Triggers") and good:
                return many
        good &= _line(found, number, words, tell)
    if not good:
        return None
    for name, count in (("Connections", len(found.rows)), ("Triggers", len(found.kinds))):
        told = found.counts.get(name, 0)
        if told != count:
            tell("", f"{count} lines of {name.lower()}, but it says {name} {told}", None, None)
            return None
    return _listed(found, tell)


def _line(found: _Matrix, number: int, words: Sequence[str], tell: Tell) -> bool:
    """Take a line; note a problem and return whether there was none."""
    if words[0] == "trigger":
        return _trigger(found, number, words, tell)
    ends = _ENDS.fullmatch(words[0])
    if ends is not None:
        src, dst = (str(int(end)) for end in ends.groups())
        wrong, allowed = _connection(found, number, (src, dst), words[1:]), _ROW
    else:
        wrong, allowed = _count(found, words), f"{', '.join(_COUNTS)} and a number; {_ROW}"
    if wrong:
        tell(f"line {number}", wrong, allowed, None)
    return not wrong


def _count(found: _Matrix, words: Sequence[str]) -> str:
    """Take a line of the head; return what is wrong, "" if nothing is."""
    count = whole(words[1]) if len(words) == 2 else None
    if words[0] not in _COUNTS or count is None or count > MOST_MESSAGES:
        return f"{' '.join(words)[:80]!r} is not a line of a connection matrix"
    if words[0] in found.counts:
        return f"a second {words[0]}"
    if words[0] == "Failures" and count:
        return "failures are not read: give failed_links in [topology]"
    found.counts[words[0]] = count
    return ""


def _connection(found: _Matrix, number: int, ends: tuple[str, str], words: Sequence[str]) -> str:
    """Take a connection; return what is wrong, "" if nothing is."""
    values: dict[str, int] = {}
    for name, text in zip(words[::2], [*words[1::2], ""], strict=False):
        # some write a fraction of 0
        value = whole(re.sub(r"(?<=\d)\.0+$", "", text) if name == "start" else text)
        if name not in _TOKENS or name in values or value is None:
            return f"{name} {text}".strip()[:80] + " is not read"
        values[name] = value
    if ("start" in values) == ("trigger" in values) or not 0 < values.get("size", 0) <= MOST_BYTES:
        return "a connection needs a size above 0, and either a start or a trigger"
    if values.get("start", 0) > MAX_TIME:
        return f"it starts at {values['start']} ps, later than {MAX_TIME} ps"
    nodes = found.counts.get("Nodes", 0)
    if nodes <= max(map(int, ends)):
        return f"{'->'.join(ends)}, but it says Nodes {nodes}"
    found.rows.append((number, *ends, values))
    return ""


def _trigger(found: _Matrix, number: int, words: Sequence[str], tell: Tell) -> bool:
    """Take a trigger: `trigger id N oneshot | multishot | barrier count N`."""
    name = whole(words[2]) if len(words) > 3 and words[1] == "id" else None
    kind = words[3] if len(words) > 3 else ""
    count = whole(words[5]) if len(words) == 6 and words[4] == "count" else 1
    barrier = kind == "barrier" and len(words) == 6
    if (
        name is None
        or count is None
        or not (barrier or (kind in ("oneshot", "multishot") and len(words) == 4))
    ):
        allowed = "trigger id N oneshot | multishot | barrier count N"
        tell(f"line {number}", f"{' '.join(words)[:80]!r} is not a trigger", allowed, None)
        return False
    if name in found.kinds:
        tell(f"line {number}", f"a second trigger {name}", "each id once", None)
        return False
    found.kinds[name] = (kind, count)
    return True


def _listed(found: _Matrix, tell: Tell) -> MessageList | None:
    """Return the connections with the ids of those that each waits for."""
    firing: dict[int, list[str]] = defaultdict(list)
    for number, (_, _, _, values) in enumerate(found.rows):
        for key in _FIRES:
            if key in values:
                firing[values[key]].append(str(number))
    waits: list[list[str]] = []
    for line, _, _, values in found.rows:
        after: list[str] = []
        if "trigger" in values:
            name = values["trigger"]
            after = firing[name]
            kind, count = found.kinds.get(name, ("", 0))
            if not kind or not after or (count if kind == "barrier" else 1) != len(after):
                what = f"trigger {name} is set off by {len(after)} connections"
                what += f", and is a {kind} of {count}" if kind else ", and is not there"
                allowed = "a oneshot of one, or a barrier of all that set it off"
                tell(f"line {line}", what, allowed, None)
                return None
        waits.append(after)
    listed = MessageList.of_rows(
        [(src, dst) for _, src, dst, _ in found.rows],
        [values["size"] for *_, values in found.rows],
        [values.get("start", 0) for *_, values in found.rows],
        lines=[line for line, *_ in found.rows],
    )
    if any(waits):
        listed.ids, listed.after = [str(number) for number in range(len(waits))], waits
    priorities = sum("prio" in values for *_, values in found.rows)
    if priorities:
        listed.left_out.append(f"prio of {priorities} connections")
    return listed


# ---------------------------------------------------------------------------------------------
# Fat-trees

_TOP = ("nodes", "tiers", "podsize")
_OF_TIER = (
    "downlink_speed_gbps", "radix_down", "radix_up", "downlink_latency_ns", "switch_latency_ns",
    "queue_up", "queue_down", "oversubscribed", "bundle",
)  # fmt: skip
_REAL = ("downlink_speed_gbps", "downlink_latency_ns", "switch_latency_ns", "oversubscribed")
"""Keys that may be fractions."""
_USED = {"downlink_speed_gbps", "radix_down", "downlink_latency_ns"}
"""Keys of a tier that always count; radix_up does below the top, bundle above the hosts."""
_MOST = 10**9
"""Above any of them."""


def network(file: Path, label: str, tell: Tell) -> Graph | None:
    """Read a fat-tree of two or three tiers: its links, not the latencies and queues of switches.

    Hosts are 0, 1, ...; switches tor0, agg0 and core0, ... With two tiers each ToR is linked to all
    aggregation switches; with three, aggregation switch j of a pod to a run of cores of its own.
    """
    top: dict[str, float] = {}
    tiers: dict[int, dict[str, float]] = {}
    into: dict[str, float] = top
    for number, words in words_of(read_text(file, label, MAX_BYTES), "#"):
        name = words[0].lower()
        value = _value(name, words[1]) if len(words) == 2 else None
        known = name == "tier" or name in (_TOP if into is top else _OF_TIER)
        if value is None or not known or (name in into and name != "tier"):
            allowed = ", ".join([*_TOP, "tier", *_OF_TIER])
            tell(f"line {number}", f"{' '.join(words)[:80]!r} is not read here", allowed, None)
            return None
        if name == "tier":
            into = tiers.setdefault(int(value), {})
        else:
            into[name] = value
    return _fat_tree(top, tiers, tell)


def _value(name: str, text: str) -> float | None:
    """Return a number; None if it is none, is too large, or is a fraction where none can be."""
    if name not in _REAL:
        return whole(text)
    value = float(text) if is_number(text) else -1.0
    return value if 0 <= value <= _MOST else None


def _fat_tree(
    top: Mapping[str, float], tiers: Mapping[int, Mapping[str, float]], tell: Tell
) -> Graph | None:
    depth = int(top.get("tiers", 0))
    needed = ("downlink_speed_gbps", "radix_down")
    if depth not in (2, 3) or sorted(tiers) != list(range(depth)) or not top.get("nodes"):
        nodes_told = f"for {top.get('nodes', 0):g} nodes"
        what = f"{len(tiers)} tiers are described, and it says {depth}, {nodes_told}"
        tell("", what, "Nodes, Tiers 2 or 3, and each of Tier 0, ...", None)
        return None
    for number, of in tiers.items():
        lacking = [
            key
            for key in (*needed, *(["radix_up"] if number < depth - 1 else []))
            if int(of.get(key, 0)) < 1
        ]
        if lacking:
            tell(f"tier {number}", f"{', '.join(lacking)} is missing or 0", "from 1", None)
            return None
    nodes = int(top["nodes"])
    down, up = (
        [int(tiers[number].get(key, 1)) for number in range(depth)]
        for key in ("radix_down", "radix_up")
    )
    bundle = [max(1, int(tiers[number].get("bundle", 1))) for number in range(depth)]
    pod = int(top.get("podsize", nodes)) if depth == 3 else nodes
    in_pod, aggs = pod // down[0], up[0] // bundle[1]
    cores = aggs * (up[1] // bundle[2]) if depth == 3 else 0
    if (
        pod < 1
        or nodes % pod
        or pod % down[0]
        or up[0] % bundle[1]
        or (depth == 3 and up[1] % bundle[2])
    ):
        what = f"{nodes} nodes in pods of {pod} with {down[0]} on each ToR do not divide evenly"
        tell("", what, "whole pods, ToRs and bundles", None)
        return None
    pods = nodes // pod
    parts = 2 * nodes + pods * (in_pod + aggs + in_pod * up[0] + aggs * up[1]) + cores
    if parts > MAX_PARTS:
        tell("", f"its network has about {parts:,} nodes and links", f"at most {MAX_PARTS:,}", None)
        return None
    used = ((0, down[0], down[0]), (1, down[1], in_pod * bundle[1]))
    for tier, given, needs in (*used, *(((2, down[2], pods * bundle[2]),) if depth == 3 else ())):
        if given != needs:
            what = f"radix_down is {given}, and the links below are {needs}"
            tell(f"tier {tier}", what, "as many as there are links", None)
            return None
    graph = Graph({str(node): {"role": "host"} for node in range(nodes)})
    graph.left_out += _unused(top, tiers)
    for name, count in (("tor", pods * in_pod), ("agg", pods * aggs), ("core", cores)):
        graph.nodes |= {f"{name}{number}": {"role": "switch"} for number in range(count)}
    for a, b, tier in _wires(nodes, pods, in_pod, aggs, down[0], cores):
        edge = Edge(a, b, f"link {a} - {b}", _speed(tiers[tier]))
        graph.edges += [edge] * (bundle[tier] if tier else 1)
    return graph


def _speed(of: Mapping[str, float]) -> dict[str, str]:
    """Return the rate of the links below a tier, and their delay if it has one."""
    delay = of.get("downlink_latency_ns")
    rate = {"rate": f"{round(of['downlink_speed_gbps'] * 1e9)}bps"}
    return rate if delay is None else {**rate, "delay": f"{round(delay * 1000)}ps"}


def _unused(top: Mapping[str, float], tiers: Mapping[int, Mapping[str, float]]) -> Iterator[str]:
    """Yield what a file says and its links do not."""
    if len(tiers) == 2 and top.get("podsize", top["nodes"]) != top["nodes"]:
        yield f"Podsize {top['podsize']:g}: two tiers are one pod"
    for number, of in tiers.items():
        used = _USED | {"radix_up" if number < len(tiers) - 1 else "", "bundle" if number else ""}
        for key, value in of.items():
            if key not in used and value != (key in ("bundle", "oversubscribed")):
                yield f"tier {number}: {key} {value:g}"


def _wires(
    nodes: int, pods: int, in_pod: int, aggs: int, on_tor: int, cores: int
) -> Iterator[tuple[str, str, int]]:
    """Yield the ends of every link and the tier above it, bundles as one."""
    for host in range(nodes):
        yield str(host), f"tor{host // on_tor}", 0
    for pod in range(pods):
        for tor in range(in_pod):
            for agg in range(aggs):
                yield f"tor{pod * in_pod + tor}", f"agg{pod * aggs + agg}", 1
        for agg in range(aggs if cores else 0):
            each = cores // aggs
            for core in range(each):
                yield f"agg{pod * aggs + agg}", f"core{agg * each + core}", 2
