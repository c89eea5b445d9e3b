"""A condition on a run: "deadlocked", or comparisons of its numbers with bounds."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyorch.base.errors import Problem, UserError, one_of, refusal, suggest
from pyorch.metrics import (
    Metric,
    Quantity,
    known_numbers,
    output_units,
    parse_quantity,
    unit_of_name,
)

if TYPE_CHECKING:
    from pyorch.plan import RunSpec
    from pyorch.store.store import Store

OPTION = "--while"
STARVED = "starved_flows"
"""Flows that started before the end of the run, but of which no byte arrived (our definition)."""
NAMED = {
    "deadlocked": "deadlocked > 0",
    "lossy": "dropped_lossless_frames > 0",
    "starved": f"{STARVED} > 0",
}
"""Named conditions."""
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_TERM = re.compile(r"\s*([A-Za-z][\w.-]*)\s*(>=|<=|==|!=|>|<|=)\s*(\S.*?)\s*")
_FORM = (
    f"{', '.join(NAMED)}, or NAME OPERATOR VALUE such as 'peak > 100KB', several joined by 'and'; "
    f"operators {' '.join(_OPERATORS)}"
)


@dataclass(frozen=True)
class Term:
    """One comparison. name: a number of the summary, or a metric. bound: in base units."""

    name: str
    sign: str
    bound: float
    unit: str

    def holds(self, value: float | None) -> bool:
        """Whether it holds for a value; for a missing value it does not."""
        return value is not None and _OPERATORS[self.sign](value, self.bound)


@dataclass(frozen=True)
class Condition:
    """Comparisons that must all hold. text: as written."""

    text: str
    terms: tuple[Term, ...]

    @property
    def is_deadlock(self) -> bool:
        """Whether it concerns only deadlocks."""
        return [term.name for term in self.terms] == ["deadlocked"]

    @property
    def is_lossy(self) -> bool:
        """Whether a run for which it holds loses frames of lossless classes."""
        return any(term.name == "dropped_lossless_frames" for term in self.terms)

    def holds(self, numbers: Mapping[str, float | None]) -> bool:
        """Whether it holds for a run, given the run's numbers."""
        return all(term.holds(numbers.get(term.name)) for term in self.terms)

    def metrics(self, known: Iterable[Metric]) -> list[Metric]:
        """Those metrics of an experiment to which it refers."""
        names = {term.name for term in self.terms}
        return [metric for metric in known if names & set(metric.outputs())]


def read_condition(text: str, option: str = OPTION) -> Condition:
    """Parse a condition. option: its command-line option. Raises UserError if it is invalid."""
    terms = []
    for part in re.split(r"\band\b", NAMED.get(text.strip(), text)):
        match = _TERM.fullmatch(part)
        if match is None:
            what = f"{part.strip()!r} is not a condition"
            raise refusal(option, what, _FORM, suggest(text.strip(), NAMED))
        name, sign, bound = match.groups()
        try:
            quantity = Quantity(float(bound), "")
        except ValueError:
            try:
                quantity = parse_quantity(bound)
            except ValueError as error:
                raise refusal(f"{option} {part.strip()}", str(error)) from error
        exact = "==" if sign == "=" else sign
        terms.append(Term(name, exact, quantity.value, quantity.unit))
    return Condition(text.strip(), tuple(terms))


def check_names(
    condition: Condition,
    numbers: Mapping[str, float | None],
    metrics: Sequence[Metric],
    option: str = OPTION,
) -> None:
    """Report names that a run has no number for, and units that do not match.

    numbers: of a run, with its metrics. option: the one with the condition. Raises UserError.
    """
    where = f"{option} {condition.text}"
    units = output_units(metrics)
    problems = []
    for term in condition.terms:
        if term.name == "deadlocked" and term.name not in numbers:
            what = "whether this run deadlocked is unknown: its summary has no 'deadlocked'"
            hint = "is the oracle off ([run] oracle), or a scheme without a deadlock model in use?"
            problems.append(Problem(where, what, None, hint))
        elif term.name not in numbers:
            what = f"a run has no number {term.name!r}"
            allowed = one_of([*NAMED, *sorted(numbers)], 60)
            near = suggest(term.name, [*NAMED, *numbers])
            problems.append(Problem(where, what, allowed, near))
        else:
            unit = units.get(term.name, unit_of_name(term.name))
            if term.unit not in ("", unit):
                what = f"{term.name} is in {unit}, and the bound in {term.unit}"
                problems.append(Problem(where, what))
    if problems:
        raise UserError(problems)


def numbers_of(store: Store, spec: RunSpec, fingerprint: str) -> dict[str, float | None]:
    """The numbers of a finished run by name: its summary, its metrics, and STARVED."""
    run_hash = spec.hash(fingerprint)
    numbers = dict(known_numbers(store.read_summary(run_hash)["summary"]))
    flows = store.read_table(run_hash, "flow")
    late = flows["start_ps"] >= numbers["end_ps"]
    numbers[STARVED] = int(((flows["delivered_bytes"] == 0) & ~late).sum())
    return numbers | store.read_metrics(run_hash, spec)
