"""Parameters of Gentle Flow Control: from a link and a buffer to tau, bounds, stages and overhead.

Source: Qian, Cheng, Zhang, Ren, SIGCOMM 2019, sections 4.1 and 4.2. Rates are in bit/s, times in
ps, sizes in bytes, all integers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyorch.columns import aligned
from pyorch.errors import Problem, UserError
from pyorch.theory import bytes_in, gfc_sufficient_range, time_of
from pyorch.units import (
    format_bytes,
    format_rate,
    format_time,
    parse_bytes,
    parse_rate,
    parse_time,
)

_BIT_PS = 8 * 10**12


@dataclass(frozen=True)
class Link:
    """What decides the feedback latency. The defaults are the paper's example at 10 Gb/s.

    rate: C [bit/s]. delay: one way, t_w [ps]. mtu: largest frame [B]. overhead: wire bytes beside
    a frame, none in the paper [B]. processing: until a message has effect, t_r [ps]. message: its
    size, m [B]. min_gap: between messages of a class [ps].
    """

    rate: int = 10 * 10**9
    delay: int = 10**6
    mtu: int = 1500
    overhead: int = 0
    processing: int = 3 * 10**6
    message: int = 64
    min_gap: int = 0

    @property
    def formula_latency(self) -> int:
        """Feedback latency tau [ps] by 2 MTU / C + 2 t_w + t_r.

        Unverified: the formula is not in the text of the paper at hand (its section 5.4 has it),
        but it gives the paper's 7.4 us for 1500 B, 1 us and 3 us at 10 Gb/s.
        """
        return time_of(2 * (self.mtu + self.overhead), self.rate) + 2 * self.delay + self.processing

    @property
    def latency(self) -> int:
        """Feedback latency tau [ps] as the simulator reckons and warns by.

        The formula, and the message's own transmission, and the gap that it may wait for.
        """
        frame, message = self.mtu + self.overhead, self.message + self.overhead
        sending = time_of(frame + message, self.rate) + time_of(frame, self.rate)
        return sending + 2 * self.delay + self.processing + self.min_gap

    @property
    def credit_period(self) -> int:
        """Period of credits [ps] in the paper's simulations: 65,535 B at C (unverified)."""
        return time_of(65_535, self.rate)


@dataclass(frozen=True)
class Stage:
    """A stage of multi-stage GFC: from a queue length on, B_k [B], the rate is R_k [bit/s]."""

    start: int
    rate: int


def largest_b0(rate: int, tau: int, bm: int) -> int:
    """Return the largest B0 [B] of conceptual GFC that theorem 4.1 vouches for: Bm - 4 C tau.

    Negative when none does.
    """
    return bm - gfc_sufficient_range(rate, tau)


def largest_b1(rate: int, tau: int, bm: int) -> int:
    """Return the largest B1 [B] of multi-stage GFC that section 4.2 vouches for: Bm - 2 C tau.

    Negative when none does.
    """
    return bm - 2 * bytes_in(rate, tau)


def largest_time_based_b0(rate: int, tau: int, bm: int, period: int) -> int:
    """Return the largest B0 [B] of time-based GFC with which credits do not run out.

    Bm - C (T + tau) with T the period of credits [ps]. Derived for this project's sender, which
    counts what is on its way as held: between two messages that grows by at most
    T C (Bm - held) / (Bm - B0). The bound recalled of the paper, (sqrt(tau / T) + 1)^2 C T,
    is for another sender and not used. Negative when none does.
    """
    return bm - bytes_in(rate, period + tau)


def worst_overhead(message: int, tau: int) -> int:
    """Return the largest bandwidth of messages [bit/s]: m / tau (section 4.2).

    Holds only with a minimum gap of tau: a queue that hovers at the start of a stage changes stage
    with every frame.
    """
    return _BIT_PS * message // tau


def steady_overhead(message: int, tau: int) -> int:
    """Return the bandwidth of messages [bit/s] in the steady state, at worst: m / (8 tau)."""
    return _BIT_PS * message // (8 * tau)


