"""docs/published.toml: the source documents, what they claim, and what no run can refute."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, model_validator

from pyorch.base.errors import Problem, UserError
from pyorch.base.reading import read_toml
from pyorch.metrics import parse_quantity
from pyorch.metrics.fields import Entry, EntryName, Quantity, QuantityText
from pyorch.report.quantities import show_text
from pyorch.sizing import gfc
from pyorch.sizing.theory import bytes_in, eta, gfc_stage_thresholds, gfc_sufficient_range
from tools.reproduction.claims import Claim

_G = 10**9
_GFC_RATE, _GFC_TAU = 10 * _G, 7_400_000  # GFC's example at 10GbE [bit/s], [ps]
_FIBRE = 0.65 * 299_792_458  # speed of light in single-mode fibre, as DSH has it [m/s]


def _time_ps(size: float, rate: float) -> float:
    """Time [ps] that bytes take at a rate [bit/s]."""
    return size * 8e12 / rate


def _stages() -> list[float]:
    """B_0 to B_8 [C tau] of GFC, with Bm - B0 = 4 C tau (Theorem 4.1) and B0 = 0."""
    unit = bytes_in(_GFC_RATE, _GFC_TAU)
    starts = gfc_stage_thresholds(4 * unit, 2 * unit, 8)
    return [0.0, *(start / unit for start in starts)]


def _least_length() -> float:
    """Least (B_(k+1) - B_k) / (R_(k-1) tau) over the stages, with R_k = C / 2^k (equation 1)."""
    starts = _stages()
    return min((starts[k + 1] - starts[k]) / 2.0 ** (1 - k) for k in range(1, len(starts) - 1))


def _slope() -> float:
    """(B_k - B_(k-1)) / (R_(k-1) - R_k) over (Bm - B0) / C: where it is farthest from 1."""
    starts = _stages()
    slopes = [(starts[k] - starts[k - 1]) / 2.0**-k / 4 for k in range(1, len(starts))]
    return max(slopes, key=lambda slope: abs(slope - 1))


def _least_rest() -> float:
    """Least (Bm - B_k) / (2^(2-k) C tau) over the stages (equation 5)."""
    return min((4 - start) / 2.0 ** (2 - k) for k, start in enumerate(_stages()))


def _largest_ratio() -> float:
    """R_k / R_(k-1) that equation 3 allows where Theorem 4.1 just holds."""
    return 1 - bytes_in(_GFC_RATE, _GFC_TAU) / gfc_sufficient_range(_GFC_RATE, _GFC_TAU)


def _five_parts() -> float:
    """What arrives in the five parts of PFC's delay over eta: 100 Gb/s, 1500 B, 300 m of fibre."""
    rate, mtu, way = 100 * _G, 1500, round(300 / _FIBRE * 1e12)
    waiting = response = _time_ps(mtu, rate)
    processing = _time_ps(3840, rate)
    total = waiting + way + processing + response + way
    return total * rate / 8e12 / eta(rate, way, mtu)


def _cuts_to(share: float) -> float:
    """Cuts by half that bring a rate down to a share."""
    return math.log2(1 / share)


CLOSED_FORMS: Mapping[str, Callable[[], Quantity]] = {
    "gfc-worst-overhead": lambda: Quantity(gfc.worst_overhead(64, _GFC_TAU), "bit/s"),
    "gfc-worst-share": lambda: Quantity(gfc.worst_overhead(64, _GFC_TAU) / _GFC_RATE, "1"),
    "gfc-steady-overhead": lambda: Quantity(gfc.steady_overhead(64, _GFC_TAU), "bit/s"),
    "gfc-steady-share": lambda: Quantity(gfc.steady_overhead(64, _GFC_TAU) / _GFC_RATE, "1"),
    "gfc-stage-length": lambda: Quantity(_least_length(), "1"),
    "gfc-stage-slope": lambda: Quantity(_slope(), "1"),
    "gfc-stage-rest": lambda: Quantity(_least_rest(), "1"),
    "gfc-largest-ratio": lambda: Quantity(_largest_ratio(), "1"),
    "dcfit-switch-bits": lambda: Quantity((10_000 - 1).bit_length(), "1"),
    "dcfit-port-bits": lambda: Quantity((64 - 1).bit_length(), "1"),
    "dsh-five-parts": lambda: Quantity(_five_parts(), "1"),
    "dsh-fibre-delay": lambda: Quantity(300 / _FIBRE * 1e12, "ps"),
    "sfc-wire": lambda: Quantity(100 / _FIBRE * 1e12, "ps"),
    "sfc-message": lambda: Quantity(_time_ps(128, 25 * _G), "ps"),
    "sfc-packet-25g": lambda: Quantity(_time_ps(1500, 25 * _G), "ps"),
    "sfc-packet-100g": lambda: Quantity(_time_ps(1500, 100 * _G), "ps"),
    "sfc-bytes-in-10us": lambda: Quantity(0.75 * 25 * _G * 10e-6 / 8, "B"),
    "sfc-bytes-in-100us": lambda: Quantity(0.75 * 25 * _G * 100e-6 / 8, "B"),
    "sfc-queue-delay": lambda: Quantity(_time_ps(125_000, 0.75 * 25 * _G), "ps"),
    "sfc-dcqcn-cuts": lambda: Quantity(_cuts_to(1 / 4), "1"),
    "sfc-dcqcn-quarter": lambda: Quantity(_cuts_to(1 / 4) * 50e6, "ps"),
    "sfc-transit-share": lambda: Quantity(34_000 / 125_000, "1"),
    "sfc-in-transit": lambda: Quantity(0.75 * 25 * _G * 2 * 7e-6 / 8, "B"),
}
"""Numbers that a document computes from others, recomputed; `closed_form` names one."""


