"""Experiment files: found, read, composed, and resolved to an Experiment."""
