"""Runs of a C++ module that does what no module may do, by the real command."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.campaign import mutate
from tests.campaign.cases import Case
from tests.campaign.judge import verdict
from tests.campaign.sandbox import Outcome

MODULE = Path(__file__).parent / "misbehave"
WALL_S = 240.0
"""Time that a sweep may take on a loaded machine [s]; each of its runs has TIME_LIMIT."""
TIME_LIMIT = "5s"
HARMLESS = ("nothing", "escapes", "flood")
"""Deeds after which a run goes on to its end."""
DEEDS = (
    *("loop", "sleep", "livelock", "exit-0", "exit-3", "quick-exit-0", "abort", "fatal"),
    *("throw-text", "throw-number", "null-pointer", "recurse", "kill", "terminate", "interrupt"),
    *("kill-parent", "close-files", "no-memory", "escapes", "flood", "stop"),
)
MOMENTS = ("start", "frame", "report")
_STUDY = """
title = "A module that misbehaves"
flow_control = ["pfc"]
forwarding = "misbehave"
run = {{ duration = "50us", seeds = 2, time_limit = "{limit}" }}
traffic = [{{ kind = "greedy", src = ["h0", "h1"], dst = "h2" }}]
[misbehave]
moment = "{moment}"
after = {after}
[sweep]
"misbehave.deed" = {deeds}
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
rate = "10Gbps"
delay = "1us"
"""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@dataclass(frozen=True)
class Sweep:
    """A sweep over deeds, the first of which is nothing. moment: when they are done."""

    deeds: tuple[str, ...]
    moment: str
    text: str
    jobs: int

    @property
    def about(self) -> str:
        """What it is, in a few words."""
        return f"{', '.join(self.deeds)} at {self.moment}, {self.jobs} jobs"


def make(seed: int, number: int) -> Sweep:
    """Return the sweep of a number: each deed comes after as many numbers as there are deeds."""
    rng = mutate.generator("module", seed, number)
    deeds = ("nothing", DEEDS[number % len(DEEDS)], *rng.sample(DEEDS, rng.choice([0, 0, 1])))
    deeds = tuple(dict.fromkeys(deeds))
    moment = rng.choice(MOMENTS)
    text = _STUDY.format(
        limit=TIME_LIMIT, moment=moment, after=rng.choice([0, 1, 20]), deeds=list(deeds)
    ).replace("'", '"')
    return Sweep(deeds, moment, text, rng.choice([1, 2, 3]))


@contextlib.contextmanager
def building() -> Iterator[dict[str, str]]:
    """Compile the module, once, and yield the environment of commands that find it."""
    from pyorch.base.paths import project_root

    with tempfile.TemporaryDirectory(prefix="misbehave-") as folder:
        modules = Path(folder) / "modules"
        shutil.copytree(MODULE, modules / MODULE.name)
        modules.chmod(0o755)
        environment = os.environ | {
            "PYTHONPATH": str(project_root()),
            "PYORCH_MODULE_PATH": str(modules),
            "COLUMNS": "100",
        }
        subprocess.run(
            [sys.executable, "-m", "pyorch", "build"],
            env=environment,
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        yield environment


def run(sweep: Sweep, environment: dict[str, str], folder: Path) -> tuple[Outcome, str]:
    """Run a sweep by the command in an empty folder; return its outcome and what is wrong."""
    (folder / "pyorch.toml").touch()
    (folder / "misbehave.toml").write_text(sweep.text, encoding="utf-8")
    out, err = folder / "stdout", folder / "stderr"
    words = ["run", "misbehave.toml", "--jobs", str(sweep.jobs)]
    began = time.monotonic()
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "pyorch", *words],
            env=environment | {"PYORCH_RESULTS": str(folder / "results")},
            cwd=folder,
            stdout=stdout,
            stderr=stderr,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            code = process.wait(WALL_S)
            timed_out = False
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            code, timed_out = process.wait(), True
    took = time.monotonic() - began
    texts = [file.read_text(encoding="utf-8", errors="backslashreplace") for file in (out, err)]
    outcome = Outcome(code, *texts, 0.0, took, timed_out)
    return outcome, _wrong(sweep, outcome, folder / "results")


def _wrong(sweep: Sweep, outcome: Outcome, results: Path) -> str:
    """Return what is wrong with an outcome; "" when nothing is."""
    case = Case("modules that misbehave", sweep.about, {}, names=("misbehave", "module", "run"))
    if wrong := verdict(case, outcome):
        return wrong
    if _CONTROL.search(outcome.stdout + outcome.stderr):
        return "control characters reach the terminal"
    good = all(deed in HARMLESS for deed in sweep.deeds)
    if good != (outcome.code == 0) and "stop" not in sweep.deeds:
        return f"exit code {outcome.code}"
    finished = list(results.glob("*/runs/*/summary.json"))
    expected = 2 * sum(deed in HARMLESS for deed in sweep.deeds)
    if outcome.code != 2 and len(finished) < expected:
        return f"{len(finished)} runs have a result, {expected} did nothing wrong"
    return ""
