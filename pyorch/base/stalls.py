"""When a run counts as stalled."""

QUIET = 0.1
"""A run makes no progress if nothing arrives for this share of it."""


def is_stalled(last: int, end: float) -> bool:
    """Whether a run up to `end` in which nothing arrived after `last` made no progress [ps]."""
    return end - last >= QUIET * end > 0
