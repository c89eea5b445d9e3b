"""Pictures of networks before they run: names, ways of flows, cycles, as read from the SVG."""

from __future__ import annotations

import itertools
import re
import sys
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import networkx as nx
import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

import pyorch
from pyorch.config import failing, topology
from pyorch.dependency import flow_cycle, flow_ways
from pyorch.plan import RunSpec
from pyorch.report.planned import MOST_COLOURS, PlannedMap, network_map, planned_map, svg
from tests.forms import run_of, setting_of, topology_of

LINK = {"rate_bps": 10**10, "delay_ps": 10**6, "failed_links": [], "failures": []}
SVG = "{http://www.w3.org/2000/svg}"
RING = LINK | {"kind": "ring", "switches": 4, "hosts_per_switch": 1}


def tree(k: int) -> dict[str, Any]:
    """A fat-tree."""
    return LINK | {"kind": "fat_tree", "k": k}


def leaf_spine(leaves: int, spines: int, hosts: int) -> dict[str, Any]:
    """A leaf-spine with some hosts a leaf."""
    sizes = {"leaves": leaves, "spines": spines, "hosts_per_leaf": hosts}
    return LINK | sizes | {"kind": "leaf_spine"}


def boxes(picture: str) -> list[tuple[str, float, float, float, float]]:
    """Text, left, top, right and bottom of every text of an SVG, by its letters' outlines."""
    found = []
    for text in ET.fromstring(picture).iter(f"{SVG}text"):  # noqa: S314 (our own)
        style, turn = text.attrib["style"], text.attrib["transform"]
        size = float(re.search(r"font-size: ([\d.]+)px", style)[1])  # type: ignore[index]
        prop = FontProperties(family="DejaVu Sans")
        letters = TextPath((0, 0), text.text or "", size=size, prop=prop)
        width = float(letters.vertices[:, 0].max())
        if "rotate(-90)" in turn:
            x, y = map(float, re.findall(r"translate\(([\d.]+) ([\d.]+)\)", turn)[0])
            found.append((text.text or "", x - 0.75 * size, y - width, x, y))
            continue
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        x -= width / 2 if "text-anchor: middle" in style else 0.0
        found.append((text.text or "", x, y - 0.75 * size, x + width, y))
    return found


def size_of(picture: str) -> tuple[float, float]:
    """Width and height of an SVG [pt]."""
    view = ET.fromstring(picture).attrib["viewBox"].split()  # noqa: S314
    return float(view[2]), float(view[3])


@pytest.mark.parametrize(
    "form",
    [
        RING,
        tree(4),
        tree(8),
        tree(16),
        leaf_spine(32, 8, 4),
        leaf_spine(4, 2, 8),
        LINK | {"kind": "star", "hosts": 16},
        LINK | {"kind": "star", "hosts": 40},
        LINK | {"kind": "dumbbell", "left": 3, "right": 3},
    ],
    ids=lambda form: "-".join(map(str, list(form.values())[4:])),
)
def test_no_name_covers_another_or_leaves_the_picture(form: dict[str, Any]) -> None:
    """Every switch is named, every host by itself or in a range."""
    network = topology.build(topology_of(form))
    picture = svg(network_map(network, "a title"))
    found = boxes(picture)
    width, height = size_of(picture)
    for text, left, top, right, bottom in found:
        assert left >= 0, text
        assert top >= 0, text
        assert right <= width, text
        assert bottom <= height, text
    found.sort(key=lambda box: box[1])
    for number, (text, _, top, right, bottom) in enumerate(found):
        for other, left, upper, _, lower in found[number + 1 :]:
            if left >= right:
                break
            assert upper >= bottom or lower <= top, f"{text} covers {other}"
    texts = {text for text, *_ in found}
    assert {
        network.names[node] for node in range(len(network.names)) if network.kinds[node]
    } < texts
    ends = {name for text in texts for name in re.split(r" – |, | … ", text)}
    if len(network.hosts) <= 16:
        assert network.host_names <= ends
    else:
        racks = network.racks[network.hosts].tolist()
        firsts = {racks.index(rack) for rack in racks}
        assert {network.names[network.hosts[first]] for first in firsts} <= ends


def strokes(picture: str, colour: str) -> int:
    """How many lines of a colour an SVG has."""
    return len(
        re.findall(rf'<path d="M [^"]*" clip-path="[^"]*" style="[^"]*stroke: {colour}', picture)
    )


