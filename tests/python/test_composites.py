"""Cross entropies and batch normalisation are made of ops that fuse, for shapes known or not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import graven as tf
import numpy as np
import pytest

_rng = np.random.default_rng(3)


def _floats(*shape: int) -> tf.Tensor:
    return tf.constant(_rng.standard_normal(shape).astype(np.float32))


def _sparse(logits: tf.Tensor, labels: tf.Tensor) -> Sequence[tf.Tensor]:
    return tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=logits, labels=labels)


def _dense(logits: tf.Tensor, labels: tf.Tensor) -> Sequence[tf.Tensor]:
    return tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=logits, labels=labels)


def _train(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor) -> Sequence[tf.Tensor]:
    nothing = tf.zeros([0])
    return tf.raw_ops.FusedBatchNormV3(
        x=x, scale=scale, offset=offset, mean=nothing, variance=nothing, epsilon=1e-3
    )[:5]


def _infer(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor) -> Sequence[tf.Tensor]:
    return tf.raw_ops.FusedBatchNormV3(
        x=x, scale=scale, offset=offset, mean=offset, variance=scale, is_training=False
    )[:5]


def _grad(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor) -> Sequence[tf.Tensor]:
    return tf.raw_ops.FusedBatchNormGradV3(
        y_backprop=x * x,
        x=x,
        scale=scale,
        reserve_space_1=offset,
        reserve_space_2=scale,
        reserve_space_3=offset,
    )[:3]


def _bias_grad(dy: tf.Tensor) -> Sequence[tf.Tensor]:
    return [tf.raw_ops.BiasAddGrad(out_backprop=dy)]


def _bias_grad_of_second(dy: tf.Tensor) -> Sequence[tf.Tensor]:
    return [tf.raw_ops.BiasAddGrad(out_backprop=dy, data_format="NCHW")]


_classes = tf.constant([2, 0, 4, 1, 1, 3])
_Call = Callable[..., Sequence[tf.Tensor]]
_calls: dict[str, tuple[_Call, list[tf.Tensor]]] = {
    "gradient of a bias": (_bias_grad, [_floats(2, 5, 3, 4)]),
    "gradient of a bias, channels second": (_bias_grad_of_second, [_floats(2, 5, 3, 4)]),
    "sparse": (_sparse, [_floats(6, 5), _classes]),
    "dense": (_dense, [_floats(6, 5), tf.nn.softmax(_floats(6, 5))]),
    "dense, labels of one row": (_dense, [_floats(6, 5), tf.nn.softmax(_floats(1, 5))]),
    "dense, logits of one row": (_dense, [_floats(1, 5), tf.nn.softmax(_floats(6, 5))]),
    "dense, logits of one column": (_dense, [_floats(6, 1), tf.nn.softmax(_floats(6, 5))]),
    "dense, a vector of labels": (_dense, [_floats(6, 5), tf.nn.softmax(_floats(5))]),
    "batch norm": (_train, [_floats(4, 3, 3, 2), tf.ones(2), tf.zeros(2)]),
    "batch norm of nothing": (_train, [_floats(0, 3, 3, 2), tf.ones(2), tf.zeros(2)]),
    "batch norm of one channel": (_train, [_floats(4, 3, 3, 1), tf.ones(1), tf.zeros(1)]),
    "inference": (_infer, [_floats(4, 3, 3, 2), tf.ones(2), tf.zeros(2)]),
    "gradient": (_grad, [_floats(4, 3, 3, 2), tf.ones(2), tf.zeros(2)]),
}


@pytest.mark.parametrize("name", _calls)
def test_bits_do_not_depend_on_what_is_known_of_shapes(name: str) -> None:
    call, arguments = _calls[name]
    eager = call(*arguments)
    sizes = [tf.TensorSpec([None] * len(x.shape), x.dtype) for x in arguments]
    nothing = [tf.TensorSpec(None, x.dtype) for x in arguments]
    for signature in (None, sizes, nothing):
        traced = tf.function(call, input_signature=signature)(*arguments)
        for a, b in zip(eager, traced, strict=True):
            assert a.shape == b.shape
            assert a.numpy().tobytes() == b.numpy().tobytes(), signature


_refused: dict[str, tuple[_Call, list[tf.Tensor], str]] = {
    "a label that is no class": (
        _sparse,
        [_floats(2, 3), tf.constant([0, 3])],
        r"Received a label value of 3 which is outside the valid range of \[0, 3\)",
    ),
    "fewer labels than rows": (
        _sparse,
        [_floats(2, 3), tf.constant([0])],
        "logits and labels must have the same first dimension",
    ),
    "logits of three axes": (_sparse, [_floats(2, 3, 4), _classes], "logits must be 2-D"),
    "no classes": (_sparse, [_floats(2, 0), tf.constant([0, 0])], "at least one class"),
    "rows that do not broadcast": (
        _dense,
        [_floats(2, 3), _floats(4, 3)],
        "logits and labels must be broadcastable",
    ),
    "one channel and three scales": (
        _train,
        [_floats(2, 2, 2, 1), tf.ones(3), tf.zeros(3)],
        "scale must have the same number of elements as the channels of x",
    ),
    "three channels and one offset": (
        _train,
        [_floats(2, 2, 2, 3), tf.ones(3), tf.zeros(1)],
        "offset must have the same number of elements as the channels of x",
    ),
    "gradient of a bias, a vector": (
        _bias_grad,
        [_floats(3)],
        r"Input tensor must be at least 2D: \[[3?]\]",
    ),
    "gradient of a bias, channels second of a vector": (
        _bias_grad_of_second,
        [_floats(3)],
        r"Input tensor must be at least 2D: \[[3?]\]",
    ),
}


@pytest.mark.parametrize("name", _refused)
def test_what_does_not_fit_is_refused_by_the_op_that_was_called(name: str) -> None:
    call, arguments, message = _refused[name]
    ranks = [tf.TensorSpec([None] * len(x.shape), x.dtype) for x in arguments]
    nothing = [tf.TensorSpec(None, x.dtype) for x in arguments]
    errors = (tf.errors.InvalidArgumentError, ValueError)
    with pytest.raises(errors, match=message):
        call(*arguments)
    for signature in (None, ranks, nothing):
        function = tf.function(call, input_signature=signature)
        with pytest.raises(errors, match=message):
            function(*arguments)
        # In a caller that knows more of the shapes than the trace that it calls.
        with pytest.raises(errors, match=message):
            tf.function(lambda *x, function=function: function(*x))(*arguments)


class _TimeIsUpError(Exception):
    pass


@pytest.mark.parametrize("known", [True, False], ids=["eager", "unknown sizes"])
def test_an_exception_of_the_user_stays_what_it_is(known: bool) -> None:
    def time_is_up(*_: object) -> None:
        raise _TimeIsUpError("my text")

    x, numbers = tf.random.normal([16, 64, 64, 64]), tf.ones(64)
    specs = [tf.TensorSpec(None, tf.float32)] * 3
    call = _train if known else tf.function(_train, input_signature=specs)
    call(x, numbers, numbers)
    before = signal.signal(signal.SIGALRM, time_is_up)
    try:
        for after in (0.01, 0.02, 0.03):
            signal.setitimer(signal.ITIMER_REAL, after)
            with pytest.raises(_TimeIsUpError, match="my text"):
                while True:
                    call(x, numbers, numbers)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_gradients_where_the_classes_of_the_logits_broadcast() -> None:
    x = tf.constant([[0.3], [-1.2]], tf.float64)
    labels = tf.constant(np.arange(8.0).reshape(2, 4))
    with tf.GradientTape() as tape:
        tape.watch([x, labels])
        loss, backprop = _dense(x, labels)
        total = tf.reduce_sum(backprop**2) + tf.reduce_sum(loss)
    dx, dlabels = tape.gradient(total, [x, labels])
    # Softmax is 1/4 whatever x is; the loss is log(4) for each label.
    softmax, given = 0.25, labels.numpy()
    expected = (softmax - given).sum(1, keepdims=True)  # as if labels were a distribution
    np.testing.assert_allclose(dx, expected, atol=1e-12)
    np.testing.assert_allclose(dlabels, np.log(4) - 2 * (softmax - given), rtol=1e-12)


_STEPS = """
import graven as tf

