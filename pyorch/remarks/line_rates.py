"""Presets and defaults that are for hosts of another rate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pyorch.base.findings import Findings
from pyorch.base.units import format_rate
from pyorch.remarks.cases import Case, Cases, Found
from pyorch.setting.attributes import Catalogue, TypeInfo, number, resolve_section

DEFAULTS = "defaults"
"""The preset that repeats what C++ has."""
Rated = dict[tuple[str, str], tuple[TypeInfo, Mapping[str, str], int]]
"""Presets for one line rate [bit/s], by section and name: type, values, rate."""
FACTOR = 2
"""How far the rate of a host may be from that of a preset, either way."""


def of_line_rates(cases: Cases) -> Iterator[Found]:
    """Sections that have the values of a preset for another rate than that of the hosts."""
    types = cases.types
    if types is None:
        return
    rated, unrated = _by_rate(types)
    for case in cases.every:
        setting = case.setting
        used = {setting.congestion_control, *setting.agents, *setting.host_agents}
        used |= {*setting.flow_control, setting.buffer_policy}
        rates = sorted(set(case.network.end_rates[case.network.attached].tolist()))
        fitting: dict[str, list[str]] = {}
        for (section, name), (info, values, rate) in rated.items():
            far = [one for one in rates if not rate <= FACTOR * one <= FACTOR**2 * rate]
            is_used = info.name in used or not types.is_scheme(info)
            # a preset for any rate may have some of the same values
            chosen = any(_has(cases, case, info, other) for other in unrated.get(section, ()))
            # whoever gives all of the defaults has chosen them
            given = set(setting.attributes.get(info.name, ())) if name == DEFAULTS else set[str]()
            chosen |= set(values) <= given
            if far and is_used and not chosen and _has(cases, case, info, values):
                fitting.setdefault(name, []).append(section)
        for name, sections in fitting.items():
            yield _told(types, case, name, sections)


def _by_rate(types: Catalogue) -> tuple[Rated, Mapping[str, Sequence[Mapping[str, str]]]]:
    """Return the presets for one line rate, and the values of those for any, by section."""
    rated: Rated = {}
    unrated: dict[str, list[Mapping[str, str]]] = {}
    for section, presets in types.presets.items():
        info = types.find(section)
        if info is None:
            continue
        for name, preset in presets.items():
            values = resolve_section(types, info, dict(preset.values), Findings(section), ())
            if preset.line_rate is None:
                unrated.setdefault(section, []).append(values)
            else:
                rated[section, name] = info, values, preset.line_rate
    return rated, unrated


def _has(cases: Cases, case: Case, info: TypeInfo, values: Mapping[str, str]) -> bool:
    """Whether a section of a case has all values of a preset, be they written or default."""
    own = cases.section(case, info.name) or {}
    return all(
        text == own.get(name) or number(text) == number(own.get(name, ""))
        for name, text in values.items()
    )


def _told(types: Catalogue, case: Case, name: str, sections: list[str]) -> Found:
    presets = types.presets
    rate = max(presets[section][name].line_rate or 0 for section in sections)
    rates = sorted(set(case.network.end_rates[case.network.attached].tolist()))
    hosts = rates[-1] if rates[-1] > rate else rates[0]
    values = "its defaults" if len(sections) == 1 else "their defaults"
    values = values if name == DEFAULTS else f'the values of the preset "{name}"'
    what = f"{' and '.join(sections)} {'has' if len(sections) == 1 else 'have'} {values}, "
    what += f"for hosts of {format_rate(rate)}, and there are hosts of {format_rate(hosts)}"
    control = types.by_name.get(case.setting.congestion_control)
    owner = types.short_name(control.name) if control is not None else ""
    homes = [*sections, *([owner] if owner in presets and owner not in sections else [])]
    scaling = [
        other
        for other in presets[homes[0]]
        if all(other in presets[one] and presets[one][other].line_rate is None for one in homes)
    ]
    hint = "give the values for that rate"
    if scaling:
        keys = " and ".join(f"{section}.parameters" for section in sections)
        names = " or ".join(f'"{other}"' for other in scaling)
        hint += f", or set {keys} to {names}, which suit any rate"
    gravity = max(hosts / rate, rate / hosts)
    return Found(("line rate", name, *sections), case, what, hint, gravity)
