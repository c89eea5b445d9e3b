"""Traffic: kinds, randomness, canonical form, messages; distributions of sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch.base.errors import UserError
from pyorch.base.fields import encode
from pyorch.base.findings import Findings
from pyorch.network.topology import Topology
from pyorch.readers import arrow
from pyorch.readers.records import ABSENT
from pyorch.traffic import base as traffic
from pyorch.traffic import messages, workloads
from pyorch.traffic.messages import LONG
from tests.strategies import ROOT, TOPOLOGIES, network

WORKLOADS = ROOT / "experiments" / "workloads"
MS = 10**9
STAR = network(kind="star", hosts=6)
LEAVES = network(kind="leaf_spine", leaves=3, spines=2, hosts_per_leaf=4)


def resolve(
    entry: dict[str, Any], net: Topology = STAR, folder: Path = Path()
) -> tuple[dict[str, Any] | None, list[str]]:
    """Canonical form and problems of an entry."""
    findings = Findings("x.toml")
    scene = traffic.Scene(net, folder, WORKLOADS, MS)
    form = traffic.resolve(entry, findings, ("traffic", "0"), scene)
    return form, [problem.render() for problem in findings.problems]


def make(
    entry: dict[str, Any], net: Topology = STAR, seed: int = 1, ms: float = 1
) -> traffic.Flows:
    """The flows of an entry."""
    form, problems = resolve(entry, net)
    assert form is not None, problems
    return traffic.flows([form], net, seed, round(ms * MS))


def pairs(flows: traffic.Flows) -> list[tuple[int, int]]:
    """Source and destination of every flow."""
    return list(zip(flows.src.tolist(), flows.dst.tolist(), strict=True))


def test_greedy_sources_send_to_one_host_or_one_each() -> None:
    """With "all" the destination is left out; as many as sources are taken in pairs."""
    assert pairs(make({"kind": "greedy", "src": "all", "dst": "h2"})) == [
        (0, 2),
        (1, 2),
        (3, 2),
        (4, 2),
        (5, 2),
    ]
    flows = make({"kind": "greedy", "src": "h0..h2", "dst": ["h2", "h0", "h1"]})
    assert pairs(flows) == [(0, 2), (1, 0), (2, 1)]
    assert flows.sizes.tolist() == [0, 0, 0]


def test_common_keys_reach_every_flow() -> None:
    """Class, times, cap, window, bursts, path and label end up in the arrays."""
    entry = {
        "kind": "greedy",
        "src": "h0",
        "dst": "h1",
        "class": 5,
        "start": "10us",
        "stop": "20us",
        "rate_cap": "2Gbps",
        "window": "64KiB",
        "on": "3us",
        "off": "4us",
        "path": ["h0", "s0", "h1"],
        "label": "victim",
    }
    flows = make(entry)
    assert (flows.classes[0], flows.starts[0], flows.stops[0]) == (5, 10**7, 2 * 10**7)
    assert (flows.rates[0], flows.windows[0]) == (2 * 10**9, 65536)
    assert flows.on_off == {0: (3 * 10**6, 4 * 10**6)}
    assert flows.paths[0].tolist() == [0, 6, 1]
    assert flows.labels == ("victim",)
    assert [array.dtype for array in (flows.src, flows.sizes, flows.starts, flows.classes)] == [
        np.uint32,
        np.uint64,
        np.int64,
        np.uint8,
    ]


def test_entries_follow_each_other() -> None:
    """Numbers of bursts and paths count over all entries, and groups tell them apart."""
    specs = [
        resolve({"kind": "greedy", "src": ["h0", "h1"], "dst": "h2"})[0],
        resolve({"kind": "greedy", "src": "h3", "dst": "h4", "on": "1us", "off": "1us"})[0],
    ]
    flows = traffic.flows([spec for spec in specs if spec], STAR, 1, MS)
    assert flows.groups.tolist() == [0, 0, 1]
    assert list(flows.on_off) == [2]
    assert flows.labels == ("greedy-0", "greedy-1")


def test_messages_from_a_csv_file_are_those_of_a_list(tmp_path: Path) -> None:
    """The canonical form holds the messages, not the name of the file."""
    lines = "# by hand\nsrc,dst,size,start,class\nh0,h1,10KB,1us,2\nh2,h0,500,2us,\n"
    (tmp_path / "m.csv").write_text(lines)
    listed = [
        {"src": "h0", "dst": "h1", "size": "10KB", "start": "1us", "class": 2},
        {"src": "h2", "dst": "h0", "size": "500B", "start": "2us"},
    ]
    by_file = resolve({"kind": "messages", "file": "m.csv"}, folder=tmp_path)
    by_list = resolve({"kind": "messages", "messages": listed})
    assert by_file == by_list
    assert by_list[0] is not None
    flows = traffic.flows([by_list[0]], STAR, 1, MS)
    assert flows.sizes.tolist() == [10_000, 500]
    assert flows.starts.tolist() == [10**6, 2 * 10**6]
    assert flows.classes.tolist() == [2, 3]


def test_a_bad_csv_file_is_told_line_by_line(tmp_path: Path) -> None:
    """Every bad line is named with its number in the file."""
    (tmp_path / "m.csv").write_text("src,dst,size,start\nh0,h1,10XB,0\nh0,h1\nh0,h0,1KB,0\n")
    _, told = resolve({"kind": "messages", "file": "m.csv"}, folder=tmp_path)
    assert told == [
        "m.csv: line 3: 2 cells under 4 columns",
        (
            "m.csv: line 2: size: '10XB': 'XB' is not a unit of a size; "
            "known: B, KB, MB, GB, TB, KiB, MiB, GiB, TiB"
        ),
        "m.csv: line 4: dst: h0 sends to itself\n    allowed: src and dst differ",
    ]


@pytest.mark.parametrize(
    ("text", "size_bytes", "told"),
    [
        ("src,dst,size,start_ps\nh0,h1,1.5e3,2e3\n", 1500, []),
        ("src,dst,size,start_ns\nh0,h1,1500,2\n", 1500, []),
        ("src,dst,size,start\nh0,h1,1,2\n", 0, ["line 2: start: '2' lacks its unit", "start_us"]),
        ("src,dst,size\nh0,h1,1.5\n", 0, ["m.csv: line 2: size: '1.5B' is not a whole number"]),
        (
            "src,dst,size,when\nh0,h1,1,2\n",
            0,
            ["m.csv: unknown column 'when'", "dst, size; if needed start, class, id, after, delay"],
        ),
        ("src;dst;size\nh0;h1;1\n", 0, ["hint: separate cells by commas, not by ';'", "missing"]),
        ("src\tdst\nh0\th1\n", 0, ["hint: separate cells by commas, not by '\\t'", "missing"]),
    ],
)
def test_numbers_and_columns_of_csv_files(
    tmp_path: Path, text: str, size_bytes: int, told: list[str]
) -> None:
    """A number with an exponent is one; an unknown column is answered with all that there are."""
    (tmp_path / "m.csv").write_text(text)
    form, problems = resolve({"kind": "messages", "file": "m.csv"}, folder=tmp_path)
    if not told:
        assert form is not None, problems
        assert traffic.flows([form], STAR, 1, MS).sizes.tolist() == [size_bytes]
        assert traffic.flows([form], STAR, 1, MS).starts.tolist() == [2000]
    for part in told:
        assert any(part in problem for problem in problems), problems


def test_incast_repeats_with_sources_drawn_anew() -> None:
    """Each round has `degree` different sources, none of them the destination."""
    entry = {"kind": "incast", "dst": "h1", "degree": 4, "size": "64KB", "repeat": 3}
    flows = make(entry | {"interval": "100us", "jitter": "1us"})
    assert flows.dst.tolist() == [1] * 12
    rounds = flows.src.reshape(3, 4).tolist()
    assert all(len(set(part)) == 4 and 1 not in part for part in rounds)
    late = flows.starts - np.repeat([0, 10**8, 2 * 10**8], 4)
    assert late.min() >= 0
    assert late.max() <= 10**6


@pytest.mark.parametrize(
    ("start", "interval", "begins"),
    [
        ("100us", "300us", [100, 400, 700]),  # 1 ms is the end, when nothing starts any more
        ("100us", "299us", [100, 399, 698, 997]),
        ("100us", "900us", [100]),
        ("0us", "5ms", [0]),
    ],
)
def test_incasts_without_a_number_go_on_until_the_end(
    start: str, interval: str, begins: list[int]
) -> None:
    """Of the duration of the run; a number of rounds is as it was given."""
    entry = {"kind": "incast", "dst": "h1", "src": "h0", "size": "1KB", "start": start}
    flows = make(entry | {"interval": interval})
    assert flows.starts.tolist() == [one * 10**6 for one in begins]
    assert len(make(entry | {"interval": interval, "repeat": 1})) == 1
    _, problems = resolve(entry | {"interval": "100ps"})
    assert "rounds until run.duration\n    allowed: at most 1,000,000 rounds" in problems[0]


def test_incasts_to_several_hosts_come_together() -> None:
    """Each round every destination gets its own draw, or all of `src`, at the same time."""
    entry = {"kind": "incast", "dst": ["h1", "h4"], "size": "64KB", "repeat": 2}
    entry |= {"interval": "100us"}
    flows = make(entry | {"degree": 3})
    assert flows.dst.tolist() == [1, 1, 1, 4, 4, 4] * 2
    assert flows.starts.tolist() == [0] * 6 + [10**8] * 6
    for part, dst in zip(flows.src.reshape(4, 3).tolist(), (1, 4, 1, 4), strict=True):
        assert len(set(part)) == 3
        assert dst not in part
    flows = make(entry | {"src": ["h0", "h5"]})
    assert pairs(flows) == [(0, 1), (5, 1), (0, 4), (5, 4)] * 2
    flows = make(entry | {"src": "all"})
    assert set(pairs(flows)) == {(src, dst) for src in (0, 2, 3, 5) for dst in (1, 4)}


def test_incasts_come_at_random_at_a_load() -> None:
    """Payload arrives at that share of all hosts' rates; receivers and moments are drawn."""
    entry = {"kind": "incast", "dst": "all", "degree": 4, "size": "64KB", "load": 0.2}
    flows = make(entry | {"start": "500us"}, ms=100.5)
    rounds = flows.src.reshape(-1, 4)
    # 100 ms; three standard deviations of a Poisson number
    mean = 0.2 * float(STAR.host_rates.sum()) * 0.1 / (8 * 4 * 64_000)
    assert abs(len(rounds) - mean) < 3 * mean**0.5
    receivers = flows.dst.reshape(-1, 4)
    assert set(receivers[:, 0].tolist()) == set(range(6))
    assert (receivers == receivers[:, :1]).all()
    assert not (rounds == receivers).any()
    begins = flows.starts.reshape(-1, 4)
    assert (begins == begins[:, :1]).all()
    gaps = np.diff(begins[:, 0])
    assert begins.min() >= MS // 2
    # of gaps that are exponential, the standard deviation is the mean
    assert 0.8 < gaps.std() / gaps.mean() < 1.2


