"""An experiment with its changes, as one document that a file can hold."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from os.path import realpath
from pathlib import Path as FilePath
from typing import Any

from pyorch.base.errors import Problem, UserError
from pyorch.base.findings import Findings, Path
from pyorch.files.find import Document
from pyorch.files.keys import SCENARIO, is_whole
from pyorch.files.layers import SCHEMES
from pyorch.files.patch import ONLY, Override, PatchError, chosen_overrides, flat, put, variants_of
from pyorch.files.variants import EXTENDS, FILES, MODULES
from pyorch.plan import read_seeds

_OF_FILES = frozenset({"topology", "traffic"})
"""Keys whose entries may be read from a file next to the experiment."""


def composed(
    document: Document, overrides: Sequence[str], seeds: str, folder: FilePath
) -> dict[str, Any]:
    """Return the tables of a document with overrides applied.

    An overridden key takes precedence over variants, scenarios and sweeps, which lose it. folder:
    that of the future file. Raises UserError for what one file cannot express.
    """
    findings = Findings(document.label, document.places, list(document.problems))
    given, problems = chosen_overrides(document.content.get("set", {}), overrides, findings)
    content = copy.deepcopy(dict(document.content))
    if isinstance(content.get("variants"), list):
        content["variants"] = {SCHEMES: content["variants"]}
    problems += findings.problems
    for override in given:
        try:
            problems += _apply(content, override)
        except PatchError as error:
            problems.append(Problem(override.where, str(error)))
    problems += _of_files(content, document, folder)
    if problems:
        raise UserError(problems)
    wanted = read_seeds(seeds)
    if wanted is not None:
        count = len(wanted) if wanted.start == 1 else list(wanted)
        content["run"] = {**content.get("run", {}), "seeds": count}
    return content


def _of_files(content: dict[str, Any], document: Document, folder: FilePath) -> list[Problem]:
    """Report the parts of a document that are valid in its own folder only."""
    if realpath(folder) == realpath(document.file.parent):
        return []
    named = ["variants.files"] if FILES in _table(content, "variants") else []
    named += ["kinds"] if "kinds" in content else []
    named += dict.fromkeys(map(".".join, _files_in(content)))
    hint = f"save it in {document.file.parent}"
    return [Problem(document.label, f"{key} names files beside it", None, hint) for key in named]


def _files_in(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the keys, also of variants and sweeps, that name files of networks and traffic."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _files_in(one, (*path, *key.split(".")))
    elif isinstance(value, list):
        for one in value:
            yield from _files_in(one, path)
    elif path and path[-1] == "file" and not _OF_FILES.isdisjoint(path):
        yield path


def _apply(content: dict[str, Any], override: Override) -> list[Problem]:
    """Put one override into a document. Raises PatchError."""
    path = override.path
    if path == (ONLY,):
        return _keep_variants(content, override)
    if is_whole(path):
        put(content, path, override.value)
        return []
    key = ".".join(path)
    sweep = _table(content, "sweep")
    for group in (_table(content, "variants"), sweep.get(SCENARIO, {})):
        for name, patch in group.items():
            if isinstance(patch, dict):
                group[name] = {at: one for at, one in flat(patch).items() if at != key}
    scenarios = {SCENARIO: sweep[SCENARIO]} if SCENARIO in sweep else {}
    swept = flat({at: one for at, one in sweep.items() if at != SCENARIO})
    if override.is_list or key in swept:
        content["sweep"] = scenarios | swept | {key: list(override.values)}
    else:
        put(content, path, override.value)
    return []


def _keep_variants(content: dict[str, Any], override: Override) -> list[Problem]:
    wanted, variants = variants_of(override), _table(content, "variants")
    if not {SCHEMES, FILES, MODULES}.isdisjoint(variants):
        what = "variants that other files bring cannot be chosen in a file"
        return [Problem(override.where, what, None, "save it without only()")]
    content["variants"] = {name: one for name, one in variants.items() if name in wanted}
    told: list[tuple[str, str | None]] = [
        (f"there is no variant {name!r}", None) for name in wanted if name not in variants
    ]
    for name in content["variants"]:
        base = _table(variants, name).get(EXTENDS)
        if isinstance(base, str) and base in variants and base not in wanted:
            what = f"{name!r} extends {base!r}, which would not be in the file"
            told.append((what, "choose both, or save it without only()"))
    return [Problem(override.where, what, None, hint) for what, hint in told]


def _table(content: dict[str, Any], key: str) -> dict[str, Any]:
    found = content.get(key, {})
    return found if isinstance(found, dict) else {}
