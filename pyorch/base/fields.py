"""Field types of experiment files, and the canonical form of a validated table.

A file says `rate = "10Gbps"`; the canonical form, in which a RunSpec is written, has `"rate_bps":
10000000000`. `encode` and `decode` convert between them. Different spellings of a value have the
same canonical form.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from pyorch.base import units
from pyorch.base.errors import UserError
from pyorch.base.findings import Findings, models_in

#: Validation context that says: this is a canonical form, quantities are integers already.
_CANONICAL = "canonical form"
NEVER = -1
"""A time that never comes, in the canonical form."""


@dataclass(frozen=True)
class Unit:
    """How a quantity is parsed, and the suffix of its key in the canonical form."""

    suffix: str
    parse: Callable[[str], int]
    write: Callable[[int], str]


def _quantity(
    unit: Unit, scales: Mapping[str, int], example: str
) -> tuple[BeforeValidator, PlainSerializer, Unit]:
    """Text with a unit <-> integer; written back as text, so that a dumped entry can be read."""

    def read(value: Any, info: ValidationInfo) -> Any:
        return value if info.context == _CANONICAL else unit.parse(value)

    text = Annotated[str, Field(pattern=units.pattern_of(scales), examples=[example])]
    reader = BeforeValidator(read, json_schema_input_type=text)
    return reader, PlainSerializer(unit.write, return_type=str), unit


class Never:
    """Marks a time for which None is written as NEVER, and read back."""


def _hashable(value: Any) -> Any:
    if isinstance(value, list):  # of a long one some entries are enough
        return (len(value), *map(_hashable, value[:: 1 + len(value) // 100]))
    if isinstance(value, dict):
        return frozenset((key, _hashable(entry)) for key, entry in value.items())
    return value


def as_list(value: Any) -> Any:
    """Return one text as a list of it; other values as they are."""
    return [value] if isinstance(value, str) else value


_RATE = _quantity(Unit("_bps", units.parse_rate, units.format_rate), units.RATES, "10Gbps")
_TIME = _quantity(Unit("_ps", units.parse_time, units.format_time), units.TIMES, "25us")
_SIZE = _quantity(Unit("_bytes", units.parse_bytes, units.format_bytes), units.SIZES, "100KB")
_WALL_TIME = _quantity(
    Unit("_s", units.parse_wall_time, units.format_wall_time), units.WALL_TIMES, "10min"
)

Rate = Annotated[int, *_RATE]
"""A rate, "10Gbps" in a file, in bit/s; 0 is allowed."""
LinkRate = Annotated[int, *_RATE, Field(gt=0)]
"""A rate above 0, in bit/s."""
Time = Annotated[int, *_TIME]
"""A time, "25us" in a file, in ps; 0 is allowed."""
Duration = Annotated[int, *_TIME, Field(gt=0)]
"""A time above 0, in ps."""
Until = Annotated[Duration | None, Never()]
"""A time above 0 at which something ends, in ps; None is never."""
WallTime = Annotated[int, *_WALL_TIME, Field(gt=0)]
"""A time above 0 on a clock on the wall, "10min" in a file, in s."""
Size = Annotated[int, *_SIZE, Field(gt=0)]
"""A size above 0, "100KB" in a file, in bytes."""
Window = Annotated[int, *_SIZE]
"""A size in bytes; 0 is allowed."""
TrafficClass = Annotated[int, Field(ge=0, le=7)]
"""A traffic class (priority) of 802.1Q, 0 to 7."""
Names = Annotated[
    list[str],
    BeforeValidator(as_list, json_schema_input_type=str | list[str]),
    Field(min_length=1),
]
"""One name or a list of names."""
Link = Annotated[list[str], Field(min_length=2, max_length=2)]
"""A link: the names of its two ends; "s1#2" is by the second of several links."""


def reverse_names(name: str, neighbour: str) -> tuple[str, str]:
    """Return the port at the other end of a link: ("s1", "s0#2") for ("s0", "s1#2")."""
    other, sign, place = neighbour.partition("#")
    return other, name + sign + place


class Strict(BaseModel):
    """Base of all models: no unknown keys, no silent conversion, immutable."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        defer_build=True,  # most commands use few of the kinds
    )

    def __hash__(self) -> int:
        """Return the same for equal models; unlike that of pydantic it takes lists."""
        return hash((type(self), _hashable(self.__dict__)))


