"""The numbers of answers on the pages of schemes are those of docs/reproduction.csv.

An answer is checked where one of its numbers is what an expectation of a claim measured. Such a
number stays behind when runs change, for nobody reads it again.
"""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.inputs import ROOT
from tools.docs import SCHEMES
from tools.reproduction.page import from_csv

STOPS = "SFC from the far ToR: the source stops within 10 us, wires and all chips counted"
SENT = "SFC: bytes sent until the source stops"
INGRESS = "SFC: the congested switch gets no more of the flow"
ANSWERS = [
    # study, its answer's words around the number, the expectation that measures it
    ("dcfit/recurrence", "comes back, {} times", "broken only: it comes back"),
    (
        "dcfit/recurrence",
        "the last of {} forms",
        "broken and its trigger treated: from the start no deadlock comes back",
    ),
    (
        "dcfit/recurrence",
        "forms at {} ms",
        "broken and its trigger treated: no deadlock forms between 20 and 60 ms",
    ),
    ("gfc/two-to-one", "swings between {} and", "PFC: lowest queue (fluid model)"),
    ("gfc/two-to-one", "and {} KB, within", "PFC: highest queue (fluid model)"),
    ("gfc/two-to-one", "settles at {} KB", "GFC: the queue settles at Bs"),
    (
        "gfc/no-latency",
        "peak is {} KB with frames of 1500 B",
        "conceptual GFC, frames of 1500 B: no overshoot above Bs",
    ),
    (
        "gfc/no-latency",
        "of 1500 B, {} with 100",
        "conceptual GFC, frames of 100 B: no overshoot above Bs",
    ),
    ("gfc/pause-length", "from {} us with", "XOFF - XON = 3 KB: length of a pause"),
    ("gfc/pause-length", "to {} with 40 KB", "XOFF - XON = 40 KB: length of a pause"),
    (
        "gfc/schemes",
        "conceptual, {} under multi-stage",
        "multi-stage GFC: the queue holds in stage 1, whose rate is the drain rate: B1 + C tau / 2",
    ),
    ("sfc/microburst", "loses {} frames", "DCQCN: frames of the micro-burst are lost"),
    ("sfc/reaction", "far ToR after {} us", STOPS),
    ("sfc/reaction", "us and {} KB, or", SENT),
    ("sfc/reaction", "or {} and", STOPS),
    ("sfc/reaction", "8.60 and {} if a NIC", SENT),
    ("sfc/reaction", "comes after {} or", INGRESS),
    ("sfc/reaction", "16.2 or {} us", INGRESS),
]
_NUMBER = r"\d[\d,]*(?:\.\d+)?"


@cache
def measured() -> dict[tuple[str, str], str]:
    """What every expectation of a claim measured, as text, by study and expectation."""
    text = (ROOT / "docs" / "reproduction.csv").read_text(encoding="utf-8")
    return {(row.study, row.evidence): row.ours for row in from_csv(text)}


@cache
def answers() -> dict[str, str]:
    """The answer of every study on the pages of schemes."""
    pages = [(ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in SCHEMES]
    return dict(re.findall(r"^- `([\w-]+/[\w-]+)`: (.*)$", "\n".join(pages), re.MULTILINE))


def is_one_of(said: str, ours: str) -> bool:
    """Whether a number is one of a text's, rounded to as many digits."""
    digits = len(said.partition(".")[2])
    found = (float(text.replace(",", "")) for text in re.findall(_NUMBER, ours.partition("(")[0]))
    half = 0.5001 * 10**-digits
    return any(abs(number - float(said.replace(",", ""))) <= half for number in found)


@pytest.mark.parametrize(("study", "words", "evidence"), ANSWERS)
def test_a_number_of_an_answer_is_the_measured_one(study: str, words: str, evidence: str) -> None:
    """To the digits that the answer shows."""
    before, after = words.split("{}")
    found = re.search(f"{re.escape(before)}({_NUMBER}){re.escape(after)}", answers()[study])
    assert found, f"docs: the answer of {study} no longer says '{words}'"
    ours = measured()[study, evidence]
    assert is_one_of(found[1], ours), f"{study} says {found[0]}; measured: {ours}"


@pytest.mark.parametrize(
    ("said", "ours", "same"),
    [
        ("332", "0 to 332 (2 settings)", True),
        ("309", "0 to 332 (2 settings)", False),
        ("2", "332 (2 settings)", False),
        ("17.5", "17.47 ms (1 run)", True),
        ("17.7", "17.47 ms (1 run)", False),
        ("20,234", "30 to 20,234", True),
    ],
)
def test_numbers_are_compared_to_the_digits_shown(said: str, ours: str, *, same: bool) -> None:
    """Counts of settings and runs are none."""
    assert is_one_of(said, ours) == same
