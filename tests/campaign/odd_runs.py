"""Real runs of odd but accepted settings: made, simulated, and checked against plain arithmetic."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.campaign import mutate
from tests.campaign.project import to_toml

if TYPE_CHECKING:
    from pyorch.plan import RunSpec
    from pyorch.setting.attributes import AttributeInfo, Catalogue

FRAMES = 20_000
"""About so many frames at most go out of the hosts: more would take seconds, odd or not."""
MOST_CHANGES = 6
LONG_PS = 10**12
"""Simulated time [ps] above which a run may rightly take long: timers go off all the while."""
REFUSED, WRONG, INSANE = 3, 4, 5
"""Exit codes: the run refused or its result is wrong, both in words; a result that cannot be."""

_TIMES = ["0s", "1ps", "1ns", "777ps", "1us", "13us", "1ms", "1s", "3600s", "4000000s"]
_RATES = ["1bps", "7bps", "1kbps", "999983bps", "1Mbps", "1Gbps", "3Gbps", "400Gbps", "1000Tbps"]
_SIZES = ["1B", "63B", "999B", "1000B", "1001B", "10KB", "1MB", "1GB", "1TB", "999TB", "1000TB"]
_WHOLE = [0, 1, 2, 3, 7, 8, 15, 255, 256, 1500, 65535, 2**31, 2**32 - 1, 2**53]
_WHOLE += [2**63 - 1, 2**64 - 1]
_OF_TRAFFIC: dict[str, list[Any]] = {
    **dict.fromkeys(("start", "on", "stop", "jitter", "interval"), _TIMES),
    **dict.fromkeys(("window", "size"), _SIZES),
    "rate_cap": _RATES,
    "class": _WHOLE[:6],
    "repeat": [1, 2, 50],
}
_DOUBLES = [0, 1, -1, 0.5, 1e-9, 1e-3, 0.999999, 1.000001, 2, 64, 1024, 1e9, 1e300]
_TOPOLOGIES: list[dict[str, Any]] = [
    {"kind": "star", "hosts": 2},
    {"kind": "star", "hosts": 5},
    {"kind": "dumbbell", "left": 2, "right": 2},
    {"kind": "line", "switches": 3, "hosts_per_switch": 1},
    {"kind": "ring", "switches": 4, "hosts_per_switch": 1},
    {"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 2},
    {"kind": "fat_tree", "k": 2},
]
_TABLES = ["queue", "egress", "rate", "pause", "drop", "control", "detection", "flow_rate", "frame"]

Change = tuple[tuple[str, ...], Any]


@dataclass(frozen=True)
class OddRun:
    """A run that is accepted. about: what is odd about it. names: of what was set."""

    spec: RunSpec
    text: str
    about: str
    names: tuple[str, ...]


def make(seed: int, number: int, types: Any, folder: Path) -> OddRun:
    """Return the run of a number; `folder` is where its experiment file is written."""
    from pyorch.base.errors import UserError
    from pyorch.base.paths import Paths
    from pyorch.files.load import load_experiment
    from pyorch.plan import expand

    rng = mutate.generator("run", seed, number)
    paths = Paths(folder)
    file = paths.experiments / "odd.toml"
    file.parent.mkdir(exist_ok=True)

    def accepted(document: Mapping[str, Any]) -> RunSpec | None:
        file.write_text(to_toml(document), encoding="utf-8")
        try:
            return expand(load_experiment("odd", (), types, paths))[0]
        except UserError:
            return None

    document, spec = _base(rng), None
    while (spec := accepted(document)) is None:
        document = _base(rng)
    kept: list[Change] = []
    from pyorch.setting.attributes import catalogue

    changes = list(_changes(rng, document, catalogue(types)))
    for change in rng.sample(changes, min(len(changes), rng.randint(1, MOST_CHANGES))):
        changed = _with(document, change)
        found = accepted(changed)
        if found is not None:
            document, spec = changed, found
            kept.append(change)
    about = ", ".join(f"{'.'.join(path)} = {value}" for path, value in kept)
    names = tuple(path[-1].replace("_", "") for path, _ in kept)
    return OddRun(spec, to_toml(document), about[:400], names)


def _base(rng: random.Random) -> dict[str, Any]:
    """Return an experiment that is small, and not odd in itself."""
    topology = dict(rng.choice(_TOPOLOGIES))
    gbps = rng.choice([1, 10, 100, 400])
    topology |= {"rate": f"{gbps}Gbps", "delay": rng.choice(["0s", "10ns", "1us", "10us"])}
    duration_us = rng.choice([1, 10, 50, 200]) * 100 / gbps
    gfc = rng.choice(["conceptual-gfc", "multi-stage-gfc", "time-based-gfc"])
    flow_control = rng.choice([["pfc"], ["pfc"], [], ["credit"], ["pffc"], [gfc, "pfc"]])
    document: dict[str, Any] = {
        "title": "odd",
        "run": {
            "duration": f"{duration_us:g}us",
            "drain": rng.choice(["0s", f"{duration_us:g}us"]),
            "allow_loss": rng.random() < 0.3,
            "stop_when_done": rng.random() < 0.3,
        },
        "topology": topology,
        "flow_control": flow_control,
        "traffic": [_traffic(rng) for _ in range(rng.choice([1, 1, 2, 3]))],
    }
    if rng.random() < 0.5:
        document["trace"] = [{"table": table} for table in rng.sample(_TABLES, rng.choice([1, 3]))]
    for key, schemes in (
        ("agents", ["dcfit", "pfc-watchdog", "ecn-marking", "sfc-congestion-point", "sfc-proxy"]),
        ("host_agents", ["sfc-reaction-point"]),
    ):
        if rng.random() < 0.3:
            document[key] = rng.sample(schemes, rng.choice([1, min(2, len(schemes))]))
    if rng.random() < 0.2:
        document["congestion_control"] = "dcqcn"
    return document


def _traffic(rng: random.Random) -> dict[str, Any]:
    size = rng.choice(["1B", "1000B", "1001B", "20KB", "100KB"])
    message = {"src": "h0", "dst": "h1", "size": size}
    kinds: list[dict[str, Any]] = [
        {"kind": "greedy", "src": "h0", "dst": "h1"},
        {"kind": "greedy", "src": "all", "dst": "h1"},
        {"kind": "messages", "messages": [message | {"id": "a"}, message | {"after": ["a"]}]},
        {"kind": "incast", "dst": "h0", "degree": 1, "size": size, "repeat": 3, "interval": "1us"},
        {"kind": "permutation", "size": size, "shift": 1},
        {"kind": "all_to_all", "size": size},
        {
            "kind": "collective",
            "collectives": [{"name": "r", "operation": "all_reduce", "size": "20KB"}],
        },
    ]
    return dict(rng.choice(kinds))


def _changes(rng: random.Random, document: Mapping[str, Any], types: Catalogue) -> Iterator[Change]:
    """Yield odd changes of everything that can be set; most of them will be accepted."""
    lists = [document.get(key, ()) for key in ("flow_control", "agents", "host_agents")]
    chosen = [name for names in lists for name in names]
    chosen += [name for name in [document.get("congestion_control")] if name]
    for section in dict.fromkeys(["port", "buffer", "queue_pair", "host", "switch", *chosen]):
        info = types.find(section)
        for key, attribute in types.attributes(info).items() if info else ():
            yield (section, key), _value(rng, attribute)
    for number, entry in enumerate(document["traffic"]):
        yield from _changes_of_traffic(rng, ("traffic", str(number)), entry)
    for key in ("rate", "delay", "trunk_rate", "uplink_delay"):
        yield ("topology", key), rng.choice(_RATES if key.endswith("rate") else _TIMES)
    for key in ("duration", "drain", "deadlock_test", "warmup"):
        yield ("run", key), rng.choice(_TIMES)
    yield ("run", "stop_on_deadlock"), True
    yield ("run", "simulator"), "ns3::DefaultSimulatorImpl"
    times = rng.sample(_TIMES, 2)
    yield ("fault",), [{"kind": "slow_receiver", "host": "h1", "rate": rng.choice(_RATES)}]
    yield ("fault",), [{"kind": "pause_storm", "host": "h1", "start": times[0], "stop": times[1]}]
    link = {"link": rng.choice([["h0", "s0"], ["s0", "s1"]]), "down": times[0], "up": times[1]}
    yield ("topology", "failures"), [link]
    yield ("trace",), [{"table": rng.choice(_TABLES[:3]), "period": rng.choice(_TIMES)}]


def _changes_of_traffic(
    rng: random.Random, path: tuple[str, ...], entry: Mapping[str, Any]
) -> Iterator[Change]:
    for key, values in _OF_TRAFFIC.items():
        yield (*path, key), rng.choice(values)
    yield (*path, "burst"), (rng.choice(_TIMES), rng.choice(_TIMES))
    for at, _ in enumerate(entry.get("messages", ())):
        for key, values in (("size", _SIZES), ("start", _TIMES), ("delay", _TIMES)):
            yield (*path, "messages", str(at), key), rng.choice(values)
    for key, values in (("size", _SIZES), ("delay", _TIMES), ("step_delay", _TIMES)):
        if "collectives" in entry:
            yield (*path, "collectives", "0", key), rng.choice(values)


def _value(rng: random.Random, attribute: AttributeInfo) -> Any:
    """Return an odd value of an attribute: an extreme, or one near it."""
    kind = attribute.type.rsplit("::", 1)[-1].removesuffix("Value")
    if kind == "Boolean":
        return rng.random() < 0.5
    if kind == "Enum":
        return rng.choice(attribute.allowed.split("|"))
    if kind in ("Time", "DataRate"):
        return rng.choice(_TIMES if kind == "Time" else [*_RATES, "0bps"])
    if kind == "Double":
        return rng.choice(_DOUBLES)
    low, found, high = attribute.allowed.rpartition(" ")[2].partition(":")
    ends = [int(end) for end in (low, high) if found and end.lstrip("-").isdigit()]
    near = [end + step for end in ends for step in (-1, 0, 1)]
    number = rng.choice([*near, *near, *_WHOLE])
    return f"{number}B" if attribute.help.rstrip().endswith("[B]") else number


def _with(document: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """Return a document with one change; bursts are given together."""
    path, value = change
    changed: dict[str, Any] = json.loads(json.dumps(document))
    here: Any = changed
    for key in path[:-1]:
        here = here[int(key)] if isinstance(here, list) else here.setdefault(key, {})
    if path[-1] == "burst":
        here["on"], here["off"] = value
    else:
        here[path[-1]] = value
    return changed


def is_long(spec: RunSpec) -> bool:
    """Whether a run simulates so much time that it may rightly take more than a case may."""
    return spec.setting.run.latest_end > LONG_PS


def frames(spec: RunSpec) -> float:
    """Return about how many frames the hosts of a run could send, and samples it could take."""
    data = spec.to_data()
    seconds = (data["run"]["duration_ps"] + data["run"]["drain_ps"]) / 1e12
    pair = data["attributes"].get("ns3::rdma::QueuePair", {})
    size = int(pair.get("PayloadSize", 1000)) + int(pair.get("HeaderSize", 48))
    most = max(value for key, value in data["topology"].items() if key.endswith("rate_bps"))
    hosts = 8
    endless = any(entry["kind"] == "greedy" for entry in data["traffic"])
    sizes = [_bytes(entry) for entry in data["traffic"]]
    of_time = seconds * most / 8 / max(size, 64) * hosts
    of_sizes = sum(sizes) / int(pair.get("PayloadSize", 1000)) * hosts
    sampled = [trace["period_ps"] for trace in data["traces"] if trace["period_ps"]]
    looks = seconds * 1e12 * sum(8 / period for period in sampled)
    looks += seconds * 1e12 / (data["run"]["deadlock_test_ps"] or 1e99)
    return looks + (of_time if endless else min(of_time, of_sizes))


def _bytes(entry: Mapping[str, Any]) -> float:
    own = entry.get("size_bytes", 0) * entry.get("repeat", 1)
    parts = [*entry.get("messages", ()), *entry.get("collectives", ())]
    return float(own + sum(_bytes(part) for part in parts))


def simulate(run: OddRun, simulation_class: Any, folder: Path) -> int:
    """Simulate a run in this process; return 0 or one of the codes above, having said why."""
    import sys

    from pyorch.base.errors import UserError
    from pyorch.base.paths import RunPaths
    from pyorch.run.simulate import OutOfMemoryError, RefusedError, WrongResultError
    from pyorch.run.simulate import simulate as real

    paths = RunPaths(folder)
    try:
        real(run.spec, simulation_class, paths)
    except (OutOfMemoryError, RefusedError, UserError) as error:
        print(error.render(), file=sys.stderr)
        return REFUSED
    except WrongResultError as error:
        print(error.render(), file=sys.stderr)
        return WRONG
    wrong = insane(run.spec, paths)
    print("\n".join(wrong), file=sys.stderr)
    return INSANE if wrong else 0


def insane(spec: RunSpec, paths: Any) -> list[str]:
    """Return what cannot be in the results of a run, whatever the models do."""
    import pandas as pd

    table = pd.read_parquet(paths.table("flow"))
    summary = json.loads(paths.summary.read_text(encoding="utf-8"))["summary"]
    data = spec.to_data()
    found = []
    if int(table["delivered_bytes"].sum()) != summary["delivered_bytes"]:
        found.append("the summary has other delivered bytes than the flows")
    end = data["run"]["duration_ps"] + data["run"]["drain_ps"]
    if not 0 <= summary["end_ps"] <= end:
        found.append(f"the run ended at {summary['end_ps']} ps of {end} ps")
    asked = _asked(spec)
    if len(asked) != len(table):
        found.append(f"{len(table)} flows of {len(asked)}")
        return found
    for row, flow in zip(table.to_dict("records"), asked, strict=True):
        found += [f"flow {row['flow']}: {what}" for what in _of_flow(row, flow, summary["end_ps"])]
    return found[:20]


@dataclass(frozen=True)
class _Flow:
    """What a flow was asked to be; rate: of the host's link, cap: 0 is none [bit/s]."""

    size: int
    start: int
    stop: int
    rate: int
    cap: int
    burst: tuple[int, int] | None


