"""Switch chips by name: buffer, ports and rates, each with its source.

Manufacturers seldom publish the size of a packet buffer; values that are not from a paper are
second-hand, as stated by `source`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

GBPS = 10**9
MB = 10**6

_WARNER = "J. Warner, UC Santa Cruz, Packet Buffers (people.ucsc.edu/~warner/Bufs)"
_REFERENCE = "Packet Buffer Reference (port-buffers.forwardingplane.net)"
_LIST = "list of Ethernet ASICs, 2020 (gist.github.com/jopietsch)"
_SONIC = "sonic-net/sonic-buildimage, 2026"


@dataclass(frozen=True)
class Asic:
    """A chip with all its ports at one rate.

    size: packet buffer [B]. ports: their number. rate: of each port [bit/s]. note: caveats. cell:
    unit of the buffer [B], of which a frame takes whole ones; 0: not known.
    """

    size: int
    ports: int
    rate: int
    source: str
    note: str = ""
    cell: int = 0


@dataclass(frozen=True)
class Shipped:
    """A profile of a queue that a switch is shipped with: pg_profile_lookup.ini of SONiC.

    headroom: xoff, by rate [bit/s] and length of the cable [m], in bytes. xon_offset: how far below
    XOFF it resumes [B]; 0: the profile gives XON in another way.
    """

    switch: str
    headroom: Mapping[int, Mapping[int, int]]
    xon_offset: int = 0

    def at(self, rate: int, metres: float) -> tuple[int, int] | None:
        """Return the length and the headroom of the shortest profile that covers a cable."""
        known = self.headroom.get(rate, {})
        covering = [length for length in sorted(known) if length >= metres]
        return (covering[0], known[covering[0]]) if covering else None


_SLICES = "the buffer is in slices, and a port can use only part of it"

ASICS: dict[str, Asic] = {
    "trident-plus": Asic(9 * MB, 64, 10 * GBPS, f"{_WARNER}: 9 MB; second-hand", cell=208),
    "trident2": Asic(12 * MB, 32, 40 * GBPS, f"{_REFERENCE}: 12 MB; second-hand", _SLICES, 208),
    "tomahawk": Asic(16 * MB, 32, 100 * GBPS, "DSH, ICDCS 2023: 32 x 100G, 16 MB", _SLICES, 208),
    "tomahawk2": Asic(
        42 * MB, 64, 100 * GBPS, f"{_REFERENCE}: 42 MB, 6.4 Tb/s; second-hand", "", 208
    ),
    "trident3": Asic(
        32 * MB, 32, 100 * GBPS, f"{_REFERENCE}: 32 MB, 32 x 100G; second-hand", "", 256
    ),
    "tomahawk3": Asic(64 * MB, 32, 400 * GBPS, f"{_LIST}: 64 MB, 12.8 Tb/s; second-hand", "", 254),
    "trident4": Asic(132 * MB, 32, 400 * GBPS, f"{_WARNER}: 132 MB, 32 x 400G; second-hand"),
    "tomahawk5": Asic(
        162_539_680,
        64,
        800 * GBPS,
        f"{_SONIC}, Dell Z9864F: lossless pool of 162,539,680 B",
        "33,374,584 B of shared headroom are beside it as shipped",
        254,
    ),
    "tomahawk6": Asic(
        257_154_240,
        128,
        800 * GBPS,
        f"{_SONIC}, Nokia H6 P128: lossless pool of 257,154,240 B",
        "59,041,792 B of shared headroom are beside it as shipped",
        420,
    ),
    "spectrum2": Asic(42 * MB, 32, 200 * GBPS, f"{_LIST}: 42 MB, 6.4 Tb/s; second-hand", "", 144),
    "spectrum3": Asic(64 * MB, 32, 400 * GBPS, f"{_LIST}: 64 MB, 12.8 Tb/s; second-hand", "", 144),
}
"""Every chip that `invoke size --asic` knows."""

UNKNOWN = frozenset(
    {
        *("tomahawk4", "tomahawk-ultra", "trident5", "jericho2", "jericho2c-plus", "jericho3"),
        *("q3d", "spectrum4", "spectrum5", "spectrum6", "tofino", "tofino2", "g100", "g200"),
    }
)
"""Chips whose buffer, ports and rates have no source here that says all three."""


def _by_rate(
    rates: Mapping[int, tuple[int, ...]], lengths: tuple[int, ...]
) -> dict[int, Mapping[int, int]]:
    return {rate * GBPS: dict(zip(lengths, sizes, strict=True)) for rate, sizes in rates.items()}


_SHORT_TO_LONG = (5, 40, 300)
SHIPPED: Mapping[str, Shipped] = {
    "trident2": Shipped("Dell S6000", _by_rate({10: (55_120,), 40: (55_120,)}, (300,)), 2496),
    "tomahawk": Shipped(
        "Arista 7060CX", _by_rate({100: (165_568, 177_632, 268_736)}, _SHORT_TO_LONG), 2288
    ),
    "tomahawk2": Shipped(
        "Arista 7260CX3-D96C16", _by_rate({100: (96_928, 177_632, 268_736)}, _SHORT_TO_LONG), 2496
    ),
    "trident3": Shipped("Arista 7050CX3", _by_rate({100: (160_000,)}, (300,)), 4608),
    "tomahawk3": Shipped(
        "Dell Z9332f",
        _by_rate(
            {100: (68_580, 74_422, 117_348), 400: (178_562, 201_930, 373_888)}, _SHORT_TO_LONG
        ),
        2540,
    ),
    "tomahawk5": Shipped(
        "Dell Z9864F",
        _by_rate(
            {
                100: (147_066, 160_274, 258_572),
                400: (393_192, 446_024, 839_216),
                800: (729_488, 835_406, 1_621_536),
            },
            _SHORT_TO_LONG,
        ),
        3556,
    ),
    "tomahawk6": Shipped(
        "Nokia H6 P128",
        _by_rate(
            {
                100: (125_580, 131_880, 180_180),
                400: (464_520, 490_980, 686_280),
                800: (797_580, 850_080, 1_239_840),
            },
            _SHORT_TO_LONG,
        ),
        4200,
    ),
    "spectrum3": Shipped(
        "NVIDIA SN4700",
        _by_rate({100: (33_792, 44_032, 117_760), 400: (38_912, 77_824, 373_760)}, _SHORT_TO_LONG),
    ),
}
"""What switches with these chips are shipped with (device/*/pg_profile_lookup.ini of SONiC)."""
