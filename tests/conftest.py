"""The order of the tests, and what holds for those that draw their examples."""

from __future__ import annotations

import pytest
from hypothesis import settings

# how long an example takes says how busy the machine is
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first, so that no core idles at the end: Slurm, groups, slow tests.

    pytest-xdist deals tests out in this order (--no-loadscope-reorder). Each group stays together.
    """
    items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    """Tests of a lower rank begin earlier."""
    if item.get_closest_marker("slurm"):
        return 0
    if item.get_closest_marker("xdist_group"):
        return 1
    return 2 if item.get_closest_marker("slow") else 3
