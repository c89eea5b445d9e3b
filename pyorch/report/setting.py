"""The setting of an experiment as tables: what all runs share, and what varies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pyorch.base.findings import Findings
from pyorch.base.units import format_bytes, format_rate, format_time
from pyorch.network import topology
from pyorch.setting import canonical
from pyorch.setting.attributes import (
    PRESET,
    SECTIONS,
    Catalogue,
    number,
    resolve_section,
    section_of,
    snake_case,
    written,
)
from pyorch.setting.canonical import encode
from pyorch.sizing.theory import IDEAL, IEEE, RESPONSE_SOURCE, pause_response
from pyorch.traffic import base as traffic

if TYPE_CHECKING:
    from pyorch.plan import RunSpec

_LEFT_OUT = ("schema", "experiment", "params", "traces")
_FORMATS = {"_ps": format_time, "_bps": format_rate, "_bytes": format_bytes}
_MOST_VALUES = 8
_MOST_VARIANTS = 4
UNSET = "unset"
"""A value that some runs do not have."""
_MOST_CHARACTERS = 400
_ZERO = re.compile(r"\b0: ([^,;:.\[]+)")
"""What the help of an attribute says of the value 0."""


@dataclass(frozen=True)
class Setting:
    """Rows (key, value) that hold for all runs, and rows (key, values) of what varies."""

    common: list[tuple[str, str]]
    varying: list[tuple[str, str]]


def setting(specs: Sequence[RunSpec], types: Catalogue | None = None) -> Setting:
    """The setting of all runs of an experiment.

    types: of the modules; without them attributes are shown as ns-3 spells them, else by the keys
    of files. What varies with the variant only has the names of the variants beside each value.
    """
    settings = {id(spec.setting): encode(spec.setting) for spec in specs}
    places = {key: place for place, key in enumerate(settings)}
    numbers = [places[id(spec.setting)] for spec in specs]
    flat = [dict(_flatten("", _shown(form, types))) for form in settings.values()]
    keys = list(dict.fromkeys(key for one in flat for key in one))
    common, varying = [], []
    for key in keys:
        values = list(dict.fromkeys(one.get(key, UNSET) for one in flat))
        if len(values) == 1:
            common.append((_label(key), values[0]))
        else:
            of_runs = zip(specs, numbers, strict=True)
            pairs = [
                (str(s.params.get("variant", "")), flat[n].get(key, UNSET)) for s, n in of_runs
            ]
            varying.append((_label(key), _by_variant(pairs) or _list(values)))
    return Setting(common, varying)


def _by_variant(pairs: Sequence[tuple[str, str]]) -> str:
    """Values with the variants that have them; "" if a variant has several."""
    of_variants = dict(pairs)
    if any(of_variants[variant] != value for variant, value in pairs):
        return ""
    variants: dict[str, list[str]] = {}
    for variant, value in of_variants.items():
        variants.setdefault(value, []).append(variant)
    if len(variants) > 1:  # who is not named has none
        variants.pop(UNSET, None)
    told = [f"{value} ({_few(names)})" for value, names in variants.items()]
    more = len(told) - _MOST_VALUES
    return "; ".join([*told[:_MOST_VALUES], *([f"… ({more} more)"] if more > 0 else [])])


def _few(names: Sequence[str]) -> str:
    more = len(names) - _MOST_VARIANTS
    return ", ".join([*names[:_MOST_VARIANTS], *([f"{more} more"] if more > 0 else [])])


def unset(one: canonical.Setting, types: Catalogue) -> dict[str, dict[str, str]]:
    """The defaults that a run has because its file leaves them out: {section: {key: value}}.

    Of the types that every run has, of its schemes, and of all others that its file sets in part.
    """
    schemes = [*one.flow_control, *one.agents, *one.host_agents]
    schemes += [one.forwarding, one.congestion_control, one.buffer_policy]
    known = [types.by_name[name] for name in SECTIONS if name in types.by_name]
    always = [info.name for info in known if not types.is_scheme(info)]
    found: dict[str, dict[str, str]] = {}
    for name in dict.fromkeys([*always, *schemes, *one.attributes]):
        info, given = types.by_name.get(name), one.attributes.get(name, {})
        if info is not None:
            found[types.short_name(name)] = {
                snake_case(attribute.name): written(types, name, attribute.name, attribute.default)
                for attribute in types.attributes(info).values()
                if attribute.name not in given and attribute.default
            }
    return {section: values for section, values in found.items() if values}


def sources(one: canonical.Setting, types: Catalogue) -> dict[str, str]:
    """Where the values of sections that are those of a preset come from, by section and preset.

    Of several presets it is the one that has the most values.
    """
    found: dict[str, str] = {}
    for section, presets in types.presets.items():
        info = types.find(section)
        if info is None:
            continue
        given = one.attributes.get(info.name, {})
        fitting: dict[str, int] = {}
        for name in presets if given else ():
            values = resolve_section(types, info, {PRESET: name}, Findings(""), (section,))
            if values.items() <= given.items():
                fitting[name] = len(values)
        name = max(fitting, key=fitting.__getitem__, default="")
        if name and fitting[name]:
            found[f"{section} {name}"] = presets[name].source
    return found | _of_standards(one, types)


def _of_standards(one: canonical.Setting, types: Catalogue) -> dict[str, str]:
    """Where the times by rate come from that a run has, with their values."""
    rates = sorted({int(rate) for rate in topology.build(one.topology).rates})
    port = section_of(types, one.attributes, "port") or {}
    rule = port.get("PauseResponse", IDEAL)
    times: dict[str, tuple[str, Callable[[int], int]]] = {}
    if rule == IEEE:
        times["port.pause_response 802.3"] = RESPONSE_SOURCE, partial(pause_response, rule)
    if one.topology.phy == "rs-fec":
        source = "IEEE 802.3, RS(528,514) and RS(544,514): the time in which codewords arrive"
        times["topology.phy rs-fec"] = source, topology.fec_latency
    return {
        key: f"{source}: "
        + ", ".join(f"{format_time(time(rate))} at {format_rate(rate)}" for rate in rates)
        for key, (source, time) in times.items()
    }


def _shown(spec: Mapping[str, Any], types: Catalogue | None) -> dict[str, Any]:
    """The part of a canonical form that belongs to the setting, attributes with units."""
    shown = {key: value for key, value in spec.items() if key not in _LEFT_OUT}
    form = spec.get("topology", {})
    if form.get("kind") in topology.KINDS:
        shown["topology"] = topology.KINDS[form["kind"]].shown(form)
    shown["traffic"] = [
        traffic.KINDS[entry["kind"]].shown(entry) for entry in spec.get("traffic", [])
    ]
    if types is not None:
        shown["attributes"] = dict(_of_files(spec.get("attributes", {}), types))
    return shown


def _of_files(
    attributes: Mapping[str, Mapping[str, str]], types: Catalogue
) -> Iterator[tuple[str, Any]]:
    """The attributes of known types as files have them, "dcqcn.alpha_interval", with units."""
    for type_name, given in attributes.items():
        values = {name: written(types, type_name, name, text) for name, text in given.items()}
        if type_name not in types.by_name:
            yield type_name, values
            continue
        known = types.attributes(types.by_name[type_name])
        for name, value in values.items():
            key = snake_case(name)
            is_zero = key in known and number(given[name]) == 0
            meaning = _ZERO.search(known[key].help) if is_zero else None
            text = f"{value}: {meaning[1].strip()}" if meaning else value
            yield f"{types.short_name(type_name)}.{key}", text


def _list(values: Sequence[str]) -> str:
    shown = ", ".join(values[:_MOST_VALUES])
    more = len(values) - _MOST_VALUES
    return shown if more <= 0 else f"{shown}, … ({more} more)"


def _flatten(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _flatten(f"{key} › {name}" if key else str(name), item)
    elif isinstance(value, (list, tuple)) and any(isinstance(item, Mapping) for item in value):
        for number, item in enumerate(value):
            yield from _flatten(f"{key} {number + 1}" if len(value) > 1 else key, item)
    elif isinstance(value, (list, tuple)):
        texts = [":".join(item) if isinstance(item, list) else str(item) for item in value]
        if texts:
            yield key, _list([_short(text) for text in texts])
    elif value not in ("", None):
        yield key, _show(key, value)


def _show(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and value >= 0:
        for suffix, write in _FORMATS.items():
            if key.endswith(suffix):
                return write(value)
    if isinstance(value, str):
        return _short(value)
    return "never" if value == -1 and key.endswith("_ps") else str(value)


def _short(text: str) -> str:
    """A TypeId without the outer namespace (lossless::Port), or the beginning of a long text."""
    text = text.removeprefix("ns3::")
    more = len(text) - _MOST_CHARACTERS
    return text if more <= 0 else f"{text[:_MOST_CHARACTERS]} … ({more} more characters)"


def _label(key: str) -> str:
    of_attributes = key.removeprefix("attributes › ")
    if of_attributes != key and "::" not in of_attributes:
        return of_attributes  # as in a file
    for suffix in _FORMATS:
        key = key.removesuffix(suffix)
    return key.replace("ns3::", "").replace("_", " ")