def test_permutations_send_and_receive_once() -> None:
    """A shift is the rotation of the benchmarks; a random one has no host that sends to itself."""
    assert pairs(make({"kind": "permutation", "size": "1MB", "shift": 2})) == [
        (host, (host + 2) % 6) for host in range(6)
    ]
    for seed in range(1, 20):
        flows = make({"kind": "permutation", "size": "1MB", "random": True}, seed=seed)
        assert sorted(flows.dst.tolist()) == list(range(6))
        assert not np.any(flows.src == flows.dst)


def test_all_to_all_is_every_ordered_pair() -> None:
    """Three hosts have six pairs."""
    flows = make({"kind": "all_to_all", "hosts": ["h0", "h2", "h4"], "size": "1KB"})
    assert set(pairs(flows)) == {(a, b) for a in (0, 2, 4) for b in (0, 2, 4) if a != b}
    assert len(flows) == 6


def test_poisson_offers_the_load_it_is_asked_for() -> None:
    """Payload and headers of 1 s make up the load, within what chance allows."""
    form, _ = resolve({"kind": "poisson", "workload": "hadoop", "load": 0.6}, LEAVES)
    assert form is not None
    flows = traffic.flows([form], LEAVES, 1, 1000 * MS)
    sizes = flows.sizes.astype(np.float64)
    bits = 8 * (sizes + 48 * np.ceil(sizes / 1000))
    # the standard error of a compound Poisson sum is sqrt(sum of squares)
    error = 4 * np.sqrt(np.sum(bits**2))
    assert bits.sum() == pytest.approx(0.6 * 12 * 1e10, abs=error)
    assert error < 0.1 * bits.sum()


