"""What is traced with unknown sizes gives the values, and the errors, of what is run at once."""

from collections.abc import Callable

import graven as tf
import numpy as np
import pytest

Spec = tf.TensorSpec


def traced(
    function: Callable[..., tf.Tensor], *shapes: list[int | None] | None
) -> Callable[..., tf.Tensor]:
    made: Callable[..., tf.Tensor] = tf.function(
        function, input_signature=[Spec(shape) for shape in shapes]
    )
    return made


def test_gradients_do_not_mix_up_sizes_of_two_graphs() -> None:
    a, b = tf.ones([17, 7]), tf.ones([17, 1])
    subtract = traced(lambda a, b: a - b, [None, None], [17, None])
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = subtract(a, b)
    da, db = tape.gradient(y, [a, b])
    assert da.shape == [17, 7]
    np.testing.assert_array_equal(db, np.full([17, 1], -7.0))


def test_gradients_of_variables_whose_sizes_are_open() -> None:
    v = tf.Variable(tf.ones([4, 1]), shape=[4, None])
    add = traced(lambda x: x * v, [4, None])
    with tf.GradientTape() as tape:
        y = add(tf.ones([4, 5]))
    np.testing.assert_array_equal(tape.gradient(y, v), np.full([4, 1], 5.0))


ROWS_FROM_COLUMNS: list[Callable[..., tf.Tensor]] = [
    lambda a, b: tf.reduce_sum(tf.minimum(a, b), -1),
    lambda a, b: tf.reduce_sum(a + b, -1),
    lambda a, b: (a / b) / tf.reduce_sum(a / b, -1, keepdims=True),
    lambda a, b: tf.nn.softmax(a * b) - tf.reduce_max(b - a, -1, keepdims=True),
]


@pytest.mark.parametrize("function", ROWS_FROM_COLUMNS)
@pytest.mark.parametrize(("rows", "columns"), [(5, 7), (1, 7), (5, 1), (0, 7), (5, 0)])
def test_rows_of_a_matrix_that_is_never_stored(
    function: Callable[..., tf.Tensor], rows: int, columns: int
) -> None:
    a = tf.constant(np.linspace(1, 2, rows, dtype=np.float32)[:, None])
    b = tf.constant(np.linspace(1, 3, columns, dtype=np.float32))
    if columns == 0:  # of which there is no maximum
        function = ROWS_FROM_COLUMNS[0]
    expected = function(a, b)
    np.testing.assert_array_equal(traced(function, [None, 1], [None])(a, b), expected)


@pytest.mark.parametrize("begin", [None, -1, 2])
@pytest.mark.parametrize("step", [-1, -2, 1, 3])
def test_a_slice_up_to_the_size_of_its_axis(begin: int | None, step: int) -> None:
    function = traced(lambda x: x[begin : tf.shape(x)[0] : step], [None])
    x = np.arange(10, dtype=np.float32)
    np.testing.assert_array_equal(function(x), x[begin : len(x) : step])


def test_rows_whose_sizes_differ_are_an_error() -> None:
    def function(x: tf.Tensor) -> tf.Tensor:
        m = tf.minimum(x, x[0][: tf.shape(x)[1] : -1])  # which is empty
        return m / tf.reduce_sum(m, -1, keepdims=True)

    with pytest.raises(tf.errors.InvalidArgumentError):
        traced(function, [None, None])(tf.ones([20, 1000]))


def test_a_slice_that_begins_nobody_knows_where() -> None:
    function = tf.function(
        lambda x, begin: tf.slice(x, begin, [2]),
        input_signature=[Spec([5]), Spec(None, tf.int32)],
    )
    np.testing.assert_array_equal(function([0.0, 1, 2, 3, 4], [3]), [3, 4])


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: tf.reshape(tf.ensure_shape(x, [2, None]), [-1]), [3, 3]),
        (lambda x: tf.reshape(tf.squeeze(x, 0), [-1]), [2, 3]),
    ],
)
def test_what_a_reshape_looks_through_is_still_checked(
    function: Callable[..., tf.Tensor], shape: list[int]
) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError):
        traced(function, [None, None])(tf.ones(shape))


def test_small_values_are_never_refused_their_memory() -> None:
    limit = tf.config.get_memory_limit()
    x = tf.ones([64, 64])
    tf.config.set_memory_limit(1)
    try:
        assert float(tf.Variable(1.0) + 1.0) == 2.0
        with pytest.raises(tf.errors.ResourceExhaustedError):
            tf.square(x)
    finally:
        tf.config.set_memory_limit(limit)
    assert float(tf.reduce_sum(tf.square(x))) == 4096.0


def test_a_broadcast_that_is_fused_checks_the_shape_that_it_is_given() -> None:
    # The size came from what is broadcast, and a sum read past its check.
    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec([5])])
    def largest(x: tf.Tensor, row: tf.Tensor) -> tf.Tensor:
        return tf.reduce_max(tf.broadcast_to(row, tf.stack([tf.shape(x)[0]])))

    assert largest(tf.ones([5]), tf.range(5.0)).numpy() == 4
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        largest(tf.ones([4]), tf.ones([5]))

    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec([5], tf.int32)])
    def repeated(x: tf.Tensor, counts: tf.Tensor) -> tf.Tensor:
        return tf.repeat(x, counts, axis=0)

    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        repeated(tf.range(4.0), [2, 0, 2, 1, 0])


def test_a_loop_within_a_loop_is_differentiated_for_one_of_its_variables() -> None:
    # That another one has a gradient too is found inside, where the process crashed.
    def f(x: tf.Tensor, factor: tf.Tensor) -> tf.Tensor:
        last, power = x, x
        for _ in tf.range(2):
            for _ in tf.range(2):
                last = tf.where(power > 1.0, power, last)
                power = power * factor
        return last

    x, factor = tf.constant([0.5]), tf.constant([3.0])
    with tf.GradientTape() as tape:
        tape.watch([x, factor])
        last = traced(f, [None], [None])(x, factor)
    assert last.numpy() == 13.5
    assert [dx.numpy().tolist() for dx in tape.gradient(last, [x, factor])] == [[27.0], [13.5]]
