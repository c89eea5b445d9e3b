"""`python -m pyorch` is `pyorch`."""

from pyorch.cli.main import main

main()
