"""The tasks for developing the project itself: test, lint, clean."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pyorch.base.errors import Problem, UserError
from pyorch.base.files import telling
from pyorch.base.paths import Paths, default_paths
from pyorch.cli.base import FAILED, OK, command
from tools.cpptests import Suites, modules_of, run_suites, suites_by_module
from tools.green import KEPT_RUNS, RECORD, SHOWN, Green, Inputs

PYTEST_NOTHING_FOUND = 5
PYTHON_SOURCES = ("pyorch", "tools", "tests", "tasks.py")
SLURM_DAEMONS = ("munged", "slurmctld", "slurmd")
SHELLCHECK = "shellcheck"
#: Niceness of the C++ suites, compiled and run next to pytest, relative to it.
BESIDE = 5
#: How many of the slowest Python tests are named at the end.
SLOWEST = 25
#: How pytest-xdist distributes tests: in the order of tests/conftest.py, a group to one worker.
GROUPED = ("--dist", "loadgroup", "--no-loadscope-reorder")
#: Marks of tests that `--quick` leaves out.
NOT_QUICK = ("cpp", "slow", "slurm", "browser", "drawing", "processes", "studies")
_OR = " or "
CACHES = (".mypy_cache", ".ruff_cache", ".import_linter_cache", ".pytest_cache", ".hypothesis")


@command
def run_tests(
    quick: bool = False,
    expression: str = "",
    many: bool = False,
    coverage: bool = False,
    everything: bool = False,
) -> int:
    """Run pytest and the C++ suites, release and sanitized; print what was omitted.

    quick: only what Python alone decides in a minute, and with an expression the C++ suites that
    match it, without sanitizers. many: only the C++ suites, release, including
    cases with thousands of random networks. everything: also what passed already with the same
    inputs; write the project's record of what passed. coverage: print how much of each file
    of pyorch pytest covers. The last line but one says how long it took.
    """
    began, used = time.monotonic(), _cpu()
    paths = default_paths()
    chosen = Chosen(quick, expression, many, coverage, everything)
    green, inputs = Green(paths), Inputs(paths)
    suites, pytest_code, skipped = _run_both(chosen, green, inputs)
    _tell_suites(suites, many)
    for line in skipped:
        print(f"not run: {line}")
    passed = [result.passed for results in suites.values() for result in results]
    vouched = not passed and bool(chosen.profiles) and not chosen.partial
    good, line = verdict(passed, pytest_code, many or quick or bool(expression) or vouched)
    if not chosen.partial:
        _record(paths, green, inputs, suites)
        if everything:  # each check vouches for itself alone
            _publish(paths)
    print(f"took {time.monotonic() - began:.0f} s and {_cpu() - used:.0f} CPU-s")
    print(line)
    return OK if good else FAILED


def _cpu() -> float:
    """CPU time of this process and all that it has started and waited for [s]."""
    return sum(os.times()[:4])


@dataclass(frozen=True)
class Chosen:
    """What `invoke test` was asked for."""

    quick: bool = False
    expression: str = ""
    many: bool = False
    coverage: bool = False
    everything: bool = False

    @property
    def partial(self) -> bool:
        """Whether of the suites of a module only some may run, or others than usual."""
        return self.many or bool(self.expression)

    @property
    def profiles(self) -> Sequence[str]:
        """The profiles of the C++ suites."""
        if self.quick and not self.expression:
            return ()
        return ("release",) if self.many or self.quick else ("release", "sanitize")

    @property
    def recorded(self) -> bool:
        """Whether what passed already is left out."""
        return not (self.everything or self.partial)


def _run_both(chosen: Chosen, green: Green, inputs: Inputs) -> tuple[Suites, int, list[str]]:
    """Run pytest, and the C++ suites while it waits; return the results.

    Python tests often wait for a disk, for Slurm, or for each other, so compiling and running
    suites next to them at lower priority costs no time. Raises UserError if the modules do not
    compile.
    """
    from pyorch.build import ensure_built

    skipped: list[str] = []
    if chosen.many:
        without = {name: frozenset[str]() for name in chosen.profiles}
        return run_suites(without, chosen.expression, many=True), PYTEST_NOTHING_FOUND, skipped
    if not (chosen.expression or chosen.quick):
        ensure_built()  # Python tests need it; if it does not compile, nothing else is tried
    if chosen.quick:
        cpp = "C++ suites with sanitizers" if chosen.expression else "C++ suites"
        skipped.append(f"{cpp}, and Python tests marked {_OR.join(NOT_QUICK)} (--quick)")
    without = _without(chosen, green, inputs, skipped)
    sys.stdout.flush()
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, fork, initializer=os.nice, initargs=(BESIDE,)) as beside:
        waiting = beside.submit(run_suites, without, chosen.expression)
        try:
            is_named = is_in_tests(chosen.expression, default_paths().tests)
            pytest_code = _run_pytest(chosen, skipped) if is_named else PYTEST_NOTHING_FOUND
            suites = waiting.result()
        except BaseException:  # an interrupt must not wait for what is compiled
            for child in multiprocessing.active_children():
                child.terminate()
            raise
    if chosen.expression:
        known = sum(map(len, suites_by_module().values()))
        left_out = known - len(suites["release"])
        skipped.append(f"{left_out} C++ suites, not matched by -k {chosen.expression!r}")
    return suites, pytest_code, skipped


def is_in_tests(expression: str, tests: Path) -> bool:
    """Whether -k may choose a Python test: a word that stands in no file of them chooses none.

    Pytest itself would import all of them to find that out, which takes half a minute.
    """
    word = expression.casefold()
    if not re.fullmatch(r"[\w-]+", word):
        return True  # nothing given, or an expression
    files = sorted(tests.rglob("*.py"))
    texts = (f"{file.relative_to(tests)}\n{file.read_text(encoding='utf-8')}" for file in files)
    return any(word in text.casefold() for text in texts)


def _without(
    chosen: Chosen, green: Green, inputs: Inputs, skipped: list[str]
) -> dict[str, frozenset[str]]:
    """For each profile the modules whose suites passed already, with what they depend on."""
    left_out: dict[str, frozenset[str]] = {}
    kept = default_paths().build_root / KEPT_RUNS
    if chosen.recorded and not chosen.quick and kept.is_dir():
        skipped.append(
            "simulations of the laboratory's tests that the same code made before "
            f"(build/{KEPT_RUNS}; --all makes them again)"
        )
    for profile in chosen.profiles:
        known = _suites_of(inputs, profile) if chosen.recorded else {}
        vouched = {
            check: f"{check.split()[1]} ({digest[:SHOWN]} {place})"
            for check, digest in known.items()
            if (place := green.vouches(check, digest))
        }
        left_out[profile] = frozenset(check.split()[1] for check in vouched)
        if vouched:
            skipped.append(
                f"{profile} suites that passed with the same inputs already (--all runs them): "
                + ", ".join(vouched.values())
            )
    return left_out


def _suites_of(inputs: Inputs, profile: str) -> dict[str, str]:
    """The checks that are the suites of the project's modules, with the digests of their inputs."""
    modules = (name for name, suites in suites_by_module().items() if suites)
    return {
        f"{profile} {name}": inputs.of_suites(name, profile)
        for name in modules
        if name in inputs.modules
    }


