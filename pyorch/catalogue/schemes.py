"""What an experiment file may name: `invoke schemes`, with keys, defaults, bounds and sources.

Nothing here knows a scheme: attributes come from the TypeIds of the built modules, what a class is
from the @brief of its header, its source from the References of its module's page; topologies,
kinds of traffic and kinds of metrics from their registries.
"""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pyorch import kinds, metrics
from pyorch.base.errors import fold, one_of, refusal, suggest
from pyorch.base.fields import Unit
from pyorch.base.findings import models_in
from pyorch.base.paths import Paths
from pyorch.base.units import format_bytes, format_rate, format_time, format_wall_time
from pyorch.build.sources import Module, present_modules
from pyorch.files.presets import read_presets
from pyorch.files.schemes import SchemeFile, Value
from pyorch.files.variants import read_library
from pyorch.network import topology
from pyorch.setting.attributes import (
    INTERFACES,
    PRESET,
    SECTIONS,
    Catalogue,
    TypeInfo,
    describe,
    number,
    written,
)
from pyorch.traffic import base as traffic

NARROWEST, WIDEST = 60, 100
LIBRARY = "library"
#: What the keys that are the same in every kind are for; the models say only what they may be.
_UNITS = {
    "_bps": ('a rate such as "10Gbps"', format_rate),
    "_ps": ('a time such as "25us"', format_time),
    "_bytes": ('a size such as "100KB"', format_bytes),
    "_s": ('a time such as "10min"', format_wall_time),
}
_QUANTITY = 'a quantity such as "75KB", or a number'
_PLAIN = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
_REFERENCES = re.compile(
    r"^References\n[~=*^-]{5,}\n+(?P<text>.*?)(?=\n\n\S[^\n]*\n[~=*^-]{5,}\n|\Z)", re.S | re.M
)
_ONE = re.compile(r"^a ((?:whole )?number|size|rate|time)\b")
_CODE = re.compile(r"``([^`]*)``")


@dataclass(frozen=True)
class Key:
    """One key of a section.

    default: as a file writes it; None: it must be given. allowed: what it may be, with its bounds.
    """

    name: str
    default: str | None
    allowed: str
    help: str = ""


@dataclass(frozen=True)
class Entry:
    """Something an experiment file may name.

    group: under which heading. name: as a file has it. other: its TypeId, or "". used: how a file
    chooses it. presets: sets of parameters for its section, and where they are from.
    """

    group: str
    name: str
    other: str
    used: str
    help: str
    source: str
    keys: tuple[Key, ...]
    presets: Mapping[str, str] = field(default_factory=dict)


def all_entries(types: Catalogue, paths: Paths) -> list[Entry]:
    """Everything an experiment file may name, group by group."""
    kinds.activate({})  # those of installed packages are listed like ours
    modules = {module.name: module for module in present_modules(paths.modules)}
    presets = {
        section: {name: one.source for name, one in named.items()}
        for section, named in read_presets(paths).items()
    }
    entries = [_of_library(scheme) for scheme in read_library(paths)]
    for key, interface in INTERFACES.items():
        if key == "host_agents":
            continue  # the same types as agents
        used = {
            "flow_control": 'flow_control = ["{}"]',
            "agents": 'agents = ["{}"] on switches, host_agents = ["{}"] on hosts',
            "forwarding": 'forwarding = "{}"',
            "congestion_control": 'congestion_control = "{}"',
            "buffer_policy": 'buffer_policy = "{}"',
        }[key]
        found = types.schemes(interface)
        entries += [
            _of_type(key, name, used, found[name], types, modules) for name in sorted(found)
        ]
    entries += [
        _of_type("sections", section, "[{}]", types.by_name[type_name], types, modules)
        for type_name, section in SECTIONS.items()
        if type_name in types.by_name
    ]
    entries = [replace(entry, presets=presets.get(entry.name, {})) for entry in entries]
    models: dict[str, Mapping[str, type[BaseModel]]]
    models = {"topology": topology.KINDS, "traffic": traffic.KINDS, "metric": metrics.MODELS}
    return entries + [
        _of_model(group, kind, model)
        for group, found in models.items()
        for kind, model in found.items()
    ]


