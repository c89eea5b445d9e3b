"""Classes of traffic: lossless ones that nothing guards, lossy ones, and shares locked in phase."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pyorch.network.topology import SWITCH
from pyorch.remarks.cases import Case, Cases, Found
from pyorch.setting.attributes import number
from pyorch.setting.canonical import STORMS
from pyorch.setting.tagger import ClassWays
from pyorch.sizing.capacity import frames
from pyorch.sizing.theory import bytes_in, dynamic_threshold
from pyorch.traffic.base import label_of

MOST_NAMES = 3
QUEUE_PAIR, HOST = "ns3::rdma::QueuePair", "ns3::rdma::Host"
PORT = "ns3::lossless::Port"
_LOSSLESS = "LosslessClasses"


def of_classes(cases: Cases) -> Iterator[Found]:
    """Remarks on the classes of traffic."""
    for case in cases.every:
        buffer = cases.section(case, case.setting.buffer_policy) or {}
        own = (set(one) for node in case.setting.nodes for one in node.attributes.values())
        if _LOSSLESS not in buffer or any(_LOSSLESS in names for names in own):
            continue
        mask = int(number(buffer[_LOSSLESS]))
        yield from _strange(case, mask)
        yield from _idle_storms(case, mask)
        used = set[int]().union(*(entry.classes() for entry in case.setting.traffic))
        lossless = sorted(cls for cls in used if mask >> cls & 1)
        lossy = sorted(used.difference(lossless))
        if lossless and _is_unguarded(cases, case) and _may_lose(cases, case, buffer):
            yield _unguarded(lossless, case)
        if lossy and case.setting.flow_control:
            yield _lossy(cases, case, mask, lossy)
        if (lossy or case.setting.run.allow_loss) and _has_stuck_windows(cases, case):
            yield _stuck(case)
        if lossy and _is_periodic(cases, case):
            yield from _in_phase(cases, case, lossy)


def _strange(case: Case, mask: int) -> Iterator[Found]:
    """Pauses that name another queue than that in which frames came."""
    used = set[int]().union(*(entry.classes() for entry in case.setting.traffic))
    ways = ClassWays(case.setting, case.network)
    for (node, neighbour), queue, group in ways.strange(used, mask):
        port = f"{case.network.names[node]}:{case.network.end_names[neighbour]}"
        what = f"frames that arrive by {port} in queue {queue} are charged to group {group}: its "
        what += f"pauses hold back queue {group} of the peer, and queue {queue} goes on"
        hint = "give both ends of the link maps that agree (port.dscp_classes, class_groups, "
        yield Found("strange", case, what, f"{hint}class_queues)")
        return


def _idle_storms(case: Case, mask: int) -> Iterator[Found]:
    """Storms of control frames that name a class which obeys none."""
    for storm in (fault for fault in case.setting.faults if isinstance(fault, STORMS)):
        if not mask >> storm.traffic_class & 1:
            what = f"the {storm.kind} of {storm.port or storm.host} names class "
            what += f"{storm.traffic_class}, which is lossy: nobody obeys its frames"
            hint = "name a lossless class, or add it to buffer.lossless_classes"
            yield Found("idle storm", case, what, hint)


def _is_unguarded(cases: Cases, case: Case) -> bool:
    """Whether no scheme holds traffic back, and a lost frame of a lossless class fails the run.

    Agents may hold it back, except those that only signal to the congestion control.
    """
    setting = case.setting
    control = cases.types.by_name.get(setting.congestion_control) if cases.types else None
    signaller = control.signaller if control is not None else ""
    agents = {*setting.agents, *setting.host_agents}.difference([signaller])
    return not (setting.flow_control or agents or setting.run.allow_loss)


def _may_lose(cases: Cases, case: Case, buffer: Mapping[str, str]) -> bool:
    """Whether more than a queue of a switch holds may arrive in it; if unknown, it may."""
    needed = ("Size", "LossyPool", "Private", "Headroom", "Threshold", "Alpha", "Xoff")
    if any(name not in buffer for name in needed):
        return True
    sizes = {name: int(number(buffer[name])) for name in needed if name != "Threshold"}
    network = case.network
    ends = np.concatenate([network.a, network.b])
    ports = int(np.bincount(ends[network.kinds[ends] == SWITCH]).max(initial=1))
    shared = max(sizes["Size"] - sizes["LossyPool"] - ports * sizes["Private"], 0)
    threshold: float = sizes["Xoff"]
    if buffer["Threshold"] == "Dynamic":
        threshold = dynamic_threshold(number(buffer["Alpha"]), shared, ports)
    room = threshold + sizes["Private"] + sizes["Headroom"]
    if bytes_in(int(network.rates.max()), case.setting.run.latest_end) <= room:
        return False
    flows = cases.flows(case)
    if flows is None or (flows.sizes == 0).any():
        return True
    run = frames(cases.types, case.setting.attributes)
    packets = -(-flows.sizes.astype(np.float64) // run.payload)
    return float((flows.sizes + packets * run.header).sum()) > room


def _unguarded(lossless: Sequence[int], case: Case) -> Found:
    what = f"{_classes(lossless)} {_is_or_are(lossless)} lossless, but no port has a flow control: "
    what += "frames above a queue's threshold are lost, and the run fails at its end"
    hint = 'add flow_control = ["pfc"]; for senders that expect losses, such as IRN, set '
    hint += "buffer.lossless_classes = 0 and buffer.lossy_pool to the buffer's size; "
    return Found("unguarded", case, what, hint + "or accept them by run.allow_loss = true")


def _lossy(cases: Cases, case: Case, mask: int, lossy: Sequence[int]) -> Found:
    """Traffic of lossy classes beside a flow control."""
    entries = case.setting.traffic
    labels = [label_of(entry, n) for n, entry in enumerate(entries) if entry.classes() & set(lossy)]
    more = len(labels) - MOST_NAMES
    names = ", ".join(labels[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    guarded = [cls for cls in range(8) if mask >> cls & 1]
    what = f"{_classes(lossy)} (of {names}) {_is_or_are(lossy)} lossy: "
    what += f"buffer.lossless_classes = {mask}, a bit mask, means {_classes(guarded)}"
    queue_pair = cases.section(case, QUEUE_PAIR) or {}
    if queue_pair.get("Retransmit") == "None":
        what += ', and with queue_pair.retransmit = "none" what is lost stays lost'
    wanted = mask | sum(1 << cls for cls in lossy)
    return Found("lossy", case, what, f"{wanted} makes all traffic lossless", label="note")


def _has_stuck_windows(cases: Cases, case: Case) -> bool:
    """Whether senders wait, with a full window, for what nobody sends again."""
    queue_pair = cases.section(case, QUEUE_PAIR) or {}
    if queue_pair.get("Retransmit") != "None":
        return False
    flows = cases.flows(case)
    own = flows is not None and bool((flows.windows > 0).any())
    return own or number(queue_pair.get("WindowBdps", "0")) > 0


def _stuck(case: Case) -> Found:
    what = "a flow with a window stands still for good once it has lost as little as one packet: "
    what += 'with queue_pair.retransmit = "none" nobody sends it again, and what was sent behind '
    what += "it fills the window and stays unacknowledged"
    hint = 'set queue_pair.retransmit = "go_back_n" or "selective", or leave out the window'
    return Found("stuck", case, what, hint)


def _is_periodic(cases: Cases, case: Case) -> bool:
    """Whether nothing changes the rates of senders."""
    setting = case.setting
    queue_pair = cases.section(case, QUEUE_PAIR) or {}
    window = number(queue_pair.get("WindowBdps", "0"))
    clocks = number((cases.section(case, PORT) or {}).get("ClockTolerance", "0"))
    pacing = number((cases.section(case, HOST) or {}).get("PacingJitter", "0"))
    if clocks or pacing:
        return False
    return not (setting.congestion_control or setting.agents or setting.host_agents or window)


def _in_phase(cases: Cases, case: Case, lossy: Sequence[int]) -> Iterator[Found]:
    """Endless senders of equal rates into the lossy queue of a link that cannot carry them."""
    flows, network = cases.flows(case), case.network
    if flows is None:
        return
    endless = flows.sizes == 0
    periodic = endless & (flows.windows == 0) & np.isin(flows.classes, lossy)
    periodic[list(flows.on_off)] = False
    src, dst = (ends.astype(np.int64) for ends in flows.ends_on_network(network))
    line = network.end_rates.astype(np.int64)
    rates = np.where(flows.rates > 0, flows.rates.astype(np.int64), line[src])
    for end in np.unique(dst[periodic & (src != dst)]).tolist():
        arriving = endless & (src != dst) & (dst == end)
        sent = np.bincount(src[arriving], rates[arriving], len(line))
        alike = np.unique(np.stack([src, rates])[:, arriving & periodic], axis=1)[1]
        most = int(np.unique(alike, return_counts=True)[1].max())
        if most > 1 and np.minimum(sent, line).sum() > line[end]:
            what = f"{most} hosts send equal frames at equal rates into a lossy queue to "
            what += f"{network.names[network.far(end)]}, and nothing is random: which of them "
            what += "loses frames is a matter of phase, and one may lose none and another all"
            hint = "draw no conclusions from their shares: let clocks differ as hardware's do "
            hint += "(port.clock_tolerance = 100), and pacing (host.pacing_jitter = 0.1)"
            yield Found("phase", case, what, hint, most, "note")


def _classes(classes: Sequence[int]) -> str:
    """Classes in words: "class 3", "classes 1, 3 and 4"."""
    if not classes:
        return "no class"
    names = [str(cls) for cls in classes]
    if len(names) == 1:
        return f"class {names[0]}"
    return f"classes {', '.join(names[:-1])} and {names[-1]}"


def _is_or_are(classes: Sequence[int]) -> str:
    return "is" if len(classes) == 1 else "are"