@pytest.mark.parametrize(("pattern", "same"), [("inter-rack", False), ("intra-rack", True)])
def test_poisson_patterns_choose_the_rack(pattern: str, same: bool) -> None:
    """Inter-rack flows never stay in a rack, intra-rack flows never leave it."""
    entry = {"kind": "poisson", "workload": "hadoop", "load": 0.5, "pattern": pattern}
    flows = make(entry, LEAVES, ms=5)
    assert len(flows) > 100
    assert np.all((flows.src // 4 == flows.dst // 4) == same)
    assert not np.any(flows.src == flows.dst)


def test_poisson_keeps_to_its_hosts() -> None:
    """Sources and destinations can be the hosts of one leaf."""
    entry = {
        "kind": "poisson",
        "workload": "hadoop",
        "load": 0.5,
        "src": "leaf0:*",
        "dst": "h4..h7",
    }
    flows = make(entry, LEAVES, ms=5)
    assert set(flows.src.tolist()) == {0, 1, 2, 3}
    assert set(flows.dst.tolist()) == {4, 5, 6, 7}


ENTRIES: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({"kind": "greedy", "src": "all", "dst": "h0"}),
    st.builds(lambda size: {"kind": "all_to_all", "size": f"{size}B"}, st.integers(1, 10**6)),
    st.builds(
        lambda on: (
            {"kind": "permutation", "size": "1KB"} | ({"random": True} if on else {"shift": 1})
        ),
        st.booleans(),
    ),
    st.builds(
        lambda jitter: {
            "kind": "incast",
            "dst": "h1",
            "degree": 1,
            "size": "1KB",
            "jitter": f"{jitter}ns",
        },
        st.integers(0, 1000),
    ),
    st.builds(
        lambda load, stop: {
            "kind": "poisson",
            "workload": "hadoop",
            "load": load,
            "stop": f"{stop}us",
        },
        st.floats(0.01, 1.5),
        st.integers(1, 2000),
    ),
)


@settings(max_examples=60)
@given(TOPOLOGIES, ENTRIES, st.integers(1, 2**32 - 1))
def test_flows_stay_within_bounds_and_depend_on_the_seed_alone(
    table: dict[str, Any], entry: dict[str, Any], seed: int
) -> None:
    """Ends are different hosts, starts lie in the run, and the same seed gives the same flows."""
    net = network(**table)
    form, problems = resolve(entry, net)
    assert form is not None, problems
    flows, again = (traffic.flows([form], net, seed, MS) for _ in range(2))
    assert np.isin(flows.src, net.hosts).all()
    assert np.isin(flows.dst, net.hosts).all()
    assert not np.any(flows.src == flows.dst)
    assert np.all((flows.starts >= 0) & (flows.starts < MS))
    for array in ("src", "dst", "sizes", "starts"):
        assert np.array_equal(getattr(flows, array), getattr(again, array))


def test_an_entry_does_not_change_those_after_it() -> None:
    """Randomness hangs on the seed and the number of the entry, not on what was drawn before."""
    random = resolve({"kind": "permutation", "size": "1KB", "random": True})[0]
    poisson = resolve({"kind": "poisson", "workload": "hadoop", "load": 0.3})[0]
    greedy = resolve({"kind": "greedy", "src": "h0", "dst": "h1"})[0]
    assert random
    assert poisson
    assert greedy
    after = [
        traffic.flows([first, random], STAR, 7, MS).dst[-6:].tolist() for first in (poisson, greedy)
    ]
    assert after[0] == after[1]
    others = [traffic.flows([random], STAR, seed, MS).dst.tolist() for seed in range(1, 9)]
    assert len({tuple(other) for other in others}) > 1


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            {"kind": "gredy"},
            (
                "x.toml: traffic[0].kind: unknown traffic 'gredy'\n"
                "    allowed: greedy, cycle, ring, incast, permutation, all_to_all, poisson, "
                "messages, collective, goal, chakra, transformer, workload\n"
                "    hint: did you mean 'greedy'?"
            ),
        ),
        (
            {"kind": "greedy", "src": "h0", "dst": "h0"},
            "x.toml: traffic[0].dst: h0 sends to itself\n    allowed: src and dst differ",
        ),
        (
            {"kind": "greedy", "src": "s0", "dst": "h0"},
            "x.toml: traffic[0].src: 's0' is a switch\n    allowed: hosts h0 to h5",
        ),
        (
            {"kind": "greedy", "src": "h1", "dst": "h0", "class": 8},
            "x.toml: traffic[0].class: 8 is not allowed\n    allowed: less than or equal to 7",
        ),
        (
            {"kind": "poisson", "workload": "hadoop", "load": 1.6},
            "x.toml: traffic[0].load: 1.6 is not allowed\n    allowed: less than or equal to 1.5",
        ),
        (
            {"kind": "poisson", "workload": "hadop", "load": 0.5},
            (
                "x.toml: traffic[0].workload: unknown workload 'hadop'; known: "
                "alistorage2019, datamining, "
                "hadoop, websearch; did you mean 'hadoop'?"
            ),
        ),
        (
            {"kind": "poisson", "workload": "hadoop", "load": 0.5, "pattern": "inter-rack"},
            (
                "x.toml: traffic[0].dst: h0, h1, h2, h3, h4, h5 have no destination (inter-rack)\n"
                "    allowed: another destination for every source"
            ),
        ),
        (
            {"kind": "greedy", "src": "h0", "dst": "h1", "path": ["h0", "s1", "h1"]},
            "x.toml: traffic[0].path: there is no node 's1'",
        ),
        (
            {"kind": "greedy", "src": "h0", "dst": "h1", "path": ["h0", "h1"]},
            (
                "x.toml: traffic[0].path: there is no link between h0 and h1\n    allowed: h0 "
                "has links to s0"
            ),
        ),
        (
            {
                "kind": "greedy",
                "src": "h0",
                "dst": "h1",
                "path": ["h0", "s0", "h2", "s0", "h1"],
            },
            (
                "x.toml: traffic[0].path: leads through host 'h2'\n"
                "    allowed: switches between src and dst"
            ),
        ),
        (
            {"kind": "greedy", "src": ["h0", "h2"], "dst": "h1", "path": ["h0", "s0", "h1"]},
            (
                "x.toml: traffic[0].path: a path is for a single flow\n"
                "    allowed: one source and one destination"
            ),
        ),
        (
            {"kind": "greedy", "src": "h0", "dst": "h1", "start": "1ms"},
            (
                "x.toml: traffic[0].start: a flow starts at or after the end of the run\n"
                "    allowed: before run.duration"
            ),
        ),
        (
            {"kind": "greedy", "src": "h0", "dst": "h1", "on": "1us"},
            "x.toml: traffic[0].off: missing\n    hint: give 'on' and 'off' together",
        ),
        (
            {"kind": "incast", "dst": "h0", "degree": 6, "size": "1KB"},
            "x.toml: traffic[0].degree: 6 sources of 5 other hosts\n    allowed: 1 to 5",
        ),
        (
            {
                "kind": "incast",
                "dst": "all",
                "degree": 2,
                "size": "1KB",
                "load": 0.1,
                "repeat": 2,
            },
            (
                "x.toml: traffic[0].load: 'load' sets how often; so do 'repeat' and 'interval'\n"
                "    allowed: one of the two"
            ),
        ),
        (
            {"kind": "permutation", "size": "1KB", "shift": 6},
            (
                "x.toml: traffic[0].shift: shift 6 of 6 hosts sends every host to itself\n"
                "    allowed: 1 to 5"
            ),
        ),
        (
            {"kind": "all_to_all", "size": "0B"},
            "x.toml: traffic[0].size: '0B' is not allowed\n    allowed: greater than 0",
        ),
    ],
)
def test_what_cannot_be_is_refused(entry: dict[str, Any], message: str) -> None:
    """Each message says where, what, and what is allowed."""
    assert resolve(entry) == (None, [message])


