"""What ops need that are no functions of their inputs: variables, streams of numbers, files.

A setup gets the module of a system (graven or tensorflow), the op as a function, and the inputs of
the row as tensors. It is run anew for each test, so that nothing is left of the last one.
"""

import os
import shutil
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ops.sample import Application

Op = Callable[..., Any]


def tensors_only(result: Any) -> Any:
    """The outputs of an op, None for one that has none: a Function returns no operations."""
    has_outputs = isinstance(result, list | tuple) or hasattr(result, "dtype")
    return result if has_outputs else None


def unused_name() -> str:
    """A name for a variable: TensorFlow gives one variable to all handles of a name."""
    return uuid.uuid4().hex


def _empty_variable(tf: Any, value: Any) -> Any:
    return tf.raw_ops.VarHandleOp(dtype=value.dtype, shape=value.shape, shared_name=unused_name())


def on_variable(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op on the handle of a variable whose value is the first input, which is read after."""
    variable = tf.Variable(inputs[0])

    def call(*arguments: Any) -> Any:
        return tensors_only(op(variable.handle, *arguments))

    return Application(call, inputs[1:], lambda: [variable.read_value()], {0: variable})


def on_new_handle(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op, which gives a handle, and what a variable of that handle gives back."""
    dtype, name = inputs[0].dtype, unused_name()

    def call(value: Any) -> Any:
        handle = op(shared_name=name)
        before = tf.raw_ops.VarIsInitializedOp(resource=handle)
        tf.raw_ops.AssignVariableOp(resource=handle, value=value)
        return before, tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype)

    return Application(call, inputs)