def choose(entries: Sequence[Entry], name: str) -> list[Entry]:
    """Return the entries that a person means: by name, TypeId, module, group or preset.

    A tuned scheme comes first, before what else has its name.
    Raises UserError with the nearest name when there is none.
    """
    wanted = fold(name)
    tuned = [one for one in entries if one.group == LIBRARY and wanted in map(fold, _tuned(one))]
    others = [entry for entry in entries if entry.group != LIBRARY]
    for spelling in (_names, _modules_of, _presets_of):
        found = [entry for entry in others if wanted in map(fold, spelling(entry))]
        if found:
            return [*tuned, *found]
    if tuned:
        return tuned
    known = [
        one
        for entry in entries
        for one in (*_names(entry), *_modules_of(entry), *_presets_of(entry))
    ]
    names = list(dict.fromkeys(entry.name for entry in entries))
    what = f"there is no scheme, topology or kind of traffic or metric {name!r}"
    hint = suggest(name, names) or suggest(name, dict.fromkeys(known))
    raise refusal("NAME", what, one_of(names, 60), hint)


def _tuned(entry: Entry) -> list[str]:
    return [LIBRARY, entry.name, *re.findall(r'"([^"]*)"', entry.used)]


def _names(entry: Entry) -> list[str]:
    short = entry.other.rsplit("::", 1)[-1]
    return [text for text in (entry.name, entry.other, short) if text]


def _modules_of(entry: Entry) -> list[str]:
    parts = entry.other.split("::")
    return [entry.group, *(parts[1:2] if len(parts) > 2 else [])]


def _presets_of(entry: Entry) -> list[str]:
    return list(entry.presets)


def _of_library(scheme: SchemeFile) -> Entry:
    """A tuned scheme: its keys are the parameters that it sets, each with its value and source."""
    chosen = [
        Key(key, json.dumps(value), "a choice of classes") for key, value in scheme.chosen.items()
    ]
    values = [Key(key, _rule(one), one.source) for key, one in scheme.values.items()]
    used = f'variants = ["{(scheme.short or scheme.name).lower()}"]'
    keys = (*(key for key in chosen if key.default != "[]"), *values)
    return Entry(LIBRARY, scheme.name, "", used, scheme.about, "", keys)


def _rule(value: Value) -> str:
    """Return a value as a file has it, or the rule that gives it."""
    rule = value.size or value.time or value.number
    return f"{rule} (a rule)" if rule else json.dumps(value.value)


# ---------------------------------------------------------------------------------------------
# C++ types


def _of_type(
    group: str,
    name: str,
    used: str,
    info: TypeInfo,
    types: Catalogue,
    modules: dict[str, Module],
) -> Entry:
    module = modules.get(getattr(info, "group", ""))
    keys = tuple(
        Key(
            key,
            toml_value(written(types, info.name, one.name, one.default)),
            describe(one),
            one.help.strip().removesuffix("[B]").strip(),
        )
        for key, one in types.attributes(info).items()
    )
    return Entry(
        group=group,
        name=name,
        other=info.name,
        used=used.format(name, name),
        help=brief(module, info.name) if module else "",
        source=references(module, info.name) if module else "",
        keys=keys,
    )


def toml_value(text: Any) -> str:
    """Return a value as an experiment file has it: numbers and truth bare, all else quoted.

    text: a dict for values by class.
    """
    if not isinstance(text, str):
        inside = ", ".join(f"{cls} = {toml_value(str(value))}" for cls, value in text.items())
        return f"{{ {inside} }}" if inside else "{}"
    bare = text in ("true", "false") or (text[-1:].isdigit() and not math.isnan(number(text)))
    return text if bare else f'"{text}"'


def brief(module: Module, type_name: str) -> str:
    """Return the @brief of a class from the headers of its module; empty when there is none."""
    name = type_name.rsplit("::", 1)[-1]
    pattern = re.compile(rf"/\*\*(?P<text>(?:(?!\*/).)*?)\*/\s*class {name}\b[^;]*?\{{", re.S)
    for header in sorted((module.folder / "model").rglob("*.h")):
        match = pattern.search(header.read_text(encoding="utf-8", errors="replace"))
        if match:
            lines = [line.strip().removeprefix("*").strip() for line in match["text"].splitlines()]
            after = "\n".join(lines).partition("@brief")[2]
            return " ".join(re.split(r"\n\s*\n|\n@", after)[0].split())
    return ""


