"""Flow controls whose margin is too small for the feedback latency of a link."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from pyorch.base.units import format_bytes, format_rate, rounded_bytes, rounded_time
from pyorch.network.topology import Topology
from pyorch.remarks.cases import Case, Cases, Found
from pyorch.setting.attributes import number
from pyorch.sizing.capacity import Frames, frames
from pyorch.sizing.gfc import Link
from pyorch.sizing.theory import bytes_in, gfc_sufficient_range

CONCEPTUAL, STAGES = "ns3::gfc::ConceptualGfc", "ns3::gfc::MultiStageGfc"
TIME_BASED, CREDIT = "ns3::gfc::TimeBasedGfc", "ns3::cbfc::Credit"
Values = Mapping[str, str]
"""Values of a flow control by attribute, in ns-3's spelling."""


def of_feedback(cases: Cases) -> Iterator[Found]:
    """Flow controls whose margin is below what arrives before their feedback takes effect."""
    checks: dict[str, Callable[[Cases, Case, str, Values, Link], Found | None]] = {
        CONCEPTUAL: _conceptual,
        STAGES: _stages,
        TIME_BASED: _time_based,
        CREDIT: _credit,
    }
    for case in cases.every:
        sizes = frames(cases.types, case.setting.attributes, case.setting.traffic)
        for name in case.setting.flow_control:
            kind = next((kind for kind in checks if cases.is_of(name, kind)), None)
            if kind is None:
                continue
            values = cases.section(case, name) or {}
            for link in _links(case.network, sizes):
                found = checks[kind](cases, case, name, values, link)
                if found is not None:
                    yield found


def _links(network: Topology, sizes: Frames) -> Iterator[Link]:
    """Yield the different links of a network."""
    for rate, delay in dict.fromkeys(
        zip(network.rates.tolist(), network.delays.tolist(), strict=True)
    ):
        yield Link(
            rate,
            delay,
            mtu=sizes.data,
            overhead=sizes.overhead,
            processing=sizes.control_delay(rate),
            message=sizes.control,
        )


@dataclass(frozen=True)
class Margin:
    """The part of a queue in which a flow control lowers the rate: from `start` to `end` [B].

    names: the attributes of both. least: what it has to be at least [B], by the bound. harm: what
    may happen below that. latency: of the feedback on the link [ps].
    """

    names: tuple[str, str]
    start: int
    end: int
    least: int
    bound: str
    harm: str
    latency: int

    def check(self, cases: Cases, case: Case, name: str, link: Link) -> Found | None:
        """Return what is wrong with the margin of a flow control on a link."""
        have = self.end - self.start
        if have >= self.least:
            return None
        start, end = (cases.key(name, one) for one in self.names)
        what = f"{start} {format_bytes(self.start)}: {' - '.join(reversed(self.names))} = "
        what += f"{rounded_bytes(have)} is less than {self.bound} = {rounded_bytes(self.least)} "
        what += (
            f"(C {format_rate(link.rate)}, tau {rounded_time(self.latency)}), so that {self.harm}"
        )
        largest = self.end - self.least
        if largest >= 0:
            hint = f"set it to at most {format_bytes(largest)}"
        else:
            hint = f"no {start} is small enough: raise {end} by {format_bytes(-largest)} or more"
        return Found(("margin", name), case, what, hint, self.least / max(have, 1))


def _size(values: Values, name: str) -> int:
    return int(number(values[name]))


def _is_true(values: Values, name: str) -> bool:
    return values[name] == "true"


def _gentle(values: Values, link: Link) -> Link:
    """Return a link whose messages are those of conceptual or multi-stage GFC."""
    message = 0 if _is_true(values, "Ideal") else link.message
    return replace(link, message=message, min_gap=_size(values, "MinGap"))


def _conceptual(cases: Cases, case: Case, name: str, values: Values, link: Link) -> Found | None:
    own = _gentle(values, link)
    least, bound = gfc_sufficient_range(link.rate, own.latency), "4 C tau (theorem 4.1)"
    ends = _size(values, "B0"), _size(values, "Bm")
    harm = "the queue may reach Bm"
    return Margin(("B0", "Bm"), *ends, least, bound, harm, own.latency).check(
        cases, case, name, link
    )


def _stages(cases: Cases, case: Case, name: str, values: Values, link: Link) -> Found | None:
    own, ratio = _gentle(values, link), number(values["Ratio"])
    least = math.ceil(1 / (1 - ratio) * bytes_in(link.rate, own.latency))
    bound = "2 C tau (section 4.2)" if ratio == 0.5 else "C tau / (1 - ratio) (equation 1)"
    ends = _size(values, "B1"), _size(values, "Bm")
    harm = "the queue may reach Bm"
    return Margin(("B1", "Bm"), *ends, least, bound, harm, own.latency).check(
        cases, case, name, link
    )


def _time_based(cases: Cases, case: Case, name: str, values: Values, link: Link) -> Found | None:
    end = _size(values, "Bm") or _size(values, "Buffer") - 2 * link.mtu
    above = "Bm" if _size(values, "Bm") else "Buffer"
    period = _size(values, "Period")
    least = bytes_in(link.rate, period + link.latency)
    bound = f"C (period {rounded_time(period)} + tau)"
    harm = "a sender may run out of credit and wait"
    margin = Margin(("B0", above), _size(values, "B0"), end, least, bound, harm, link.latency)
    return margin.check(cases, case, name, link)


def _credit(cases: Cases, case: Case, name: str, values: Values, link: Link) -> Found | None:
    """A buffer below what a link carries from credit to credit: a bound on its throughput."""
    gap = _size(values, "MinGap" if _is_true(values, "OnChange") else "Period")
    buffer, needed = _size(values, "Buffer"), bytes_in(link.rate, gap + link.latency)
    if buffer >= needed:
        return None
    share = buffer / bytes_in(link.rate, max(gap, link.latency))  # a buffer a message, or a loop
    harm = f"no more than {100 * share:.0f} % of its rate" if share < 1 else "not always its rate"
    what = f"{cases.key(name, 'Buffer')} {format_bytes(buffer)} does not last from credit to "
    what += f"credit (C {format_rate(link.rate)}, {rounded_time(gap)} and the feedback's "
    what += f"{rounded_time(link.latency)}): a link carries {harm}"
    hint = f"raise it to {format_bytes(needed)} or more, or shorten {cases.key(name, 'Period')}"
    return Found(("credit", name), case, what, hint, needed / buffer)
