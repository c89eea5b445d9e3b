"""What the tests of configuration share: a schema, files, Hypothesis strategies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from pyorch.base.errors import UserError
from pyorch.base.findings import Findings
from pyorch.base.paths import Paths
from pyorch.build.schema import AttributeInfo, TypeInfo
from pyorch.files.load import load_experiment
from pyorch.network.topology import Topology, resolve
from pyorch.setting.experiment import Experiment
from tests.inputs import ROOT


def attribute(
    name: str, kind: str, default: str, allowed: str = "", text: str = ""
) -> AttributeInfo:
    """An attribute as Simulation::Describe tells it."""
    return AttributeInfo(name, text or f"The {name}.", f"ns3::{kind}Value", default, allowed)


def size(name: str, default: int, low: int = 0) -> AttributeInfo:
    """An attribute in bytes."""
    allowed = f"int64_t {low}:1000000000000"
    return attribute(name, "Uinteger", str(default), allowed, f"The {name}. [B]")


def kind(name: str, parent: str, *attributes: AttributeInfo, abstract: bool = False) -> TypeInfo:
    """A registered type."""
    return TypeInfo(f"ns3::{name}", parent, name.split("::", maxsplit=1)[0], abstract, attributes)


BUFFER_POLICY = (
    size("Size", 16_000_000, 1),
    size("LossyPool", 1_000_000),
    attribute("LosslessClasses", "Uinteger", "8", "uint32_t 0:255"),
    attribute("LossyAlpha", "Double", "1", "double 0.000976562:1024"),
)
BUFFER = (
    size("Private", 0),
    attribute(
        "Headroom",
        "Uinteger",
        "0",
        "int64_t 0:1000000000000",
        "Of each port; 0: what its flow controls demand, as PFC. [B]",
    ),
    attribute("HeadroomRatio", "Double", "1", "double 1:1024"),
    attribute("Threshold", "Enum", "Dynamic", "Dynamic|Static"),
    attribute("Alpha", "Double", "0.125", "double 0.000976562:1024"),
    size("XonOffset", 3000),
    size("Xoff", 80_000, 1),
    size("Xon", 77_000),
)
PORT = (
    size("Overhead", 20),
    attribute("ControlDelay", "Time", "+0ps", "Time +0ps:+9.22337e+18ps"),
    size("ControlFrameSize", 64, 1),
    attribute("QueueService", "Enum", "Fifo", "Fifo|RoundRobin"),
    attribute("ClassService", "Enum", "Strict", "Strict|Dwrr|Fifo"),
    attribute("Weights", "String", "", "CLASS=uint32_t 1:1000|Strict"),
    attribute("MinRates", "String", "", "CLASS=DataRate 1000bps:1000000000000000bps"),
    attribute("MaxRates", "String", "", "CLASS=DataRate 1000bps:1000000000000000bps"),
    attribute("DscpClasses", "String", "", "DSCP=uint32_t 0:7"),
    attribute("ClassGroups", "String", "", "CLASS=uint32_t 0:7"),
    attribute("ClassQueues", "String", "", "CLASS=uint32_t 0:7"),
    size("Mtu", 0),
    attribute("ClockTolerance", "Double", "0", "double 0:1000"),
    attribute("BitErrorRate", "Double", "0", "double 0:0.1"),
)
FLOW_CONTROL = "ns3::lossless::FlowControl"
SCHEMA = (
    kind("lossless::FlowControl", "ns3::Object", abstract=True),
    kind("lossless::SwitchAgent", "ns3::Object", abstract=True),
    kind("rdma::CongestionControl", "ns3::Object", abstract=True),
    kind("lossless::Port", "ns3::Object", *PORT),
    kind(
        "lossless::Switch",
        "ns3::Object",
        attribute("DecrementTtl", "Boolean", "true", "bool"),
        attribute("Latency", "Time", "+0ps", "Time +0ps:+9.22337e+18ps"),
    ),
    kind("lossless::BufferPolicy", "ns3::Object", *BUFFER_POLICY, abstract=True),
    kind("lossless::SharedBuffer", "ns3::lossless::BufferPolicy", *BUFFER),
    kind("later::NeverSeenPolicy", "ns3::lossless::BufferPolicy", size("Quota", 1)),
    kind("rdma::QueuePair", "ns3::Object", size("PayloadSize", 1000, 1), size("HeaderSize", 48)),
    kind("pfc::Pfc", FLOW_CONTROL, attribute("Mode", "Enum", "Timer", "OnOff|Timer")),
    kind("gfc::ConceptualGfc", FLOW_CONTROL, size("Bm", 100_000, 1), size("B0", 50_000)),
    kind("later::NeverSeenBefore", FLOW_CONTROL, attribute("Cap", "DataRate", "0bps", "DataRate")),
    kind(
        "dcqcn::Dcqcn",
        "ns3::rdma::CongestionControl",
        attribute("G", "Double", "0.004", "double 0:1"),
    ),
    kind("observe::Probe", "ns3::Object", abstract=True),
    kind("observe::SampledProbe", "ns3::observe::Probe", abstract=True),
    *(
        kind(f"{module}::{name}Probe", f"ns3::observe::{parent}")
        for module, parent, names in (
            ("observe", "SampledProbe", "Queue Buffer Egress Rate"),
            ("observe", "Probe", "Pause Drop Control ControlValue Frame"),
            ("deadlock", "Probe", "Deadlock PauseTree"),
        )
        for name in names.split()
    ),
    kind("deadlock::DetectionProbe", "ns3::observe::Probe"),
    kind("rdma::FlowRateProbe", "ns3::observe::Probe"),
)

RESPONSE = attribute("PauseResponse", "Enum", "Ideal", "Ideal|802.3|Tester")
OBEYING = tuple(
    replace(one, attributes=(*one.attributes, RESPONSE))
    if one.name == "ns3::lossless::Port"
    else one
    for one in SCHEMA
)
"""The same with ports that obey pauses by a rule."""

MINIMAL = """
title = "A test"
[run]
duration = "1ms"
[topology]
kind = "star"
hosts = 4
rate = "10Gbps"
delay = "1us"
[[traffic]]
kind = "greedy"
src = ["h0", "h1"]
dst = "h2"
"""


def write(folder: Path, text: str) -> Paths:
    """Write experiments/x.toml into a project of its own; return that project's folders."""
    paths = Paths(folder)
    paths.experiments.mkdir(exist_ok=True)
    (paths.experiments / "x.toml").write_text(text, encoding="utf-8")
    shipped = paths.experiments / "workloads"
    if not shipped.exists():
        shipped.symlink_to(ROOT / "experiments" / "workloads")
    return paths


