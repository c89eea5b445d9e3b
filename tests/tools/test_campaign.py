"""A small part of the campaign (docs/reliability.md): the same cases each time, in some seconds."""

from __future__ import annotations

import sys

import pytest

from tests.campaign import mutate
from tests.campaign.project import to_toml
from tests.inputs import called

CASES, RUNS = 100, 30


@pytest.mark.cpp
def test_nonsense_is_refused_and_odd_runs_are_sane() -> None:
    """In a process of its own, because it forks; what failed is in its output."""
    command = [sys.executable, "-m", "tests.campaign", "--seed", "2026"]
    command += ["--cases", str(CASES), "--runs", str(RUNS)]
    done = called(command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"| all | {CASES + RUNS} |" in done.stdout


@pytest.mark.slow
def test_the_same_seed_gives_the_same_mutations() -> None:
    """So that a failure can be done again, and a campaign repeated elsewhere."""
    document = {"a": {"b": [1, "10us", {"c": True}]}, "d": "x"}
    for number in range(200):
        first, again = (
            mutate.change_document(mutate.generator(5, number), document) for _ in range(2)
        )
        assert repr(first) == repr(again)
        assert isinstance(to_toml(first[0]), str)
    assert document == {"a": {"b": [1, "10us", {"c": True}]}, "d": "x"}
