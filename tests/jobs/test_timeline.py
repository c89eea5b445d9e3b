"""Bars of ranks: their places, and output in the documented trace event format."""

from __future__ import annotations

import json
import math
import tomllib
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyorch.addons.jobs.goal_of_flows import goal_of_flows
from pyorch.addons.jobs.timeline import Bar, bars_of, trace_events, trace_text, untraced
from pyorch.metrics import RunTables, parse
from pyorch.report.figures import MODELS, FigureError
from pyorch.report.style import paper_style
from pyorch.traffic import base as traffic
from tests.forms import network_of, setting_of
from tests.strategies import ROOT, network
from tests.traffic.test_traffic import MS, STAR, resolve

US = 10**6


def check_format(document: Any) -> None:
    """What "Trace Event Format" asks of an object with complete and metadata events."""
    assert isinstance(document["traceEvents"], list)
    assert document["displayTimeUnit"] in {"ms", "ns"}
    threads: dict[tuple[int, int], list[tuple[float, float]]] = {}
    named = set()
    for event in document["traceEvents"]:
        assert isinstance(event["name"], str)
        assert event["ph"] in {"X", "M"}
        assert type(event["pid"]) is int
        assert type(event["tid"]) is int
        assert event["ts"] >= 0
        if event["ph"] == "M":
            assert event["name"] in {"process_name", "process_sort_index", "thread_name"}
            if event["name"] == "thread_name":
                named.add((event["pid"], event["tid"]))
            continue
        assert event["dur"] >= 0
        assert isinstance(event["cat"], str)
        ends = (event["args"]["begin_ps"], event["args"]["end_ps"])
        assert event["ts"] == ends[0] / 1e6
        threads.setdefault((event["pid"], event["tid"]), []).append(ends)
    assert named == set(threads)
    for spans in threads.values():  # the events of a thread nest
        open_: list[float] = []
        for begin, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            while open_ and open_[-1] <= begin:
                open_.pop()
            assert not open_ or end <= open_[-1]
            open_.append(end)


BARS = st.builds(
    Bar,
    lane=st.sampled_from(["h0", "h1"]),
    label=st.sampled_from(["a", "b"]),
    name=st.sampled_from(["x", "y"]),
    category=st.sampled_from(["collective", "compute", "pause"]),
    begin=st.integers(0, 30),
    end=st.integers(30, 60),
) | st.builds(
    Bar,
    st.just("h0"),
    st.just("a"),
    st.just("x"),
    st.just("message"),
    st.integers(0, 9),
    st.integers(9, 20),
)


@given(st.lists(BARS, max_size=30))
@pytest.mark.slow
def test_events_of_a_thread_nest(bars: list[Bar]) -> None:
    """However bars overlap; and none is lost."""
    document = trace_events(bars, ["h0", "h1"])
    check_format(document)
    found = [event for event in document["traceEvents"] if event["ph"] == "X"]
    assert sorted((e["name"], e["args"]["begin_ps"], e["args"]["end_ps"]) for e in found) == sorted(
        (bar.name, bar.begin, bar.end) for bar in bars
    )


def tables(entries: list[dict[str, Any]], rows: list[tuple[int, int, int, int]]) -> RunTables:
    """A run of entries with these flows: source, destination, start and end."""
    forms = [resolve(entry)[0] for entry in entries]
    star = {"kind": "star", "hosts": 6, "rate_bps": 10**10, "delay_ps": 10**6}
    setting = replace(setting_of({"topology": star}), traffic=forms)
    columns = np.array(rows, dtype=np.int64).T
    names = ("src", "dst", "start_ps", "finish_ps")
    pauses = {"side": [1, 0], "node": [6, 6], "peer": [0, 1], "class": [3, 3]}
    pauses |= {"start_ps": [5, 5], "end_ps": [9, -1]}
    flow = dict(zip(names, columns, strict=True))
    return RunTables(
        setting, 1, [*STAR.names], {"end_ps": 99 * US}, {"flow": flow, "pause": pauses}
    )


