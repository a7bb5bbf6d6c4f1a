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
tf.stack([[1], [2**40]], 1)
tf.stack([np.uint8(1), 300])
tf.stack([np.int8(1), np.int64(300)])
tf.stack([tf.constant(1), 2**40])
tf.stack([1, 2.0])
tf.stack([1, 2.0], -1)
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


def outcome(tf: Any, expression: str, traced: bool) -> Any:
    def evaluate() -> Any:
        return eval(expression, {"tf": tf, "np": np})

    try:
        result = tf.function(evaluate, autograph=False)() if traced else evaluate()
    except Exception as error:
        return type(error).__name__
    return repr(result)


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
@pytest.mark.parametrize("expression", [*WIDE_INTEGERS, *ARRAYS_OF_DOUBLES])
def test_an_argument_becomes_the_tensor_that_it_is_in_tensorflow(
    expression: str, traced: bool
) -> None:
    assert outcome(graven, expression, traced) == outcome(tensorflow, expression, traced)
