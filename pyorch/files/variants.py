"""Variants: of the library, the file itself, files next to it, and modules' comparison.toml.

A file with variants has tables [variants.NAME], patches as in an experiment, or is a scheme file
(pyorch.files.schemes). Those of modules join if they choose a scheme under a key that `modules`
names. A table with `extends` is laid over another variant, or over a scheme of the library.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any, get_args

from pyorch.base.errors import Problem, UserError, one_of, quoted, suggest
from pyorch.base.findings import Findings, Path, dotted
from pyorch.base.paths import Paths
from pyorch.build.sources import present_modules
from pyorch.files.keys import Compared, is_whole
from pyorch.files.layers import ADDED, SCHEMES, read_layers
from pyorch.files.library import Library, scheme_files
from pyorch.files.patch import PatchError, leaves, nest
from pyorch.files.schemes import CHAINS, SchemeFile, read_scheme

FILES, MODULES = "files", "modules"
"""Keys of [variants] that are not variants."""
EXTENDS = "extends"
"""Key of [variants.NAME] that is no change: the variant over which it is laid."""
COMPARED = get_args(Compared)
_PATTERN = 'files, "schemes/*.toml"'
_TABLE = '[variants.NAME], or variants = ["pfc+dcqcn", "irn"]'
_SHAPE = f"[variants.NAME] that chooses one of {', '.join(COMPARED)}"


@dataclass(frozen=True)
class Variant:
    """A variant: its file, and its own changes; those of a scheme are made for each setting.

    extends: the name of the variant `base`, whose changes come before its own.
    """

    file: str
    name: str
    changes: list[tuple[Path, Any]]
    scheme: SchemeFile | None = None
    extends: str = ""
    base: Variant | None = None

    @property
    def line(self) -> list[Variant]:
        """The variants that it extends, the first of them first, and itself."""
        found = [self]
        while (base := found[-1].base) is not None:
            found.append(base)
        return found[::-1]

    @property
    def replaces(self) -> set[str]:
        """The keys of the file that it sets as a whole; a scheme its choices, empty or not."""
        keys = {path[0] for one in self.line for path, _ in one.changes if len(path) == 1}
        schemes = (one.scheme for one in self.line if one.scheme)
        return keys.union(*(one.chosen.keys() - ADDED for one in schemes))

    @property
    def chooses(self) -> str | None:
        """Which of COMPARED it is about; an end-to-end scheme may also choose those below it."""
        keys = {path[0] for one in self.line for path, _ in one.changes}
        schemes = [one.scheme for one in self.line if one.scheme]
        keys |= {key for scheme in schemes for key, chosen in scheme.chosen.items() if chosen}
        return next((key for key in reversed(COMPARED) if key in keys), None)


def read_variants(
    table: object, folder: FilePath, paths: Paths, findings: Findings
) -> dict[str, Variant]:
    """Return all variants of [variants] by name, in the order in which they run.

    First those of the library, then those of the table, those of files in `folder`, and those of
    modules. Notes problems of the table and of the files.
    """
    if isinstance(table, list):
        table = {SCHEMES: table}
    if not isinstance(table, dict):
        findings.add(("variants",), f"{table!r} is not a table", _TABLE)
        return {}
    library = Library(paths)
    found: dict[str, Variant] = {}
    _add(found, _of_library(table.get(SCHEMES, []), library, findings), findings)
    named = {key: one for key, one in table.items() if key not in (SCHEMES, FILES, MODULES)}
    _add(found, _patched(named, findings), findings)
    for file in _files(table.get(FILES, []), folder, findings):
        _add(found, _read(file, file.name, findings), findings)
    found = _linked(found, findings, library)
    _add(found, _of_modules(table.get(MODULES, []), bool(found), paths, findings), findings)
    return found


def read_library(paths: Paths) -> list[SchemeFile]:
    """Return the schemes that every experiment may name. Raises UserError with their problems."""
    findings = Findings("")
    read = [one for place in scheme_files(paths) for one in _read(*place, findings)]
    if findings.problems:
        raise UserError(findings.problems)
    return [variant.scheme for _, variant in read if variant.scheme]


def read_patches(
    path: Path, table: object, findings: Findings
) -> Iterator[tuple[str, list[tuple[Path, Any]]]]:
    """Yield the changes of tables such as [variants.NAME], by name; notes wrong ones."""
    if not isinstance(table, dict):
        findings.add(path, f"{table!r} is not a table", f"[{dotted(path)}.NAME]")
        return
    for name, patch in table.items():
        at = (*path, name)
        if not isinstance(patch, dict):
            findings.add(at, f"{patch!r} is not a table", f"[{dotted(at)}]")
            continue
        try:
            changes = list(leaves(nest(patch)))
        except PatchError as error:
            findings.add(at, str(error))
        else:
            yield name, [change for change in changes if may_change(at, change[0], findings)]


def may_change(path: Path, key: Path, findings: Findings) -> bool:
    """Whether a setting may change a key; if not, notes it at a path."""
    if is_whole(key):
        what = f"{dotted(key)!r} belongs to the experiment as a whole"
        findings.add(path, what, "keys that describe a run")
    return not is_whole(key)


def _patched(table: object, findings: Findings) -> Iterator[tuple[str, Variant]]:
    extends: dict[str, str] = {}
    if isinstance(table, dict):
        table = dict(table)
        for name, patch in table.items():
            if isinstance(patch, dict) and EXTENDS in patch:
                table[name] = {key: value for key, value in patch.items() if key != EXTENDS}
                if isinstance(patch[EXTENDS], str) and patch[EXTENDS]:
                    extends[name] = patch[EXTENDS]
                    continue
                what = f"{quoted(patch[EXTENDS])} is not allowed"
                findings.add(("variants", name, EXTENDS), what, "the name of another variant")
    for name, changes in read_patches(("variants",), table, findings):
        yield name, Variant(findings.file, name, changes, extends=extends.get(name, ""))


def _of_library(
    names: object, library: Library, findings: Findings
) -> Iterator[tuple[str, Variant]]:
    """Yield the schemes of the library that a list names; notes unknown ones."""
    path: Path = ("variants", SCHEMES)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        findings.add(path, f"{names!r} is not allowed", 'names of schemes, ["pfc+dcqcn", "irn"]')
        return
    read: list[tuple[FilePath, str]] = []
    for name in names:
        try:
            known = library.find(name)
        except UserError as error:
            findings.merge(error.problems)
            return
        if known is None:
            library.missing(name, path, findings)
        elif known in read:
            findings.add(path, f"{name!r} is named twice", "each scheme once")
        else:
            read.append(known)
            yield from _read(*known, findings)


def _linked(
    own: Mapping[str, Variant], findings: Findings, library: Library | None = None
) -> dict[str, Variant]:
    """Return variants with those that they extend; notes unknown ones and circles.

    library: where what is extended may be, too.
    """
    linked: dict[str, Variant] = {}
    found = dict(own)
    for name, variant in own.items():
        if library and variant.extends and variant.extends not in found:
            for known, below in _of_library([variant.extends], library, Findings("")):
                found[name] = replace(variant, extends=known)
                found.setdefault(known, below)
    for name in found:
        way = [name]  # a loop, since a long line must not be a deep recursion
        while (base := found[way[-1]].extends) in found and base not in (*way, *linked):
            way.append(base)
        last = found[way[-1]]
        if base in way:
            what = f"{' -> '.join([*way[way.index(base) :], base])} is a circle"
            _complain(last, what, "a variant that does not extend this one", None, findings)
        elif base and base not in found:
            others = [one for one in found if one != last.name]
            what, allowed = f"there is no variant {base!r}", one_of(others) or None
            _complain(last, what, allowed, suggest(base, others), findings)
        for one in reversed(way):
            linked[one] = replace(found[one], base=linked.get(found[one].extends))
    return {name: linked[name] for name in own}


def _complain(
    variant: Variant, what: str, allowed: str | None, hint: str | None, findings: Findings
) -> None:
    """Note a problem with what a variant extends."""
    path = ("variants", variant.name, EXTENDS)
    mine = variant.file == findings.file
    where = findings.where(path) if mine else f"{variant.file}: {dotted(path)}"
    findings.merge([Problem(where, what, allowed, hint)])


def _add(
    found: dict[str, Variant], more: Iterator[tuple[str, Variant]], findings: Findings
) -> None:
    for name, variant in more:
        first = found.setdefault(name, variant)
        if first is not variant:
            what = f"{name!r} is also a variant of {first.file}"
            where = f"{variant.file}: " + ("name" if variant.scheme else "variants")
            findings.merge([Problem(where, what, "each name once", "rename this one")])


def _files(written: object, folder: FilePath, findings: Findings) -> Iterator[FilePath]:
    """Yield the files that patterns name, each once, in the order of their names."""
    patterns = [written] if isinstance(written, str) else written
    if not isinstance(patterns, list) or not all(isinstance(entry, str) for entry in patterns):
        findings.add(("variants", FILES), f"{written!r} is not allowed", _PATTERN)
        return
    for entry in patterns:
        files: list[FilePath] = []
        # not a pattern: absolute, empty, ".", or longer than a name can be
        with suppress(NotImplementedError, ValueError, IndexError, OSError):
            files = sorted(folder.glob(entry))
        if not files:
            what = f"no file is called {entry!r} next to the experiment file"
            findings.add(("variants", FILES), what, _PATTERN)
        yield from files


def _of_modules(
    written: object, compares: bool, paths: Paths, findings: Findings
) -> Iterator[tuple[str, Variant]]:
    """Yield what modules add to a study that compares some of COMPARED."""
    at = ("variants", MODULES)
    keys = written if isinstance(written, list) else [written]
    wrong = [one for one in keys if one not in COMPARED]
    for one in wrong:
        hint = suggest(str(one), COMPARED)
        findings.add(at, f"{one!r} is not allowed", ", ".join(COMPARED), hint)
    if wrong or not keys:
        return
    if not compares:
        hint = "add [variants.NAME] tables, or leave 'modules' out"
        findings.add(at, "there are no variants to compare", None, hint)
        return
    for module in present_modules(paths.modules):
        if module.comparison.is_file():
            read = _read(module.comparison, str(module.comparison), findings)
            for name, variant in _linked(dict(read), findings).items():
                if variant.chooses in keys:
                    yield name, variant
                elif variant.chooses is None:
                    where = f"{variant.file}: variants.{name}"
                    findings.merge([Problem(where, "it selects no scheme", _SHAPE)])


def _read(file: FilePath, label: str, findings: Findings) -> Iterator[tuple[str, Variant]]:
    """Yield the variants of a file; notes its problems."""
    try:
        content, places = read_layers(file, label, joined=CHAINS)
    except UserError as error:
        findings.merge(error.problems)
        return
    own = Findings(label, places)
    if "variants" in content:
        for key in content.keys() - {"variants"}:
            own.add((key,), "is next to [variants.NAME]", "no other tables in such a file")
        if not content["variants"]:
            own.add(("variants",), "there are none", _SHAPE)
        yield from _patched(content["variants"], own)
    else:
        scheme = read_scheme(content, own)
        if scheme is not None and not own.problems:
            yield scheme.name, Variant(label, scheme.name, [], scheme)
    findings.merge(own.problems)
