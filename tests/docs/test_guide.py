"""The guide of experiment files: its tables of keys say what the models say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from pyorch.addons.jobs.collective_kind import Phase
from pyorch.base.fields import Table, encode
from pyorch.base.units import parse_time
from pyorch.files.model import KEYS
from pyorch.network import topology
from pyorch.setting import experiment
from pyorch.traffic import base as traffic
from tests.strategies import ROOT

NEEDED = object()
"""Stands for the default of a key that must be given."""
WORDS: dict[str, list[Any]] = {
    "needed": [NEEDED],
    "none": [None, []],
    "all": [[]],
    '`"all"`': [["all"]],
    "kind and number": [None],
    "see below": [None],
    "the first": [None],
}
"""Defaults that the guide gives in words, and the values that they may mean."""
TABLES: list[tuple[str, type[Table]]] = [
    ("[run]", experiment.RunTable),
    ("[topology]", topology.TopologyTable),
    ("[[traffic]]", traffic.TrafficTable),
    ("Collective communication", Phase),
    ("[[trace]]", experiment.TraceTable),
]
"""Headings whose first table is of the keys of a model."""


def page(name: str) -> str:
    """The text of a page."""
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """A heading and what is below it, deeper headings included."""
    found = re.search(rf"^(#+) {re.escape(heading)}$", text, re.MULTILINE)
    assert found, heading
    end = re.compile(rf"^#{{1,{len(found[1])}}} ", re.MULTILINE).search(text, found.end())
    return text[found.start() : end.start() if end else len(text)]


def rows(text: str) -> Iterator[dict[str, str]]:
    """The rows of the first table, by the heads of its columns."""
    found = re.search(r"(?:^[|].*\n)+", text, re.MULTILINE)
    assert found, text
    lines = found[0].splitlines()
    head, _, *body = ([cell.strip() for cell in line[1:-1].split("|")] for line in lines)
    yield from (dict(zip(head, line, strict=True)) for line in body)


def names(cell: str) -> list[str]:
    """The text between backticks."""
    return re.findall(r"`([^`]+)`", cell)


def slug(heading: str) -> str:
    """The anchor of a heading, as on a git host and on the site."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def told(heading: str, text: str) -> list[tuple[str, str]]:
    """Keys and the texts of their defaults, as the first table of a section has them."""
    return [
        (key, row["default"]) for row in rows(section(text, heading)) for key in names(row["key"])
    ]


def kept(model: type[Table]) -> list[tuple[str, Any]]:
    """Keys of a model and their defaults."""
    return [
        # a base of kinds has no kind; its entries have one each
        (
            info.alias or name,
            NEEDED if info.is_required() or name == "kind" else info.default,
        )
        for name, info in model.model_fields.items()
    ]


def means(text: str, value: Any) -> bool:
    """Whether the text of a default means a value."""
    if text in WORDS:
        return value in WORDS[text]
    if text.endswith("s"):
        return parse_time(text.replace(" ", "")) == value
    read = json.loads(text.strip("`"))
    return type(read) is type(value) and bool(read == value)


@pytest.mark.parametrize(("heading", "model"), TABLES, ids=[model.__name__ for _, model in TABLES])
def test_a_table_of_keys_is_that_of_its_model(heading: str, model: type[Table]) -> None:
    """The same keys in the same order, with the same defaults."""
    guide, fields = told(heading, page("experiments.md")), kept(model)
    assert [key for key, _ in guide] == [key for key, _ in fields]
    wrong = [
        (key, text, value)
        for (key, text), (_, value) in zip(guide, fields, strict=True)
        if not means(text, value)
    ]
    assert not wrong


def test_an_unsaid_default_is_the_same_when_it_is_said() -> None:
    """A key that is left out at its default leaves no trace in the form of a run."""
    (key,) = experiment.RunTable.left_out
    plain = encode(experiment.RunTable(duration="1ms"))
    assert encode(experiment.RunTable(duration="1ms", **{key: True})) == plain
    assert encode(experiment.RunTable(duration="1ms", **{key: False})) == {**plain, key: False}


def test_every_key_at_the_top_is_found_in_the_index() -> None:
    """Each once, with a link to a section about it."""
    guide = page("experiments.md")
    found: list[str] = []
    for row in rows(section(guide, "All keys")):
        keys = names(row["keys at the top of a file"])
        link = re.search(r"\]\(([\w.]*)#([\w-]+)\)$", row["described in"])
        assert link, row
        text = page(link[1]) if link[1] else guide
        (heading,) = (
            title
            for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
            if slug(title) == link[2]
        )
        for key in keys:
            assert re.search(rf"[`[]{key}[]`.]", section(text, heading)), (key, heading)
        found += keys
    assert sorted(found) == sorted(KEYS)


def test_the_guide_names_every_key() -> None:
    """No key of a table of this package is missing from docs/experiments.md and docs/bring.md."""
    guide = page("experiments.md") + page("bring.md")
    models = [
        experiment.RunTable,
        experiment.TraceTable,
        *experiment.FAULTS.values(),
        *topology.KINDS.values(),
        *traffic.KINDS.values(),
    ]
    keys = {
        info.alias or name
        for model in models
        for name, info in model.model_fields.items()
        if not info.exclude
    }
    known = keys | set(topology.KINDS) | set(traffic.KINDS) | set(experiment.FAULTS)
    assert [name for name in sorted(known) if f"`{name}`" not in guide] == []
