"""The one place that knows where files live."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pyorch.errors import Problem, UserError

ROOT_VARIABLE = "PYORCH_ROOT"
RESULTS_VARIABLE = "PYORCH_RESULTS"


@dataclass(frozen=True)
class Paths:
    """The folders of a project.

    `results_root` moves results elsewhere, for instance to a scratch disk; by default it is
    results/ in the project.
    """

    root: Path
    results_root: Path | None = None

    def absolute(self) -> Paths:
        """Return the same folders, whatever the current one will be."""
        return Paths(self.root.absolute(), self.results_root and self.results_root.absolute())

    @property
    def experiments(self) -> Path:
        """Experiment files, one folder a study."""
        return self.root / "experiments"

    @property
    def benchmarks(self) -> Path:
        """The experiment files that `invoke bench` measures."""
        return self.root / "benchmarks"

    @property
    def modules(self) -> Path:
        """The C++ modules."""
        return self.root / "ns3-modules"

    @property
    def build_root(self) -> Path:
        """What compiling leaves behind, one folder a profile."""
        return self.root / "build"

    @property
    def results(self) -> Path:
        """Results, one folder an experiment."""
        return self.results_root or self.root / "results"

    @property
    def published(self) -> Path:
        """The source documents, and published numbers that no expectation carries."""
        return self.root / "docs" / "published.toml"

    @property
    def images(self) -> Path:
        """Pictures of the pages in docs/ and of the modules."""
        return self.root / "docs" / "images"

    @property
    def reproduction(self) -> Path:
        """Every published number and ours; the same rows as CSV lie beside it."""
        return self.root / "docs" / "reproduction.md"

    @property
    def tests(self) -> Path:
        """The Python tests."""
        return self.root / "tests"

    def experiment_results(self, name: str) -> Path:
        """The folder of one experiment's results: "gfc/two-to-one" -> results/gfc/two-to-one.

        Raises ValueError when the name would lead out of the results folder.
        """
        parts = name.split("/")
        if not name or any(part in ("", ".", "..") for part in parts):
            raise ValueError(f"{name!r} is no name of an experiment")
        return self.results.joinpath(*parts)

    def report(self, name: str) -> Path:
        """The folder of one experiment's report."""
        return self.experiment_results(name) / "report"


@dataclass(frozen=True)
class RunPaths:
    """The files of one run, finished or being written."""

    folder: Path

    @property
    def spec(self) -> Path:
        """The RunSpec, canonical JSON."""
        return self.folder / "spec.json"

    @property
    def summary(self) -> Path:
        """Numbers of the whole run."""
        return self.folder / "summary.json"

    @property
    def sums(self) -> Path:
        """Checksums of the other files; written last, so that they vouch for a finished run."""
        return self.folder / "SHA256SUMS"

    @property
    def log(self) -> Path:
        """Output of the process, with wall time and host: never compared."""
        return self.folder / "log.txt"

    @property
    def heartbeat(self) -> Path:
        """How far the simulation is; only while it runs."""
        return self.folder / "heartbeat"

    @property
    def manifest(self) -> Path:
        """Of a failed run: what reproduces it."""
        return self.folder / "manifest.jsonl"

    def table(self, name: str) -> Path:
        """A result table."""
        return self.folder / f"{name}.parquet"

    def tables(self) -> list[Path]:
        """The result tables there are, by name."""
        return sorted(self.folder.glob("*.parquet"))


def expanded(path: str) -> Path:
    """Return a path with ~ and ~user in full; what names no user stays as it is."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 (Path.expanduser raises then)


def project_root() -> Path:
    """The project: $PYORCH_ROOT, else the folder with pyproject.toml above the package.

    Raises UserError when there is neither.
    """
    given = os.environ.get(ROOT_VARIABLE)
    if given:
        root = expanded(given).resolve()
        if root.is_dir():
            return root
        raise UserError([Problem(ROOT_VARIABLE, f"there is no folder {given}", None, None)])
    for folder in Path(__file__).resolve().parents:
        if (folder / "pyproject.toml").is_file():
            return folder
    what = "pyorch is installed apart from its project, and so finds no experiments"
    hint = f"set {ROOT_VARIABLE} to the project's folder, or install it with 'pip install -e'"
    raise UserError([Problem("pyorch", what, None, hint)])


def default_paths() -> Paths:
    """The folders of this project, with results in $PYORCH_RESULTS when that is set."""
    results = os.environ.get(RESULTS_VARIABLE)
    return Paths(project_root(), expanded(results).resolve() if results else None)
