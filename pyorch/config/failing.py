"""Links that fail at random: drawn from the seed before a run, which finds them in its RunSpec."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from pyorch.config.cycles import have_cycles
from pyorch.config.topology import build, ends_of, trunks
from pyorch.errors import Problem, UserError

#: Draws of random failed links before giving up on keeping the hosts connected.
MAX_DRAWS = 1000
DRAWS_AT_ONCE = 8
"""Draws that are looked at together, which is faster than one by one."""


def draw_failed_links(spec: Mapping[str, Any], seed: int) -> Mapping[str, Any]:
    """Replace `random_failed_links = n` of a canonical form by n links drawn from the seed.

    They are links between switches. Draws that cut off a host are drawn again, and with `dependency
    = "cyclic"` also those under which the shortest paths between hosts have no cyclic buffer
    dependency. Raises UserError when no draw will do. The variants of an experiment share what is
    drawn, so that nobody may change it.
    """
    if not spec.get("random_failed_links", 0):
        return spec
    return _draw(json.dumps(spec, sort_keys=True), seed)


def forget_drawn() -> None:
    """Forget the links that were drawn: a kind of topology has changed."""
    _draw.cache_clear()


@cache
def _draw(spec: str, seed: int) -> Mapping[str, Any]:
    form = json.loads(spec)
    count, cyclic = form.pop("random_failed_links"), form.pop("dependency", "any") == "cyclic"
    network = build(form)
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
                pairs = [ends_of(network, link) for link in sorted(failed)]
                drawn: Mapping[str, Any] = form | {"failed_links": pairs}
                return drawn
    least = "or leave no cyclic buffer dependency " if cyclic else ""
    what = f"{count} failed links cut off a host {least}in each of {MAX_DRAWS} draws (seed {seed})"
    raise UserError([Problem("topology.random_failed_links", what, None, "fail fewer links")])
