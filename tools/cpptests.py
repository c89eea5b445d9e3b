"""Run the C++ test suites of the modules."""

import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pyorch.build.builder import ensure_built
from pyorch.build.info import BuildInfo
from pyorch.errors import Problem, UserError

# ns-3's singletons live until the process ends, but stay reachable, and so count as no leaks.
_SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}

#: Seconds after which a suite counts as hung; with thousands of random networks.
SUITE_TIMEOUT = 600
MANY_TIMEOUT = 7200


@dataclass(frozen=True)
class SuiteResult:
    """How one suite went; `output` is all it printed, `seconds` wall time."""

    name: str
    passed: bool
    seconds: float
    output: str


def run_cpp_tests(
    profile: str = "release",
    quiet: bool = False,
    *,
    suites: Sequence[str] | None = None,
    root: Path | None = None,
    many: bool = False,
) -> list[SuiteResult]:
    """Build the test program and run all suites of the modules, or the given ones.

    many: also the cases of thousands of random networks. Each suite runs in a process of its own.
    Returns one result a suite, in the order of their names. Raises UserError when the build fails.
    """
    found = find_suites(profile, quiet, root=root)
    names = sorted(found) if suites is None else [name for name in suites if name in found]
    with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(lambda name: run_suite(found[name], name, many), names))


def find_suites(
    profile: str = "release", quiet: bool = False, *, root: Path | None = None
) -> dict[str, BuildInfo]:
    """Build the test programs, and return every suite with the build whose program has it.

    The suites of modules of $PYORCH_MODULE_PATH are in a program of their own. Raises UserError
    when a build fails.
    """
    builds = [ensure_built(profile, quiet, tests=True, root=root, outside=False)]
    whole = ensure_built(profile, quiet, tests=True, root=root)
    builds += [whole] if whole.folder != builds[0].folder else []
    return {name: info for info in builds for name in list_suites(info)}


def list_suites(info: BuildInfo) -> list[str]:
    """Return the names of our suites ("<module>-..."), sorted. The build must have its tests.

    Raises UserError when the test program does not even start.
    """
    code, output = _run_program(info, "--list")
    if code != 0:
        what = f"the C++ test program does not start:\n{output[-2000:]}"
        raise UserError([Problem(str(runner_of(info)), what, None, None)])
    prefixes = tuple(f"{module}-" for module in info.modules)
    return sorted(name for name in output.split() if name.startswith(prefixes))


def run_suite(info: BuildInfo, name: str, many: bool = False) -> SuiteResult:
    """Run one suite with all its cases, also those that ns-3 skips by default for their length.

    many: and those that take minutes to hours.
    """
    began = time.monotonic()
    fullness = "TAKES_FOREVER" if many else "EXTENSIVE"
    options = (f"--suite={name}", f"--fullness={fullness}", "--verbose")
    code, output = _run_program(info, *options, timeout=MANY_TIMEOUT if many else SUITE_TIMEOUT)
    return SuiteResult(name, code == 0, time.monotonic() - began, output)


def _run_program(info: BuildInfo, *options: str, timeout: int = SUITE_TIMEOUT) -> tuple[int, str]:
    """Run the test program in a folder that goes away; return its exit code and output."""
    with tempfile.TemporaryDirectory(prefix="pyorch-test-") as folder:
        try:
            done = subprocess.run(
                [runner_of(info), *options, f"--tempdir={folder}"],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                cwd=folder,
                env={**_SANITIZER_OPTIONS, **os.environ},  # what a person has set comes last
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            printed = late.output.decode(errors="replace") if late.output else ""
            return -1, f"{printed}\nnot done after {timeout} s"
    return done.returncode, done.stdout


def runner_of(info: BuildInfo) -> Path:
    """Return the path of the program that holds the suites of all modules."""
    if info.programs is None:
        raise ValueError("this build was asked for without its tests")
    return info.programs / "test-runner"
