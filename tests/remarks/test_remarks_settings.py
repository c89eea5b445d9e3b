"""What makes a scheme useless is said before the run: just below a bound, and not just above it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pyorch import Greedy, Incast, LeafSpine, Messages, Poisson, Run, Star, Study, UserError
from pyorch.base.findings import Findings
from pyorch.base.paths import Paths
from pyorch.build import ensure_built, load_schema
from pyorch.files.load import load_experiment
from pyorch.files.presets import read_presets
from pyorch.plan import expand
from pyorch.remarks import of_plan
from pyorch.setting.attributes import catalogue, number, resolve_section
from pyorch.sizing.theory import time_of
from tests.inputs import ROOT

pytestmark = pytest.mark.cpp
MS, US = 10**9, 10**6


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """This project with results of its own."""
    monkeypatch.delenv("PYORCH_MODULE_PATH", raising=False)
    return Paths(ROOT, tmp_path / "results")


def study(paths: Paths, **more: Any) -> Study:
    """A flow from h0 to h1 through a switch at 25 Gb/s, with PFC."""
    return Study(
        **{
            "name": "mine",
            "title": "Mine",
            "topology": Star(hosts=2, rate="25Gbps", delay="1us"),
            "traffic": Messages(messages=[{"src": "h0", "dst": "h1", "size": "10KB"}]),
            "run": Run(duration="1ms"),
            "flow_control": ["pfc"],
            "paths": paths,
            **more,
        }
    )


def said(paths: Paths, **more: Any) -> list[str]:
    """The remarks on the plan of a study."""
    return study(paths, **more).remarks


def about(remarks: list[str], word: str) -> list[str]:
    """The remarks that have a word."""
    return [remark for remark in remarks if word in remark]


# ---------------------------------------------------------------------------------------------
# Round trips


def base_rtt(rate: int, delay: int, payload: int = 1000) -> int:
    """The base round trip [ps] through one switch: two links there and two back."""
    return 4 * delay + 2 * time_of(payload + 48 + 20, rate) + 2 * time_of(64 + 20, rate)


@pytest.mark.parametrize("payload", [1000, 300])
@pytest.mark.parametrize("above", [-1, 1])
def test_a_timeout_below_the_base_round_trip_resends_what_was_not_lost(
    paths: Paths, above: int, payload: int
) -> None:
    """What the simulator does and what is said before change at the same picosecond."""
    rtt = base_rtt(25 * 10**9, 2 * US, payload)
    one = study(
        paths,
        topology=Star(hosts=2, rate="25Gbps", delay="2us"),
        traffic=Messages(messages=[{"src": "h0", "dst": "h1", "size": f"{payload}B"}]),
        queue_pair={"timeout": f"{rtt + above}ps"},
        run=Run(duration="1ms", stop_when_done="acked"),
    )
    found = about(one.remarks, "queue_pair.timeout")
    assert len(found) == (above < 0)
    assert all("from h0 to h1" in text for text in found)
    resent = int(one.run(jobs=1, progress=False).table("flow")["retransmitted_bytes"].sum())
    assert (resent > 0) == (above < 0)


def test_each_timeout_is_held_against_the_longest_path(paths: Paths) -> None:
    """Of a setting, and of each of several; without loss recovery there is none."""
    rtt = base_rtt(25 * 10**9, MS)
    far = {"topology": Star(hosts=2, rate="25Gbps", delay="1ms"), "run": Run(duration="9ms")}
    for name in ("timeout", "short_timeout"):
        for time, count in ((rtt - 1, 1), (rtt + 1, 0)):
            values = {"timeout": "1s", name: f"{time}ps"}
            assert len(about(said(paths, **far, queue_pair=values), f"{name} 4 ms")) == count
    values = {"timeout": "1ms", "retransmit": "none"}
    assert about(said(paths, **far, queue_pair=values), "timeout") == []
    swept = study(paths, **far).sweep("queue_pair.timeout", ["1ms", "2ms", "5ms"])
    (text,) = about(swept.remarks, "timeout")
    assert text.startswith("warning:    in 2 of 3 runs (queue_pair.timeout=1ms, queue_pair.timeo")
    assert ", at worst: queue_pair.timeout 1 ms is not above the base round trip of 4 ms" in text


@pytest.mark.parametrize(
    ("high", "low", "label"), [(-1, -2, "warning"), (1, -1, "note"), (2, 1, "")]
)
def test_timely_whose_round_trips_are_all_too_long(
    paths: Paths, high: int, low: int, label: str
) -> None:
    """Above high_rtt every sample cuts; above low_rtt only the gradient raises."""
    rtt = base_rtt(25 * 10**9, 100 * US)
    found = said(
        paths,
        topology=Star(hosts=2, rate="25Gbps", delay="100us"),
        congestion_control="timely",
        timely={"high_rtt": f"{rtt + high}ps", "low_rtt": f"{rtt + low}ps"},
    )
    found = about(found, "timely.")
    assert len(found) == bool(label)
    assert all(text.startswith(f"{label}:") for text in found)
    assert all('timely.min_rtt = "0us"' in text for text in found)


@pytest.mark.parametrize("control", ["hpcc", "dctcp", "theta-power-tcp"])
def test_a_base_round_trip_given_too_short(paths: Paths, control: str) -> None:
    """A window of T fills T of the path's time; 95 % of it is what HPCC aims at."""
    rtt = base_rtt(25 * 10**9, 10 * US)
    for share, count in ((0.94, 1), (0.96, 0)):
        found = said(
            paths,
            topology=Star(hosts=2, rate="25Gbps", delay="10us"),
            congestion_control=control,
            agents=["ecn-marking"],
            **{control: {"base_rtt": f"{int(rtt * share)}ps"}},
        )
        assert len(about(found, f"{control}.base_rtt")) == count


