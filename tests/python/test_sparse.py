"""Sparse tensors and IndexedSlices: parts, types, and how they pass through Functions."""

import copy
from typing import Any

import graven as tf
import numpy as np
import pytest


def parts(sparse: Any) -> list[Any]:
    return [t.numpy().tolist() for t in (sparse.indices, sparse.values, sparse.dense_shape)]


@pytest.mark.parametrize(
    ("dense", "expected"),
    [
        ([[0, 4], [5, 0]], [[[0, 1], [1, 0]], [4, 5], [2, 2]]),
        ([0.0, float("nan"), -0.0], [[[1]], [pytest.approx(float("nan"), nan_ok=True)], [3]]),
        (["", "a"], [[[1]], [b"a"], [2]]),
        ([[0, 0]], [[], [], [1, 2]]),
    ],
)
def test_from_dense_keeps_what_is_not_zero(dense: Any, expected: Any) -> None:
    sparse = tf.sparse.from_dense(dense)
    assert parts(sparse) == expected
    assert sparse.shape.as_list() == expected[2]
    assert sparse.indices.dtype == sparse.dense_shape.dtype == tf.int64


def test_a_sparse_tensor_is_made_of_its_parts() -> None:
    sparse = tf.SparseTensor([[0, 1]], [2.5], [3, 4])
    assert parts(sparse) == [[[0, 1]], [2.5], [3, 4]]
    assert parts(sparse.with_values([1])) == [[[0, 1]], [1], [3, 4]]
    assert sparse.dtype == tf.float32
    assert tf.is_tensor(sparse.values)
    assert repr(sparse).startswith("SparseTensor(indices=tf.Tensor([[0 1]]")


@pytest.mark.parametrize(
    ("indices", "values", "dense_shape", "message"),
    [
        ([0, 1], [1.0], [3], "indices of a SparseTensor must have rank 2"),
        ([[0]], 1.0, [3], "values of a SparseTensor must have rank 1"),
        ([[0]], [1.0], 3, "dense_shape of a SparseTensor must have rank 1"),
        ([[0]], [1.0, 2.0], [3], r"must be \[values, dimensions\]"),
        ([[0, 0]], [1.0], [3], r"must be \[values, dimensions\]"),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    indices: Any, values: Any, dense_shape: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        tf.SparseTensor(indices, values, dense_shape)


def test_a_function_takes_and_gives_sparse_tensors_and_traces_by_type() -> None:
    @tf.function
    def doubled(x: Any) -> Any:
        return x.with_values(x.values * 2)

    for dense in ([0, 3], [0, 0], [1, 2]):
        expected = tf.sparse.from_dense(dense)
        got = doubled(tf.sparse.from_dense(dense))
        assert parts(got) == parts(expected.with_values(expected.values * 2))
    assert doubled.experimental_get_tracing_count() == 1
    doubled(tf.sparse.from_dense([1, 2, 3]))
    assert doubled.experimental_get_tracing_count() == 2


def test_a_body_sees_the_static_shape_of_a_sparse_argument() -> None:
    shapes = []
    f = tf.function(lambda x: shapes.append((x.shape.as_list(), x.indices.shape.as_list())))
    f.get_concrete_function(tf.SparseTensorSpec([None, 3], tf.float32))
    assert shapes == [([None, 3], [None, 2])]


def test_the_spec_of_a_sparse_tensor_is_ordered_by_its_shape() -> None:
    exact, wide = tf.SparseTensorSpec([2, 3], tf.int32), tf.SparseTensorSpec([None, 3], tf.int32)
    assert exact.is_subtype_of(wide)
    assert not wide.is_subtype_of(exact)
    assert not exact.is_subtype_of(tf.SparseTensorSpec([2, 3], tf.float32))
    assert exact.most_specific_common_supertype([tf.SparseTensorSpec([5, 3], tf.int32)]) == wide
    dense: Any = tf.TensorSpec([2, 3], tf.int32)
    assert exact.most_specific_common_supertype([dense]) is None
    assert wide.is_compatible_with(tf.sparse.from_dense([[1, 2, 3]]))
    assert not wide.is_compatible_with(tf.sparse.from_dense([1]))


def test_a_sparse_spec_fixes_the_type_of_a_parameter() -> None:
    f = tf.function(lambda x: x.values, [tf.SparseTensorSpec([None], tf.int32)])
    assert f(tf.sparse.from_dense([0, 1])).numpy().tolist() == [1]
    assert f(tf.sparse.from_dense([2, 0, 1])).numpy().tolist() == [2, 1]
    assert f.experimental_get_tracing_count() == 1
    with pytest.raises(TypeError, match="Can not cast"):
        f(tf.sparse.from_dense([[1]]))


def test_from_dense_is_traced() -> None:
    f = tf.function(lambda x: tf.sparse.from_dense(x))
    for dense in ([0, 3, 0], [1, 2, 3]):
        assert parts(f(tf.constant(dense))) == parts(tf.sparse.from_dense(dense))


def test_a_function_takes_and_gives_indexed_slices() -> None:
    @tf.function
    def doubled(s: Any) -> Any:
        return tf.IndexedSlices(s.values * 2.0, s.indices, s.dense_shape)

    slices = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([4, 1]), tf.constant([5, 3]))
    got = doubled(slices)
    assert isinstance(got, tf.IndexedSlices)
    np.testing.assert_array_equal(got.values, np.full([2, 3], 2.0))
    assert (got.indices.numpy().tolist(), got.dense_shape.numpy().tolist()) == ([4, 1], [5, 3])
    without = doubled(tf.IndexedSlices(tf.ones([2, 3]), tf.constant([4, 1])))
    assert without.dense_shape is None
    assert doubled.experimental_get_tracing_count() == 2


def test_the_gradient_of_a_gather_leaves_a_function_as_indexed_slices() -> None:
    table = tf.Variable([[1.0], [2.0], [3.0]])

    @tf.function
    def gradient() -> Any:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(table, [2, 2]))
        return tape.gradient(y, table)

    assert isinstance(gradient(), tf.IndexedSlices)
    assert tf.convert_to_tensor(gradient()).numpy().tolist() == [[0.0], [0.0], [2.0]]


