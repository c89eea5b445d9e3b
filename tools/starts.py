"""What a command may load before it does anything: the budget of its start, in modules.

`invoke lint` counts them, because seconds mean nothing on a busy machine. A module that is not
needed at the start is imported inside the function that needs it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

HEAVY = frozenset({"IPython", "PIL", "cppyy", "fontTools", "invoke", "jinja2", "matplotlib"})
HEAVY |= {"networkx", "numpy", "pandas", "plotly", "pyarrow", "pydantic", "scipy", "seaborn"}
"""Packages that take from 20 ms to half a second to load."""


@dataclass(frozen=True)
class Budget:
    """What a Python program may load: packages of HEAVY, and a number of modules of pyorch."""

    words: Sequence[str]
    packages: frozenset[str]
    most: int

    def exceeded(self, loaded: set[str]) -> list[str]:
        """Return what is loaded beyond the budget, one text each."""
        heavy = {name.partition(".")[0] for name in loaded} & HEAVY - self.packages
        ours = sorted(name for name in loaded if name.partition(".")[0] == "pyorch")
        found = [f"loads {name}" for name in sorted(heavy)]
        if len(ours) > self.most:
            found.append(f"loads {len(ours)} modules of pyorch, not {self.most}: {' '.join(ours)}")
        return found


def _budget(words: str, packages: str, most: int) -> Budget:
    return Budget(words.split(" ", 1), frozenset(packages.split()), most)


BUDGETS = (
    _budget("-c import pyorch", "", 1),
    _budget("-mpyorch --help", "invoke", 18),
    _budget("-mpyorch --version", "invoke", 12),
    _budget("-mpyorch list", "invoke", 24),
    # a run, which loads numpy, pyarrow and cppyy when it begins
    _budget(
        "-c import pyorch.run.process, pyorch.run.serve, pyorch.run.simulate, pyorch.metrics",
        "pydantic",
        33,
    ),
    # for reading a plan: figures are checked, not drawn
    _budget(
        "-c import pyorch.cli.show, pyorch.files.load, pyorch.report.figures, "
        "pyorch.report.expect, pyorch.remarks.plan",
        "numpy pydantic",
        80,
    ),
)
"""Budgets of commands that do not need built modules."""
SHOW = Budget(("-m", "pyorch", "show"), frozenset(("invoke", "numpy", "pydantic")), 126)
REPEAT = Budget(("-m", "pyorch", "run"), SHOW.packages | {"jinja2"}, 135)
"""The budget of an experiment whose runs and report exist."""


def loaded(words: Sequence[str]) -> set[str]:
    """The modules that a Python program imports, as reported by `python -v`."""
    command = [sys.executable, "-v", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(re.findall(r"^import '([\w.]+)' #", done.stderr, re.MULTILINE))


def main() -> int:
    """Print what exceeds its budget; return 1 if something does."""
    found = [
        f"python {' '.join(budget.words)}: {what}"
        for budget in BUDGETS
        for what in budget.exceeded(loaded(budget.words))
    ]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