def _record(paths: Paths, green: Green, before: Inputs, suites: Suites) -> None:
    """Remember which modules' suites all passed, unless what they depend on changed meanwhile."""
    after = Inputs(paths)
    passed: dict[str, str] = {}
    for profile, results in suites.items():
        digests, now = _suites_of(before, profile), _suites_of(after, profile)
        for module, own in modules_of(results).items():
            check = f"{profile} {module}"
            if check in digests and digests[check] == now[check] and all(r.passed for r in own):
                passed[check] = now[check]
    if passed:
        green.add(passed)


def _publish(paths: Paths) -> None:
    """Write the project's record of what passed, for machines that have none."""
    green, inputs = Green(paths), Inputs(paths)
    suites = _suites_of(inputs, "sanitize") | _suites_of(inputs, "release")
    number = green.publish(suites | green.of_pytest)
    print(f"{paths.tests / RECORD}: {number} checks that need not run elsewhere until they change")


def verdict(suites: Sequence[bool], pytest_code: int, chosen: bool) -> tuple[bool, str]:
    """Whether everything passed, and the closing line.

    suites: whether each C++ suite passed. chosen: only some tests were selected, or all suites
    passed already; then one side may be empty, otherwise an empty side means that tests were lost.
    """
    cpp = f"{sum(suites)} of {len(suites)} C++ suites passed" if suites else "no C++ suite ran"
    python = {0: "pytest passed", PYTEST_NOTHING_FOUND: "pytest found no test"}
    found = [bool(suites), pytest_code != PYTEST_NOTHING_FOUND]
    enough = any(found) if chosen else all(found)
    good = enough and all(suites) and pytest_code in python
    text = f"{cpp}, {python.get(pytest_code, 'pytest failed')}"
    if chosen and suites and pytest_code == PYTEST_NOTHING_FOUND:
        text = cpp  # no test of Python has the name that was asked for
    return good, f"{'all well' if good else 'FAILED'}: {text}"