def on_empty_variable(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op on the handle of a variable that holds no value yet."""
    handle = _empty_variable(tf, inputs[0])
    return Application(lambda *arguments: op(handle, *arguments), inputs[1:])


def then_is_initialized(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op on a new variable, and whether that holds a value before and after it."""
    handle = _empty_variable(tf, inputs[0])

    def call(value: Any) -> Any:
        tf.raw_ops.AssignVariableOp(resource=handle, value=value)
        before = tf.raw_ops.VarIsInitializedOp(resource=handle)
        op(handle)
        return before, tf.raw_ops.VarIsInitializedOp(resource=handle)

    return Application(call, inputs)


def with_streams_restarted(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op, whose stream of random numbers starts with the first call."""
    tf.random.set_seed(1)
    return Application(op, inputs)


def are_unforeseeable(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """Whether two calls of the op give tensors of one shape without a number in common."""

    def call(*arguments: Any) -> Any:
        first, second = op(*arguments), op(*arguments)
        return tf.reduce_all(tf.not_equal(first, second)), tf.shape(first)

    return Application(call, inputs)


def then_nothing(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op, which has no outputs, and a number in their place."""

    def call(*arguments: Any) -> Any:
        op(*arguments)
        return tf.constant(1)

    return Application(call, inputs)


def into_file(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op, which writes, with a file as its stream, and what stands in the file after."""
    descriptor, path = tempfile.mkstemp()
    os.close(descriptor)

    def written() -> list[Any]:
        with open(path, "rb") as file:
            text = file.read()
        os.unlink(path)
        return [tf.constant(text)]

    def call(text: Any) -> Any:
        return tensors_only(op(text, output_stream=f"file://{path}"))

    return Application(call, inputs, written)


def out_of_file(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op, which reads a file, on one with the input as its content."""
    descriptor, path = tempfile.mkstemp()
    with os.fdopen(descriptor, "wb") as file:
        file.write(inputs[0].numpy())

    def gone() -> list[Any]:
        os.unlink(path)
        return []

    return Application(lambda: op(tf.constant(path)), [], gone)


def into_new_folder(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op, which writes a file, in a folder that is not there yet, and what it wrote."""
    folder = tempfile.mkdtemp()
    path = f"{folder}/new/file"

    def written() -> list[Any]:
        text = Path(path).read_bytes() if os.path.exists(path) else b"not written"
        shutil.rmtree(folder)
        return [tf.constant(text)]

    def call(text: Any) -> Any:
        return tensors_only(op(tf.constant(path), text))

    return Application(call, inputs, written)


def of_constant(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op, whose attributes are the input: its value and dtype."""
    value, dtype = inputs[0], inputs[0].dtype
    if tf.__name__ == "tensorflow":
        value = tf.make_tensor_proto(np.asarray(value), dtype)
    return Application(lambda: op(value=value, dtype=dtype), [])


def _list_of(tf: Any, rows: Any, element_shape: Any = -1) -> Any:
    """A list of the rows of a tensor."""
    return tf.raw_ops.TensorListFromTensor(tensor=rows, element_shape=element_shape)


def _stacked(tf: Any, handle: Any, dtype: Any) -> Any:
    return tf.raw_ops.TensorListStack(input_handle=handle, element_shape=-1, element_dtype=dtype)


def of_list(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op on a list of the rows of the first input."""
    return Application(lambda rows, *others: op(_list_of(tf, rows), *others), inputs)


def of_typed_list(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The same, on a list that was made for such rows only."""

    def call(rows: Any, *others: Any) -> Any:
        return op(_list_of(tf, rows, tf.shape(rows)[1:]), *others)

    return Application(call, inputs)


def gives_list(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op, which makes a list of the first input, and all elements of that."""

    def call(rows: Any, *others: Any) -> Any:
        handle = op(rows, *others)
        size = tf.raw_ops.TensorListLength(input_handle=handle)
        # Those never set are read one by one: not every list tells their shape.
        shape = tf.shape(rows)[1:]
        items = tf.raw_ops.TensorListGather(
            input_handle=handle,
            indices=tf.range(size),
            element_shape=shape,
            element_dtype=rows.dtype,
        )
        return items

    return Application(call, inputs)


def joins_list(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op, which makes a list of the first input, and its elements one after another."""

    def call(rows: Any, *others: Any) -> Any:
        return tf.raw_ops.TensorListConcatV2(
            input_handle=op(rows, *others),
            element_shape=-1,
            leading_dims=np.zeros(0, np.int64),
            element_dtype=rows.dtype,
        ).tensor

    return Application(call, inputs)


def _into(tf: Any, op: Op, inputs: list[Any], is_typed: bool) -> Application:
    def call(rows: Any, *others: Any) -> Any:
        shape = tf.shape(rows)[1:]
        handle = op(_list_of(tf, rows, shape if is_typed else -1), *others)
        return tf.raw_ops.TensorListStack(
            input_handle=handle, element_shape=shape, element_dtype=rows.dtype
        )

    return Application(call, inputs)


def into_list(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op, which changes a list of the rows of the first input, and all its elements then."""
    return _into(tf, op, inputs, is_typed=False)


def into_typed_list(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The same with a list that was made for such rows only."""
    return _into(tf, op, inputs, is_typed=True)


def pops_off_list(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op, which gives a list and an element, on a list of the rows of the first input."""

    def call(rows: Any, *others: Any) -> Any:
        handle, item = op(_list_of(tf, rows), *others)
        return _stacked(tf, handle, rows.dtype), item

    return Application(call, inputs)


def into_new_list(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op, which makes an empty list, and two elements pushed to that."""

    def call(item: Any) -> Any:
        handle = op(tf.shape(item), 2)
        for _ in range(2):
            handle = tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=item)
        return _stacked(tf, handle, item.dtype)

    return Application(call, inputs)


def into_reserved_list(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op, which makes a list of elements that are not set, of which one is set then."""

    def call(item: Any) -> Any:
        handle = op(tf.shape(item, out_type=tf.int64), 3)
        handle = tf.raw_ops.TensorListSetItem(input_handle=handle, index=1, item=item)
        return _stacked(tf, handle, item.dtype)

    return Application(call, inputs)


def of_lists(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op on two lists, of the rows of the inputs, and the elements of the list it gives."""

    def call(a: Any, b: Any) -> Any:
        return _stacked(tf, op(_list_of(tf, a), _list_of(tf, b)), a.dtype)

    return Application(call, inputs)


def into_lists(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op on two lists of the rows of the first input, and the elements of those it gives."""

    def call(rows: Any, *others: Any) -> Any:
        handles = op(tf.stack([_list_of(tf, rows), _list_of(tf, rows)]), *others)
        return tuple(_stacked(tf, handles[i], rows.dtype) for i in range(2))

    return Application(call, inputs)


def _values_of(tf: Any, handle: Any, like: list[Any]) -> Any:
    """What an optional has, tensors of these dtypes and of any shapes."""
    return tf.raw_ops.OptionalGetValue(
        optional=handle,
        output_types=[x.dtype for x in like],
        output_shapes=[tf.TensorShape(None)] * len(like),
    )


def into_optional(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op, which makes an optional of the inputs, and what that has."""
    return Application(lambda *values: _values_of(tf, op(list(values)), list(values)), inputs)


def into_no_optional(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op, which makes an optional, and whether that has a value."""
    return Application(lambda: tf.raw_ops.OptionalHasValue(optional=op()), inputs)


def of_optional(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op on an optional of the inputs."""

    def call(*values: Any) -> Any:
        return op(tf.raw_ops.OptionalFromValue(components=list(values)))

    return Application(call, inputs)


def values_of_optional(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op, which takes an optional apart, on one of the inputs."""

    def call(*values: Any) -> Any:
        handle = tf.raw_ops.OptionalFromValue(components=list(values))
        shapes = [x.shape for x in values]
        return op(handle, output_types=[x.dtype for x in values], output_shapes=shapes)

    return Application(call, inputs)


def of_no_optional(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op on an optional without a value."""
    return Application(lambda: op(tf.raw_ops.OptionalNone()), inputs)