def test_a_path_over_a_failed_link_is_refused() -> None:
    """The way round a ring that is broken on one side must not use that side."""
    ring = network(kind="ring", switches=4, failed_links=[["s0", "s1"]])
    entry = {"kind": "greedy", "src": "h0", "dst": "h1", "path": ["h0", "s0", "s1", "h1"]}
    assert resolve(entry, ring)[1] == [
        "x.toml: traffic[0].path: the link from s0 to s1 has failed from the start"
    ]
    round_about = ["h0", "s0", "s3", "s2", "s1", "h1"]
    assert make(entry | {"path": round_about}, ring).paths[0].tolist() == [0, 4, 7, 6, 5, 1]


@pytest.mark.parametrize(
    ("name", "mean"),
    [
        ("websearch", 1.711e6),
        ("hadoop", 120.4e3),
        ("alistorage2019", 40.9e3),
        ("datamining", 12.66e6),
    ],
)
def test_shipped_distributions_have_the_known_means(name: str, mean: float) -> None:
    """The means by linear interpolation, to the digits in which they are known."""
    assert workloads.load(WORKLOADS / f"{name}.csv").mean() == pytest.approx(mean, rel=1e-3)


@pytest.mark.parametrize("name", ["websearch", "hadoop", "alistorage2019", "datamining"])
def test_samples_follow_the_distribution(name: str) -> None:
    """Kolmogorov-Smirnov: 100,000 samples stay within 1.95/sqrt(n) of the CDF (level 0.1 %)."""
    sizes = workloads.load(WORKLOADS / f"{name}.csv")
    n = 100_000
    samples = sizes.quantile(np.random.default_rng(1).random(n)).astype(np.float64)
    for size, share in zip(sizes.sizes[1:], sizes.cumulative[1:], strict=True):
        assert np.mean(samples <= size) == pytest.approx(share, abs=1.95 / np.sqrt(n))
    assert samples.min() >= 1


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=4, unique=True), st.integers(1, 3000))
def test_mean_number_of_packets(tops: list[int], payload: int) -> None:
    """It is the mean of ceil(s / payload) over a fine grid of quantiles."""
    points = [(0, 0.0)] + [(top, (n + 1) / len(tops)) for n, top in enumerate(sorted(tops))]
    sizes = workloads.of_points(points)
    grid = (np.arange(20_000) + 0.5) / 20_000
    exact = np.ceil(np.interp(grid, sizes.cumulative, sizes.sizes) / payload)
    assert sizes.mean_packets(payload) == pytest.approx(exact.mean(), rel=1e-2)


