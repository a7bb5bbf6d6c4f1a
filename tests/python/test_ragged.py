"""Ragged tensors: what they are made of, their type, and how they pass through Functions."""

import copy
import re
import weakref
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


# --- Rows of ragged tensors. What TensorFlow does, too, is in tests/peers.


# They give ragged tensors, too.
concat: Any = tf.concat
stack: Any = tf.stack


def rows(*lengths: int) -> Any:
    return tf.RaggedTensor.from_row_lengths(tf.range(sum(lengths)), list(lengths))


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "traced"])
def test_map_fn_calls_a_function_for_each_row(wrap: Any) -> None:
    double = wrap(lambda r: tf.map_fn(lambda row: row * 2, r))
    assert double(rows(1, 0, 2)).to_list() == [[0], [], [2, 4]]
    assert double(rows(0, 0)).to_list() == [[], []]
    assert double(rows()).to_list() == []
    sizes = wrap(lambda r: tf.map_fn(tf.size, r, fn_output_signature=tf.int32))
    assert sizes(rows(1, 0, 2)).numpy().tolist() == [1, 0, 2]
    count = wrap(
        lambda n: tf.map_fn(tf.range, n, fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
    )
    assert count(tf.constant([2, 0, 1])).to_list() == [[0, 1], [], [0]]
    assert count(tf.constant([], tf.int32)).to_list() == []


def test_a_function_maps_any_number_of_rows_of_any_length() -> None:
    f = tf.function(
        lambda r: tf.map_fn(lambda row: row[:1], r),
        input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)],
    )
    for lengths in ((1, 2), (0, 3, 1), (), (2,)):
        expected = [row[:1] for row in rows(*lengths).to_list()]
        made = f(rows(*lengths))
        assert made.to_list() == expected and made.shape.as_list() == [len(lengths), None]


def test_the_rows_of_a_spec_are_of_one_dimension_less() -> None:
    spec: Any = tf.RaggedTensorSpec([None], tf.int32)
    assert spec.ragged_rank == 0 and spec.value_type is tf.Tensor
    assert spec.is_compatible_with(tf.range(3)) and not spec.is_compatible_with(tf.constant(1))
    assert not spec.is_compatible_with(rows(1))
    for shape, rank, error in (([None], 1, ValueError), ([None, None], "a", TypeError)):
        with pytest.raises(error, match="ragged_rank"):
            tf.RaggedTensorSpec(shape, tf.int32, ragged_rank=rank)  # type: ignore[arg-type]


def test_what_fn_returns_must_be_of_the_signature() -> None:
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    with pytest.raises(ValueError, match=r"Expected `fn` to return a:\n    RaggedTensorSpec"):
        tf.map_fn(lambda row: row, rows(1, 2), fn_output_signature=spec)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must have rank >= 1.*elems"):
        tf.map_fn(tf.reduce_sum, rows(1, 2))
    with pytest.raises(ValueError, match="must have rank >= 1"):
        tf.function(lambda r: tf.map_fn(tf.reduce_sum, r))(rows(1, 2))
    with pytest.raises(ValueError, match="same first dimension, not 2 and 3"):
        tf.map_fn(lambda e: e[0], (rows(1, 2), tf.range(3)))


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "traced"])
def test_folds_and_scans_go_over_rows(wrap: Any) -> None:
    total = wrap(lambda r: tf.foldl(lambda a, row: a + tf.reduce_sum(row), r, initializer=0))
    assert int(total(rows(1, 0, 2))) == 3
    totals = wrap(lambda r: tf.scan(lambda a, row: a + tf.reduce_sum(row), r, initializer=0))
    assert totals(rows(2, 0, 1)).numpy().tolist() == [1, 1, 3]
    longest = wrap(lambda r: tf.foldl(lambda a, row: concat([a, [row]], 0), r, rows(0)))
    with pytest.raises(ValueError):  # a list of a row is no tensor of the accumulated type
        longest(1)
    with pytest.raises(NotImplementedError, match="does not stack ragged tensors"):
        wrap(lambda r: tf.scan(lambda a, row: a, tf.range(3), initializer=r))(rows(1, 2))


