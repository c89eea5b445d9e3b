"""Pictures of networks before they run: names, ways of flows, cycles, as read from the SVG."""

from __future__ import annotations

import itertools
import re
import sys
from types import SimpleNamespace
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import networkx as nx
import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

import pyorch
from pyorch.network import failing, topology
from pyorch.plan import RunSpec
from pyorch.report.figures.picture import Line
from pyorch.report.layout import layout
from pyorch.report.planned import MOST_COLOURS, PlannedMap, network_map, planned_map, svg
from pyorch.setting.dependency import flow_cycle, flow_ways
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


@pytest.mark.drawing
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


class Stroke(NamedTuple):
    """A straight line of an SVG: colour, width, and its ends as complex numbers."""

    colour: str
    width: float
    start: complex
    end: complex

    def covers(self, other: Stroke) -> bool:
        """Whether all of the middle half of another line is below this one."""
        along = (self.end - self.start) / abs(self.end - self.start)
        for part in (0.25, 0.75):
            beside = (other.start + part * (other.end - other.start) - self.start) / along
            if abs(beside.imag) > self.width / 2 or not 0 <= beside.real <= abs(
                self.end - self.start
            ):
                return False
        return True


def drawn_lines(picture: str, *, legend: bool = False) -> list[Stroke]:
    """The straight lines of an SVG's network, or of its legend, the lowest first."""
    found = []
    for path in ET.fromstring(picture).iter(f"{SVG}path"):  # noqa: S314 (our own)
        shape = r"M (\S+) (\S+)\s+(?:L \S+ \S+\s+)?L (\S+) (\S+)\s*"  # a legend's has a middle
        ends = re.fullmatch(shape, path.attrib["d"])
        colour = re.search(r"stroke: (#\w+)", path.attrib.get("style", ""))
        if ends and colour and ("clip-path" not in path.attrib) == legend:
            width = re.search(r"stroke-width: ([\d.]+)", path.attrib["style"])
            x, y, u, v = map(float, ends.groups())
            line = Stroke(
                colour[1], float(width[1]) if width else 1.0, complex(x, y), complex(u, v)
            )
            found.append(line)
    return found


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


def broken_tree() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A fat-tree whose failed links allow a cycle, and flows that cause it if ECMP chooses so."""
    table = failing.draw_failed_links(topology_of(tree(4) | {"random_failed_links": 4}), 10)
    form = tree(4) | {"failed_links": [list(ends) for ends in table.failed_links]}
    ends = [(f"h{n}", f"h{(5 * n + 3) % 16}") for n in range(16)]
    return form, [{"kind": "greedy", "src": [src], "dst": [dst]} for src, dst in ends]


def around(switches: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A ring, and flows over two links each, all around it."""
    at = [n % switches for n in range(switches + 2)]
    paths = [[f"h{n}", f"s{n}", f"s{at[n + 1]}", f"s{at[n + 2]}", f"h{at[n + 2]}"] for n in at[:-2]]
    entries = [{"kind": "greedy", "src": [p[0]], "dst": [p[-1]], "path": p} for p in paths]
    return RING | {"switches": switches}, entries


def band_of(drawn: PlannedMap) -> Line:
    """How a cycle is drawn."""
    (band,) = (line for text, line in drawn.lines() if text == "cyclic dependency")
    return band


@pytest.mark.parametrize(
    "scene", [around(3), around(6), around(8), broken_tree()], ids=["few", "six", "many", "ECMP"]
)
def test_the_cycle_hides_no_flow(scene: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    """Nothing wide lies on the line of a flow; every line of a flow on the cycle is on its band."""
    topology_form, entries = scene
    setting = setting_of({"topology": topology_form, "traffic": entries})
    drawn = planned_map(setting, 1)
    band = band_of(drawn)
    colours = {line.colour for _, line in drawn.lines()} - {band.colour}
    found = drawn_lines(svg(drawn))
    for number, line in enumerate(found):
        if line.colour in colours:
            assert not any(above.covers(line) for above in found[number + 1 :]), line
    bands = [line for line in found if line.colour == band.colour]
    assert len(bands) == len(flow_cycle(setting, 1).cycle)
    flows = [line for line in found if line.colour in colours]
    marked = sum(any(one.covers(line) for one in bands) for line in flows)
    used = [line for _, line in drawn.lines() if line.colour != band.colour]
    assert marked == sum(one in band.egresses for line in used for one in line.egresses) > 0


def test_a_cycle_that_only_a_later_change_allows_is_drawn() -> None:
    """Where it is, no flow goes by the routes at the start."""
    form, entries = around(4)
    network = topology.build(topology_of(form))
    cycle = flow_cycle(setting_of({"topology": form, "traffic": entries}), 1)
    drawn = PlannedMap(network, layout(network), cycle=cycle)
    assert (
        len([line for line in drawn_lines(svg(drawn)) if line.colour == band_of(drawn).colour]) == 4
    )


def test_lines_of_large_networks_leave_room_and_the_legend_is_legible() -> None:
    """Of a permutation on 128 hosts: between two rows much stays free."""
    ends = [(f"h{n}", f"h{(5 * n + 3) % 128}") for n in range(128)]
    entries = [{"kind": "greedy", "src": [src], "dst": [dst]} for src, dst in ends]
    drawn = planned_map(setting_of({"topology": tree(8), "traffic": entries}), 1)
    picture = svg(drawn)
    flows = {line.colour for _, line in drawn.lines()}
    used = [line for line in drawn_lines(picture) if line.colour in flows]
    rows = sorted(line.start.imag for line in used)
    low, high = rows[0], sorted(line.end.imag for line in used)[len(used) // 3]
    layer = [one for one in used if max(one.start.imag, one.end.imag) < high]
    assert len(layer) == 256
    xs = [one.start.real for one in layer]
    area = (max(xs) - min(xs)) * (high - low)
    assert 0.1 < sum(one.width * abs(one.end - one.start) for one in layer) / area < 0.5
    keys = drawn_lines(picture, legend=True)
    assert {key.colour for key in keys} == flows
    assert all(1.5 < key.width < 6 for key in keys)


def test_the_cycle_drawn_is_that_of_the_analysis() -> None:
    """Four flows around a ring; without the last there is none."""
    paths = [
        [f"h{n}", f"s{n}", f"s{(n + 1) % 4}", f"s{(n + 2) % 4}", f"h{(n + 2) % 4}"]
        for n in range(4)
    ]
    entries = [{"kind": "greedy", "src": [p[0]], "dst": [p[-1]], "path": p} for p in paths]
    setting = setting_of({"topology": RING, "traffic": entries})
    drawn = planned_map(setting, 1)
    red = band_of(drawn)
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
