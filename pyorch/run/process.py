"""One run in a process of its own: python -m pyorch.run MANIFEST INDEX [--attempt FOLDER].

The same entry point serves every engine. It skips a run that is done, simulates into a folder
aside, and commits it by one rename. Exit codes: 0 the run is done, 1 an error, 2 refused because
its configuration is impossible, 3 its result is wrong, 4 the disk refused,
5 this machine cannot load the built modules.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pyorch.base.ends import no_core_files
from pyorch.base.errors import OwnCodeError, Problem, UserError, shown
from pyorch.base.files import RESULTS_HINT, STORAGE_ERRORS, opened, storage_error
from pyorch.base.fingerprint import short
from pyorch.base.paths import RunPaths, default_paths
from pyorch.engine import base
from pyorch.engine.base import RUN_DONE, RUN_ERROR, RUN_LEFT, RUN_REFUSED, RUN_STORAGE, RUN_WRONG
from pyorch.engine.log import NOTE
from pyorch.engine.manifest import read_run
from pyorch.engine.preflight import write_refusal
from pyorch.run.simulate import RefusedError, RunProblemsError, WrongResultError, set_up, simulate
from pyorch.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyorch.base.paths import RunPaths
    from pyorch.build.facade import SimulationClass
    from pyorch.build.info import BuildInfo
    from pyorch.engine.manifest import Manifest
    from pyorch.plan import RunSpec
    from pyorch.store.store import Store

_PR_SET_PDEATHSIG = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one line of a manifest and return the exit code."""
    # ns-3 gives Python no chance to run signal handlers, so signals must end the process at once
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    no_core_files()
    started = time.monotonic() - _age_s()

    try:
        import argparse

        parser = argparse.ArgumentParser(prog="python -m pyorch.run", description=__doc__)
        parser.add_argument("manifest", type=Path, help="the manifest of a batch")
        parser.add_argument("index", type=int, help="number of the run in it, from 0")
        parser.add_argument(
            "--attempt", type=Path, help="folder to write into, already there; default: a new one"
        )
        parsed = parser.parse_args(arguments)
        manifest_file, index, attempt = parsed.manifest, parsed.index, parsed.attempt
        return _run(manifest_file, index, attempt, started)
    except UserError as error:
        _say(error.render())
        return RUN_REFUSED


def _run(manifest_file: Path, index: int, given: Path | None, started: float) -> int:
    from pyorch.kinds import read_spec

    if given is not None:
        end_with_parent()
    manifest, spec = read_run(manifest_file, index, read_spec)
    return _do(manifest, spec, given, started)


def run_line(manifest: Manifest, line: str, attempt: Path, started: float) -> int:
    """Run a line of a manifest in this process, a fork of `pyorch.run.serve`; return the exit code.

    started: when the run began, on the monotonic clock [s].
    """
    from pyorch.kinds import read_spec

    end_with_parent(os.getppid())
    end_with_exit()
    return _do(manifest, manifest.complete(read_spec(line)), attempt, started)


def check_line(manifest: Manifest, line: str, attempt: Path) -> int:
    """Build the network of a line of a manifest, as `run_line` does, and return the exit code.

    If modules refuse it, the folder of the attempt has their reasons.
    """
    from pyorch.build.loadable import LoadError
    from pyorch.kinds import read_spec

    end_with_parent(os.getppid())
    end_with_exit()
    try:
        spec = read_spec(line)
        set_up(load_class(manifest)(spec.seed), spec, manifest.threads)
        return RUN_DONE
    except RefusedError as error:
        problems = [Problem("", problem) for problem in error.problems]
    except (LoadError, OwnCodeError):  # not the fault of its settings
        raise
    except UserError as error:
        problems = [*error.problems]
    write_refusal(RunPaths(attempt), problems)
    return RUN_REFUSED


def _do(manifest: Manifest, spec: RunSpec, given: Path | None, started: float) -> int:

    run_hash = spec.hash(manifest.fingerprint)
    store = Store(default_paths(), spec.setting.experiment)
    if store.is_done(run_hash):
        return RUN_DONE
    attempt = RunPaths(given) if given is not None else store.begin(run_hash)
    code = _attempt(manifest, spec, store, attempt, started)
    if code != RUN_DONE and given is None:
        kept = store.fail(attempt.folder, run_hash)
        _say(f"its files are in {kept.folder}")
    return code


def _attempt(
    manifest: Manifest, spec: RunSpec, store: Store, attempt: RunPaths, started: float
) -> int:
    """Simulate into the folder of an attempt and commit it; explain in the log what went wrong."""
    from pyorch.build.loadable import LoadError

    try:
        with opened(attempt.spec, "w") as file:
            file.write(spec.to_json() + "\n")
        _simulate(manifest, spec, attempt, started)
        fingerprint = manifest.fingerprint
        store.commit(attempt.folder, spec.hash(fingerprint), fingerprint)
        return RUN_DONE
    except RunProblemsError as error:
        _say(error.render())
        codes = {RefusedError: RUN_REFUSED, WrongResultError: RUN_WRONG}
        return codes.get(type(error), RUN_ERROR)
    except UserError as error:
        _say(error.render())
        if isinstance(error, OwnCodeError):
            return RUN_ERROR
        return base.RUN_UNFIT if isinstance(error, LoadError) else RUN_REFUSED
    except OSError as error:
        if error.errno not in STORAGE_ERRORS:
            raise
        _say(storage_error(error, attempt.folder, RESULTS_HINT).render())
        return RUN_STORAGE
    except Exception:  # a defect: the traceback is for whoever mends it
        import traceback

        _say(traceback.format_exc())
        return RUN_ERROR