def test_a_target_of_swift_that_an_idle_path_exceeds(paths: Paths) -> None:
    """With the window that fills the path; what is to be set is just enough."""
    rtt = base_rtt(25 * 10**9, 100 * US)
    for target, count in ((rtt - 1, 1), (rtt + 1, 0)):
        found = said(
            paths,
            topology=Star(hosts=2, rate="25Gbps", delay="100us"),
            congestion_control="swift",
            swift={"base_target": f"{target}ps", "hop_target": "0us", "flow_range": "0us"},
        )
        assert len(about(found, "swift.base_target")) == count
    hosts = {"host": {"latency": "30us"}}
    near = {"congestion_control": "swift", **hosts}
    assert about(said(paths, **near, swift={"endpoint_target": "90us"}), "swift.endpoint_target")
    assert said(paths, **near, swift={"endpoint_target": "91us"}) == []


# ---------------------------------------------------------------------------------------------
# Classes

OPEN = {"flow_control": [], "run": Run(duration="1ms")}
TWO = {
    "topology": Star(hosts=3, rate="25Gbps", delay="1us"),
    "traffic": Greedy(src=["h0", "h1"], dst="h2"),
}


def test_a_lossless_class_that_nothing_guards(paths: Paths) -> None:
    """Unless a scheme may hold traffic back, loss is accepted, or the class is lossy."""
    (text,) = said(paths, **OPEN, **TWO)
    assert text.startswith("warning:    in the run: class 3 is lossless, but no port has a flow")
    assert "buffer.lossless_classes = 0" in text
    assert said(paths, **TWO) == []
    assert said(paths, **TWO, **OPEN | {"run": Run(duration="1ms", allow_loss=True)}) == []
    sfc = {"agents": ["sfc-congestion-point"], "host_agents": ["sfc-reaction-point"]}
    assert said(paths, **OPEN, **TWO, **sfc) == []
    marks = {"congestion_control": "dcqcn", "agents": ["ecn-marking"]}
    assert about(said(paths, **OPEN, **TWO, **marks), "no port has a flow control")


@pytest.mark.parametrize(("size", "lost"), [(49_000, False), (51_000, True)])
def test_an_unguarded_class_is_fine_where_its_queue_cannot_fill(
    paths: Paths, size: int, lost: bool
) -> None:
    """What all flows send, with headers, against XOFF."""
    found = said(
        paths,
        flow_control=[],
        topology=Star(hosts=3, rate="25Gbps", delay="1us"),
        traffic=Incast(degree=2, dst="h2", size=f"{size // 2}B"),
        queue_pair={"header_size": "0B"},
        buffer={"threshold": "static", "xoff": "50KB", "xon": "40KB"},
    )
    assert bool(about(found, "no port has a flow control")) == lost


