"""Check that this machine can load a build, where runs are to be simulated, before they start."""

import ctypes
import os
import platform
import signal
import struct
import subprocess
import sys
from pathlib import Path

from pyorch.base.errors import Problem, UserError
from pyorch.base.paths import program, python_path
from pyorch.build.info import BuildInfo, read_build

#: Machines by their number in an ELF header, as `uname -m` names them.
MACHINES = {3: "i686", 21: "ppc64le", 22: "s390x", 40: "armv7l", 62: "x86_64", 183: "aarch64"}
MACHINES |= {243: "riscv64", 258: "loongarch64"}

_HINT = (
    "submit from a machine like this one, exclude such nodes by sbatch's --constraint, "
    "or compile there: --build-on-node"
)
PATIENCE_S = 120


class LoadError(UserError):
    """This machine cannot load the built modules."""


def check_loadable(info: BuildInfo) -> None:
    """Check that this machine can load the libraries of a build.

    Raises LoadError that says which library it cannot load, and why: missing, made for another CPU,
    or linked with a missing library.
    """
    for library in info.libraries:
        _check_header(library)
    command = [*program("pyorch.build.loadable"), str(info.folder)]
    environment = {**os.environ, "PYTHONPATH": python_path()}
    try:
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _error(info.folder, f"its libraries did not load within {PATIENCE_S} s") from error
    if done.returncode == 0:
        return
    said = done.stderr.strip().splitlines()
    if done.returncode == -signal.SIGILL:
        what = f"made for another CPU: this one ({cpu_model()}) lacks some of its instructions"
    elif done.returncode < 0:
        what = f"loading its libraries ended with {signal.Signals(-done.returncode).name}"
    else:
        what = said[-1] if said else f"its libraries do not load (exit code {done.returncode})"
    raise _error(info.folder, what)


def _check_header(library: Path) -> None:
    """Check, by the first bytes of a library, that it was made for this machine."""
    try:
        with library.open("rb") as file:
            head = file.read(20)
    except OSError as error:
        raise _error(library, f"cannot be read: {error.strerror}") from error
    if len(head) < 20 or head[:4] != b"\x7fELF":
        raise _error(library, "is not a shared library")
    (number,) = struct.unpack("<H" if head[5] == 1 else ">H", head[18:20])
    made_for, here = MACHINES.get(number, f"machine {number}"), platform.machine()
    if made_for != here:
        raise _error(library, f"made for another CPU: {made_for}, and this machine is {here}")


def cpu_model() -> str:
    """The name of this machine's CPU."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())


def _error(where: Path, what: str) -> LoadError:
    return LoadError([Problem(str(where), what, None, _HINT)])


def main(arguments: list[str]) -> int:
    """Load the libraries of a build; if one does not load, print the loader's message."""
    for library in read_build(Path(arguments[0])).libraries:
        try:
            ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
