"""tf.vectorized_map of functions of several ops beside tf.map_fn, with gradients."""

import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import graven as tf
import numpy as np
import pytest

RNG = np.random.default_rng(7)
X = RNG.normal(size=(5, 4, 3)).astype(np.float32)
V = RNG.normal(size=(5, 3)).astype(np.float32)
S = RNG.normal(size=(5,)).astype(np.float32)
M = RNG.normal(size=(3, 3)).astype(np.float32)
IMAGES = RNG.normal(size=(5, 2, 6, 6, 3)).astype(np.float32)
FILTER = RNG.normal(size=(3, 3, 3, 2)).astype(np.float32)
INDEX = np.array([0, 2, 1, 3, 2], np.int32)


def loop_until(x: Any) -> Any:
    """Halves x until its norm is small: as many times as its row needs."""
    return tf.while_loop(lambda y: tf.reduce_sum(y * y) > 1.0, lambda y: [y * 0.5], [x * 4.0])[0]


def counted(x: Any) -> Any:
    """A loop whose length is the same for all rows."""
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x + 1.0), (0, x))[1]


def elements_of(x: Any) -> Any:
    """A loop within the map that gathers rows."""
    return tf.map_fn(lambda e: tf.reduce_sum(e) * e, x)


def written(x: Any) -> Any:
    """A TensorArray that rows of x are written to, and read again."""
    array = tf.TensorArray(tf.float32, 3, element_shape=[3], clear_after_read=False)
    array = array.write(0, x[1] * 2.0).write(2, tf.ones([3]))
    return array.stack() * array.read(0)


def unstacked(x: Any) -> Any:
    """A TensorArray of the rows of x, in another order."""
    array = tf.TensorArray(tf.float32, 4, clear_after_read=False).unstack(x)
    return array.gather([2, 0]) + array.read(1)


def scattered(x: Any) -> Any:
    """A TensorArray whose elements come from rows of x."""
    array = tf.TensorArray(tf.float32, 5, element_shape=[3])
    return array.scatter([3, 1, 4, 0], x).stack()


@tf.function(autograph=False)
def element_of_each_row(e: Any) -> Any:
    """A TensorArray that is the same for all rows, each of which reads another element."""
    array = tf.TensorArray(tf.float32, 4, clear_after_read=False, element_shape=[3])
    array = array.unstack(tf.constant(X[0]))
    return array.read(e[1]) * e[0]


@tf.function(autograph=False)
def recurrence(x: Any) -> Any:
    """A loop that writes each of its states to a TensorArray."""
    array = tf.TensorArray(tf.float32, 4, element_shape=[3])

    def step(i: Any, h: Any, array: Any) -> Any:
        h = tf.tanh(tf.linalg.matvec(M, h) + x[i])
        return i + 1, h, array.write(i, h)

    return tf.while_loop(lambda i, *_: i < 4, step, (0, tf.zeros([3]), array))[2].stack()


