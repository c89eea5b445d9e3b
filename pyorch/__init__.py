"""Experiments on lossless Ethernet: experiment file -> plan -> runs -> store -> report."""

from pyorch.errors import Problem, UserError

__all__ = ["Problem", "UserError"]
