"""`size`: headroom, thresholds and lossless classes of a switch."""

from __future__ import annotations

from collections.abc import Mapping

from pyorch.cli.base import OK, listing
from pyorch.size import check, read_switch, render


@listing
def size(name: str, options: Mapping[str, str]) -> int:
    """Print what a switch needs, from an experiment, a chip or options, and the TOML for it."""
    switch = read_switch(name, options)
    check(switch)
    print(render(switch))
    return OK
