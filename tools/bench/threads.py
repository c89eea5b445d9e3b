"""`invoke bench --threads`: how much sooner one run ends with several threads, in pairs.

Each round runs a permutation with one thread and with several, one right after the other, and
compares wall times. Only a quiet machine with that many cores can tell.
"""

from __future__ import annotations

from statistics import median

from pyorch.build import BuildInfo, ensure_built
from pyorch.cli.base import OK, command, whole_number
from pyorch.engine.cores import usable_cores
from tools.bench import programs
from tools.bench.command import REPEATS
from tools.bench.programs import Workload

SIZES = {4: 20_000_000, 8: 4_000_000, 16: 600_000, 32: 60_000}
"""k of a permutation, and the payload of each message [B]: some two million hops."""

DELAYS = ("100ns", "1us")


@command
def threads(repeats: str = "") -> int:
    """Measure permutations with 1, 2, 4, ... threads, as many as there are cores, and print.

    Raises UserError when a run fails.
    """
    times = whole_number("--repeats", repeats) or REPEATS
    build = ensure_built(tests=True, outside=False)
    counts = [2**n for n in range(1, usable_cores().bit_length()) if 2**n <= usable_cores()]
    print(f"{'':<24}{'threads':>8}{'of one':>8}  range")
    for delay in DELAYS:
        for k, size in SIZES.items():
            workload = Workload(f"k = {k}, links of {delay}", k, size, delay)
            for count in counts:
                found = sorted(_ratio(build, workload, count) for _ in range(times))
                spread = f"{found[0]:.2f} to {found[-1]:.2f}"
                print(f"{workload.name:<24}{count:>8}{median(found):>8.2f}  {spread}", flush=True)
    return OK


def _ratio(build: BuildInfo, workload: Workload, count: int) -> float:
    """Wall time of the run with one thread over that with several."""
    one, many = (
        programs.run_permutation(build, workload, "--buffer=67108864", f"--threads={number}")
        for number in (1, count)
    )
    return one.run_wall_s / many.run_wall_s
