"""tf.debugging.enable_check_numerics: the same ops raise in both systems, and the same do not."""

import os
import re
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import numpy as np
import pytest
import tensorflow

NAN, INF = float("nan"), float("inf")

# What makes or meets a value that is not finite; each takes the module.
CASES: dict[str, Callable[[Any], Any]] = {
    "log": lambda tf: tf.math.log(tf.constant(-1.0)),
    "division": lambda tf: tf.constant([1.0, -1.0]) / tf.zeros([2]),
    "finite": lambda tf: tf.math.log(tf.constant(1.0)) + 1.0,
    "integers": lambda tf: tf.constant(7) // 2,
    "sum of NaN": lambda tf: tf.zeros([2]) / tf.zeros([2]) + 1.0,
    "half": lambda tf: tf.cast(tf.constant(1e30), tf.float16),
    "float64": lambda tf: tf.constant(-1.0, tf.float64) ** 0.5,
    "power": lambda tf: tf.constant(-1.0) ** 0.5,
    "safe division": lambda tf: tf.math.divide_no_nan(tf.constant(1.0), tf.constant(0.0)),
    "softmax": lambda tf: tf.nn.softmax(tf.constant([1000.0, -1000.0])),
    "log_softmax": lambda tf: tf.nn.log_softmax(tf.constant([1000.0, -1000.0])),
    "log_sigmoid": lambda tf: tf.math.log_sigmoid(tf.constant(-1000.0)),
    "softplus": lambda tf: tf.math.softplus(tf.constant([-1000.0, 1000.0])),
    "sigmoid": lambda tf: tf.sigmoid(tf.constant([-1000.0, 1000.0])),
    "tanh": lambda tf: tf.tanh(tf.constant([-1000.0, 1000.0])),
    "gelu": lambda tf: tf.nn.gelu(tf.constant([-100.0, 100.0])),
    "selu": lambda tf: tf.nn.selu(tf.constant([-1000.0, 1000.0])),
    "swish": lambda tf: tf.nn.silu(tf.constant([-1000.0, 1000.0])),
    "xlogy": lambda tf: tf.math.xlogy(tf.constant(0.0), tf.constant(0.0)),
    "cross entropy": lambda tf: tf.nn.softmax_cross_entropy_with_logits(
        tf.constant([1.0, 0.0]), tf.constant([1000.0, -1000.0])
    ),
    "sparse cross entropy": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(
        tf.constant([1]), tf.constant([[1000.0, -1000.0]])
    ),
    "sigmoid cross entropy": lambda tf: tf.nn.sigmoid_cross_entropy_with_logits(
        tf.constant([1.0]), tf.constant([-1000.0])
    ),
    "logsumexp": lambda tf: tf.reduce_logsumexp(tf.constant([1000.0, 999.0])),
    "mean of nothing": lambda tf: tf.reduce_mean(tf.zeros([0])),
    "norm": lambda tf: tf.norm(tf.constant([0.0, 0.0])),
    "moments": lambda tf: tf.nn.moments(tf.constant([[1.0, 2.0]]), [0, 1]),
    "l2_normalize": lambda tf: tf.math.l2_normalize(tf.zeros([2])),
    "clip_by_norm": lambda tf: tf.clip_by_norm(tf.zeros([2]), 1.0),
    "clip_by_global_norm": lambda tf: tf.clip_by_global_norm([tf.zeros([2])], 1.0)[0],
    "batch_normalization": lambda tf: tf.nn.batch_normalization(
        tf.ones([2, 2]), tf.ones([2]), tf.zeros([2]), None, None, 1e-3
    ),
    "dropout": lambda tf: tf.nn.dropout(tf.ones([8]), 0.5),
    "attention": lambda tf: tf.linalg.matmul(
        tf.nn.softmax(tf.constant([[0.0, -1e9]])), tf.constant([[1.0], [2.0]])
    ),
    "variance": lambda tf: tf.math.reduce_std(tf.constant([1.0, 1.0])),
    "norm of nothing": lambda tf: tf.reduce_max(tf.zeros([0])),
    "random": lambda tf: tf.random.normal([2], stddev=INF),
    "of a boolean": lambda tf: tf.math.is_nan(tf.constant(1.0)),
}