def test_a_bad_distribution_is_told_line_by_line(tmp_path: Path) -> None:
    """A line that is not a number and one that falls are both named."""
    path = tmp_path / "d.csv"
    path.write_text("size_bytes,cumulative\n0,0\nten,0.5\n100,0.7\n50,1\n")
    with pytest.raises(UserError) as caught:
        workloads.load(path)
    assert [problem.where for problem in caught.value.problems] == [
        "d.csv: line 3",
        "d.csv: line 5",
    ]


@pytest.mark.parametrize(
    ("points", "told"),
    [
        ("0,0\n1000,0.5", "d.csv: line 4: the last point has a cumulative share of 0.5"),
        ("0,0\n0,1", "d.csv: line 4: all sizes are 0"),
        ("5,1", "d.csv: 1 points are no distribution\n    allowed: at least two points"),
    ],
)
def test_what_is_no_whole_distribution_is_told_by_its_line(
    tmp_path: Path, points: str, told: str
) -> None:
    """And by the condition that fails."""
    path = tmp_path / "d.csv"
    path.write_text(f"# comment\nsize_bytes,cumulative\n{points}\n")
    with pytest.raises(UserError) as caught:
        workloads.load(path)
    assert told in caught.value.render()
    path.write_text("size_bytes,cumulative\n3,0\n3,0.06\n32,0.10\n1000,1\n")
    shares = np.array([0.0, 0.03, 0.06])
    assert workloads.load(path).quantile(shares).tolist() == [3, 3, 3]