def test_lossy_traffic_beside_a_flow_control(paths: Paths) -> None:
    """The mask is told as classes, with the one that makes all of it lossless."""
    traffic = [
        Greedy(src="h0", dst="h2", traffic_class=cls, label=f"t{cls}", rate_cap=f"{cls + 1}Gbps")
        for cls in (1, 3, 4)
    ]
    more = {"topology": TWO["topology"], "traffic": traffic}
    (text,) = said(paths, **more, buffer={"lossless_classes": 24})
    assert text == (
        "note:       in the run: class 1 (of t1) is lossy: buffer.lossless_classes = 24, a bit "
        "mask, means classes 3 and 4; 26 makes all traffic lossless"
    )
    assert said(paths, **more, buffer={"lossless_classes": 26}) == []
    (text,) = said(paths, **more, queue_pair={"retransmit": "none"})
    assert "classes 1 and 4 (of t1, t4) are lossy: buffer.lossless_classes = 8" in text
    assert 'with queue_pair.retransmit = "none" what is lost stays lost' in text
    messages = [{"src": "h0", "dst": "h1", "size": "1KB", "class": cls} for cls in (3, 5)]
    (text,) = said(paths, traffic=Messages(messages=messages))
    assert "class 5 (of messages-0) is lossy" in text


LOSSY = {"flow_control": [], "buffer": {"lossless_classes": 0}}


def test_storms_that_nobody_obeys(paths: Paths) -> None:
    """Those that name a lossy class."""
    faults = [
        {"kind": "pause_storm", "host": "h1", "class": 3},
        {"kind": "resume_storm", "port": "s0:h0", "class": 4, "every": "1us"},
    ]
    (text,) = said(paths, fault=faults)
    assert "the resume_storm of s0:h0 names class 4, which is lossy: nobody obeys" in text
    assert said(paths, fault=faults, buffer={"lossless_classes": 24}) == []


def test_equal_senders_at_a_lossy_queue(paths: Paths) -> None:
    """Which of them loses is a matter of phase, unless rates differ, fit, or react."""
    (text,) = said(paths, **LOSSY, **TWO)
    assert text.startswith("note:       in the run: 2 hosts send equal frames at equal rates")
    for caps, count in (
        (("13Gbps", "13Gbps"), 1),
        (("12.5Gbps", "12.5Gbps"), 0),
        (("13Gbps", "14Gbps"), 0),
    ):
        traffic = [Greedy(src=f"h{n}", dst="h2", rate_cap=cap) for n, cap in enumerate(caps)]
        found = said(paths, **LOSSY, topology=TWO["topology"], traffic=traffic)
        assert len(about(found, "phase")) == count, caps
    assert said(paths, **TWO, **LOSSY, queue_pair={"window_bdps": 1.0}) == []
    assert said(paths, **TWO, **LOSSY, congestion_control="hpcc") == []
    assert said(paths, **TWO) == []


def test_windows_without_loss_recovery(paths: Paths) -> None:
    """They fill for good with the first loss, wherever something may be lost."""
    lost = LOSSY | {"queue_pair": {"retransmit": "none", "window_bdps": 1.0}}
    assert "stands still for good" in about(said(paths, **TWO, **lost), "still")[0]
    for more in ({"window_bdps": 0.0}, {"retransmit": "selective"}):
        kept = {"queue_pair": lost["queue_pair"] | more}
        assert about(said(paths, **TWO, **LOSSY, **kept), "still") == []
    assert about(said(paths, **TWO, queue_pair=lost["queue_pair"]), "still") == []


# ---------------------------------------------------------------------------------------------
# Rates and loads

DCQCN = {"congestion_control": "dcqcn", "agents": ["ecn-marking"]}


