"""What becomes of arguments that are no tensors: their dtypes, and what no dtype may cut."""

import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import numpy as np
import pytest
import tensorflow

# Each is evaluated with tf bound to one system, eagerly and while a function is traced.
WIDE_INTEGERS = """
tf.stack([1, 2**40])
tf.stack([[1], [2**40]])
tf.stack([np.uint8(1), 300])
tf.stack([np.int8(1), np.int64(300)])
tf.stack([tf.constant(1), 2**40])
tf.stack([1, 2.0])
tf.stack([1, tf.constant(2.0)])
tf.stack([1, 2], 2)
tf.stack([300, tf.constant(2, tf.uint8)])
tf.stack([np.array([1.0]), tf.constant([2.0])])
tf.concat([[1], [2**40]], 0)
tf.concat([[2**40], [1]], 0)
tf.concat([[1], [2.5]], 0)
tf.concat([[1.0], [2]], 0)
tf.concat([tf.constant([1]), [2**40]], 0)
tf.concat([np.uint8([1]), [300]], 0)
tf.add_n([1, 2**40])
tf.add_n([2**40, 1])
tf.add_n([np.uint8(1), 300])
tf.add_n([tf.constant(1), 2**40])
tf.add_n([np.array(1.0), tf.constant(2.0)])
tf.add_n([tf.constant(1), 2])
tf.add_n([2.5])
tf.add_n([])
tf.math.accumulate_n([1, 2**40])
tf.broadcast_to(1, [2**40, 0])
tf.broadcast_to(tf.zeros([1, 0]), [2**32 + 1, 0])
tf.broadcast_to(1, [])
tf.zeros([tf.constant(0), 2**40])
tf.ones([tf.constant(0), 2])
tf.fill([0, 2**40], 1)
tf.one_hot([0, 1], 2, on_value=1, off_value=2**40)
tf.one_hot([0, 1], 2, on_value=2**40, off_value=1)
tf.one_hot([0, 1], 2, on_value=2**40)
tf.one_hot([0, 1], 2, off_value=2**40)
tf.one_hot([0, 1], 2, on_value=1.5, off_value=2)
tf.one_hot([0, 1], 2, on_value=np.uint8(1), off_value=300)
tf.one_hot([0, 1], 2, on_value=2**40, dtype=tf.int64)
tf.one_hot([0, 1], 2, on_value=np.array(1.0), dtype=tf.float32)
tf.one_hot([0, 1], 2, on_value=tf.constant(1), dtype=tf.float32)
tf.random.stateless_uniform([2], [2**40, 1])
tf.random.stateless_uniform([2], np.array([1, 2**40]))
tf.random.stateless_uniform([2], np.array([1, 2], np.uint8))
tf.random.stateless_uniform([2], [1.5, 2])
tf.random.stateless_normal([2], [2**40, 1])
tf.random.stateless_truncated_normal([2], (1, 2**33))
tf.random.split([2**40, 1])
tf.random.split([1, 2], 3)
tf.random.fold_in([2**40, 1], 3)
tf.random.fold_in([1, 2], 2**40)
tf.random.fold_in(tf.constant([1, 2], tf.int64), 3)
tf.debugging.assert_equal(tf.constant(0), 2**32)
tf.debugging.assert_equal(2**32, tf.constant(0))
tf.debugging.assert_equal(0, 2**32)
tf.debugging.assert_equal(tf.constant(0.0), 0)
tf.debugging.assert_equal(np.uint8(0), 256)
tf.debugging.assert_less(tf.constant(5), 2**32)
tf.debugging.assert_greater(2**32, tf.constant(5))
tf.debugging.assert_none_equal([0], [2**32])
tf.debugging.assert_near(1, 2**32 + 1)
tf.maximum(2**40, tf.constant(1))
tf.maximum(tf.constant(1), 2**40)
tf.maximum(1, tf.constant(2.0))
tf.where([True, False], 2**40, tf.constant(1))
tf.where([True, False], 1, 2**40)
tf.tensordot([1], [2**40], 1)
tf.tensordot([2**40], [1], 1)
tf.matmul([[1]], [[2**40]])
tf.matmul([[1]], [[2.5]])
tf.matmul([[1.0]], [[2]])
""".strip().splitlines()

