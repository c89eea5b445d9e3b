"""The parameters of GFC: numbers worked by hand, properties, the C++ model, the command."""

from __future__ import annotations

import json
import math
import os
import re
import sys
import textwrap
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyorch.build import ensure_built
from pyorch.cli.size import size
from pyorch.sizing import gfc, theory
from tests.inputs import ROOT, called
from tests.projects import STAR

GBPS = 10**9

#: Frames of 1500 B, 1 us of wire, 3 us of processing, no overhead, Bm = 300 KB: C [Gb/s],
#: tau = 24,000 bit / C + 5 us [ps], Bm - 2 C tau, Bm - 4 C tau, 512 bit / tau, an eighth of that,
#: time of a message of 64 B [ps].
BY_HAND = [
    (10, 7_400_000, 281_500, 263_000, 69_189_189, 8_648_648, 51_200),
    (25, 5_960_000, 262_750, 225_500, 85_906_040, 10_738_255, 20_480),
    (40, 5_600_000, 244_000, 188_000, 91_428_571, 11_428_571, 12_800),
    (100, 5_240_000, 169_000, 38_000, 97_709_923, 12_213_740, 5_120),
]


@pytest.mark.parametrize("row", BY_HAND)
def test_worked_by_hand(row: tuple[int, ...]) -> None:
    """tau, the bounds and the overhead at four rates; the first row is the paper's example."""
    rate, tau, b1, b0, worst, steady, message = row
    link = gfc.Link(rate=rate * GBPS)
    assert link.formula_latency == tau
    assert link.latency == tau + message
    assert gfc.largest_b1(link.rate, tau, 300_000) == b1
    assert gfc.largest_b0(link.rate, tau, 300_000) == b0
    assert gfc.worst_overhead(link.message, tau) == worst
    assert gfc.steady_overhead(link.message, tau) == steady


def test_published_overhead() -> None:
    """GFC paper, section 4.2: 69 Mb/s (0.69 %) and 8.6 Mb/s (0.086 %) at 10 Gb/s."""
    tau = gfc.Link().formula_latency
    assert round(gfc.worst_overhead(64, tau) / 1e6) == 69
    assert round(gfc.steady_overhead(64, tau) / 1e6, 1) == 8.6


def test_stages_worked_by_hand() -> None:
    """Bm 300 KB, B1 281 KB: halves of 19 KB up to 16 stages; 19 stages for 1 MB and 750 KB."""
    table = gfc.stages(10 * GBPS, 281_000, 300_000)
    starts = [0, 281_000, 290_500, 295_250, 297_625, 298_813, 299_407]
    assert [stage.start for stage in table[:7]] == starts
    assert [stage.rate for stage in table[:4]] == [
        10 * GBPS,
        5 * GBPS,
        2_500_000_000,
        1_250_000_000,
    ]
    assert len(table) - 1 == 16
    assert table[-1].rate == 152_587
    assert len(gfc.stages(10 * GBPS, 750_000, 10**6)) - 1 == 19


@given(
    st.integers(0, 10**7), st.integers(1, 10**7), st.integers(10**6, 10**12), st.integers(1, 10**6)
)
def test_stages_are_those_of_the_paper(b1: int, span: int, rate: int, floor: int) -> None:
    """Equations 4 and 5 in exact fractions, rates never below the floor, ends at a byte."""
    bm = b1 + span
    table = gfc.stages(rate, b1, bm, floor)
    assert table[0] == gfc.Stage(0, rate)
    for k, stage in enumerate(table[1:], start=1):
        assert stage.start == math.ceil(bm - Fraction(span, 2 ** (k - 1)))
        assert stage.rate == max(floor, math.floor(Fraction(rate, 2**k)))
    last = len(table) - 1
    steps = [Fraction(span, 2 ** (k - 1)) for k in range(2, last + 1)]  # B_k - B_(k-1)
    assert steps[-1] <= 1
    assert all(step > 1 for step in steps[:-1])


@given(st.integers(1, 800), st.integers(1, 10**8), st.integers(0, 10**7), st.integers(64, 9000))
def test_bounds_are_the_largest(gbps: int, delay: int, bm: int, mtu: int) -> None:
    """At the bound the margin is enough, a byte above it is not."""
    link = gfc.Link(rate=gbps * GBPS, delay=delay, mtu=mtu)
    reach = theory.bytes_in(link.rate, link.latency)
    assert bm - gfc.largest_b0(link.rate, link.latency, bm) == 4 * reach
    assert bm - gfc.largest_b1(link.rate, link.latency, bm) == 2 * reach
    assert Fraction(link.rate * link.latency, 8 * 10**12) <= reach
    assert reach < Fraction(link.rate * link.latency, 8 * 10**12) + 1


