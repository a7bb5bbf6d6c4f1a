"""Making tensors, and operators on them: the same results, or the same classes of errors."""

import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import numpy as np
import pytest
import tensorflow

# Each is evaluated with tf bound to one system, and i, f, b, s, c, u to tensors of it.
CONSTANTS = """
tf.constant(2**31)
tf.constant(2**63)
tf.constant([1, 2.5])
tf.constant([2.5, 1])
tf.constant([1, True])
tf.constant([True, 1])
tf.constant([1, 'a'])
tf.constant([[1, 2], [3]])
tf.constant([[1], 2])
tf.constant([1, [2]])
tf.constant([])
tf.constant([[], []])
tf.constant(None)
tf.constant([None])
tf.constant(object)
tf.constant({})
tf.constant(1.5, tf.int32)
tf.constant([1.5], tf.int32)
tf.constant(300, tf.uint8)
tf.constant(-1, tf.uint8)
tf.constant(1, tf.string)
tf.constant('a', tf.int32)
tf.constant(1, tf.bool)
tf.constant(True, tf.int32)
tf.constant(True, tf.float32)
tf.constant(1j)
tf.constant(1, tf.complex64)
tf.constant(1j, tf.float32)
tf.constant([1, 1j])
tf.constant(np.float64(1))
tf.constant([np.float64(1)])
tf.constant([np.float32(1), 2.0])
tf.constant([np.int64(1), 2])
tf.constant([np.array([1, 2]), np.array([3, 4])])
tf.constant(np.array(['a', 'bc']))
tf.constant(np.array([b'a', 'bc'], object))
tf.constant(np.array([1, 2], object))
tf.constant(np.array([1.5]), tf.int32)
tf.constant(np.array([1]), tf.float32)
tf.constant(np.datetime64('2020-01-01'))
tf.constant(range(3))
tf.constant(1e400)
tf.constant(1e39, tf.float32)
tf.constant(70000., tf.float16)
tf.constant(1, shape=[2, 2])
tf.constant([1, 2], shape=[2, 2])
tf.constant([1, 2, 3, 4], shape=[2, 2])
tf.constant(i, tf.float32)
tf.convert_to_tensor(i, tf.float32)
tf.convert_to_tensor(1, dtype_hint=tf.float32)
tf.convert_to_tensor(1.5, dtype_hint=tf.int32)
tf.convert_to_tensor(tf.TensorShape([1, 2]))
tf.convert_to_tensor(tf.TensorShape([1, None]))
tf.constant(2**70, tf.bfloat16)
tf.constant(2**70, tf.complex64)
tf.constant([], tf.uint8)
tf.constant([True, 'a'], tf.int32)
tf.constant([i[0], 2])
tf.constant([2, i[0]], tf.int32)
tf.constant((i[0],))
tf.constant([[i[0], 2], [3, 4]])
tf.constant([v, 2])
tf.constant(v)
tf.constant(v, tf.float32)
tf.convert_to_tensor([i[0], 2])
tf.convert_to_tensor([v, 2])
tf.convert_to_tensor([i[0], 2], tf.float32)
tf.convert_to_tensor([[3, 4], i], tf.int64)
tf.convert_to_tensor([i[0], f[0]], tf.float64)
tf.convert_to_tensor([f[0], i[0]], tf.int32)
tf.convert_to_tensor([v, 2.5], tf.float32)
tf.convert_to_tensor([i, [True, 2]], tf.float32)
u + True
u == True
tf.cast(True, tf.uint8)
tf.fill([2], True)
""".strip().splitlines()

NUMBERS = """
bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64
complex128
""".strip().split()
WITH_BOOLS = """
True
[True]
([True, False],)
[True, 1]
[1, True]
[True, 1.5]
[1.5, True]
[True, 1j]
[1j, True]
[True, None]
np.bool_(True)
[np.bool_(True)]
np.array([True])
""".strip().splitlines()
BOOLS_AS_NUMBERS = [
    f"tf.{function}({value}, tf.{dtype})"
    for function in ("constant", "convert_to_tensor")
    for value in WITH_BOOLS
    for dtype in NUMBERS
]