def _tell_suites(suites: Suites, many: bool) -> None:
    for profile, results in suites.items():
        for result in results:
            word = "PASS" if result.passed else "FAIL"
            print(f"{word}  {profile:<8}  {result.name} ({result.seconds:.1f} s)")
            if not result.passed or many:
                print(result.output)


def _run_pytest(chosen: Chosen, skipped: list[str]) -> int:
    paths = default_paths()
    arguments = [sys.executable, "-m", "pytest", str(paths.tests), f"--durations={SLOWEST}"]
    if chosen.coverage:
        arguments += ["--cov", "--cov-report=term:skip-covered"]
    if chosen.recorded:
        arguments += ["--recorded"]
    if chosen.quick:
        arguments += ["-m", f"not ({_OR.join(NOT_QUICK)})"]
    elif not all(map(_system_program, SLURM_DAEMONS)):
        skipped.append(
            "sweeps on a real Slurm: none is installed (apt-get install slurm-wlm munge)"
        )
    if os.geteuid() != 0:
        what = "" if chosen.quick else "results shared by two users, and "
        skipped.append(f"{what}folders that another user prepares: only root can make users")
    if chosen.expression:
        arguments += ["-k", chosen.expression]
    if importlib.util.find_spec("xdist") is None:
        skipped.append("nothing, but pytest ran on one core only: pytest-xdist is not installed")
    else:
        # one Slurm is started for all its tests, so they share a worker, which mostly waits
        workers = len(os.sched_getaffinity(0)) + (0 if chosen.quick else 1)
        arguments += ["-n", str(workers), *GROUPED]
    return _call(arguments, paths, bytecode_kept(os.environ, paths))


def bytecode_kept(environment: Mapping[str, str], paths: Paths) -> dict[str, str]:
    """The environment of tests, which keep their bytecode, away from the sources if it must be.

    Each worker reads all test files, and the tests start hundreds of Pythons: without bytecode all
    of them compile the same files, which takes longer than reading and running them.
    """
    kept = dict(environment)
    if kept.pop("PYTHONDONTWRITEBYTECODE", ""):
        kept.setdefault("PYTHONPYCACHEPREFIX", str(paths.build_root / "bytecode"))
    return kept


def _system_program(name: str) -> str | None:
    """The path of a program, even if only root has its folder on PATH."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


@command
def lint(fix: bool = False) -> int:
    """Check, or with `fix` correct, the form of all sources; return 1 if a check fails."""
    paths = default_paths()
    skipped = [] if shutil.which(SHELLCHECK) else [SHELLCHECK]
    with tempfile.TemporaryDirectory() as folder:
        checks = lint_commands(paths, fix)
        checks += [] if skipped else [shell_check(paths, Path(folder))]
        failed = [name for name, call in checks if not _passes(name, call, paths)]
    for name in skipped:
        print(f"not run: {name} is not installed (apt-get install {name})")
    well = f"all well, without {', '.join(skipped)}" if skipped else "all well"
    print(f"lint: {', '.join(failed)} failed" if failed else f"lint: {well}")
    if failed and not fix:
        print("'invoke lint --fix' fixes what can be fixed automatically")
    return FAILED if failed else OK


def lint_commands(paths: Paths, fix: bool) -> list[tuple[str, list[str]]]:
    """The checks by name, in order, with their commands."""
    python = [name for name in PYTHON_SOURCES if (paths.root / name).exists()]
    ruff, mypy = ([sys.executable, "-m", name] for name in ("ruff", "mypy"))
    cpp = [str(path.relative_to(paths.root)) for path in cpp_sources(paths)]
    clang_format = [
        _program("clang-format"),
        *(["-i"] if fix else ["--dry-run", "-Werror", "--ferror-limit=2"]),
    ]
    return [
        ("ruff check", [*ruff, "check", *(["--fix"] if fix else []), *python]),
        ("ruff format", [*ruff, "format", *([] if fix else ["--check"]), *python]),
        ("mypy", mypy),
        ("import-linter", [_program("lint-imports"), "--no-logo"]),
        ("starts", [sys.executable, "-m", "tools.starts"]),
        *([("clang-format", [*clang_format, *cpp])] if cpp else []),
    ]


def shell_check(paths: Paths, folder: Path) -> tuple[str, list[str]]:
    """The check of all shell code: CI's scripts, and a batch script, written to a folder."""
    from pyorch.engine.slurm.script import job_script
    from pyorch.engine.slurm.settings import Settings
    from pyorch.engine.slurm.submission import Submission

    submission = Submission(folder, "study", "study", (), "", "", 0.0, 1)
    submission.script.write_text(job_script(submission, Settings(), paths, ""), encoding="utf-8")
    ci = [".ci/run"] if (paths.root / ".ci" / "run").is_file() else []
    return SHELLCHECK, [SHELLCHECK, *ci, str(submission.script)]


