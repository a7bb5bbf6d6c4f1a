"""Nodes of data: tf.graph_util.import_graph_def.

Only fields are read, so that messages of TensorFlow do as well as the records of _graph_def.py.
That file says as which tuples the engine takes them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from graven import _dtypes, _engine
from graven._device_spec import device_text, parse_device
from graven._unsupported import refuse

if TYPE_CHECKING:
    from graven._graph_def import Plain, PlainAttributes, PlainShape


def _is_of(value: Any, kind: type, what: str) -> Any:
    if isinstance(value, kind):
        return value
    raise TypeError(f"{what} must be of type {kind.__name__}, got one of {type(value).__name__}")


def _items_of(value: Any, what: str) -> list[Any]:
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return list(value)
    raise TypeError(f"{what} must be a list, got one of {type(value).__name__}")


def _int_of(value: Any, what: str) -> int:
    number = int(_is_of(value, int, what))
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{what} must fit in 64 bits, got {number}")
    return number


def _dtype_of(value: Any, what: str) -> Any:
    try:
        return _dtypes.as_dtype(int(value))
    except (TypeError, ValueError):
        raise ValueError(
            f"{what} must be the number of a dtype known here, got {value!r}"
        ) from None


def _sizes_of(shape: Any, what: str) -> PlainShape:
    if shape.unknown_rank:
        return None
    sizes = [_int_of(dim.size, what) for dim in _items_of(shape.dim, what)]
    if any(size < -1 for size in sizes):
        raise ValueError(f"{what} must have sizes of at least 0, or -1 for unknown, got {sizes}")
    return sizes


# The fields of a TensorProto with one number an element, and the dtype that they are written in.
_NUMBERS: dict[str, tuple[str, str]] = {
    "float16": ("half_val", "uint16"),
    "bfloat16": ("half_val", "uint16"),
    "float32": ("float_val", "float32"),
    "float64": ("double_val", "float64"),
    "complex64": ("scomplex_val", "float32"),
    "complex128": ("dcomplex_val", "float64"),
    "int64": ("int64_val", "int64"),
    "uint32": ("uint32_val", "uint32"),
    "uint64": ("uint64_val", "uint64"),
    "bool": ("bool_val", "bool"),
}


def _tensor_of(record: Any, what: str) -> Any:
    """Returns the tensor of a TensorProto; its last number stands for those that are not there."""
    import numpy as np  # Takes as long as all else that the package imports.

    dtype = _dtype_of(record.dtype, f"the dtype of {what}")
    sizes = _sizes_of(record.tensor_shape, f"the shape of {what}")
    if sizes is None or -1 in sizes:
        raise ValueError(f"the shape of {what} must be known, got {sizes}")
    count = math.prod(sizes)
    if dtype == _dtypes.string:
        elements = np.array([*record.string_val, None], object)[:-1]
        zero: Any = b""
    elif dtype.name in ("resource", "variant"):
        raise ValueError(f"{what} must be of numbers or strings, got dtype {dtype.name}")
    else:
        numpy_dtype = np.dtype(dtype.as_numpy_dtype)
        zero = numpy_dtype.type(0)
        if record.tensor_content:
            data = bytes(record.tensor_content)
            if len(data) != count * numpy_dtype.itemsize:
                raise ValueError(
                    f"{what} must have {count * numpy_dtype.itemsize} bytes, for {count} elements "
                    f"of {dtype.name}, got {len(data)}"
                )
            elements = np.frombuffer(data, numpy_dtype)
        else:
            name, written = _NUMBERS.get(dtype.name, ("int_val", numpy_dtype.name))
            elements = np.array(list(getattr(record, name)), written).view(numpy_dtype)
    if len(elements) > count:
        raise ValueError(f"{what} must have {count} elements, got {len(elements)}")
    if len(elements) < count:
        last = elements[-1] if len(elements) else zero
        array = np.broadcast_to(np.asarray(last, elements.dtype), sizes)
        if len(elements) > 1:
            array = np.concatenate([elements, np.full(count - len(elements), last)])
    else:
        array = elements
    with _engine.InitScope():
        return _engine.constant(array.reshape(sizes), dtype)


def _list_of(record: Any, what: str) -> tuple[str, Any]:
    for kind in ("s", "i", "f", "b", "type", "shape", "tensor", "func"):
        items = _items_of(getattr(record, kind), what)
        if not items:
            continue
        if kind in ("b", "tensor"):
            raise ValueError(f"{what} is a list of {kind!r}, which no op here has")
        return f"list({kind})", [_value_of(kind, item, what) for item in items]
    return "list()", []


def _value_of(kind: str, value: Any, what: str) -> Any:
    if kind == "s":
        return value.encode() if isinstance(value, str) else _is_of(value, bytes, what)
    if kind == "b":
        return _is_of(value, bool, what)
    if kind == "i":
        return _int_of(value, what)
    if kind == "f":
        return float(_is_of(value, int | float, what))  # type: ignore[arg-type]
    if kind == "type":
        return _dtype_of(value, what)
    if kind == "shape":
        return _sizes_of(value, what)
    if kind == "tensor":
        return _tensor_of(value, what)
    if kind == "func":
        return _is_of(value.name, str, what)
    raise ValueError(f"{what} is a {kind!r}, which only templates of nodes have")


def _attributes_of(attributes: Mapping[str, Any], where: str) -> PlainAttributes:
    made: PlainAttributes = {}
    for name, value in attributes.items():
        what = f"the attribute {name!r} of {where}"
        kind = value.WhichOneof("value")
        if kind == "list":
            made[name] = _list_of(value.list, what)
        elif kind is not None:
            made[name] = (kind, _value_of(kind, getattr(value, kind), what))
    return made


def _plain_node(node: Any, around: str | None) -> Plain:
    """A node as the engine takes it; `around` is the device of the scope, None in a function."""
    name = _is_of(node.name, str, "the name of a node")
    where = f"node '{name}'"
    device = _is_of(node.device, str, f"the device of {where}")
    if device:
        try:
            device = device_text({**parse_device(around or ""), **parse_device(device)})
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
    return (
        name,
        _is_of(node.op, str, f"the op of {where}"),
        device,
        [
            _is_of(text, str, f"an input of {where}")
            for text in _items_of(node.input, f"the input of {where}")
        ],
        _attributes_of(node.attr, where),
    )


def _plain_argument(argument: Any, attributes: Mapping[str, Any], where: str) -> Plain:
    name = _is_of(argument.name, str, f"the name of an argument of {where}")
    what = f"the argument '{name}' of {where}"
    for template in ("type_attr", "number_attr", "type_list_attr"):
        if getattr(argument, template, ""):
            raise ValueError(f"{what} must be one tensor of one dtype, but has a {template}")
    made = _attributes_of(attributes, what)
    kind, shapes = made.pop("_output_shapes", ("list()", []))
    if kind not in ("list()", "list(shape)") or len(shapes) > 1:
        raise ValueError(f"{what} must have one shape as '_output_shapes', got {shapes}")
    held = [
        (_dtype_of(data.dtype, what), _sizes_of(data.shape, what))
        for data in _items_of(argument.handle_data, what)
    ]
    dtype = _dtype_of(argument.type, f"the type of {what}")
    return name, dtype, shapes[0] if shapes else None, held, made


def _plain_function(function: Any) -> Plain:
    signature = function.signature
    name = _is_of(signature.name, str, "the name of a function")
    where = f"function '{name}'"
    if len(getattr(signature, "attr", ())):
        raise ValueError(f"{where} must be one of fixed dtypes, but its signature has attributes")
    arguments = [
        _plain_argument(
            argument, function.arg_attr[i].attr if i in function.arg_attr else {}, where
        )
        for i, argument in enumerate(_items_of(signature.input_arg, f"the input_arg of {where}"))
    ]
    return (
        name,
        arguments,
        [
            _plain_argument(argument, {}, where)
            for argument in _items_of(signature.output_arg, f"the output_arg of {where}")
        ],
        bool(signature.is_stateful),
        [
            _plain_node(node, None)
            for node in _items_of(function.node_def, f"the node_def of {where}")
        ],
        {str(key): str(value) for key, value in function.ret.items()},
        [(str(key), str(value)) for key, value in function.control_ret.items()],
        _attributes_of(function.attr, where),
    )


def plain_graph(graph_def: Any) -> Plain:
    """Returns a GraphDef, ours or a message of TensorFlow's, as the engine takes it.

    Devices are joined with the device of the current scope.

    Raises:
      TypeError: It is no GraphDef, or a field is of another type.
      ValueError: A field has a value that no graph here has; the message names the node.
    """
    around = _engine.current_device()
    try:
        if len(getattr(graph_def.library, "gradient", ())):
            raise ValueError(
                "the library of `graph_def` names functions for gradients, which is not supported: "
                "gradients follow from the nodes"
            )
        return (
            [_plain_node(node, around) for node in _items_of(graph_def.node, "graph_def.node")],
            [
                _plain_function(function)
                for function in _items_of(graph_def.library.function, "library.function")
            ],
            _int_of(graph_def.versions.producer, "versions.producer"),
            _int_of(graph_def.versions.min_consumer, "versions.min_consumer"),
        )
    except AttributeError as error:
        raise TypeError(
            "Argument `graph_def` must be a GraphDef proto, or what as_graph_def() returns, got "
            f"{type(graph_def).__name__}: {error}"
        ) from None


def import_graph_def(
    graph_def: Any,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Iterable[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> Any:
    """Adds the nodes of a GraphDef to the graph that is being built.

    That is the function that is traced, or the graph of `with graph.as_default()`. The nodes stand
    in a name scope of their own, and in the device and the control dependencies of the caller. They
    are checked against the ops that are known here, and their shapes are inferred from the inputs
    that they get. Tapes record them like ops that are called.

    Args:
      graph_def: What `as_graph_def()` returns, or a GraphDef message of TensorFlow's.
      input_map: Tensors, or what becomes one, in the place of tensors of the GraphDef: the keys are
        names in it, "x" or "x:0", or "^x" for a control input.
      return_elements: Names in the GraphDef: "y" for an Operation, "y:0" for a tensor.
      name: A prefix for the names of the nodes, "import" by default; the empty string for none.
      op_dict: Refused unless None: ops are those that are known here.
      producer_op_list: Refused unless None: attributes that an op has not are kept on its node.

    Returns:
      A list of the return_elements; None without them.

    Raises:
      TypeError: An argument is of another type.
      ValueError: The GraphDef holds together badly, or something of it is not supported: an input
        that is not there, a dtype that does not fit, a missing attribute, a cycle. The message
        names the node. Nodes before it may have been added.
      NotFoundError: An op is not known here.
      RuntimeError: No graph is being built.
      NotImplementedError: op_dict or producer_op_list is given.

    Source: tf.graph_util.import_graph_def.
    """
    refuse("graph_util.import_graph_def", op_dict=op_dict, producer_op_list=producer_op_list)
    if input_map is None:
        input_map = {}
    if not isinstance(input_map, Mapping):
        raise TypeError(
            f"Argument `input_map` must be a dictionary. Obtained {type(input_map).__name__}"
        )
    if not all(isinstance(key, str) for key in input_map):
        raise TypeError(
            f"All keys for argument `input_map` must be strings. Obtained keys: {list(input_map)}"
        )
    elements = None if return_elements is None else tuple(return_elements)
    # A text is a sequence of names of one letter, but a longer one is meant as a single name.
    is_name = isinstance(return_elements, str) and len(return_elements) > 1
    if is_name or not all(isinstance(element, str) for element in elements or ()):
        raise TypeError(
            f"Argument `return_elements` must be a list of strings. Obtained {return_elements}."
        )
    if _engine.executing_eagerly():
        raise RuntimeError(
            "import_graph_def adds nodes to a graph, and none is being built: call it in a "
            "tf.function, or in `with tf.Graph().as_default():`."
        )
    from graven._scopes import name_scope

    plain = plain_graph(graph_def)
    with name_scope("import" if name is None else name) as scope:
        tensors = dict(input_map)
        if not all(isinstance(value, _engine.Tensor) for value in tensors.values()):
            if name == "":
                raise ValueError(
                    "tf.import_graph_def() requires a non-empty `name` if `input_map` contains "
                    "non-Tensor values. Try calling tf.convert_to_tensor() on `input_map` values "
                    "before calling tf.import_graph_def()."
                )
            with name_scope("_inputs"):
                tensors = {key: _engine.convert_to_tensor(v) for key, v in tensors.items()}
        made = _engine.import_graph_def(plain, scope.rstrip("/"), tensors, list(elements or ()))
    return None if elements is None else made
