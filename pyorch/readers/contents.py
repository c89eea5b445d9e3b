"""What a file of another simulator or tool holds: by its name, else by its first lines."""

from __future__ import annotations

from pathlib import Path

from pyorch.base.errors import one_of, quoted, refusal
from pyorch.base.reading import read_json, read_text, words_of
from pyorch.base.units import is_number, whole
from pyorch.readers import astra, door, hpcc_config, mlxconfig, sonic

_COLUMNS = {"a": "network", "src": "messages", "size_bytes": "sizes"}
"""Columns that tell what a CSV file with a header holds."""
UNUSED = {
    "trace": "a list of nodes to trace",
    "logical": "logical dimensions: a collective has one algorithm for all of them",
    "memory": "memory beside a rank's takes no time",
}
"""What files hold that has no counterpart."""
_HEADS = "a, b, ... of a network; src, dst, size, ... of messages; size_bytes, cumulative of sizes"
_ALLOWED = (
    "a network, messages, sizes, a job, or settings: docs/bring.md has the formats, and what their "
    "files are called"
)


def content_of(file: Path) -> str:
    """Return network, messages, job, sizes, groups, settings, nic, switch, profiles or others.

    groups: process groups of a job. settings: of the HPCC simulator; nic: a dump of mlxconfig;
    switch, profiles: of SONiC; system, dimensions: of ASTRA-sim, and one of UNUSED. Raises
    UserError if it is none of them.
    """
    suffix = file.suffix.lower()
    if suffix == ".ini":
        return "profiles"
    if suffix == ".json":
        return _of_json(read_json(file, file.name))
    if suffix in (".yml", ".yaml") and astra.is_network(file):
        return "dimensions"
    if suffix not in (".txt", ".csv"):
        for content in ("network", "messages", "job"):
            if door.format_of(file.name, content):
                return content
    text = read_text(file, file.name)
    if mlxconfig.is_dump(text):
        return "nic"
    lines = (words for _, words in words_of(text.replace(",", " "), "#"))
    first, second = next(lines, []), next(lines, [])
    if suffix == ".csv" and first and not is_number(first[0]):
        found = next((of for column, of in _COLUMNS.items() if column in first), None)
        what, allowed = f"its columns are {one_of(first)}", _HEADS
    else:
        found = _of_lines(first, second)
        begin = " ".join(first)[:60]
        what, allowed = f"what it holds is not known: it begins with {quoted(begin)}", _ALLOWED
    if found is None:
        raise refusal(file.name, what if first else "it is empty", allowed)
    return found


def _of_json(content: object) -> str:
    """Return what a JSON document holds."""
    if sonic.is_config(content):
        return "switch"
    tables = content if isinstance(content, dict) else {}
    if astra.is_system(tables):
        return "system"
    for unused, key in (("logical", "logical-dims"), ("memory", "memory-type")):
        if key in tables:
            return unused
    ranks = [of for of in tables.values() if isinstance(of, list) and of]
    if ranks and len(ranks) == len(tables) and all(type(one) is int for of in ranks for one in of):
        return "groups"
    return "network"


def _of_lines(first: list[str], second: list[str]) -> str | None:
    """Return what a file of the HPCC family holds, by its first two lines."""
    counted, counted_next = (len(one) == 1 and whole(one[0]) is not None for one in (first, second))
    holds = {
        "job": counted_next and first[0].isupper(),  # SimAI's policy
        "settings": hpcc_config.is_config(first),
        "messages": counted and (len(second) in (5, 6) or (first == ["0"] and not second)),
        "network": len(first) in (3, 4, 6) and all(map(is_number, first[:3])),
        "sizes": 2 in (len(first), len(second)) and bool(first) and is_number(first[0]),
        "trace": counted,
    }
    return next((of for of, does in holds.items() if does), None)
