"""`schema`: what an editor learns about experiment files is what the loader accepts."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pyorch import kinds
from pyorch.base.paths import default_paths
from pyorch.base.reading import read_toml
from pyorch.build import ensure_built, load_schema
from pyorch.catalogue.editor import schema_of
from pyorch.cli.schemes import schema as print_schema
from pyorch.files.find import list_experiments, read_document
from pyorch.files.keys import ENTRIES, KEYS, NEEDED, TEXTS, WHOLE
from pyorch.files.presets import read_presets
from pyorch.setting.attributes import catalogue

pytestmark = pytest.mark.cpp
Document = dict[str, Any]


@pytest.fixture(scope="module")
def schema() -> Document:
    """The schema with the project's modules."""
    kinds.activate({})
    types = catalogue(load_schema(ensure_built(quiet=True)), read_presets(default_paths()))
    return schema_of(types)


@pytest.fixture(scope="module")
def validator(schema: Document) -> jsonschema.Draft202012Validator:
    """What an editor does with it."""
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def shipped() -> dict[str, Document]:
    """What the shipped files say, by their names."""
    paths = default_paths()
    names = [name for name, _ in list_experiments(paths)]
    files = {name: read_document(name, paths).file for name in names}
    return {name: read_toml(file, name) for name, file in files.items()}


def test_every_shipped_experiment_is_valid(validator: jsonschema.Draft202012Validator) -> None:
    """Nothing that the loader takes is underlined; own kinds would need a schema of their own."""
    found = shipped()
    assert len(found) > 50
    wrong = {
        name: [f"{list(error.absolute_path)}: {error.message[:200]}" for error in errors]
        for name, content in found.items()
        if (errors := list(validator.iter_errors(content)))
    }
    assert not wrong


def places(content: Document) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """Keys whose misspelling must be seen, as (table, key), with the way to the table."""
    for key, value in content.items():
        yield ("", key), []
        if key in ("variants", "sweep", "set"):
            continue
        tables = value if isinstance(value, list) else [value]
        for number, table in enumerate(tables):
            way = [key, number] if isinstance(value, list) else [key]
            yield from (((key, inner), way) for inner in table if isinstance(table, dict))


def test_every_misspelt_key_is_invalid(validator: jsonschema.Draft202012Validator) -> None:
    """Each key that the shipped files use, at the top or in a table, is refused with an x more."""
    tried: set[tuple[str, ...]] = set()
    for content in shipped().values():
        for place, way in places(content):
            if place in tried:
                continue
            tried.add(place)
            changed = copy.deepcopy(content)
            table: Any = changed
            for key in way:
                table = table[key]
            table[f"{place[1]}x"] = table.pop(place[1])
            assert not validator.is_valid(changed), place
    assert len(tried) > 150


@pytest.mark.parametrize(
    "change",
    [
        {"variants": {"PFC": {"flow_contrl": ["pfc"]}}},
        {"variants": {"PFC": {"extends": ["GFC"]}}},
        {"sweep": {"scenario": {"near": {"extends": "far"}}}},
        {"sweep": {"bufer.alpha": [1, 2]}},
        {"scale": {"full": {"run.duration": "1s", "swep.x": [1]}}},
        {"run": {"duration": 5}},
        {"run": {"duration": "5 parsecs"}},
        {"flow_control": ["pcf"]},
        {"topology": {"kind": "star", "spines": 3}},
        {"trace": [{"table": "queeu"}]},
        {"title": 7},
    ],
)
def test_wrong_values_and_words_are_invalid(
    validator: jsonschema.Draft202012Validator, change: Document
) -> None:
    """In variants and sweeps keys must begin with a known one; quantities have their unit."""
    assert validator.is_valid({"title": "x"})
    assert not validator.is_valid({"title": "x"} | change)


def test_lists_of_keys_come_from_one_model(schema: Document) -> None:
    """What the loader asks for is there, and the schema has every key of the model."""
    assert set(KEYS) <= schema["properties"].keys()
    assert set(ENTRIES) == {
        *("node", "route", "traffic", "fault", "trace", "metric", "figure", "expect")
    }
    assert NEEDED == ("run", "topology", "traffic")
    assert TEXTS == ("title", "question", "source")
    assert {"include", "kinds", "set", "variants", "sweep"} <= WHOLE


def test_the_verb_knows_the_kinds_of_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`pyorch schema FILE`: kinds from the file that it names."""
    (tmp_path / "own.py").write_text(
        "from pyorch.kinds import TopologyTable, Wiring, topology\n"
        '@topology("moebius")\n'
        "class Moebius(TopologyTable):\n"
        '    """A twisted ladder."""\n'
        "    rungs: int\n"
        "    def wire(self) -> Wiring:\n"
        "        return Wiring()\n"
    )
    file = tmp_path / "mine.toml"
    file.write_text('title = "Mine"\nkinds = ["own.py"]\n')
    assert print_schema(str(file)) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["$defs"]["topology-moebius"]["description"] == "A twisted ladder."
    kinds.activate({})
