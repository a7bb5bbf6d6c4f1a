"""What Python sees of a variable's value."""

from typing import Any

import graven as tf
import numpy as np
import pytest


def test_numpy_of_a_string_variable_is_bytes() -> None:
    # It asked the bytes for a copy: AttributeError.
    v = tf.Variable("a")
    assert v.numpy() == b"a"
    v.assign("b")
    assert v.numpy() == b"b"


def test_numpy_of_a_variable_keeps_its_value() -> None:
    v = tf.Variable([1.0, 2.0])
    before = v.numpy()
    v.assign_add([1.0, 1.0])
    assert before.tolist() == [1.0, 2.0]
    assert tf.Variable(3).numpy() == 3


@pytest.mark.parametrize("inside", [False, True], ids=["eagerly", "in_a_function"])
@pytest.mark.parametrize("shape", [[2], [None]])
def test_a_function_that_takes_a_variable_has_a_gradient(inside: bool, shape: Any) -> None:
    variable = tf.Variable([1.0, 2.0], shape=tf.TensorShape(shape))
    other = tf.Variable([5.0, 6.0], shape=tf.TensorShape(shape))
    square = tf.function(lambda v, unused: v * v)

    def gradients(v: Any, unused: Any) -> Any:
        with tf.GradientTape() as tape:
            y = square(v, unused)
        return tape.gradient(y, [v, unused], unconnected_gradients="zero")

    call = tf.function(gradients) if inside else gradients
    assert [part.numpy().tolist() for part in call(variable, other)] == [[2.0, 4.0], [0.0, 0.0]]


def test_two_handles_of_one_function_are_two_variables() -> None:
    @tf.function
    def f() -> Any:
        raw = tf.raw_ops
        first = raw.VarHandleOp(dtype=tf.float32, shape=[])
        second = raw.VarHandleOp(dtype=tf.float32, shape=[])
        raw.AssignVariableOp(resource=first, value=1.0)
        raw.AssignVariableOp(resource=second, value=2.0)
        return raw.ReadVariableOp(resource=first, dtype=tf.float32)

    assert f().numpy() == 1.0


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "**"])
def test_in_place_operators_that_would_hide_a_variable_are_errors(operator: str) -> None:
    names = {"v": tf.Variable(2.0)}
    with pytest.raises(RuntimeError, match=r"In-place operators .*assign"):
        exec(f"v {operator}= 3.0", names)
    assert isinstance(names["v"], tf.Variable)


# TensorFlow makes a tensor of these without a word.
@pytest.mark.parametrize(
    ("operator", "values"),
    [
        ("//", (7.0, 2.0)),
        ("%", (7.0, 2.0)),
        ("@", ([[2.0]], [[3.0]])),
        ("&", (6, 3)),
        ("|", (6, 3)),
        ("^", (6, 3)),
    ],
)
def test_in_place_operators_that_make_a_tensor_say_so(
    operator: str, values: tuple[Any, Any], caplog: Any
) -> None:
    v = tf.Variable(values[0], name=f"in_place_{ord(operator[0])}")
    names: dict[str, Any] = {"v": v, "w": tf.constant(values[1])}
    exec(f"expected = v {operator} w", names)
    for _ in range(2):
        exec(f"v {operator}= w", dict(names))
    exec(f"v {operator}= w", names)
    assert not isinstance(names["v"], tf.Variable)
    assert np.array_equal(names["v"].numpy(), names["expected"].numpy())
    assert np.array_equal(v.numpy(), values[0])
    (message,) = caplog.messages
    assert f"`var.assign(var {operator} value)`" in message
    assert v.name in message


# Ops that read a variable in their own way keep their place among those that write to it.
@pytest.mark.parametrize(
    "read",
    [
        lambda v: v.read_value(),
        lambda v: tf.gather(v, [0, 1]),
        lambda v: v.sparse_read([0, 1]),
        lambda v: tf.gather_nd(v, [[0], [1]]),
        lambda v: v.gather_nd([[0], [1]]),
        lambda v: tf.nn.embedding_lookup(v, [0, 1]),
        lambda v: v[:2],
        lambda v: tf.raw_ops.ResourceGather(resource=v.handle, indices=[0, 1], dtype=v.dtype),
        lambda v: tf.raw_ops.ResourceGatherNd(resource=v.handle, indices=[[0], [1]], dtype=v.dtype),
    ],
)
def test_reads_and_writes_of_a_function_keep_their_order(read: Any) -> None:
    v = tf.Variable([0.0, 0.0])

    @tf.function
    def steps() -> Any:
        seen = []
        for i in range(1, 6):
            seen.append(read(v))
            v.assign([float(i), 10.0 * i])
            seen.append(read(v))
            v.scatter_nd_add([[0]], [0.5])
            seen.append(read(v))
        return tf.stack(seen)

    rows, value = [], [0.0, 0.0]
    for i in range(1, 6):
        rows += [value, [float(i), 10.0 * i]]
        value = [i + 0.5, 10.0 * i]
        rows.append(value)
    assert steps().numpy().tolist() == rows


def test_an_assignment_waits_for_the_last_one_and_for_the_reads_since() -> None:
    v = tf.Variable(0.0)

    @tf.function
    def f() -> None:
        v.read_value()
        v.assign(1.0)
        v.read_value()
        v.assign(2.0)

    ops = f.get_concrete_function().graph.get_operations()
    waits = {op.name: [other.name for other in op.control_inputs] for op in ops}
    assert waits["AssignVariableOp"] == ["ReadVariableOp"]
    assert waits["ReadVariableOp_1"] == ["AssignVariableOp"]
    assert waits["AssignVariableOp_1"] == ["AssignVariableOp", "ReadVariableOp_1"]