# Of a tensor that holds NaN.
OPS: dict[str, Callable[[Any, Any], Any]] = {
    "identity": lambda tf, x: tf.identity(x),
    "reshape": lambda tf, x: tf.reshape(x, [2, 1]),
    "slice": lambda tf, x: tf.slice(x, [1], [1]),
    "item": lambda tf, x: x[1:],
    "concat": lambda tf, x: tf.concat([x, x], 0),
    "stack": lambda tf, x: tf.stack([x, x]),
    "unstack": lambda tf, x: tf.unstack(x),
    "split": lambda tf, x: tf.split(x, 2),
    "gather": lambda tf, x: tf.gather(x, [1]),
    "gather_nd": lambda tf, x: tf.gather_nd(x, [[1]]),
    "maximum": lambda tf, x: tf.maximum(x, 0.0),
    "minimum": lambda tf, x: tf.minimum(x, 0.0),
    "relu": lambda tf, x: tf.nn.relu(x),
    "cast": lambda tf, x: tf.cast(x, tf.float64),
    "cast to an integer": lambda tf, x: tf.cast(x, tf.int32),
    "where": lambda tf, x: tf.where([True, True], x, x),
    "where not": lambda tf, x: tf.where([True, False], x, tf.zeros_like(x)),
    "tile": lambda tf, x: tf.tile(x, [2]),
    "pad": lambda tf, x: tf.pad(x, [[1, 1]]),
    "reverse": lambda tf, x: tf.reverse(x, [0]),
    "transpose": lambda tf, x: tf.transpose(tf.reshape(x, [2, 1])),
    "expand_dims": lambda tf, x: tf.expand_dims(x, 0),
    "squeeze": lambda tf, x: tf.squeeze(tf.reshape(x, [2, 1])),
    "broadcast_to": lambda tf, x: tf.broadcast_to(x, [2, 2]),
    "stop_gradient": lambda tf, x: tf.stop_gradient(x),
    "argmax": lambda tf, x: tf.argmax(x),
    "zeros_like": lambda tf, x: tf.zeros_like(x),
    "fill": lambda tf, x: tf.fill([2], tf.reshape(x[1:], [])),
    "reduce_max": lambda tf, x: tf.reduce_max(x),
    "reduce_sum": lambda tf, x: tf.reduce_sum(x),
    "matmul": lambda tf, x: tf.matmul(tf.reshape(x, [1, 2]), tf.zeros([2, 1])),
    "is_nan": lambda tf, x: tf.math.is_nan(x),
    "complex": lambda tf, x: tf.complex(x, x),
    "less": lambda tf, x: x < 0.0,
    "sort": lambda tf, x: tf.sort(x[:1]),
    "bitcast": lambda tf, x: tf.bitcast(x, tf.int32),
    "print": lambda tf, x: (tf.print(x, output_stream="file:///dev/null"), tf.zeros([]))[1],
    "check_numerics": lambda tf, x: tf.debugging.check_numerics(x, "mine"),
}


@pytest.fixture(autouse=True)
def quiet() -> Any:
    """Leaves no checks behind."""
    yield
    for tf in (graven, tensorflow):
        tf.debugging.disable_check_numerics()


def outcome(tf: Any, run: Callable[[], Any]) -> str:
    """The op that the error names, or that there is none."""
    tf.debugging.enable_check_numerics()
    try:
        run()
    except tf.errors.InvalidArgumentError as error:
        found = re.search(r"output (\d+) of (\S+) op \"(?:b')?(\w+)", str(error))
        if not found:
            return "mine" if "mine" in str(error) else str(error)
        name = "a function" if found[3].startswith("__inference") else found[3]
        return f"{found[2]} {name}:{found[1]}"
    finally:
        tf.debugging.disable_check_numerics()
    return "no error"


def both(run: Callable[[Any], Any]) -> tuple[str, str]:
    return outcome(graven, lambda: run(graven)), outcome(tensorflow, lambda: run(tensorflow))


def traced(tf: Any, f: Callable[..., Any], *arguments: Any) -> Any:
    return tf.function(f, autograph=False)(*arguments)


