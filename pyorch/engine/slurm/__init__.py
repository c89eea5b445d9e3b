"""Slurm as an engine: job arrays over a manifest, and their outcome.

Slurm keeps the queue, requeues the jobs of a dead node and enforces limits; no process has to
watch. The state of a sweep is read from the disk and from squeue, never cached.
"""
