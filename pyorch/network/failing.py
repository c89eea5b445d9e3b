"""Links that fail at random: drawn from the seed before a run and stored in its RunSpec."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np

from pyorch.base.errors import refusal
from pyorch.network.cycles import have_cycles
from pyorch.network.topology import TopologyTable, build, trunks

#: Draws of random failed links before giving up on keeping the hosts connected.
MAX_DRAWS = 1000
DRAWS_AT_ONCE = 8
"""Number of draws checked together, which is faster than one by one."""


@cache
def draw_failed_links(table: TopologyTable, seed: int) -> TopologyTable:
    """Replace `random_failed_links = n` of a topology by n links drawn from the seed.

    They are links between switches. A draw that cuts off a host is repeated, and with `dependency =
    "cyclic"` also one with which the shortest paths between hosts have no cyclic buffer dependency.
    Raises UserError if no draw is suitable. The variants of an experiment share the drawn links.
    """
    count, cyclic = table.random_failed_links, table.dependency == "cyclic"
    network = build(table)
    links = trunks(network)
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, 0x11])))
    for _ in range(MAX_DRAWS // DRAWS_AT_ONCE):
        draws = [
            network.failed_links | set(random.choice(links, size=count, replace=False).tolist())
            for _ in range(DRAWS_AT_ONCE)
        ]
        fits = have_cycles(network, draws) if cyclic else [True] * DRAWS_AT_ONCE
        for failed in itertools.compress(draws, fits):
            if not network.cut_off(failed):
                pairs = [network.ends_of(link) for link in sorted(failed)]
                none_left = {"random_failed_links": 0, "dependency": "any"}
                return table.model_copy(update={**none_left, "failed_links": pairs})
    least = "or leave no cyclic buffer dependency " if cyclic else ""
    what = f"{count} failed links cut off a host {least}in each of {MAX_DRAWS} draws (seed {seed})"
    raise refusal("topology.random_failed_links", what, hint="fail fewer links")