@pytest.mark.parametrize("is_traced", [False, True], ids=["eager", "traced"])
@pytest.mark.parametrize("name", CASES)
def test_functions_of_finite_values(name: str, is_traced: bool) -> None:
    def run(tf: Any) -> Any:
        f = CASES[name]
        return traced(tf, lambda: f(tf)) if is_traced else f(tf)

    ours, theirs = both(run)
    assert ours == theirs


@pytest.mark.parametrize("way", ["eager", "argument", "small capture", "large capture"])
@pytest.mark.parametrize("name", OPS)
def test_ops_on_nan(name: str, way: str) -> None:
    def of(tf: Any) -> Callable[[], Any]:
        f = OPS[name]
        x = tf.constant([1.0, NAN])
        large = tf.constant([1.0, NAN] * 100)
        if way == "eager":
            return lambda: f(tf, x)
        if way == "argument":
            return lambda: traced(tf, lambda x: f(tf, x), x)
        if way == "small capture":
            return lambda: traced(tf, lambda: f(tf, x))
        return lambda: traced(tf, lambda: f(tf, large[:2]))

    assert outcome(graven, of(graven)) == outcome(tensorflow, of(tensorflow))


def test_variables() -> None:
    def outcomes(tf: Any) -> list[str]:
        v = tf.Variable([1.0, NAN])
        # Of several checks that fail in a trace TensorFlow may report any.
        ways = [
            lambda: v.read_value(),
            lambda: v + 1.0,
            lambda: v.assign([NAN, 1.0]),
            lambda: v.assign_add([NAN, 1.0]),
            lambda: tf.Variable([NAN]),
            lambda: traced(tf, lambda: tf.reshape(v, [2])),
        ]
        return [outcome(tf, way) for way in ways]

    assert outcomes(graven) == outcomes(tensorflow)


def test_constants_are_ops_in_traces_alone() -> None:
    def outcomes(tf: Any) -> list[str]:
        return [
            outcome(tf, lambda: tf.constant([NAN])),
            outcome(tf, lambda: tf.convert_to_tensor(np.array([INF]))),
            outcome(tf, lambda: traced(tf, lambda: tf.constant([NAN]))),
            outcome(tf, lambda: traced(tf, lambda: (tf.constant([NAN]), tf.constant(1.0))[1])),
        ]

    assert outcomes(graven) == outcomes(tensorflow)


def sqrt_gradient(tf: Any, f: Callable[[Any], Any]) -> Any:
    x = tf.constant(0.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def programs(tf: Any) -> dict[str, Callable[[], Any]]:
    def jvp() -> Any:
        x = tf.constant(0.0)
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
            y = tf.sqrt(x)
        return accumulator.jvp(y)

    def cond() -> Any:
        return tf.function(
            lambda x: tf.cond(x < 0.0, lambda: tf.math.log(x), lambda: x), autograph=False
        )(tf.constant(-1.0))

    def other_branch() -> Any:
        return tf.function(
            lambda x: tf.cond(x > 0.0, lambda: tf.math.log(x), lambda: x), autograph=False
        )(tf.constant(-1.0))

    def loop() -> Any:
        return tf.while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, tf.math.log(x)), [0, tf.constant(2.0)]
        )[1]

    def gradient_of_loop() -> Any:
        return sqrt_gradient(
            tf,
            lambda x: tf.while_loop(lambda i, y: i < 1, lambda i, y: (i + 1, tf.sqrt(y)), [0, x])[
                1
            ],
        )

    def gradient_of_cond() -> Any:
        return sqrt_gradient(tf, lambda x: tf.cond(x < 1.0, lambda: tf.sqrt(x), lambda: x))

    rows = [1.0, -1.0]
    return {
        "gradient": lambda: sqrt_gradient(tf, tf.sqrt),
        "traced gradient": lambda: traced(tf, lambda: sqrt_gradient(tf, tf.sqrt)),
        "gradient of a function in a trace": lambda: traced(
            tf, lambda: sqrt_gradient(tf, tf.function(lambda x: tf.sqrt(x)))
        ),
        "traced forward mode": lambda: traced(tf, jvp),
        "function in a function": lambda: traced(
            tf, lambda: traced(tf, lambda: tf.math.log(tf.constant(-1.0)))
        ),
        "cond": cond,
        "other branch": other_branch,
        "loop": lambda: traced(tf, loop),
        "gradient of a loop": lambda: traced(tf, gradient_of_loop),
        "gradient of a cond": lambda: traced(tf, gradient_of_cond),
        "map": lambda: tf.map_fn(tf.math.log, tf.constant(rows)),
        "traced map": lambda: traced(tf, lambda: tf.map_fn(tf.math.log, tf.constant(rows))),
        "numpy_function": lambda: traced(
            tf,
            lambda: tf.numpy_function(
                lambda x: x + np.float32(INF), [tf.constant(1.0)], tf.float32
            ),
        ),
        "unused": lambda: traced(tf, lambda: (tf.math.log(tf.constant(-1.0)), tf.constant(1.0))[1]),
        "argument that is returned": lambda: traced(tf, lambda x: tf.identity(x), tf.constant(NAN)),
        "init_scope": lambda: traced(tf, lambda: in_init_scope(tf)),
    }


