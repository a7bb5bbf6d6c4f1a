"""Graphs as data: records with the fields of TensorFlow's GraphDef.

They need no Protocol Buffers, they are plain Python. Their text is that of messages in text form.

The engine has a view of its own of the same content (graven/ir/graph_def.h); it crosses over as
tuples:

    graph = (nodes, functions, producer, min_consumer)
    node = (name, op, device, inputs, attributes)
    function = (name, inputs, outputs, is_stateful, nodes, results, control_results, attributes)
    argument = (name, dtype, sizes, handle_data, attributes)
    attributes = {name: (kind, value)}

where a kind is that of AttrValue, "i" or "list(i)", and a shape is a list of sizes, -1 if unknown,
or None.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import field
from typing import Any

from graven import _dtypes

PlainShape = list[int] | None
Plain = tuple[Any, ...]
PlainAttributes = dict[str, tuple[str, Any]]

# --- Records.

_ENUM_NAMES = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}


def _scalar_text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | bytes):
        data = value.encode() if isinstance(value, str) else value
        text = "".join(
            f"\\{chr(b)}" if b in b'"\\' else chr(b) if 32 <= b < 127 else f"\\{b:03o}"
            for b in data
        )
        return f'"{text}"'
    if name in ("type", "dtype"):
        try:
            dtype = _dtypes.as_dtype(value).name
        except TypeError:
            return str(value)
        return "DT_" + _ENUM_NAMES.get(dtype, dtype.upper())
    return str(value)


def _lines(name: str, value: Any) -> list[str]:
    """A field in text form; nothing for one at its default."""
    if isinstance(value, list):
        return [line for item in value for line in _item_lines(name, item)]
    if isinstance(value, dict):
        lines = []
        for key, item in value.items():
            inner = [f"key: {_scalar_text('key', key)}", *_item_lines("value", item)]
            lines += [f"{name} {{", *(f"  {line}" for line in inner), "}"]
        return lines
    if isinstance(value, Record):
        return _item_lines(name, value) if value != type(value)() else []
    return _item_lines(name, value) if value else []


def _item_lines(name: str, value: Any) -> list[str]:
    if isinstance(value, Record):
        return [f"{name} {{", *(f"  {line}" for line in value._text_lines()), "}"]
    return [f"{name}: {_scalar_text(name, value)}"]


class Record:
    """A record with the fields of a message; its str() is the message's text form."""

    def _text_lines(self) -> list[str]:
        return [
            line
            for item in dataclasses.fields(self)  # type: ignore[arg-type]
            for line in _lines(item.name, getattr(self, item.name))
        ]

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in self._text_lines())

    __repr__ = __str__


@dataclasses.dataclass(repr=False)
class Dim(Record):
    """A size of a shape; -1 is unknown."""

    size: int = 0
    name: str = ""


@dataclasses.dataclass(repr=False)
class TensorShapeProto(Record):
    """A shape."""

    dim: list[Dim] = field(default_factory=list)
    unknown_rank: bool = False


@dataclasses.dataclass(repr=False)
class TensorProto(Record):
    """A tensor: its elements as bytes, or strings one by one."""

    dtype: int = 0
    tensor_shape: TensorShapeProto = field(default_factory=TensorShapeProto)
    tensor_content: bytes = b""
    half_val: list[int] = field(default_factory=list)
    float_val: list[float] = field(default_factory=list)
    double_val: list[float] = field(default_factory=list)
    int_val: list[int] = field(default_factory=list)
    string_val: list[bytes] = field(default_factory=list)
    scomplex_val: list[float] = field(default_factory=list)
    int64_val: list[int] = field(default_factory=list)
    bool_val: list[bool] = field(default_factory=list)
    dcomplex_val: list[float] = field(default_factory=list)
    uint32_val: list[int] = field(default_factory=list)
    uint64_val: list[int] = field(default_factory=list)


@dataclasses.dataclass(repr=False)
class NameAttrList(Record):
    """The name of a function, with attributes."""

    name: str = ""
    attr: dict[str, AttrValue] = field(default_factory=dict)