@tf.function
def loss_and_gradient(x, labels):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.nn.softmax_cross_entropy_with_logits(labels, x * 2.0 + 1.0))
    return loss, tape.gradient(loss, x)

@tf.function
def normalised(x, scale, offset):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.raw_ops.FusedBatchNormV3(x=tf.nn.relu(x), scale=scale, offset=offset,
                                        mean=tf.zeros([0]), variance=tf.zeros([0]))[0]
        loss = tf.reduce_sum(tf.nn.relu(y))
    return tape.gradient(loss, x)

loss_and_gradient(tf.ones([64, 10]), tf.ones([64, 10]))
normalised(tf.ones([8, 6, 6, 4]), tf.ones(4), tf.ones(4))
"""


def _steps(folder: Path, name: str) -> list[str]:
    (program,) = folder.glob(f"*_{name}*/program.txt")
    return [line for line in program.read_text().splitlines() if line.startswith("step")]


def test_they_take_along_what_stands_around_them(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", _STEPS],
        check=True,
        env={**os.environ, "GRAVEN_DUMP": str(tmp_path)},
    )
    (rows,) = (step for step in _steps(tmp_path, "loss_and_gradient") if "Exp" in step)
    assert "[Mul AddV2 Max Sub Exp Sum" in rows
    steps = _steps(tmp_path, "normalised")
    # Of the matrix: the mean, the variance, both sums of the gradient in one pass, and the result.
    large = [step for step in steps if "Relu" in step]
    assert len(large) == 4, steps
    assert sum(step.count("Sum") for step in large) == 2
    assert max(step.count("Sum") for step in large) == 2
