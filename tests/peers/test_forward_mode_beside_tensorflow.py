"""Tangents of forward mode: of each op of the table, and of programs, in both systems."""

# tf is either system here, and so are its decorators.
# mypy: disable-error-code="untyped-decorator"

import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import numpy as np
import pytest
import tensorflow
from ops.running import op_of
from ops.sample import Case, Sample, all_rows, as_tensors
from test_ops_beside_tensorflow import their_op

ROWS = [row for row in all_rows()[0] if row.smooth_at is not None and not row.beside_tensorflow]
# Ops of which TensorFlow fails to give tangents, in some rows at least, and why.
FAILS_THERE = {
    **dict.fromkeys(
        ["Gather", "ResourceGather", "ResourceGatherNd", "ScatterNd"],
        "a gradient of slices is taken for a tensor",
    ),
    **dict.fromkeys(
        ["ConcatV2", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum"],
        "the gradient of an int64 axis is built with int32 constants",
    ),
    **dict.fromkeys(
        [
            *("IRFFT", "IRFFT2D", "IRFFT3D", "RFFT2D", "RFFT3D", "MatrixLogarithm"),
            *("ResizeNearestNeighborGrad", "ResizeNearestNeighbor", "Softsign", "SoftsignGrad"),
        ],
        "there is no second gradient, or none of these shapes",
    ),
}
# Families of them: a gradient is slices or has no gradient; variants have no tangents.
FAMILIES_THAT_FAIL_THERE = ("Optional", "Segment", "SparseSegment", "TensorList", "UnsortedSegment")
# Ops whose tangents differ there, because their gradients do (docs/compatibility.md).
DIFFERS_THERE = {
    "RFFT": "the gradient for another fft_length",
    **dict.fromkeys(
        ["SegmentMax", "SegmentMean", "SegmentMin"],
        "NaN for a segment without rows, which divides by their number",
    ),
    **dict.fromkeys(
        ["SegmentProd", "UnsortedSegmentProd"],
        "complex numbers without conjugates",
    ),
    "Sign": "0 for complex numbers too",
    "SoftmaxCrossEntropyWithLogits": "the second gradient leaves out what labels add",
    "Xdivy": "complex numbers without conjugates",
    "Xlog1py": "complex numbers without conjugates",
    "Xlogy": "complex numbers without conjugates",
}


def float_or_complex(value: Any) -> bool:
    return np.asarray(value).dtype in (np.float64, np.complex128)


def inputs_of(row: Sample) -> list[Any]:
    assert row.smooth_at is not None
    made: list[Any] = []
    for value in row.smooth_at:
        if isinstance(value, np.ndarray | np.generic | list) and (
            isinstance(value, np.ndarray | np.generic) or isinstance(value[0], np.ndarray)
        ):
            made.append(value)
            continue
        array = np.array(value)
        made.append(array if array.dtype.kind in "cO" else array.astype(np.float64))
    return made


def direction(array: Any) -> Any:
    """A tangent without symmetry."""
    steps = np.cos(np.arange(array.size) + 0.3).reshape(array.shape)
    return (steps + (1j * steps[::-1] if array.dtype.kind == "c" else 0)).astype(array.dtype)


def tangents_of_row(tf: Any, row: Sample, op: Callable[..., Any]) -> list[Any]:
    """The tangents of the float64 and complex128 outputs of an op."""
    arrays = inputs_of(row)
    tensors = as_tensors(tf, arrays)
    application = row.setup(tf, op, tensors)
    sources, tangents = [], []
    for i, value in enumerate(arrays):
        items = enumerate(value) if isinstance(value, list) else [(None, value)]
        for j, item in items:
            if i in row.no_gradient_for or not float_or_complex(item):
                continue
            sources.append(tensors[i][j] if j is not None else application.source(i, tensors))
            tangents.append(tf.constant(direction(item)))
    with tf.autodiff.ForwardAccumulator(sources, tangents) as accumulator:
        result = application.call(*application.arguments)
    outputs = list(result) if isinstance(result, list | tuple) else [result]
    usable = [y for y in outputs if y is not None and y.dtype.name in ("float64", "complex128")]
    return [accumulator.jvp(y, unconnected_gradients="zero").numpy() for y in usable]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.op}({row.attrs or ''})")
def test_the_tangents_of_an_op(row: Sample) -> None:
    attrs = Case(row, "float64").attrs
    ours = tangents_of_row(graven, row, op_of(row, attrs))
    if row.op in DIFFERS_THERE:
        return
    try:
        theirs = tangents_of_row(tensorflow, row, their_op(row, attrs))
    except Exception:
        if row.op in FAILS_THERE or row.op.startswith(FAMILIES_THAT_FAIL_THERE):
            return
        raise
    assert len(ours) == len(theirs)
    for mine, wanted in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-7, atol=1e-9)


