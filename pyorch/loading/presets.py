"""Presets: sets of parameters that a module brings as data, in its presets.toml.

[NAME] gives the origin of the set (`source`) and may extend another; [NAME.SECTION] has values as
in an experiment file. A section chooses one by `parameters = "NAME"`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from pyorch.build.sources import present_modules
from pyorch.config.attributes import Presets
from pyorch.errors import Problem, UserError, one_of, quoted, suggest
from pyorch.reading import read_toml

if TYPE_CHECKING:
    from pyorch.paths import Paths

_SHAPE = 'tables [NAME] with source = "...", and [NAME.SECTION] with values'


def read_presets(paths: Paths) -> Presets:
    """Return {section: {name: values}} of all modules. Raises UserError for a wrong file.

    Modules may add presets to sections of others, but not under a name that is in use there.
    """
    found: dict[str, dict[str, dict[str, Any]]] = {}
    owners: dict[tuple[str, str], FilePath] = {}
    for module in present_modules(paths.modules):
        if module.presets.is_file():
            for name, (_, sections) in _read(module.presets).items():
                for section, values in sections.items():
                    owner = owners.setdefault((section, name), module.presets)
                    if owner != module.presets:
                        what = f"{owner} has a preset of this name for that section"
                        where = f"{module.presets}: {name}.{section}"
                        raise UserError([Problem(where, what, None, "give it another name")])
                    found.setdefault(section, {})[name] = values
    return found


def preset_sources(paths: Paths) -> dict[str, dict[str, str]]:
    """Return {section: {name: source}} of all modules. Raises UserError for a wrong file."""
    found: dict[str, dict[str, str]] = {}
    for module in present_modules(paths.modules):
        if module.presets.is_file():
            for name, (source, sections) in _read(module.presets).items():
                for section in sections:
                    found.setdefault(section, {})[name] = source
    return found


def _read(file: FilePath) -> dict[str, tuple[str, dict[str, dict[str, Any]]]]:
    """Return {name: (source, {section: values})} of a file; sets extend earlier ones."""
    presets: dict[str, tuple[str, dict[str, dict[str, Any]]]] = {}
    for name, table in read_toml(file, str(file)).items():
        where = f"{file}: {name}"
        if not isinstance(table, Mapping) or not isinstance(table.get("source"), str):
            raise UserError([Problem(where, "has no source", _SHAPE)])
        base = table.get("extends")
        if base is not None and (not isinstance(base, str) or base not in presets):
            hint = suggest(str(base), presets)
            what = f"extends {quoted(base)}, which is not defined above it"
            raise UserError([Problem(where, what, one_of(presets) or None, hint)])
        sections = {key: one for key, one in table.items() if key not in ("source", "extends")}
        if not all(isinstance(values, Mapping) for values in sections.values()):
            raise UserError([Problem(where, "has values outside a section", _SHAPE)])
        below = presets[base][1] if base is not None else {}
        joined = {
            section: {**below.get(section, {}), **sections.get(section, {})}
            for section in [*below, *(new for new in sections if new not in below)]
        }
        presets[name] = (table["source"], joined)
    return presets
