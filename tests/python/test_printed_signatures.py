"""The layout in which TensorFlow up to 2.11 printed the signatures of concrete functions."""

from typing import Any

import graven as tf
import pytest


def test_all_traces_of_a_function() -> None:
    double = tf.function(_double)
    for value in (1, 1.5, "a"):
        double(tf.constant(value))
    texts = [
        f"_double(a)\n  Args:\n    a: {dtype} Tensor, shape=()\n  Returns:\n"
        f"    {dtype} Tensor, shape=()"
        for dtype in ("int32", "float32", "string")
    ]
    assert double.pretty_printed_concrete_signatures("legacy") == "\n\n".join(texts)


def test_a_value_stands_behind_its_name() -> None:
    power = tf.function(_power).get_concrete_function(a=tf.TensorSpec(None, tf.float32), b=2)
    assert power.pretty_printed_signature("legacy") == (
        "_power(a, b=2)\n"
        "  Args:\n"
        "    a: float32 Tensor, shape=<unknown>\n"
        "  Returns:\n"
        "    float32 Tensor, shape=<unknown>"
    )


def test_structures_are_printed_with_their_leaves_below() -> None:
    @tf.function
    def nested(a: Any, *, d: Any, k: Any = None) -> Any:
        return {"x": a[0], "y": (a[1]["q"], None)}

    pair = (tf.TensorSpec([2]), {"q": tf.TensorSpec([None, 3], tf.int32)})
    trace = nested.get_concrete_function(pair, d=tf.TensorSpec([]))
    assert trace.pretty_printed_signature("legacy") == (
        "nested(a, *, d, k=None)\n"
        "  Args:\n"
        "    a: (<1>, {'q': <2>})\n"
        "      <1>: float32 Tensor, shape=(2,)\n"
        "      <2>: int32 Tensor, shape=(None, 3)\n"
        "    d: float32 Tensor, shape=()\n"
        "  Returns:\n"
        "    {'x': <1>, 'y': (<2>, <3>)}\n"
        "      <1>: float32 Tensor, shape=(2,)\n"
        "      <2>: int32 Tensor, shape=(None, 3)\n"
        "      <3>: None"
    )


def test_a_function_without_arguments_has_no_heading_for_them() -> None:
    trace = tf.function(lambda: None).get_concrete_function()
    assert trace.pretty_printed_signature("legacy").split("\n")[1:] == ["  Returns:", "    None"]


def test_another_layout_is_an_error() -> None:
    with pytest.raises(ValueError, match="not 'short'"):
        tf.function(lambda: 1.0).get_concrete_function().pretty_printed_signature("short")


def _double(a: Any) -> Any:
    return a + a


def _power(a: Any, b: Any) -> Any:
    return a**b
