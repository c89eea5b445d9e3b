"""Loading ns-3 and the built modules into Python."""

import shutil
import sys
import textwrap
from pathlib import Path

import pytest

from pyorch.build import BuildInfo, ensure_built
from pyorch.run.ns3 import load_simulation
from tests.forks import cpu_of_children
from tests.inputs import called

pytestmark = pytest.mark.cpp

MODULES = Path(__file__).parents[1] / "data" / "modules"


@pytest.fixture(scope="module")
def info(tmp_path_factory: pytest.TempPathFactory) -> BuildInfo:
    """Two small modules, built."""
    root = tmp_path_factory.mktemp("ns3")
    shutil.copytree(MODULES, root / "ns3-modules")
    return ensure_built(quiet=True, root=root)


def run(info: BuildInfo, code: str) -> list[str]:
    """Run code in a fresh process that knows `info`; return the lines it prints."""
    start = (
        "import sys, pathlib\n"
        "from pyorch.build import read_build\n"
        "info = read_build(pathlib.Path(sys.argv[1]))\n"
    )
    command = [sys.executable, "-c", start + textwrap.dedent(code), str(info.folder)]
    done = called(command)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_simulation_works(info: BuildInfo) -> None:
    """The class Simulation calls into both modules and ns-3's core, without a word on stderr."""
    assert run(
        info,
        """
        from pyorch.run.ns3 import load_simulation
        simulation = load_simulation(info)
        print(simulation.__cpp_name__, simulation(5).Count())
        print("ns" in sys.modules)
        """,
    ) == ["ns3::facade::Simulation 6", "False"]


def test_a_process_is_ready_within_a_second(info: BuildInfo) -> None:
    """From the start of Python to the first call into C++ and its end: a second of CPU."""
    durations = []
    for _ in range(3):
        before = cpu_of_children()
        run(info, "from pyorch.run.ns3 import load_simulation; load_simulation(info)(1).Count()")
        durations.append(cpu_of_children() - before)
    assert min(durations) < 1


def test_all_of_the_modules(info: BuildInfo) -> None:
    """In a notebook, objects are made by type, attributes set, and times compared by value."""
    assert run(
        info,
        """
        from pyorch.run.ns3 import load_all
        ns = load_all(info)
        counter = ns.CreateObject["ns3::demo::Counter"]()
        counter.SetAttribute("Step", ns.UintegerValue(5))
        print(counter.Next(), counter.Next())
        one, two = ns.Seconds(1), ns.Seconds(2)
        print(one < two, one <= one, one > two, one >= two, one == ns.Seconds(1), one != two)
        print(ns.Simulator.Now().GetSeconds(), ns.CreateObject["ns3::Node"]().GetId())
        """,
    ) == ["5 10", "True True False False True True", "0.0 0"]


def test_further_modules_of_ns3(info: BuildInfo) -> None:
    """A notebook may ask for more modules of ns-3; a name that there is not is said before."""
    assert run(
        info,
        """
        from pyorch.base.errors import UserError
        from pyorch.run.ns3 import load_all
        try:
            load_all(info, ("traffic-controll",))
        except UserError as error:
            problem = error.problems[0]
            print(problem.where, problem.what, "traffic-control" in problem.allowed)
        ns = load_all(info, ("traffic-control",))
        print(ns.FifoQueueDisc.GetTypeId().GetName())
        """,
    ) == ["traffic-controll ns-3 has no such module True", "ns3::FifoQueueDisc"]


def test_sanitized_libraries_are_refused(info: BuildInfo) -> None:
    """Loading libraries of the sanitize profile would end the process: it is refused before."""
    sanitized = BuildInfo(
        info.folder, info.libraries, info.include_dirs, info.modules, "f", profile="sanitize"
    )
    with pytest.raises(ValueError, match="for the C\\+\\+ test program, not for Python"):
        load_simulation(sanitized)