def test_a_long_csv_file_gives_the_flows_of_a_short_one(tmp_path: Path) -> None:
    """Columns or a table for each message: the same, with defaults where cells are empty."""
    rows = [f"h{n % 4},h{4 + n % 2},{n + 1},{n if n % 5 else ''}" for n in range(LONG + 5)]
    (tmp_path / "m.csv").write_text("\n".join(["src,dst,size,start_ns", *rows]))
    entry = {"kind": "messages", "file": "m.csv", "start": "7us", "class": 2}
    form, problems = resolve(entry, folder=tmp_path)
    assert form is not None, problems
    assert encode(form).keys() >= {"columns"}
    flows = traffic.flows([form], STAR, 1, MS)
    assert flows.sizes.tolist() == list(range(1, LONG + 6))
    assert flows.starts.tolist() == [1000 * n if n % 5 else 7 * 10**6 for n in range(LONG + 5)]
    assert flows.src.tolist() == [n % 4 for n in range(LONG + 5)]
    assert set(flows.classes.tolist()) == {2}
    rows[1] = "h1,h2,x,5"
    rows[3] = "h1,h2,5,y"
    (tmp_path / "m.csv").write_text("\n".join(["src,dst,size,start_ns", *rows]))
    _, told = resolve(entry, folder=tmp_path)
    assert [one.partition(" '")[0] for one in told] == [
        "m.csv: line 3: size:",
        "m.csv: line 5: start:",
    ]


