"""`gfc-parameters`: the parameters of GFC for a link."""

from __future__ import annotations

from collections.abc import Mapping

from pyorch.cli.base import OK, listing


@listing
def gfc_parameters(texts: Mapping[str, str]) -> int:
    """Print the parameters of GFC for a link, given as texts; see pyorch.gfc."""
    from pyorch.gfc import read_parameters, render

    print(render(read_parameters(texts)))
    return OK
