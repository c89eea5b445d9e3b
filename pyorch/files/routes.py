"""[[route]]: what a switch forwards to a neighbour, different from the shortest paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from pyorch.base.errors import suggest
from pyorch.base.fields import Duration, Names, Table, Time
from pyorch.base.findings import Findings, Path
from pyorch.network.topology import SWITCH, Topology, check_link
from pyorch.setting.canonical import Route
from pyorch.traffic.base import expand_hosts


class RouteTable(Table):
    """From `at` until `until` a switch sends traffic for hosts to a neighbour."""

    switch: str = Field(description="The switch.")
    dst: Names = Field(description="Hosts to which the traffic goes.")
    next: str = Field(description="The neighbour.")
    at: Time = Field(default=0, description="When it begins.")
    until: Duration | None = Field(default=None, description="When it ends; none: never.")
    label: str | None = Field(
        default=None, description="A name by which sweeps and `--set` refer to the entry."
    )


def resolve_routes(entries: Sequence[Any], network: Topology, findings: Findings) -> list[Route]:
    """Validate [[route]] entries; return one route for each host."""
    routes = []
    for number, entry in enumerate(entries):
        path: Path = ("route", str(number))
        route = findings.validate(RouteTable, entry, path)
        if route is None:
            continue
        before = len(findings.problems)
        hosts = _hosts(route.dst, network, findings, (*path, "dst"))
        _check_ends(route, network, findings, path)
        if route.until is not None and route.until <= route.at:
            findings.add((*path, "until"), "not after 'at'", "a time after 'at'")
        if len(findings.problems) == before:
            routes += [
                Route.model_construct(
                    switch=route.switch, dst=host, next=route.next, at=route.at, until=route.until
                )
                for host in hosts
            ]
    return routes


def _hosts(names: Sequence[str], network: Topology, findings: Findings, path: Path) -> list[str]:
    hosts: list[str] = []
    for name in names:
        found = [name] if network.is_host(name) else expand_hosts(name, network)
        if not found:
            hint = suggest(name, network.host_names)
            findings.add(path, f"there is no host {name!r}", None, hint)
        hosts += found or []
    return list(dict.fromkeys(hosts))


def _check_ends(route: RouteTable, network: Topology, findings: Findings, path: Path) -> None:
    number = network.numbers.get(route.switch)
    if number is not None and network.kinds[number] != SWITCH:
        findings.add((*path, "switch"), f"{route.switch} is a host", "a switch")
        return
    check_link(network, [route.switch, route.next], findings, (*path, "next"))
