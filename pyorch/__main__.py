"""`python -m pyorch` is `pyorch`."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the current folder: a random.py of the project is not Python's

from pyorch.cli.main import main

main()