ARRAYS_OF_DOUBLES = """
tf.matmul(np.ones([1, 1]), tf.ones([1, 1]))
tf.matmul(tf.ones([1, 1]), np.ones([1, 1]))
tf.linalg.matvec(tf.ones([1, 1]), np.ones([1]))
tf.linalg.matvec(np.ones([1, 1]), tf.ones([1]))
tf.tensordot(np.ones([1, 1]), tf.ones([1, 1]), 1)
tf.tensordot(tf.ones([1, 1]), np.ones([1, 1]), 1)
tf.add(np.array([1.0]), tf.constant([1.0]))
tf.add(tf.constant([1.0]), np.array([1.0]))
tf.multiply(np.array([1.0]), tf.constant([1.0]))
tf.math.divide(np.array([1.0]), tf.constant([1.0]))
tf.math.divide(tf.constant([1.0]), np.array([1.0]))
tf.nn.sigmoid_cross_entropy_with_logits(np.ones([1, 2]), tf.ones([1, 2]))
tf.complex(np.ones([3]), tf.ones([3]))
tf.complex(1, 2)
tf.complex(1.0, 2)
tf.complex(np.float64(1), np.float64(2))
""".strip().splitlines()


EMPTY_LISTS = """
tf.reduce_sum(a, [])
tf.reduce_mean(a, ())
tf.math.count_nonzero(a, [])
tf.math.reduce_std(a, [])
tf.nn.moments(a, [])
tf.math.l2_normalize(a, [])
tf.reverse(a, [])
tf.transpose(a[0, 0], [])
tf.tile(a[0, 0], [])
tf.broadcast_to(1, [])
tf.one_hot([], 3)
tf.reduce_any([])
tf.reduce_all([])
tf.reduce_all([1])
""".strip().splitlines()

OTHER_KINDS = """
tf.cast(1, None)
tf.as_dtype(None)
tf.zeros([1], None)
tf.is_tensor(tf.IndexedSlices(a, [0, 1]))
tf.is_tensor(tf.RaggedTensor.from_row_splits([1], [0, 1]))
tf.is_tensor(tf.SparseTensor([[0]], [1], [2]))
tf.is_tensor(tf.TensorSpec([1]))
tf.is_tensor(np.array(1))
tf.is_tensor([a])
tf.tensor_scatter_nd_update([1, 2, 3], [[1]], [9], "n")
tf.TensorShape((1, -1))
tf.TensorShape(-1)
tf.reshape(a, 6)
tf.reshape(a, -1)
tf.reshape(a, 5)
tf.reshape(a, tf.constant(6))
tf.reshape(a, tf.constant(6.7))
tf.reshape(a, np.prod([2, 3]))
tf.reshape(a, np.array(6))
tf.reshape(a, np.array([3, 2]))
tf.reshape(a, tf.TensorShape([3, 2]))
tf.reshape(a, tf.Variable([3, 2]))
tf.zeros(tf.size(a))
tf.ones(tf.constant(3))
tf.zeros(np.int64(3))
tf.linspace(0.0, 1.0, 5.7)
tf.linspace(0.0, 1.0, tf.constant(3, tf.int64))
tf.linspace(0.0, 1.0, np.int64(3))
tf.repeat(a, 2.5)
tf.repeat(a, [True, False], 0)
tf.repeat(a, [], 0)
tf.repeat(a, np.int64(2), 1)
tf.tensordot(a, a, np.int64(0))
tf.tensordot(a, a, [np.int64(1), np.int64(1)])
tf.nn.max_pool1d(a[tf.newaxis], np.int64(2), np.int64(2), "SAME")
tf.math.add_n(x for x in ())
tf.math.add_n(x for x in (a, a))
tf.math.softsign(a)
tf.math.l2_normalize(tf.constant([[3 + 4j, 1], [0, 1j]]), 1)
tf.math.l2_normalize(tf.constant([3 + 4j], tf.complex64))
tf.nn.zero_fraction([True, False])
tf.nn.zero_fraction(["", "a"])
tf.nn.zero_fraction(a)
tf.nn.zero_fraction([])
tf.nn.max_pool1d(a[tf.newaxis], 2, 2, "SAME")
tf.nn.max_pool1d(a[tf.newaxis], [2], [1], "VALID")
tf.nn.max_pool1d(a[tf.newaxis], [1, 2, 1], 1, "VALID")
tf.nn.max_pool1d(a[tf.newaxis], 2, 2, "SAME", "NCW")
tf.nn.max_pool1d(a[tf.newaxis], 3, 2, [[0, 0], [1, 1], [0, 0]])
tf.nn.max_pool1d(a[tf.newaxis], [2, 2], 2, "SAME")
tf.nn.avg_pool1d(a[tf.newaxis], 2, 1, "SAME")
tf.nn.avg_pool1d(a[tf.newaxis], [2], [2], "VALID", "NCW", "n")
tf.nn.weighted_cross_entropy_with_logits([0.0, 1.0], [2.0, -3.0], 2.0)
tf.nn.weighted_cross_entropy_with_logits([0.0, 1.0], [2.0, -3.0], [2.0, 3.0])
tf.nn.weighted_cross_entropy_with_logits([0.0, 1.0], [1000.0, -1000.0], 3)
tf.nn.weighted_cross_entropy_with_logits([0.0, 1.0], [2.0], 2.0)
tf.nn.weighted_cross_entropy_with_logits([0, 1], [2.0, 1.0], 2.0)
""".strip().splitlines()

