"""Nonsense thrown at pyorch: mutated files, options, settings and objects, and odd real runs.

`python -m tests.campaign --help` says how to run it; docs/reliability.md has the tables.
"""