def test_what_has_no_rows_or_rows_of_several_shapes_is_refused() -> None:
    sparse = tf.SparseTensor([[0, 0]], [1], [2, 2])
    with pytest.raises(NotImplementedError, match="does not cut sparse tensors into rows"):
        tf.map_fn(lambda row: row, sparse)
    with pytest.raises(NotImplementedError, match="does not cut sparse tensors into rows"):
        tf.map_fn(lambda n: sparse, tf.range(2), fn_output_signature=sparse._type_spec)
    with pytest.raises(tf.errors.UnimplementedError, match="elems may not hold ragged tensors"):
        tf.vectorized_map(tf.reduce_sum, rows(1, 2))
    slices = tf.IndexedSlices(tf.ones([2]), tf.constant([1, 0]))
    with pytest.raises(TypeError, match=r"IndexedSlicesSpec\(.*which have no rows"):
        tf.map_fn(lambda row: row.values, slices, fn_output_signature=tf.float32)
    optional = tf.experimental.Optional.from_value(1)
    with pytest.raises(TypeError, match=r"map_fn can not generate values of OptionalSpec"):
        tf.map_fn(lambda n: optional, tf.range(2), fn_output_signature=optional._type_spec)


@pytest.mark.parametrize("splits", [[0, 5, 3], [0, 2, 100], [3, 2, 1], [2**62, -(2**62), 3]])
def test_row_splits_that_nobody_has_checked_are_refused_where_rows_are_cut(
    splits: list[int],
) -> None:
    wrong, right = tf.constant(splits, tf.int64), tf.constant([0, 1, 2], tf.int64)
    for nested in ([wrong], [right, wrong], [wrong, right]):
        r = tf.RaggedTensor.from_nested_row_splits(tf.range(3), nested, validate=False)
        for f in (lambda r: tf.map_fn(lambda row: row, r), lambda r: concat([r, r], 1)):
            for call in (f, tf.function(f)):
                with pytest.raises(
                    (tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)
                ):
                    call(r)


def test_gradients_of_rows_are_gradients_of_values() -> None:
    values = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def loss() -> Any:
        r = tf.RaggedTensor.from_row_splits(values, [0, 1, 3])
        squares = tf.map_fn(lambda row: row * row, r)
        return tf.reduce_sum(concat([squares, r], 1).values * [1.0, 10.0, 2.0, 3.0, 20.0, 30.0])

    with tf.GradientTape() as tape:
        y = loss()
    assert tape.gradient(y, values).numpy().tolist() == [2 * 1 + 10, 4 * 2 + 20, 6 * 3 + 30]


# --- Loops.


def test_a_loop_keeps_what_the_spec_of_a_ragged_variable_says() -> None:
    def loop(r: Any, body: Any, **options: Any) -> Any:
        first = (tf.constant(0), r)
        return tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, body(x)), first, **options)[1]

    longer = tf.function(lambda r: loop(r, lambda x: concat([x, x], 1)))
    assert longer(rows(1, 2)).row_lengths().numpy().tolist() == [4, 8]
    more = tf.function(lambda r: loop(r, lambda x: concat([x, x], 0)))
    with pytest.raises(ValueError, match=r"enters the loop with shape [\s\S]* less-specific shape"):
        more(rows(1, 2))

    def open_loop(invariant: Any) -> Any:
        invariants = (tf.TensorShape([]), invariant)

        @tf.function
        def run(r: Any) -> Any:
            made = loop(r, lambda x: concat([x, x], 0), shape_invariants=invariants)
            return made, tf.constant(made.shape.as_list() == [None, None])

        return run

    for invariant in (tf.RaggedTensorSpec([None, None], tf.int32), tf.TensorShape([None, None])):
        made, is_open = open_loop(invariant)(rows(1, 2))
        assert made.row_lengths().numpy().tolist() == [1, 2] * 4 and bool(is_open)


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


def test_a_ragged_tensor_is_no_condition() -> None:
    for f in (lambda r: 1 if r else 2, tf.function(lambda r: 1 if r else 2)):
        with pytest.raises(
            TypeError, match=r"(may not be used as a boolean|cannot be used as a condition)"
        ):
            f(rows(1, 2))


def test_a_constant_of_no_row_may_have_a_ragged_rank() -> None:
    empty = tf.ragged.constant([], ragged_rank=1, dtype=tf.int32)
    assert empty.to_list() == [] and empty.ragged_rank == 1
    with pytest.raises(ValueError, match="too little for ragged_rank 1"):
        tf.ragged.constant([1], ragged_rank=1)


