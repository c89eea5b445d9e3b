"""User-defined kinds: metrics, topologies, traffic and figures, from files and packages.

An experiment file lists Python files next to it: `kinds = ["my_kinds.py"]`. A package announces
modules as entry points of the group "pyorch.kinds", or "pyorch.figures" if they have only figures,
which no run needs. Either registers classes as this package does:

    from pyorch.kinds import Metric, metric

Their text goes into the RunSpec, and so into the name of every run: a run is repeated as it was,
on any machine, and is stale when the file changes. A file of kinds therefore imports packages, but
no file beside it.
"""

from __future__ import annotations

import hashlib
import json
import linecache
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyorch.base import doors
from pyorch.base.errors import Problem, UserError, defect_of, quoted, refusal
from pyorch.base.lazy import found
from pyorch.base.reading import is_file, read_code
from pyorch.base.trust import execute

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from pyorch.base.fields import Duration, LinkRate, Names, Size, Time
    from pyorch.metrics import Metric, Need, RunTables, metric
    from pyorch.network.topology import TopologyTable, Wiring, topology
    from pyorch.plan import RunSpec
    from pyorch.report.figures import Drawn, FigureModel, figure
    from pyorch.traffic.base import Block, Check, TrafficTable, canonical, end_numbers, traffic

GROUP, OF_FIGURES = "pyorch.kinds", "pyorch.figures"
"""Groups of entry points; each names a module that registers kinds when it is imported."""

_WHERE = {
    **dict.fromkeys(("Duration", "LinkRate", "Names", "Size", "Time"), "pyorch.base.fields"),
    **dict.fromkeys(("TopologyTable", "Wiring", "topology"), "pyorch.network.topology"),
    **dict.fromkeys(
        ("Block", "Check", "TrafficTable", "canonical", "end_numbers", "traffic"),
        "pyorch.traffic.base",
    ),
    **dict.fromkeys(("Metric", "Need", "RunTables", "metric"), "pyorch.metrics"),
    **dict.fromkeys(("Drawn", "FigureModel", "figure"), "pyorch.report.figures"),
}

__all__ = [
    "Block",
    "Check",
    "Drawn",
    "Duration",
    "FigureModel",
    "LinkRate",
    "Metric",
    "Names",
    "Need",
    "RunTables",
    "Size",
    "Time",
    "TopologyTable",
    "TrafficTable",
    "Wiring",
    "canonical",
    "end_numbers",
    "figure",
    "metric",
    "topology",
    "traffic",
]


def __getattr__(name: str) -> Any:
    return found(__name__, _WHERE, name)


_OURS = re.compile(r"pyorch(\.(?!addons\.)|_kinds_)")
"""Modules of kinds that no package brings: of the core, and of files."""
_active: dict[str, str] = {}
_added: list[tuple[dict[str, Any], str]] = []
_packages: dict[str, str] = {}  # kind -> "name version" of the package that brings it
_installed: list[bool] = []
_addons: set[str] = set()  # groups whose add-ons are loaded


def read(names: object, folder: Path, label: str) -> dict[str, str]:
    """Return the texts of the files that `kinds` of an experiment file names.

    Raises UserError, also when one of them is elsewhere, or somebody else may have written it.
    """
    where = f"{label}: kinds"
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise refusal(where, f"{quoted(names)} is not a list of files", '["my_kinds.py"]')
    texts = {}
    for name in names:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            what, allowed = f"{name!r} is not beside the experiment file", "a file in its folder"
            raise refusal(where, what, allowed)
        if not name.endswith(".py") or not is_file(folder / name):
            raise refusal(where, f"there is no Python file {name!r} next to the experiment file")
        texts[name] = read_code(folder / name, folder, f"{where}: {name}")
    return texts


def activate(texts: Mapping[str, str], *, installed: bool = True) -> None:
    """Activate exactly these kinds, in addition to those of this package and of installed ones.

    texts: by file name, as in a RunSpec. installed: load those of packages, too. Raises UserError
    with the error in a file.
    """
    if installed:
        _load_installed()
    if dict(texts) == _active:
        return
    _forget()
    try:
        for name, text in texts.items():
            _added.extend(_registered(name, partial(_execute, name, text), _module_of(name, text)))
    except BaseException:
        _forget()
        raise
    _active.update(texts)


