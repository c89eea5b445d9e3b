"""Closed forms that the simulator is tested against.

Rates are in bit/s, times in ps where they are integers (parameters of links) and in s where they
are floats, sizes in bytes. Sources: the PFC buffer background of DSH (ICDCS 2023,
Background), GFC (Qian et al., SIGCOMM 2019, section 4), IEEE 802.1Qbb.
"""

from __future__ import annotations

from collections.abc import Collection

#: Data that a port may still send between receiving a pause and obeying it in the published rules
#: of headroom: 60 quanta [B].
RESPONSE_BYTES = 3840
#: IEEE 802.3, 31B.3.7: the longest response to a PAUSE by rate [bit/s], in quanta of 512 bit times,
#: as the headroom rules of SONiC quote it (sonic-swss, cfgmgr/buffer_headroom_*.lua; 800 Gb/s is
#: theirs). At 10 Gb/s 60 is quoted, too; the larger is the bound. LinkEnd has the same in C++.
RESPONSE_QUANTA = {
    100_000_000: 1,
    1_000_000_000: 2,
    10_000_000_000: 67,
    25_000_000_000: 80,
    40_000_000_000: 118,
    50_000_000_000: 147,
    100_000_000_000: 394,
    200_000_000_000: 453,
    400_000_000_000: 905,
    800_000_000_000: 905,
}
QUANTUM_BYTES = 64
#: What a 400G tester and a switch with SONiC take together, by the PFC frames of a second [ps].
TESTER_RESPONSE = 3_000_000
IDEAL, IEEE, TESTER = "Ideal", "802.3", "Tester"
RULES = {rule.lower(): rule for rule in (IDEAL, IEEE, TESTER)}
"""Rules for the time in which a port obeys a pause, by name: values of PauseResponse of a port."""
RESPONSE_SOURCE = "IEEE 802.3, 31B.3.7, as the headroom rules of SONiC quote it"
_PS_PER_S = 10**12
_BITS = 8