def test_a_list_is_as_deep_as_its_ragged_rank_and_one_more() -> None:
    assert tf.ragged.constant([[1], [2, 3]], ragged_rank=1).ragged_rank == 1
    with pytest.raises(ValueError, match="pylist has depth 2, too little for ragged_rank 2"):
        tf.ragged.constant([[1], [2, 3]], ragged_rank=2)


# --- Single rows, and what ragged tensors do not have yet.


def row_values(row: Any) -> Any:
    return row.numpy().tolist() if isinstance(row, tf.Tensor) else row.to_list()


NESTED = [[[1, 2], []], [[3]], []]


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "traced"])
def test_a_row_is_found_by_its_number(wrap: Any) -> None:
    r, nested = rows(2, 0, 1), tf.ragged.constant(NESTED, dtype=tf.int32)
    for number in (0, 1, 2, -1, -3):
        get = wrap(lambda r, number=number: r[number])
        assert row_values(get(r)) == r.to_list()[number]
        assert row_values(get(nested)) == NESTED[number]
        assert row_values(wrap(lambda r, i: r[i])(r, tf.constant(number))) == r.to_list()[number]
    assert row_values(wrap(lambda r: r[0, -1])(r)) == 1
    assert row_values(wrap(lambda r: r[[0, 1]])(r)) == 1
    assert row_values(wrap(lambda r: r[0, 0, 1:])(nested)) == [2]


def test_a_row_that_is_not_there_is_an_error() -> None:
    r = rows(2, 0, 1)
    for number in (3, -4, tf.constant(3)):
        with pytest.raises(IndexError, match=r"Row key .* out of bounds"):
            r[number]
    with pytest.raises(ValueError, match="out of bounds"):
        tf.function(lambda r: r[3])(r)
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
        tf.function(lambda r, i: r[i])(r, tf.constant(3))
    for key in (1.0, "a", tf.constant([0]), tf.constant(1.0)):
        with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
            r[key]


@pytest.mark.parametrize("key", [slice(1), ..., None, (), (slice(None), 0)])
def test_several_rows_are_not_there_yet(key: Any) -> None:
    with pytest.raises(NotImplementedError, match=r"slices of ragged tensors yet.*not-in-graven"):
        rows(2, 1)[key]


def test_rows_are_iterated_where_they_have_values() -> None:
    assert [row_values(row) for row in rows(2, 0, 1)] == [[0, 1], [], [2]]
    nested = tf.ragged.constant(NESTED, dtype=tf.int32)
    assert [row_values(row) for row in nested] == NESTED
    first, _, last = rows(2, 0, 1)
    assert [row_values(row) for row in (first, last)] == [[0, 1], [2]]
    assert list(rows()) == []
    with pytest.raises(TypeError, match="proper"):  # as in TensorFlow
        tf.debugging.assert_proper_iterable(rows(1))
    values = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        squares = [row * row for row in tf.RaggedTensor.from_row_splits(values, [0, 1, 3])]
    assert tape.gradient(squares, values).numpy().tolist() == [2, 4, 6]


def test_rows_are_iterated_in_a_graph_by_a_loop_only() -> None:
    @tf.function
    def total(r: Any) -> Any:
        made: Any = 0
        for row in r:
            made += tf.size(row)
        return made

    assert int(total(rows(2, 0, 1))) == 3
    for f in (lambda r: [row for row in r], lambda r: tuple(r)):
        for autograph in (True, False):
            with pytest.raises(
                tf.errors.OperatorNotAllowedInGraphError, match=r"symbolic `tf\.RaggedTensor`"
            ):
                tf.function(f, autograph=autograph)(rows(1, 2))


