"""The functions of raw_ops take TensorFlow's arguments: the same names, order and defaults."""

import inspect
import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import pytest
import tensorflow
from graven import _engine


def parameters(function: Any) -> list[tuple[str, Any]]:
    """The parameters and their defaults, in the words that both systems can say."""
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        default = parameter.default
        if isinstance(default, float):
            default = round(default, 6)  # attributes of OpDefs are of single precision
        elif hasattr(default, "name") and not isinstance(default, type):
            default = default.name  # a dtype
        found.append((name, default))
    return found


@pytest.mark.parametrize("op", sorted(_engine.op_names()))
def test_a_raw_op_takes_the_arguments_of_tensorflows(op: str) -> None:
    theirs = parameters(getattr(tensorflow.raw_ops, op))
    assert parameters(getattr(graven.raw_ops, op)) == theirs


def test_a_missing_argument_is_named() -> None:
    for tf in (graven, tensorflow):
        with pytest.raises(TypeError, match=r"missing .*required.*'strides'"):
            tf.raw_ops.Conv2D(input=[[[[1.0]]]], filter=[[[[1.0]]]], padding="SAME")


def test_an_unknown_argument_is_named() -> None:
    for tf in (graven, tensorflow):
        with pytest.raises(TypeError, match="unexpected keyword argument 'reduction_indices'"):
            tf.raw_ops.Sum(input=[1.0], reduction_indices=0)
