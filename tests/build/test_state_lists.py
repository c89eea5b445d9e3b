"""What a network holds is visited whole: a skip would leave behind what no Visit names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

MODULES = Path(__file__).resolve().parents[2] / "ns3-modules"

#: Header and class of all that StateVisitor goes through.
VISITED = (
    ("lossless/model/lossless-event.h", "ReusableEvent"),
    ("lossless/model/lossless-event.h", "EventStream"),
    ("lossless/model/lossless-frame.h", "FrameFifo"),
    ("lossless/model/lossless-fabric-node.h", "FabricNode"),
    ("lossless/model/lossless-switch.h", "Switch"),
    ("lossless/model/contract/lossless-buffer-policy.h", "BufferPolicy"),
    ("lossless/model/port/lossless-class-scheduler.h", "ClassScheduler"),
    ("lossless/model/port/lossless-egress-queue.h", "EgressQueue"),
    ("lossless/model/port/lossless-egress.h", "Egress"),
    ("lossless/model/port/lossless-flow-control-chain.h", "FlowControlChain"),
    ("lossless/model/port/lossless-hold-book.h", "HoldBook"),
    ("lossless/model/port/lossless-port.h", "Port"),
    ("lossless/model/port/lossless-ready-set.h", "ReadySet"),
    ("rdma/model/rdma-arrivals.h", "Arrivals"),
    ("rdma/model/rdma-host.h", "Host"),
    ("rdma/model/rdma-loss-recovery.h", "LossRecovery"),
    ("rdma/model/rdma-queue-pair.h", "QueuePair"),
    ("rdma/model/rdma-receive-queue.h", "ReceiveQueue"),
    ("rdma/model/rdma-scoreboard.h", "Scoreboard"),
    ("rdma/model/rdma-send-queue.h", "SendQueue"),
)


def body_of_class(text: str, name: str) -> str:
    """What stands between the braces of a class."""
    found = re.search(rf"^class {name}\b[^;{{]*{{$(.*?)^}};$", text, re.MULTILINE | re.DOTALL)
    assert found, name
    return found[1]


def members(body: str) -> set[str]:
    """The members of a class, without those of classes inside it."""
    without = re.sub(r"//[^\n]*", "", body)
    return set(re.findall(r"\b(m_\w+)(?:\{[^;]*\})?;", re.sub(r"\breturn[^;]*;", "", without)))


def visit_of(header: Path, name: str) -> str:
    """The text of its Visit, comments included, in the header or in a source of its module."""
    body = body_of_class(header.read_text(encoding="utf-8"), name)
    inside = re.search(r"^    void Visit\([^)]*\)[^;{]*\n    {$(.*?)^    }$", body, re.M | re.S)
    if inside:
        return inside[1]
    for source in header.parents[len(header.parents) - 1 - header.parts.index("model")].rglob(
        "*.cc"
    ):
        text = source.read_text(encoding="utf-8")
        found = re.search(rf"^{name}::Visit\([^)]*\)[^{{;]*\n{{$(.*?)^}}$", text, re.M | re.S)
        if found:
            return found[1]
    raise AssertionError(f"{name} has no Visit")


@pytest.mark.parametrize(("header", "name"), VISITED, ids=[name for _, name in VISITED])
def test_visit_names_every_member(header: str, name: str) -> None:
    """As state, or in a comment as constant or derived."""
    file = MODULES / header
    known = members(body_of_class(file.read_text(encoding="utf-8"), name))
    assert known, f"{name} has no members: the pattern has gone blind"
    visited = set(re.findall(r"\bm_\w+", visit_of(file, name)))
    assert known <= visited, f"{name}::Visit does not say what becomes of {sorted(known - visited)}"


def test_members_are_those_of_the_class() -> None:
    """Neither what its functions say, nor comments."""
    body = "\n  public:\n    int Get() const\n    {\n        return m_a;\n    }\n\n  private:\n"
    body += "    int m_a{0}; //!< a\n    std::array<Own, N> m_own{}; //!< m_b\n    Wire m_wire;\n"
    assert members(body) == {"m_a", "m_own", "m_wire"}
