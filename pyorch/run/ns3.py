"""Load ns-3 and the built modules into this process through cppyy.

The wheel's own `from ns import ns` parses every header of ns-3 (8 s, 600 MB) and looks for
libraries in the current folder and all of PATH. Here libraries are named, only those needed are
loaded, and they come before the headers: the other way round cppyy 3.5 fails to materialise ns-3's
static initialisers (wlav/cppyy issue 156).
"""

import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyorch.base.errors import refusal
from pyorch.build.info import BuildInfo, read_build
from pyorch.build.loadable import check_loadable
from pyorch.build.schema import FACADE_HEADER, FACADE_NAMESPACE
from pyorch.build.wheel import TARGETS

if TYPE_CHECKING:
    from pyorch.build.facade import SimulationClass

#: The signals of a crash, which ReportCrashes of the facade handles.
CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT)

#: Modules of ns-3 that `load_all` brings beside ours, in load order.
NS3_MODULES = ("core", "network")


def load_simulation(info: "BuildInfo") -> "SimulationClass":
    """Return the C++ class ns3::facade::Simulation, ready within a second of the process's start.

    Loads the built modules with what they link, and parses one header without any of ns-3's.
    Raises LoadError when a library does not load, ImportError when the header does not parse,
    AttributeError when it has no such class, ValueError for a sanitize build.
    """
    cppyy = _load_libraries(info)
    cppyy.include(f"ns3/{FACADE_HEADER}")
    simulation: SimulationClass = getattr(cppyy.gbl.ns3, FACADE_NAMESPACE).Simulation
    return simulation


def end_by_signals() -> None:
    """Have a crash end this process by its signal, at once. Before load_simulation.

    The handlers that cppyy brings hang when the crash lies within malloc(), and leave with codes
    of their own.
    """
    import cppyy  # noqa: F401  (what is set before, it replaces)

    for number in CRASHES:
        signal.signal(number, signal.SIG_DFL)


def report_crashes() -> None:
    """Have a crash print where it happened, and then end this process. After load_simulation."""
    import cppyy

    cppyy.include("ns3/facade-crash-report.h")
    getattr(cppyy.gbl.ns3, FACADE_NAMESPACE).ReportCrashes()


def load_all(info: "BuildInfo", more: Sequence[str] = ()) -> Any:
    """Return the cppyy namespace ns3 with core, network and all built modules, for notebooks.

    `more` names further modules of ns-3, such as "internet" and "applications". Takes a second or
    two, and some more for these. Beside loading, it teaches cppyy what the wheel's own bindings
    do: that Ptr is a smart pointer and how to compare Time. `pyorch.run.callbacks.connect` calls
    Python functions from trace sources. Raises as `load_simulation` does, and UserError when ns-3
    has no such module. Call it once in a process.
    """
    libraries = [_library_of_ns3(info, name) for name in more]
    cppyy = _load_libraries(info)
    for library in libraries:
        cppyy.load_library(str(library))
    import libcppyy

    libcppyy.AddSmartPtrType("Ptr")
    cppyy.add_include_path(str(info.include_dirs[-1]))
    _define_like_the_wheel(cppyy, info)
    for module in (*NS3_MODULES, *more, *info.modules):
        cppyy.include(f"ns3/{module}-module.h")
    _compare_times(cppyy)
    cppyy.gbl.std.string.__repr__ = lambda text: repr(str(text))  # 'flow', not b'flow'
    return cppyy.gbl.ns3


def _library_of_ns3(info: "BuildInfo", module: str) -> Path:
    found = sorted(info.ns3_libraries.glob(f"libns*-{module}.so"))
    if not found:
        names = sorted(
            file.stem.split("-", 1)[1] for file in info.ns3_libraries.glob("libns*-*.so")
        )
        raise refusal(module, "ns-3 has no such module", ", ".join(names), "correct the name")
    return found[0]


def _load_libraries(info: "BuildInfo") -> Any:
    if info.profile == "sanitize":
        raise ValueError("a sanitize build is for the C++ test program, not for Python")
    import cppyy

    for folder in reversed(info.include_dirs):  # cppyy puts each in front of those before
        cppyy.add_include_path(str(folder))
    for library in info.libraries:
        try:
            cppyy.load_library(str(library))  # its RUNPATH finds those of the wheel that it links
        except RuntimeError:
            check_loadable(info)  # says what cppyy does not: why
            raise
    return cppyy


def _define_like_the_wheel(cppyy: Any, info: "BuildInfo") -> None:
    """Define the macros the libraries were compiled with: NS_LOG and NS_ASSERT need them."""
    targets = info.folder / TARGETS
    marker = "INTERFACE_COMPILE_DEFINITIONS [["
    lines = targets.read_text(encoding="utf-8").splitlines()
    texts = [line.split(marker)[1].removesuffix("]]") for line in lines if marker in line]
    for name in sorted({name for text in texts for name in text.split(";") if name}):
        cppyy.cppdef(f"#ifndef {name.split('=')[0]}\n#define {name.replace('=', ' ', 1)}\n#endif")


def _compare_times(cppyy: Any) -> None:
    cppyy.cppdef(
        """
        namespace pyorch_time {
        inline int Compare(const ns3::Time& a, const ns3::Time& b)
        {
            return a < b ? -1 : (b < a ? 1 : 0);
        }
        }
        """
    )
    compare = cppyy.gbl.pyorch_time.Compare
    time = cppyy.gbl.ns3.Time
    time.__lt__ = lambda a, b: compare(a, b) < 0
    time.__le__ = lambda a, b: compare(a, b) <= 0
    time.__gt__ = lambda a, b: compare(a, b) > 0
    time.__ge__ = lambda a, b: compare(a, b) >= 0
    time.__eq__ = lambda a, b: compare(a, b) == 0
    time.__ne__ = lambda a, b: compare(a, b) != 0


def main(arguments: list[str]) -> int:
    """Print the schema of the build in a folder; pyorch.build.schema runs this on its own."""
    info = read_build(Path(arguments[0]))
    sys.stdout.write(str(load_simulation(info).Describe(",".join(info.modules))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
