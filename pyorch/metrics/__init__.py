"""Metrics: numbers computed from one run's tables. A kind is added with @metric in one place.

Values are in base units: B, bit/s, ps or a pure number. Importing this package loads neither
numpy nor pandas.
"""

from pyorch.metrics.base import (
    MODELS,
    Metric,
    RunTables,
    compute,
    known_numbers,
    metric,
    missing_numbers,
    output_units,
    parse,
    unit_of_name,
)
from pyorch.metrics.fields import Need, Quantity, is_traced, parse_quantity, trace_hint

__all__ = [
    "MODELS",
    "Metric",
    "Need",
    "Quantity",
    "RunTables",
    "compute",
    "is_traced",
    "known_numbers",
    "metric",
    "missing_numbers",
    "output_units",
    "parse",
    "parse_quantity",
    "trace_hint",
    "unit_of_name",
]