def test_ops_and_operators_that_take_no_sparse_tensors_say_how_to_get_on() -> None:
    sparse: Any = tf.SparseTensor([[0, 1]], [2], [2, 2])
    for f in (lambda s: s * 2, lambda s: s / 2):
        for call in (f, tf.function(f)):
            with pytest.raises(
                NotImplementedError, match=r"of sparse tensors yet: [\s\S]*with_values"
            ):
                call(sparse)
    wrong: tuple[Any, ...] = (lambda s: s + 1, lambda s: 2 * s, lambda s: -s)  # as in TensorFlow
    for op in wrong:
        with pytest.raises(TypeError, match=r"SparseTensor"):
            op(sparse)
    calls: tuple[Any, ...] = (
        lambda s: tf.add(s, 1),
        lambda s: tf.reduce_sum(s),
        lambda s: tf.constant(1) * s,
        lambda s: tf.constant([s], tf.int32),
        lambda s: tf.stack([s, s]),
    )
    for op in calls:
        with pytest.raises(ValueError, match="Few functions of Graven take sparse tensors yet"):
            op(sparse)
    with pytest.raises(
        NotImplementedError, match="bincount: Graven does not support arr of Sparse"
    ):
        tf.math.bincount(sparse)


def test_missing_members_of_composites_are_told_as_missing_names() -> None:
    sparse: Any = tf.SparseTensor([[0, 1]], [2], [2, 2])
    slices: Any = tf.IndexedSlices(tf.ones([2]), tf.constant([1, 0]))
    for value, name in ((sparse, "set_shape"), (sparse, "consumers"), (slices, "consumers")):
        with pytest.raises(AttributeError, match=rf"^Graven has no \w+\.{name}.*not-in-graven"):
            getattr(value, name)
        assert not hasattr(value, name)
        with pytest.raises(AttributeError, match=r"^'\w+' object has no attribute '_private'"):
            _ = value._private
    # A property that raises an AttributeError says its own.
    for name in ("op", "name", "graph"):
        with pytest.raises(AttributeError, match=rf"Tensor\.{name} is meaningless|eager"):
            getattr(slices, name)


def test_sparse_tensors_and_slices_are_equal_and_hashed_as_objects() -> None:
    for value in (
        tf.SparseTensor([[0, 1]], [2], [2, 2]),
        tf.IndexedSlices(tf.ones([2]), tf.constant([1, 0])),
    ):
        assert value == value and value != copy.copy(value) and {value: 1}[value] == 1
