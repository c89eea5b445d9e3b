"""The JSON schema of experiment files, by which editors complete, explain and check them.

It is generated from pyorch.files.keys, the registries of kinds and the built modules. Whatever
depends on a whole setting, such as hosts that do not exist, or a key that a variant adds, is left
to the loader: so the schema requires few keys, and refuses unknown ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter

from pyorch.files.entries import report_models
from pyorch.files.keys import EACH, ENTRIES, KEYS, WHOLE, ExperimentFile
from pyorch.files.variants import EXTENDS
from pyorch.network import topology
from pyorch.setting.attributes import (
    DEFAULTS,
    INTERFACES,
    PRESET,
    AttributeInfo,
    Catalogue,
    describe,
)
from pyorch.setting.canonical import FAULTS
from pyorch.traffic import base as traffic

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]
_EXTENDS = "A variant over which this one is laid."


def schema_of(types: Catalogue) -> Schema:
    """Return the JSON schema of experiment files, with the modules of a build and known kinds."""
    models = report_models()
    schema = _schema(ExperimentFile)
    known = schema.pop("$defs", {})
    keys: dict[str, Schema] = schema["properties"]
    kinds: dict[str, Mapping[str, type[BaseModel]]] = {
        "topology": topology.KINDS,
        "traffic": traffic.KINDS,
        "fault": FAULTS,
        "metric": models.metrics,
        "figure": models.figures,
    }
    for key, of_kinds in kinds.items():
        names = [_define(known, f"{key}-{kind}", kind, model) for kind, model in of_kinds.items()]
        choice: list[Schema] = [{"$ref": f"#/$defs/{name}"} for name in names]
        if key not in ENTRIES:  # a variant may choose the kind
            words = {word for name in names for word in known[name]["properties"]} - {"kind"}
            choice.append({"type": "object", "propertyNames": {"enum": sorted(words)}})
        _put(keys[key], {"oneOf": choice})
    _put(keys["expect"], {"$ref": f"#/$defs/{_define(known, 'expect', None, models.expect)}"})
    sections = dict(_sections(types, known))
    for key, interface in INTERFACES.items():
        names = sorted({n for name, t in types.schemes(interface).items() for n in (name, t.name)})
        _put(keys[key], {"enum": [*([""] if key in DEFAULTS else []), *names]})
    _put(keys["trace"], {"$ref": "#/$defs/TraceTable"})
    known["TraceTable"]["properties"]["table"]["enum"] = sorted(types.tables)
    known["NodeTable"]["properties"] |= sections
    of_settings = [*(key for key in KEYS if key not in WHOLE), *sections]
    for key in ENTRIES:
        keys[key]["items"] = {"anyOf": [keys[key]["items"], _group(keys[key]["items"], known)]}
    patch, extends = _patch([*of_settings, EXTENDS]), {"type": "string", "description": _EXTENDS}
    known["VariantsTable"]["additionalProperties"] = patch | {"properties": {EXTENDS: extends}}
    known["SweepTable"]["properties"]["scenario"]["additionalProperties"] = _patch(of_settings)
    words = known["SweepTable"].pop("properties")
    keys["sweep"] |= _patch([*of_settings, *words]) | {"properties": words}
    return {
        "$schema": DIALECT,
        "title": "Experiment of pyorch",
        **{key: value for key, value in schema.items() if key != "title"},
        "properties": keys | sections,
        "required": ["title"],  # the rest may come from included files
        "$defs": dict(sorted(known.items())),
    }


def _schema(model: type[BaseModel]) -> Schema:
    """Return a model's schema; any key may come from a variant, so none is required."""
    found: Schema = TypeAdapter(model).json_schema(mode="validation", by_alias=True)
    told: Schema = _told(found)
    return told


def _told(schema: Any) -> Any:
    """Return a schema without noise for an editor, and without required keys."""
    if isinstance(schema, list):
        return [_told(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    told = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):  # names of a file's keys, which may be any words
            told[key] = {name: _told(one) for name, one in value.items()}
        elif key not in ("required", "title", "discriminator"):
            told[key] = _told(value)
    return told


def _define(known: dict[str, Schema], name: str, kind: str | None, model: type[BaseModel]) -> str:
    """Add the definition of a model, and of models inside it; return its name."""
    schema = _schema(model)
    known |= schema.pop("$defs", {})
    if kind is not None:
        schema["properties"]["kind"] = {"const": kind}
        schema["required"] = ["kind"]
    doc = (model.__doc__ or "").strip()
    known[name] = schema | ({"description": doc} if doc else {})
    return name


def _put(key: Schema, value: Schema) -> None:
    """Set the schema of a key, or of each entry of its list."""
    is_list = key.get("type") == "array"
    for word in ("type", "additionalProperties", "items", "default"):
        key.pop(word, None)
    key |= {"type": "array", "items": value} if is_list else value


def _group(entry: Schema, known: Mapping[str, Schema]) -> Schema:
    """Return the schema of an entry with `each`: keys of any kind in both places."""
    kinds = [one.get("$ref", "").rsplit("/", 1)[-1] for one in entry.get("oneOf", [entry])]
    words = sorted({word for kind in kinds for word in known[kind]["properties"]})
    row = {"type": "object", "propertyNames": {"enum": words}}
    rows = {"type": "array", "items": row, "minItems": 1}
    both = {"propertyNames": {"enum": [*words, EACH]}, "properties": {EACH: rows}}
    return {"type": "object", "required": [EACH], **both}


def _patch(names: Iterable[str]) -> Schema:
    """Return the schema of changes: their keys begin with a known key."""
    pattern = rf"^\s*({'|'.join(map(re.escape, names))})\s*(\..+)?$"
    return {"type": "object", "propertyNames": {"pattern": pattern}}


def _sections(types: Catalogue, known: dict[str, Schema]) -> Iterable[tuple[str, Schema]]:
    """Yield every section of a C++ object, by its name and by its TypeId."""
    for name, info in sorted(types.sections.items()):
        keys = {key: _attribute(one) for key, one in types.attributes(info).items()}
        presets = types.presets.get(name)
        if presets:
            about = "A set of values of the others."
            keys[PRESET] = {"enum": sorted(presets), "description": about}
        known[f"section-{name}"] = {
            "type": "object",
            "description": info.name,
            "properties": keys,
            "additionalProperties": False,
        }
        yield name, {"$ref": f"#/$defs/section-{name}"}
        yield info.name, {"$ref": f"#/$defs/section-{name}"}


def _attribute(attribute: AttributeInfo) -> Schema:
    """Return the schema of an attribute; the loader checks exact bounds."""
    kind = attribute.type.rsplit("::", 1)[-1].removesuffix("Value")
    allowed: Schema = {"type": "boolean"} if kind == "Boolean" else {}
    if kind == "Enum":
        allowed = {"type": "string", "examples": attribute.allowed.split("|")}
    return {"description": f"{attribute.help.strip()} ({describe(attribute)})", **allowed}