def in_init_scope(tf: Any) -> Any:
    with tf.init_scope():
        return tf.math.log(tf.constant(-1.0))


@pytest.mark.parametrize("name", programs(graven))
def test_programs(name: str) -> None:
    ours, theirs = (outcome(tf, programs(tf)[name]) for tf in (graven, tensorflow))
    if name == "traced forward mode":
        # Other ops: TensorFlow differentiates the op's gradient, in a Function of its own.
        assert (ours, theirs) == ("graph RealDiv:0", "graph SqrtGrad:0")
    else:
        assert ours == theirs


def test_a_trace_made_with_the_checks_is_named_alike_in_both() -> None:
    def message(tf: Any) -> str:
        def f(x: Any) -> Any:
            return tf.math.log(x) + tf.zeros([2])

        tf.debugging.enable_check_numerics(stack_height_limit=100)
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            tf.function(f, autograph=False)(tf.constant([1.0, -1.0]))
        return str(raised.value)

    shared = [
        '!!! Detected Infinity or NaN in output 0 of graph op "Log" (# of outputs: 1) !!!\n'
        "  dtype: <dtype: 'float32'>\n  shape: (2,)\n",
        '  Input tensor: Tensor("x:0", shape=(2,), dtype=float32)\n  Graph name: "f"\n',
        '  Stack trace of op\'s creation ("->": inferred user code):\n',
        "Tensor had NaN values",
    ]
    for tf in (graven, tensorflow):
        text = message(tf)
        for part in shared:
            assert part in text
        assert re.search(r"test_check_numerics_beside_tensorflow.py \(L\d+\) f\n", text)


def test_an_eager_error_counts_the_elements_of_each_kind() -> None:
    def message(tf: Any) -> str:
        tf.debugging.enable_check_numerics()
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            tf.constant([1.0, 2.0, -1.0, 0.0, 1.0]) / tf.zeros([5])
        return str(raised.value)

    head = (
        '!!! Detected Infinity or NaN in output 0 of eagerly-executing op "RealDiv" (# of outputs: '
        "1) !!!\n  dtype: <dtype: 'float32'>\n  shape: (5,)\n"
        "  # of -Inf elements: 1\n  # of +Inf elements: 3\n  # of +NaN elements: 1\n"
        "\n  Input tensors (2):\n         0: tf.Tensor("
    )
    for tf in (graven, tensorflow):
        assert head in message(tf)


def test_another_thread_does_not_check() -> None:
    from concurrent.futures import ThreadPoolExecutor

    def values(tf: Any) -> list[bool]:
        f = tf.function(lambda x: tf.math.log(x), autograph=False)
        tf.debugging.enable_check_numerics()
        with ThreadPoolExecutor(1) as pool:
            log = pool.submit(lambda: [tf.math.log(-1.0), f(tf.constant(-1.0))]).result()
        return [bool(np.isnan(x.numpy())) for x in log]

    assert values(graven) == values(tensorflow) == [True, True]