def references(module: Module, type_name: str) -> str:
    """Return the References of a class: of the page called like it, else of the module's page."""
    section = Catalogue.short_name(type_name)
    for name in (section, module.name):
        page = module.folder / "doc" / f"{name}.rst"
        match = _REFERENCES.search(page.read_text(encoding="utf-8")) if page.is_file() else None
        if match:
            return _CODE.sub(r"\1", " ".join(match["text"].split()))
    return ""


# ---------------------------------------------------------------------------------------------
# Topologies, kinds of traffic and of metrics


def _of_model(group: str, kind: str, model: type[BaseModel]) -> Entry:
    doc = (model.__doc__ or "").strip()
    first, _, rest = doc.partition("\n")
    keys = [
        key_of(name, info)
        for name, info in model.model_fields.items()
        if name != "kind" and not info.exclude
    ]
    table = "[topology]" if group == "topology" else f"[[{group}]]"
    return Entry(
        group=group,
        name=kind,
        other="",
        used=f'kind = "{kind}" in {table}',
        help=" ".join(f"{first} {rest}".split()),
        source=getattr(model, "source", ""),
        keys=tuple(sorted(keys, key=lambda key: key.default is not None)),
    )


def key_of(name: str, info: FieldInfo) -> Key:
    """Return the key of a field of a model."""
    unit = next(iter(units_in(info)), None)
    default = (
        None if info.is_required() else _default(info.get_default(call_default_factory=True), unit)
    )
    return Key(info.alias or name, default, _allowed(info, unit), info.description or "")


def _default(value: Any, unit: Unit | None) -> str:
    if value is None or isinstance(value, BaseModel):
        return "none"
    if unit is not None and isinstance(value, int):
        return f'"{_UNITS[unit.suffix][1](value)}"'
    return json.dumps(value)


def _allowed(info: FieldInfo, unit: Unit | None) -> str:
    """Say in words what a field may be, with its bounds."""
    bounds = list(_bounds(info))
    if unit is not None and "list" not in str(info.annotation):
        above = " above 0" if "above 0" in bounds else ""
        return _UNITS[unit.suffix][0] + above
    return " ".join([_type_text(info.annotation), *bounds])


def _bounds(info: FieldInfo) -> Iterable[str]:
    for entry in _metadata(info):
        for attribute, word in (("ge", "from"), ("gt", "above"), ("le", "to"), ("lt", "below")):
            if getattr(entry, attribute, None) is not None:
                yield f"{word} {getattr(entry, attribute)}"


def _metadata(info: FieldInfo) -> Iterable[Any]:
    yield from info.metadata
    yield from _annotated(info.annotation)


def _annotated(annotation: Any) -> Iterable[Any]:
    for entry in getattr(annotation, "__metadata__", ()):
        yield from getattr(entry, "metadata", ()) or [entry]
    for argument in get_args(annotation):
        if not isinstance(argument, str):
            yield from _annotated(argument)


def units_in(info: FieldInfo) -> Iterable[Unit]:
    """Yield the units of a field: in what it is written, and what its canonical key ends with."""
    return (entry for entry in _metadata(info) if isinstance(entry, Unit))


def _type_text(annotation: Any) -> str:
    """Say in words what a type annotation allows."""
    name = getattr(get_origin(annotation), "__name__", "")
    arguments = [one for one in get_args(annotation) if one is not type(None)]
    if name == "Literal":
        return _either(f'"{one}"' for one in arguments)
    if name in ("Union", "UnionType", "Annotated"):
        types = arguments[:1] if name == "Annotated" else arguments
        return _QUANTITY if set(types) == {str, int, float} else _either(map(_type_text, types))
    if name == "list":
        inner = next(models_in(annotation), None)
        if inner:
            return f"a list of {_tables(inner)}"
        unit = next((one for one in _annotated(arguments[0]) if isinstance(one, Unit)), None)
        each = _UNITS[unit.suffix][0] if unit else _type_text(arguments[0])
        return "tables" if each == "a table" else "a list of " + _ONE.sub(r"\1s", each)
    return _PLAIN.get(annotation, "a table")


