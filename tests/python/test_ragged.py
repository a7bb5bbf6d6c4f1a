"""Ragged tensors: what they are made of, their type, and how they pass through Functions."""

from typing import Any

import graven as tf
import pytest


def parts(ragged: Any) -> list[Any]:
    splits = [s.numpy().tolist() for s in ragged.nested_row_splits]
    return [ragged.flat_values.numpy().tolist(), *splits]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[1], [2, 3]], [[1, 2, 3], [0, 1, 3]]),
        ([[], [1]], [[1], [0, 0, 1]]),
        ([[[1], []], [[2, 3]]], [[1, 2, 3], [0, 2, 3], [0, 1, 1, 3]]),
    ],
)
def test_nested_lists_become_values_and_row_splits(rows: Any, expected: Any) -> None:
    ragged = tf.ragged.constant(rows)
    assert parts(ragged) == expected
    assert ragged.to_list() == rows
    assert ragged.shape.as_list() == [len(rows)] + [None] * (len(expected) - 1)
    assert ragged.ragged_rank == len(expected) - 1


def test_a_flat_list_is_a_tensor() -> None:
    assert tf.ragged.constant([1, 2]).numpy().tolist() == [1, 2]


def test_leaves_at_different_depths_are_refused() -> None:
    with pytest.raises(ValueError, match="same nesting depth"):
        tf.ragged.constant([[1], 2])


@pytest.mark.parametrize("splits", [[1, 3], [0, 2, 1, 3], [0, 2]])
def test_row_splits_must_fit_the_values(splits: list[int]) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="from_row_splits do not form a valid"):
        tf.RaggedTensor.from_row_splits([1, 2, 3], splits)


def test_lengths_and_number_of_rows() -> None:
    ragged = tf.ragged.constant([[1], [], [2, 3]])
    assert ragged.row_lengths().numpy().tolist() == [1, 0, 2]
    assert ragged.nrows().numpy() == 3


def test_a_spec_covers_what_leaves_dimensions_open() -> None:
    two: Any = tf.RaggedTensorSpec([2, None], tf.int32)
    three: Any = tf.RaggedTensorSpec([3, None], tf.int32)
    either: Any = tf.RaggedTensorSpec([None, None], tf.int32)
    assert two.is_subtype_of(either) and not either.is_subtype_of(two)
    assert two.most_specific_common_supertype([three]) == either
    assert two.most_specific_common_supertype([tf.RaggedTensorSpec([2, None])]) is None
    assert not two.is_subtype_of(tf.TensorSpec([2], tf.int32))


def test_a_function_takes_and_gives_ragged_tensors_and_traces_by_type() -> None:
    @tf.function
    def lengths_and_self(r: Any) -> Any:
        return r.row_lengths(), r

    for rows in ([[1], [2, 3]], [[], [1, 2, 3]]):
        lengths, same = lengths_and_self(tf.ragged.constant(rows))
        assert lengths.numpy().tolist() == [len(row) for row in rows]
        assert same.to_list() == rows
    assert lengths_and_self.experimental_get_tracing_count() == 1
    lengths_and_self(tf.ragged.constant([[1]]))
    assert lengths_and_self.experimental_get_tracing_count() == 2


def test_a_signature_of_a_ragged_tensor_takes_every_number_of_rows() -> None:
    f = tf.function(
        lambda r: r.row_lengths(), input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)]
    )
    assert f(tf.ragged.constant([[1, 2]])).numpy().tolist() == [2]
    assert f(tf.ragged.constant([[1], []])).numpy().tolist() == [1, 0]
    assert f.experimental_get_tracing_count() == 1
    with pytest.raises(TypeError, match="Can not cast"):
        f(tf.constant([[1, 2]]))


def test_rows_of_one_length_are_as_many_as_the_values_fill() -> None:
    ragged = tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4, 5, 6], 2)
    assert ragged.to_list() == [[1, 2], [3, 4], [5, 6]]
    assert tf.RaggedTensor.from_uniform_row_length([], 0).to_list() == []
    assert tf.RaggedTensor.from_uniform_row_length([], 0, nrows=2).to_list() == [[], []]


# They give ragged tensors, too.
concat: Any = tf.concat
stack: Any = tf.stack


def rows(*lengths: int) -> Any:
    return tf.RaggedTensor.from_row_lengths(tf.range(sum(lengths)), list(lengths))


# --- Joins.


def test_ragged_and_dense_tensors_are_joined() -> None:
    r, dense = rows(1, 2), tf.constant([[7, 8], [9, 10]])
    assert concat([r, dense], 0).to_list() == [[0], [1, 2], [7, 8], [9, 10]]
    assert concat([dense, r], -1).to_list() == [[7, 8, 0], [9, 10, 1, 2]]
    assert stack([r, dense], 1).to_list() == [[[0], [7, 8]], [[1, 2], [9, 10]]]
    assert (int(tf.size(r)), int(tf.rank(r))) == (3, 2)
    with pytest.raises(ValueError, match=r"axis=2 out of bounds: expected -2<=axis<2"):
        concat([r, r], 2)
    with pytest.raises(ValueError, match="mismatched row_splits dtypes"):
        narrow = tf.RaggedTensor.from_row_splits([1], tf.constant([0, 1]))
        concat([r, narrow], 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="their numbers of rows differ"):
        concat([r, rows(1, 2, 3)], 1)


def test_a_constant_of_no_row_may_have_a_ragged_rank() -> None:
    empty = tf.ragged.constant([], ragged_rank=1, dtype=tf.int32)
    assert empty.to_list() == [] and empty.ragged_rank == 1
    with pytest.raises(ValueError, match="too little for ragged_rank 1"):
        tf.ragged.constant([1], ragged_rank=1)