def test_parquet_gives_the_same_flows(tmp_path: Path) -> None:
    """Text and whole numbers, with the unit of starts in the name of their column."""
    frame = pd.DataFrame(
        {"src": ["h0", "h1"], "dst": ["h1", "h2"], "size": [5, 6], "start_us": [1, 2]}
    )
    frame.to_parquet(tmp_path / "m.parquet")
    form, problems = resolve({"kind": "messages", "file": "m.parquet"}, folder=tmp_path)
    assert form is not None, problems
    flows = traffic.flows([form], STAR, 1, MS)
    assert (flows.src.tolist(), flows.dst.tolist()) == ([0, 1], [1, 2])
    assert (flows.sizes.tolist(), flows.starts.tolist()) == ([5, 6], [10**6, 2 * 10**6])
    for wrong, said in (
        (frame.assign(size=[0, 1]), "row 1: 0 is not one of its column size"),
        (frame.assign(src=[1, 2]), "src: the column is int64"),
        (frame.assign(when=[1, 2]), "the columns are src, dst, size, start_us, when"),
    ):
        wrong.to_parquet(tmp_path / "m.parquet")
        _, told = resolve({"kind": "messages", "file": "m.parquet"}, folder=tmp_path)
        assert any(said in one for one in told), told
    for value, start in (
        (2.0000005, 2 * 10**6),
        (float("nan"), 0),
    ):  # none: of the entry
        frame.assign(start_us=[1.5, value]).to_parquet(tmp_path / "m.parquet")
        form, problems = resolve({"kind": "messages", "file": "m.parquet"}, folder=tmp_path)
        assert form is not None, problems
        assert traffic.flows([form], STAR, 1, MS).starts.tolist() == [1_500_000, start]
    for value in (-1.0, float("inf"), 1e30):
        frame.assign(start_us=[1.5, value]).to_parquet(tmp_path / "m.parquet")
        _, told = resolve({"kind": "messages", "file": "m.parquet"}, folder=tmp_path)
        assert f"row 2: {value} is not one of its column start_us" in told[0]
    frame.drop(columns="src").to_parquet(tmp_path / "m.parquet")
    _, told = resolve({"kind": "messages", "file": "m.parquet"}, folder=tmp_path)
    assert "it has no column src or dst" in told[0]
    (tmp_path / "m.parquet").write_bytes(b"PAR1 nothing PAR1")
    _, told = resolve({"kind": "messages", "file": "m.parquet"}, folder=tmp_path)
    assert "is not Parquet" in told[0]


ODD_CELLS = ("0x10", "1.5", "1.0005", " h1", "+5", "", "1e3", "9" * 30, "-1", "h9999", '"h1"', "0")


