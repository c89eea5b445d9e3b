"""A project to mutate: a copy of every shipped file, and a few that use what those do not."""

from __future__ import annotations

import datetime
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli

from pyorch.addons.jobs.chakra import Node, write

#: Uses every table and every way to name a file; small enough to be changed thousands of times.
FULL = """
title = "Everything at once"
question = "Is nonsense refused?"
source = "none"
flow_control = ["pfc"]
congestion_control = "dcqcn"
[run]
duration = "1ms"
warmup = "100us"
drain = "1ms"
seeds = 2
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 3
rate = "10Gbps"
delay = "1us"
random_failed_links = 1
failures = [{ link = ["leaf0", "spine0"], down = "100us", up = "200us" }]
[port]
control_delay = "1us"
[buffer]
size = "16MB"
threshold = "dynamic"
alpha = 0.125
[[node]]
names = "spine*"
[node.buffer]
alpha = 0.5
[[route]]
switch = "leaf0"
dst = "h4"
next = "spine1"
at = "10us"
until = "20us"
[[traffic]]
kind = "greedy"
label = "bulk"
src = ["h0..h1"]
dst = "h3"
rate_cap = "1Gbps"
on = "10us"
off = "10us"
[[traffic]]
kind = "messages"
file = "messages.csv"
[[traffic]]
kind = "messages"
messages = [{ src = "h0", dst = "h1", size = "1KB", start = "1us" }]
path = ["h0", "leaf0", "h1"]
[[traffic]]
kind = "incast"
dst = "h0"
degree = 2
size = "1KB"
repeat = 2
interval = "1us"
jitter = "100ns"
[[traffic]]
kind = "poisson"
workload = "sizes.csv"
load = 0.5
pattern = "inter-rack"
[[traffic]]
kind = "permutation"
size = "10KB"
shift = 1
[[traffic]]
kind = "all_to_all"
hosts = ["h0..h3"]
size = "1KB"
[[traffic]]
kind = "collective"
connection = "message"
file = "jobs.json"
[[traffic]]
kind = "collective"
connection = "message"
file = "jobs.toml"
[[fault]]
kind = "slow_receiver"
host = "h1"
rate = "1Gbps"
[[fault]]
kind = "pause_storm"
host = "h2"
start = "10us"
stop = "20us"
[[trace]]
table = "queue"
ports = ["leaf0:h0"]
classes = [3]
[[trace]]
table = "egress"
period = "10us"
[sweep.scenario.near]
"topology.delay" = "1us"
[sweep.scenario.far]
"topology.delay" = "10us"
[variants]
files = "schemes/*.toml"
modules = "flow_control"
[variants.A]
"port.control_delay" = "2us"
[variants.B]
flow_control = []
[set]
small = ["run.seeds=1"]
[sweep]
"traffic.0.rate_cap" = ["1Gbps", "2Gbps"]
[[metric]]
name = "peak"
kind = "max"
table = "queue"
port = "leaf0:h0"
class = 3
[[metric]]
kind = "fct"
each = [{ name = "fct" }, { name = "fct_h0", src = ["h0"] }]
[[figure]]
name = "f"
kind = "timeseries"
rows = [{ table = "queue", port = "leaf0:h0", class = 3 }]
[[expect]]
what = "w"
metric = "peak"
where = { variant = "A" }
max = "1MB"
status = "derived"
source = "s"
"""
_SCHEME = """
name = "ruled"
about = "A scheme with rules."
flow_control = ["pfc"]
[values]
"buffer.threshold" = { value = "static", source = "s" }
"buffer.xoff" = { size = "min(share, 10 * frame)", source = "s" }
"buffer.xon" = { size = "min(share, 10 * frame) - 2 * frame", source = "s" }
"""
_MESSAGES = """src,dst,size,start,class,id,after,delay
# a comment
h0,h3,10KB,1us,3,a,,
h1,h4,2000,5us,3,b,a,1us
h2,h5,1MB,,,c,a b,
"""
_SIZES = "size_bytes,cumulative\n100,0\n1000,0.5\n100000,1\n"
_JOB = {
    "collective": [
        {"name": "g", "operation": "all_gather", "size": "100KB", "hosts": ["all"]},
        {"name": "r", "operation": "all_reduce", "size": "1MB", "after": ["g"], "delay": "1us"},
    ],
    "repeat": 2,
}
_COMPARISON = '[variants.GUEST]\nflow_control = ["pfc"]\n"port.control_delay" = "3us"\n'
_SLURM = """
partition = "main"
account = "project1"
qos = "normal"
time = "2h"
mem = "2G"
max_running = 200
cores_per_job = 1
job_overhead = "5s"
run_time = "60s"
build_on_node = false
setup = ["module load gcc/12"]
options = ["--constraint=avx2"]
"""
OWN = "experiments/campaign"
SEALED = "results/campaign/sealed/runs/"
"""Where the one finished run is."""
SLURM = "slurm.toml"
COMPARISON = "ns3-modules/guest/comparison.toml"
FIRST = f"{OWN}/full.toml"


