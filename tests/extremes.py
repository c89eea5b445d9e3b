"""Every attribute of every built module at the ends of its range, and beyond them.

    python -m tests.extremes [--all]

The cases come from the schema of the build, so that a new attribute is covered by itself. A value
that its checker allows is tried in a tiny simulation in which the object is used; it must work, or
be refused by Check() with words that name the attribute. A value that the checker does not allow
must be refused with the type, the attribute, the value and what is allowed. Prints one JSON object
a failure and ends with a line that counts; `--all` tries more values of each attribute.
"""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import json
import math
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from pyorch.build import ensure_built
from pyorch.build.schema import AttributeInfo, TypeInfo, parse_schema
from pyorch.run.ns3 import load_simulation
from pyorch.setting.attributes import Catalogue, catalogue
from tests.forks import in_fork

Attributes = dict[str, dict[str, str]]

SETTING = re.compile("headroom|xoff|llr_(max_bytes|replay_timer|loop)")
"""Numbers of the summary that repeat a setting."""
IN_PROPORTION = {
    ("ns3::gfc::ConceptualGfc", "Bm"),
    ("ns3::gfc::TimeBasedGfc", "Buffer"),
    ("ns3::hpcc::Hpcc", "ReferenceRate"),
    ("ns3::powertcp::PowerTcp", "BaseRtt"),
    ("ns3::powertcp::ThetaPowerTcp", "BaseRtt"),
    ("ns3::timely::Timely", "ReferenceRate"),
}
"""Attributes of which rates or windows are a share, however large: half of them is another run."""
OTHER_WORDS = {"CellSize": "in cells of", "PayloadSize": "the largest frame"}
"""How a refusal by Check() names an attribute otherwise than by its name."""

END_PS = 12_000_000
FAR = 1_000_000
"""An upper bound from here on is beyond everything that happens: half of it gives the same run."""

NOT_IN_A_RUN = {"ns3::eventloop::CellLoop", "ns3::fabricdevice::FabricNetDevice"}
"""Types with attributes that the facade does not make; their own suites use them."""

WORDS = ("ns3::lossless::", "ns3::rdma::", "ns3::sfc::", "ns3::dcfit::")
_L, _R, _S, _D = WORDS
BUFFER: Attributes = {_L + "SharedBuffer": {"Size": "60000", "LossyPool": "1000"}}
STATIC: Attributes = {
    _L + "SharedBuffer": BUFFER[_L + "SharedBuffer"]
    | {"Threshold": "Static", "Xoff": "6000", "Xon": "4000"}
}
"""Small enough that the flows below pause each other."""


@dataclass(frozen=True)
class Scene:
    """What a run consists of besides the network."""

    flow_control: tuple[str, ...] = (_L + "Pfc",)
    agents: tuple[str, ...] = ()
    host_agents: tuple[str, ...] = ()
    forwarding: str = _L + "Ecmp"
    congestion_control: str = ""
    attributes: Attributes = field(default_factory=lambda: BUFFER)
    fails: bool = False
    captured: bool = False


def with_attributes(**sections: dict[str, str]) -> Attributes:
    """The small buffer and more; "__" is "::" in a name."""
    named = {"ns3::" + name.replace("__", "::"): values for name, values in sections.items()}
    return BUFFER | named