def _simulate(manifest: Manifest, spec: RunSpec, attempt: RunPaths, started: float) -> None:
    """Load the build and simulate; what depends on the machine goes to the log."""
    log = _Log(attempt, manifest, spec)
    try:
        simulation_class = load_class(manifest)
        log.note("startup_s", f"{time.monotonic() - started:.3f}")
        cpu, wall = time.process_time(), time.monotonic()
        phases = simulate(spec, simulation_class, attempt)
        log.note("simulate_cpu_s", f"{time.process_time() - cpu:.3f}")
        log.note("simulate_wall_s", f"{time.monotonic() - wall:.3f}")
        for name, seconds in phases.items():
            log.note(f"{name}_cpu_s", f"{seconds:.3f}")
    finally:
        log.close(started)


def load_build(manifest: Manifest) -> BuildInfo:
    """The build that the manifest was written for. Raises LoadError when it is gone."""
    from pyorch.build.info import read_build
    from pyorch.build.loadable import LoadError

    hint = "start the experiment again: it builds first, then runs what is missing"
    try:
        info = read_build(manifest.build)
    except (OSError, ValueError, KeyError) as error:
        what = "the build that these runs started with was deleted or damaged"
        raise LoadError([Problem(str(manifest.build), what, None, hint)]) from error
    if info.fingerprint != manifest.fingerprint:
        wanted = short(manifest.fingerprint)[:12]
        what = f"this build is not the one that these runs started with ({wanted})"
        raise LoadError([Problem(str(manifest.build), what, None, hint)])
    return info


@functools.cache
def load_class(manifest: Manifest) -> SimulationClass:
    """The class that simulates, loaded once: its forks do not need the files any more."""
    from pyorch.run.ns3 import end_by_signals, load_simulation, report_crashes

    end_by_signals()
    simulation_class = load_simulation(load_build(manifest))
    report_crashes()
    return simulation_class


@functools.cache
def versions() -> str:
    """What a result depends on beside the modules, for the log."""
    import platform
    from importlib.metadata import version

    packages = [f"{package} {version(package)}" for package in ("ns3", "cppyy", "numpy", "pyarrow")]
    return ", ".join([f"Python {platform.python_version()}", *packages])


class _Log:
    """Lines "# name: value" about the machine and the time, in log.txt."""

    def __init__(self, attempt: RunPaths, manifest: Manifest, spec: RunSpec) -> None:
        import platform
        import socket

        self._file = opened(attempt.log, "a")
        self.note("experiment", spec.setting.experiment)
        self.note("hash", spec.hash(manifest.fingerprint))
        self.note("fingerprint", short(manifest.fingerprint))
        self.note("host", f"{socket.gethostname()} ({platform.machine()}), pid {os.getpid()}")
        self.note("versions", versions())
        self.note("started", time.strftime("%Y-%m-%d %H:%M:%S %z"))

    def note(self, name: str, value: str) -> None:
        """Write one line, at once, so that a crash leaves it."""
        self._file.write(f"{NOTE}{name}: {value}\n")
        self._file.flush()

    def close(self, started: float) -> None:
        """Note the totals and close the file."""
        import resource

        peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.note("wall_s", f"{time.monotonic() - started:.3f}")
        self.note("peak_rss_mib", f"{peak_kib / 1024:.1f}")
        self._file.close()


def _age_s() -> float:
    """How long this process has lived before Python reached this line [s]; Linux only."""
    try:
        fields = Path("/proc/self/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        began = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - began)
    except (OSError, ValueError, IndexError):
        return 0.0


def end_with_parent(parent: int | None = None) -> None:
    """Have Linux end this process when its parent dies, even by SIGKILL: nobody would watch it.

    parent: its process id; by default what the engine wrote into the environment, if it did.
    """
    import ctypes

    if parent is None:
        parent = int(os.environ.get("PYORCH_PARENT", "0"))
    if parent == 0:
        return
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent:  # it died before we asked
        os.kill(os.getpid(), signal.SIGKILL)


def end_with_exit() -> None:
    """Have a call of exit() in C++ end this process at once, with a code of its own.

    Otherwise it would destroy what a simulation uses and crash, or end as a run that is done. From
    here on the process must end by `os._exit`.
    """
    import ctypes

    library = ctypes.CDLL(None)
    # the last one is called first: what was printed reaches the log
    for function, argument in ((library._exit, RUN_LEFT), (library.fflush, None)):
        library.__cxa_atexit(function, ctypes.c_void_p(argument), None)


def _say(text: str) -> None:

    sys.stderr.write(shown(text.rstrip()) + "\n")
    sys.stderr.flush()


def run_program() -> NoReturn:
    """Be the program: as `main`, and end by `os._exit`."""
    code = 1
    try:
        end_with_exit()
        code = main()
    except SystemExit as error:  # of the parser, which has said why
        code = error.code if isinstance(error.code, int) else code
    except BaseException:
        import traceback

        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
