"""Experiment files: patched and validated."""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path as FilePath
from typing import Any

from pyorch import kinds
from pyorch.base.errors import Problem, UserError, one_of, quoted, refusal, suggest
from pyorch.base.findings import Findings, Path, Place, dotted
from pyorch.base.paths import Paths, default_paths
from pyorch.files.entries import resolve_entries
from pyorch.files.find import Document, read_document
from pyorch.files.keys import FIRST, KEYS, SCENARIO, TEXTS, is_whole
from pyorch.files.layers import ADDED
from pyorch.files.patch import ONLY, Override, PatchError, chosen_overrides, flat, put, variants_of
from pyorch.files.presets import read_presets
from pyorch.files.schemes import CHAINS, environment
from pyorch.files.setting import Resolver, canonical_param
from pyorch.files.variants import Variant, may_change, read_patches, read_variants
from pyorch.setting.attributes import TypeInfo, catalogue
from pyorch.setting.experiment import Experiment, Point, RunTable, resolve_run, seeds_of
from pyorch.setting.telemetry import RoomCheck

_NO_SCENARIOS = "there are no scenarios"
_SCENARIOS = f"a scenario is a table of changes: write [sweep.{SCENARIO}.NAME]"
_OF_REPORTS = ("figure", "expect")
#: More settings of one experiment than this must be a mistake.
MAX_POINTS = 10_000
MOST_FACTORS = 3
"""Keys that are named if there are more settings."""