def cpp_sources(paths: Paths) -> list[Path]:
    """All C++ files of the modules, sorted."""
    return sorted(path for end in ("*.h", "*.cc") for path in paths.modules.rglob(end))


def _program(name: str) -> str:
    """A program next to this Python, else the one on PATH."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else name


def _call(arguments: Sequence[str], paths: Paths, env: Mapping[str, str] | None = None) -> int:
    """Run a program and return its exit code.

    Without a terminal its output goes through this process, so that it survives a lost reader.
    """
    sys.stdout.flush()
    if sys.stdout.isatty():
        return subprocess.run(arguments, cwd=paths.root, env=env, check=False).returncode
    with subprocess.Popen(
        arguments, cwd=paths.root, env=env, stdout=subprocess.PIPE, text=True, errors="replace"
    ) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
    return process.returncode


def _passes(name: str, arguments: Sequence[str], paths: Paths) -> bool:
    print(f"== {name}", flush=True)
    try:
        return _call(arguments, paths) == 0
    except FileNotFoundError:
        print(f"{arguments[0]} is not installed: python -m pip install -e '.[dev]'")
        return False


@command
def clean(results: bool = False, old_results: bool = False, dry_run: bool = False) -> int:
    """Delete whatever is recreated automatically; with `results` also all results.

    old_results: delete runs of earlier builds, and nothing else. dry_run: only list them.
    """
    paths = default_paths()
    if dry_run and not old_results:
        raise UserError([Problem("--dry-run", "goes with --old-results only")])
    if old_results and results:
        what = "the two contradict each other"
        raise UserError([Problem("--results --old-results", what, "one of them")])
    if old_results:
        return _clean_old(paths, dry_run)
    if paths.build_root.is_dir():
        _clean_builds(paths, results)
    for folder in _cleanable(paths, results):
        _delete(folder, shutil.rmtree)
        print(f"deleted {folder}")
    if not results and paths.results.is_dir():
        print(
            f"kept {paths.results} (--results deletes it, --old-results only runs of other builds)"
        )
    return OK


def _clean_builds(paths: Paths, results: bool) -> None:
    """Delete all unused builds; with `results`, no queued job keeps one."""
    from pyorch.build import finished
    from tools.prune import builds_of_sweeps

    needed = {} if results else builds_of_sweeps(paths)
    kept: list[tuple[Path, str]] = []
    _delete(paths.build_root, lambda folder: kept.extend(finished.clean(folder, needed)))
    print(f"deleted {paths.build_root}{', except:' if kept else ''}")
    for folder, why in kept:
        print(f"    kept {folder}: {why}")


def _clean_old(paths: Paths, dry_run: bool) -> int:
    """Delete the runs of other builds than the current one, which is built first if necessary."""
    from pyorch.build import ensure_built
    from pyorch.store.store import remove
    from tools.prune import find_runs, size_of

    runs = find_runs(paths.results, ensure_built().fingerprint)
    size = sum(size_of(folder) for folder in runs.old)
    if not dry_run:
        for folder in runs.old:
            _delete(folder, remove)
    print(f"{paths.results}:")
    verb = "to delete" if dry_run else "deleted"
    print(f"    runs of other builds, {verb}: {len(runs.old)} ({size / 1e6:.1f} MB)")
    print(f"    runs of this build, {'to keep' if dry_run else 'kept'}: {len(runs.current)}")
    if dry_run:
        print("nothing was deleted (--dry-run)")
    for folder in runs.unknown:
        print(f"    left alone: {folder} (no readable spec.json)")
    return OK


def _delete(folder: Path, delete: Callable[[Path], object]) -> None:
    with telling(folder):
        delete(folder)


def _cleanable(paths: Paths, results: bool) -> Iterator[Path]:
    candidates = [paths.root / name for name in CACHES]
    candidates += [paths.results] if results else []
    for source in ("pyorch", "tools", "tests", "experiments"):
        candidates += sorted((paths.root / source).rglob("__pycache__"))
    yield from (folder for folder in candidates if folder.is_dir())
