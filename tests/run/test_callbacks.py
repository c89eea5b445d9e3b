"""Plain Python functions that trace sources call, with plain Python values."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

from pyorch.build import ensure_built
from tests.forks import Warm
from tests.inputs import RUNS

# one process loads the modules for all of them
pytestmark = [
    pytest.mark.cpp,
    pytest.mark.inputs(*RUNS),
    pytest.mark.xdist_group("callbacks"),
]

LOAD = """
import sys, pathlib
import numpy as np
from pyorch.build import read_build
from pyorch.run.callbacks import connect
from pyorch.base.errors import UserError
from pyorch.run.ns3 import load_all
ns = load_all(read_build(pathlib.Path(sys.argv[1])))

def answer(code, buffer):
    names = {**globals(), "BUFFER": buffer}
    exec(code, names)
    return {"found": names["found"]}
"""

START = """
sim = ns.facade.Simulation(1)
sim.AddFlowControl("ns3::pfc::Pfc")
for name, value in BUFFER.items():
    sim.SetAttribute("ns3::lossless::SharedBuffer", name, value)
sim.AddNodes(np.array([0, 0, 0, 1], dtype=np.uint8), "h0\\nh1\\nh2\\ns0", 4)
ends = np.array([0, 1, 2], dtype=np.uint32), np.array([3, 3, 3], dtype=np.uint32)
rates, delays = np.full(3, 10**10, dtype=np.uint64), np.full(3, 10**6, dtype=np.int64)
sim.AddLinks(*ends, rates, delays, 3)
sim.AddFlow(0, 2, 3)
sim.AddFlow(1, 2, 3)
sim.SetAllowLoss(True)
sim.Build()
switch = sim.GetFabric().GetNode(3)
"""


LOSSLESS = {"Threshold": "Static", "Xoff": "20000", "Xon": "1000", "LossyPool": "0"}
LOSSY = {"LosslessClasses": "0", "LossyPool": "20000"}


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    """A process that has loaded the project."""
    process = Warm(LOAD, str(ensure_built(quiet=True).folder))
    yield process
    process.close()


def run(warm: Warm, code: str, buffer: dict[str, str] = LOSSLESS) -> Any:
    """Run code after an incast was built, in a process of its own; return what it calls `found`."""
    answer = warm.ask(START + textwrap.dedent(code), buffer)
    assert answer.keys() == {"found"}, answer
    return answer["found"]


def test_pauses_come_as_numbers_and_truths(warm: Warm) -> None:
    """As many as the summary counts, OFF and ON in turn, of the class that has flows."""
    found = run(
        warm,
        """
        seen = []
        def pause(port, cls, on):
            seen.append((str(port.GetNode().GetName()), cls, on))
        number = sum(connect(switch.GetPort(i), "PauseSent", pause) for i in range(3))
        sim.Run(10**9)
        found = [number, seen, sim.GetNumber("pauses_sent")]
        """,
    )
    number, seen, pauses = found
    assert number == 3
    assert {(name, cls) for name, cls, _ in seen} == {("s0", 3)}
    assert sum(on for *_, on in seen) == pauses > 10
    assert {type(on) for *_, on in seen} == {bool}


def test_drops_come_with_a_name_and_the_number_of_their_cause(warm: Warm) -> None:
    """Without room every drop is reported: a str, and DropCause 1, LOSSY."""
    found = run(
        warm,
        """
        seen = []
        connect(switch, "Drop", lambda node, frame, cause: seen.append((node, frame.cls, cause)))
        sim.Run(10**9)
        found = [seen, sim.GetNumber("dropped_lossy_frames"), repr(switch.GetName())]
        """,
        LOSSY,
    )
    seen, dropped, shown = found
    assert len(seen) == dropped > 0
    assert {tuple(one) for one in seen} == {("s0", 3, 1)}
    assert shown == "'s0'"


def test_what_a_function_raises_ends_the_run(warm: Warm) -> None:
    """It comes out of Run as it is."""
    found = run(
        warm,
        """
        def pause(port, cls, on):
            raise KeyError("mine")
        connect(switch.GetPort(0), "PauseSent", pause)
        try:
            sim.Run(10**9)
        except KeyError as error:
            found = str(error).count("mine")
        """,
    )
    assert found == 1


def test_a_source_that_is_none_is_named(warm: Warm) -> None:
    """With those there are and the nearest; and so is a path of no object."""
    found = run(
        warm,
        """
        told = []
        for source, name in ((switch.GetPort(0), "PauseSend"), ("/NodeList/7", "X")):
            try:
                connect(source, name, print)
            except UserError as error:
                told.append(error.render())
        found = told
        """,
    )
    wrong, nowhere = found
    assert "ns3::lossless::Port: there is no trace source 'PauseSend'" in wrong
    assert "did you mean 'PauseSent'?" in wrong
    assert "/NodeList/7: no object has this path" in nowhere