def _asked(spec: RunSpec) -> Sequence[_Flow]:
    from pyorch.network import topology
    from pyorch.traffic import base as traffic

    network = topology.build(spec.setting.topology)
    flows = traffic.flows(spec.setting.traffic, network, spec.seed, spec.setting.run.duration)
    return [
        _Flow(
            int(flows.sizes[n]),
            int(flows.starts[n]),
            int(flows.stops[n]),
            min(int(network.host_rates[flows.src[n]]), int(network.host_rates[flows.dst[n]])),
            int(flows.rates[n]),
            flows.on_off.get(n),
        )
        for n in range(len(flows))
    ]


def _of_flow(row: Mapping[str, int], flow: _Flow, end: int) -> Iterator[str]:
    """Check one flow: what it has, what it sent, and that nothing was faster than its links."""
    if row["size_bytes"] != flow.size:
        yield f"has {row['size_bytes']} B, {flow.size} B were asked for"
    if row["delivered_bytes"] > row["sent_bytes"]:
        yield f"delivered {row['delivered_bytes']} B of {row['sent_bytes']} B sent"
    finished = row["finish_ps"] >= 0
    if flow.size and finished != (row["delivered_bytes"] == flow.size):
        yield f"finish_ps {row['finish_ps']}, but {row['delivered_bytes']} B of {flow.size} B"
    if flow.size and row["delivered_bytes"] > flow.size:
        yield f"delivered {row['delivered_bytes']} B of {flow.size} B"
    if row["start_ps"] < 0:
        return
    if row["start_ps"] < flow.start:
        yield f"started at {row['start_ps']} ps, asked for {flow.start} ps"
    least = flow.size * 8 * 10**12 // flow.rate
    if flow.size and row["ideal_ps"] < least:
        yield f"ideal_ps {row['ideal_ps']}, but its bits alone take {least} ps"
    until = row["finish_ps"] if finished else end
    yield from _too_fast(row, flow, until)


def _too_fast(row: Mapping[str, int], flow: _Flow, until: int) -> Iterator[str]:
    """A source sends at the rate of its link or its cap, while it is on.

    A frame that has begun is sent whole, so that each burst, as the flow itself, may be one more.
    """
    active, bursts = max(0, until - row["start_ps"]), 1
    if flow.burst is not None:
        on, off = flow.burst
        periods, rest = divmod(active, on + off)
        active, bursts = periods * on + min(rest, on), periods + 1
    for rate in (flow.rate, flow.cap):
        most = active * rate // (8 * 10**12) + (bursts + 1) * 9500
        if rate and row["delivered_bytes"] > most:
            yield f"delivered {row['delivered_bytes']} B in {active} ps at {rate} bit/s"