@pytest.mark.parametrize(
    ("rate", "count"), [("12Gbps", 1), ("12.5Gbps", 0), ("50Gbps", 0), ("51Gbps", 1)]
)
def test_defaults_for_another_line_rate(paths: Paths, rate: str, count: int) -> None:
    """From a factor of 2 on, either way; what scales with the rate is named."""
    more = {"topology": Star(hosts=2, rate=rate, delay="1us"), **DCQCN}
    found = said(paths, **more)
    assert len(found) == count
    for text in found:
        assert f"have their defaults, for hosts of 25Gbps, and there are hosts of {rate}" in text
        assert text.endswith(
            "set dcqcn.parameters and ecn-marking.parameters to "
            '"hpcc" or "hpcc_paper", which suit any rate'
        )
    scaling = {"dcqcn": {"parameters": "hpcc"}, "ecn-marking": {"reference_rate": "25Gbps"}}
    assert said(paths, **more, **scaling) == []
    own = {"dcqcn": {"additive_increase": "7Mbps"}}
    assert len(about(said(paths, **more, **own), "ecn-marking has its defaults")) == count
    presets = read_presets(Paths(ROOT))["ecn-marking"]
    own["ecn-marking"] = {**presets["defaults"].values}
    assert about(said(paths, **more, **own), "ecn-marking has its defaults") == []


def test_a_preset_for_another_line_rate(paths: Paths) -> None:
    """Unless a value of it is replaced; of presets only those of both ends are proposed."""
    paper = {"parameters": "paper"}
    more = {"topology": Star(hosts=2, rate="100Gbps", delay="1us"), **DCQCN}
    (text,) = said(paths, **more, dcqcn=paper, **{"ecn-marking": paper})
    assert 'dcqcn and ecn-marking have the values of the preset "paper", for hosts of 40G' in text
    own = {"parameters": "paper", "kmin": "10KB"}
    (text,) = said(paths, **more, dcqcn=paper, **{"ecn-marking": own})
    assert "dcqcn has the values" in text
    more["congestion_control"] = "dctcp"
    (text,) = said(paths, **more)
    assert text.endswith('set ecn-marking.parameters to "dctcp_simulator", which suit any rate')


def test_a_preset_for_any_rate_may_have_some_of_the_defaults(paths: Paths) -> None:
    """ConnectX's increases are those of the defaults, at every rate."""
    more = {"topology": Star(hosts=2, rate="100Gbps", delay="1us"), "congestion_control": "dcqcn"}
    assert len(about(said(paths, **more), "dcqcn has its defaults")) == 1
    assert about(said(paths, **more, dcqcn={"parameters": "connectx"}), "for hosts of") == []


def test_the_presets_of_defaults_are_those_of_the_modules() -> None:
    """What remarks call the defaults for a rate is what C++ has."""
    types = catalogue(load_schema(ensure_built(quiet=True)), read_presets(Paths(ROOT)))
    checked = 0
    for section, presets in types.presets.items():
        info = types.find(section)
        assert info is not None
        if "defaults" in presets:
            own = {one.name: one.default for one in types.attributes(info).values()}
            given = dict(presets["defaults"].values)
            for name, text in resolve_section(types, info, given, Findings("x"), ()).items():
                assert number(text) == number(own[name]), (section, name)
                checked += 1
    assert checked == 6


FABRIC = LeafSpine(leaves=2, spines=1, hosts_per_leaf=4, rate="25Gbps", delay="1us")


@pytest.mark.parametrize(("load", "percent"), [(0.25, None), (0.26, 104), (1.0, 400)])
def test_a_load_above_a_link(paths: Paths, load: float, percent: int | None) -> None:
    """Four hosts of a leaf share one uplink; the key is the share of a host's link."""
    traffic = Poisson(workload="websearch", load=load, pattern="inter-rack", label="web")
    found = about(said(paths, topology=FABRIC, traffic=traffic), "offered:")
    assert len(found) == (percent is not None)
    for text in found:
        assert f"leaf0 -> spine0 gets {percent} % of its 25Gbps on average from web" in text
        assert "the most of 4 links above 100 %" in text
        assert text.endswith("with load = 0.25 (of the sources' links) the link is just full")


def test_loads_of_several_entries_add_up_while_they_last(paths: Paths) -> None:
    """Not if one ends before the other begins; incasts with a load count, too."""
    both = [
        Poisson(workload="websearch", load=0.2, pattern="inter-rack"),
        Incast(load=0.11, degree=2, dst="h0", size="10KB"),
    ]
    (text,) = about(said(paths, topology=FABRIC, traffic=both), "offered:")
    # 4 hosts with 0.2 each, and 4 of the 7 senders that share 8 times 0.11
    assert "gets 130 % of its 25Gbps on average from poisson-0 and incast-1" in text
    assert "the most of 3 links above 100 %" in text  # up, down, and h0's: 0.2 + 0.88
    apart = [
        Poisson(workload="websearch", load=0.2, pattern="inter-rack", stop="500us"),
        Poisson(workload="websearch", load=0.2, pattern="inter-rack", start="500us"),
    ]
    assert about(said(paths, topology=FABRIC, traffic=apart), "offered:") == []