def test_a_part_lasts_from_what_is_sent_to_what_is_received() -> None:
    """A host computes from the start of its job; what did not end lasts to the end of the run."""
    phase = {"name": "sum", "operation": "all_reduce", "hosts": "h0..h1", "size": "2KB"}
    entry = {"kind": "collective", "label": "job", "collectives": [phase | {"delay": "4us"}]}
    rows = [(0, 1, 5, 9), (1, 0, 6, 8), (0, 1, 8, 12), (1, 0, 9, -1)]
    run = tables([entry], [(a, b, s * US, e * US if e > 0 else -1) for a, b, s, e in rows])
    bars = [bar for bar in bars_of(run) if bar.category != "pause"]
    assert [(b.lane, b.name, b.begin // US, b.end // US) for b in bars] == [
        ("h0", "before sum", 0, 4),
        ("h1", "before sum", 0, 4),
        ("h0", "sum", 5, 99),
        ("h1", "sum", 6, 12),
    ]
    (pause,) = [bar for bar in bars_of(run) if bar.category == "pause"]
    assert (pause.lane, pause.label, pause.begin, pause.end) == ("s0", "towards h0", 5, 9)
    check_format(json.loads(trace_text(run)))


def test_a_timeline_without_pauses_says_that_none_were_traced() -> None:
    """The figure in its notes; the times of the whole network win over those of some ports."""
    entry = {"kind": "permutation", "label": "job", "size": "2KB", "shift": 1}
    run = tables([entry], [(n, (n + 1) % 6, 0, 9) for n in range(6)])
    runs = pd.DataFrame([{"hash": "x", "seed": 1, "variant": ""}])
    data: Any = SimpleNamespace(runs=runs, settings=[], run=lambda _: run)
    form = MODELS["rank_timeline"].model_validate({"name": "x", "kind": "rank_timeline"})

    def pauses() -> list[tuple[str, int]]:
        return [(bar.lane, bar.end) for bar in bars_of(run) if bar.category == "pause"]

    assert (untraced(run), pauses()) == ([], [("s0", 9)])
    tree = {"node": [0], "peer": [6], "class": [3], "start_ps": [4], "end_ps": [7]}
    run = replace(run, tables=run.tables | {"pause_tree": tree})
    assert (untraced(run), pauses()) == ([], [("h0", 7)])
    run = replace(run, tables={"flow": run.tables["flow"]})
    run.summary["pauses_sent"] = 278.0
    assert pauses() == []
    (hint,) = untraced(run)
    assert "278" in hint
    assert "pause_tree" in hint
    with paper_style():
        assert hint in form.draw(data).notes


def test_calcs_of_a_schedule_are_there() -> None:
    """When they began follows from when messages arrived; a straggler takes longer."""
    text = """num_ranks 2
    rank 0 { a: calc 3000
      s: send 9b to 1
      s requires a }
    rank 1 { r: recv 9b from 0
      w: calc 2000
      w requires r }
    """
    entry = {"kind": "goal", "label": "job", "schedule": text, "start": "1us", "hosts": "h2..h3"}
    entry["stragglers"] = [{"hosts": "h3", "slowdown": 1.5}]
    run = tables([entry], [(2, 3, 4 * US, 9 * US)])
    bars = [bar for bar in bars_of(run) if bar.category != "pause"]
    assert [(b.lane, b.name, b.begin // US, b.end // US) for b in bars] == [
        ("h2", "calc", 1, 4),
        ("h2", "to h3", 4, 9),
        ("h3", "calc", 9, 12),
    ]

    def value(kind: str) -> float | None:
        return parse({"name": "m", "kind": kind, "traffic": "job"}).value(run)

    # 3 us before the message and 3 us after it
    assert (value("job_time"), value("collective_time")) == (11 * US, 5 * US)
    runs = pd.DataFrame([{"hash": "x", "seed": 1, "variant": ""}])
    run.summary["end_ps"] = 9 * US  # as a run that stops when all has arrived
    data: Any = SimpleNamespace(runs=runs, settings=[], run=lambda _: run)
    for keys, end in (({}, 12), ({"until": "8us"}, 8)):
        form = MODELS["rank_timeline"].model_validate(
            {"name": "x", "kind": "rank_timeline", **keys}
        )
        with paper_style():
            assert form.draw(data).canvas.axes[0].get_xlim() == (0, end)
    run = tables([entry], [(2, 3, 4 * US, -1)])
    assert value("job_time") == math.inf


def test_the_trace_of_a_study_is_its_job() -> None:
    """The file that is shipped is what the command writes today."""
    folder = ROOT / "experiments" / "ai"
    study = tomllib.loads((folder / "iteration.toml").read_text())
    net = network(**study["topology"])
    form, problems = resolve(study["traffic"][0], net)
    assert form is not None, problems
    text, _ = goal_of_flows(traffic.flows([form], net, 1, MS), net.names)
    assert (folder / "iteration.goal").read_text() == text


def test_metrics_of_a_job_are_sums_over_rounds_and_groups() -> None:
    """Two rounds of an all-reduce in pairs, of which h3 is late; what never ended is endless."""
    phase = {"name": "sum", "operation": "all_reduce", "group_size": 2, "size": "2KB"}
    job = {"kind": "collective", "label": "job", "repeat": 2, "hosts": "h0..h3"}
    ends = [(0, 1), (1, 0), (0, 1), (1, 0), (2, 3), (3, 2), (2, 3), (3, 2)]
    first = [(5, 9), (6, 8), (8, 12), (9, 11), (5, 8), (7, 9), (8, 10), (9, 15)]
    second = [(start + 20, end + 20) for start, end in first[:-1]] + [(29, 39)]
    rows = [(*pair, s * US, e * US) for pair, (s, e) in zip(ends * 2, first + second, strict=True)]
    run = tables([job | {"collectives": [phase]}], rows)

    def value(kind: str, **keys: Any) -> float | None:
        return parse({"name": "m", "kind": kind, "traffic": "job", **keys}).value(run)

    # rounds end at 15 and 39; the first counts from 5, the job from its start
    assert (value("job_time"), value("collective_time")) == (39 * US, 34 * US)
    assert value("iteration_time") == (10 + 24) / 2 * US
    assert value("iteration_time", of="max") == 24 * US
    # h1 is 1 us late in both rounds, h3 2 us; all others begin first
    assert value("lateness") == 4 * US
    assert value("lateness", host="h1") == 2 * US
    assert value("lateness", of="mean") == 6 * US / 4
    # groups take 7, 10, 7 and 14 us; of two ranks the factor is 1
    assert value("bus_bandwidth", collective="sum") == 2000 * 8 * 4e6 / (7 + 10 + 7 + 14)
    rows[-1] = (3, 2, 29 * US, -1)
    run = tables([job | {"collectives": [phase]}], rows)
    assert value("iteration_time") == math.inf
    assert value("bus_bandwidth", collective="sum") == 0


def test_named_messages_of_a_schedule_have_the_metrics_of_collectives() -> None:
    """Two rounds of different sizes, and a message without a name."""
    text = "num_ranks 2\nrank 0 {\nsend 9b to 1 tag 4\nsend 9b to 1 tag 6\nsend 9b to 1 tag 5\n}\n"
    text += "rank 1 {\nrecv 9b from 0 tag 4\nrecv 9b from 0 tag 5\nrecv 9b from 0 tag 6\n}\n"
    keys = {"name": "send", "operation": "broadcast"}
    named = [keys | {"size": "3KB", "tags": [6, 9]}, keys | {"size": "1KB", "tags": [4, 4]}]
    entry = {"kind": "goal", "label": "job", "schedule": text, "collectives": named}
    run = tables([entry], [(0, 1, s * US, e * US) for s, e in ((1, 3), (4, 10), (11, 17))])

    def value(kind: str, **keys: Any) -> float | None:
        return parse({"name": "m", "kind": kind, "traffic": "job", **keys}).value(run)

    assert value("bus_bandwidth", collective="send") == 4000 * 8e6 / (2 + 6)
    assert value("collective_time", collective="send") == 9 * US
    assert value("collective_time") == 16 * US
    assert value("lateness", host="h1") == 0
    assert value("bus_bandwidth", collective="other") is None
    assert value("collective_time", collective="other") is None
    assert value("iteration_time") is None
    shown = [(b.lane, b.name, b.round, b.begin // US) for b in bars_of(run) if b.begin >= US]
    assert shown == [
        *((lane, "send", 1, 1) for lane in ("h0", "h1")),
        *((lane, "send", 0, 4) for lane in ("h0", "h1")),
        ("h0", "to h1", 0, 11),
    ]


def test_what_overlaps_is_stacked_and_long_legends_end() -> None:
    """A named message beside a calc, and calcs of two CPUs, of which one hides the other."""
    text = "num_ranks 2\nrank 0 {\n  calc 9000\n  calc 5000 cpu 1\n"
    text += "".join(f"  send 9b to 1 tag {n}\n" for n in range(30))
    text += "}\nrank 1 {\n" + "".join(f"  recv 9b from 0 tag {n}\n" for n in range(30)) + "}\n"
    named = [
        {"name": f"{n}" * 60, "operation": "broadcast", "size": "9B", "tags": [n, n]}
        for n in range(30)
    ]
    entry = {"kind": "goal", "label": "job", "schedule": text, "collectives": named}
    # one after the other, from 3 us on
    run = tables([entry], [(0, 1, (3 + n) * US, (4 + n) * US) for n in range(30)])
    runs = pd.DataFrame([{"hash": "x", "seed": 1, "variant": ""}])
    data: Any = SimpleNamespace(runs=runs, settings=[], run=lambda _: run)
    form = MODELS["rank_timeline"].model_validate({"name": "x", "kind": "rank_timeline"})
    with paper_style():
        drawn = form.draw(data)
    (axes,) = drawn.canvas.axes
    boxes = sorted(
        path.get_extents().bounds
        for drawing in axes.collections
        for path in drawing.get_paths()
        if path.get_extents().y1 < 0.5  # h0
    )
    # left, low, length and height
    wanted = [(0, -0.35, length, 0.35) for length in (5, 9)]
    wanted += [(begin, 0, 1, 0.35) for begin in range(3, 9)]
    wanted += [(begin, -0.35, 1, 0.7) for begin in range(9, 33)]
    assert np.allclose(boxes, wanted)
    (legend,) = drawn.canvas.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts[0] == "0" * 20 + "…" + "0" * 19
    assert len(texts) == 24 + 1
    assert drawn.notes[-1] == "The legend names 24 of 30 collectives."


def test_of_many_hosts_some_from_all_over_are_shown() -> None:
    """Every third of 130, which the caption says; as many as are named, up to 64."""
    count = 130
    topology = {"kind": "star", "hosts": count, "rate_bps": 10**9, "delay_ps": US}
    entry = resolve({"kind": "permutation", "size": "1KB", "shift": 1}, network_of(topology))[0]
    hosts = np.arange(count)
    flow = {"src": hosts, "dst": (hosts + 1) % count, "start_ps": 0 * hosts}
    flow["finish_ps"] = flow["start_ps"] + 9 * US
    setting = replace(setting_of({"topology": topology}), traffic=(entry,))
    names = [f"h{n}" for n in range(count)] + ["s0"]
    run = RunTables(setting, 1, names, {"end_ps": 10 * US}, {"flow": flow})
    runs = pd.DataFrame([{"hash": "x", "seed": 1, "variant": ""}])
    data: Any = SimpleNamespace(runs=runs, settings=[], run=lambda _: run)

    def lanes(**keys: Any) -> tuple[list[str], Any]:
        entry = {"name": "x", "kind": "rank_timeline", **keys}
        with paper_style():
            drawn = MODELS["rank_timeline"].model_validate(entry).draw(data)
        return [text.get_text() for text in drawn.canvas.axes[0].get_yticklabels()], drawn.notes

    shown, notes = lanes()
    assert shown == [f"h{n}" for n in range(0, count, 3)]
    assert notes[-1] == "44 of 130 hosts; choose others with 'hosts'."
    assert lanes(hosts=names[:64])[0] == names[:64]
    with pytest.raises(FigureError, match="65 hosts do not fit; choose up to 64"):
        lanes(hosts=names[:65])
