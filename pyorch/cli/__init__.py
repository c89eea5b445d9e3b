"""Commands, one file per verb: they take words, print text, and return an exit code.

A file is loaded when it is asked for, as in `cli.show.show(...)`: commands start fast.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyorch.cli import (  # noqa: F401 (for the commands, as they are used)
        bring,
        build,
        compare,
        experiment,
        explain,
        export,
        init,
        listing,
        new_scheme,
        pages,
        schemes,
        show,
        size,
        sweep,
        trace,
        trust,
    )
else:

    def __getattr__(name: str) -> ModuleType:
        if name.startswith("_"):
            raise AttributeError(name)
        return import_module(f"{__name__}.{name}")