OPERATORS = """
i + f
f + 1
f + 1.5
i + 1.5
i + True
b + 1
f + True
i + np.array([1, 2])
f + np.array([1, 2])
f + np.array([1., 2.])
i + np.array([1., 2.])
i + np.float64(1)
np.array([1., 2.]) + f
np.float32(1) + f
np.array([1, 2]) == i
[1, 2] + i
1 + i
1.5 + i
i + [1, 2, 3]
i == [1, 2]
i == [1, 2, 3]
i == None
i != None
i == 'a'
i == 1.5
i == f
i < None
f + None
s + 'b'
'b' + s
s * 2
i / 2
i // 0
i % 2
-i % 3
i ** 2
f ** 0.5
2 ** i
-i
-b
~b
~i
abs(-i)
b & b
b & True
i & 1
f & f
i | 4
b ^ b
i ^ i
+i
bool(i)
int(f)
len(i)
hash(i)
i.name
u + 1
u + 300
c * 1
c * 2.5
f * 1j
format(tf.constant(2.0), '.2f')
str(s)
repr(i)
repr(f)
str(c)
i.numpy().flags.writeable
np.asarray(i).flags.writeable
""".strip().splitlines()

INDEXING = """
x[0]
x[-1]
x[2]
x[0, 1, 2]
x[..., 0]
x[:, ..., tf.newaxis, 1]
x[1:, ::-1, ::2]
x[:, -1:-3:-1]
x[..., tf.newaxis]
x[:, 5:]
x[i[0]]
x[i[0]:, i[0] - 1:i[1]]
x[x > 11]
x[tf.constant([True, False])]
x[1.5]
x['a']
x[0, 0, 0, 0]
x[::0]
[float(row[0]) for row in f[:, tf.newaxis]]
list(x[0, :, 0])
1 in i
i[0] + 1
np.zeros(3)[i[0]]
""".strip().splitlines()


SHAPES = """
tf.broadcast_static_shape(tf.TensorShape([1, 2]), tf.TensorShape([3, 1]))
tf.broadcast_static_shape(tf.TensorShape([2]), tf.TensorShape([3, 1]))
tf.broadcast_static_shape(tf.TensorShape([None, 2]), tf.TensorShape([3, None]))
tf.broadcast_static_shape(tf.TensorShape([None]), tf.TensorShape([1]))
tf.broadcast_static_shape(tf.TensorShape([None]), tf.TensorShape([None]))
tf.broadcast_static_shape(tf.TensorShape(None), tf.TensorShape([1]))
tf.broadcast_static_shape(tf.TensorShape([0, 2]), tf.TensorShape([1, 2]))
tf.broadcast_static_shape(tf.TensorShape([2]), tf.TensorShape([3]))
""".strip().splitlines()


def outcome(tf: Any, expression: str) -> Any:
    names = {
        "tf": tf,
        "np": np,
        "i": tf.constant([1, 2]),
        "f": tf.constant([1.0, 2.0]),
        "b": tf.constant([True, False]),
        "s": tf.constant("a"),
        "c": tf.constant(1 + 2j),
        "u": tf.constant([1, 2], tf.uint8),
        "v": tf.Variable(3),
        "x": tf.constant(np.arange(24).reshape(2, 3, 4)),
    }
    try:
        result = eval(expression, names)
    except Exception as error:
        return type(error).__name__
    return repr(result)


@pytest.mark.parametrize(
    "expression", [*CONSTANTS, *BOOLS_AS_NUMBERS, *OPERATORS, *INDEXING, *SHAPES]
)
def test_an_expression_means_what_it_means_in_tensorflow(expression: str) -> None:
    assert outcome(graven, expression) == outcome(tensorflow, expression)