def load(folder: Path, text: str, *overrides: str, schema: Any = SCHEMA) -> Experiment:
    """Load a file with that text."""
    return load_experiment("x", overrides, schema, write(folder, text))


def complaints(folder: Path, text: str, *overrides: str, schema: Any = SCHEMA) -> list[str]:
    """Load a file that is wrong; return its problems as text."""
    try:
        load(folder, text, *overrides, schema=schema)
    except UserError as error:
        return [problem.render() for problem in error.problems]
    raise AssertionError("the file was accepted")


def network(**table: Any) -> Topology:
    """The network of a [topology] table."""
    findings = Findings("test")
    resolved = resolve({"rate": "10Gbps", "delay": "1us"} | table, findings)
    assert resolved is not None, findings.problems
    return resolved.network


TOPOLOGIES: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.builds(lambda n: {"kind": "star", "hosts": n}, st.integers(2, 20)),
    st.builds(
        lambda a, b: {"kind": "dumbbell", "left": a, "right": b},
        st.integers(1, 9),
        st.integers(1, 9),
    ),
    st.builds(
        lambda s, h: {"kind": "line", "switches": s, "hosts_per_switch": h},
        st.integers(2, 8),
        st.integers(1, 4),
    ),
    st.builds(
        lambda s, h: {"kind": "ring", "switches": s, "hosts_per_switch": h},
        st.integers(3, 8),
        st.integers(1, 4),
    ),
    st.builds(lambda half: {"kind": "fat_tree", "k": 2 * half}, st.integers(1, 4)),
    st.builds(
        lambda n, s, h: {"kind": "leaf_spine", "leaves": n, "spines": s, "hosts_per_leaf": h},
        st.integers(2, 6),
        st.integers(1, 4),
        st.integers(1, 5),
    ),
    st.builds(
        # one link from group to group
        lambda a, h, p: (
            {"kind": "dragonfly", "groups": a * h + 1, "routers_per_group": a}
            | {"hosts_per_router": p, "global_links": h}
        ),
        st.integers(1, 3),
        st.integers(1, 2),
        st.integers(1, 2),
    ),
)
"""A [topology] table without rate and delay, of at least two hosts."""
