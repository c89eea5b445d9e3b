"""Presets: sets of parameters that a module brings as data, in its presets.toml.

[NAME] gives the origin of the set (`source`) and may extend another; [NAME.SECTION] has values as
in an experiment file, and `line_rate` if they are for hosts of one rate. A section chooses one by
`parameters = "NAME"`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from pyorch.base.errors import one_of, quoted, refusal, suggest
from pyorch.base.paths import Paths
from pyorch.base.reading import read_toml
from pyorch.base.units import parse_rate
from pyorch.build.sources import present_modules
from pyorch.setting.attributes import Preset, Presets

_SHAPE = 'tables [NAME] with source = "...", and [NAME.SECTION] with values'
LINE_RATE = "line_rate"


def read_presets(paths: Paths) -> Presets:
    """Return the presets of all modules. Raises UserError for a wrong file.

    Modules may add presets to sections of others, but not under a name that is in use there.
    """
    found: dict[str, dict[str, Preset]] = {}
    owners: dict[tuple[str, str], FilePath] = {}
    for module in present_modules(paths.modules):
        if not module.presets.is_file():
            continue
        for section, name, preset in _read(module.presets):
            owner = owners.setdefault((section, name), module.presets)
            if owner != module.presets:
                what = f"{owner} has a preset of this name for that section"
                where = f"{module.presets}: {name}.{section}"
                raise refusal(where, what, hint="give it another name")
            found.setdefault(section, {})[name] = preset
    return found


def _read(file: FilePath) -> Iterator[tuple[str, str, Preset]]:
    """Yield (section, name, preset) of a file; sets extend earlier ones."""
    presets: dict[str, dict[str, dict[str, Any]]] = {}
    for name, table in read_toml(file, str(file)).items():
        where = f"{file}: {name}"
        if not isinstance(table, Mapping) or not isinstance(table.get("source"), str):
            raise refusal(where, "has no source", _SHAPE)
        base = table.get("extends")
        if base is not None and (not isinstance(base, str) or base not in presets):
            hint = suggest(str(base), presets)
            what = f"extends {quoted(base)}, which is not defined above it"
            raise refusal(where, what, one_of(presets) or None, hint)
        sections = {key: one for key, one in table.items() if key not in ("source", "extends")}
        if not all(isinstance(values, Mapping) for values in sections.values()):
            raise refusal(where, "has values outside a section", _SHAPE)
        below = presets[base] if base is not None else {}
        presets[name] = {
            section: {**below.get(section, {}), **sections.get(section, {})}
            for section in [*below, *(new for new in sections if new not in below)]
        }
        for section, values in presets[name].items():
            rate = _line_rate(values, f"{where}.{section}.{LINE_RATE}")
            given = {key: value for key, value in values.items() if key != LINE_RATE}
            yield section, name, Preset(table["source"], given, rate)


def _line_rate(values: Mapping[str, Any], where: str) -> int | None:
    """Return the rate [bit/s] for which values are chosen, if they say so. Raises UserError."""
    if LINE_RATE not in values:
        return None
    try:
        return parse_rate(values[LINE_RATE])
    except ValueError as error:
        raise refusal(where, str(error), 'a rate such as "25Gbps"') from error