@dataclass
class Project:
    """The copy.

    content: of every file by its path. users: for each file the name of an experiment that reads
    it, or its own path if it is an experiment itself.
    """

    root: Path
    content: dict[str, bytes] = field(default_factory=dict)
    users: dict[str, str] = field(default_factory=dict)

    def document(self, path: str) -> dict[str, Any]:
        """Return a TOML or JSON file of the project as a table."""
        text = self.content[path].decode("utf-8")
        loaded: dict[str, Any] = json.loads(text) if path.endswith("json") else tomli.loads(text)
        return loaded

    def experiments(self) -> list[str]:
        """Paths of the experiment files."""
        return [path for path, user in self.users.items() if user == path]

    def put(self, files: Mapping[str, bytes | str]) -> None:
        """Write mutated files; a text instead of bytes is what to make of the path, see `_make`."""
        for path, content in files.items():
            self._remove(self.root / path)
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                (self.root / path).write_bytes(content)
            elif content in OTHERS:
                (self.root / path).write_bytes(self.content[path])
                _give_away(self.root / path, content)
            else:
                _make(self.root / path, content)

    def restore(self, files: Mapping[str, bytes | str]) -> None:
        """Put the shipped files back."""
        for path in files:
            self._remove(self.root / path)
        below = tuple(f"{path}/" for path in files)  # of folders that were replaced
        for path in [one for one in self.content if one in files or one.startswith(below)]:
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_bytes(self.content[path])

    @staticmethod
    def _remove(path: Path) -> None:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


SPECIAL = ["folder", "missing", "loop", "dangling", "fifo", "sparse", "device"]
"""What may stand where a file should be."""
OTHERS = ["foreign", "open to all", "secret"]
"""What the owner or the mode of a file may be."""
NOBODY = 65534
_LINK = "link to "


def link_to(target: str) -> str:
    """Return what makes a path a symbolic link."""
    return _LINK + target


def _make(path: Path, what: str) -> None:
    if what == "folder":
        path.mkdir()
    elif what == "loop":
        path.symlink_to(path.name)
    elif what == "dangling":
        path.symlink_to("nowhere")
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "device":
        path.symlink_to("/dev/zero")
    elif what == "sparse":
        with path.open("wb") as file:
            file.truncate(3 * 2**30)

    elif what.startswith(_LINK):
        path.symlink_to(what.removeprefix(_LINK))


def _give_away(path: Path, what: str) -> None:
    """Make a file another user's; without root's rights only its mode changes."""
    if what == "foreign" and os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)
    path.chmod({"foreign": 0o644, "open to all": 0o666, "secret": 0o000}[what])


