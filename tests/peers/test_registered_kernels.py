"""Checks registered_kernels.py against what TensorFlow does when it is asked."""

from collections.abc import Callable

import pytest
import registered_kernels as registered
import tensorflow as tf
import tensorflow_kernels
from graven import _engine
from ops.test_completeness import GRADIENT_IS_NONE

FLOATS = ("bfloat16", "float16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
ORDINARY_DTYPES = ("bool", "string", "complex64", "complex128", *FLOATS, *INTEGERS)


def test_cpu_dtypes_are_those_of_the_kernels() -> None:
    assert registered.cpu_dtypes("Softmax") == set(FLOATS)
    assert {"bool", "string", "int32"}.isdisjoint(registered.cpu_dtypes("Tanh"))


@pytest.mark.parametrize(
    ("op", "call"),
    [
        ("AddV2", lambda x: tf.raw_ops.AddV2(x=x, y=x)),
        ("Relu", lambda x: tf.raw_ops.Relu(features=x)),
        ("Sqrt", lambda x: tf.raw_ops.Sqrt(x=x)),
        ("MatMul", lambda x: tf.raw_ops.MatMul(a=x, b=x)),
        ("BitwiseAnd", lambda x: tf.raw_ops.BitwiseAnd(x=x, y=x)),
        ("ZerosLike", lambda x: tf.raw_ops.ZerosLike(x=x)),
    ],
)
def test_an_op_runs_with_exactly_the_dtypes_listed(
    op: str, call: Callable[[tf.Tensor], object]
) -> None:
    for name in ORDINARY_DTYPES:
        x = tf.constant([["a"]]) if name == "string" else tf.cast([[1]], name)
        try:
            call(x)
            runs = True
        except (tf.errors.NotFoundError, tf.errors.InvalidArgumentError):
            runs = False
        assert runs == (name in registered.cpu_dtypes(op)), name


def test_a_combination_is_that_of_one_kernel() -> None:
    assert registered.has_cpu_kernel("ArgMax", {"T": "float32", "output_type": "int32"})
    assert registered.has_cpu_kernel("RandomUniformInt", {"T": "int32", "Tout": "int64"})
    assert not registered.has_cpu_kernel("Softmax", {"T": "int32"})
    assert not registered.has_cpu_kernel("StatelessRandomUniformIntV2", {"dtype": "uint32"})


def test_a_kernel_that_restricts_nothing_takes_what_the_op_def_allows() -> None:
    assert registered.cpu_dtypes("Cast", "SrcT") == registered.allowed_dtypes("Cast", "SrcT")
    assert "variant" in registered.cpu_dtypes("Identity")


def test_an_op_without_a_cpu_kernel_has_no_dtypes() -> None:
    assert registered.cpu_kernels("CudnnRNN") == ()
    assert registered.cpu_dtypes("CudnnRNN") == frozenset()


def test_gradients_are_those_of_the_registry() -> None:
    for op in ("MatMul", "Conv2D", "Relu", "StridedSlice", "SelectV2"):
        assert registered.has_gradient(op), op
        assert not registered.is_registered_as_not_differentiable(op), op
    for op in ("Equal", "Shape", "OnesLike", "StatelessRandomUniformV2"):
        assert not registered.has_gradient(op), op
        assert registered.is_registered_as_not_differentiable(op), op
    assert registered.has_gradient("ArgMax")  # a function that returns None
    assert not registered.has_gradient("Unique")
    assert not registered.is_registered_as_not_differentiable("Unique")


def test_the_file_of_kernels_says_what_the_installed_tensorflow_has() -> None:
    """Run .venv-peers/bin/python tools/tensorflow_kernels.py where it does not."""
    found = tensorflow_kernels.of_tensorflow(_engine.op_names())
    text = tensorflow_kernels.FILE.read_text()
    assert [str(known) for known in found] == text.splitlines()[1:]


@pytest.mark.parametrize("op", sorted(GRADIENT_IS_NONE))
def test_some_gradient_functions_return_none_for_each_input(op: str) -> None:
    count = len(registered.op_def(op).input_arg)
    x = (
        [tf.constant([1.5, 2.5])] * count
        if "Arg" not in op
        else [tf.constant([1.5]), tf.constant(0)]
    )
    names = [argument.name for argument in registered.op_def(op).input_arg]
    with tf.GradientTape() as tape:
        tape.watch(x[0])
        y = getattr(tf.raw_ops, op)(**dict(zip(names, x, strict=True)))
    assert tape.gradient(y, x) == [None] * count


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(KeyError, match="no op named 'Add3'"):
        registered.cpu_kernels("Add3")
    with pytest.raises(KeyError, match="no op named 'Add3'"):
        registered.has_gradient("Add3")
    with pytest.raises(KeyError, match=r"not 'dtype'"):
        registered.has_cpu_kernel("AddV2", {"dtype": "float32"})
