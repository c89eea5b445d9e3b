"""Chakra execution traces: read, checked, and written.

MLCommons' Chakra (Sridharan et al., arXiv 2305.14516; schema `et_def.proto`): one file per rank,
each a sequence of protobuf messages preceded by their lengths: GlobalMetadata, then one Node after
another. The messages are described here by the field numbers that are read; anything else in a file
is refused. docs/chakra.md explains what a trace means here.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from pyorch.base.errors import Problem, refusal
from pyorch.base.reading import refuse_packed

NODE_TYPES = (
    "INVALID_NODE", "METADATA_NODE", "MEM_LOAD_NODE", "MEM_STORE_NODE", "COMP_NODE",
    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE", "STORAGE_NODE", "BATCH_NODE",
    "CHECKPOINT_NODE",
)  # fmt: skip
"""By number."""
SCALARS = (
    "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32",
    "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes",
)  # fmt: skip
"""Types of attributes: the n-th is field 3 + 2n, and a list of it field 4 + 2n."""
_OLD = "traces of Chakra before 0.0.3 have other messages: convert them with its own tools"
Value = int | float | bool | str | bytes | list[Any]


class Node(NamedTuple):
    """One node of a rank's trace.

    kind: one of NODE_TYPES. after: ids of nodes that it depends on, for control or for data.
    duration: us. place: file and line, or key, that it was made from; "": it is of a trace.
    """

    id: int
    kind: str
    after: tuple[int, ...] = ()
    duration: float = 0
    attributes: Mapping[str, Value] = {}
    name: str = ""
    place: str = ""


@cache
def _messages() -> Mapping[str, Any]:
    """Return the classes of protobuf's messages, by name. Raises UserError without protobuf."""
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError as error:
        hint = "pip install protobuf, or pyorch with its extra [chakra]"
        what = "reading Chakra traces needs the library protobuf, which is not installed"
        raise refusal("kind", what, hint=hint) from error
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name="pyorch/chakra.proto", package="ChakraProtoMsg", syntax="proto3"
    )

    def message(name: str) -> Any:
        return file.message_type.add(name=name)

    def add(owner: Any, name: str, number: int, kind: str, many: bool = False) -> Any:
        known = kind in SCALARS
        return owner.field.add(
            name=name,
            number=number,
            label=field.LABEL_REPEATED if many else field.LABEL_OPTIONAL,
            type=getattr(field, f"TYPE_{kind.upper()}") if known else field.TYPE_MESSAGE,
            type_name=None if known else f".ChakraProtoMsg.{kind}",
        )

    attribute = message("AttributeProto")
    attribute.oneof_decl.add(name="value")
    add(attribute, "name", 1, "string")
    add(attribute, "doc_string", 2, "string")
    for place, scalar in enumerate(SCALARS):
        several = f"{scalar.capitalize()}List"
        add(message(several), "values", 1, scalar, many=True)
        add(attribute, f"{scalar}_val", 3 + 2 * place, scalar).oneof_index = 0
        add(attribute, f"{scalar}_list", 4 + 2 * place, several).oneof_index = 0
    metadata = message("GlobalMetadata")
    add(metadata, "version", 1, "string")
    add(metadata, "attr", 2, "AttributeProto", many=True)
    node = message("Node")
    add(node, "id", 1, "uint64")
    add(node, "name", 2, "string")
    add(node, "type", 3, "int32")
    add(node, "ctrl_deps", 4, "uint64", many=True)
    add(node, "data_deps", 5, "uint64", many=True)
    add(node, "start_time_micros", 6, "uint64")
    add(node, "duration_micros", 7, "uint64")
    for number, name in ((8, "inputs"), (9, "outputs")):
        add(node, name, number, "bytes")  # tensors, which no network sees
    add(node, "attr", 10, "AttributeProto", many=True)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return dict(message_factory.GetMessageClassesForFiles([file.name], pool))


def _class(name: str) -> Any:
    return _messages()[f"ChakraProtoMsg.{name}"]


def read(data: bytes, label: str, control: bool = True) -> tuple[list[Node], list[Problem]]:
    """Return the nodes of a rank's file, in its order, and the problems found.

    control: whether nodes wait for their ctrl_deps, too.

    Raises UserError if protobuf is not installed, or the file is compressed.
    """
    refuse_packed(data, label)
    _messages()
    from google.protobuf import message, proto

    stream = io.BytesIO(data)
    nodes: list[Node] = []
    problems: list[Problem] = []
    try:
        if not data:
            raise ValueError("it is empty")
        if _unknown(proto.parse_length_prefixed(_class("GlobalMetadata"), stream)):
            raise ValueError("it does not begin with GlobalMetadata")
        while (one := proto.parse_length_prefixed(_class("Node"), stream)) is not None:
            nodes.append(_node(one, label, problems, control))
    except (message.DecodeError, ValueError, IndexError) as error:
        where = label if not nodes else f"{label}, behind node {nodes[-1].id}"
        what = f"not a Chakra trace, or a truncated one: {error}"
        allowed = "lengths and messages: GlobalMetadata, then nodes"
        problems.append(Problem(where, what, allowed, _OLD if data and not nodes else None))
    return nodes, problems


def _unknown(message: Any) -> list[int]:
    """Return the numbers of the fields of a message that are not described above."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    return sorted({field.field_number for field in UnknownFieldSet(message)})


def _node(message: Any, label: str, problems: list[Problem], control: bool) -> Node:
    where = f"{label}, node {message.id}"
    known = 0 <= message.type < len(NODE_TYPES)
    kind = NODE_TYPES[message.type] if known else f"type {message.type}"
    if unknown := _unknown(message):
        told = ", ".join(map(str, unknown))
        problems.append(Problem(where, f"fields that are not read: {told}", "fields 1 to 10"))
    attributes: dict[str, Value] = {}
    for one in message.attr:
        if one.name in attributes:
            problems.append(Problem(where, f"two attributes {one.name!r}", "every name once"))
        attributes[one.name] = _value(one)
    called = message.ctrl_deps if control else ()
    after = dict.fromkeys([*called, *message.data_deps])
    duration = message.duration_micros
    return Node(message.id, kind, tuple(after), duration, attributes, message.name)


def _value(attribute: Any) -> Value:
    """Return the value of an attribute; "" if it has none of a known type."""
    which = attribute.WhichOneof("value")
    if which is None:
        return ""
    value = getattr(attribute, which)
    return list(value.values) if which.endswith("_list") else value


def write(nodes: Iterable[Node]) -> bytes:
    """Return a rank's trace as a file: numbers as int64, lists as lists of bool.

    Raises UserError if protobuf is not installed.
    """
    _messages()
    from google.protobuf import proto

    stream = io.BytesIO()
    proto.serialize_length_prefixed(_class("GlobalMetadata")(version="0.0.4"), stream)
    for one in nodes:
        message = _class("Node")(
            id=one.id,
            name=one.name,
            type=NODE_TYPES.index(one.kind),
            data_deps=one.after,
            duration_micros=one.duration,
        )
        for name, value in one.attributes.items():
            attribute = message.attr.add(name=name)
            if isinstance(value, bool):
                attribute.bool_val = value
            elif isinstance(value, int):
                attribute.int64_val = value
            elif isinstance(value, str):
                attribute.string_val = value
            elif isinstance(value, list):
                attribute.bool_list.values.extend(value)
            else:
                raise TypeError(f"attribute {name}: {type(value).__name__}")
        proto.serialize_length_prefixed(message, stream)
    return stream.getvalue()