def gradient_of_recurrence(x: Any) -> Any:
    """A loop, and a loop back, within the map."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(recurrence(x) ** 2)
    return tape.gradient(y, x)


@tf.function(autograph=False)
def cond_with_a_list(x: Any) -> Any:
    """A branch for all rows that changes a TensorArray."""
    array = tf.TensorArray(tf.float32, 1, element_shape=[3])
    flow = tf.cond(
        tf.reduce_sum(tf.constant(M)) < 100.0,
        lambda: array.write(0, x[0]).stack(),
        lambda: array.stack(),
    )
    return flow[0]


# Name: a function of a row, and what it is mapped over.
FUNCTIONS: dict[str, tuple[Callable[..., Any], Any]] = {
    "elementwise": (lambda x: tf.exp(x) * 2.0 + tf.sin(x), X),
    "scalars and tensors": (lambda e: e[0] * e[1] + e[0], (S, X)),
    "ranks that broadcast": (lambda e: e[0] + e[1], (V, X)),
    "constants": (lambda x: x * tf.constant([1.0, 2.0, 3.0]), X),
    "reduce all": (tf.reduce_sum, X),
    "reduce an axis": (lambda x: tf.reduce_mean(x, axis=0, keepdims=True), X),
    "reduce the last axis": (lambda x: tf.reduce_max(x, axis=-1), X),
    "logsumexp": (lambda x: tf.reduce_logsumexp(x, axis=1), X),
    "norm": (lambda x: tf.norm(x), X),
    "softmax": (tf.nn.softmax, X),
    "log softmax along an axis": (lambda x: tf.nn.log_softmax(x, axis=0), X),
    "transpose": (lambda x: tf.transpose(x), X),
    "reshape": (lambda x: tf.reshape(x, [-1, 2]), X),
    "expand and squeeze": (lambda x: tf.squeeze(tf.expand_dims(x, 1)) * 1.0, X),
    "concat": (lambda x: tf.concat([x, x * 2.0, tf.ones([1, 3])], 0), X),
    "stack": (lambda x: tf.stack([x, tf.zeros_like(x)], axis=1), X),
    "unstack": (lambda x: tf.unstack(x, num=4)[1], X),
    "split": (lambda x: tf.split(x, 2)[1], X),
    "slices": (lambda x: x[1:, ::2], X),
    "negative slices": (lambda x: x[::-1, tf.newaxis, ..., 0], X),
    "slice": (lambda x: tf.slice(x, [1, 0], [2, -1]), X),
    "pad": (lambda x: tf.pad(x, [[1, 0], [0, 2]]), X),
    "mirror": (lambda x: tf.pad(x, [[1, 1], [0, 0]], mode="REFLECT"), X),
    "tile": (lambda x: tf.tile(x, [2, 1]), X),
    "reverse": (lambda x: tf.reverse(x, [1]), X),
    "roll": (lambda x: tf.roll(x, 1, 0), X),
    "padded with a value of each row": (
        lambda e: tf.pad(e[0], [[1, 0], [0, 2]], constant_values=e[1]),
        (X, S),
    ),
    "a constant padded with a value of each row": (
        lambda s: tf.pad(tf.constant(M), [[1, 0], [0, 2]], constant_values=s),
        S,
    ),
    "squeeze all": (lambda v: tf.squeeze(v[tf.newaxis, :, tf.newaxis]) * 1.0, V),
    "squeeze rows of scalars": (lambda s: tf.squeeze(s) * 2.0, S),
    "tensor_diag": (lambda x: tf.linalg.tensor_diag(x), X),
    "tensor_diag_part": (lambda x: tf.linalg.tensor_diag_part(x[:3]), X),
    "tensor_diag_part of four axes": (
        lambda x: tf.linalg.tensor_diag_part(tf.reshape(tf.stack([x] * 12), [4, 3, 4, 3])),
        X,
    ),
    "fill": (lambda s: tf.fill([2, 2], s), S),
    "broadcast": (lambda x: tf.broadcast_to(x, [2, 4, 3]), X),
    "shape": (lambda x: x * tf.cast(tf.shape(x)[0] + tf.size(x) + tf.rank(x), tf.float32), X),
    "matmul with a constant": (lambda x: tf.matmul(x, M), X),
    "matmul of a constant": (lambda x: tf.matmul(M, x, transpose_b=True), X),
    "matmul of rows": (lambda x: tf.matmul(x, x, transpose_a=True), X),
    "matvec": (lambda e: tf.linalg.matvec(e[0], e[1]), (X, V)),
    "einsum": (lambda e: tf.einsum("ij,j->i", e[0], e[1]), (X, V)),
    "inverse": (lambda x: tf.linalg.inv(tf.matmul(x, x, transpose_a=True) + tf.eye(3)), X),
    "cholesky": (lambda x: tf.linalg.cholesky(tf.matmul(x, x, transpose_a=True) + tf.eye(3)), X),
    "solve": (lambda e: tf.linalg.solve(M, e[:, tf.newaxis]), V),
    "diagonal": (lambda v: tf.linalg.diag(v) + tf.linalg.band_part(tf.ones([3, 3]), 0, 0), V),
    "gather of the rows": (lambda x: tf.gather(x, [1, 0, 1]), X),
    "gather along an axis": (lambda x: tf.gather(x, [2, 0], axis=1), X),
    "gather at the rows' places": (lambda i: tf.gather(tf.constant(X[0]), i), INDEX),
    "gather columns": (lambda i: tf.gather(tf.constant(X[0]), [i % 3], axis=1), INDEX),
    "gather of both": (lambda e: tf.gather(e[0], e[1]), (X, INDEX)),
    "an element": (lambda e: e[0][e[1]], (X, INDEX)),
    "an element of a constant": (lambda i: tf.constant(X[0])[i, 1], INDEX),
    "gather_nd": (lambda x: tf.gather_nd(x, [[0, 1], [3, 2]]), X),
    "scatter": (lambda v: tf.scatter_nd([[3], [1], [3]], v, [4]), V),
    "tensor scatter": (lambda e: tf.tensor_scatter_nd_add(e[0], [[0]], [e[1]]), (X, V)),
    "segments": (lambda x: tf.math.segment_sum(x, [0, 0, 1, 1]), X),
    "unsorted segments": (lambda x: tf.math.unsorted_segment_sum(x, [1, 0, 1, -1], 2), X),
    "cumsum": (lambda x: tf.cumsum(x, axis=0, reverse=True), X),
    "top_k": (lambda x: tf.math.top_k(x, 2).values, X),
    "sort": (lambda x: tf.sort(x, axis=0), X),
    "argmax": (lambda x: tf.argmax(x, axis=1), X),
    "one_hot": (lambda i: tf.one_hot(i, 4, axis=0), INDEX),
    "where": (lambda x: tf.where(x > 0, x, x * 0.1), X),
    "clip": (lambda e: tf.clip_by_value(e[0], -tf.abs(e[1]), tf.abs(e[1])), (X, S)),
    "add_n": (lambda x: tf.add_n([x, x, tf.ones([4, 3])]), X),
    "bias": (lambda e: tf.nn.bias_add(e[0], e[1]), (X, V)),
    "bias of a constant": (lambda x: tf.nn.bias_add(x, M[0]), X),
    "conv2d": (lambda x: tf.nn.conv2d(x, FILTER, 1, "SAME"), IMAGES),
    "max_pool": (lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"), IMAGES),
    "avg_pool": (lambda x: tf.nn.avg_pool2d(x, 2, 2, "VALID"), IMAGES),
    "cross entropy": (lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([0, 2, 1, 1], x), X),
    "cross entropy of each row's labels": (
        lambda e: tf.nn.sparse_softmax_cross_entropy_with_logits(e[1], e[0]),
        (V, INDEX % 3),
    ),
    "cross entropy of labels alone": (
        lambda i: tf.nn.sparse_softmax_cross_entropy_with_logits(
            [i, 2 - i % 3], tf.constant(M[:2])
        ),
        INDEX % 3,
    ),
    "cross entropy of classes that all rows share": (
        lambda x: (
            tf.raw_ops.SoftmaxCrossEntropyWithLogits(
                features=x, labels=tf.constant([[0.2, 0.3, 0.5]])
            ).loss
        ),
        X,
    ),
    "soft cross entropy": (
        lambda x: tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(x[::-1]), x),
        X,
    ),
    "moments": (lambda x: tf.stack(tf.nn.moments(x, 0)), X),
    "cast": (lambda x: tf.cast(x, tf.float64), X),
    "stop_gradient": (lambda x: x * tf.stop_gradient(x), X),
    "cond of all rows": (lambda x: tf.cond(tf.constant(True), lambda: x * 2.0, lambda: x), X),
    "cond of a row": (
        lambda v: tf.cond(tf.reduce_sum(v) > 0, lambda: v * 2.0, lambda: tf.exp(v)),
        V,
    ),
    "cond of constants": (lambda s: s * tf.cond(s > 0, lambda: 1.0, lambda: -1.0), S),
    "a guarded division": (
        lambda i: tf.cond(i > 0, lambda: 6 // i, lambda: tf.constant(-1)),
        INDEX,
    ),
    "switch_case": (
        lambda e: tf.switch_case(e[1], [lambda: e[0], lambda: e[0] * 2.0, lambda: -e[0]]),
        (V, INDEX),
    ),
    "a loop for all rows": (counted, V),
    "a loop for each row": (loop_until, V),
    "a call": (tf.function(lambda x: x * x + 1.0), X),
    "a map within": (elements_of, X),
    "a scan within": (lambda x: tf.scan(lambda a, e: a * 0.5 + e, x), X),
    "a fold within": (lambda x: tf.foldr(lambda a, e: a * e + 1.0, x), X),
    "a list that is written": (written, X),
    "a list of rows": (unstacked, X),
    "a list that is scattered": (scattered, X),
    "an element of a list": (element_of_each_row, (S, INDEX)),
    "a list in a branch": (cond_with_a_list, X),
    "a loop with a list": (recurrence, X),
    "the gradient of a loop": (gradient_of_recurrence, X),
}


def numbers(result: Any) -> list[Any]:
    """The tensors of a result as arrays."""
    return [np.asarray(part) for part in tf.nest.flatten(result)]


def assert_same(actual: Any, expected: Any) -> None:
    """Compares nested results."""
    tf.nest.assert_same_structure(actual, expected)
    for a, e in zip(numbers(actual), numbers(expected), strict=True):
        assert (a.shape, a.dtype) == (e.shape, e.dtype)
        np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-5)


def map_fn(f: Callable[..., Any], elems: Any) -> Any:
    """tf.map_fn, with the signature that f has."""
    first = tf.nest.map_structure(lambda x: x[0], elems)
    signature = tf.nest.map_structure(lambda y: tf.convert_to_tensor(y).dtype, f(first))
    return tf.map_fn(f, elems, fn_output_signature=signature)


def vectorized(f: Callable[..., Any], elems: Any) -> Any:
    """tf.vectorized_map without warnings."""
    return tf.vectorized_map(f, elems, warn=False)


def tensors(elems: Any) -> Any:
    """Arrays as tensors."""
    return tf.nest.map_structure(tf.constant, elems)


MODES = pytest.mark.parametrize("mode", ["eager", "traced", "unknown length", "unknown sizes"])


def in_mode(mode: str, call: Callable[..., Any], elems: Any) -> Any:
    """Calls call(elems) eagerly or traced."""
    if mode == "eager":
        return call(elems)
    if mode == "traced":
        return tf.function(call)(elems)

    def spec(x: Any) -> Any:
        is_known = mode == "unknown length"
        return tf.TensorSpec([None, *(size if is_known else None for size in x.shape[1:])], x.dtype)

    signature = tf.nest.map_structure(spec, elems)
    return tf.function(call, input_signature=[signature])(elems)


@MODES
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_many_rows_is_that_of_each(name: str, mode: str) -> None:
    f, arrays = FUNCTIONS[name]
    elems = tensors(arrays)
    assert_same(in_mode(mode, lambda e: vectorized(f, e), elems), map_fn(f, elems))


@MODES
@pytest.mark.parametrize("name", FUNCTIONS)
def test_its_gradient_is_that_of_each(name: str, mode: str) -> None:
    f, arrays = FUNCTIONS[name]
    elems = tensors(arrays)

    def gradient(mapping: Callable[..., Any]) -> Callable[..., Any]:
        def of(elems: Any) -> Any:
            sources = [x for x in tf.nest.flatten(elems) if x.dtype.is_floating]
            with tf.GradientTape() as tape:
                tape.watch(sources)
                y = mapping(f, elems)
                loss = tf.reduce_sum(tf.cast(y, tf.float32) ** 2)
            found = tape.gradient(loss, sources, unconnected_gradients="zero")
            return [tf.convert_to_tensor(g) for g in found]

        return of

    assert_same(in_mode(mode, gradient(vectorized), elems), gradient(map_fn)(elems))


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "mirror"])
def test_no_rows_give_an_empty_result_of_the_right_shape(name: str) -> None:
    """A mirror is left out: the op itself refuses an axis without elements."""
    f, arrays = FUNCTIONS[name]
    some = vectorized(f, tensors(arrays))
    none = vectorized(f, tf.nest.map_structure(lambda x: tf.constant(x[:0]), arrays))
    for a, b in zip(tf.nest.flatten(none), tf.nest.flatten(some), strict=True):
        assert a.shape == [0, *b.shape[1:]]


@pytest.mark.parametrize(
    "name", [name for name in FUNCTIONS if name not in ("mirror", "the gradient of a loop")]
)
def test_no_rows_of_unknown_sizes_give_an_empty_result_of_the_right_shape(name: str) -> None:
    """The gradient of a loop joins elements of a list whose sizes are known with the rows only."""
    f, arrays = FUNCTIONS[name]
    some = vectorized(f, tensors(arrays))
    rows = tf.nest.map_structure(lambda x: tf.constant(x[:0]), arrays)
    none = in_mode("unknown sizes", lambda e: vectorized(f, e), rows)
    for a, b in zip(tf.nest.flatten(none), tf.nest.flatten(some), strict=True):
        assert a.shape == [0, *b.shape[1:]]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_functions_need_no_loop_over_rows(name: str) -> None:
    f, arrays = FUNCTIONS[name]
    tf.vectorized_map(f, tensors(arrays), fallback_to_while_loop=False)


def test_a_loop_whose_length_differs_between_rows_may_have_a_list() -> None:
    """It runs in a loop over the rows."""

    def f(e: Any) -> Any:
        array = tf.TensorArray(tf.float32, 4, element_shape=[3])
        x, n = e

        def step(i: Any, array: Any) -> Any:
            return i + 1, array.write(i, x * tf.cast(i, tf.float32))

        return tf.while_loop(lambda i, _: i < n, step, (0, array))[1].stack()

    def gradient(mapping: Callable[..., Any]) -> Any:
        def of(elems: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(elems[0])
                loss = tf.reduce_sum(mapping(f, elems) ** 2)
            return tape.gradient(loss, elems[0])

        return of

    elems = tensors((V, INDEX))
    for mode in (lambda g: g, tf.function):
        assert_same(mode(lambda e: vectorized(f, e))(elems), map_fn(f, elems))
        assert_same(mode(gradient(vectorized))(elems), gradient(map_fn)(elems))


def test_a_branch_that_differs_between_rows_may_change_a_list() -> None:
    def f(x: Any) -> Any:
        array = tf.TensorArray(tf.float32, 1, element_shape=[3]).unstack([x])
        choice = tf.reduce_sum(x) > 0
        return tf.cond(choice, lambda: array.write(0, x * 2.0), lambda: array).stack()

    x = tf.constant(V)
    assert_same(vectorized(f, x), map_fn(f, x))
    assert_same(tf.function(lambda x: vectorized(f, x))(x), map_fn(f, x))


def test_an_op_without_a_rule_is_named_once(capfd: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        return tf.size(tf.where(x > 0)) + tf.size(tf.where(x > 1))

    tf.vectorized_map(f, tf.constant(X[:, :1, :1] * 0 + 1.0))
    assert capfd.readouterr().err.count("Where") == 1


def test_an_op_without_a_rule_may_be_refused() -> None:
    with pytest.raises(ValueError, match="Where"):
        tf.vectorized_map(tf.where, tf.constant(X) > -100.0, fallback_to_while_loop=False)


def test_structures_go_in_and_out() -> None:
    result = tf.vectorized_map(
        lambda e: {"a": (e["x"] + 1.0, [e["y"]])}, {"x": tf.constant(V), "y": tf.constant(S)}
    )
    np.testing.assert_allclose(result["a"][0], V + 1.0)
    np.testing.assert_allclose(result["a"][1][0], S)


def test_rows_of_unknown_rank_fill() -> None:
    f = tf.function(
        lambda x: tf.vectorized_map(lambda r: tf.fill([2, 3], r), x),
        input_signature=[tf.TensorSpec(None)],
    )
    np.testing.assert_array_equal(f(S), np.broadcast_to(S[:, None, None], [5, 2, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(V)


def test_a_label_that_is_no_class_is_refused_in_any_row() -> None:
    def f(e: Any) -> Any:
        return tf.nn.sparse_softmax_cross_entropy_with_logits(e[1], e[0])

    labels = np.array([0, 1, 2, 3, 0], np.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="label value of 3"):
        tf.vectorized_map(f, tensors((V, labels)))


def test_a_tensor_without_a_diagonal_is_refused_when_its_sizes_come() -> None:
    f = tf.function(
        lambda x: tf.vectorized_map(tf.linalg.tensor_diag_part, x),
        input_signature=[tf.TensorSpec([None, None, None])],
    )
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(np.ones([2, 3, 4], np.float32))


def test_an_op_in_a_loop_over_no_rows_gives_the_sizes_that_its_inputs_have() -> None:
    f = tf.function(
        lambda x, n: tf.vectorized_map(
            lambda e: tf.reverse_sequence(e[0], e[1], seq_axis=0, batch_axis=1), (x, n), warn=False
        ),
        input_signature=[tf.TensorSpec([None] * 3), tf.TensorSpec([None] * 2, tf.int32)],
    )
    assert f(X, np.ones([5, 3], np.int32)).shape == [5, 4, 3]
    assert f(X[:0], np.ones([0, 3], np.int32)).shape == [0, 4, 3]


@pytest.mark.parametrize("elems", [(), 1.0, (np.ones([2]), np.ones([3]))])
def test_elems_that_do_not_fit_are_refused(elems: Any) -> None:
    with pytest.raises(ValueError):
        tf.vectorized_map(lambda e: e, elems)


def test_lists_do_not_go_in_or_out() -> None:
    handle = tf.raw_ops.TensorListReserve(
        element_shape=[3], num_elements=2, element_dtype=tf.float32
    )
    with pytest.raises(tf.errors.UnimplementedError, match="elems may not hold a variant"):
        tf.vectorized_map(lambda e: 1.0, handle)
    with pytest.raises(tf.errors.UnimplementedError, match="fn may not return a variant"):
        tf.vectorized_map(lambda e: handle, tf.constant(V))


def test_variables_are_read_once_and_differentiated() -> None:
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.vectorized_map(lambda x: x * v, tf.constant(V)))
    np.testing.assert_allclose(tape.gradient(y, v), V.sum(0), rtol=1e-5)


def test_a_trace_of_unknown_length_serves_all_lengths() -> None:
    f = tf.function(
        lambda x: tf.vectorized_map(lambda r: r * tf.reduce_sum(r), x),
        input_signature=[tf.TensorSpec([None, None])],
    )
    for shape in [(5, 3), (2, 4), (0, 2)]:
        x = RNG.normal(size=shape).astype(np.float32)
        np.testing.assert_allclose(f(x), x * x.sum(1, keepdims=True), rtol=1e-5)
    assert f.experimental_get_tracing_count() == 1


def test_random_rows_differ() -> None:
    y = tf.vectorized_map(lambda x: x + tf.random.normal([3]), tf.zeros([4, 3]))
    assert len({tuple(row) for row in y.numpy()}) == 4


RANDOM: dict[str, Callable[[], Any]] = {
    "uniform": lambda: tf.random.uniform([2]),
    "integers": lambda: tf.random.uniform([2], 0, 1 << 30, tf.int32),
    "truncated": lambda: tf.random.truncated_normal([2]),
    "gamma": lambda: tf.random.gamma([2], 3.0),
    "poisson": lambda: tf.random.poisson([2], 1e6),
    "categorical": lambda: tf.random.categorical(tf.zeros([1, 1 << 20]), 2),
    "shuffle": lambda: tf.random.shuffle(tf.range(1000))[:2],
}


@pytest.mark.parametrize("draw", RANDOM.values(), ids=RANDOM)
def test_each_row_draws_its_own(draw: Callable[[], Any]) -> None:
    y = tf.vectorized_map(lambda x: draw(), tf.zeros([4]), warn=False)
    assert y.shape == [4, *draw().shape]
    assert len({tuple(np.ravel(row)) for row in y.numpy()}) == 4


def test_each_row_draws_its_own_from_a_generator() -> None:
    generator = tf.random.Generator.from_seed(1)
    y = tf.vectorized_map(lambda x: generator.normal([3]), tf.zeros([4]))
    assert len({tuple(row) for row in y.numpy()}) == 4


def test_a_seed_that_all_rows_share_gives_them_one_draw() -> None:
    y = tf.vectorized_map(lambda x: x + tf.random.stateless_uniform([2], [1, 2]), tf.zeros([3]))
    assert len({tuple(row) for row in y.numpy()}) == 1


def test_each_row_writes_what_it_has_to_a_variable() -> None:
    v = tf.Variable(0.0)
    tf.vectorized_map(lambda x: v.assign_add(x), tf.constant([1.0, 2.0, 3.0]), warn=False)
    assert float(v) == 6.0


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "traced"])
def test_what_all_rows_write_to_a_variable_is_written_once(wrap: Callable[..., Any]) -> None:
    """As in TensorFlow; the reads and writes keep their order."""
    v = tf.Variable(0.0)

    def f(x: Any) -> Any:
        v.assign_add(1.0)
        first = x + v
        v.assign_add(v)
        return first, x + v

    first, second = wrap(lambda x: tf.vectorized_map(f, x, warn=False))(tf.constant([1.0, 2.0]))
    np.testing.assert_array_equal(first, [2.0, 3.0])
    np.testing.assert_array_equal(second, [3.0, 4.0])
    assert float(v) == 2.0


def test_an_assertion_holds_for_all_rows() -> None:
    def f(x: Any) -> Any:
        tf.debugging.Assert(x > 0.0, ["not positive"])
        return x

    tf.vectorized_map(f, tf.constant([1.0, 2.0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not positive"):
        tf.vectorized_map(f, tf.constant([1.0, -2.0]))


def test_each_row_writes_and_reads_its_file(tmp_path: Path) -> None:
    paths = tf.constant([str(tmp_path / name) for name in ("a", "b", "c")])

    def f(path: Any) -> Any:
        tf.io.write_file(path, tf.strings.join([path, "!"]))
        return tf.io.read_file(path)

    found = tf.vectorized_map(f, paths, warn=False).numpy().tolist()
    assert found == [f"{path.decode()}!".encode() for path in paths.numpy()]


def test_gradients_of_each_row() -> None:
    w = tf.constant(M)

    def of_row(v: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = tf.reduce_sum(tf.tanh(tf.linalg.matvec(w, v)) ** 2)
        return tape.gradient(y, w)

    assert_same(tf.vectorized_map(of_row, tf.constant(V)), map_fn(of_row, tf.constant(V)))


WEIGHTS = tf.Variable([1.0, 2.0, 3.0])


@tf.custom_gradient
def square(x: Any) -> Any:
    return x * x, lambda dy: dy * x * 10.0


@tf.custom_gradient
def clipped(x: Any) -> Any:
    return x, lambda dy: tf.clip_by_norm(dy, 1.0)


@tf.custom_gradient
def product_and_next(x: Any, y: Any) -> Any:
    return (x * y, x + 1.0), lambda a, b: (a * y * 3.0 + b, a * x * 5.0)


@tf.custom_gradient
def weighted(x: Any) -> Any:
    def gradient(dy: Any, variables: Any = None) -> Any:
        return dy * WEIGHTS, [dy * x * 2.0]

    return x * WEIGHTS, gradient


@pytest.mark.parametrize(
    "f",
    [
        square,
        clipped,
        weighted,
        lambda v: tf.reduce_sum(square(tf.sin(v)) * v),
        lambda v: square(square(v)),
        lambda v: square(v * WEIGHTS),
        lambda v: square(WEIGHTS) + v,  # is the same for all rows
        lambda v: square(tf.gather(WEIGHTS, [0, 0, 2]) * v),
        lambda v: product_and_next(v, tf.cos(v)),
        lambda v: tf.cond(v[0] > 0.0, lambda: square(v), lambda: v * 2.0),
        lambda v: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, square(x) * 0.1), (0, v)),
    ],
)
def test_gradients_of_the_users_own_are_those_of_each_row(f: Callable[[Any], Any]) -> None:
    """TensorFlow's are those of the ops within."""

    def rows_at_once(x: Any) -> Any:
        return tf.vectorized_map(f, x)

    def row_by_row(x: Any) -> Any:
        return tf.nest.map_structure(lambda *rows: tf.stack(rows), *[f(row) for row in x])

    def gradients(of: Callable[[Any], Any], x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            results = [y for y in tf.nest.flatten(of(x)) if y.dtype == tf.float32]
            loss = tf.add_n([tf.reduce_sum(tf.tanh(y)) for y in results])
        return [loss, *tape.gradient(loss, [x, WEIGHTS], unconnected_gradients="zero")]

    x = tf.constant(V)
    expected = gradients(row_by_row, x)
    for run in (gradients, tf.function(gradients)):
        for found, of_rows in zip(run(rows_at_once, x), expected, strict=True):
            found, of_rows = tf.convert_to_tensor(found), tf.convert_to_tensor(of_rows)
            np.testing.assert_allclose(found, of_rows, rtol=2e-5, atol=1e-6)


def test_a_gradient_of_the_users_own_for_many_rows_has_a_gradient() -> None:
    x = tf.constant(V)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.vectorized_map(square, x)
        dx = tape.gradient(y, x)
    np.testing.assert_allclose(dx, 10.0 * V, rtol=1e-6)
    np.testing.assert_allclose(outer.gradient(dx, x), np.full_like(V, 10.0))


def test_a_gradient_of_the_users_own_for_rows_of_a_number_that_is_not_known() -> None:
    rows = tf.function(
        lambda x: tf.vectorized_map(square, x), input_signature=[tf.TensorSpec([None, 3])]
    )
    for x in (tf.constant(V), tf.constant(V[:2])):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = rows(x)
        np.testing.assert_allclose(tape.gradient(y, x), 10.0 * x.numpy(), rtol=1e-6)


def test_a_gradient_of_the_users_own_that_fails_is_an_error_where_it_is_asked_for() -> None:
    @tf.custom_gradient
    def failing(x: Any) -> Any:
        def gradient(dy: Any) -> Any:
            raise ValueError("no gradient today")

        return x * 2.0, gradient

    x = tf.constant(V)

    def rows(x: Any) -> Any:
        return tf.vectorized_map(failing, x)

    for run in (rows, tf.function(rows)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run(x)
        np.testing.assert_allclose(y, 2.0 * V)
        with pytest.raises(LookupError, match="custom_gradient"):
            tape.gradient(y, x)


def test_rows_with_a_gradient_of_the_users_own_keep_nothing_alive() -> None:
    def use() -> Any:
        rows = tf.function(lambda x: tf.vectorized_map(square, x))
        x = tf.constant(V)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = rows(x), tf.vectorized_map(square, x)
        tape.gradient(y, x)
        return weakref.ref(rows)

    reference = use()
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "traced"])
def test_rows_of_a_variable_give_dense_gradients_of_each_row(wrap: Callable[..., Any]) -> None:
    table = tf.constant(X[0])
    rows = np.array([[0, 1], [1, 1], [3, 2]], np.int32)

    def f(r: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(table)
            y = tf.reduce_sum(tf.gather(table, r) ** 2)
        return tape.gradient(y, table)

    found = wrap(lambda x: tf.vectorized_map(f, x))(tf.constant(rows))
    expected = tf.stack([tf.convert_to_tensor(f(tf.constant(r))) for r in rows])
    np.testing.assert_allclose(found, expected)
    both = wrap(lambda x: tf.vectorized_map(lambda r: {"g": [f(r)], "r": r}, x))(tf.constant(rows))
    np.testing.assert_allclose(both["g"][0], expected)


def test_sparse_and_ragged_tensors_do_not_go_out() -> None:
    def sparse(x: Any) -> Any:
        return tf.SparseTensor(tf.zeros([1, 1], tf.int64), x[:1], [3])

    with pytest.raises(tf.errors.UnimplementedError, match="fn may not return a SparseTensor"):
        tf.vectorized_map(sparse, tf.constant(V))


def test_a_jacobian_takes_all_elements_at_once() -> None:
    x = tf.constant(V[0])
    calls = []

    @tf.custom_gradient
    def counted_identity(x: Any) -> Any:
        return x * 1.0, lambda dy: calls.append(1) or dy * 1.0  # type: ignore[func-returns-value]

    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.linalg.matvec(M, tf.sin(counted_identity(x)))
    expected = M * np.cos(V[0])
    np.testing.assert_allclose(tape.jacobian(y, x), expected, rtol=1e-5)
    assert len(calls) == 1
    at_a_time = tape.jacobian(y, x, experimental_use_pfor=False)
    np.testing.assert_allclose(at_a_time, expected, rtol=1e-5)
    assert len(calls) == 4


@pytest.mark.parametrize("mode", ["REFLECT", "SYMMETRIC"])
def test_mirrors_in_a_branch_of_no_row(mode: str) -> None:
    def f(row: Any) -> Any:
        return tf.cond(row[0] < 100.0, lambda: row, lambda: tf.pad(row, [[1, 1]], mode)[:3])

    assert np.array_equal(tf.vectorized_map(f, tf.constant(V)), V)
    assert np.array_equal(tf.function(lambda v: tf.vectorized_map(f, v))(tf.constant(V)), V)


def test_optionals_hold_the_values_of_all_rows() -> None:
    ops = tf.raw_ops

    def f(x: Any) -> Any:
        optional = ops.OptionalFromValue(components=[x * 2, tf.constant([1, 2])])
        y, n = ops.OptionalGetValue(
            optional=optional, output_types=["float32", "int32"], output_shapes=[[], [2]]
        )
        are_there = [
            ops.OptionalHasValue(optional=optional),
            ops.OptionalHasValue(optional=ops.OptionalNone()),
        ]
        return y * x, n, are_there

    xs = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y, n, are_there = tf.vectorized_map(f, xs, fallback_to_while_loop=False)
    assert y.numpy().tolist() == [2.0, 8.0, 18.0]
    assert n.numpy().tolist() == [[1, 2]] * 3
    assert [t.numpy().tolist() for t in are_there] == [[True] * 3, [False] * 3]
    assert tape.gradient(y, xs).numpy().tolist() == [4.0, 8.0, 12.0]


def test_a_name_may_be_none_in_some_rows() -> None:
    @tf.function
    def f(x: Any) -> Any:
        p = None
        if x > 1.5:
            p = x * 2
        return x if p is None else p

    @tf.function
    def g(xs: Any) -> Any:
        return tf.vectorized_map(f, xs)

    assert g(tf.constant([1.0, 2.0])).numpy().tolist() == [1.0, 4.0]
