"""The C++ facade from Python: nonsense is an exception with a sentence, never a signal."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from pyorch.build import ensure_built
from tests.buffer_run import DELAYS, FLOWS, PRIVATE, RATES, XOFF
from tests.inputs import ROOT, RUNS, called
from tests.misuse import CASES, ENTRIES

# every misuse is tried once
pytestmark = [
    pytest.mark.cpp,
    pytest.mark.inputs(*RUNS),
    pytest.mark.xdist_group("facade"),
]


@pytest.fixture(scope="module", autouse=True)
def build() -> None:
    """Build the project once, before the programs ask for it."""
    ensure_built(quiet=True)


def program(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run one of the programs next to this file."""
    command = [sys.executable, "-m", f"tests.{name}", *words]
    return called(command, cwd=ROOT)


@pytest.fixture(scope="module")
def answers() -> dict[str, dict[str, Any]]:
    """How every misuse ended."""
    done = program("misuse")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("name", CASES)
def test_misuse_is_an_exception(answers: dict[str, dict[str, Any]], name: str) -> None:
    """It is of the right class, and its sentence names what was wrong."""
    outcome, words, _ = CASES[name]
    assert answers[name]["outcome"] == outcome, answers[name]
    assert words in answers[name]["message"]


@pytest.mark.parametrize("name", ENTRIES)
def test_impossible_is_an_entry_of_check(answers: dict[str, dict[str, Any]], name: str) -> None:
    """What can only be seen once everything is set up is reported by Check()."""
    assert answers[name]["outcome"] == "checked", answers[name]
    assert ENTRIES[name][0] in answers[name]["message"]


def test_attributes_at_their_ends() -> None:
    """Every attribute at and beyond the ends of its range works, or is refused with a sentence."""
    done = program("extremes")
    *failures, last = [json.loads(line) for line in done.stdout.splitlines()] or [{}]
    assert failures == [], done.stderr
    assert done.returncode == 0, done.stderr
    assert last["failed"] == 0
    assert last["tried"] > 5 * last["attributes"]


def charges(frames: dict[str, list[int]]) -> list[tuple[int, int, int]]:
    """(time, ingress, bytes) of each data frame that comes to the switch (+) or leaves it (-).

    Read from the frames on the wire alone: a frame is in the buffer from its last bit, a link's
    delay after it went, until its last bit has gone on.
    """
    overhead, switch = 20, 3
    happened = []
    columns = ("time_ps", "node", "kind", "flow", "bytes")
    for time, node, kind, flow, wire in zip(*(frames[name] for name in columns), strict=True):
        if kind == 0:
            source, destination, _ = FLOWS[flow]
            rate = RATES[destination if node == switch else node]
            last = time + (wire * 8 * 10**12 + rate // 2) // rate
            if node == switch:
                happened.append((last, source, -(wire - overhead)))
            else:
                happened.append((last + DELAYS[node], source, wire - overhead))
    return sorted(happened)


def test_the_buffer_is_traced_as_it_is_charged() -> None:
    """Private, shared and headroom bytes are those of a model that reads the frames alone."""
    done = program("buffer_run")
    assert done.returncode == 0, done.stderr
    tables = json.loads(done.stdout)
    held = {host: [0, 0, 0] for host in range(3)}
    expected = [(0, host, 0, 0, 0) for host in range(3)]
    for time, ingress, size in charges(tables["frame"]):
        private, shared, headroom = held[ingress]
        if size > 0:
            part = 0 if private + size <= PRIVATE else 1 if shared + size <= XOFF else 2
            held[ingress][part] += size
        else:
            from_headroom = min(-size, headroom)
            from_shared = min(-size - from_headroom, shared)
            rest = -size - from_headroom - from_shared
            held[ingress] = [private - rest, shared - from_shared, headroom - from_headroom]
        expected.append((time, ingress, *held[ingress]))
    names = ("time_ps", "peer", "private_bytes", "shared_bytes", "headroom_bytes")
    traced = list(zip(*(tables["buffer"][name] for name in names), strict=True))
    assert max(row[4] for row in expected) > 0  # the headroom was used
    assert traced == expected
    queue = tables["queue"]
    assert [sum(row[2:]) for row in traced] == queue["bytes"]