class Document(Entry):
    """A source document; `sources` are the words that begin the `source` of an [[expect]] of it."""

    key: EntryName
    title: str = Field(min_length=1)
    sources: list[str] = Field(min_length=1)


class Number(Entry):
    """A statement of a document that no run can refute, in one of two forms.

    `verdict` says that it is an input ("setting", which `study` uses as given) or "not modelled",
    and `why`. `closed_form` recomputes it from the document's values, judged by `tolerance`
    (relative), or by `bound`: whether `value` is the maximum or the minimum.
    """

    document: EntryName
    place: str = Field(min_length=1)
    what: str = Field(min_length=1)
    published: str = Field(min_length=1)
    verdict: Literal["setting", "not modelled"] | None = None
    why: str = ""
    study: str = ""
    closed_form: str | None = None
    value: QuantityText | None = None
    tolerance: float | None = Field(default=None, gt=0)
    bound: Literal["max", "min"] | None = None

    def holds(self, found: float) -> bool:
        """Whether what the closed form gives [base unit] meets the published value."""
        if self.value is None:
            raise ValueError("not a closed form")
        wanted = parse_quantity(self.value).value
        if self.bound is not None:
            return found <= wanted if self.bound == "max" else found >= wanted
        return math.isclose(found, wanted, rel_tol=self.tolerance or 0)

    def criterion(self) -> str:
        """The criterion in words: "69 Mb/s ± 1 %", "≤ 23 KB"; "" without a value."""
        if self.value is None:
            return ""
        percent = self.published.endswith("%")
        value = self.value if not percent else f"{parse_quantity(self.value).value * 100:g} %"
        text = value if isinstance(value, str) and percent else show_text(value)
        if self.bound is not None:
            return f"{'≤' if self.bound == 'max' else '≥'} {text}"
        return f"{text} ± {(self.tolerance or 0) * 100:g} %"

    @model_validator(mode="after")
    def _check(self) -> Number:
        if (self.verdict is None) == (self.closed_form is None):
            raise ValueError("give one of 'verdict' and 'closed_form'")
        if self.verdict == "setting" and not self.study:
            raise ValueError("the verdict 'setting' needs the 'study'")
        if self.verdict == "not modelled" and not self.why:
            raise ValueError("say in 'why' the reason for 'not modelled'")
        return self

    @model_validator(mode="after")
    def _check_closed_form(self) -> Number:
        if self.closed_form is None:
            return self
        if self.closed_form not in CLOSED_FORMS:
            known = ", ".join(CLOSED_FORMS)
            raise ValueError(f"no closed form '{self.closed_form}'; there are: {known}")
        if self.value is None or (self.tolerance is None) == (self.bound is None):
            raise ValueError("'closed_form' needs 'value', and one of 'tolerance' and 'bound'")
        unit = parse_quantity(self.value).unit
        if unit != CLOSED_FORMS[self.closed_form]().unit:
            raise ValueError(f"'value' is in {unit}, but {self.closed_form} is not")
        return self


class Published(Entry):
    """The whole file.

    others: words that begin the source of an [[expect]] of some other document, read as well but
    not one of those of the page.
    """

    others: list[str] = Field(default=[])
    document: list[Document] = Field(min_length=1)
    claim: list[Claim] = Field(default=[])
    number: list[Number] = Field(default=[])

    @model_validator(mode="after")
    def _check(self) -> Published:
        known = [document.key for document in self.document]
        entries: list[Claim | Number] = [*self.claim, *self.number]
        for entry in entries:
            if entry.document not in known:
                allowed = ", ".join(known)
                raise ValueError(f"'{entry.what}': no document '{entry.document}'; {allowed}")
        keys = Counter(claim.key for claim in self.claim)
        twice = [key for key, times in keys.items() if times > 1]
        if twice:
            raise ValueError(f"claims with the same key: {', '.join(twice)}")
        return self

    def document_of(self, source: str) -> Document | None:
        """The document that the source of an expectation names; None for any other source."""
        for document in self.document:
            if any(source.startswith(name) for name in document.sources):
                return document
        return None


def load_published(file: Path) -> Published:
    """Read the file. Raises UserError that says what is wrong with it."""
    try:
        return Published.model_validate(read_toml(file, file.name))
    except ValidationError as error:
        problems = [
            Problem(f"{file.name}: {'.'.join(map(str, one['loc']))}", one["msg"], None, None)
            for one in error.errors()
        ]
        raise UserError(problems) from error