class Table(Strict):
    """Base of every table of an experiment file.

    left_out: fields that the canonical form omits if they have the default: they were added later,
    and earlier runs keep their names.
    """

    left_out: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, /, **data: Any) -> None:
        """Make a table in Python: keys as in a file, or with the names of the attributes.

        Raises UserError in the words that a file would get.
        """
        # `class` is a word of Python: there it is traffic_class
        aliases = {name: info.alias or name for name, info in type(self).model_fields.items()}
        data = {aliases.get(key, key): value for key, value in data.items()}
        try:
            super().__init__(**data)
        except ValidationError as error:
            findings = Findings(type(self).__name__)
            findings.note(error, type(self), data)
            raise UserError(findings.problems) from None

    # or pydantic would call it for the tables of files, too, which tell their errors together
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]


class Kind(Table):
    """Base of tables whose type is given by `kind`; in Python by the class."""

    registered: ClassVar[str] = ""

    kind: str = ""

    @model_validator(mode="before")
    @classmethod
    def _fill_kind(cls, data: Any) -> Any:
        if isinstance(data, dict) and "kind" not in data and cls.registered:
            return {"kind": cls.registered, **data}
        return data


T = TypeVar("T", bound=Table)


def encode(table: Table) -> dict[str, Any]:
    """Return the canonical form of a table: integers, unit suffixes, no key whose value is None."""
    form = {}
    for name, written_as in _canonical_fields(type(table)).items():
        value = getattr(table, name)
        value = written_as.absent if value is None else value
        if value != written_as.left_out:
            form[written_as.key] = _encode_value(value)
    return form


def decode(model: type[T], form: Mapping[str, Any]) -> T:
    """Return the table of a canonical form. Raises ValueError if it is not one."""
    return model.model_validate(_spelled(model, form), context=_CANONICAL)


def written(value: Any) -> Any:
    """Return a table created in Python in the form of a file: with units, without omitted keys.

    Lists and tables without a model are traversed; other values are unchanged.
    """
    if isinstance(value, Table):
        return {
            info.alias or name: _with_unit(info, getattr(value, name))
            for name, info in type(value).model_fields.items()
            if (name in value.model_fields_set or name == "kind")
            and getattr(value, name) is not None
            and not info.exclude  # filled in
        }
    if isinstance(value, BaseModel):
        kind = {"kind": value.kind} if hasattr(value, "kind") else {}
        return kind | value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, Mapping):
        return {str(key): written(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [written(entry) for entry in value]
    return value


def _with_unit(info: Any, value: Any) -> Any:
    unit = next(_units_in(info), None)
    if unit is not None and type(value) is int:
        return unit.write(value)
    return written(value)


def _encode_value(value: Any) -> Any:
    if isinstance(value, Table):
        return encode(value)
    if isinstance(value, list):
        return [_encode_value(entry) for entry in value]
    return value


def _spelled(model: type[BaseModel], form: Mapping[str, Any]) -> dict[str, Any]:
    """Rename the keys of a canonical form to those of the model."""
    rest = dict(form)
    data = {}
    fields = _canonical_fields(model).values()
    for written_as in fields:
        if written_as.key in rest:
            value = rest.pop(written_as.key)
            absent = written_as.absent is not None and value == written_as.absent
            data[written_as.bare] = None if absent else _spelled_value(written_as.inner, value)
    if bare := rest.keys() & {written_as.bare for written_as in fields}:
        raise ValueError(f"{', '.join(sorted(bare))}: the canonical key ends in its unit")
    return data | rest  # what is left is unknown, and the model will say so


def _spelled_value(inner: type[BaseModel] | None, value: Any) -> Any:
    if inner is None:
        return value
    if isinstance(value, list):
        return [_spelled(inner, entry) for entry in value]
    return _spelled(inner, value)


class _Canonical(NamedTuple):
    """A field in the canonical form: its key, what stands for None, and the value without a key.

    bare: its key in a file. inner: the model of its value.
    """

    key: str
    absent: int | None
    left_out: Any
    bare: str
    inner: type[BaseModel] | None


@cache
def _canonical_fields(model: type[BaseModel]) -> dict[str, _Canonical]:
    omitted: Collection[str] = getattr(model, "left_out", ())
    return {
        name: _Canonical(
            _canonical_key(name, info),
            NEVER if any(isinstance(entry, Never) for entry in info.metadata) else None,
            info.default if name in omitted else None,
            info.alias or name,
            next(models_in(info.annotation), None),
        )
        for name, info in model.model_fields.items()
    }


def _canonical_key(name: str, info: Any) -> str:
    unit = next(_units_in(info), None)
    return (info.alias or name) + (unit.suffix if unit else "")


def _units_in(info: Any) -> Any:
    yield from (entry for entry in info.metadata if isinstance(entry, Unit))
    yield from _units_in_annotation(info.annotation)


def _units_in_annotation(annotation: Any) -> Any:
    for entry in getattr(annotation, "__metadata__", ()):
        if isinstance(entry, Unit):
            yield entry
    for argument in get_args(annotation):
        yield from _units_in_annotation(argument)