@pytest.mark.parametrize("flows", [3, 16])
def test_the_path_of_every_flow_is_drawn(flows: int) -> None:
    """All shortest paths between the hosts of a broken fat-tree, and nothing else."""
    assert (flows <= MOST_COLOURS) == (flows == 3)
    table = failing.draw_failed_links(topology_of(tree(4) | {"random_failed_links": 2}), 3)
    network = topology.build(table)
    entries = [
        {"kind": "greedy", "src": [f"h{n}"], "dst": [f"h{(5 * n + 3) % 16}"]} for n in range(flows)
    ]
    form = tree(4) | {"failed_links": [list(ends) for ends in table.failed_links]}
    drawn = planned_map(setting_of({"topology": form, "traffic": entries}), 1)
    graph: nx.Graph[str] = nx.Graph()
    for link, (a, b) in enumerate(zip(network.a.tolist(), network.b.tolist(), strict=True)):
        if link not in network.failed_links:
            graph.add_edge(network.names[a], network.names[b])
    expected = {
        turn
        for entry in entries
        for path in nx.all_shortest_paths(graph, entry["src"][0], entry["dst"][0])
        for turn in itertools.pairwise(path)
    }
    lines = [line for text, line in drawn.lines() if text != "cyclic dependency"]
    names = drawn.network.names
    shown = {(names[a], names[b]) for line in lines for a, b in line.egresses}
    assert shown == expected
    picture = svg(drawn)
    for line in lines:
        own = sum(len(other.egresses) for other in lines if other.colour == line.colour)
        # the legend has a line of its colour, too
        assert strokes(picture, line.colour) == own


def test_the_cycle_drawn_is_that_of_the_analysis() -> None:
    """Four flows around a ring; without the last there is none."""
    paths = [
        [f"h{n}", f"s{n}", f"s{(n + 1) % 4}", f"s{(n + 2) % 4}", f"h{(n + 2) % 4}"]
        for n in range(4)
    ]
    entries = [{"kind": "greedy", "src": [p[0]], "dst": [p[-1]], "path": p} for p in paths]
    setting = setting_of({"topology": RING, "traffic": entries})
    drawn = planned_map(setting, 1)
    (red,) = (line for text, line in drawn.lines() if text == "cyclic dependency")
    cycle = flow_cycle(setting, 1).cycle
    assert set(red.egresses) == set(cycle)
    assert len(cycle) == 4
    assert strokes(svg(drawn), red.colour) == 4
    assert "cyclic buffer dependency: " in " ".join(drawn.texts())
    open_ring = setting_of({"topology": RING, "traffic": entries[:3]})
    assert all(text != "cyclic dependency" for text, _ in planned_map(open_ring, 1).lines())


def test_flows_are_counted_where_they_go() -> None:
    """Two entries of the same pair, a flow within a rack, one that has a choice."""
    network = topology.build(topology_of(tree(4)))
    pairs = [("h0", "h1"), ("h0", "h15"), ("h0", "h15")]
    entries = [{"kind": "greedy", "src": [src], "dst": [dst]} for src, dst in pairs]
    setting = setting_of({"topology": tree(4), "traffic": entries})
    drawn = PlannedMap(network, {}, ways=flow_ways(setting, 1, network))
    number = network.numbers
    crossed = drawn.crossed()
    assert crossed[number["h0"], number["edge0"]] == (3, True)
    assert crossed[number["edge0"], number["h1"]] == (1, True)
    assert crossed[number["edge0"], number["agg0"]] == (2, False)
    assert crossed[number["edge7"], number["h15"]] == (2, True)
    assert len(crossed) == 3 + 2 + 4 + 4 + 2 + 0


def test_the_same_picture_has_the_same_bytes() -> None:
    """Nothing of the time or the machine is in it; a notebook shows it as an image."""
    drawn = network_map(topology.build(topology_of(RING)), "a < b")
    assert svg(drawn) == svg(drawn)
    assert drawn._repr_html_().startswith('<img alt="a &lt; b; 4 hosts; 4 switches;')


def test_a_notebook_shows_topologies_and_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose kinds are registered once something of the package is used there."""
    shown: dict[type, Any] = {}
    html = SimpleNamespace(for_type=shown.__setitem__)
    shell = SimpleNamespace(display_formatter=SimpleNamespace(formatters={"text/html": html}))
    kernel = SimpleNamespace(get_ipython=lambda: shell, version_info=(9, 0))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    tree = pyorch.FatTree(k=4, rate="10Gbps", delay="1us")
    (show,) = (function for kind, function in shown.items() if isinstance(tree, kind))
    assert "16 hosts; 20 switches;" in show(tree)
    assert "16 hosts; 20 switches;" in shown[topology.Topology](topology.build(tree))
    assert "1 switch; 2 × 10Gbps" in shown[RunSpec](run_of({}))
