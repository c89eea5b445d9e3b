"""python -m tests.campaign --seed S --cases N: throw nonsense at pyorch and count what fails."""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import json
import os
import pkgutil
import shlex
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.campaign import brought, cases, judge, modules, odd_runs, world  # noqa: F401 (registers)
from tests.campaign.project import NOBODY, SEALED, Project, make_project
from tests.campaign.sandbox import Outcome, run_limited

if TYPE_CHECKING:
    from tests.campaign.cases import Case

SHOWN_EVERY_S = 30.0
LEFT_OUT = "real runs left out: too long to simulate, odd or not"


@dataclass
class Tally:
    """Cases tried and failed by kind; what each failure was."""

    tried: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    slowest_s: float = 0.0

    def note(self, kind: str, outcome: Outcome, wrong: str) -> None:
        """Count one case."""
        self.tried[kind] += 1
        self.refused[kind] += outcome.code > 0 and not wrong
        self.slowest_s = max(self.slowest_s, outcome.cpu_s)
        if wrong:
            self.failed[kind] += 1
            self.reasons[kind, wrong] += 1

    def table(self) -> str:
        """Return the table as Markdown."""
        lines = ["| class | tried | refused | failed | what failed |", "|---|---|---|---|---|"]
        for kind in sorted(self.tried):
            reasons = [f"{n} {why}" for (of, why), n in self.reasons.most_common() if of == kind]
            counts = self.tried[kind], self.refused[kind], self.failed[kind]
            lines.append(f"| {kind} | {' | '.join(map(str, counts))} | {'; '.join(reasons)} |")
        totals = [sum(c.values()) for c in (self.tried, self.refused, self.failed)]
        return "\n".join([*lines, f"| all | {' | '.join(map(str, totals))} | |"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a campaign; the exit code is 1 when a case failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--seed", type=int, required=True, help="of all mutations")
    parser.add_argument("--cases", type=int, default=0, help="how many that only plan")
    parser.add_argument("--only", default="", help="kinds of those that begin so, in turn")
    parser.add_argument("--runs", type=int, default=0, help="how many real runs")
    parser.add_argument("--modules", type=int, default=0, help="how many sweeps of a bad module")
    parser.add_argument("--first", type=int, default=0, help="number of the first of each")
    parser.add_argument("--out", type=Path, help="folder for what reproduces failures")
    options = parser.parse_args(arguments)
    if not any(kind.startswith(options.only) for kind in cases.KINDS):
        parser.error(f"--only: none of {', '.join(cases.KINDS)} begins so")
    out = options.out or Path(tempfile.mkdtemp(prefix="campaign-"))
    numbers = range(options.first, options.first + options.cases)
    tally = Tally()
    if options.cases:
        with planning() as project, tempfile.TemporaryDirectory() as folder:
            for number in _told(numbers, tally):
                case = cases.make(options.seed, number, project, options.only)
                outcome = run_case(case, project, Path(folder))
                wrong = judge.verdict(case, outcome)
                tally.note(case.kind, outcome, wrong)
                if wrong:
                    keep(out / f"{options.seed}-{number}", case, outcome, wrong, project)
    if options.runs:
        numbers = range(options.first, options.first + options.runs)
        with contextlib.ExitStack() as stack:
            simulation, schema = stack.enter_context(simulating())
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            for number in _told(numbers, tally):
                run_really(options.seed, number, simulation, schema, folder, out, tally)
    if options.modules:
        numbers = range(options.first, options.first + options.modules)
        with modules.building() as environment:
            for number in _told(numbers, tally):
                run_module(options.seed, number, environment, out, tally)
    failed = sum(tally.failed.values())
    print(tally.table())
    print(f"seed {options.seed}; the slowest took {tally.slowest_s:.1f} s of CPU time")
    if failed:
        print(f"what failed, and how to do it again: {out}")
    return int(failed > 0)


def _told(numbers: range, tally: Tally) -> Iterator[int]:
    """Yield numbers, and say now and then how far it is."""
    told = time.monotonic()
    for number in numbers:
        if time.monotonic() - told > SHOWN_EVERY_S:
            told = time.monotonic()
            done = number - numbers.start
            failed = sum(tally.failed.values())
            print(f"{done} of {len(numbers)}, {failed} failed", file=sys.stderr, flush=True)
        yield number


@contextlib.contextmanager
def planning() -> Iterator[Project]:
    """Load what planning needs into this process, and give it a project to work in."""
    import pyorch.build
    import pyorch.readers
    import tasks  # noqa: F401
    from pyorch.base.paths import RESULTS_VARIABLE, ROOT_VARIABLE, project_root
    from pyorch.build import ensure_built, load_schema
    from pyorch.cli.show import show

    verbs = ("bring", "experiment", "new_scheme", "schemes", "size", "sweep")
    for module in ("setting.dependency", *(f"cli.{verb}" for verb in verbs)):
        __import__(f"pyorch.{module}")
    for reader in pkgutil.iter_modules(pyorch.readers.__path__):
        __import__(f"pyorch.readers.{reader.name}")
    for library in ("pyarrow.csv", "pyarrow.parquet", "networkx"):
        __import__(library)
    info = ensure_built()
    schema = load_schema(info)
    # the modules do not change in between, and every case would look at each of their files
    pyorch.build.ensure_built = lambda *_, **__: info
    pyorch.build.load_schema = lambda *_: schema
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
        root = Path(folder).resolve()
        project = make_project(root, project_root())
        project.content |= brought.files()
        project.put(brought.files())
        os.environ |= {ROOT_VARIABLE: str(root), RESULTS_VARIABLE: str(root / "results")}
        os.environ |= {"XDG_CONFIG_HOME": str(root / "config"), "COLUMNS": "100"}
        os.environ.pop("PYORCH_SLURM", None)
        with contextlib.redirect_stdout(io.StringIO()):
            show("campaign/full")  # what is compiled or imported late, is so once
            _finish_a_run(project)
        root.chmod(0o755)
        gc.collect()
        gc.freeze()  # what is here stays: forks that never touch it share its memory
        try:
            yield project
        finally:
            os.environ.clear()
            os.environ.update(before)
            pyorch.build.ensure_built, pyorch.build.load_schema = ensure_built, load_schema


def _finish_a_run(project: Project) -> None:
    """Put one finished run into the project's results, made up but whole."""
    import numpy as np

    from pyorch.base.paths import RunPaths
    from pyorch.pipeline import make_plan
    from pyorch.run.simulate import write_table

    plan = make_plan("campaign/sealed")
    (spec,), fingerprint = plan.specs, plan.build.fingerprint
    plan.store.prepare()
    run = RunPaths(plan.store.begin(spec.hash(fingerprint)).folder)
    run.spec.write_text(spec.to_json())
    run.summary.write_text(json.dumps({"nodes": ["h0", "h1", "s0"], "summary": {}, "metrics": {}}))
    columns = {"time_ps": "int64", "node": "uint32", "peer": "uint32", "class": "uint8"}
    columns |= {"bytes": "uint64"}
    write_table(run, "queue", {key: np.arange(3).astype(kind) for key, kind in columns.items()})
    assert plan.store.commit(run.folder, spec.hash(fingerprint), fingerprint)
    for file in (project.root / SEALED).rglob("*"):
        if file.is_file():
            project.content[file.relative_to(project.root).as_posix()] = file.read_bytes()


def run_case(case: Case, project: Project, folder: Path) -> Outcome:
    """Do what a case says, in a fork, and put its files back."""
    project.put(case.files)
    try:
        return run_limited(lambda: _do(case, project), folder)
    finally:
        project.restore(case.files)


def _do(case: Case, project: Project) -> int:
    """In the fork: the command line or the call of a case."""
    os.chdir(project.root)
    if case.gone:
        os.chdir(folder := tempfile.mkdtemp())
        Path(folder).rmdir()
    if case.nobody and os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        os.environ["HOME"] = str(project.root)
    if case.call is not None:
        return _call(*case.call)
    sys.argv = ["invoke", *case.words]
    from invoke.collection import Collection
    from invoke.program import Program

    import tasks

    Program(namespace=Collection.from_module(tasks)).run(list(sys.argv))
    return 0


def _call(name: str, arguments: tuple[object, ...]) -> int:
    """Call a function with nonsense: it takes it, or says in words why not."""
    from pyorch.base.errors import UserError

    try:
        cases.FUNCTIONS[name](*arguments)
    except (UserError, ValueError) as error:  # UnicodeError and JSONDecodeError are ValueErrors
        print(error, file=sys.stderr)
        return 2
    return 0


@contextlib.contextmanager
def simulating() -> Iterator[tuple[type, Any]]:
    """Load the built modules into this process, from which runs are forked."""
    import pandas as pd  # noqa: F401
    import pyarrow.parquet  # noqa: F401

    from pyorch.base.paths import RunPaths
    from pyorch.build import ensure_built, load_schema
    from pyorch.run.ns3 import load_simulation
    from pyorch.run.serve import tiny
    from pyorch.run.simulate import simulate

    info = ensure_built()
    simulation = load_simulation(info)
    with tempfile.TemporaryDirectory() as folder:
        simulate(tiny(), simulation, RunPaths(Path(folder)))
    gc.collect()
    gc.freeze()
    yield simulation, load_schema(info)


def run_really(
    seed: int, number: int, simulation: type, schema: Any, folder: Path, out: Path, tally: Tally
) -> None:
    """Do one real run in a fork, judge and count it."""
    odd = odd_runs.make(seed, number, schema, folder)
    if odd_runs.frames(odd.spec) > odd_runs.FRAMES:
        tally.tried[LEFT_OUT] += 1
        return
    with tempfile.TemporaryDirectory(dir=folder) as run:
        outcome = run_limited(lambda: odd_runs.simulate(odd, simulation, Path(run)), folder)
    if outcome.code == -signal.SIGXCPU and odd_runs.is_long(odd.spec):
        tally.tried[LEFT_OUT] += 1
        return
    wrong = judge.of_run(odd, outcome)
    tally.note("real runs", outcome, wrong)
    if wrong:
        case = cases.Case("real runs", odd.about, {"experiments/odd.toml": odd.text.encode()})
        keep(out / f"{seed}-run-{number}", case, outcome, wrong, None)


def run_module(
    seed: int, number: int, environment: dict[str, str], out: Path, tally: Tally
) -> None:
    """Run one sweep of the module that misbehaves, judge and count it."""
    sweep = modules.make(seed, number)
    with tempfile.TemporaryDirectory() as folder:
        outcome, wrong = modules.run(sweep, environment, Path(folder))
    tally.note("modules that misbehave", outcome, wrong)
    if wrong:
        files = {"misbehave.toml": sweep.text.encode()}
        case = cases.Case("modules that misbehave", sweep.about, files)
        keep(out / f"{seed}-module-{number}", case, outcome, wrong, None)


def keep(folder: Path, case: Case, outcome: Outcome, wrong: str, project: Project | None) -> None:
    """Write what reproduces a failure: the files, the command, and what it answered."""
    for path, content in case.files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        else:
            target.with_name(f"{target.name}.is-{content}").touch()
    folder.mkdir(parents=True, exist_ok=True)
    root = str(project.root) if project else ""
    words = [word.replace(root, ".") if root else word for word in case.words]
    command = shlex.join(["invoke", *words]) if words else case.about
    lines = [f"kind: {case.kind}", f"about: {case.about}", f"wrong: {wrong}", f"command: {command}"]
    lines += [f"exit code {outcome.code} after {outcome.cpu_s:.1f} s of CPU time", ""]
    text = "\n".join(lines) + outcome.stderr[-20_000:]
    (folder / "failure.txt").write_text(text, encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
