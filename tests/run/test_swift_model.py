"""What the study of Swift's target expects is what a second model computes."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from pyorch.base import units
from tests.swift_fifo import mean_queue

STUDY = Path(__file__).parents[2] / "experiments" / "rdma" / "swift-target.toml"


@pytest.mark.parametrize(
    ("variant", "flows", "increase"),
    [
        ("N = 2", 2, 1.0),
        ("N = 8", 8, 1.0),
        ("N = 32", 32, 1.0),
        ("N = 128", 128, 1.0),
        ("N = 128, fine", 128, 0.05),
    ],
)
@pytest.mark.slow
def test_expected_queue_is_that_of_the_second_model(
    variant: str, flows: int, increase: float
) -> None:
    """The numbers of the study come from the model, and not from the simulator."""
    study = tomllib.loads(STUDY.read_text(encoding="utf-8"))
    [expected] = [
        entry["expected"]
        for entry in study["expect"]
        if entry["metric"] == "port_queue" and entry["where"] == {"variant": variant}
    ]
    modelled = mean_queue(flows, increase, flow_range=100.0, since=30e3, until=60e3)
    assert units.parse_bytes(expected) == pytest.approx(modelled, abs=1)
