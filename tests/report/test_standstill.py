"""Deadlocks and stalls in sentences: of the first run, with names from its notes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pyorch.report import gallery
from pyorch.report.standstill import deadlock, plain, readable, stall
from pyorch.report.write import write_report
from tests.report.test_report import experiment, make_store, study

US = 10**6
CYCLE = (
    "deadlock, formed at 218305432 ps in class 3: leaf0:spine1 waits for spine1:leaf1 waits for "
    "leaf1:spine0 waits for spine0:leaf0 waits for leaf0:spine1; 5 other queues are stuck; "
    "first pause: h3:leaf0 at 200000000 ps, a host, 7 pauses before the last"
)
DEADLOCKED = {
    "deadlocked": 1,
    "deadlocked_at_end": 1,
    "deadlock_formed_ps": 218305432,
    "deadlock_cycle_queues": 4,
}
STORM = (
    "blocked by a host, formed at 104000000 ps in class 3: 12 queues wait for a host that pauses "
    "forever; first pause: h1:leaf0 at 100000000 ps, a host, 3 pauses before the last"
)
BLOCKED = {
    "last_delivery_ps": 490 * US,
    "end_ps": 6000 * US,
    "flows_unfinished": 49,
    "blocked_by_host": 1,
    "blocked_by_host_queues": 12,
}
OF_STORM = (
    "nothing arrived after 490 µs of 6 ms, and 49 messages wait; "
    "12 queues wait for the host h1, which pauses leaf0 forever from 100 µs on"
)


def test_a_deadlock_is_told_with_its_cycle_and_its_beginning() -> None:
    """In readable units; without names as far as the numbers go."""
    told = "at 218.305 µs among leaf0 → spine1 → leaf1 → spine0 → leaf0"
    began = (
        ", closed by a chain of pauses that began with the host h3, which paused leaf0 at 200 µs"
    )
    assert deadlock(DEADLOCKED, [STORM, CYCLE]) == told + began
    ended = CYCLE.replace(" in class 3", " in class 3 and dissolved at 300000000 ps")
    assert deadlock(DEADLOCKED, [ended]) == f"{told}, until 300 µs{began}"
    of_switch = CYCLE.replace("h3:leaf0", "leaf0:h3").replace(
        "a host", "for frames to leaf0:spine1"
    )
    alone = of_switch.replace("7 pauses", "0 pauses")
    assert deadlock(DEADLOCKED, [alone]).endswith("closed by leaf0, which paused h3 at 200 µs")
    assert deadlock(DEADLOCKED, []) == "at 218.305 µs among 4 queues"
    assert deadlock({"deadlocked": 0}, [STORM]) == ""
    many = " waits for ".join(f"s{n}:s{(n + 1) % 20}" for n in [*range(20), 0])
    text = deadlock(
        DEADLOCKED | {"deadlock_cycle_queues": 20}, [CYCLE.replace(_ports(CYCLE), many)]
    )
    assert "among 20 queues (s0 → s1 → s2 → s3 → s4 → s5 → s6 → s7 → …), closed" in text
    assert plain("a → b … 1 µs") == "a -> b ... 1 us"


def _ports(note: str) -> str:
    return note.partition(": ")[2].partition(";")[0]


def test_a_stall_is_told_with_the_host_that_is_waited_for() -> None:
    """Nothing is said of a run in which data still arrived."""
    assert stall(BLOCKED, [CYCLE, STORM]) == OF_STORM
    assert stall(BLOCKED, []).endswith("12 queues wait for a host that pauses forever")
    assert stall(BLOCKED | {"blocked_by_host": 0}, []) == OF_STORM.partition(";")[0]
    assert stall(BLOCKED | {"blocked_by_host": 0, "last_delivery_ps": 5900 * US}, []) == ""
    never = {"last_delivery_ps": -1, "end_ps": US, "flows_unfinished": 1}
    assert stall(never, []) == "nothing arrived until the end at 1 µs, and 1 message waits"
    assert stall({"flows_unfinished": 0, "end_ps": US}, []) == ""


def test_times_of_notes_are_readable() -> None:
    """Short ones stay as they are."""
    assert readable("formed at 218305432 ps, 12 ps after") == "formed at 218.305 µs, 12 ps after"


@pytest.mark.parametrize("seeds", [1, 2])
def test_a_report_begins_with_what_is_stuck(seeds: int, tmp_path: Path) -> None:
    """Above the answer on the page, and first on the card of the gallery."""
    specs = study(seeds)
    store = make_store(specs)
    for spec in specs:
        content: dict[str, Any] = store.summaries[spec.hash("")]
        is_pfc = spec.params["variant"] == "PFC"
        calm = {"deadlocked": 0, "deadlocked_at_end": 0, "blocked_by_host": 0}
        content["summary"] |= calm | (DEADLOCKED if is_pfc else BLOCKED)
        content["notes"] = [CYCLE if is_pfc else STORM]
    folder = tmp_path / "gfc/fake/report"
    page = write_report(experiment([]), store, specs, folder).index.read_text(encoding="utf-8")
    some, every = seeds, 2 * seeds
    sentences = [
        f"Deadlock in {some} of {every} runs (PFC). In the first of these at 218.305 µs among",
        (
            f"No deadlock, but no progress in {some} of {every} runs (GFC). "
            f"In the first of these: {OF_STORM}."
        ),
    ]
    places = [page.index(sentence) for sentence in (*sentences, '<p class="soft">')]
    assert places == sorted(places)
    assert "218305432" not in page
    (card,) = gallery.cards(tmp_path)
    assert card.summary.stuck[1] == sentences[1]
    text = gallery.render([card])
    assert text.index(sentences[0]) < text.index(sentences[1]) < text.index(card.summary.found)


def test_a_report_of_one_run_needs_no_count(tmp_path: Path) -> None:
    """And one in which all went well does not begin with it."""
    (spec,) = study()[:1]
    for more, wanted in ((DEADLOCKED, ["Deadlock at 218.305 µs among 4 queues."]), ({}, [])):
        store = make_store([spec])
        store.summaries[spec.hash("")]["summary"] |= more
        folder = tmp_path / str(len(more)) / "gfc/fake/report"
        write_report(experiment([]), store, [spec], folder)
        (card,) = gallery.cards(folder.parents[2])
        assert [*card.summary.stuck] == wanted


def test_a_report_says_what_is_overloaded(tmp_path: Path) -> None:
    """What queues do there depends on the duration, which a reader of the page must know."""
    specs = study(1)
    what = "in all 2 runs: leaf0 -> h0 gets 101 % of its 100Gbps"
    result = write_report(experiment([]), make_store(specs), specs, tmp_path, overloads=[what])
    assert f"Offered {what.replace('>', '&gt;')}." in result.index.read_text(encoding="utf-8")
