"""Run the C++ test suites of the modules."""

import math
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pyorch.base.errors import Problem, UserError
from pyorch.base.paths import Paths, project_root
from pyorch.build.builder import TEST_RUNNER, ensure_built
from pyorch.build.info import BuildInfo
from pyorch.build.sources import files_of_tests, find_modules

# ns-3's singletons live until the process ends, but stay reachable, so they do not count as leaks.
_SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}

_SUITE = re.compile(r'\bTestSuite\(\s*"([^"]+)"')
#: Longest cases that are run; EXTENSIVE unless named. Sanitizers make everything twenty times
#: slower, and extensive cases add statistics, but cover no other code.
FULLNESS = {"sanitize": "QUICK"}
#: Seconds after which a suite counts as hung; with thousands of random networks.
SUITE_TIMEOUT = 1800
MANY_TIMEOUT = 7200


@dataclass(frozen=True)
class SuiteResult:
    """The result of one suite; `output` is all it printed, `seconds` wall time."""

    name: str
    passed: bool
    seconds: float
    output: str


Suites = Mapping[str, Sequence[SuiteResult]]
"""The results of all suites, by profile."""


def run_cpp_tests(
    profile: str = "release",
    quiet: bool = False,
    *,
    expression: str = "",
    root: Path | None = None,
    many: bool = False,
    before: Sequence[SuiteResult] = (),
    without: Collection[str] = (),
) -> list[SuiteResult]:
    """Build the test program and run the suites of the modules, each in a process of its own.

    expression: run only suites with it in their name, and compile only the tests of their modules.
    many: also run the cases with thousands of random networks. before: results with another
    profile: the suites that took longest start first, so that no core is idle at the end. without:
    modules whose tests are neither compiled nor run. Returns one result per suite, ordered by name.
    Raises UserError if the build fails.
    """
    builds = _builds(profile, quiet, root, expression, without)
    found = {name: runner for info in builds for name, runner in list_suites(info).items()}
    left_out = {
        suite for name, own in suites_by_module(root).items() if name in without for suite in own
    }
    names = sorted(
        name for name in found if expression.lower() in name.lower() and name not in left_out
    )
    with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
        fullness = "TAKES_FOREVER" if many else FULLNESS.get(profile, "EXTENSIVE")
        done = {
            name: pool.submit(run_suite, found[name], name, fullness)
            for name in longest_first(names, before)
        }
        return [done[name].result() for name in names]


def run_suites(
    without: Mapping[str, Collection[str]], expression: str, many: bool = False
) -> Suites:
    """Run the suites with each profile in turn, longest first by the times of the previous one.

    without: for each profile the modules that are left out. expression, many: as in run_cpp_tests.
    Raises UserError if a build fails.
    """
    found: dict[str, list[SuiteResult]] = {}
    for profile, left_out in without.items():
        before = [result for results in found.values() for result in results]
        found[profile] = run_cpp_tests(
            profile, expression=expression, many=many, before=before, without=left_out
        )
    return found


def longest_first(names: Sequence[str], before: Sequence[SuiteResult]) -> list[str]:
    """Suites in starting order; those that have never run come first."""
    took = {result.name: result.seconds for result in before}
    return sorted(names, key=lambda name: took.get(name, math.inf), reverse=True)


def suites_by_module(root: Path | None = None) -> dict[str, list[str]]:
    """Return the suites of each module, as the sources of its tests name them."""
    modules = find_modules(Paths(root if root is not None else project_root()).modules)
    texts = {
        module.name: [path.read_text(encoding="utf-8") for path in files_of_tests([module])]
        for module in modules
    }
    return {name: _SUITE.findall("\n".join(found)) for name, found in texts.items()}


def modules_of(results: Sequence[SuiteResult]) -> dict[str, list[SuiteResult]]:
    """Return results by the module whose tests define them, whatever their names begin with."""
    found = {
        module: [one for one in results if one.name in suites]
        for module, suites in suites_by_module().items()
    }
    return {module: own for module, own in found.items() if own}


def _prefixes(modules: Collection[str]) -> tuple[str, ...]:
    """What the names of these modules' suites begin with."""
    return tuple(f"{module}-" for module in modules)


def _builds(
    profile: str, quiet: bool, root: Path | None, expression: str, without: Collection[str]
) -> list[BuildInfo]:
    """Build the test programs, and return the builds that have some.

    The suites of modules of $PYORCH_MODULE_PATH are in a separate program. Raises UserError if a
    build fails.
    """
    tested: list[str] = []
    if expression or without:
        wanted = expression.lower()
        suites = suites_by_module(root).items()
        tested = [
            name
            for name, own in suites
            if name not in without and any(wanted in one.lower() for one in own)
        ]
        if not tested:
            return []
    builds: list[BuildInfo] = []
    for outside in (False, True):
        info = ensure_built(profile, quiet, root=root, outside=outside)
        if info.folder in [build.folder for build in builds]:
            continue
        own = [name for name in tested if name in info.modules]
        own = [name for name in own if not any(name in build.modules for build in builds)]
        if not tested or own:
            info = ensure_built(profile, quiet, tests=True, tested=own, root=root, outside=outside)
        builds.append(info)
    return [info for info in builds if info.programs]


def list_suites(info: BuildInfo) -> dict[str, Path]:
    """Return the programs that contain our suites, by the suites' names ("MODULE-...").

    The build must have its tests. Raises UserError if a program does not even start.
    """
    prefixes = _prefixes(info.modules)
    suites: dict[str, Path] = {}
    for runner in runners_of(info):
        code, output = _run_program(runner, "--list")
        if code != 0:
            what = f"the C++ test program does not start:\n{output[-2000:]}"
            raise UserError([Problem(str(runner), what, None, None)])
        suites |= {name: runner for name in output.split() if name.startswith(prefixes)}
    return suites


def run_suite(runner: Path, name: str, fullness: str = "EXTENSIVE") -> SuiteResult:
    """Run one suite with its cases of a length, as ns-3 names them, and all shorter ones.

    Only TAKES_FOREVER may take minutes to hours.
    """
    began = time.monotonic()
    many = fullness == "TAKES_FOREVER"
    options = (f"--suite={name}", f"--fullness={fullness}", "--verbose")
    code, output = _run_program(runner, *options, timeout=MANY_TIMEOUT if many else SUITE_TIMEOUT)
    return SuiteResult(name, code == 0, time.monotonic() - began, output)


def _run_program(runner: Path, *options: str, timeout: int = SUITE_TIMEOUT) -> tuple[int, str]:
    """Run the test program in a temporary folder; return its exit code and output."""
    with tempfile.TemporaryDirectory(prefix="pyorch-test-") as folder:
        try:
            done = subprocess.run(
                [runner, *options, f"--tempdir={folder}"],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                cwd=folder,
                env={**_SANITIZER_OPTIONS, **os.environ},  # the user's own settings come last
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            printed = late.output.decode(errors="replace") if late.output else ""
            return -1, f"{printed}\nnot done after {timeout} s"
    return done.returncode, done.stdout


def runners_of(info: BuildInfo) -> list[Path]:
    """Return the programs of a build with suites. Raises ValueError if it has no tests."""
    if info.programs is None:
        raise ValueError("this build was asked for without its tests")
    return sorted(info.programs.glob(f"{TEST_RUNNER}*"))
