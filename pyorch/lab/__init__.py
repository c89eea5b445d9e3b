"""The deadlock laboratory: the least that a run needs to deadlock, and what prevents it.

docs/deadlock-lab.md is its page; `invoke minimise` and `invoke prevent` are its commands.
"""
