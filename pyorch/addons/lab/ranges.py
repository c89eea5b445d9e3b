"""What a search varies: keys of an experiment file, each with a range or a list of values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyorch.base.errors import Problem, UserError, one_of
from pyorch.base.units import QUANTITIES
from pyorch.files.patch import PatchError, split_key

OPTION = "--vary"
_FORM = "KEY=LOW..HIGH, KEY=LOW..HIGH:log, or KEY=A,B,C"
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19)


@dataclass(frozen=True)
class Axis:
    """A key and its possible values.

    low, high: ends of a range, in base units. unit: "B", "bit/s", "ps", or "" for plain numbers.
    whole: only whole numbers. log: logarithmic steps instead of linear ones. choices: values, as
    texts, instead of a range.
    """

    key: str
    low: float = 0.0
    high: float = 0.0
    unit: str = ""
    whole: bool = False
    log: bool = False
    choices: tuple[str, ...] = ()

    def at(self, share: float) -> float:
        """The value at a share, 0 to 1, of the range; between its ends rounded to four digits."""
        if share in (0, 1):
            return (self.low, self.high)[int(share)]
        value = self.low + (self.high - self.low) * share
        if self.log:
            value = self.low * math.exp(math.log(self.high / self.low) * share)
        digits = 3 - math.floor(math.log10(min(abs(value) or 1.0, self.high - self.low)))
        value = round(value, min(digits, 0) if self.whole else digits)
        return round(value) if self.whole else value

    def text(self, share: float) -> str:
        """The value at a share of the range, or of the choices, as in an experiment file."""
        if self.choices:
            return self.choices[min(int(share * len(self.choices)), len(self.choices) - 1)]
        return self.written(self.at(share))

    def written(self, value: float) -> str:
        """A value as in an experiment file."""
        if self.unit:
            return QUANTITIES[self.unit][1](int(value))
        return str(int(value)) if self.whole else repr(value)


def read_axes(texts: Sequence[str]) -> list[Axis]:
    """Read the texts of --vary. Raises UserError with all problems."""
    axes: list[Axis] = []
    problems: list[Problem] = []
    for text in texts:
        try:
            axis = _read(text)
        except ValueError as error:
            problems.append(Problem(f"{OPTION} {text}", str(error), _FORM))
            continue
        if axis.key in [one.key for one in axes]:
            problems.append(Problem(f"{OPTION} {text}", f"{axis.key!r} is given twice"))
        axes.append(axis)
    if len(axes) > len(_PRIMES):
        problems.append(Problem(OPTION, f"{len(axes)} keys", f"at most {len(_PRIMES)}"))
    if problems:
        raise UserError(problems)
    return axes


def _read(text: str) -> Axis:
    key, equals, value = text.partition("=")
    if not equals or not value.strip():
        raise ValueError("is not of the form KEY=RANGE")
    try:
        key = ".".join(split_key(key))
    except PatchError as error:
        raise ValueError(str(error)) from error
    if ".." not in value:
        choices = tuple(part.strip() for part in value.split(","))
        if len(choices) < 2 or not all(choices):
            raise ValueError("needs at least two values")
        return Axis(key, choices=choices)
    body, colon, scale = value.partition(":")
    if colon and scale.strip() != "log":
        raise ValueError(f"{scale.strip()!r} is not a scale; the only one is 'log'")
    low, unit, low_whole = _number(body.partition("..")[0])
    high, other, high_whole = _number(body.partition("..")[2])
    if unit != other:
        known = one_of([one or "a plain number" for one in (unit, other)])
        raise ValueError(f"its ends are in different units: {known}")
    if not low < high:
        raise ValueError("the range does not begin below its end")
    if colon and low <= 0:
        raise ValueError("a logarithmic range must begin above 0")
    return Axis(key, low, high, unit, bool(unit) or (low_whole and high_whole), bool(colon))


def _number(text: str) -> tuple[float, str, bool]:
    """Return an end of a range, its unit, and whether it is a whole number."""
    text = text.strip()
    for unit, (parse, _) in QUANTITIES.items():
        try:
            return parse(text), unit, True
        except ValueError:
            continue
    try:
        return float(text), "", text.lstrip("-").isdecimal()
    except ValueError:
        raise ValueError(f"{text!r} is not a number, size, rate or time") from None


def draw(axes: Sequence[Axis], number: int) -> dict[str, str]:
    """The values of a draw by key, evenly spread by a Halton sequence.

    number: from 1. Halton, Numerische Mathematik 2, 1960.
    """
    return {
        axis.key: axis.text(_radical_inverse(number, base))
        for axis, base in zip(axes, _PRIMES, strict=False)
    }


def _radical_inverse(number: int, base: int) -> float:
    """The digits of a number to a base, mirrored at the radix point."""
    share, value = 1.0 / base, 0.0
    while number:
        number, digit = divmod(number, base)
        value += share * digit
        share /= base
    return value


def overrides_of(values: Mapping[str, str]) -> list[str]:
    """Values by key, as texts for --set."""
    return [f"{key}={value}" for key, value in values.items()]
