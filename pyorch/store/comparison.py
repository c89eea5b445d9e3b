"""Comparison of two results: which runs are byte-identical, and which values differ by how much.

A side is a results folder, of this project or a copy, or the runs in it of one build. Runs with the
same parameters and the same seed are compared with each other.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyorch.base.errors import one_of, refusal
from pyorch.base.paths import Paths, RunPaths
from pyorch.metrics import known_numbers
from pyorch.store import seal
from pyorch.store.store import kept_metrics

SHOWN_DIGITS = 12
"""Of a build's fingerprint."""

Key = tuple[tuple[tuple[str, str], ...], int]
"""Parameters and seed of a run."""


@dataclass(frozen=True)
class Run:
    """A finished run: its parameters, its build, the SHA-256 of its files, and its summary."""

    title: str
    build: str
    digests: Mapping[str, str]
    values: Mapping[str, float | None]


@dataclass(frozen=True)
class Side:
    """One side: its folder, its runs, and the number of runs of other builds.

    older: runs of an earlier build for which there is a newer one.
    """

    folder: Path
    runs: Mapping[Key, Run]
    older: int


@dataclass(frozen=True)
class Difference:
    """A value that differs.

    runs: number of runs in which it differs. a, b: its values where it differs most; None: there is
    none.
    """

    name: str
    runs: int
    a: float | None
    b: float | None
    where: str

    @property
    def relative(self) -> float:
        """The difference relative to the larger value, from 0 to 2; inf if there is only one."""
        return _relative(self.a, self.b)


@dataclass(frozen=True)
class Comparison:
    """Result of a comparison, by titles of runs.

    same: runs whose result files are byte-identical. differing: the files that differ, by run.
    """

    same: Sequence[str]
    differing: Mapping[str, Sequence[str]]
    only_a: Sequence[str]
    only_b: Sequence[str]
    values: Sequence[Difference]

    @property
    def is_same(self) -> bool:
        """Whether both sides have the same runs, byte for byte."""
        return not (self.differing or self.only_a or self.only_b)


def read_side(text: str, paths: Paths) -> Side:
    """Return the runs selected by "NAME", "FOLDER", "NAME@BUILD" or "FOLDER@BUILD".

    NAME: of an experiment with results. BUILD: a prefix of a build's fingerprint. Among runs of
    several builds with the same parameters and seed, the newest counts. Raises UserError if there
    are none, or a run is damaged.
    """
    place, _, build = text.partition("@")
    folder = _folder(place, paths)
    found: dict[Key, tuple[int, Run]] = {}
    builds: dict[str, int] = {}
    older = 0
    for path in sorted((folder / "runs").iterdir()):
        if path.name.startswith("."):
            continue
        key, run = _read_run(path)
        builds[run.build] = builds.get(run.build, 0) + 1
        if not run.build.startswith(build):
            continue
        made = RunPaths(path).sums.stat().st_mtime_ns
        older += key in found
        if key not in found or made > found[key][0]:
            found[key] = (made, run)
    if not found:
        allowed = one_of(
            [f"{name[:SHOWN_DIGITS]} ({count} runs)" for name, count in builds.items()]
        )
        what = f"no run is of a build {build!r}" if build else "there is no finished run"
        raise refusal(text, what, allowed or None)
    return Side(folder, {key: run for key, (_, run) in found.items()}, older)


def _folder(place: str, paths: Paths) -> Path:
    """Return the results folder of a path or a name."""
    folders = [Path(place)]
    with contextlib.suppress(ValueError):
        folders.append(paths.experiment_results(place))
    for folder in folders:
        if (folder / "runs").is_dir():
            return folder
    known = sorted(
        str(one.parent.relative_to(paths.results)) for one in paths.results.rglob("runs")
    )
    what = "no results have that name, and it is no folder with runs/"
    raise refusal(place, what, one_of(known) or None)


def _read_run(folder: Path) -> tuple[Key, Run]:
    """Read a finished run. Raises UserError when it is damaged."""
    try:
        if problem := seal.problem_of(folder, folder.name, quick=True):
            raise problem
        sealed = seal.read_seal(folder, folder.name)
        spec = json.loads(seal.read_file(folder, sealed, "spec.json"))
        summary = json.loads(seal.read_file(folder, sealed, "summary.json"))
        params = {name: str(value) for name, value in spec["params"].items() if value != ""}
        seed = int(spec["seed"])
    except seal.DamagedError as error:
        raise refusal(str(error.file), error.what) from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        what = "is not the spec of a run as pyorch writes it"
        raise refusal(str(folder / "spec.json"), what) from error
    metrics = [*summary.get("metrics", {}).values(), *kept_metrics(folder)]
    values = known_numbers(summary["summary"])
    for one in metrics:
        values |= one
    title = " ".join([*(f"{name}={value}" for name, value in params.items()), f"seed={seed}"])
    digests = {name: digest for name, digest in sealed.digests.items() if name != "spec.json"}
    return (tuple(sorted(params.items())), seed), Run(title, sealed.fingerprint, digests, values)


def compare(a: Side, b: Side) -> Comparison:
    """Compare the runs of two sides."""
    same, differing = [], {}
    values: dict[str, list[Difference]] = {}
    for key, one in a.runs.items():
        other = b.runs.get(key)
        if other is None:
            continue
        files = _files(one.digests, other.digests)
        if files:
            differing[one.title] = files
        else:
            same.append(one.title)
        for name in dict.fromkeys((*one.values, *other.values)):
            x, y = one.values.get(name), other.values.get(name)
            if x != y and not (_is_nan(x) and _is_nan(y)):
                values.setdefault(name, []).append(Difference(name, 1, x, y, one.title))
    return Comparison(
        same,
        differing,
        [run.title for key, run in a.runs.items() if key not in b.runs],
        [run.title for key, run in b.runs.items() if key not in a.runs],
        [_most(found) for found in values.values()],
    )


def _files(a: Mapping[str, str], b: Mapping[str, str]) -> list[str]:
    return sorted(name for name in {*a, *b} if a.get(name) != b.get(name))


def _most(found: Sequence[Difference]) -> Difference:
    most = max(found, key=lambda one: one.relative)
    return Difference(most.name, len(found), most.a, most.b, most.where)


def _relative(a: Any, b: Any) -> float:
    if a is None or b is None or not (math.isfinite(a) and math.isfinite(b)):
        return math.inf
    return float(abs(b - a) / max(abs(a), abs(b)))


def _is_nan(value: float | None) -> bool:
    return value is not None and math.isnan(value)
