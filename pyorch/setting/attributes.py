"""C++ objects in experiment files: sections and keys found through ns-3's TypeId system.

A section is a type, a key one of its attributes in snake case. Nothing here knows a particular type
beyond the five that have a short section name, so that a module never seen before works at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from pyorch.base.errors import fold, one_of, suggest
from pyorch.base.findings import Findings, Path
from pyorch.base.units import (
    RATES,
    TIMES,
    format_bytes,
    format_rate,
    format_time,
    parse_bytes,
    parse_rate,
    parse_time,
)


class AttributeInfo(Protocol):
    """One attribute of a type; see pyorch.build.schema."""

    @property
    def name(self) -> str:
        """ns-3's name."""

    @property
    def help(self) -> str:
        """One sentence; a size in bytes ends in "[B]"."""

    @property
    def type(self) -> str:
        """The C++ class of the value."""

    @property
    def default(self) -> str:
        """The initial value in ns-3's spelling."""

    @property
    def allowed(self) -> str:
        """What the checker accepts, as it describes it."""


class TypeInfo(Protocol):
    """One registered type; see pyorch.build.schema."""

    @property
    def name(self) -> str:
        """The TypeId name."""

    @property
    def parent(self) -> str:
        """The TypeId name of the type it is derived from."""

    @property
    def abstract(self) -> bool:
        """Whether objects of it cannot be created."""

    @property
    def attributes(self) -> Sequence[AttributeInfo]:
        """Its own attributes."""

    @property
    def signaller(self) -> str:
        """For a congestion control, the TypeId name of the agent whose signal it obeys, or ""."""

    @property
    def telemetry(self) -> bool:
        """Whether it is a congestion control whose frames carry the telemetry of switches."""

    @property
    def was(self) -> str:
        """An old TypeId name that files may still use, or ""."""


#: Sections of the types that every experiment has.
SECTIONS = {
    "ns3::lossless::Port": "port",
    "ns3::lossless::Switch": "switch",
    "ns3::lossless::SharedBuffer": "buffer",
    "ns3::rdma::Host": "host",
    "ns3::rdma::QueuePair": "queue_pair",
}
#: The abstract types behind the keys that choose a scheme.
INTERFACES = {
    "flow_control": "ns3::lossless::FlowControl",
    "agents": "ns3::lossless::SwitchAgent",
    "host_agents": "ns3::lossless::SwitchAgent",
    "forwarding": "ns3::lossless::ForwardingPolicy",
    "congestion_control": "ns3::rdma::CongestionControl",
    "buffer_policy": "ns3::lossless::BufferPolicy",
}


@dataclass(frozen=True)
class Preset:
    """The part of a set of parameters that belongs to a section.

    source: its origin. values: by key, as an experiment file writes them. line_rate: rate of hosts
    [bit/s] for which the values are chosen; None: they scale, or suit any.
    """

    source: str
    values: Mapping[str, Any]
    line_rate: int | None = None


#: Sets of parameters by section and name.
Presets = Mapping[str, Mapping[str, Preset]]
#: The key of a section that chooses one.
PRESET = "parameters"


#: How the text of what is allowed begins if an attribute has a value for each of some classes, or
#: code points: what these are, and how many.
_BY_KEY = {"CLASS": ("class", 8), "DSCP": ("code point", 64)}
_KINDS = ("DataRate", "Time")
#: What a run uses if a file chooses none.
DEFAULTS = {
    "forwarding": "ns3::lossless::Ecmp",
    "congestion_control": "",
    "buffer_policy": "ns3::lossless::SharedBuffer",
}
#: Those of them that a RunSpec contains only if they differ from it.
OPTIONAL = {key: DEFAULTS[key] for key in ("forwarding", "buffer_policy")}
#: The abstract types of objects that fill tables, and of those that can do so periodically.
PROBE, SAMPLED_PROBE = "ns3::observe::Probe", "ns3::observe::SampledProbe"


def _table_of(type_name: str) -> str:
    name = type_name.rsplit("::", 1)[-1]
    return re.sub("(?<!^)(?=[A-Z])", "_", name.removesuffix("Probe") or name).lower()


def kebab_case(name: str) -> str:
    """Return "conceptual-gfc" for "ConceptualGfc"."""
    return _words(name, "-")


def snake_case(name: str) -> str:
    """Return "control_delay" for "ControlDelay"."""
    return _words(name, "_")


def _words(name: str, between: str) -> str:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", between, name)
    return parted.lower()


