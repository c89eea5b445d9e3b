"""Experiment files: patched and validated."""

from __future__ import annotations

import contextlib
import copy
import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path as FilePath
from typing import Any

from pyorch import kinds
from pyorch.config.attributes import TypeInfo, catalogue
from pyorch.config.experiment import Experiment, Point, resolve_run, seeds_of
from pyorch.errors import Problem, UserError, one_of, quoted, suggest
from pyorch.findings import Findings, Path, Place, dotted
from pyorch.loading.document import Document
from pyorch.loading.entries import Entries, resolve_entries
from pyorch.loading.find import read_document
from pyorch.loading.model import FIRST, GONE, KEYS, SCENARIO, TEXTS, is_whole
from pyorch.loading.patch import (
    ONLY,
    Override,
    PatchError,
    chosen_overrides,
    leaves,
    nest,
    put,
    variants_of,
)
from pyorch.loading.presets import read_presets
from pyorch.loading.schemes import environment
from pyorch.loading.setting import Resolver, canonical_param
from pyorch.loading.variants import Variant, may_change, read_patches, read_variants
from pyorch.paths import Paths, default_paths

_NO_VARIANTS = {"": Variant("", [])}
#: Settings of one experiment above which a plan is surely a mistake.
MAX_POINTS = 10_000


def load_experiment(
    name_or_path: str | PathLike[str] | Document,
    overrides: Sequence[str] = (),
    schema: Iterable[TypeInfo] | None = None,
    paths: Paths | None = None,
) -> Experiment:
    """Load and validate an experiment.

    name_or_path: "gfc/two-to-one" below experiments/, a path to a .toml file, or what one says.
    overrides: the texts of --set, each key=value. schema: of the built modules; without it
    attributes of C++ objects are neither checked nor resolved. Raises UserError with every problem
    of the file and the overrides.
    """
    paths = paths or default_paths()
    _check_arguments(name_or_path, overrides)
    if isinstance(name_or_path, Document):
        document = name_or_path
    else:
        document = read_document(name_or_path, paths)
    file, label = document.file, document.label
    types = None if schema is None else catalogue(schema, read_presets(paths))
    content = copy.deepcopy(dict(document.content))  # the loader changes it
    own_kinds = kinds.read(content.pop("kinds", []), file.parent, label)
    kinds.activate(own_kinds)
    resolver = Resolver(document.name, file.parent, paths.workloads, types, own_kinds)
    findings = Findings(label, document.places, list(document.problems))
    for key in [key for key in GONE if key in content]:
        findings.add((key,), f"{key!r} is no key any more", None, GONE[key])
        del content[key]
    given, problems = chosen_overrides(content.pop("set", {}), overrides, findings)
    findings.problems = [*problems, *findings.problems]
    return _Loader(resolver, findings, content, given, paths).load(file)


def _check_arguments(name_or_path: object, overrides: Any) -> None:
    """Raise UserError when a program gives something else than texts."""
    if not isinstance(name_or_path, str | PathLike | Document):
        what = f"{quoted(name_or_path)} is not the name or the path of an experiment"
        raise UserError([Problem("load_experiment", what)])
    listed = isinstance(overrides, Sequence) and not isinstance(overrides, str | bytes)
    if not listed or not all(isinstance(text, str) for text in overrides):
        what = f"{quoted(overrides)} is not a list of texts"
        raise UserError([Problem("load_experiment: overrides", what, '["buffer.alpha=0.125"]')])