@dataclasses.dataclass(repr=False)
class ListValue(Record):
    """A list of values of one kind."""

    s: list[bytes] = field(default_factory=list)
    i: list[int] = field(default_factory=list)
    f: list[float] = field(default_factory=list)
    b: list[bool] = field(default_factory=list)
    type: list[int] = field(default_factory=list)
    shape: list[TensorShapeProto] = field(default_factory=list)
    tensor: list[TensorProto] = field(default_factory=list)
    func: list[NameAttrList] = field(default_factory=list)


_VALUES: dict[str, Callable[[], Any]] = {
    "s": bytes,
    "i": int,
    "f": float,
    "b": bool,
    "type": int,
    "shape": TensorShapeProto,
    "tensor": TensorProto,
    "list": ListValue,
    "func": NameAttrList,
    "placeholder": str,
}


class AttrValue(Record):
    """The value of an attribute: one of s, i, f, b, type, shape, tensor, list, func.

    The others read as empty. Assigning to one makes it the value.
    """

    def __init__(self, **value: Any) -> None:
        if len(value) > 1:
            raise TypeError(f"an AttrValue has one value, not {', '.join(value)}")
        for name, given in value.items():
            setattr(self, name, given)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _VALUES:
            raise AttributeError(f"an AttrValue has no field {name!r}")
        self.__dict__.clear()
        self.__dict__[name] = value

    def __getattr__(self, name: str) -> Any:
        if name not in _VALUES:
            raise AttributeError(f"an AttrValue has no field {name!r}")
        return _VALUES[name]()

    def WhichOneof(self, group: str = "value") -> str | None:  # noqa: N802 (a message's name)
        """Returns the field that is set, or None."""
        if group != "value":
            raise ValueError(f"an AttrValue has no group of fields {group!r}, only 'value'")
        return next(iter(self.__dict__), None)

    def HasField(self, name: str) -> bool:  # noqa: N802
        """Tells whether this field is the one that is set."""
        if name not in _VALUES:
            raise ValueError(f"an AttrValue has no field {name!r}")
        return name in self.__dict__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AttrValue) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def _text_lines(self) -> list[str]:
        return [line for name, value in self.__dict__.items() for line in _item_lines(name, value)]


@dataclasses.dataclass(repr=False)
class NodeDef(Record):
    """A node: `input` has "a" or "a:1" for tensors, then "^a" for nodes to wait for."""

    name: str = ""
    op: str = ""
    input: list[str] = field(default_factory=list)
    device: str = ""
    attr: dict[str, AttrValue] = field(default_factory=dict)


@dataclasses.dataclass(repr=False)
class DtypeAndShape(Record):
    """The type of the value behind a handle."""

    dtype: int = 0
    shape: TensorShapeProto = field(default_factory=TensorShapeProto)


@dataclasses.dataclass(repr=False)
class ArgDef(Record):
    """An argument or a result of a function."""

    name: str = ""
    type: int = 0
    handle_data: list[DtypeAndShape] = field(default_factory=list)


@dataclasses.dataclass(repr=False)
class OpDef(Record):
    """The signature of a function."""

    name: str = ""
    input_arg: list[ArgDef] = field(default_factory=list)
    output_arg: list[ArgDef] = field(default_factory=list)
    control_output: list[str] = field(default_factory=list)
    is_stateful: bool = False


@dataclasses.dataclass(repr=False)
class ArgAttrs(Record):
    """Attributes of an argument."""

    attr: dict[str, AttrValue] = field(default_factory=dict)


@dataclasses.dataclass(repr=False)
class FunctionDef(Record):
    """A function: its nodes name arguments "x", and tensors "a:z:0" by the op's outputs."""

    signature: OpDef = field(default_factory=OpDef)
    attr: dict[str, AttrValue] = field(default_factory=dict)
    arg_attr: dict[int, ArgAttrs] = field(default_factory=dict)
    node_def: list[NodeDef] = field(default_factory=list)
    ret: dict[str, str] = field(default_factory=dict)
    control_ret: dict[str, str] = field(default_factory=dict)