@pytest.mark.parametrize("drain_share", [0.0, 0.01, 0.3, 0.9])
@pytest.mark.parametrize(("period", "tau"), [(50e-6, 10e-6), (10e-6, 50e-6), (20e-6, 20e-6)])
def test_time_based_bound_keeps_credit(drain_share: float, period: float, tau: float) -> None:
    """A fluid sender that counts what it sent as held never reaches the buffer at the bound.

    Independent of the simulator: held = sent - drained as it was tau ago, sampled every period.
    """
    rate, step = 10 * GBPS, 1e-7
    buffer = 400_000
    b0 = gfc.largest_time_based_b0(rate, round(tau * 1e12), buffer, round(period * 1e12))
    c = rate / 8
    sent, drained, speed, late = 0.0, [0.0], c, round(tau / step)
    period_steps, most = round(period / step), 0.0
    for now in range(1, 40_000):
        if now >= period_steps + late and (now - late) % period_steps == 0:
            held = sent - drained[now - late]
            most = max(most, held)
            speed = c * min(1.0, max(0.0, (buffer - held) / (buffer - b0)))
        sent += speed * step
        arrived = max(0.0, sent - c * tau)  # at most what was sent a latency ago
        drained.append(min(arrived, drained[-1] + drain_share * c * step))
        most = max(most, sent - drained[max(0, now - late)])
    assert most <= buffer
    assert speed > 0 or drain_share == 0  # nothing drained: held comes as near as a float can


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    """`invoke size` prints the parameters of the paper's example: 10 Gb/s, 1 us, 3 us, 300 KB."""
    example = {"ports": "3", "rate": "10Gbps", "delay": "1us", "control_delay": "3us"}
    example |= {"overhead": "0B", "bm": "300KB"}
    assert size("", example | {"b1": "281KB"}) == 0
    text = capsys.readouterr().out
    # tau with the message's own transmission: 7.4512 us, 9,314 B
    for words in ("7.4512 us", "9314 B", "262744 B", "281372 B", "68.71 Mb/s, 0.69 %"):
        assert words in text
    assert "N = 16 stages" in text
    assert "warning" not in text
    size("", example | {"b1": "281373B"})
    told = capsys.readouterr().out
    assert "Bm - B1 = 18627 B is less than 2 C tau = 18628 B" in told


def test_stages_begin_below_bm(capsys: pytest.CaptureFixture[str]) -> None:
    """The command and the function refuse a first stage that is none."""
    assert size("", {"bm": "300KB", "b1": "300KB"}) == 2
    assert "below Bm = 300000 B" in capsys.readouterr().err
    with pytest.raises(ValueError, match="below Bm"):
        gfc.stages(GBPS, 5, 5)


OUTSIDE = (
    """
title = "Outside the bounds"

[run]
duration = "100us"

"""
    + STAR
    + """
[conceptual-gfc]
bm = "100KB"
b0 = "99KB"

[multi-stage-gfc]
bm = "100KB"
b1 = "99KB"

[time-based-gfc]
buffer = "100KB"
bm = "100KB"
b0 = "99KB"

[variants.Conceptual]
flow_control = ["conceptual-gfc"]

[variants.Stages]
flow_control = ["multi-stage-gfc"]

[variants.TimeBased]
flow_control = ["time-based-gfc"]
"buffer.threshold" = "static"
"buffer.xoff" = "120KB"
"""
)


@pytest.mark.cpp
def test_a_user_sees_the_warnings(tmp_path: Path) -> None:
    """Outside its bound every scheme runs, and output and report quote both sides."""
    file = tmp_path / "outside.toml"
    file.write_text(OUTSIDE)
    done = called(
        [sys.executable, "-m", "invoke", "experiment", str(file)],
        cwd=ROOT,
        env=os.environ | {"PYORCH_ROOT": str(ROOT), "PYORCH_RESULTS": str(tmp_path / "results")},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    (page,) = (tmp_path / "results").rglob("report/index.html")
    for scheme, sides in (
        ("ConceptualGfc", r"Bm - B0 = 1 KB is less than 4 C tau = [\d.]+ KB"),
        ("MultiStageGfc", r"Bm - B1 = 1 KB is less than 2 C tau = [\d.]+ KB"),
        ("TimeBasedGfc", r"Bm - B0 = 1 KB is less than C \(Period \+ tau\) = [\d.]+ KB"),
    ):
        words = f"ns3::gfc::{scheme}: {sides}: outside the sufficient bound"
        assert re.search(rf"^warning: +in 1 of 3 runs \(.*\): {words}", done.stderr, re.MULTILINE)
        assert re.search(words, page.read_text(encoding="utf-8"))


@pytest.mark.cpp
def test_the_simulated_schemes_use_the_same_numbers() -> None:
    """tau, what it is in bytes, and the stages of the C++ model, for 200 random links."""
    draw = np.random.default_rng(1)
    cases = [
        {
            "rate": int(draw.integers(10**8, 8 * 10**11)),
            "delay": int(draw.integers(10**8)),
            "mtu": int(draw.integers(64, 10_000)),
            "overhead": int(draw.integers(40)),
            "processing": int(draw.integers(10**8)),
            "message": int(draw.integers(64, 129)),
            "min_gap": int(draw.integers(10**7)),
        }
        for _ in range(200)
    ]
    code = """
        import json, pathlib, sys
        from pyorch.build import read_build
        from pyorch.run.ns3 import load_all
        ns3 = load_all(read_build(pathlib.Path(sys.argv[1])))
        for case in json.load(sys.stdin):
            rate, overhead = case["rate"], case["overhead"]
            tau = case["min_gap"] + ns3.gfc.FeedbackLatency(
                rate,
                case["delay"],
                case["mtu"] + overhead,
                case["message"] + overhead,
                case["processing"],
            )
            table = ns3.gfc.MakeStages(10**7 - 12345, 10**7, 0.5, rate, 8000)
            print(json.dumps([
                tau, ns3.lossless.BytesInTime(rate, tau), [[s.start, s.rate] for s in table]
            ]))
    """
    done = called(
        [sys.executable, "-c", textwrap.dedent(code), str(ensure_built(quiet=True).folder)],
        input=json.dumps(cases),
    )
    assert done.returncode == 0, done.stderr
    for case, line in zip(cases, done.stdout.splitlines(), strict=True):
        link, bm = gfc.Link(**case), 10**7
        in_bytes = bm - gfc.largest_b0(link.rate, link.latency, bm)
        assert json.loads(line) == [
            link.latency,
            in_bytes // 4,
            [[stage.start, stage.rate] for stage in gfc.stages(link.rate, bm - 12_345, bm)],
        ]
        assert 2 * (bm - gfc.largest_b1(link.rate, link.latency, bm)) == in_bytes
