"""What ops need that are no functions of their inputs: variables, streams of numbers, files.

A setup gets the module of a system (graven or tensorflow), the op as a function, and the inputs of
the row as tensors. It is run anew for each test, so that nothing is left of the last one.
"""

import os
import tempfile
import uuid
from collections.abc import Callable
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


def of_constant(tf: Any, op: Op, inputs: list[Any]) -> Application:
    """The op, whose attributes are the input: its value and dtype."""
    value, dtype = inputs[0], inputs[0].dtype
    if tf.__name__ == "tensorflow":
        value = tf.make_tensor_proto(np.asarray(value), dtype)
    return Application(lambda: op(value=value, dtype=dtype), [])