OPERATORS: dict[str, Any] = {
    "==": lambda r: r == r,
    "!=": lambda r: r != 1,
    "<": lambda r: r < 1,
    "<=": lambda r: r <= 1,
    ">": lambda r: r > r,
    ">=": lambda r: r >= r,
    "+": lambda r: r + r,
    "-": lambda r: 1 - r,
    "*": lambda r: 2 * r,
    "/": lambda r: r / 2,
    "//": lambda r: r // 2,
    "%": lambda r: 5 % r,
    "**": lambda r: r**2,
    "&": lambda r: r & r,
    "|": lambda r: r | 1,
    "^": lambda r: 1 ^ r,
    "~": lambda r: ~r,
    "abs": lambda r: abs(r),
}


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "traced"])
@pytest.mark.parametrize("symbol", OPERATORS)
def test_operators_are_not_there_yet(symbol: str, wrap: Any) -> None:
    expected = rf"does not have `{re.escape(symbol)}` of ragged tensors yet[\s\S]*with_flat_values"
    with pytest.raises(NotImplementedError, match=expected):
        wrap(OPERATORS[symbol])(rows(1, 2))


def test_a_tensor_and_a_ragged_tensor_are_not_combined_yet() -> None:
    one: Any = tf.constant(1)
    calls: tuple[Any, ...] = (one.__add__, one.__mul__, one.__lt__, one.__eq__)
    for call in calls:
        with pytest.raises(ValueError, match=r"ragged tensors yet: .*with_flat_values.*not-in-gr"):
            call(rows(1, 2))


def test_only_none_is_compared_and_nothing_is_hashed() -> None:
    r = rows(1, 2)
    assert (r == None, r != None) == (False, True)  # noqa: E711
    for f in (hash, tf.function(hash)):
        with pytest.raises(TypeError, match=r"RaggedTensor is unhashable\."):
            f(r)
    with pytest.raises(TypeError, match="unhashable"):
        {r}  # noqa: B018


def test_an_op_that_takes_no_ragged_tensors_says_how_to_get_on() -> None:
    r = rows(1, 2)
    calls: tuple[Any, ...] = (
        lambda r: tf.add(r, 1),
        lambda r: tf.reduce_sum(r),
        lambda r: tf.convert_to_tensor(r),
        lambda r: tf.matmul([[1]], r),
        lambda r: tf.reshape(r, [-1]),
        lambda r: tf.convert_to_tensor([[r]]),
    )
    for call in calls:
        for f in (call, tf.function(call, autograph=False)):
            with pytest.raises(
                ValueError, match=r"Few functions of Graven take ragged tensors yet: "
            ):
                f(r)
    with pytest.raises(
        NotImplementedError, match="bincount: Graven does not support arr of Ragged"
    ):
        tf.math.bincount(r)


def test_a_missing_method_is_told_as_a_missing_name() -> None:
    r = rows(1, 2)
    with pytest.raises(AttributeError, match=r"^Graven has no RaggedTensor\.to_tensor.*not-in-gr"):
        r.to_tensor()
    with pytest.raises(AttributeError, match=r"the nearest that it has is RaggedTensor\.to_list"):
        _ = r.to_lists
    for name in ("_private", "__array__", "__len__"):
        with pytest.raises(
            AttributeError, match=rf"^'RaggedTensor' object has no attribute '{name}'"
        ):
            getattr(r, name)
    assert not hasattr(r, "to_tensor") and hasattr(r, "to_list")
    copied = copy.copy(r)
    assert copied.to_list() == r.to_list() and copied is not r


def test_ragged_tensors_are_found_by_identity_where_graven_keeps_objects() -> None:
    """Nothing of Graven's compares or hashes them: captures, nest, modules, weak references."""
    box: Any = type("Box", (), {})()
    box.r = rows(1, 2)

    @tf.function
    def read() -> Any:
        return box.r.flat_values

    assert read().numpy().tolist() == [0, 1, 2] and read().numpy().tolist() == [0, 1, 2]
    assert read.experimental_get_tracing_count() == 1
    box.r = rows(3, 1)
    assert read().numpy().tolist() == [0, 1, 2, 3]
    assert read.experimental_get_tracing_count() == 2

    @tf.function
    def choose(r: Any, other: Any = box.r) -> Any:
        return r if tf.reduce_sum(r.flat_values) > 100 else other

    assert choose(rows(1, 2)).to_list() == [[0, 1, 2], [3]]
    structure = {"a": [box.r], "b": (box.r, 1)}
    assert tf.nest.map_structure(lambda x: x, structure)["b"][0] is box.r
    tf.nest.assert_same_structure(structure, structure)
    module: Any = tf.Module()
    module.r = box.r
    assert module.trainable_variables == () and weakref.ref(box.r)() is box.r