def stages(rate: int, b1: int, bm: int, floor: int = 8000) -> list[Stage]:
    """Return the stages of multi-stage GFC, stage 0 (line rate) first.

    R_k = C / 2^k (equation 4), B_k = Bm - (Bm - B1) / 2^(k-1) (equation 5), up to the first stage N
    with B_N - B_(N-1) of at most a byte. Starts are rounded up to whole bytes, rates down; none is
    below the floor [bit/s]. Raises ValueError unless 0 <= b1 < bm.
    """
    if not 0 <= b1 < bm:
        raise ValueError(f"B1 must be at least 0 and below Bm {bm} B (got {b1} B)")
    span = bm - b1
    count = 1 + max(1, (span - 1).bit_length())
    table = [Stage(0, rate)]
    for k in range(1, count + 1):
        table.append(Stage(bm - span // 2 ** (k - 1), max(floor, rate // 2**k)))
    return table


@dataclass(frozen=True)
class Parameters:
    """All parameters for a link and a buffer; what `invoke gfc-parameters` prints.

    b0, b1, time_based_b0: the largest inside the bounds with Link.latency, negative for none.
    chosen_b1: start of stage 1 of the table. period: of credits [ps].
    """

    link: Link
    bm: int
    chosen_b1: int
    period: int

    @property
    def b0(self) -> int:
        """Largest B0 of conceptual GFC [B]."""
        return largest_b0(self.link.rate, self.link.latency, self.bm)

    @property
    def b1(self) -> int:
        """Largest B1 of multi-stage GFC [B]."""
        return largest_b1(self.link.rate, self.link.latency, self.bm)

    @property
    def time_based_b0(self) -> int:
        """Largest B0 of time-based GFC [B]."""
        return largest_time_based_b0(self.link.rate, self.link.latency, self.bm, self.period)

    @property
    def stages(self) -> list[Stage]:
        """The stages of multi-stage GFC."""
        return stages(self.link.rate, self.chosen_b1, self.bm)

    @property
    def warning(self) -> str | None:
        """What to say when B1 is outside the sufficient bound, with both sides; else None."""
        if self.chosen_b1 <= self.b1:
            return None
        margin, bound = self.bm - self.chosen_b1, self.bm - self.b1
        return (
            f"Bm - B1 = {margin} B is less than 2 C tau = {bound} B: outside the sufficient bound "
            "of section 4.2, so the queue may reach Bm"
        )


def parameters(link: Link, bm: int, b1: int | None = None, period: int | None = None) -> Parameters:
    """Return the parameters for a link and Bm [B], with the largest safe B1 unless one is given.

    period: of credits [ps], default Link.credit_period. Raises UserError when there is no B1.
    """
    if bm < 1:
        raise UserError([Problem("--bm", f"{bm} B", "at least 1 B")])
    if b1 is None:
        b1 = largest_b1(link.rate, link.latency, bm)
        if b1 < 0:
            need = bm - b1
            what = f"{bm} B is less than 2 C tau = {need} B, so no B1 is inside the bound"
            hint = "give --b1 to go outside it, or a larger --bm"
            raise UserError([Problem("--bm", what, f"at least {need} B", hint)])
    if not 0 <= b1 < bm:
        raise UserError([Problem("--b1", f"{b1} B", f"from 0 B to below Bm = {bm} B")])
    return Parameters(link, bm, b1, link.credit_period if period is None else period)


# ---------------------------------------------------------------------------------------------
# From texts, and to a text

_RATE = (parse_rate, format_rate)
_TIME = (parse_time, format_time)
_SIZE = (parse_bytes, format_bytes)
#: Option -> how it is read and written, and the least it may be, in base units.
_OPTIONS: dict[str, tuple[tuple[Callable[[str], int], Callable[[int], str]], int]] = {
    "rate": (_RATE, 1),
    "delay": (_TIME, 0),
    "mtu": (_SIZE, 64),
    "overhead": (_SIZE, 0),
    "processing": (_TIME, 0),
    "message": (_SIZE, 64),
    "min_gap": (_TIME, 0),
    "bm": (_SIZE, 1),
    "b1": (_SIZE, 0),
    "period": (_TIME, 1),
}
_LARGEST = {"rate": 10**15, "delay": 10**15, "mtu": 65_535, "processing": 10**15, "bm": 2**32 - 1}


def read_parameters(texts: Mapping[str, str]) -> Parameters:
    """Return the parameters for texts such as {"rate": "10Gbps", "bm": "300KB"}.

    Keys: the fields of Link, bm, b1, period; what is missing or empty has its default, bm 300 KB.
    Raises UserError that names every option that cannot be read.
    """
    problems: list[Problem] = []
    values: dict[str, int] = {}
    for name, text in texts.items():
        if text == "":
            continue
        try:
            values[name] = _read(name, text)
        except ValueError as error:
            problems.append(Problem(f"--{name.replace('_', '-')}", str(error)))
    if problems:
        raise UserError(problems)
    bm, b1, period = values.pop("bm", 300_000), values.pop("b1", None), values.pop("period", None)
    return parameters(Link(**values), bm, b1, period)


def _read(name: str, text: str) -> int:
    (parse, spell), least = _OPTIONS[name]
    value = parse(text)
    if value < least:
        raise ValueError(f"{text!r} is too small; at least {spell(least)}")
    most = _LARGEST.get(name)
    if most is not None and value > most:
        raise ValueError(f"{text!r} is too large; at most {spell(most)}")
    return value


def render(found: Parameters) -> str:
    """Return all parameters as a text for people."""
    return "\n".join([*_summary(found), "", *_stage_lines(found), "", *_notes(found)])


def _summary(found: Parameters) -> list[str]:
    link, taus = found.link, (found.link.formula_latency, found.link.latency)
    rate = link.rate
    rows: list[Sequence[str]] = [
        ("", "formula", "simulator", ""),
        ("tau", *map(format_time, taus), "feedback latency"),
        ("C tau", *(format_bytes(bytes_in(rate, tau)) for tau in taus), ""),
        (
            "largest B0, conceptual",
            *(_size(largest_b0(rate, tau, found.bm)) for tau in taus),
            "Bm - 4 C tau (theorem 4.1)",
        ),
        (
            "largest B1, multi-stage",
            *(_size(largest_b1(rate, tau, found.bm)) for tau in taus),
            "Bm - 2 C tau (section 4.2)",
        ),
        (
            "largest B0, time-based",
            *(_size(largest_time_based_b0(rate, tau, found.bm, found.period)) for tau in taus),
            f"Bm - C (T + tau), T = {format_time(found.period)} (derived)",
        ),
        (
            "messages, worst case",
            *(_share(worst_overhead(link.message, tau), rate) for tau in taus),
            "m / tau, with a minimum gap of tau",
        ),
        (
            "messages, steady state",
            *(_share(steady_overhead(link.message, tau), rate) for tau in taus),
            "m / (8 tau)",
        ),
    ]
    setting = (
        f"C = {format_rate(rate)}, wire {format_time(link.delay)}, frames of "
        f"{format_bytes(link.mtu)} + {format_bytes(link.overhead)}, "
        f"processing {format_time(link.processing)}, "
        f"messages of {format_bytes(link.message)}, Bm = {format_bytes(found.bm)}"
    )
    return [setting, "", *aligned(rows, right={1, 2})]


def _stage_lines(found: Parameters) -> list[str]:
    table = found.stages
    rows: list[Sequence[str]] = [("stage k", "from B_k", "rate R_k", "a frame takes")]
    for number, stage in enumerate(table):
        frame = time_of(found.link.mtu + found.link.overhead, stage.rate)
        rows.append((str(number), f"{stage.start} B", format_rate(stage.rate), _time(frame)))
    head = f"multi-stage GFC with B1 = {format_bytes(found.chosen_b1)}: N = {len(table) - 1} stages"
    return [head, "", *aligned(rows, right=range(4))]


def _notes(found: Parameters) -> list[str]:
    lines = [
        "formula: tau = 2 MTU / C + 2 t_w + t_r; unverified as the paper's, it gives the 7.4 us",
        "of its example. simulator: with the message's transmission and the minimum gap, as the",
        "simulator reckons and warns by. The bounds are sufficient, not necessary.",
    ]
    return lines if found.warning is None else [*lines, "", f"warning: {found.warning}"]


def _size(size: int) -> str:
    return "none" if size < 0 else format_bytes(size)


def _share(rate: int, line: int) -> str:
    return f"{rate / 10**6:.4g}Mbps, {100 * rate / line:.2g} %"


def _time(picoseconds: int) -> str:
    for unit, scale in (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3)):
        if picoseconds >= scale:
            return f"{picoseconds / scale:.4g}{unit}"
    return f"{picoseconds}ps"