@dataclass(frozen=True)
class Catalogue:
    """The registered types, by the names that experiment files use.

    outdated: the old names by which types were asked for so far, and their names now.
    """

    types: tuple[TypeInfo, ...]
    presets: Presets = field(default_factory=dict)
    outdated: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    # needed again by every setting of a sweep
    _lineages: dict[str, list[TypeInfo]] = field(default_factory=dict, compare=False, repr=False)
    _schemes: dict[str, dict[str, TypeInfo]] = field(
        default_factory=dict, compare=False, repr=False
    )
    _attributes: dict[str, dict[str, AttributeInfo]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @cached_property
    def by_name(self) -> dict[str, TypeInfo]:
        """Types by full TypeId name."""
        return {info.name: info for info in self.types}

    @cached_property
    def sections(self) -> dict[str, TypeInfo]:
        """Types by section name; a short name shared by two types means neither."""
        named: dict[str, list[TypeInfo]] = {}
        for info in self.types:
            plain = self.derives(info, PROBE) and not info.attributes
            if not info.abstract and not plain:
                named.setdefault(self.short_name(info.name), []).append(info)
        return {name: found[0] for name, found in named.items() if len(found) == 1}

    @staticmethod
    def short_name(type_name: str) -> str:
        """Return the section name of a type."""
        return SECTIONS.get(type_name) or kebab_case(type_name.rsplit("::", 1)[-1])

    def find(self, section: str) -> TypeInfo | None:
        """Return the type of a section name or a full TypeId name, which may be an old one."""
        return self.sections.get(section) or self.by_name.get(self.today(section))

    def today(self, name: str) -> str:
        """Return the TypeId name that replaces an old one, and note it; another name as it is."""
        current = self._renamed.get(name)
        if current is None:
            return name
        self.outdated[name] = current
        return current

    @cached_property
    def _renamed(self) -> dict[str, str]:
        return {info.was: info.name for info in self.types if info.was}

    def lineage(self, info: TypeInfo) -> list[TypeInfo]:
        """Return a type and its ancestors, nearest first; the root is its own parent in ns-3."""
        line = self._lineages.get(info.name)
        if line is None:
            line = [info]
            while (parent := self.by_name.get(line[-1].parent)) is not None and parent not in line:
                line.append(parent)
            self._lineages[info.name] = line
        return line

    def derives(self, info: TypeInfo, ancestor: str) -> bool:
        """Whether a type is below an abstract one, which need not be registered itself."""
        line = self.lineage(info)
        return line[-1].parent == ancestor or any(entry.name == ancestor for entry in line[1:])

    def schemes(self, interface: str) -> dict[str, TypeInfo]:
        """Concrete types below an interface, by section name."""
        known = self._schemes.get(interface)
        if known is None:
            known = {name: t for name, t in self.sections.items() if self.derives(t, interface)}
            self._schemes[interface] = known
        return known

    @cached_property
    def tables(self) -> dict[str, TypeInfo]:
        """The types of probes that fill the tables of [[trace]], by the tables' names.

        A table is named after the type (Probe::TableOf).
        """
        probes = [one for one in self.types if not one.abstract and self.derives(one, PROBE)]
        return {_table_of(one.name): one for one in probes}

    def is_scheme(self, info: TypeInfo) -> bool:
        """Whether a type is a scheme that a run may or may not use."""
        return any(self.derives(info, interface) for interface in INTERFACES.values())

    def policy_attributes(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return those values of [buffer] that belong to every buffer policy."""
        interface = self.by_name.get(INTERFACES["buffer_policy"])
        of_all = [one.name for one in interface.attributes] if interface else []
        return {name: value for name, value in values.items() if name in of_all}

    def attributes(self, info: TypeInfo) -> dict[str, AttributeInfo]:
        """Attributes of a type, inherited ones too, by key."""
        known = self._attributes.get(info.name)
        if known is None:
            line = reversed(self.lineage(info))
            known = {snake_case(one.name): one for entry in line for one in entry.attributes}
            self._attributes[info.name] = known
        return known


def catalogue(schema: Iterable[TypeInfo], presets: Presets | None = None) -> Catalogue:
    """Return the catalogue of a schema (pyorch.build.load_schema)."""
    return Catalogue(tuple(schema), presets or {})


def resolve_section(
    types: Catalogue, info: TypeInfo, data: object, findings: Findings, path: Path
) -> dict[str, str]:
    """Return {attribute: value in ns-3's spelling} of a section, without invalid values.

    Values of the preset that it chooses are included unless it gives its own.
    """
    if not isinstance(data, dict):
        findings.add(path, f"a table is expected (got {data!r})")
        return {}
    known = types.attributes(info)
    presets = types.presets.get(types.short_name(info.name), {})
    values: dict[str, str] = {}
    if presets and PRESET in data:
        name = data[PRESET]
        data = {key: value for key, value in data.items() if key != PRESET}
        if isinstance(name, str) and name in presets:
            chosen = dict(presets[name].values)
            values = resolve_section(types, info, chosen, findings, (*path, PRESET))
        else:
            hint = suggest(str(name), presets)
            findings.add((*path, PRESET), f"unknown preset {name!r}", one_of(presets), hint)
    for key, value in data.items():
        attribute = known.get(key)
        if attribute is None:
            findings.unknown((*path, key), "key", key, [*known, PRESET] if presets else known)
            continue
        try:
            values[attribute.name] = spell(attribute, value)
        except ValueError as error:
            findings.add((*path, key), str(error), describe(attribute), _hint(attribute, value))
    return dict(sorted(values.items()))


def spell(attribute: AttributeInfo, value: object) -> str:
    """Return a value of an experiment file in ns-3's spelling.

    Raises ValueError with a message for users if the attribute cannot have it.
    """
    each = _each_class(attribute)
    if each is not None:
        # a table of values by class in ns-3's spelling, "3=2,7=Strict"
        what, count = _BY_KEY[each.key]
        if not isinstance(value, Mapping):
            raise ValueError(f"{value!r} is not a table of {what}{'es' if count == 8 else 's'}")
        keys = {str(key): one for key, one in value.items()}
        allowed = [str(key) for key in range(count)]
        wrong = [key for key in keys if key not in allowed]
        if wrong:
            raise ValueError(f"{wrong[0]!r} is not a {what} from 0 to {count - 1}")
        spelled = {
            key: each.word
            if each.word and isinstance(keys[key], str) and fold(keys[key]) == fold(each.word)
            else spell(each, keys[key])
            for key in allowed
            if key in keys
        }
        return ",".join(f"{key}={one}" for key, one in spelled.items())
    kind = _kind(attribute)
    read = _READERS.get(kind, _read_text)
    text = read(attribute, value)
    if kind in ("Uinteger", "Size", "Integer", "Double", "Time", "DataRate"):
        found = _number(text)
        bounds = _bounds(attribute)
        if bounds is not None and not bounds[0] <= found <= bounds[1]:
            raise ValueError(f"{value!r} is out of range")
    return text


def written(types: Catalogue, type_name: str, name: str, text: str) -> Any:
    """Return an attribute's value, in ns-3's spelling, as an experiment file writes it.

    It has its unit; values by class are a table. A value without a unit stays as it is, and so does
    one of an unknown attribute.
    """
    info = types.by_name.get(type_name)
    attribute = types.attributes(info).get(snake_case(name)) if info else None
    if attribute is not None and (each := _each_class(attribute)) is not None:
        write_each = _WRITERS.get(_kind(each), int)
        pairs = (pair.partition("=") for pair in text.split(",") if pair)
        return {
            key: value.lower()
            if value == each.word or _kind(each) == "Enum"
            else write_each(int(number(value)))
            for key, _, value in pairs
        }
    write = _WRITERS.get(_kind(attribute)) if attribute else None
    value = number(text)
    return write(int(value)) if write and value >= 0 else text


@dataclass(frozen=True)
class _EachClass:
    """A value of an attribute that has one for each of some classes, or code points.

    word: one more that it may be, "" for none. key: see _BY_KEY.
    """

    name: str
    help: str
    type: str
    allowed: str
    word: str
    key: str
    default: str = ""


def _each_class(attribute: AttributeInfo) -> _EachClass | None:
    """Return the attribute's values by class, or None if it has one value."""
    key, _, each = attribute.allowed.partition("=")
    if key not in _BY_KEY:
        return None
    allowed, _, word = each.partition("|")
    kind = next((one for one in _KINDS if allowed.startswith(one)), "Uinteger")
    if ":" not in allowed:  # the names of an enumeration, and no bounds
        kind, allowed, word = "Enum", each, ""
    return _EachClass(attribute.name, attribute.help, f"ns3::{kind}Value", allowed, word, key)


def describe(attribute: AttributeInfo) -> str:
    """Describe in words what values an attribute may have."""
    each = _each_class(attribute)
    if each is not None:
        word = f' or "{each.word.lower()}"' if each.word else ""
        keys = {"CLASS": "classes, { 3 = VALUE }", "DSCP": "code points, { 26 = VALUE }"}[each.key]
        return f"a table of {keys}; VALUE is {describe_value(each)}{word}"
    return describe_value(attribute)


def describe_value(attribute: AttributeInfo) -> str:
    """Describe in words what a single value may be."""
    kind = _kind(attribute)
    if kind == "Enum":
        return ", ".join(attribute.allowed.split("|"))
    names = {
        "Time": 'a time such as "25us"',
        "DataRate": 'a rate such as "10Gbps"',
        "Size": 'a size such as "100KB"',
        "Uinteger": "a whole number",
        "Integer": "a whole number",
        "Double": "a number",
        "Boolean": "true or false",
    }
    bounds = _bounds(attribute)
    if bounds is None or kind not in names:
        return names.get(kind, "text, spelt as in ns-3")
    low, high = (_show(bound, kind) for bound in bounds)
    if bounds[1] < _UNBOUNDED[kind == "Time"]:
        return f"{names[kind]}, {low} to {high}"
    return f"{names[kind]}, at least {low}" if bounds[0] != 0 else names[kind]


def number(text: str) -> float:
    """Return a value in ns-3's spelling as a number (bytes, bit/s, ps or pure)."""
    return _number(text, math.nan)


def _kind(attribute: AttributeInfo) -> str:
    kind = attribute.type.rsplit("::", 1)[-1].removesuffix("Value")
    in_bytes = kind in ("Uinteger", "Integer") and attribute.help.rstrip().endswith("[B]")
    return "Size" if in_bytes else kind


def _read_time(_: AttributeInfo, value: object) -> str:
    return f"{parse_time(value)}ps"  # type: ignore[arg-type]  # says so itself if it is no text


def _read_rate(_: AttributeInfo, value: object) -> str:
    return f"{parse_rate(value)}bps"  # type: ignore[arg-type]


def _read_size(_: AttributeInfo, value: object) -> str:
    return str(parse_bytes(value))  # type: ignore[arg-type]


def _read_whole(_: AttributeInfo, value: object) -> str:
    if type(value) is not int:
        raise ValueError(f"{value!r} is not a whole number")
    return str(value)


def _read_double(_: AttributeInfo, value: object) -> str:
    if type(value) not in (int, float) or not math.isfinite(value):  # type: ignore[arg-type]
        raise ValueError(f"{value!r} is not a number")
    return repr(float(value))  # type: ignore[arg-type]


def _read_boolean(_: AttributeInfo, value: object) -> str:
    if type(value) is not bool:
        raise ValueError(f"{value!r} is not true or false")
    return "true" if value else "false"


def _read_enum(attribute: AttributeInfo, value: object) -> str:
    names = {fold(name): name for name in attribute.allowed.split("|")}
    if not isinstance(value, str) or fold(value) not in names:
        raise ValueError(f"{value!r} is not allowed")
    return names[fold(value)]


def _read_text(_: AttributeInfo, value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not text")
    return value


_READERS = {
    "Time": _read_time,
    "DataRate": _read_rate,
    "Size": _read_size,
    "Uinteger": _read_whole,
    "Integer": _read_whole,
    "Double": _read_double,
    "Boolean": _read_boolean,
    "Enum": _read_enum,
}
_WRITERS: Mapping[str, Callable[[int], Any]] = {
    "Time": format_time,
    "DataRate": format_rate,
    "Size": format_bytes,
}
_NUMBER = re.compile(r"\+?(-?[\d.]+(?:[eE][+-]?\d+)?)([A-Za-z/]*)")
#: What a checker reports if there is no upper bound: except for times, and for times [ps], rounded.
_UNBOUNDED = (2**63 - 1, 9e18)
_SCALES = {"": 1, "fs": 0.001, "min": 60 * 10**12, "h": 3600 * 10**12} | TIMES | RATES


def _number(text: str, fallback: float | None = None) -> float:
    """Return a number in its base unit; ns-3 writes times as "+1000.0ns"."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None or match[2] not in _SCALES:
        if fallback is None:
            raise ValueError(f"{text!r} is not a number")
        return fallback
    plain = match[1]
    value: float = int(plain) if plain.lstrip("-").isdigit() else float(plain)
    return value * _SCALES[match[2]]


def _bounds(attribute: AttributeInfo) -> tuple[float, float] | None:
    """Return the checker's bounds, from a text such as "uint32_t 0:8" or "Time +0ps:+1e+06ps"."""
    low, found, high = attribute.allowed.rpartition(" ")[2].partition(":")
    if not found:
        return None
    ends = _number(low, math.nan), _number(high, math.nan)
    return None if any(math.isnan(end) for end in ends) else ends


def _show(bound: float, kind: str) -> str:
    if kind == "Size" and bound >= 0:
        return format_bytes(int(bound))
    if kind in ("Time", "DataRate") and bound >= 0:
        return (format_time if kind == "Time" else format_rate)(int(bound))
    return f"{bound:g}" if kind == "Double" else str(bound)


def _hint(attribute: AttributeInfo, value: object) -> str | None:
    if _kind(attribute) == "Enum" and isinstance(value, str):
        return suggest(value, attribute.allowed.split("|"))
    return None


def section_of(types: Catalogue, attributes: Mapping[str, Mapping[str, str]], section: str) -> Any:
    """Return a section's {attribute: value} in a run, including defaults; None if unknown."""
    info = types.find(section)
    if info is None:
        return None
    given = attributes.get(info.name, {})
    known = types.attributes(info).values()
    return {one.name: given.get(one.name, one.default) for one in known}
