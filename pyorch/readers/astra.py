"""ASTRA-sim's system (JSON) and the network of its analytical backend (YAML).

From astra-sim/astra-sim 518bd51 (Sys.cc, Roofline.cc, examples) and astra-network-analytical: an
entry for each dimension, the innermost first; a message takes the latency of each link that it
passes, two in a Switch; a GB/s is 2^30 bytes a second for links, 10^9 for memory; a computation
takes num_ops / min(peak-perf, local-mem-bw num_ops / tensor_size) if roofline-enabled is not 0.
Every NPU has a link of its own in each dimension (MultiDimTopology), so that those of the outer one
connect the same places of all groups of the inner one. There a message whose ends differ in both
takes the time of the inner one; here it goes by a rail.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pyorch.base.errors import Problem, UserError, one_of, refusal
from pyorch.base.reading import read_json, read_text
from pyorch.base.units import format_rate, format_time
from pyorch.readers.plain_yaml import read_yaml
from pyorch.readers.records import Settings

_SIGN = re.compile(r"^npus_count\s*:", re.MULTILINE)
_HOPS = {"Switch": 2, "Ring": 1, "FullyConnected": 1}
"""Links that a message passes in a dimension."""
_MOST_NPUS = 4096
_LISTS = ("topology", "npus_count", "bandwidth", "latency")
_SUFFIX = "-implementation"
_RINGS = {"ring": "ring", "oneRing": "ring"}
_NAMES = {
    "all-reduce": {
        **_RINGS,
        "halvingDoubling": "halving_doubling",
        "oneHalvingDoubling": "halving_doubling",
        "doubleBinaryTree": "double_tree",
    },
    "all-gather": {**_RINGS, "halvingDoubling": "doubling", "oneHalvingDoubling": "doubling"},
    "reduce-scatter": {**_RINGS, "halvingDoubling": "halving", "oneHalvingDoubling": "halving"},
    "all-to-all": {"direct": "direct", "oneDirect": "direct"},
}
"""Algorithms by operation, and their names here."""
_READ = ("roofline-enabled", "peak-perf", "local-mem-bw")


class _Dimension(NamedTuple):
    """rate: bit/s of an NPU's port. across: time of a message's way [ps]."""

    kind: str
    npus: int
    rate: int
    across: int


def is_network(file: Path) -> bool:
    """Whether a YAML file is a network of the analytical backend."""
    return _SIGN.search(read_text(file, file.name)) is not None


def is_system(content: Mapping[str, Any]) -> bool:
    """Whether a JSON document is a system."""
    return any(key.endswith(_SUFFIX) for key in content)


def network(file: Path, label: str) -> Settings:
    """Read a network as a [topology]. Raises UserError."""
    all_ = _dimensions(read_yaml(file, label), label)
    dimensions = [one for one in all_ if one.npus > 1]
    if not 0 < len(dimensions) < 3:
        told = " x ".join(str(one.npus) for one in all_)
        what = f"{len(dimensions)} dimensions of several NPUs ({told})"
        hint = "write those inside a server as one, with the rate and latency of an NPU's way"
        raise refusal(f"{label}: npus_count", what, "one, or two: servers, and between them", hint)
    outer, found = dimensions[-1], Settings()
    link = {"rate": format_rate(outer.rate), "delay": format_time(outer.across // 2)}
    found.network = {"kind": "star", "hosts": outer.npus, **link}
    if len(dimensions) == 2:
        inner = dimensions[0]
        rails = {"groups": 1, "servers_per_group": outer.npus, "hosts_per_server": inner.npus}
        inside = {"rate": format_rate(inner.rate), "delay": format_time(inner.across)}
        found.network = {"kind": "rail_optimised", **rails, "spines": 1, **link, "scale_up": inside}
        found.job["nic"] = "rail"
        told = f"dimension 1 is the scale-up domain of servers of {inner.npus}, without contention"
        found.assumed.append(f"{told} inside; dimension 2 a leaf for each place in a server")
    for one in dimensions:
        if one.kind != "Switch":
            each = "" if one.kind == "Ring" else f", {one.npus - 1} times that of a link"
            found.assumed.append(
                f"{one.kind} of {one.npus} is a switch with a port for each NPU{each}: exact for "
                f"messages to {'the next NPU' if one.kind == 'Ring' else 'all others at once'}"
            )
    return found


def _dimensions(content: Any, label: str) -> list[_Dimension]:
    table = content if isinstance(content, dict) else {}
    lists = [table.get(key) for key in _LISTS]
    if not all(isinstance(one, list) and len(one) == len(lists[0] or ()) for one in lists):
        what = "is not a network with a value for each dimension"
        raise refusal(label, what, "lists of one length: " + ", ".join(_LISTS))
    problems: list[Problem] = []
    found = []
    for number, values in enumerate(zip(*lists, strict=True)):
        wrong = _wrong(values)
        if wrong is None:
            kind, npus, rate, latency = values
            links = npus - 1 if kind == "FullyConnected" else 1
            bits = round(rate * 2**30 * 8) * max(1, links)
            found.append(_Dimension(kind, npus, bits, round(latency * 1000) * _HOPS[kind]))
        else:
            key, allowed = wrong
            what = repr(values[_LISTS.index(key)])[:80]
            problems.append(Problem(f"{label}: {key}[{number}]", what, allowed))
    if problems:
        raise UserError(problems)
    return found


def _wrong(values: Sequence[Any]) -> tuple[str, str] | None:
    """Return the key of a value that no dimension can have, and what is allowed; None: none."""
    kind, npus, rate, latency = values
    numbers = [type(one) in (int, float) for one in (rate, latency)]
    if kind not in _HOPS:
        return "topology", one_of(_HOPS)
    if type(npus) is not int or not 0 < npus <= _MOST_NPUS:
        return "npus_count", f"1 to {_MOST_NPUS}"
    if not numbers[0] or not 0.01 <= rate <= 10_000:
        return "bandwidth", "0.01 to 10000 GB/s"
    if not numbers[1] or not 0 <= latency <= 1e9:
        return "latency", "0 to 1e9 ns"
    return None


def system(file: Path, label: str) -> Settings:
    """Read a system: algorithms and processors. Raises UserError."""
    content, found = read_json(file, label), Settings()
    for operation, known in _NAMES.items():
        given = content.get(f"{operation}{_SUFFIX}", [])
        names = [str(one) for one in given] if isinstance(given, list) else [str(given)]
        ours = [known.get(name.rstrip("0123456789")) for name in names]
        key = operation.replace("-", "_")
        if ours and ours[0]:
            found.job.setdefault("algorithms", {})[key] = ours[0]
        else:
            default = next(iter(known.values()))
            found.left_out += [f"{operation} by {one_of(names)}: by {default}"] if names else []
        if len(set(ours)) > 1:
            told = f"{operation} by {names[0]}, that of dimension 1: one algorithm for all"
            found.assumed.append(told)
    if content.get("roofline-enabled"):
        peak, memory = (content.get(key) for key in _READ[1:])
        for key, value in zip(_READ[1:], (peak, memory), strict=True):
            if type(value) not in (int, float) or not 0 < value <= 1e9:
                allowed = "a number above 0, as roofline-enabled is not 0"
                raise refusal(f"{label}: {key}", f"it is {value!r}", allowed)
        found.job |= {"flops": float(peak * 10**12), "memory_rate": float(memory * 10**9)}
    others = [key for key in content if key not in _READ and not key.endswith(_SUFFIX)]
    if others:
        told = "collectives are neither cut nor ordered by a scheduler, endpoints take no time"
        found.left_out.append(f"{', '.join(others)}: {told}")
    return found