@pytest.mark.parametrize(("interval", "percent"), [("128us", None), ("100us", 128)])
def test_incasts_with_a_period_are_a_load(paths: Paths, interval: str, percent: int | None) -> None:
    """5 times 80 KB take 128 us at 25 Gb/s; a single incast is none."""
    traffic = Incast(degree=5, dst="h0", size="80KB", interval=interval, label="burst")
    found = about(said(paths, topology=FABRIC, traffic=traffic), "offered:")
    assert len(found) == (percent is not None)
    for text in found:
        assert "leaf0 -> h0 gets 128 % of its 25Gbps on average from burst" in text
        assert text.endswith("with interval = 128us the link is just full")
    once = Incast(degree=5, dst="h0", size="80KB")
    assert about(said(paths, topology=FABRIC, traffic=once), "offered:") == []


# ---------------------------------------------------------------------------------------------
# Feedback


def warned(one: Study) -> set[str]:
    """The variants whose finished runs have a warning of their own."""
    one.run(jobs=1, progress=False)
    plan = one.plan()
    found = set()
    for spec in plan.specs:
        if plan.store.read_summary(spec.hash(plan.build.fingerprint))["warnings"]:
            found.add(spec.params["variant"])
    return found


def test_gfc_outside_its_bound_is_told_where_the_simulator_warns(paths: Paths) -> None:
    """At the byte: with the value that a remark proposes there is no warning any more."""
    schemes = {"conceptual-gfc": "b0", "multi-stage-gfc": "b1", "time-based-gfc": "b0"}
    more = {
        "topology": Star(hosts=3, rate="40Gbps", delay="1us"),
        "traffic": Incast(degree=2, dst="h2", size="2KB"),
        "port": {"control_delay": "700ns"},
        "run": Run(duration="50us"),
    }
    wide: dict[str, Any] = {
        "conceptual-gfc": {"bm": "1MB", "b0": "999KB"},
        "multi-stage-gfc": {"bm": "1MB", "b1": "999KB", "ratio": 0.6, "min_gap": "100ns"},
        "time-based-gfc": {"buffer": "1MB", "b0": "990KB", "period": "3us"},
    }
    variants: dict[str, Any] = {}
    for scheme, key in schemes.items():
        own = {"flow_control": [scheme], scheme: wide[scheme]}
        (text,) = said(paths, **more, **own)
        assert text.startswith(f"warning:    in the run: {scheme}.{key} 99"), text
        proposed = int(re.findall(r"set it to at most (\d+)B$", text)[0])
        for above in (0, 1):
            values = wide[scheme] | {key: f"{proposed + above}B"}
            variants[f"{scheme}{above}"] = {"flow_control": [scheme], scheme: values}
    one = study(paths, **more, variants=variants)
    expected = {f"{scheme}1" for scheme in schemes}
    assert warned(one) == expected
    told = [text for text in one.remarks if "so that" in text]
    assert {re.findall(r"\((.*?)\)", text)[0] for text in told} == expected


def test_credits_that_do_not_last(paths: Paths) -> None:
    """A link carries the share of its rate that is told; with the proposed buffer all of it."""
    more = {
        "topology": Star(hosts=2, rate="100Gbps", delay="1us"),
        "traffic": Greedy(src="h0", dst="h1"),
        "flow_control": ["credit"],
        "run": Run(duration="2ms", warmup="1ms"),
    }
    (text,) = said(paths, **more)
    share = int(re.findall(r"no more than (\d+) %", text)[0])
    proposed = re.findall(r"raise it to (\S+) or more", text)[0]
    assert said(paths, **more, credit={"buffer": proposed}) == []
    rates = {
        buffer: study(paths, **more, credit={"buffer": buffer})
        .run(jobs=1, progress=False)
        .table("flow")["sent_bytes"]
        .sum()
        for buffer in ("300KB", proposed)
    }
    assert rates["300KB"] / rates[proposed] == pytest.approx(share / 100, abs=0.01)


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("bakeoff/incast", []),
        ("gfc/ring", []),
        ("rdma/irn-incast", []),
        (
            "bakeoff/workloads",
            ["note:       in 42 of 585 runs (BFC"],
        ),
        (
            "gfc/two-to-one",
            ["warning:    in 1 of 2 runs (GFC-conceptual): conceptual-gfc.b0 50KB: Bm - B0"],
        ),
    ],
)
def test_shipped_studies_get_the_remarks_that_they_deserve(name: str, begins: list[str]) -> None:
    """Tuned schemes get none; an oversubscribed fabric, and the paper's own bound, get theirs."""
    schema = load_schema(ensure_built(quiet=True))
    experiment = load_experiment(name, (), schema=schema, paths=Paths(ROOT))
    found = [remark.line() for remark in of_plan(experiment, expand(experiment))]
    assert len(found) == len(begins)
    for text, beginning in zip(found, begins, strict=True):
        assert text.startswith(beginning)