# --- Programs: a function of one system that gives numbers to compare. TensorFlow fails where a
# Function's loop captures a variable or fills a TensorArray, and where one of its branches captures
# an eager tensor; tests/python/test_forward_accumulator.py has such programs.


def values(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def jvp(tf: Any, f: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    with tf.autodiff.ForwardAccumulator(primals, tangents) as accumulator:
        y = f()
    return accumulator.jvp(y)


def lstm_step(tf: Any, wrap: Callable[..., Any]) -> Any:
    x, h, c = (tf.constant(values(3, 4, seed=i)) for i in range(3))
    w, u = tf.Variable(values(4, 16, seed=4)), tf.Variable(values(4, 16, seed=5))

    def step() -> Any:
        gates = tf.matmul(x, w) + tf.matmul(h, u)
        i, f, g, o = tf.split(gates, 4, axis=1)
        state = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        return tf.sigmoid(o) * tf.tanh(state), state

    tangents = [tf.constant(values(4, 16, seed=6)), tf.constant(values(4, 16, seed=7))]
    return jvp(tf, wrap(step), [w, u], tangents)


def lstm(tf: Any, wrap: Callable[..., Any]) -> Any:
    x = tf.constant(values(5, 2, 3))
    w = tf.constant(values(7, 16, seed=1) * 0.3)

    def run(w: Any) -> Any:
        h, c = tf.zeros([2, 4]), tf.zeros([2, 4])
        for t in tf.range(5):
            i, f, g, o = tf.split(tf.matmul(tf.concat([x[t], h], 1), w), 4, axis=1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
        return h

    return jvp(tf, lambda: tf.function(run)(w), w, tf.constant(values(7, 16, seed=2)))


def hessian_of_mlp(tf: Any, wrap: Callable[..., Any]) -> Any:
    x, labels = tf.constant(values(6, 5)), tf.constant([0, 1, 2, 0, 1, 2])
    w1, b1 = tf.Variable(values(5, 7, seed=1)), tf.Variable(values(7, seed=2))
    w2 = tf.Variable(values(7, 3, seed=3))
    parameters = [w1, b1, w2]

    def gradient() -> Any:
        with tf.GradientTape() as tape:
            logits = tf.matmul(tf.tanh(tf.matmul(x, w1) + b1), w2)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            )
        return tape.gradient(loss, parameters)

    tangents = [tf.constant(values(*p.shape, seed=4 + i)) for i, p in enumerate(parameters)]
    return jvp(tf, wrap(gradient), parameters, tangents)


def convolutions(tf: Any, wrap: Callable[..., Any]) -> Any:
    x, filters = tf.constant(values(2, 8, 8, 3)), tf.constant(values(3, 3, 3, 4, seed=1))

    def network() -> Any:
        y = tf.nn.conv2d(x, filters, 1, "SAME")
        y = tf.nn.max_pool2d(tf.nn.relu(y), 2, 2, "VALID")
        return tf.nn.avg_pool2d(y, 2, 2, "VALID")

    tangents = [tf.constant(values(2, 8, 8, 3, seed=2)), tf.constant(values(3, 3, 3, 4, seed=3))]
    return jvp(tf, wrap(network), [x, filters], tangents)


def norms(tf: Any, wrap: Callable[..., Any]) -> Any:
    x = tf.constant(values(4, 6))

    def f() -> Any:
        mean, variance = tf.nn.moments(x, [1], keepdims=True)
        y = tf.nn.softmax((x - mean) * tf.math.rsqrt(variance + 1e-3))
        return y, tf.reduce_logsumexp(x, 0), tf.norm(x), tf.reduce_max(x, 1), tf.reduce_prod(x, 0)

    return jvp(tf, wrap(f), x, tf.constant(values(4, 6, seed=1)))


def movements(tf: Any, wrap: Callable[..., Any]) -> Any:
    x = tf.constant(values(4, 3))

    def f() -> Any:
        y = tf.stack([x, 2.0 * x], 1)[:, ::-1, 1:]
        z = tf.concat([tf.reshape(y, [4, -1]), tf.pad(x, [[0, 0], [1, 0]])], 1)
        return tf.gather(z, [3, 1, 1]), tf.where(x > 0.0, x, x * x), tf.tile(x, [1, 2])

    return jvp(tf, wrap(f), x, tf.constant(values(4, 3, seed=1)))


def matrices(tf: Any, wrap: Callable[..., Any]) -> Any:
    a = values(3, 3)
    x = tf.constant(a @ a.T + 3.0 * np.eye(3, dtype=np.float32))

    def f() -> Any:
        symmetric = 0.5 * (x + tf.transpose(x))
        return (
            tf.linalg.cholesky(symmetric),
            tf.linalg.inv(x),
            tf.linalg.det(x),
            tf.einsum("ij,kj->ik", x, x),
        )

    return jvp(tf, wrap(f), x, tf.constant(values(3, 3, seed=1)))


def branches(tf: Any, wrap: Callable[..., Any]) -> Any:
    x, y = tf.constant(2.0), tf.constant(-1.0)

    def f(x: Any, y: Any) -> Any:
        first = tf.cond(x > 0.0, lambda: x * y, lambda: y)
        second = tf.cond(y > 0.0, lambda: x, lambda: tf.sin(x) * y)
        third = tf.switch_case(tf.constant(1), [lambda: x, lambda: x**3, lambda: y])
        return first, second, third

    return jvp(tf, lambda: wrap(f)(x, y), [x, y], [tf.constant(3.0), tf.constant(0.5)])


def loops(tf: Any, wrap: Callable[..., Any]) -> Any:
    x = tf.constant(1.5)

    def f(x: Any) -> Any:
        return tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s * x + tf.sin(s)), [0, 1.0])[
            1
        ]

    return jvp(tf, lambda: tf.function(f)(x), x, tf.constant(2.0))