def read_spec(text: str) -> RunSpec:
    """Return the RunSpec of its JSON, and activate its kinds.

    Raises ValueError if the text is invalid, UserError for kinds that cannot be loaded.
    """
    from pyorch.plan import RunSpec

    own = json.loads(text)
    activate(own.get("kinds", {}), installed="packages" in own)
    try:
        return RunSpec.from_json(text)
    except ValueError:  # add-ons are of this package, so that no run records that it needs them
        if not _load_addons(GROUP):
            raise
        return RunSpec.from_json(text)


def class_of_package(name: str) -> Any:
    """Return the class of a name that an add-on or package registers as a kind; None without one.

    Raises UserError when one of them cannot be loaded.
    """
    _load_installed()
    models = [model for registry in _registries() for model in registry.values()]
    brought = (model for model in models if not _OURS.match(model.__module__))
    return next((model for model in brought if model.__name__ == name), None)


def packages_of(kinds: Iterable[object]) -> dict[str, str]:
    """Return the installed packages, with their versions, that provide some of these kinds."""
    used = {_packages[kind] for kind in kinds if isinstance(kind, str) and kind in _packages}
    return dict(text.split(" ", 1) for text in sorted(used))


def _load_installed() -> None:
    """Import what add-ons and installed packages announce, once. Raises UserError."""
    if _installed:
        return
    _installed.append(True)
    for group in (GROUP, OF_FIGURES):
        _load_addons(group)
    for point in (*doors.points(GROUP), *doors.points(OF_FIGURES)):
        if not _is_addon(point):
            text = doors.package_of(point)
            for _, kind in _registered(f"package {text}", point.load, point.module):
                _packages[kind] = text


def _load_addons(group: str) -> bool:
    """Import what the add-ons of this package announce; False if that was done before."""
    if group in _addons:
        return False
    _addons.add(group)
    for point in filter(_is_addon, doors.points(group)):
        doors.load(point)
    return True


def _is_addon(point: EntryPoint) -> bool:
    return point.dist is not None and point.dist.name == doors.OWN


def _registries() -> list[dict[str, Any]]:
    places = (
        *(("network.topology", "KINDS"), ("traffic.base", "KINDS")),
        *(("metrics", "MODELS"), ("report.figures", "MODELS")),
    )
    return [getattr(import_module(f"pyorch.{module}"), name) for module, name in places]


def _registered(
    where: str, load: Callable[[], object], module: str
) -> list[tuple[dict[str, Any], str]]:
    """Return what a module registers; nothing stays of it when it is wrong. Raises UserError."""
    registries = _registries()
    before = [dict(registry) for registry in registries]
    problems: list[Problem] = []
    try:
        load()
    except UserError:
        raise
    except (Exception, SystemExit) as error:  # anything may be wrong with code of somebody else
        problems.append(defect_of(module, error, where))
    found = []
    for registry, old in zip(registries, before, strict=True):
        taken = [kind for kind in old if registry.get(kind) is not old[kind]]
        problems += [Problem(where, f"there is a kind {kind!r} already") for kind in taken]
        new = [kind for kind in registry if kind not in old]
        problems += [problem for kind in new for problem in _lacks(registry[kind], kind, where)]
        found += [(registry, kind) for kind in new]
    if problems:
        for registry, old in zip(registries, before, strict=True):
            registry.clear()
            registry.update(old)
        raise UserError(problems)
    return found


def _lacks(model: Any, kind: str, where: str) -> list[Problem]:
    """Return what a new kind does not say though it must."""
    from pyorch.metrics.base import UNIT_HINT, Metric, quoted_units

    if not issubclass(model, Metric):
        return []
    place = f"{where}: class {model.__qualname__} (metric {kind!r})"
    problems = []
    if model.unit is Metric.unit and not model.UNIT:
        problems.append(Problem(place, "it has no 'unit'", quoted_units(), UNIT_HINT))
    if model.value is Metric.value and model.values is Metric.values:
        hint = "def value(self, run): return ..."
        problems.append(Problem(place, "it has no 'value'", None, hint))
    return problems


def _execute(name: str, text: str) -> None:
    lines = text.splitlines(keepends=True)
    linecache.cache[name] = (len(text), None, lines, name)  # for messages: there may be no file
    execute(_module_of(name, text), name, text)


def _module_of(name: str, text: str) -> str:
    """The name of the module of a file, another one for each text."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"pyorch_kinds_{Path(name).stem}_{digest}"


def _forget() -> None:
    """Take away what files have registered."""
    for registry, kind in _added:
        registry.pop(kind, None)
    _added.clear()
    _active.clear()