CREDITS = {"Buffer": "9000", "Period": "2us"}
SCENES: dict[str, tuple[Scene, ...]] = {
    _L + "SharedBuffer": (Scene(), Scene(attributes=STATIC)),
    _L + "Switch": (Scene(fails=True),),
    _L + "PcapTap": (Scene(captured=True),),
    "ns3::cbfc::Credit": (
        Scene(("ns3::cbfc::Credit",), attributes=with_attributes(cbfc__Credit=CREDITS)),
    ),
    "ns3::gfc::ConceptualGfc": (
        Scene(
            ("ns3::gfc::ConceptualGfc", _L + "Pfc"),
            attributes=with_attributes(gfc__ConceptualGfc={"Bm": "7000", "B0": "2000"}),
        ),
    ),
    "ns3::gfc::MultiStageGfc": (
        Scene(
            ("ns3::gfc::MultiStageGfc", _L + "Pfc"),
            attributes=with_attributes(gfc__MultiStageGfc={"Bm": "7000", "B1": "2000"}),
        ),
    ),
    "ns3::gfc::TimeBasedGfc": (
        Scene(
            ("ns3::gfc::TimeBasedGfc",),
            attributes=with_attributes(gfc__TimeBasedGfc=CREDITS | {"B0": "2000"}),
        ),
    ),
    _S + "SfcCongestionPoint": (
        Scene(
            agents=(_S + "SfcCongestionPoint",),
            host_agents=(_S + "SfcReactionPoint",),
            attributes=with_attributes(sfc__SfcCongestionPoint={"Threshold": "2000"}),
        ),
    ),
    _S + "SfcReactionPoint": (
        Scene(
            agents=(_S + "SfcCongestionPoint",),
            host_agents=(_S + "SfcReactionPoint",),
            attributes=with_attributes(sfc__SfcCongestionPoint={"Threshold": "2000"}),
        ),
    ),
    _S + "SfcProxy": (
        Scene(
            agents=(_S + "SfcCongestionPoint", _S + "SfcProxy"),
            attributes=with_attributes(sfc__SfcCongestionPoint={"Threshold": "2000"}),
        ),
    ),
    _D + "PfcWatchdog": (
        Scene(
            agents=(_D + "PfcWatchdog",),
            attributes=with_attributes(
                dcfit__PfcWatchdog=dict.fromkeys(("Poll", "Detection", "Restoration"), "1us")
            ),
        ),
    ),
    "ns3::trimming::Trimming": (
        Scene(
            flow_control=(),
            agents=("ns3::trimming::Trimming",),
            attributes=with_attributes(
                lossless__SharedBuffer={
                    "Size": "60000",
                    "LossyPool": "6000",
                    "LosslessClasses": "0",
                },
                rdma__QueuePair={"Retransmit": "Selective"},
            ),
        ),
    ),
    _L + "EcnMarking": (
        Scene(agents=(_L + "EcnMarking",), congestion_control="ns3::dcqcn::Dcqcn"),
    ),
}


def scenes_of(types: Catalogue, info: TypeInfo) -> tuple[Scene, ...]:
    """The scenes in which an object of a type is used."""
    if info.name in SCENES:
        return SCENES[info.name]
    if types.derives(info, _L + "FlowControl"):
        return (Scene((info.name,)),)
    if types.derives(info, _L + "SwitchAgent"):
        return (Scene(agents=(info.name,)),)
    if types.derives(info, _L + "ForwardingPolicy"):
        return (Scene(forwarding=info.name),)
    if types.derives(info, _R + "CongestionControl"):
        return (Scene(agents=(_L + "EcnMarking",), congestion_control=info.name),)
    return (Scene(),)


# ---------------------------------------------------------------------------------------------
# Values


def bounds(attribute: AttributeInfo) -> tuple[str, str]:
    """The ends of a range as the checker says them, such as "0ps" and "1000ps"."""
    low, _, high = attribute.allowed.rpartition(" ")[2].partition(":")
    return low, high


