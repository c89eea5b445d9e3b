"""Switch chips by name: buffer, ports and rates, each with its source.

Manufacturers seldom publish the size of a packet buffer; values that are not from a paper are
second-hand, as stated by `source`.
"""

from __future__ import annotations

from dataclasses import dataclass

GBPS = 10**9
MB = 10**6

_WARNER = "J. Warner, UC Santa Cruz, Packet Buffers (people.ucsc.edu/~warner/Bufs)"
_REFERENCE = "Packet Buffer Reference (port-buffers.forwardingplane.net)"
_LIST = "list of Ethernet ASICs, 2020 (gist.github.com/jopietsch)"


@dataclass(frozen=True)
class Asic:
    """A chip with all its ports at one rate.

    size: packet buffer [B]. ports: their number. rate: of each port [bit/s]. note: caveats.
    """

    size: int
    ports: int
    rate: int
    source: str
    note: str = ""


_SLICES = "the buffer is in slices, and a port can use only part of it"

ASICS: dict[str, Asic] = {
    "trident-plus": Asic(9 * MB, 64, 10 * GBPS, f"{_WARNER}: 9 MB; second-hand"),
    "trident2": Asic(12 * MB, 32, 40 * GBPS, f"{_REFERENCE}: 12 MB; second-hand", _SLICES),
    "tomahawk": Asic(16 * MB, 32, 100 * GBPS, "DSH, ICDCS 2023: 32 x 100G, 16 MB", _SLICES),
    "tomahawk2": Asic(42 * MB, 64, 100 * GBPS, f"{_REFERENCE}: 42 MB, 6.4 Tb/s; second-hand"),
    "trident3": Asic(32 * MB, 32, 100 * GBPS, f"{_REFERENCE}: 32 MB, 32 x 100G; second-hand"),
    "tomahawk3": Asic(64 * MB, 32, 400 * GBPS, f"{_LIST}: 64 MB, 12.8 Tb/s; second-hand"),
    "trident4": Asic(132 * MB, 32, 400 * GBPS, f"{_WARNER}: 132 MB, 32 x 400G; second-hand"),
    "spectrum2": Asic(42 * MB, 32, 200 * GBPS, f"{_LIST}: 42 MB, 6.4 Tb/s; second-hand"),
    "spectrum3": Asic(64 * MB, 32, 400 * GBPS, f"{_LIST}: 64 MB, 12.8 Tb/s; second-hand"),
}
"""Every chip that `invoke size --asic` knows."""
