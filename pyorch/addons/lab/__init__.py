"""The deadlock laboratory: the minimal part of a run that deadlocks, and what prevents it.

docs/deadlock-lab.md is its page; `invoke minimise` and `invoke prevent` are its commands.
"""