@dataclasses.dataclass(repr=False)
class FunctionDefLibrary(Record):
    """The functions that nodes name."""

    function: list[FunctionDef] = field(default_factory=list)


@dataclasses.dataclass(repr=False)
class VersionDef(Record):
    """The version of the format that wrote the data, and the least that reads it."""

    producer: int = 0
    min_consumer: int = 0


@dataclasses.dataclass(repr=False)
class GraphDef(Record):
    """A graph."""

    node: list[NodeDef] = field(default_factory=list)
    library: FunctionDefLibrary = field(default_factory=FunctionDefLibrary)
    versions: VersionDef = field(default_factory=VersionDef)


# --- Records of what the engine gives.


def _shape_record(sizes: PlainShape) -> TensorShapeProto:
    if sizes is None:
        return TensorShapeProto(unknown_rank=True)
    return TensorShapeProto([Dim(size) for size in sizes])


def _tensor_record(tensor: Any) -> TensorProto:
    record = TensorProto(
        int(tensor.dtype.as_datatype_enum), _shape_record([int(size) for size in tensor.shape])
    )
    elements = tensor.numpy()  # for a scalar one of NumPy's, or bytes
    if tensor.dtype != _dtypes.string:
        record.tensor_content = elements.tobytes()
    elif isinstance(elements, bytes):
        record.string_val = [elements]
    else:
        record.string_val = elements.ravel().tolist()
    return record


_RECORD_OF: dict[str, Callable[[Any], Any]] = {
    "type": lambda dtype: int(dtype.as_datatype_enum),
    "shape": _shape_record,
    "tensor": _tensor_record,
    "func": NameAttrList,
}


def _attributes_record(attributes: PlainAttributes) -> dict[str, AttrValue]:
    made = {}
    for name, (kind, value) in attributes.items():
        if kind.startswith("list"):
            of_item = kind[len("list(") : -1]
            convert = _RECORD_OF.get(of_item, lambda item: item)
            items = ListValue()
            if of_item:
                setattr(items, of_item, [convert(item) for item in value])
            made[name] = AttrValue(list=items)
        else:
            made[name] = AttrValue(**{kind: _RECORD_OF.get(kind, lambda item: item)(value)})
    return made


def node_def(plain: Plain) -> NodeDef:
    """Returns the record of a node of the engine's."""
    name, op, device, inputs, attributes = plain
    return NodeDef(name, op, list(inputs), device, _attributes_record(attributes))


def function_def(plain: Plain) -> FunctionDef:
    """Returns the record of a function of the engine's."""
    name, inputs, outputs, is_stateful, nodes, results, control_results, attributes = plain
    made = FunctionDef(OpDef(name, is_stateful=is_stateful))
    for i, (argument, dtype, sizes, handle_data, of_argument) in enumerate(inputs):
        held = [DtypeAndShape(_RECORD_OF["type"](d), _shape_record(s)) for d, s in handle_data]
        made.signature.input_arg.append(ArgDef(argument, _RECORD_OF["type"](dtype), held))
        attr = _attributes_record(of_argument)
        attr["_output_shapes"] = AttrValue(list=ListValue(shape=[_shape_record(sizes)]))
        made.arg_attr[i] = ArgAttrs(attr)
    made.signature.output_arg = [ArgDef(o[0], _RECORD_OF["type"](o[1])) for o in outputs]
    made.signature.control_output = [key for key, _ in control_results]
    made.node_def = [node_def(node) for node in nodes]
    made.ret = dict(results)
    made.control_ret = dict(control_results)
    made.attr = _attributes_record(attributes)
    return made


def graph_def(plain: Plain) -> GraphDef:
    """Returns the record of a graph of the engine's."""
    nodes, functions, producer, min_consumer = plain
    return GraphDef(
        [node_def(node) for node in nodes],
        FunctionDefLibrary([function_def(function) for function in functions]),
        VersionDef(producer, min_consumer),
    )