def functions(tf: Any, wrap: Callable[..., Any]) -> Any:
    v, x = tf.Variable(2.0), tf.constant(3.0)
    inner = tf.function(lambda a, b: (a * v, b, a * b))
    outer = tf.function(lambda a: inner(a, inner(a, a)[2]))
    return jvp(tf, lambda: outer(x), [x, v], [tf.constant(1.0), tf.constant(10.0)])


def third_derivative(tf: Any, wrap: Callable[..., Any]) -> Any:
    x, one = tf.constant(1.3), tf.constant(1.0)

    def second() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            first = jvp(tf, lambda: tf.sin(x) * x**3, x, one)
        return tape.gradient(first, x)

    return jvp(tf, second, x, one)


def unconnected(tf: Any, wrap: Callable[..., Any]) -> Any:
    x, y = tf.constant(2.0), tf.constant(3.0)

    def f() -> Any:
        return y * y, tf.cast(x, tf.int32), tf.stop_gradient(x), tf.round(x), tf.sign(x)

    return [tangent is None for tangent in jvp(tf, f, x, tf.constant(1.0))]


def custom_gradients(tf: Any, wrap: Callable[..., Any]) -> Any:
    x, t = tf.constant(values(4)), tf.constant(values(4, seed=1))

    @tf.custom_gradient
    def with_sin(x: Any) -> Any:
        sines = tf.sin(x)
        return tf.exp(x), lambda dy: dy * sines

    @tf.custom_gradient
    def rounded(x: Any) -> Any:
        return tf.round(x), lambda dy: dy

    @tf.custom_gradient
    def clipped(x: Any) -> Any:
        return tf.identity(x), lambda dy: tf.clip_by_norm(dy, 1.0)

    @tf.custom_gradient
    def gathered(x: Any) -> Any:
        def gradient(dy: Any) -> Any:
            return tf.IndexedSlices(dy * 2.0, tf.constant([0, 0, 2]), tf.constant([4]))

        return tf.gather(x, [0, 0, 2]), gradient

    @tf.custom_gradient
    def two(a: Any, b: Any) -> Any:
        return (a * b, a + b), lambda da, db: (da * 2.0 + db * 3.0, da * 5.0 + db * b)

    def within(x: Any) -> Any:
        branch = tf.cond(x[0] > -9.0, lambda: with_sin(x), lambda: x)
        return with_sin(x), rounded(x) * x, clipped(x), gathered(x), two(x, 2.0 * x), branch

    # Eagerly both differentiate the values; a Function that is called transposes the gradients.
    f = tf.function(within) if wrap is tf.function else (lambda x: (rounded(x), with_sin(x)))
    return jvp(tf, lambda: f(x), x, t)


def hessian_of_custom_gradient(tf: Any, wrap: Callable[..., Any]) -> Any:
    x = tf.constant(values(4))

    @tf.custom_gradient
    def with_sin(x: Any) -> Any:
        sines = tf.sin(x)
        return tf.exp(x), lambda dy: dy * sines

    f = tf.function(with_sin)

    def gradient() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    return jvp(tf, gradient, x, tf.constant(values(4, seed=1)))


PROGRAMS = [
    custom_gradients,
    hessian_of_custom_gradient,
    lstm_step,
    lstm,
    hessian_of_mlp,
    convolutions,
    norms,
    movements,
    matrices,
    branches,
    loops,
    functions,
    third_derivative,
    unconnected,
]


@pytest.mark.parametrize("wrapped", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_the_tangents_of_a_program(program: Callable[..., Any], wrapped: bool) -> None:
    def run(tf: Any) -> list[Any]:
        wrap = tf.function if wrapped else (lambda f: f)
        return [np.asarray(part) for part in tf.nest.flatten(program(tf, wrap))]

    ours, theirs = run(graven), run(tensorflow)
    assert len(ours) == len(theirs)
    for mine, wanted in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=2e-4, atol=2e-5)
