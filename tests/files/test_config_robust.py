"""Overrides that make no sense are refused in words; of damaged files see tests.campaign."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.strategies import MINIMAL, complaints

FULL = (
    'flow_control = ["pfc"]\n'
    + MINIMAL
    + """
[[trace]]
table = "queue"
[variants.A]
"buffer.xoff" = "80KB"
[sweep]
"buffer.alpha" = [1, 2]
[[metric]]
name = "peak"
kind = "max"
port = "s0:h0"
class = 3
"""
)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("buffer.alpha=,", "--set buffer.alpha=,: a value between commas is missing"),
        ("buffer.alpha=1,,2", "--set buffer.alpha=1,,2: a value between commas is missing"),
        ("sweep=1", "--set sweep=1: 1 is not a table"),
        ("variants.A=3", "--set variants.A=3: 3 is not a table"),
        ("traffic.9.class=1", "--set traffic.9.class=1: 'traffic' has no entry '9'"),
        ("flow_control=pfc", "--set flow_control=pfc: 'pfc' is not allowed"),
        ("buffer.alpha={", "--set buffer.alpha={: '{' is not a number"),
        ("trace.0.ports=[1]", "--set trace.0.ports=[1] (0): 1 is not allowed"),
        ("trace.0.classes=x", "--set trace.0.classes=x: 'x' is not allowed"),
        ("metric.0.port=true", "--set metric.0.port=true: True is not allowed"),
        ("topology.hosts=4,4", "experiments/x.toml: sweep.topology.hosts: duplicate value: 4"),
    ],
)
def test_odd_overrides_are_refused_in_words(tmp_path: Path, override: str, message: str) -> None:
    """A --set that makes no sense is answered with what was typed."""
    assert complaints(tmp_path, FULL, override)[0].startswith(message)