def whole_values(
    attribute: AttributeInfo, unit: str, everything: bool
) -> Iterator[tuple[str, bool]]:
    """Whole numbers around the bounds, with a unit, and whether the checker allows them."""
    low, high = (int(end.removesuffix(unit)) for end in bounds(attribute))
    values = {low, low + 1, high - 1, high, high // 2}
    outside = {low - 1, high + 1, -1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30}
    more = {0, 1, 2, 3, 2**16, 2**31 - 1, 2**32 - 1, 2**32, (low + high) // 3, high // 1000}
    for value in sorted(values | outside | (more if everything else set())):
        yield f"{value}{unit}", low <= value <= high


def real_values(attribute: AttributeInfo) -> Iterator[tuple[str, bool]]:
    """Numbers around the bounds, and values that are not numbers."""
    low, high = (float(end) for end in bounds(attribute))
    # the checker prints six digits of its bounds: a step outside must be one that is seen
    for value in (low + abs(low) * 1e-6, (low + high) / 2, high):
        yield repr(value), True
    for value in (low - max(abs(low) * 1e-3, 5e-324), high * 1.001, 1e308, -1e308):
        yield repr(value), False
    for text in ("nan", "inf", "-inf", ""):
        yield text, False


def values_of(attribute: AttributeInfo, everything: bool) -> Iterator[tuple[str, bool]]:
    """Values to try, in ns-3's spelling, and whether the checker allows them."""
    kind = attribute.type.rsplit("::", 1)[-1].removesuffix("Value")
    if kind in ("Uinteger", "Integer"):
        yield from whole_values(attribute, "", everything)
    elif kind == "Time":
        yield from whole_values(attribute, "ps", everything)
        yield from ((text, False) for text in ("nans", "infs", "1e300s", "300y", ""))
    elif kind == "DataRate":
        yield from whole_values(attribute, "bps", everything)
        yield from ((text, False) for text in ("1e30Gbps", "-1Gbps", "nanbps", ""))
    elif kind == "Double":
        yield from real_values(attribute)
    elif kind == "Enum":
        yield from ((name, True) for name in attribute.allowed.split("|"))
        yield from (("Neither", False), ("", False))
    elif kind == "Boolean":
        yield from (("true", True), ("false", True), ("2", False), ("maybe", False))


@dataclass(frozen=True)
class Case:
    """One value of one attribute in one scene."""

    type_id: str
    attribute: str
    value: str
    allowed: bool
    scene: Scene
    twin: str | None = None
    """A value that must give the same run."""


def cases_of(types: Catalogue, everything: bool) -> Iterator[Case]:
    """All cases."""
    for info in types.types:
        if info.abstract or info.name in NOT_IN_A_RUN:
            continue
        for attribute in types.attributes(info).values():
            for value, allowed in values_of(attribute, everything):
                for scene in scenes_of(types, info)[: None if allowed else 1]:
                    far = allowed and (info.name, attribute.name) not in IN_PROPORTION
                    twin = twin_of(attribute, value) if far else None
                    yield Case(info.name, attribute.name, value, allowed, scene, twin)


def twin_of(attribute: AttributeInfo, value: str) -> str | None:
    """A value as far beyond everything that happens as the upper bound."""
    _, high = bounds(attribute)
    digits = high.rstrip("bps")
    if value != high or not digits.isdigit() or int(digits) < FAR:
        return None
    return f"{int(digits) // 2}{high[len(digits) :]}"


# ---------------------------------------------------------------------------------------------
# A run


def prepare(simulation: Any, scene: Scene) -> None:
    """Set the attributes of a scene."""
    for type_id, values in scene.attributes.items():
        for name, value in values.items():
            simulation.SetAttribute(type_id, name, value)


def add(simulation: Any, scene: Scene) -> None:
    """Add schemes, a network with two ways between its switches, and flows that meet; build."""
    for type_id in scene.flow_control:
        simulation.AddFlowControl(type_id)
    for type_id in scene.agents:
        simulation.AddAgent(type_id)
    for type_id in scene.host_agents:
        simulation.AddHostAgent(type_id)
    simulation.SetForwarding(scene.forwarding)
    simulation.SetCongestionControl(scene.congestion_control)
    array = np.array
    simulation.AddNodes(array([0, 0, 0, 1, 1, 1], "uint8"), "h0\nh1\nh2\ns0\ns1\ns2", 6)
    ends = array([0, 1, 2, 3, 3, 5], "uint32"), array([3, 3, 4, 4, 5, 4], "uint32")
    simulation.AddLinks(*ends, array([10**10] * 6, "uint64"), array([10**5] * 6, "int64"), 6)
    if scene.fails:
        simulation.SetAllowLoss(True)
        simulation.FailLink(3, 4_000_000, 8_000_000)
    none, never = array([0, 0, 0], "uint64"), array([-1, -1, -1], "int64")
    flows = array([0, 1, 1], "uint32"), array([2, 2, 0], "uint32")
    sizes, starts = array([0, 20_000, 3_000], "uint64"), array([0, 0, 2_000_000], "int64")
    classes = array([3, 3, 3], "uint8")
    simulation.AddFlows(*flows, sizes, starts, never, classes, none, none, 3)
    simulation.Build()


def run(case: Case, simulation_class: Any) -> dict[str, Any]:
    """Do a case in this process and say how it went."""
    simulation = simulation_class(1)
    prepare(simulation, case.scene)
    try:
        simulation.SetAttribute(case.type_id, case.attribute, case.value)
    except Exception as error:
        return {"outcome": "refused", "message": str(error)}
    if not case.allowed:
        return {"outcome": "accepted"}
    add(simulation, case.scene)
    problems = str(simulation.Check())
    if problems:
        return {"outcome": "checked", "message": problems}
    folder = tempfile.TemporaryDirectory(prefix="extremes-")
    everywhere = np.array([0], "uint32"), np.array([-1], "int64"), 0
    if case.scene.captured:
        simulation.TracePcap(*everywhere, folder.name)
    for table in ("queue", "buffer", "pause", "control_value", "flow_rate"):
        simulation.Trace(table, *everywhere, 0xFF, 0)
    simulation.Run(END_PS)
    problems = str(simulation.Finish())
    wrong = [line for line in problems.splitlines() if line]
    folder.cleanup()
    if simulation.Now() != END_PS:
        wrong.append(f"it ended at {simulation.Now()} ps")
    digest, odd = look(simulation)
    return {"outcome": "done", "wrong": wrong + odd, "digest": digest}


def look(simulation: Any) -> tuple[str, list[str]]:
    """A digest of all results, and what no run can have."""
    digest = hashlib.sha256()
    odd = []
    for pair in simulation.GetSummary():
        name, value = str(pair.first), float(pair.second)
        digest.update(f"{name} {value!r}\n".encode() if not SETTING.search(name) else b"")
        if not math.isfinite(value) or value < -1:
            odd.append(f"{name} is {value}")
    for table in range(simulation.GetNTables()):
        rows = int(simulation.GetNRows(table))
        for number in range(simulation.GetNColumns(table)):
            name = str(simulation.GetColumnName(table, number))
            kind = np.dtype(str(simulation.GetColumnType(table, number)))
            size = rows * kind.itemsize
            data = ctypes.string_at(simulation.GetColumnData(table, number), size) if rows else b""
            column = np.frombuffer(data, kind)
            late = name.endswith("_ps") and not name.startswith("ideal") and (column > END_PS).any()
            if late or (column.astype("float64") < -1).any():
                odd.append(f"{simulation.GetTableName(table)}.{name} has impossible values")
            digest.update(data if not name.startswith("ideal") else b"")
    return digest.hexdigest(), odd


def complaints(case: Case, answer: dict[str, Any], twin: dict[str, Any] | None) -> list[str]:
    """What is wrong about how a case went; empty if nothing is."""
    outcome, message = answer["outcome"], answer.get("message", "")
    if not case.allowed:
        names = (case.type_id, case.attribute, case.value, "allowed: ")
        missing = [name for name in names if name not in message]
        if outcome != "refused":
            return [f"{outcome}, though its checker does not allow it: {message}"]
        return [f"its refusal does not name {missing}: {message}"] if missing else []
    if outcome == "checked":
        named = OTHER_WORDS.get(case.attribute, case.attribute) in message
        return [] if named else [f"the refusal does not name the attribute: {message}"]
    if outcome != "done":
        return [f"{outcome}: {message}"]
    if twin is not None and twin.get("digest") != answer["digest"]:
        return [f"another run than with {case.twin}, which is as far away: {twin}"]
    # a buffer that is promised but not there fails the run, loudly
    return [wrong for wrong in answer["wrong"] if "set allow_loss = true" not in wrong]


def runs(cases: list[Case], simulation_class: Any) -> dict[str, Any]:
    """How cases go, one after the other in this process, each with its twin where it has one."""
    return {"answers": [with_twin(case, partial(tried, simulation_class)) for case in cases]}


def tried(simulation_class: Any, case: Case) -> dict[str, Any]:
    """How a case goes in this process; an exception is an outcome."""
    try:
        return run(case, simulation_class)
    except Exception as error:
        return {"outcome": type(error).__name__, "message": str(error)}


def with_twin(case: Case, go: Callable[[Case], dict[str, Any]]) -> list[dict[str, Any] | None]:
    """How a case goes, and its twin if it has one and the case works."""
    answer = go(case)
    if not case.twin or answer["outcome"] != "done":
        return [answer, None]
    return [answer, go(Case(case.type_id, case.attribute, case.twin, True, case.scene))]


def found_in(cases: list[Case], simulation_class: Any) -> list[list[str]]:
    """What is wrong about how each of some cases went.

    They are tried in one fork. If anything is wrong with one of them, or they end the fork, each is
    tried again in a fork of its own, and what is said is what was wrong there.
    """

    def alone(case: Case) -> dict[str, Any]:
        return in_fork(partial(run, case, simulation_class))

    answers = in_fork(partial(runs, cases, simulation_class)).get("answers", [])
    found = [complaints(case, *both) for case, both in zip(cases, answers, strict=False)]
    if len(found) == len(cases) and not any(found):
        return found
    return [complaints(case, *with_twin(case, alone)) for case in cases]


def main(arguments: list[str]) -> int:
    """Try all cases; return 1 if one failed."""
    info = ensure_built(quiet=True)
    simulation_class: Any = load_simulation(info)
    types = catalogue(parse_schema(str(simulation_class.Describe(",".join(info.modules)))))
    run(Case(_L + "Port", "Overhead", "20", True, Scene()), simulation_class)  # compiles wrappers
    tried = failed = 0

    def tell(case: Case, found: list[str]) -> None:
        nonlocal tried, failed
        tried += 1
        failed += len(found)
        where = f"{case.type_id}::{case.attribute}"
        for what in found:
            print(json.dumps({"where": where, "value": case.value, "what": what}), flush=True)

    attribute = attrgetter("type_id", "attribute")
    for _, group in itertools.groupby(cases_of(types, "--all" in arguments), attribute):
        cases = list(group)
        for case, found in zip(cases, found_in(cases, simulation_class), strict=True):
            tell(case, found)
    attributes = sum(len(types.attributes(info)) for info in types.types if not info.abstract)
    print(json.dumps({"attributes": attributes, "tried": tried, "failed": failed}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