@dataclass
class _Loader:
    """One pass over one file; `findings` collects what is wrong with it."""

    resolver: Resolver
    findings: Findings
    document: dict[str, Any]
    overrides: list[Override]
    paths: Paths
    scenarios: dict[str, list[tuple[Path, Any]]] = field(default_factory=dict)

    def load(self, file: FilePath) -> Experiment:
        only = [override for override in self.overrides if override.path == (ONLY,)]
        self.overrides = [override for override in self.overrides if override not in only]
        settings = self._whole_overrides()
        texts = self._texts()
        written = self.document.get("variants", {})
        folder = self.resolver.folder
        variants = read_variants(written, folder, self.paths, self.findings) or _NO_VARIANTS
        chosen = {name: variants[name] for name in self._only(variants, only)}
        sweep = self._sweep(settings, len(variants))
        fixed = [override for override in settings if not override.is_list]
        points = self._points(chosen, sweep, fixed)
        run = resolve_run(self.document.get("run"), Findings(self.findings.file))
        varied = self._varied(variants, sweep)
        entries = resolve_entries(
            self.document,
            points,
            self.resolver.networks,
            varied,
            self.findings,
            file,
            self.resolver.types,
        )
        if self.findings.problems or run is None:
            raise UserError(self.findings.problems)
        return _experiment(
            self.resolver,
            file,
            {"label": self.findings.file, **texts},
            seeds_of(run),
            variants,
            sweep,
            points,
            entries,
        )

    def _only(self, variants: Collection[str], given: Sequence[Override]) -> list[str]:
        """Return the variants that --only names, in the order of the file; without it all."""
        known = [name for name in variants if name]
        wanted = set()
        for override in given:
            for name in variants_of(override):
                wanted.add(name)
                if name not in known:
                    what = f"there is no variant {name!r}"
                    allowed = one_of(known) if known else "this experiment has no [variants]"
                    hint = suggest(name, known)
                    self.findings.problems.append(Problem(override.where, what, allowed, hint))
        return [name for name in variants if name in wanted or not given]

    def _whole_overrides(self) -> list[Override]:
        """Apply the overrides that change the experiment as a whole; return the others."""
        others = []
        origins: dict[Path, str | Place] = dict(self.findings.origins)
        for override in self.overrides:
            path = override.path
            if not is_whole(path):
                others.append(override)
                continue
            if path[0] in FIRST:
                what = f"{path[0]!r} is read before anything is changed"
                self.findings.problems.append(Problem(override.where, what, "in the file itself"))
                continue
            if path[0] == "sweep" and len(path) > 1 and path[1] != SCENARIO:
                if may_change(("sweep",), path[1:], self.findings):
                    others.append(replace(override, path=path[1:], is_list=True))
                continue
            value = list(override.values) if override.is_list else override.values[0]
            origins |= self._put(self.document, path, value, override.where)
        self.findings.origins = origins
        return others

    def _put(self, document: dict[str, Any], path: Path, value: Any, where: str) -> dict[Path, str]:
        """Set a value; return where it was written, by its place.

        What a variant or a scenario changes is one key, however many parts it has.
        """
        depth = {"variants": 2, "sweep": 3}.get(path[0], len(path))
        try:
            if len(path) <= depth:
                return dict.fromkeys(put(document, path, value), where)
            group: Any = document
            for key in path[: depth - 1]:
                group = group.get(key) if isinstance(group, dict) else None
            known = group if isinstance(group, dict) else {}
            name = path[depth - 1]
            if not isinstance(known.get(name), dict):
                kind = "scenario" if depth > 2 else "variant"
                hint = suggest(name, known)
                problem = Problem(where, f"there is no {kind} {name!r}", one_of(known), hint)
                self.findings.problems.append(problem)
                return {}
            flat = self._flat(path[:depth], known[name])
            put(document, path[:depth], flat | {".".join(path[depth:]): value})
        except PatchError as error:
            self.findings.problems.append(Problem(where, str(error)))
        return {}

    def _texts(self) -> dict[str, str]:
        """Return title, question and source."""
        texts = {}
        for key in TEXTS:
            value = self.document.get(key, "")
            if not isinstance(value, str):
                self.findings.add((key,), f"{value!r} is not text", "text")
                value = ""
            texts[key] = value
        if not texts["title"] and "title" not in self.document:
            self.findings.add(("title",), "missing", None, 'add title = "..." at the top')
        return texts

    def _sweep(self, overrides: list[Override], variants: int) -> dict[str, list[Any]]:
        """Return the swept keys and their values: of the file, changed by the overrides.

        Scenarios, if there are any, are swept first, under the key "scenario". Raises UserError
        when that makes too many settings with that many variants.
        """
        table = self.document.get("sweep", {})
        sweep: dict[str, list[Any]] = {}
        if isinstance(table, dict) and isinstance(table.get(SCENARIO), dict):
            path = ("sweep", SCENARIO)
            self.scenarios = dict(read_patches(path, table[SCENARIO], self.findings))
            table = {key: value for key, value in table.items() if key != SCENARIO}
            sweep = {SCENARIO: list(self.scenarios)} if self.scenarios else {}
        for key, values in self._flat(("sweep",), table).items():
            path = ("sweep", key)
            if not isinstance(values, list) or not values:
                self.findings.add(path, f"{values!r} is not a list of values", "[0.1, 0.2]")
            elif may_change(path, tuple(key.split(".")), self.findings):
                sweep[key] = values
        for override in overrides:
            key = ".".join(override.path)
            if override.is_list or key in sweep:
                sweep[key] = list(override.values)
        self._stop_if_many(variants * _product(sweep))
        for key, values in sweep.items():
            sweep[key] = self._distinct(key, values)
        for name in sweep[SCENARIO] if self.scenarios else []:
            if name not in self.scenarios:
                self.findings.unknown((SCENARIO,), "scenario", str(name), self.scenarios)
        return sweep

    def _flat(self, path: Path, table: object) -> dict[str, Any]:
        """Return nested tables as one with dotted keys; empty, with a problem, if they are none."""
        if not isinstance(table, dict):
            self.findings.add(path, f"{table!r} is not a table", f"[{dotted(path)}]")
            return {}
        try:
            return {".".join(key): value for key, value in leaves(nest(table))}
        except PatchError as error:
            self.findings.add(path, str(error))
            return {}

    def _distinct(self, key: str, values: list[Any]) -> list[Any]:
        """Note the values that a swept key has twice; return each of its values once."""
        path = tuple(key.split("."))
        known = [canonical_param(path, value, self.resolver.types) for value in values]
        for value, count in Counter(known).items():
            if count > 1:
                self.findings.add(("sweep", key), f"duplicate value: {value}", "every value once")
        return list(dict(zip(reversed(known), reversed(values), strict=True)).values())[::-1]

    def _stop_if_many(self, count: int) -> None:
        if count > MAX_POINTS:
            self.findings.add(("sweep",), f"{count} settings", f"at most {MAX_POINTS}")
            raise UserError(self.findings.problems)

    def _points(
        self,
        variants: Mapping[str, Variant],
        sweep: Mapping[str, list[Any]],
        fixed: list[Override],
    ) -> tuple[Point, ...]:
        """Resolve every setting: variants outermost, then scenarios, then the swept keys."""
        # what is wrong with a key is the same at each of its values
        sweep = {key: v if self._is_known(key) else v[:1] for key, v in sweep.items()}
        points = []
        for name, variant in variants.items():
            for values in itertools.product(*sweep.values()):
                swept = dict(zip(sweep, values, strict=True))
                point = self._point(name, variant, swept, fixed)
                if point is not None:
                    points.append(point)
        return tuple(points)

    def _is_known(self, key: str) -> bool:
        """Whether a swept key may be one: its first part is a key of files, or may be a section."""
        section, types = key.partition(".")[0], self.resolver.types
        return section in (SCENARIO, *KEYS) or types is None or types.find(section) is not None

    def _point(
        self, name: str, variant: Variant, swept: Mapping[str, Any], fixed: list[Override]
    ) -> Point | None:
        document = dict(self.document)
        label = self.findings.file
        texts = {".".join(override.path): override.where for override in self.overrides}
        scenario = str(swept.get(SCENARIO, ""))
        patches = [
            (f"{label}: sweep.{SCENARIO}.{scenario}", self.scenarios.get(scenario, [])),
            (f"{variant.file or label}: variants.{name}", variant.changes),
        ]
        given = [
            (path, value, f"{where}: {dotted(path)}")
            for where, patch in patches
            for path, value in patch
        ]
        changes: list[tuple[Path, Any, str]] = [
            (tuple(key.split(".")), value, texts.get(key, f"{label}: sweep.{key}"))
            for key, value in swept.items()
            if key != SCENARIO or not self.scenarios
        ]
        changes += [(o.path, o.values[0], o.where) for o in fixed if ".".join(o.path) not in swept]
        changes = given + self._of_scheme(variant, given + changes) + changes
        origins = dict(self.findings.origins)
        for path, value, where in changes:
            try:
                origins |= dict.fromkeys(put(document, path, value), where)
            except PatchError as error:
                problem = Problem(where, str(error))
                if problem not in self.findings.problems:
                    self.findings.problems.append(problem)
        params = {"variant": name} | {
            key: canonical_param(tuple(key.split(".")), value, self.resolver.types)
            for key, value in swept.items()
        }
        findings = Findings(label, origins)
        point = self.resolver.resolve(document, params, findings)
        self.findings.merge(findings.problems)
        return point

    def _of_scheme(
        self, variant: Variant, others: list[tuple[Path, Any, str]]
    ) -> list[tuple[Path, Any, str]]:
        """Return the changes of a scheme file, worked out for the network of this setting."""
        scheme = variant.scheme
        if scheme is None:
            return []
        document = dict(self.document)
        for path, value, _ in others:
            with contextlib.suppress(PatchError):  # noted when it is applied for good
                put(document, path, value)
        network = self.resolver.network(document.get("topology"), Findings(self.findings.file))
        if network is None:
            return []  # what is wrong is noted by the resolver
        try:
            names = environment(document, network.network)
        except UserError as error:
            self.findings.merge(one.inside(self.findings.file) for one in error.problems)
            return []
        except ValueError:  # of a unit: the resolver says where
            return []
        try:
            patch = scheme.patch(names)
        except UserError as error:
            hint = f"it is worked out for the settings of {self.findings.file}"
            self.findings.merge(replace(problem, hint=hint) for problem in error.problems)
            return []
        ruled = {key for key, value in scheme.values.items() if value.value is None}
        changes = []
        for path, value in patch:
            where = f"{scheme.file}: {dotted(path)}"
            if dotted(path) in ruled:
                where += f", by its rule for {self.findings.file}"
            changes.append((path, value, where))
        return changes

    def _varied(
        self, variants: Mapping[str, Any], sweep: Mapping[str, list[Any]]
    ) -> dict[str, list[Any]]:
        """Return what figures and expectations may filter by, and the values it takes."""
        named = {"variant": list(variants)} if "" not in variants else {}
        types = self.resolver.types
        return named | {
            key: [canonical_param(tuple(key.split(".")), value, types) for value in values]
            for key, values in sweep.items()
        }


def _product(sweep: Mapping[str, Sequence[Any]]) -> int:
    count = 1
    for values in sweep.values():
        count *= len(values)
    return count


def _experiment(
    resolver: Resolver,
    file: FilePath,
    texts: Mapping[str, str],
    seeds: tuple[int, ...],
    variants: Mapping[str, Any],
    sweep: Mapping[str, Sequence[Any]],
    points: tuple[Point, ...],
    entries: Entries,
) -> Experiment:
    return Experiment(
        name=resolver.name,
        file=file,
        **texts,
        seeds=seeds,
        variants=tuple(name for name in variants if name),
        sweep=dict(sweep),
        points=points,
        metrics=entries.metrics,
        figures=entries.figures,
        expects=entries.expects,
        types=resolver.types,
        kinds=resolver.kinds,
    )