@pytest.mark.parametrize("spot", [1, 400])
@pytest.mark.parametrize("column", range(5))
def test_long_files_of_plain_numbers_are_read_as_any_other(
    spot: int, column: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through Arrow or cell by cell the flows are the same, and so are the problems."""
    for odd in ODD_CELLS:
        rows = [
            ["h0", f"h{1 + n % 3}", str(n + 1), str(n), ("", "5")[n % 2]] for n in range(LONG + 1)
        ]
        rows[spot][column] = odd
        text = "\n".join(["src,dst,size,start_ns,class", *map(",".join, rows)])
        (tmp_path / "m.csv").write_text(text, encoding="utf-8")
        told = []
        for large in (0, 10**9):
            monkeypatch.setattr(messages, "LARGE", large)
            form, problems = resolve({"kind": "messages", "file": "m.csv"}, folder=tmp_path)
            told.append((None if form is None else encode(form), problems))
        assert told[0] == told[1], odd


@pytest.mark.parametrize(
    "text",
    [
        "src,dst,size,start\nh0,h1,5,7\n",  # without a unit
        "src,dst,size,start_ns,start_us\nh0,h1,5,7,7\n",
        "src,dst,size,size\nh0,h1,5,7\n",
        "src,dst\nh0,h1\n",
        "src,dst,size\nh0,h1,5\n# a comment\n",
        "src,dst,size\nh0,h1\n",
        "src,dst,size\nh0,h1,5,\n",
        "src,dst,size\n\xffh0,h1,5\n",
        "src,dst,size,start\nh0,h1,5,7us\nh0,h1,5,7ns\n",  # several units
        "src,dst,size,start\nh0,h1,5,7us\nh0,h1,5,7\n",
        "src,dst,size,start\nh0,h1,5,7us\nh0,h1,5,0.0000005us\n",  # half a ps
        "src,dst,size,start\nh0,h1,5,7us\nh0,h1,5,1.5.5us\n",
        "src,dst,size,start_s\nh0,h1,5,7.5\nh0,h1,5,4000000.5\n",  # too late
        "src,dst,size,start_s\nh0,h1,5,-7.5\n",
        "src,dst,size\nh0,h1,1.5\n",
        "src,dst,size,start_us\nh0,h1,5,7us\n",
        "src,dst,size\nh0,h1,5us\n",
        "src,dst,size\nh0,h1,9223372036854775807KB\n",
        "src,dst,size\nh0,h1,99999999999999999999KB\n",
        "src,dst,size\nh0,h1,2KB\nh0,h1,\n",
    ],
)
def test_what_is_not_plain_is_read_cell_by_cell(text: str) -> None:
    """Arrow takes what it reads just as we do, and nothing else."""
    assert arrow.of_csv(text.encode("latin-1"), None) is None
    found = arrow.of_csv(b"\xef\xbb\xbfsrc,dst,size,class\r\nh0,h1,5,\r\nh2,h1,7,3\r\n", None)
    assert found is not None
    assert found.pairs() == [("h0", "h1"), ("h2", "h1")]
    assert (found.sizes.tolist(), found.classes.tolist()) == ([5, 7], [ABSENT, 3])


def test_columns_of_one_unit_need_no_look_at_each_cell() -> None:
    """A start or a size has the same unit in every row; a start may be absent."""
    text = b"src,dst,size,start\nh0,h1,5KiB,7us\nh2,h1,12KiB,\nh0,h2,1KiB,1000us\n"
    found = arrow.of_csv(text, None)
    assert found is not None
    assert found.sizes.tolist() == [5120, 12288, 1024]
    assert found.starts.tolist() == [7_000_000, ABSENT, 1_000_000_000]
    for head, unit in (("start_ms", ""), ("start", "ms")):
        text = (
            f"# made\n# by hand\nsrc, dst, size, {head}\nh0, h1, 5, 0.25{unit}\nh.2,h1,7,3{unit}\n"
        )
        found = arrow.of_csv(text.encode(), None)
        assert found is not None
        assert (found.starts.tolist(), found.lines.tolist()) == ([25 * 10**7, 3 * 10**9], [4, 5])


BURSTS = {"kind": "incast", "dst": "h5", "degree": 3, "size": "10KB", "repeat": 4}
EVERY = {**BURSTS, "interval": "100us"}


def test_messages_of_a_pair_share_a_connection() -> None:
    """Each is on that of the first one of its entry with its ends; without the key, on its own."""
    form, _ = resolve(EVERY)
    assert form is not None
    assert "connection" not in form
    tables = [resolve(entry)[0] for entry in ({**EVERY, "connection": "pair"}, EVERY)]
    flows = traffic.flows([table for table in tables if table], STAR, 1, MS)
    assert flows.connections is not None
    made = flows.connections
    found = dict(zip(made.flows.tolist(), made.queue_pairs.tolist(), strict=True))
    expected = {}
    first: dict[tuple[int, int], int] = {}
    for flow, ends in enumerate(pairs(flows)):
        if flows.groups[flow] == 0 and (lead := first.setdefault(ends, flow)) != flow:
            expected[flow] = lead
    assert found == expected
    assert len(first) > 2
    assert len(found) == 12 - len(first)
    assert make(EVERY).connections is None


def test_no_message_follows_an_endless_flow() -> None:
    """Its connection is never free."""
    entry = {"kind": "greedy", "src": ["h0", "h1"], "dst": "h2", "connection": "pair"}
    with pytest.raises(UserError, match="is endless or has a path of its own"):
        make(entry)