def _either(texts: Iterable[str]) -> str:
    *first, last = dict.fromkeys(texts)
    return f"{', '.join(first)} or {last}" if first else last


def _tables(model: type[BaseModel]) -> str:
    """Say which keys tables in a list have."""
    return f"tables with {', '.join(info.alias or n for n, info in model.model_fields.items())}"


# ---------------------------------------------------------------------------------------------
# For people


_HEADINGS = {
    LIBRARY: "tuned schemes: variants of an experiment, by name",
    "flow_control": "flow controls: hop by hop, on every port",
    "agents": "agents: of a whole switch or host",
    "forwarding": "forwarding policies: how a switch chooses among equal-cost paths",
    "congestion_control": "congestion controls: end to end, of every queue pair",
    "buffer_policy": "buffer policies: how every node divides its packet buffer",
    "sections": "sections that every experiment has",
    "topology": "topologies",
    "traffic": "kinds of traffic",
    "metric": "kinds of metrics",
}


def is_group(name: str) -> bool:
    """Whether this is the name of a group, of whose entries a list tells what each is for."""
    return fold(name) in map(fold, _HEADINGS)


def render(entries: Sequence[Entry], width: int, whole: bool) -> list[str]:
    """Return the lines to print; `whole`: with what each key is, and sources.

    Beside a tuned scheme the classes that it uses are short, and others only named: most who ask
    for it set few keys more.
    """
    lines: list[str] = []
    tuned = [key.default or "" for one in entries if one.group == LIBRARY for key in one.keys]
    if whole and tuned:
        used = {name for text in tuned for name in re.findall(r'"([^"]*)"', text)}
        others = [one for one in entries if one.group != LIBRARY and not used & {*_names(one)}]
        entries = [one for one in entries if one not in others]
    for group in dict.fromkeys(entry.group for entry in entries):
        lines += ["", _HEADINGS[group]] if lines else [_HEADINGS[group]]
        for entry in (one for one in entries if one.group == group):
            some = whole and (entry.group == LIBRARY or not tuned)
            lines += _whole(entry, width) if some else _short(entry, width)
    if whole and tuned:
        more = f"; of this name, too: {', '.join(map(_spelt, others))}" if others else ""
        lines += _wrap(
            f"each key: `pyorch schemes CLASS`, with its name in brackets{more}", 0, width
        )
    return lines


def _spelt(entry: Entry) -> str:
    return f"{entry.name} ({entry.other})" if entry.other else entry.name


def _short(entry: Entry, width: int) -> list[str]:
    title = _spelt(entry)
    if entry.group == LIBRARY:
        return [f"    {title}: {entry.used}", *_wrap(entry.help, 8, width)]
    lines = [f"    {title}", *_wrap(entry.help, 8, width)]
    keys = ", ".join(
        key.name if key.default is None else f"{key.name} = {key.default}" for key in entry.keys
    )
    lines += _wrap(keys, 8, width)
    lines += _wrap(f"presets: {', '.join(entry.presets)}", 8, width) if entry.presets else []
    return lines + (_wrap(f"source: {entry.source}", 8, width) if entry.source else [])


def _whole(entry: Entry, width: int) -> list[str]:
    title = _spelt(entry)
    lines = [
        f"    {title}",
        *_wrap(entry.help, 8, width),
        *_wrap(f"used by: {entry.used}", 8, width),
    ]
    lines += _wrap(f"source: {entry.source}", 8, width) if entry.source else []
    for key in entry.keys:
        lines.append(f"        {key.name}" + ("" if key.default is None else f" = {key.default}"))
        about = f"{key.help.rstrip('.')}; " if key.help else ""
        must = "must be given; " if key.default is None else ""
        lines += _wrap(f"{about}{must}{key.allowed}", 12, width)
    for name, source in entry.presets.items():
        lines += [f'        {PRESET} = "{name}"', *_wrap(f"a preset; source: {source}", 12, width)]
    return lines


def _wrap(text: str, indent: int, width: int) -> list[str]:
    space = " " * indent
    return textwrap.wrap(
        text, width, initial_indent=space, subsequent_indent=space, break_on_hyphens=False
    )
