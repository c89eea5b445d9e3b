"""Formulas of Gentle Flow Control: from a link and a buffer to tau, bounds, stages and overhead.

Source: Qian, Cheng, Zhang, Ren, SIGCOMM 2019, sections 4.1 and 4.2. Rates are in bit/s, times in
ps, sizes in bytes, all integers.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyorch.sizing.theory import bytes_in, gfc_sufficient_range, time_of

_BIT_PS = 8 * 10**12


@dataclass(frozen=True)
class Link:
    """Parameters of the feedback latency. The defaults are the paper's example at 10 Gb/s.

    rate: C [bit/s]. delay: one way, t_w [ps]. mtu: largest frame [B]. overhead: wire bytes of a
    frame besides its own, none in the paper [B]. processing: time until a message takes effect, t_r
    [ps]. message: its size, m [B]; 0: it uses no bandwidth and waits for no frame. min_gap: between
    messages of a class [ps].
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
        waiting = time_of(frame + message, self.rate) if self.message else 0
        sending = waiting + time_of(frame, self.rate)
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
