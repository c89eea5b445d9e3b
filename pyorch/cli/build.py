"""`build`: compile the C++ modules."""

from __future__ import annotations

from pyorch.base.errors import Problem, UserError
from pyorch.build import ensure_built
from pyorch.cli.base import OK, command


@command
def build(sanitize: bool = False, debug: bool = False) -> int:
    """Compile the C++ modules."""
    if sanitize and debug:
        problem = Problem("--sanitize --debug", "two builds at once", "one of them", None)
        raise UserError([problem])
    profile = "sanitize" if sanitize else "debug" if debug else "release"
    # only the test program is built with sanitizers: Python itself has none
    info = ensure_built(profile, tests=sanitize)
    print(f"{profile}: {', '.join(info.modules)} in {info.folder}")
    return OK