ASSERTIONS = """
assert_none_equal([1], [1], 3, 'message')
assert_none_equal([1], [2], 3, 'message')
assert_rank_in(x, [1, 2])
assert_rank_in(x, [1, 3])
assert_rank_in(x, [])
assert_rank_in(x, [[1]])
assert_rank_in(x, [2.0])
assert_rank_in(x, 2)
assert_rank(x, 2.0)
assert_near(x, x)
assert_near(x, x, 0.0, 0.0)
assert_near(x, x + 1)
assert_shapes([(x, ('N', 'M'))])
assert_shapes([(x, ('N', 'N'))])
assert_shapes([(x, ('N', 'M')), (y, ('N',))])
assert_shapes([(x, ('N', 'M')), (y, ('M',))])
assert_shapes([(x, (2, 3)), (y, ('3',))])
assert_shapes([(x, (2, 4))])
assert_shapes([(x, ('N', 'M', 'K'))])
assert_shapes([(x, ('N',))])
assert_shapes([(y[0], (1,)), (y[0], ()), (y[0], ('N',)), (y[:1], ('N',))])
assert_shapes([(y[0], (2,))])
assert_shapes([(y[0], ('N',)), (x, ('N', 'M'))])
assert_shapes([(x, (..., 3)), (x, ('*', 'M')), (y, (..., 'M'))])
assert_shapes([(x, (..., 4))])
assert_shapes([(x, (..., 1, 2, 3))])
assert_shapes([(x, ('N', ...))])
assert_shapes([(x, (None, '.')), (x, None)])
assert_shapes([(x, 3)])
assert_shapes([(x, 'NM')])
assert_shapes([(x, [2, 3]), ([1, 2, 3], ('D',)), (1.0, ())])
assert_shapes([])
assert_shapes([(x, (2, 3, 1))], None, None, 'message')
assert_shapes([(x, (2, 4))], [x, y], 1)
assert_shapes([(x, (...,))])
assert_shapes([(y, (...,))])
assert_shapes([(x[0, :1], (...,))])
assert_rank(x, tf.rank(x))
assert_rank(x, tf.rank(y))
assert_rank(y, tf.rank(x), 'message')
assert_rank(x, tf.constant(2, tf.int64))
assert_rank(x, tf.constant([2]))
assert_rank_at_least(x, tf.rank(y))
assert_rank_at_least(y, tf.rank(x))
assert_rank_in(x, [tf.rank(x), 1])
assert_rank_in(x, [tf.rank(y), 3])
assert_scalar(x, 'message')
assert_type(x, tf.int32, 'message')
assert_proper_iterable([1])
assert_proper_iterable({1: 2})
assert_proper_iterable(x)
assert_proper_iterable('a')
assert_proper_iterable(np.ones(2))
assert_proper_iterable(3)
assert_same_float_dtype([x, None, y])
assert_same_float_dtype([x, [1, 2]])
assert_same_float_dtype([x], tf.float64)
assert_same_float_dtype([tf.constant(1)])
assert_same_float_dtype()
assert_same_float_dtype(None, tf.int32)
assert_same_float_dtype(dtype=tf.float16)
""".strip().splitlines()

