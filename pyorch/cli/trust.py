"""`trust`: let code run that somebody else may have written."""

from __future__ import annotations

from pyorch.base import trust
from pyorch.base.errors import refusal, shown
from pyorch.base.paths import expanded
from pyorch.cli.base import OK, command


@command
def trust_path(path: str) -> int:
    """Trust the code in a file or folder as it is now, and name the files."""
    if not path:
        what = "no file or folder was given"
        raise refusal("PATH", what, hint="pyorch trust my-project, or . for this one")
    found = trust.decide(expanded(path))
    if not found:
        print(f"nothing to trust in {shown(path)}: nobody else may change what of it could run")
        return OK
    for file, why in found.items():
        print(shown(f"trusted: {file} ({why})"))
    print("a file that changes, and a new one, is refused until you trust it")
    return OK
