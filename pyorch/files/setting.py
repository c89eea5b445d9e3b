"""One setting: a document with its patches applied, validated and resolved."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from pyorch.base.errors import fold, suggest
from pyorch.base.findings import Findings
from pyorch.base.paths import default_paths
from pyorch.base.units import MAX_TIME, shortest
from pyorch.build.sources import MODULE_PATH_VARIABLE
from pyorch.files.keys import ENTRIES, KEYS, NEEDED, WHOLE
from pyorch.files.nodes import PORT, RESPONSE, as_written, resolve_nodes
from pyorch.files.ports import PortCheck, Section
from pyorch.files.routes import RouteTable, resolve_routes
from pyorch.kinds import packages_of
from pyorch.network import topology
from pyorch.setting.attributes import (
    DEFAULTS,
    INTERFACES,
    Catalogue,
    kebab_case,
    resolve_section,
    snake_case,
    spell,
)
from pyorch.setting.canonical import FAULTS, Setting
from pyorch.setting.experiment import (
    Point,
    RunTable,
    check_trace,
    resolve_faults,
    resolve_run,
    resolve_traces,
)
from pyorch.sizing.capacity import check_buffer, check_chain, check_schemes, frames
from pyorch.sizing.theory import IDEAL, usual_response
from pyorch.traffic import base as traffic

#: More entries of one kind than this must be a mistake; every setting reads all of them.
MAX_ENTRIES = 1000


@dataclass
class Resolver:
    """Resolves the settings of one experiment; keeps what they share.

    types: the modules' types, None to leave all attributes as written. kinds: texts of the files
    with kinds of its own.
    """

    name: str
    folder: FilePath
    workloads: FilePath
    types: Catalogue | None
    kinds: Mapping[str, str] = field(default_factory=dict)
    _networks: dict[str, topology.ResolvedTopology] = field(default_factory=dict)
    _flows: dict[tuple[Any, ...], traffic.TrafficTable] = field(default_factory=dict)

    @property
    def networks(self) -> list[topology.Topology]:
        """The networks that settings draw."""
        return [resolved.network for resolved in self._networks.values()]

    def resolve(
        self, document: Mapping[str, Any], params: Mapping[str, Any], findings: Findings
    ) -> Point | None:
        """Validate a document; return None when there are problems, all of which are noted."""
        before = len(findings.problems)
        self._check_keys(document, findings)
        run = resolve_run(document.get("run"), findings)
        schemes = self._schemes(document, findings)
        attributes = self._attributes(document, schemes, findings)
        sound = run is not None and len(findings.problems) == before
        network = self.network(document.get("topology"), findings)
        if network is None:
            self._check_apart(document, findings)
            return None
        entries = self._entries(document, run, attributes, schemes, network, findings)
        if run is None:
            return None
        if self.types:
            check_chain(self.types, schemes["flow_control"], findings)
        # others check themselves
        is_default = schemes["buffer_policy"] == DEFAULTS["buffer_policy"]
        if self.types and is_default and sound:
            chain = schemes["flow_control"]
            own_sizes = [entry for entry in entries["traffic"] if entry is not None]
            check_buffer(
                self.types, attributes, chain, network.network, own_sizes, run.allow_loss, findings
            )
        if self.types and sound:
            own = {name for entry in entries["nodes"] for name in entry.attributes}
            lists = ("flow_control", "agents", "host_agents")
            used = {name for key in lists for name in schemes[key]}
            used = {*used, schemes["congestion_control"]} - own
            check_schemes(self.types, attributes, sorted(used), network.network, findings)
        if len(findings.problems) > before:
            return None
        setting = Setting(
            experiment=self.name,
            run=run.section,
            topology=network.table,
            attributes=attributes,
            **schemes,
            **entries,
            kinds=dict(self.kinds),
            packages=self._packages(document),
            params=dict(params),
        )
        return Point(setting, network.network)

    @staticmethod
    def _packages(document: Mapping[str, Any]) -> dict[str, str]:
        """Return the installed packages whose kinds the run needs, and their releases."""
        lists = [document.get(key) for key in ("traffic", "metric")]
        entries = [entry for found in lists if isinstance(found, list) for entry in found]
        entries.append(document.get("topology"))
        used = [entry.get("kind") for entry in entries if isinstance(entry, Mapping)]
        return packages_of(used)

    def _check_keys(self, document: Mapping[str, Any], findings: Findings) -> None:
        """Every top-level key is one of the file's own, or the section of a C++ object.

        Without the types a section may be that of any object, unless it resembles a table that
        the file lacks.
        """
        sections = list(self.types.sections) if self.types else []
        lacking = [name for name in NEEDED if name not in document]
        for key, value in document.items():
            if key in KEYS or (self.types and self.types.find(key)):
                continue
            if self.types or not isinstance(value, dict) or suggest(key, lacking):
                names = [*KEYS, *sections]
                kind = "section" if isinstance(value, dict) else "key"
                findings.unknown((key,), kind, key, names)

    def _schemes(self, document: Mapping[str, Any], findings: Findings) -> dict[str, Any]:
        """Return the TypeIds behind the keys that choose schemes."""
        chosen: dict[str, Any] = {}
        for key in ("flow_control", "agents", "host_agents"):
            names = document.get(key, [])
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                findings.add((key,), f"{names!r} is not allowed", 'a list of names, ["pfc"]')
                names = []
            if len(set(names)) < len(names):
                findings.add((key,), "a scheme is listed twice", "each scheme once")
            types = [self._scheme(key, name, findings) for name in names]
            chosen[key] = [name for name in types if name]
        for key, default in DEFAULTS.items():
            name = document.get(key, "")
            if not isinstance(name, str):
                findings.add((key,), f"{name!r} is not allowed", "one name, or none")
                name = ""
            chosen[key] = self._scheme(key, name, findings) if name else default
        return chosen

    def _scheme(self, key: str, name: str, findings: Findings) -> str:
        if self.types is None:
            return name
        known = self.types.schemes(INTERFACES[key])
        spellings = {kebab_case(t.name.split("::")[-1]): t for t in known.values()}
        spellings |= {t.name: t for t in known.values()} | known
        info = spellings.get(self.types.today(name))
        if info is None:
            hint = suggest(name, known) or _where_schemes_are()
            allowed = ", ".join(known) or f"no built module has a class for {key}"
            findings.add((key,), f"unknown scheme {name!r}", allowed, hint)
            return ""
        return info.name

    def _attributes(
        self, document: Mapping[str, Any], schemes: Mapping[str, Any], findings: Findings
    ) -> dict[str, dict[str, str]]:
        """Return {TypeId: {attribute: value}} of what the run uses; the rest is validated, too.

        Without the types: all sections, as they are written.
        """
        if self.types is None:
            written = {key: as_written(data) for key, data in document.items() if key not in KEYS}
            port = obeying_as_written(written.pop("port", {}))
            return {**written, "port": port} if port else written
        of_ports_and_nodes = ("flow_control", "agents", "host_agents")
        used = {name for key in of_ports_and_nodes for name in schemes[key]}
        used.update(schemes[key] for key in DEFAULTS)
        attributes: dict[str, dict[str, str]] = {}
        told: dict[str, str] = {}
        for key, data in document.items():
            info = None if key in KEYS else self.types.find(key)
            if info is None:
                continue
            if (other := told.setdefault(info.name, key)) != key:
                what = f"'{other}' and '{key}' are names of the same section"
                short = self.types.short_name(info.name)
                findings.add((key,), what, f"one of them, such as '{short}'")
                continue
            values = resolve_section(self.types, info, data, findings, (key,))
            if values and (info.name in used or not self.types.is_scheme(info)):
                attributes[info.name] = attributes.get(info.name, {}) | values
            elif info.name == DEFAULTS["buffer_policy"] and self.types.policy_attributes(values):
                own = attributes.setdefault(schemes["buffer_policy"], {})
                own |= self.types.policy_attributes(values) | own
        attributes[PORT] = obeying(self.types, attributes.get(PORT, {}))
        return {
            name: dict(sorted(given.items())) for name, given in sorted(attributes.items()) if given
        }

    def network(self, data: object, findings: Findings) -> topology.ResolvedTopology | None:
        """Resolve [topology]; most settings of a sweep share one."""
        key = json.dumps(data, sort_keys=True, default=str)
        if key not in self._networks:
            network = topology.resolve(data, findings, folder=self.folder)
            if network is None:
                return None
            self._networks[key] = network
        return self._networks[key]

    def _entries(
        self,
        document: Mapping[str, Any],
        run: RunTable | None,
        attributes: Mapping[str, Mapping[str, str]],
        schemes: Mapping[str, Any],
        network: topology.ResolvedTopology,
        findings: Findings,
    ) -> dict[str, Any]:
        """Resolve [[node]], [[route]], [[traffic]], [[fault]] and [[trace]]."""
        sizes = frames(self.types, attributes)
        duration = run.duration if run else MAX_TIME
        scene = traffic.Scene(
            network.network,
            self.folder,
            self.workloads,
            duration,
            sizes.payload,
            sizes.header,
        )
        entries = self._check_entries(document, findings)
        if not entries["traffic"]:
            hint = "add [[traffic]] with its 'kind'"
            findings.add(("traffic",), "missing", ", ".join(traffic.KINDS), hint)
        flows = [
            self._traffic(entry, findings, ("traffic", str(number)), scene)
            for number, entry in enumerate(entries["traffic"])
        ]
        response = attributes.get(PORT, {}).get(RESPONSE, IDEAL)
        nodes = resolve_nodes(
            entries["node"], network.network, self.types, schemes, findings, response
        )
        if self.types:
            own = (
                Section(("node", str(number), "port"), one.attributes.get(PORT, {}), one.nodes)
                for number, one in nodes.items()
            )
            sections = [Section(("port",), attributes.get(PORT, {})), *own]
            largest = {
                ("traffic", str(number)): sizes.of(flow.payload_size)
                for number, flow in enumerate(flows)
                if flow is not None
            }
            PortCheck(network.network, sections, findings).check(schemes["agents"], largest)
        return {
            "nodes": list(nodes.values()),
            "routes": resolve_routes(entries["route"], network.network, findings),
            "traffic": flows,
            "faults": resolve_faults(
                entries["fault"], network.network, duration, schemes["flow_control"], findings
            ),
            "traces": resolve_traces(entries["trace"], network.network, run, findings, self.types),
        }

    def _traffic(
        self, entry: object, findings: Findings, path: tuple[str, ...], scene: traffic.Scene
    ) -> traffic.TrafficTable | None:
        """Resolve an entry; most settings of a sweep share most of theirs."""
        text = json.dumps(entry, sort_keys=True, default=str)
        key = (text, id(scene.network), scene.duration_ps, scene.payload, scene.header)
        if key not in self._flows:
            resolved = traffic.resolve(entry, findings, path, scene)
            if resolved is None:
                return None
            self._flows[key] = resolved
        return self._flows[key]

    def _check_apart(self, document: Mapping[str, Any], findings: Findings) -> None:
        """Note problems of the entries that do not depend on the network, which is unknown."""
        scene = traffic.Scene(topology.NO_NETWORK, self.folder, self.workloads, MAX_TIME)
        for key, entries in self._check_entries(document, findings).items():
            for number, entry in enumerate(entries):
                path = (key, str(number))
                if key == "traffic":
                    traffic.check_apart(entry, findings, path, scene)
                elif key == "fault":
                    findings.validate_kind("fault", FAULTS, entry, path)
                elif key == "trace":
                    check_trace(entry, findings, path, self.types)
                elif key == "route":
                    findings.validate(RouteTable, entry, path)

    @staticmethod
    def _check_entries(document: Mapping[str, Any], findings: Findings) -> dict[str, list[Any]]:
        """Return the lists of tables; anything else becomes an empty list."""
        lists = {key: entries_of(document, key, findings) for key in ENTRIES if key not in WHOLE}
        for key in [key for key, entries in lists.items() if len(entries) > MAX_ENTRIES]:
            hint = "messages may come from a CSV file" if key == "traffic" else None
            findings.add((key,), f"{len(lists[key])} entries", f"at most {MAX_ENTRIES}", hint)
            lists[key] = lists[key][:1]
        return lists


def obeying_as_written(port: Mapping[str, str]) -> dict[str, str]:
    """Return a section [port] of JSON values as `obeying` has it: with its rule, unless ideal."""
    rest = {key: text for key, text in port.items() if key != "pause_response"}
    text = port.get("pause_response", json.dumps(usual_response(port)))
    return rest if fold(str(json.loads(text))) == fold(IDEAL) else {**rest, "pause_response": text}


def obeying(types: Catalogue, port: Mapping[str, str]) -> dict[str, str]:
    """Let ports obey pauses as late as hardware may, unless their section says how late.

    The rule Ideal is left out, as C++ has it without: runs of before keep their names.
    """
    info = types.by_name.get(PORT)
    if info is None or snake_case(RESPONSE) not in types.attributes(info):
        return dict(port)
    rest = {name: value for name, value in port.items() if name != RESPONSE}
    rule = port.get(RESPONSE, usual_response(port))
    return rest if rule == IDEAL else dict(sorted({**rest, RESPONSE: rule}.items()))


def _where_schemes_are() -> str:
    """Say in which folder the class of an unknown scheme may be."""
    paths = default_paths()
    own = paths.own_modules
    place = own.relative_to(paths.root) if own.is_relative_to(paths.root) else own
    return f"a scheme is a class of a module in {place}/ or in {MODULE_PATH_VARIABLE}"


def entries_of(document: Mapping[str, Any], key: str, findings: Findings) -> list[Any]:
    """Return a list of tables; anything else is noted and becomes an empty list."""
    value = document.get(key, [])
    if isinstance(value, list):
        return value
    findings.add((key,), f"{value!r} is not allowed", f"entries that begin [[{key}]]")
    return []


def canonical_param(path: tuple[str, ...], value: Any, types: Catalogue | None) -> Any:
    """Return a swept value in one spelling.

    It is the shortest one for a quantity, and the C++ name for an enumerator.
    Lists are joined with '+', so that a value is one cell of a table.
    """
    if isinstance(value, list):
        return "+".join(str(canonical_param(path, entry, types)) for entry in value)
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True)
    if not isinstance(value, str):
        whole = isinstance(value, float) and value.is_integer()
        return int(value) if whole else value
    info = types.find(path[0]) if types and path[0] not in KEYS else None
    attribute = types.attributes(info).get(path[-1]) if types and info else None
    if attribute is not None and attribute.type.endswith("EnumValue"):
        with contextlib.suppress(ValueError):  # noted as a problem where it is used
            return spell(attribute, value)
    return shortest(value)
