"""Fluid models of a queue under GFC and PFC: what the numbers called "fluid model" come from.

Rates are in bit/s, times in s, sizes in bytes. Source: GFC (Qian et al., SIGCOMM 2019, section 4).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_BITS = 8


@dataclass(frozen=True)
class Fluid:
    """A queue and its input rate over time.

    times: float64 (steps,), s. queue: float64 (steps,), B. rate: float64 (steps,), bit/s, as it
    enters the queue.
    """

    times: npt.NDArray[np.float64]
    queue: npt.NDArray[np.float64]
    rate: npt.NDArray[np.float64]

    def after(self, start: float) -> Fluid:
        """Return the part from a time [s] on."""
        kept = self.times >= start
        return Fluid(self.times[kept], self.queue[kept], self.rate[kept])

    def peak(self) -> float:
        """Return the longest queue [B]."""
        return float(self.queue.max())

    def peak_time(self) -> float:
        """Return when the queue is first at its longest [s]."""
        return float(self.times[int(np.argmax(self.queue))])

    def mean(self) -> float:
        """Return the mean queue over time [B]."""
        return float(self.queue.mean())

    def intervals(self) -> tuple[float, float]:
        """Return the mean length [s] of whole intervals with input and without, or nan."""
        on = self.rate > 0
        turns = np.flatnonzero(on[1:] != on[:-1]) + 1
        lengths = np.diff(self.times[turns])
        with_input = on[turns[:-1]]
        return _mean(lengths[with_input]), _mean(lengths[~with_input])

    def period(self) -> float:
        """Return the mean time [s] from one beginning of input to the next, or nan."""
        return sum(self.intervals())


def gfc_fluid(
    rate: int, drain: int, tau: float, bm: int, b0: int, duration: float, step: float = 1e-8
) -> Fluid:
    """Integrate conceptual GFC (GFC, section 4.1 and Figure 5b), started empty.

    The input rate is R(q(t - tau)) with R(q) = C up to B0 and C (Bm - q) / (Bm - B0) above. rate,
    drain: bit/s; tau, duration, step: s; bm, b0: B.
    """

    def mapping(queue: float, _: float) -> float:
        return min(rate, max(0.0, rate * (bm - queue) / (bm - b0)))

    return _integrate(mapping, rate, drain, tau, duration, step)


def pfc_fluid(
    rate: int, drain: int, tau: float, xoff: int, xon: int, duration: float, step: float = 1e-8
) -> Fluid:
    """Integrate ON/OFF PFC (GFC, Figure 5a), started empty.

    The input stops tau after q >= XOFF and goes on tau after q <= XON.
    rate, drain: bit/s; tau, duration, step: s; xoff, xon: B.
    """

    def switch(queue: float, before: float) -> float:
        if queue >= xoff:
            return 0.0
        return float(rate) if queue <= xon else before

    return _integrate(switch, rate, drain, tau, duration, step)


def _integrate(
    answer: Callable[[float, float], float],
    rate: int,
    drain: int,
    tau: float,
    duration: float,
    step: float,
) -> Fluid:
    """Integrate dq/dt = (input(t) - drain) / 8 by Euler; input(t) answers q(t - tau)."""
    steps, late = round(duration / step), round(tau / step)
    queue, rates, asked = [0.0] * steps, [float(rate)] * steps, [float(rate)] * steps
    for now in range(1, steps):
        rates[now] = asked[now - late] if now >= late else float(rate)
        queue[now] = max(0.0, queue[now - 1] + (rates[now - 1] - drain) / _BITS * step)
        asked[now] = answer(queue[now], asked[now - 1])
    times = np.arange(steps, dtype=np.float64) * step
    return Fluid(times, np.array(queue), np.array(rates))


def _mean(values: npt.NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else math.nan
