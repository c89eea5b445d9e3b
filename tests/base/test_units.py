"""Units: text to integers and back."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyorch.base import units

Parse = Callable[[str], int]


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (units.parse_rate, "10Gbps", 10_000_000_000),
        (units.parse_rate, "1.5Mbps", 1_500_000),
        (units.parse_rate, "8 kbps", 8_000),
        (units.parse_rate, "8Kbps", 8_000),
        (units.parse_time, "25us", 25_000_000),
        (units.parse_time, "83.84ns", 83_840),
        (units.parse_time, "1e-3s", 1_000_000_000),
        (units.parse_bytes, "100KB", 100_000),
        (units.parse_bytes, "1MiB", 1_048_576),
        (units.parse_bytes, "0B", 0),
        (units.parse_bytes, "1000000000000000B", units.MAX_BYTES),
        (units.parse_time, "4000000s", units.MAX_TIME),
        (units.parse_rate, "1000Tbps", units.MAX_RATE),
    ],
)
def test_reads_spellings_of_ns3(parse: Parse, text: str, value: int) -> None:
    """Decimal prefixes are powers of 1000 and binary ones of 1024."""
    assert parse(text) == value


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (units.parse_rate, "10", "'10' lacks its unit: a rate is written like \"10Gbps\""),
        (units.parse_time, 5, 'a time is a text with its unit, such as "25us" (got 5)'),
        (units.parse_time, "-1us", "'-1us' is not a time such as \"25us\""),
        (units.parse_time, "0.5ps", "'0.5ps' is not a whole number of ps"),
        (
            units.parse_bytes,
            "1Kb",
            "'1Kb': 'Kb' is not a unit of a size; known: B, KB, MB, GB, TB, KiB, MiB, GiB, TiB",
        ),
        (
            units.parse_bytes,
            "18446744073709551616B",
            "'18446744073709551616B' is larger than the largest size, 1000TB",
        ),
        (
            units.parse_time,
            "9223372036854775807ps",
            "'9223372036854775807ps' is larger than the largest time, 4000000s",
        ),
        (units.parse_rate, "9" * 101, f"'{'9' * 101}' is not a rate such as \"10Gbps\""),
        (units.parse_time, "\u0663us", "'\u0663us' is not a time such as \"25us\""),
    ],
)
def test_refuses_with_a_message(parse: Parse, text: str, message: str) -> None:
    """What is not a quantity is refused with examples of quantities."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        parse(text)
    assert str(caught.value) == message


@given(st.integers(0, units.MAX_BYTES))
def test_rates_and_sizes_round_trip(value: int) -> None:
    """Reading what was written gives the same integer."""
    assert units.parse_rate(units.format_rate(value)) == value
    assert units.parse_bytes(units.format_bytes(value)) == value


@given(st.integers(0, units.MAX_TIME))
def test_times_round_trip_and_are_shortest(value: int) -> None:
    """Reading what was written gives the same integer, and no unit gives a shorter text."""
    text = units.format_time(value)
    assert units.parse_time(text) == value
    for unit, scale in units.TIMES.items():
        spelling = f"{(Decimal(value) / scale).normalize():f}{unit}"
        if Decimal(spelling.removesuffix(unit)) * scale == value:
            assert len(text) <= len(spelling)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (units.format_time(500), "500ps"),
        (units.format_time(0), "0s"),
        (units.format_rate(0), "0bps"),
        (units.format_bytes(65536), "64KiB"),
        (units.format_bytes(1048), "1048B"),
        (units.format_rate(2_500_000_000), "2.5Gbps"),
    ],
)
def test_writes_the_shortest_spelling(text: str, written: str) -> None:
    """The unit is the one with the shortest exact text."""
    assert text == written


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (0, "0 ps"),
        (999, "999 ps"),
        (999_600, "1 us"),
        (999_400, "999 ns"),
        (2_824_228_247, "2.82 ms"),
        (12 * 10**12, "12 s"),
        (1_234_567 * 10**12, "1.23e+06 s"),
    ],
)
def test_rounds_to_three_digits(value: int, read: str) -> None:
    """A next larger unit begins where three digits would be four."""
    assert units.rounded_time(value) == read


def test_rounds_sizes_to_powers_of_1000() -> None:
    """A binary prefix would hide what the number is."""
    assert units.rounded_bytes(2**20) == "1.05 MB"


def test_refuses_to_write_a_negative_quantity() -> None:
    """There is no spelling for a negative size."""
    with pytest.raises(ValueError, match="-1 is negative"):
        units.format_bytes(-1)


@pytest.mark.parametrize(
    ("text", "seconds", "written"),
    [("90s", 90, "90s"), ("10min", 600, "600s"), ("1.5h", 5400, "1.5h"), ("1d", 86_400, "1d")],
)
def test_wall_times(text: str, seconds: int, written: str) -> None:
    """Seconds to days; of spellings without an end, such as 1/60 min, none is written."""
    assert units.parse_wall_time(text) == seconds
    assert units.format_wall_time(seconds) == written
    assert units.format_wall_time(61) == "61s"
    with pytest.raises(ValueError, match="larger than the largest wall time, 10000d"):
        units.parse_wall_time("1000000000s")
    with pytest.raises(ValueError, match="'us' is not a unit of a wall time; known: s, min, h, d"):
        units.parse_wall_time("1us")