def _of_other_tools(nodes: list[str], links: list[tuple[str, str]]) -> dict[str, str]:
    """Return a small file in each dialect of other simulators and tools."""
    numbers = {name: number for number, name in enumerate(nodes)}
    hosts = [name for name in nodes if name.startswith("h")]
    switches = [str(numbers[name]) for name in nodes if name not in hosts]
    files: dict[str, str] = {}
    files["network.txt"] = "\n".join(
        [
            f"{len(nodes)} {len(switches)} {len(links)}",
            " ".join(switches),
            *(f"{numbers[a]} {numbers[b]} 1Gbps 0.001ms 0" for a, b in links),
        ]
    )
    ends = [str(numbers[name]) for name in hosts]
    files["flow.txt"] = f"1\n{ends[0]} {ends[1]} 3 100 1000 0.000001\n"
    files["sizes.txt"] = "100\n10 25\n1000 100\n"
    files["network.gml"] = "graph [ " + " ".join(
        [
            *(f'node [ id {number} label "{name}" ]' for name, number in numbers.items()),
            *(f"edge [ source {numbers[a]} target {numbers[b]} ]" for a, b in links),
        ]
    )
    files["network.gml"] += " ]\n"
    files["flow.cm"] = (
        "Nodes 3\nConnections 2\nTriggers 1\n0->1 id 1 start 5 size 9 send_done_trigger 7\n"
        "1->2 id 2 trigger 7 size 9\ntrigger id 7 oneshot\n"
    )
    files["network.topo"] = (
        "Nodes 4\nTiers 2\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\n"
        "Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\n"
    )
    return files


def _networks() -> dict[str, str | bytes]:
    """Return one small network in each format, a schedule and traces, each with an experiment."""
    nodes, links = ["h0", "h1", "h2", "s0"], [(f"h{n}", "s0") for n in range(3)]
    key = '<key id="r" for="edge" attr.name="rate" attr.type="string"/>'
    graph = '<graph edgedefault="undirected">' + "".join(f'<node id="{name}"/>' for name in nodes)
    graph += "".join(
        f'<edge source="{a}" target="{b}"><data key="r">1Gbps</data></edge>' for a, b in links
    )
    listed = [{"source": a, "target": b, "rate": "1Gbps"} for a, b in links]
    yaml = [
        "topology:",
        "  nodes:",
        *(f"    {name}: {{kind: linux}}" for name in nodes),
        "  links:",
    ]
    yaml += [f'    - {{endpoints: ["{a}:1", "{b}:2"], labels: {{rate: 1Gbps}}}}' for a, b in links]
    files: dict[str, str | bytes] = {
        "network.graphml": f"<graphml>{key}{graph}</graph></graphml>",
        "network.json": json.dumps({"nodes": [{"id": name} for name in nodes], "links": listed}),
        "network.csv": "a,b,rate\n" + "".join(f"{a},{b},1Gbps\n" for a, b in links),
        "network.yml": "\n".join(yaml) + "\n",
        "network.goal": "num_ranks 2\nrank 0 {\na: calc 100\nb: send 1000b to 1 tag 7\n"
        "b requires a\n}\nrank 1 {\nc: recv 1000b from 0 tag 7\n}\n",
    }
    files |= _of_other_tools(nodes, links)
    one = {"comm_type": 0, "comm_size": 1000, "involved_dim": [True]}
    for rank in range(2):
        trace = [Node(1, "COMP_NODE", (), 5), Node(2, "COMM_COLL_NODE", (1,), 0, one)]
        files[f"job/job.{rank}.et"] = write(trace)
    for suffix in (
        *("graphml", "json", "csv", "yml", "goal", "et"),
        *("txt", "gml", "topo", "cm", "sizes"),
    ):
        table: dict[str, Any] = {
            "title": suffix,
            "flow_control": ["pfc"],
            "run": {"duration": "10us"},
        }
        table["topology"] = {"kind": "star", "hosts": 3, "rate": "10Gbps", "delay": "1us"}
        table["traffic"] = [{"kind": "greedy", "src": "h0", "dst": "h1"}]
        if suffix in ("goal", "et"):
            kind, file = ("goal", "network.goal") if suffix == "goal" else ("chakra", "job/job")
            table["traffic"] = [{"kind": kind, "file": file}]
        elif suffix == "sizes":
            poisson = {"kind": "poisson", "workload": "sizes.txt", "load": 0.1}
            table["traffic"] = [poisson]
        elif suffix == "cm":
            table["traffic"] = [{"kind": "messages", "file": "flow.cm"}]
        else:
            if suffix == "txt":
                table["traffic"] = [{"kind": "messages", "file": "flow.txt"}]
            elif suffix in ("gml", "topo"):
                table["traffic"] = [{"kind": "permutation", "shift": 1, "size": "1KB"}]
            own = {"kind": "file", "file": f"network.{suffix}", "rate": "1Gbps", "delay": "1us"}
            table["topology"] = own
        files[f"network-{suffix}.toml"] = to_toml(table)
    return files


