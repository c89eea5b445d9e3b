"""Comparisons that grow: a module may add its schemes as variants to studies that compare.

A study says `compare = "flow_control"`, another of COMPARED, or a list of them; a module's
comparison.toml has [variants.NAME], patches as in a study. Those that choose a scheme under such a
key join the study.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, get_args

from pyorch.build.sources import present_modules
from pyorch.errors import Problem, UserError, suggest
from pyorch.findings import Findings, Path
from pyorch.loading.model import Compared
from pyorch.loading.patch import PatchError, leaves, nest
from pyorch.reading import read_toml

if TYPE_CHECKING:
    from pyorch.paths import Paths

#: The key of a study that says what it compares.
COMPARE = "compare"
COMPARED = get_args(Compared)
_SHAPE = (
    "[variants.NAME] that chooses a flow_control, forwarding, congestion_control or buffer_policy"
)


@dataclass(frozen=True)
class Added:
    """A variant that a module adds: its name, its file, and its changes as (path, value)."""

    name: str
    file: str
    changes: list[tuple[Path, Any]]

    @property
    def chooses(self) -> str | None:
        """Which of COMPARED it is about: an end-to-end scheme may choose what is below it, too."""
        keys = {path[0] for path, _ in self.changes}
        return next((key for key in reversed(COMPARED) if key in keys), None)


def added_variants(
    key: object, own: Collection[str], paths: Paths, findings: Findings
) -> list[Added]:
    """Return what modules add to a study that compares `key`; nothing where the key is missing.

    key: one of COMPARED, or a list of them. own: names of the study's variants. Notes problems of
    the key and of the modules' files.
    """
    if key is None:
        return []
    keys = key if isinstance(key, list) else [key]
    for wrong in [one for one in keys if one not in COMPARED]:
        hint = suggest(str(wrong), COMPARED)
        findings.add((COMPARE,), f"{wrong!r} is not allowed", ", ".join(COMPARED), hint)
        return []
    if not own:
        hint = "add [variants.NAME] tables, or leave 'compare' out"
        findings.add((COMPARE,), "there are no variants to compare", None, hint)
        return []
    found: dict[str, Added] = {}
    for added in _read_all(paths, findings):
        if added.chooses not in keys:
            continue
        if added.name in own or added.name in found:
            what = f"another variant is called {added.name!r}"
            findings.merge([Problem(f"{added.file}: variants", what, None, "rename this one")])
            continue
        found[added.name] = added
    return list(found.values())


def _read_all(paths: Paths, findings: Findings) -> Iterator[Added]:
    for module in present_modules(paths.modules):
        if module.comparison.is_file():
            yield from _read(module.comparison, findings)


def _read(file: FilePath, findings: Findings) -> Iterator[Added]:
    label = str(file)
    try:
        content = read_toml(file, label)
    except UserError as error:
        findings.merge(error.problems)
        return
    variants = content.pop("variants", {})
    if content or not isinstance(variants, Mapping) or not variants:
        findings.merge([Problem(label, "is not a list of variants", _SHAPE)])
        return
    for name, patch in variants.items():
        where = f"{label}: variants.{name}"
        if not isinstance(patch, dict):
            findings.merge([Problem(where, f"{patch!r} is not a table", _SHAPE)])
            continue
        try:
            added = Added(name, label, list(leaves(nest(patch))))
        except PatchError as error:
            findings.merge([Problem(where, str(error))])
            continue
        if added.chooses is None:
            findings.merge([Problem(where, "it chooses no scheme", _SHAPE)])
            continue
        yield added