def load_experiment(
    name_or_path: str | PathLike[str] | Document,
    overrides: Sequence[str] = (),
    schema: Iterable[TypeInfo] | None = None,
    paths: Paths | None = None,
    runs_only: bool = False,
) -> Experiment:
    """Load and validate an experiment.

    name_or_path: "gfc/two-to-one" below experiments/, a path to a .toml file, or a file's content.
    overrides: the texts of --set, each key=value. schema: of the built modules; without it
    attributes of C++ objects are neither checked nor resolved. runs_only: without figures and
    expectations, which may need runs that the overrides remove. Raises UserError with every problem
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
    given, problems = chosen_overrides(content.pop("set", {}), overrides, findings)
    findings.problems = [*problems, *findings.problems]
    if runs_only:
        content |= {key: [] for key in _OF_REPORTS}
        given = [override for override in given if override.path[0] not in _OF_REPORTS]
    return _Loader(resolver, findings, content, given, paths).load(file)


def _check_arguments(name_or_path: object, overrides: Any) -> None:
    """Raise UserError if a program passes anything but texts."""
    if not isinstance(name_or_path, str | PathLike | Document):
        what = f"{quoted(name_or_path)} is not the name or the path of an experiment"
        raise refusal("load_experiment", what)
    listed = isinstance(overrides, Sequence) and not isinstance(overrides, str | bytes)
    if not listed or not all(isinstance(text, str) for text in overrides):
        what, allowed = f"{quoted(overrides)} is not a list of strings", '["buffer.alpha=0.125"]'
        raise refusal("load_experiment: overrides", what, allowed)


@dataclass
class _Loader:
    """One pass over one file; `findings` collects its problems."""

    resolver: Resolver
    findings: Findings
    document: dict[str, Any]
    overrides: list[Override]
    paths: Paths
    scenarios: dict[str, list[tuple[Path, Any]]] = field(default_factory=dict)
    inside: list[tuple[Path, Path, Override]] = field(default_factory=list)
    """Overrides of single variants and scenarios, by group and name."""
    room: RoomCheck | None = None

    def load(self, file: FilePath) -> Experiment:
        only = [override for override in self.overrides if override.path == (ONLY,)]
        self.overrides = [override for override in self.overrides if override not in only]
        settings = self._whole_overrides()
        texts = self._texts()
        written, folder = self.document.get("variants", {}), self.resolver.folder
        variants = read_variants(written, folder, self.paths, self.findings)
        self._change(("variants",), {name: one.changes for name, one in variants.items()})
        variants = variants or {"": Variant("", "", [])}
        chosen = {name: variants[name] for name in self._only(variants, only)}
        sweep = self._sweep(settings)
        count = len(variants) * math.prod(map(len, sweep.values()))
        if count > MAX_POINTS:
            what = f"{count} settings: {self._factors(len(variants), sweep)}"
            self.findings.add(("sweep",), what, f"at most {MAX_POINTS}")
            raise UserError(self.findings.problems)
        fixed = [one for one in settings if not one.is_list and one.path != (SCENARIO,)]
        run = self._whole_of_run()
        if run is not None and self.resolver.types is not None:
            self.room = RoomCheck(self.resolver.types, seeds_of(run))
        points = self._points(chosen, sweep, fixed)
        varied = {"variant": list(variants)} if "" not in variants else {}
        varied |= {key: [self._spelled(key, one) for one in sweep[key]] for key in sweep}
        entries = resolve_entries(self.document, points, varied, self.findings, file, self.resolver)
        if self.findings.problems or run is None:
            raise UserError(self.findings.problems)
        return Experiment(
            name=self.resolver.name,
            file=file,
            label=self.findings.file,
            **texts,
            seeds=seeds_of(run),
            time_limit=run.time_limit,
            threads=run.threads,
            variants=tuple(name for name in variants if name),
            sweep=sweep,
            points=points,
            metrics=entries.metrics,
            figures=entries.figures,
            expects=entries.expects,
            types=self.resolver.types,
            kinds=self.resolver.kinds,
            replaced=self._replaced(variants),
        )

    def _whole_of_run(self) -> RunTable | None:
        """What [run] says for all runs. Its other keys are judged where a point may give them."""
        written = self.document.get("run", {})
        if isinstance(written, dict):
            whole = {key: value for key, value in written.items() if is_whole(("run", key))}
            written = {"duration": "1s", **whole}
        return resolve_run(written, Findings(self.findings.file))

    def _replaced(self, variants: Mapping[str, Variant]) -> tuple[str, ...]:
        """The chains of the file that every variant replaces."""
        kept = [variant.replaces for variant in variants.values()]
        return tuple(
            key for key in CHAINS if self.document.get(key) and all(key in one for one in kept)
        )

    def _only(self, variants: Collection[str], given: Sequence[Override]) -> list[str]:
        """Return the variants that --only names, in the order of the file; without it all."""
        known = [name for name in variants if name]
        allowed = one_of(known) if known else "this experiment has no [variants]"
        wanted = {name: override.where for override in given for name in variants_of(override)}
        for name in [name for name in wanted if name not in known]:
            what = f"there is no variant {name!r}"
            self._complain(wanted[name], what, allowed, suggest(name, known))
        return [name for name in variants if name in wanted or not given]

    def _whole_overrides(self) -> list[Override]:
        """Apply the overrides that change the experiment as a whole; return the others."""
        others = []
        origins: dict[Path, str | Place] = dict(self.findings.origins)
        for override in self.overrides:
            path = override.path
            if not is_whole(path):
                others.append(override)
            elif path[0] in FIRST:
                what = f"{path[0]!r} cannot be changed by options"
                self._complain(override.where, what, "in the file itself")
            elif path[0] == "sweep" and len(path) > 1 and path[1] != SCENARIO:
                if may_change(("sweep",), path[1:], self.findings):
                    others.append(replace(override, path=path[1:], is_list=True))
            elif path[0] == "variants" and len(path) > 2:
                self.inside.append((path[:1], path[1:], override))
            elif path[:2] == ("sweep", SCENARIO) and len(path) > 3:
                self.inside.append((path[:2], path[2:], override))
            else:
                origins |= self._put(self.document, path, override.value, override.where)
        self.findings.origins = origins
        self._refuse_idle()
        return others

    def _refuse_idle(self) -> None:
        """Note overrides of single variants or scenarios whose key was set for all runs before."""
        for _, (_, *key), override in self.inside:
            earlier = self.overrides[: self.overrides.index(override)]
            before = {one.path: one.where for one in earlier}
            if tuple(key) in before:
                what = f"has no effect: {dotted(key)} was set for all runs before"
                self._complain(override.where, what, None, f"leave out {before[tuple(key)]}")

    def _change(self, group: Path, patches: Mapping[str, list[tuple[Path, Any]]]) -> None:
        """Add overrides of single variants or scenarios to their changes."""
        for at, (name, *path), override in self.inside:
            if at == group and name in patches:
                if may_change((*group, name), tuple(path), self.findings):
                    patches[name].append((tuple(path), override.value))
            elif at == group:
                what = f"there is no {group[-1].removesuffix('s')} {name!r}"
                self._complain(override.where, what, one_of(patches), suggest(name, patches))

    def _put(self, document: dict[str, Any], path: Path, value: Any, where: str) -> dict[Path, str]:
        """Set a value; return where it was written, by its place."""
        try:
            return dict.fromkeys(put(document, path, value), where)
        except PatchError as error:
            self._complain(where, str(error))
            return {}

    def _complain(self, where: str, what: str, *rest: str | None) -> None:
        self.findings.merge([Problem(where, what, *rest)])

    def _texts(self) -> dict[str, str]:
        """Return title, question and source."""
        texts = {key: self.document.get(key, "") for key in TEXTS}
        for key in [key for key, value in texts.items() if not isinstance(value, str)]:
            self.findings.add((key,), f"{texts[key]!r} is not text", "text")
            texts[key] = ""
        if "title" not in self.document:
            self.findings.add(("title",), "missing", None, 'add title = "..." at the top')
        return texts

    def _factors(self, variants: int, sweep: Mapping[str, Sequence[Any]]) -> str:
        """Return what multiplies to the number of settings, the most first."""
        given = {".".join(override.path) for override in self.overrides}
        counts = {f"{quoted(key)}{' (--set)' * (key in given)}": len(sweep[key]) for key in sweep}
        factors = [f"{counts[key]} of {key}" for key in sorted(counts, key=lambda k: -counts[k])]
        more = [f"{len(factors) - MOST_FACTORS} more keys"] if len(factors) > MOST_FACTORS else []
        several = [f"{variants} variants"] if variants > 1 else []
        return " x ".join([*several, *factors[:MOST_FACTORS], *more])

    def _sweep(self, overrides: list[Override]) -> dict[str, list[Any]]:
        """Return the swept keys and their values: of the file, changed by the overrides.

        Scenarios, if there are any, are swept first, under the key "scenario".
        """
        path, table = ("sweep",), self.document.get("sweep", {})
        sweep: dict[str, list[Any]] = {}
        if isinstance(table, dict) and SCENARIO in table:
            self._read_scenarios((*path, SCENARIO), table[SCENARIO])
            table = {key: value for key, value in table.items() if key != SCENARIO}
            sweep = {SCENARIO: list(self.scenarios)} if self.scenarios else {}
        self._change((*path, SCENARIO), self.scenarios)
        for key, values in self._flat(path, table).items():
            if not isinstance(values, list) or not values:
                self.findings.add((*path, key), f"{values!r} is not a list of values", "[0.1, 0.2]")
            elif may_change((*path, key), tuple(key.split(".")), self.findings):
                sweep[key] = values
        for override in overrides:
            key = ".".join(override.path)
            if key == SCENARIO and not self.scenarios:
                self._complain(override.where, _NO_SCENARIOS, None, _SCENARIOS)
            elif override.is_list or key in sweep:
                sweep[key] = list(override.values)
        for key, values in sweep.items():
            sweep[key] = self._distinct(key, values)
        chosen = sweep[SCENARIO] if self.scenarios else []
        for name in [one for one in chosen if str(one) not in self.scenarios]:
            self.findings.unknown((SCENARIO,), "scenario", str(name), self.scenarios)
        return sweep

    def _read_scenarios(self, path: Path, table: object) -> None:
        if isinstance(table, dict):
            self.scenarios |= read_patches(path, table, self.findings)
        else:
            self.findings.add(path, _NO_SCENARIOS, None, _SCENARIOS)

    def _flat(self, path: Path, table: object) -> dict[str, Any]:
        """Return nested tables as one with dotted keys; anything else is noted and gives {}."""
        if not isinstance(table, dict):
            self.findings.add(path, f"{table!r} is not a table", f"[{dotted(path)}]")
            return {}
        try:
            return flat(table)
        except PatchError as error:
            self.findings.add(path, str(error))
            return {}

    def _distinct(self, key: str, values: list[Any]) -> list[Any]:
        """Note the values that a swept key has twice; return each of its values once."""
        known: dict[Any, Any] = {}
        for value in values:
            spelled = self._spelled(key, value)
            if spelled in known:
                self.findings.add(("sweep", key), f"duplicate value: {spelled}", "each value once")
            known.setdefault(spelled, value)
        return list(known.values())

    def _spelled(self, key: str, value: Any) -> Any:
        if key == SCENARIO:  # a name, also where it reads as a quantity: "16 MB"
            return value
        return canonical_param(tuple(key.split(".")), value, self.resolver.types)

    def _points(
        self, variants: Mapping[str, Variant], sweep: Mapping[str, list[Any]], fixed: list[Override]
    ) -> tuple[Point, ...]:
        """Resolve every setting: variants outermost, then scenarios, then the swept keys."""
        # a key's problems are the same at each of its values
        sweep = {key: v if self._is_known(key) else v[:1] for key, v in sweep.items()}
        points = [
            self._point(name, variant, dict(zip(sweep, values, strict=True)), fixed)
            for name, variant in variants.items()
            for values in itertools.product(*sweep.values())
        ]
        return tuple(point for point in points if point is not None)

    def _is_known(self, key: str) -> bool:
        """Whether a key may be swept: its first part is a key of files, or may be a section."""
        section, types = key.partition(".")[0], self.resolver.types
        return section in (SCENARIO, *KEYS) or types is None or types.find(section) is not None

    def _point(
        self, name: str, variant: Variant, swept: Mapping[str, Any], fixed: list[Override]
    ) -> Point | None:
        document = dict(self.document)
        label = self.findings.file
        texts = {".".join(override.path): override.where for override in self.overrides}
        scenario = str(swept.get(SCENARIO, ""))
        of_scenario = [
            (path, value, f"{label}: sweep.{SCENARIO}.{scenario}: {dotted(path)}")
            for path, value in self.scenarios.get(scenario, [])
        ]
        of_variant = [
            (path, value, f"{one.file or label}: variants.{one.name}: {dotted(path)}")
            for one in variant.line
            for path, value in one.changes
        ]
        changes: list[tuple[Path, Any, str]] = [
            (tuple(key.split(".")), value, texts.get(key, f"{label}: sweep.{key}"))
            for key, value in swept.items()
            if key != SCENARIO or not self.scenarios
        ]
        changes += [(o.path, o.values[0], o.where) for o in fixed if ".".join(o.path) not in swept]
        of_scheme = self._of_scheme(variant.line[0], of_scenario + of_variant + changes)
        changes = of_scenario + of_scheme + of_variant + changes
        origins = dict(self.findings.origins)
        for path, value, where in changes:
            origins |= self._put(document, path, value, where)
        params = {"variant": name} | {key: self._spelled(key, one) for key, one in swept.items()}
        findings = Findings(label, origins)
        point = self.resolver.resolve(document, params, findings)
        if point is not None and self.room is not None:
            self.room.check(point.setting, point.network, findings)
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
            with contextlib.suppress(PatchError):  # noted when it is finally applied
                put(document, path, value)
        network = self.resolver.network(document.get("topology"), Findings(self.findings.file))
        if network is None:
            return []  # the resolver notes problems
        scene = self.findings.file
        try:
            names = environment(document, network.network, scene)
            found = scheme.changes(names, variant.file, scene)
            return [(path, _beside(document, path, value), at) for path, value, at in found]
        except UserError as error:
            self.findings.merge(error.problems)
        except ValueError:  # a unit's problem: the resolver says where
            pass
        return []


def _beside(document: Mapping[str, Any], path: Path, value: Any) -> Any:
    """A scheme's value; its agents are in force beside those of the file, which come first."""
    own = document.get(path[0])
    if path[0] not in ADDED or not isinstance(own, list):  # the resolver says what it must be
        return value
    return [*own, *(one for one in value if one not in own)]