_SEALED = """
title = "A run that is done"
flow_control = ["pfc"]
run.duration = "10us"
topology = { kind = "star", hosts = 2, rate = "10Gbps", delay = "1us" }
traffic = [{ kind = "greedy", src = "h0", dst = "h1" }]
trace = [{ table = "queue", ports = ["s0:h1"], classes = [3] }]
metric = [{ name = "peak", kind = "max", table = "queue", port = "s0:h1", class = 3 }]
"""
_KINDS = """from typing import Literal

from pyorch.metrics import Metric, metric


@metric
class Own(Metric):
    "Nothing."

    kind: Literal["own"] = "own"

    def unit(self):
        return "1"

    def value(self, run):
        return 1.0
"""


def make_project(root: Path, source: Path) -> Project:
    """Copy the shipped files of the project at `source` and add those of this module."""
    project = Project(root)
    for folder in ("experiments", "benchmarks"):
        for file in sorted((source / folder).rglob("*")):
            if file.suffix in (".toml", ".csv", ".json", ".py") and "__pycache__" not in file.parts:
                project.content[file.relative_to(source).as_posix()] = file.read_bytes()
    for file in sorted((source / "ns3-modules").glob("*/presets.toml")):
        module = f"ns3-modules/{file.parent.name}"
        project.content[f"{module}/{file.name}"] = file.read_bytes()
        project.content[f"{module}/CMakeLists.txt"] = b"build_lib(LIBNAME presets)\n"
    own: dict[str, str | bytes] = {
        FIRST: FULL,
        f"{OWN}/messages.csv": _MESSAGES,
        f"{OWN}/sizes.csv": _SIZES,
        f"{OWN}/jobs.json": json.dumps(_JOB),
        f"{OWN}/jobs.toml": to_toml(_JOB),
        f"{OWN}/schemes/ruled.toml": _SCHEME,
        f"{OWN}/sealed.toml": _SEALED,
        f"{OWN}/own.toml": f'kinds = ["own.py"]\n{_SEALED.replace("A run", "A kind")}',
        f"{OWN}/own.py": _KINDS,
        **{f"{OWN}/{name}": text for name, text in _networks().items()},
        COMPARISON: _COMPARISON,
        "ns3-modules/guest/CMakeLists.txt": "build_lib(LIBNAME guest)\n",
        SLURM: _SLURM,
    }
    project.content |= {
        path: text if isinstance(text, bytes) else text.encode() for path, text in own.items()
    }
    project.put(project.content)
    project.users = _users(project)
    return project


def _users(project: Project) -> dict[str, str]:
    """Find for every file an experiment that reads it: the smallest that names it."""
    experiments = [
        path
        for path in project.content
        if path.endswith(".toml")
        and path.split("/")[0] in ("experiments", "benchmarks")
        and not {"schemes", "parts", "workloads"} & set(path.split("/"))
        and not path.endswith("jobs.toml")
    ]
    users = {path: path for path in experiments} | {COMPARISON: FIRST}
    users |= {path: FIRST for path in project.content if path.endswith("/presets.toml")}
    by_size = sorted(experiments, key=lambda path: len(project.content[path]))
    for path in project.content:
        if path in users or path.endswith((".py", ".et")):
            continue
        folder, _, name = path.rpartition("/")
        named = [name, f"{folder.rpartition('/')[2]}/*", f'"{name.removesuffix(".csv")}"']
        for user in by_size:
            text = project.content[user].decode()
            beside = path.startswith(f"{user.rpartition('/')[0]}/") or name.endswith(".csv")
            if beside and any(word in text for word in named):
                users[path] = user
                break
    return users


def to_toml(table: Mapping[str, Any]) -> str:
    """Return a table as TOML, everything below the top level inline."""
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())


def _key(key: str) -> str:
    return _text(key)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, str | bool):
        return _text(value) if isinstance(value, str) else str(value).lower()
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(key)} = {_value(part)}" for key, part in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, int) and abs(value) >= 10**4000:  # Python would not write it
        return "9" * 5000
    plain = isinstance(value, datetime.date | datetime.time)
    return value.isoformat() if plain else repr([] if value is None else value)
