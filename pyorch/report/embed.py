"""Libraries and data inside a page: compressed, so that one file needs nothing but a browser.

A page includes Plotly (1.5 MB compressed, of 4.8 MB) only if one of its figures is live, and
DataTables (0.2 MB) only if it has a table to filter.
"""

from __future__ import annotations

import base64
import gzip
from functools import lru_cache
from importlib.resources import files

_LEVEL = 4  # half the time of zlib's default, for pages that are 4 % larger


def packed(text: str) -> str:
    """Text as base64 of gzip; the same text gives the same bytes."""
    return base64.b64encode(gzip.compress(text.encode(), _LEVEL, mtime=0)).decode()


@lru_cache(maxsize=1)
def plotly() -> str:
    """Plotly's library, packed."""
    return packed(files("plotly").joinpath("package_data", "plotly.min.js").read_text("utf-8"))


@lru_cache(maxsize=1)
def datatables() -> tuple[str, str]:
    """(library, style sheet) of DataTables as itables bundles them, packed."""
    folder = files("itables").joinpath("html")
    names = ("dt_bundle.js", "dt_bundle.css")
    script, style = (packed(folder.joinpath(name).read_text("utf-8")) for name in names)
    return script, style
