"""Run the C++ example programs that speed is measured with, and count their instructions.

CPU time depends on the machine and its other load; so the bare event loop of ns-3 is measured as
well, and instructions are counted by valgrind's callgrind, which gives the same number every time.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.base.errors import Problem, UserError
from pyorch.setting.canonical import Setting, encode

if TYPE_CHECKING:
    from pyorch.build import BuildInfo
    from pyorch.pipeline import Plan

PERMUTATION = "facade-permutation"
EVENT_RATE = "eventloop-rate"

#: The yardstick: ns-3's own loop and its fastest scheduler, with 1000 events pending.
YARDSTICK = (
    "--simulator=ns3::DefaultSimulatorImpl",
    "--scheduler=ns3::PriorityQueueScheduler",
    "--pending=1000",
    "--events=10000000",
)

#: Maximum number of data packet-hops simulated when instructions are counted.
COUNTED_HOPS = 100_000

#: Maximum number of hosts for that: setting up more takes minutes under valgrind.
COUNTED_HOSTS = 2000

_COLLECTED = re.compile(r"Collected : (\d+)")
_SIMULATED = "ns3::facade::Simulation::Run(long)"
_CALLGRIND = ("valgrind", "--tool=callgrind", f"--toggle-collect={_SIMULATED}")


@dataclass(frozen=True)
class Workload:
    """A permutation on a fat-tree of `k` ports a switch; every host sends `size` bytes.

    delay: of each link, in ns-3's spelling.
    """

    name: str
    k: int
    size: int
    delay: str = "1us"

    @property
    def hosts(self) -> int:
        """Hosts of the fat-tree."""
        return self.k**3 // 4

    def options(self, size: int | None = None) -> list[str]:
        """Return the options of the program, optionally for another size of message [B]."""
        bytes_each = self.size if size is None else size
        return [f"--k={self.k}", f"--size={bytes_each}", f"--delay={self.delay}"]

    @property
    def counted_size(self) -> int:
        """Size of a message when instructions are counted: whole packets of 1000 B, few hops."""
        packets = max(COUNTED_HOPS // (6 * self.hosts), 1)
        return min(self.size, 1000 * packets)


def workload_of(name: str, setting: Setting) -> Workload:
    """Read the workload from a setting, so that it is described in one place, its file."""
    form = encode(setting)
    (traffic,) = form["traffic"]
    topology = form["topology"]
    return Workload(name, topology["k"], traffic["size_bytes"], f"{topology['delay_ps']}ps")


@dataclass(frozen=True)
class Simulated:
    """One run of the permutation program."""

    data_hops: int
    events: int
    run_cpu_s: float
    run_wall_s: float
    setup_cpu_s: float
    peak_rss_mib: float
    simulated_us: float

    @property
    def hops_per_s(self) -> float:
        """Data packet-hops per CPU-second."""
        return self.data_hops / self.run_cpu_s


def run_permutation(build: BuildInfo, workload: Workload, *more: str) -> Simulated:
    """Run the program once. Raises UserError when it fails."""
    found = _values(_run(build, PERMUTATION, [*workload.options(), *more]))
    return Simulated(
        data_hops=int(found["data_hops"]),
        events=int(found["events"]),
        run_cpu_s=found["run_cpu_s"],
        run_wall_s=found["run_wall_s"],
        setup_cpu_s=found["setup_cpu_s"],
        peak_rss_mib=found["peak_rss_mib"],
        simulated_us=found["simulated_us"],
    )


def bare_events_per_s(build: BuildInfo) -> float:
    """Return events per CPU-second of ns-3's bare event loop. Raises UserError when it fails."""
    return _values(_run(build, EVENT_RATE, YARDSTICK))["events_per_cpu_s"]


def has_valgrind() -> bool:
    """Return whether instructions can be counted."""
    return shutil.which("valgrind") is not None


def tell_whether_counted() -> bool:
    """Return whether instructions can be counted, and print why not."""
    found = has_valgrind()
    if not found:
        print("instructions are not counted: there is no valgrind (Debian's package valgrind)")
    return found


def instructions_per_hop(build: BuildInfo, workload: Workload, *more: str) -> float:
    """Count the instructions of Simulation::Run per data packet-hop, its ACK's hop included.

    Raises UserError when the program fails.
    """
    with tempfile.TemporaryDirectory(prefix="pyorch-bench-") as folder:
        tool = [*_CALLGRIND, f"--callgrind-out-file={folder}/callgrind.out"]
        options = [*workload.options(workload.counted_size), *more]
        output = _run(build, PERMUTATION, options, tool)
    return _counted(output) / _values(output)["data_hops"]


def _counted(output: str) -> int:
    collected = _COLLECTED.search(output)
    if collected is None:
        raise UserError([Problem("valgrind", f"it counted nothing:\n{output[-1000:]}", None, None)])
    return int(collected[1])


def instructions_of(plan: Plan) -> float:
    """Count the instructions of Simulation::Run per data packet-hop of a plan's only run.

    Python and the modules load under valgrind first, which takes a minute. Raises UserError when
    the run fails.
    """
    (spec,) = plan.specs
    with tempfile.TemporaryDirectory(prefix="pyorch-bench-") as folder:
        tool = [*_CALLGRIND, f"--callgrind-out-file={folder}/callgrind.out"]
        file = Path(folder) / "spec.json"
        file.write_text(spec.to_json(), encoding="utf-8")
        command = [
            *tool,
            sys.executable,
            "-m",
            "tools.bench.once",
            str(plan.build.folder),
            str(file),
        ]
        output = _output(command, "the run under valgrind")
    return _counted(output) / _values(output)["data_hops"]


def _run(build: BuildInfo, program: str, options: Sequence[str], tool: Sequence[str] = ()) -> str:
    if build.programs is None:
        raise ValueError("this build was asked for without its programs")
    command = [*tool, str(build.programs / program), *options]
    return _output(command, f"{program} {' '.join(options)}")


def _output(command: Sequence[str], shown: str) -> str:
    """What a command prints. Raises UserError when it fails."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        what = f"exit code {done.returncode}:\n{done.stdout[-2000:]}"
        raise UserError([Problem(shown, what, None, None)])
    return done.stdout


def _values(output: str) -> dict[str, float]:
    """Read lines with a name and a number; other lines are ignored."""
    found = {}
    for line in output.splitlines():
        words = line.split()
        if len(words) == 2:
            try:
                found[words[0]] = float(words[1])
            except ValueError:
                continue
    return found
