"""A remark, and how it names runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyorch.base.units import ranges

if TYPE_CHECKING:
    from pyorch.plan import RunSpec

MOST_GROUPS = 4
LABEL_WIDTH = 12
MOST_LINES = 12


@dataclass(frozen=True)
class Remark:
    """A remark: a word for its subject, and a sentence."""

    label: str
    text: str

    def line(self) -> str:
        """The remark as a line; the texts of several lines are aligned."""
        return f"{self.label + ':':<{LABEL_WIDTH}}{self.text}"


def lines(remarks: Sequence[Remark]) -> list[str]:
    """Remarks as lines that fit on a screen: the first ones, and the number of the others."""
    shown = [remark.line() for remark in remarks[:MOST_LINES]]
    more = len(remarks) - len(shown)
    return [*shown, f"... and {more} more"] if more else shown


def runs_text(count: int) -> str:
    """A number of runs in words."""
    return "1 run" if count == 1 else f"{count:,} runs"


def which(some: Sequence[RunSpec], runs: Sequence[RunSpec]) -> str:
    """Some of several runs in words: "3 of 6 runs (PFC, GFC (1 of 3))"."""
    if len(some) == len(runs):
        return "the run" if len(runs) == 1 else f"all {runs_text(len(runs))}"
    spell = _spelling(runs)
    all_of = Counter(spell(spec) for spec in runs)
    found = Counter(spell(spec) for spec in some)
    count = f"{len(some):,} of {runs_text(len(runs))}"
    if len(all_of) == 1:
        return count
    parts = [
        name if n == all_of[name] else f"{name} ({n} of {all_of[name]})"
        for name, n in found.items()
    ]
    more = len(parts) - MOST_GROUPS
    return f"{count} ({', '.join(parts[:MOST_GROUPS])}{f', and {more} more' if more > 0 else ''})"


def numbers_of(some: Sequence[RunSpec], runs: Sequence[RunSpec]) -> str:
    """The numbers of some of several runs, as `show` counts them: "1-5, 8"."""
    wanted = {id(spec) for spec in some}
    texts = ranges(number for number, spec in enumerate(runs, 1) if id(spec) in wanted)
    return ", ".join([*texts[:MOST_GROUPS], *(["..."] if len(texts) > MOST_GROUPS else [])])


def _spelling(specs: Sequence[RunSpec]) -> Callable[[RunSpec], str]:
    """How to name the groups of runs: by variant or, if there is only one, by setting."""
    if len({spec.params.get("variant") for spec in specs}) > 1:
        return lambda spec: str(spec.params["variant"])
    return lambda spec: " ".join(
        f"{name}={value}" for name, value in spec.params.items() if name != "variant"
    )
