"""The one place that knows where files live."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from pyorch.base.errors import refusal
from pyorch.base.trust import PROJECT_FILE, vouch

ROOT_VARIABLE = "PYORCH_ROOT"
RESULTS_VARIABLE = "PYORCH_RESULTS"
SHIPPED = Path(__file__).parents[1] / "shipped"
"""In an installed package: what a checkout has beside it, experiments and C++ modules."""

RENAMED = {"experiment": "run"}
"""Tasks of invoke that the program `pyorch` calls otherwise."""


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

    def call_of(self, task: str) -> str:
        """Return how a task is called here: by invoke in a checkout, which alone has it."""
        return program_call(task) if self.shipped else f"invoke {task}"

    @property
    def experiments(self) -> Path:
        """Experiment files, one folder a study."""
        return self.root / "experiments"

    @property
    def shipped(self) -> Path | None:
        """Where the package's own experiments and modules lie, if the project is not that place."""
        if SHIPPED.is_dir():
            return SHIPPED
        return _checkout() if (self.root / PROJECT_FILE).is_file() else None

    @property
    def shipped_experiments(self) -> Path | None:
        """Experiment files that came with the package."""
        return self.shipped and self.shipped / "experiments"

    @property
    def studies(self) -> Path:
        """The project's own experiments: those that came with the package, if it is installed."""
        return self.shipped_experiments or self.experiments

    @property
    def workloads(self) -> Path:
        """The distributions of flow sizes that experiments may name."""
        return self.studies / "workloads"

    @property
    def benchmarks(self) -> Path:
        """The experiment files that `invoke bench` measures."""
        return self.root / "benchmarks"

    @property
    def modules(self) -> Path:
        """The C++ modules that belong to the package."""
        return (self.shipped or self.root) / "ns3-modules"

    @property
    def own_modules(self) -> Path:
        """Where modules of a person's own are made."""
        return self.root / "modules" if self.shipped else self.modules

    @property
    def docs(self) -> Path:
        """The pages of the documentation."""
        return (self.shipped or self.root) / "docs"

    @property
    def format_style(self) -> Path:
        """How C++ is laid out."""
        return (self.shipped or self.root) / ".clang-format"

    @property
    def build_root(self) -> Path:
        """What compiling leaves behind, one folder a profile; of an installed package a cache."""
        if not SHIPPED.is_dir():
            return (_checkout() if self.shipped else self.root) / "build"
        cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        return expanded(cache) / "pyorch" / "build"

    @property
    def results(self) -> Path:
        """Results, one folder an experiment."""
        return self.results_root or self.root / "results"

    @property
    def published(self) -> Path:
        """The source documents, what they claim, and what no run can refute."""
        return self.root / "docs" / "published.toml"

    @property
    def images(self) -> Path:
        """Pictures of the pages in docs/ and of the modules."""
        return self.root / "docs" / "images"

    @property
    def reproduction(self) -> Path:
        """The claims that do not hold as stated; the rows of all as CSV lie beside it."""
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
            raise ValueError(f"{name!r} is not a valid name of an experiment")
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


def program_call(task: str) -> str:
    """Return how a task of invoke is called by the program `pyorch`."""
    return f"pyorch {RENAMED.get(task, task)}"


def program(module: str) -> list[str]:
    """How a module of this package is started as a program.

    Python looks for modules in the current folder first, where a project may have a random.py or a
    queue.py: not so with -P.
    """
    return [sys.executable, "-P", "-m", module]


def python_path() -> str:
    """$PYTHONPATH for such a program: this package first, even if it is not installed.

    An empty entry, as in "$PYTHONPATH:/more", would be the current folder.
    """
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join(filter(None, [str(Path(__file__).resolve().parents[2]), *given]))


def expanded(path: str) -> Path:
    """Return a path with ~ and ~user in full; what names no user stays as it is."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 (Path.expanduser raises then)


def current_folder() -> Path:
    """The folder that relative paths start from. Raises UserError when it was deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        what, hint = "it was deleted", "change to another one with `cd`"
        raise refusal("the current folder", what, hint=hint) from error


def project_root() -> Path:
    """The project: $PYORCH_ROOT, else the folder with pyorch.toml above the current one.

    Without these it is the checkout that the package lies in, and for an installed package the
    current folder. Raises UserError when $PYORCH_ROOT is not a folder, or when another user could
    have written pyorch.toml.
    """
    given = os.environ.get(ROOT_VARIABLE)
    if given:
        root = Path(os.path.realpath(expanded(given)))
        if root.is_dir():
            return root
        raise refusal(ROOT_VARIABLE, f"there is no folder {given}")
    here = current_folder()
    for folder in (here, *here.parents):
        if os.path.isfile(folder / PROJECT_FILE):  # noqa: PTH113 (raises where nobody may look)
            vouch([folder / PROJECT_FILE], named=folder)
            return folder
    return here if SHIPPED.is_dir() else _checkout()


def _checkout() -> Path:
    """The folder with pyproject.toml above the package. Raises UserError when there is none."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "pyproject.toml").is_file():
            return folder
    what = "this package has neither a checkout around it nor experiments and modules in it"
    raise refusal("pyorch", what, hint="install it again: pip install PROJECT")


def default_paths() -> Paths:
    """The folders of this project, with results in $PYORCH_RESULTS when that is set."""
    results = os.environ.get(RESULTS_VARIABLE)
    return Paths(project_root(), Path(os.path.realpath(expanded(results))) if results else None)