@pytest.mark.parametrize(
    ("scheme", "values", "told"),
    [
        ("conceptual-gfc", {"b0": "100KB"}, "b0: 100KB is not below bm 100KB"),
        ("multi-stage-gfc", {"b1": "1MB"}, "b1: 1MB is not below bm 300KB"),
        ("timely", {"low_rtt": "501us"}, "low_rtt: 501us is not at most high_rtt 500us"),
        ("swift", {"least_window": 1001.0}, "least_window: 1001.0 is not at most most_window 1000"),
        ("time-based-gfc", {"b0": "300KB"}, "b0: 300KB is not below buffer 300KB"),
        ("time-based-gfc", {"bm": "159KB"}, "b0: 159KB is not below bm 159KB"),
        ("time-based-gfc", {"bm": "301KB"}, "bm: 301KB is not at most buffer 300KB"),
        ("timely", {"pacing": "Segment"}, "segment: pacing 'Segment' needs segment"),
        ("sfc-congestion-point", {"correction": "Reserve"}, "buffer: correction 'Reserve' needs"),
        ("multi-stage-gfc", {"min_rate": "26Gbps"}, "min_rate: 26Gbps is not allowed"),
        ("multi-stage-gfc", {"min_rate": "0bps"}, "min_rate: 0bps is not allowed"),
        ("pfc-watchdog", {"detection": "1us"}, "poll: 0.2s is not at most detection 1us"),
        ("pfc-watchdog", {"restoration": "1us"}, "poll: 0.2s is not at most restoration 1us"),
    ],
)
def test_attributes_that_contradict_each_other_are_refused_before_the_run(
    paths: Paths, scheme: str, values: dict[str, Any], told: str
) -> None:
    """By their keys; a scheme that is not in use may have any."""
    lists = {"gfc": "flow_control", "point": "agents", "watchdog": "agents"}
    key = lists.get(scheme.rpartition("-")[2], "congestion_control")
    use = {key: scheme if key == "congestion_control" else [scheme]}
    with pytest.raises(UserError) as caught:
        said(paths, **use, **{scheme: values})
    assert f"{scheme}.{told}" in str(caught.value)
    assert said(paths, **{scheme: values}) == []


@pytest.mark.parametrize(
    "chain", [["time-based-gfc", "credit"], ["pfc", "credit", "time-based-gfc"]]
)
def test_a_chain_in_which_one_takes_the_frames_of_another_is_refused(
    paths: Paths, chain: list[str]
) -> None:
    """Time-based GFC has the credits of CBFC: with both, one of them never gets any."""
    with pytest.raises(UserError, match="time-based-gfc is a kind of credit"):
        said(paths, flow_control=chain)
    without = [name for name in chain if name != "credit"]
    said(paths, flow_control=without, buffer={"size": "64MB"})


def test_keys_of_traffic_without_effect(paths: Paths) -> None:
    """With the entry, and what to do."""
    entry = Messages(messages=[{"src": "h0", "dst": "h1", "size": "10KB"}], connection="pair")
    told = "warning:    in the run: 'split' of traffic 'messages-0': 'all' divides nothing"
    for queue_pairs, times in ((1, 1), (2, 0)):
        traffic = entry.model_copy(update={"split": "all", "queue_pairs": queue_pairs})
        assert len(about(said(paths, traffic=traffic), told)) == times
