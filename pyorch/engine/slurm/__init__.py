"""Slurm as an engine: job arrays over a manifest, and what became of them.

Slurm keeps the queue, requeues what a dead node held and enforces limits; nobody has to watch. The
state of a sweep is read from what lies on the disk and from squeue, never remembered.
"""