def bytes_in(rate: int, time_ps: int) -> int:
    """Return the bytes that a link of a rate [bit/s] carries in a time [ps], rounded up."""
    return -(-rate * time_ps // (_BITS * _PS_PER_S))


def time_of(size: int, rate: int) -> int:
    """Return the time [ps] that bytes take at a rate [bit/s], to the nearest."""
    return (size * _BITS * _PS_PER_S + rate // 2) // rate


def usual_response(section: Collection[str]) -> str:
    """Return the rule of ports whose section, its keys or attributes, names none.

    It is hardware's, unless the section says itself how long they take.
    """
    return IDEAL if {"control_delay", "ControlDelay"} & {*section} else IEEE


def response_quanta(rate: int) -> int:
    """Return the longest response to a PAUSE at a rate [bit/s], in quanta.

    At a rate that the standard lacks it is that of the next faster one.
    """
    known = [speed for speed in RESPONSE_QUANTA if speed >= rate]
    return RESPONSE_QUANTA[min(known, default=max(RESPONSE_QUANTA))]


def pause_response(rule: str, rate: int) -> int:
    """Return how long a port at a rate [bit/s] takes to obey a pause by a rule [ps]."""
    if rule == IEEE:
        return time_of(response_quanta(rate) * QUANTUM_BYTES, rate)
    return {IDEAL: 0, TESTER: TESTER_RESPONSE}[rule]


def eta(rate: int, delay_ps: int, mtu: int) -> int:
    """Return the headroom [B] according to DSH, Background, C: 2 (C Dprop + Lmtu) + 3840 B.

    rate: bit/s. delay_ps: one way. mtu: bytes of the longest frame. Not sufficient; see
    `eta_prime`.
    """
    return 2 * bytes_in(rate, delay_ps) + 2 * mtu + RESPONSE_BYTES


def eta_prime(
    rate: int,
    delay_ps: int,
    frame: int,
    control: int,
    overhead: int = 20,
    control_delay_ps: int = 0,
) -> int:
    """Return a sufficient headroom [B]: eta plus everything that eta omits.

    2 (C Dprop + Lwire) + max(3840 B, C x control delay) + control frame on the wire + L. rate:
    bit/s. delay_ps: one way. frame, control: bytes of the longest data frame and of a control
    frame. overhead: preamble and gap of a frame [B]. eta lacks the PAUSE's own serialisation and
    the bytes of preamble and gap, and the frame that triggers the PAUSE is itself charged to
    headroom. The simulator computes the same (pfc-headroom.h).
    """
    response = max(RESPONSE_BYTES, bytes_in(rate, control_delay_ps))
    wires = 2 * (bytes_in(rate, delay_ps) + frame + overhead)
    return wires + response + control + overhead + frame


def most_in_cells(wire: int, cell: int, overhead: int = 20, least: int = 64) -> int:
    """Return what bytes on a wire [B] take at most of a buffer of cells [B], whatever the frames.

    A frame of L bytes is L + overhead on the wire and takes whole cells. The worst are the shortest
    frames, of `least` bytes, or those a byte above a number of cells.
    """
    worst = max(
        (-(-size // cell) * cell / (size + overhead), size)
        for size in (least, *(count * cell + 1 for count in range(1, 40) if count * cell >= least))
    )[1]
    return -(-wire * (-(-worst // cell) * cell) // (worst + overhead))


def headroom_in_cells(headroom: int, cell: int, overhead: int = 20) -> int:
    """Return what a headroom [B] as flow controls demand it is in cells [B], as in the simulator.

    Of its last frame it counts no overhead on the wire. A cell of 1 B: the headroom itself.
    """
    wire = headroom + overhead
    return max(most_in_cells(wire, cell, overhead), wire) if cell > 1 and headroom else headroom


def dynamic_threshold(alpha: float, shared: int, queues: int) -> float:
    """Return the shared-buffer occupancy of each of n equally congested queues [B].

    alpha Bs / (1 + n alpha): every queue is at T = alpha (Bs - n T).
    """
    return alpha * shared / (1 + queues * alpha)


def gfc_sufficient_range(rate: int, tau_ps: int) -> int:
    """Return Bm - B0 [B] that suffices for GFC: 4 C tau (GFC, theorem 4.1)."""
    return 4 * bytes_in(rate, tau_ps)


def gfc_stage_thresholds(bm: int, b1: int, stages: int) -> list[float]:
    """Return B_1 .. B_n [B] of multi-stage GFC: Bm - (Bm - B1) / 2^(k-1) (equation 5)."""
    return [bm - (bm - b1) / 2 ** (stage - 1) for stage in range(1, stages + 1)]


def sfc_buffer(threshold: float, senders: int, rate: float, loop: float) -> float:
    """Return the buffer [B] that source flow control needs to lose nothing.

    threshold + (N - 1) C (TTS + TFS): from the time the queue exceeds its threshold [B] until the
    last frame of N greedy senders at the rate C [bit/s] has arrived, the queue grows for loop = TTS
    + TFS [s]. Slides of Bottorff (2022), plus an effect of the model: frames and messages in flight
    add a frame per sender.
    """
    return threshold + (senders - 1) * rate / _BITS * loop


def sfc_utilisation(
    threshold: float, senders: int, rate: float, loop: float, reserve: float = 0.0
) -> float:
    """Return the long-run link utilisation of a queue under source flow control.

    N greedy senders, each at line rate C [bit/s]. A cycle: the queue fills from empty to its
    threshold [B], grows for loop = TTS + TFS [s] to its peak, drains, and stays empty for as much
    of the loop as the reserve [B] does not cover. TTD is the time to drain the peak.
    """
    fill = threshold * _BITS / (rate * (senders - 1))
    peak = sfc_buffer(threshold, senders, rate, loop)
    idle = max(0.0, loop - reserve * _BITS / rate)
    return 1 - idle / (fill + loop + peak * _BITS / rate + idle)