OF_VARIABLES = """
tf.is_tensor(tf.Variable(1))
tf.divide(1, tf.Variable(2.0))
tf.math.divide_no_nan(1, tf.Variable(2.0))
tf.Variable(1) == None
tf.Variable([1, 2]) != None
tf.Variable(1) == 'a'
tf.Variable([1, 2], validate_shape=False).shape
tf.Variable([1, 2], validate_shape=False).assign([1, 2, 3])
tf.Variable(1, synchronization='foo')
tf.Variable(1, aggregation='foo')
tf.Variable(1, synchronization=None, aggregation=None).synchronization.name
tf.Variable(1, synchronization=tf.VariableSynchronization.ON_READ).trainable
v.batch_scatter_update(tf.IndexedSlices([[9], [8]], [[0], [1]])).numpy()
v.batch_scatter_update(tf.IndexedSlices([[9, 7], [8, 6]], [[0, 1], [1, 0]])).numpy()
v.batch_scatter_update(tf.IndexedSlices([[9], [8]], tf.constant([[1], [0]], tf.int64))).numpy()
v.batch_scatter_update(tf.IndexedSlices([[9], [8]], [[0], [7]]))
v.batch_scatter_update(3)
tf.Variable([1, 2]).batch_scatter_update(tf.IndexedSlices([9], [0]), False, 'n').numpy()
tf.function(lambda: v.batch_scatter_update(tf.IndexedSlices([[9], [8]], [[0], [1]])) + 0)()
tf.Module().non_trainable_variables
tf.function(lambda: None).get_concrete_function().output_shapes
tf.function(lambda: None).get_concrete_function().output_dtypes
tf.function(lambda: {'a': None, 'b': [a]}).get_concrete_function().output_shapes
tf.function(lambda: {'a': None, 'b': [a]}).get_concrete_function().output_dtypes
""".strip().splitlines()


def outcome(tf: Any, expression: str, traced: bool) -> Any:
    names = {"tf": tf, "np": np, "a": tf.constant([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])}
    if "v." in expression:
        names["v"] = tf.Variable([[1, 2], [3, 4]])

    def evaluate() -> Any:
        return eval(expression, names)

    try:
        result = tf.function(evaluate, autograph=False)() if traced else evaluate()
    except Exception as error:
        return type(error).__name__
    return repr(result)


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
@pytest.mark.parametrize(
    "expression", [*WIDE_INTEGERS, *ARRAYS_OF_DOUBLES, *EMPTY_LISTS, *OTHER_KINDS]
)
def test_an_argument_becomes_the_tensor_that_it_is_in_tensorflow(
    expression: str, traced: bool
) -> None:
    assert outcome(graven, expression, traced) == outcome(tensorflow, expression, traced)


@pytest.mark.parametrize("expression", OF_VARIABLES)
def test_variables_and_what_holds_them_answer_as_in_tensorflow(expression: str) -> None:
    assert outcome(graven, expression, False) == outcome(tensorflow, expression, False)


def outcome_of_assertion(tf: Any, expression: str, shapes: Any) -> Any:
    x, y = tf.constant([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]), tf.constant([0.0, 1.0, 2.0])

    def check(x: Any, y: Any) -> Any:
        checked = eval(f"tf.debugging.{expression}", {"tf": tf, "np": np, "x": x, "y": y})
        return x + 1 if shapes else checked

    try:
        if shapes:
            specs = [tf.TensorSpec(shape, tf.float32) for shape in shapes]
            check = tf.function(check, autograph=False, input_signature=specs)
        return repr(check(x, y))
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize(
    "shapes",
    [None, [[2, 3], [3]], [[None, None], [None]], [None, None]],
    ids=["eager", "traced", "of unknown sizes", "of unknown rank"],
)
@pytest.mark.parametrize("expression", ASSERTIONS)
def test_an_assertion_holds_when_it_does_in_tensorflow(expression: str, shapes: Any) -> None:
    ours = outcome_of_assertion(graven, expression, shapes)
    assert ours == outcome_of_assertion(tensorflow, expression, shapes)
