"""The errors of control flow: class, key phrase, and the user's line.

A row is a program whose line with the mark `# here` is to blame. Rules are those of the semantics.
"""

from __future__ import annotations

import linecache
import re
import textwrap
from typing import Any, NamedTuple

import graven as tf
import pytest

NOT_ALLOWED = tf.errors.OperatorNotAllowedInGraphError
INVALID = tf.errors.InvalidArgumentError


class Row(NamedTuple):
    """A wrong program.

    Attributes:
      name: What is wrong.
      text: The program; its function is f(x).
      error: The class.
      phrase: What the message says.
      value: The argument.
      at_run_time: Whether the error comes when the function runs.
    """

    name: str
    text: str
    error: type[Exception]
    phrase: str
    value: Any = 1.0
    at_run_time: bool = False


def function_of(text: str, name: str) -> Any:
    text = textwrap.dedent(text).lstrip("\n")
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {"tf": tf, "__name__": "program"}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


CONDITIONS = [
    Row(
        "S7.26 ragged condition",
        """
        def f(x):
            r = tf.RaggedTensor.from_row_lengths([x], [1])
            if r:  # here
                return x
            return -x
        """,
        TypeError,
        "RaggedTensor",
    ),
    Row(
        "S7.27 condition of another dtype",
        """
        def f(x):
            if x:  # here
                y = x
            else:
                y = -x
            return y
        """,
        ValueError,
        "condition of if statement expected to be `tf.bool` scalar",
    ),
    Row(
        "S7.27 condition of rank 1",
        """
        def f(x):
            y = x
            if x > 0:  # here
                y = -x
            return y
        """,
        ValueError,
        "condition of if statement expected to be `tf.bool` scalar",
        [1.0, 2.0],
    ),
    Row(
        "S7.27 condition of a loop",
        """
        def f(x):
            while x:  # here
                x = x - 1
            return x
        """,
        ValueError,
        "condition of while loop expected to be `tf.bool` scalar",
    ),
    Row(
        "S7.32 not of a number",
        """
        def f(x):
            return not x  # here
        """,
        TypeError,
        "bool",
    ),
    Row(
        "S7.32 and of values of different types",
        """
        def f(x):
            return (x > 0) and x  # here
        """,
        TypeError,
        "true_fn and false_fn arguments to tf.cond must have the same number, type",
    ),
    Row(
        "S7.14 assert",
        """
        def f(x):
            assert x > 0  # here
            return x
        """,
        NOT_ALLOWED,
        "as a Python `bool` is not allowed",
    ),
    Row(
        "S7.22 unbound name",
        """
        def f(x):
            for _ in range(0):
                y = x
            return y  # here
        """,
        UnboundLocalError,
        "'y' is used before assignment",
    ),
]

BRANCHES = [
    Row(
        "S7.29 unbound in one branch",
        """
        def f(x):
            if x > 0:  # here
                y = x
            return y
        """,
        ValueError,
        "'y' must also be initialized in the else branch",
    ),
    Row(
        "S7.29 unbound in the main branch",
        """
        def f(x):
            if x > 0:  # here
                pass
            else:
                y = x
            return y
        """,
        ValueError,
        "'y' must also be initialized in the main branch",
    ),
    Row(
        "S7.29 return in one branch",
        """
        def f(x):
            if x > 0:
                return x
            y = x  # the function ends
        """,
        ValueError,
        "the else branch must also have a return statement",
    ),
    Row(
        "S7.29 None in one branch",
        """
        def f(x):
            y = x
            if x > 0:  # here
                y = None
            return y
        """,
        ValueError,
        "'y' is None at the end of the main branch",
    ),
    Row(
        "S7.29 another structure",
        """
        def f(x):
            if x > 0:  # here
                y = (x, x)
            else:
                y = [x]
            return y
        """,
        TypeError,
        "'y' must have the same nested structure in the main and else branches",
    ),
    Row(
        "S7.29 another dtype",
        """
        def f(x):
            if x > 0:  # here
                y = 1.0
            else:
                y = 1
            return y
        """,
        TypeError,
        "'y' has dtype float32 in the main branch, but dtype int32 in the else branch",
    ),
    Row(
        "S7.29 another object",
        """
        def f(x):
            if x > 0:  # here
                y = object()
            else:
                y = object()
            return y
        """,
        TypeError,
        "must return zero or more Tensors",
    ),
    Row(
        "S7.31 conditional expression of two types",
        """
        def f(x):
            return 1 if x > 0 else 2.0  # here
        """,
        TypeError,
        "has dtype int32 in the main branch, but dtype float32 in the else branch",
    ),
    Row(
        "S7.31 conditional expression with None",
        """
        def f(x):
            return 1 if x > 0 else None  # here
        """,
        ValueError,
        "'x > 0' is None at the end of the else branch",
    ),
    Row(
        "S7.28 a branch that raises",
        """
        def f(x):
            if x > 0:
                raise KeyError("no")  # here
            return x
        """,
        KeyError,
        "no",
    ),
]

LOOPS = [
    Row(
        "S7.34 test that becomes a tensor",
        """
        def f(x):
            y = 1
            while y < 3:  # here
                y = y + x
            return y
        """,
        NotImplementedError,
        "started as non-Tensor, then changed to Tensor",
    ),
    Row(
        "S7.34 break of a Python loop",
        """
        def f(x):
            for i in [1.0, 2.0]:  # here
                if x > i:
                    break
            return x
        """,
        NotImplementedError,
        "which depend on a TF condition are not supported in Python for loops",
    ),
    Row(
        "S7.36 not defined before",
        """
        def f(x):
            while x > 0:  # here
                x -= 1
                y = y + x
            return y
        """,
        ValueError,
        "'y' must be defined before the loop",
    ),
    Row(
        "S7.36 None before",
        """
        def f(x):
            y = None
            while x > 0:  # here
                x -= 1
                y = "text"
            return y
        """,
        ValueError,
        "'y' is not allowed to be None before the loop",
    ),
    Row(
        "S7.36 no iteration",
        """
        def f(x):
            while x > 0:  # here
                x -= 1
                y = x
            return y
        """,
        INVALID,
        "loop must iterate at least once to initialize y",
        -1.0,
        True,
    ),
    Row(
        "S7.37 structure",
        """
        def f(x):
            y = (x, x)
            while x > 0:  # here
                x -= 1
                y = x
            return y
        """,
        TypeError,
        "'y' does not have the same nested structure after one iteration",
    ),
    Row(
        "S7.37 dtype",
        """
        def f(x):
            y = 1
            while x > 0:  # here
                x -= 1
                y = 1.0
            return y
        """,
        TypeError,
        "'y' has dtype int32 before the loop, but dtype float32 after one iteration",
    ),
    Row(
        "S7.37 shape",
        """
        def f(x):
            y = tf.ones([1])
            for _ in tf.range(3):  # here
                y = tf.ones([y.shape[0] + 1])
            return y
        """,
        ValueError,
        "'y' has shape (1,) before the loop, but shape (2,) after one iteration",
    ),
    Row(
        "S7.37 None after",
        """
        def f(x):
            y = 1
            while x > 0:  # here
                x -= 1
                y = None
            return y
        """,
        ValueError,
        "'y' is None at the end of the iteration",
    ),
    Row(
        "S7.37 invariant before the loop",
        """
        def f(x):
            y = tf.ones([1])
            while x > 0:  # here
                tf.autograph.experimental.set_loop_options(
                    shape_invariants=[(y, tf.TensorShape([2]))])
                x -= 1
                y = y * 2
            return y + x
        """,
        ValueError,
        "which does not conform with the shape invariant",
    ),
    Row(
        "S7.38 return on one path",
        """
        def f(x):
            while x > 0:
                x -= 1
                if x < 3:
                    return x
        """,
        NotImplementedError,
        "a return statement cannot be placed inside this TensorFlow loop",
    ),
    Row(
        "S7.40 scalar",
        """
        def f(x):
            for i in x:  # here
                x = x + i
            return x
        """,
        ValueError,
        "len requires a non-scalar tensor",
    ),
    Row(
        "S7.40 tensor array",
        """
        def f(x):
            for i in tf.TensorArray(tf.float32, 2):  # here
                x = x + i
            return x
        """,
        TypeError,
        "not iterable",
    ),
    Row(
        "S7.45 len of a scalar",
        """
        def f(x):
            return len(x)  # here
        """,
        ValueError,
        "len requires a non-scalar tensor",
    ),
    Row(
        "S7.45 sorted matrix",
        """
        def f(x):
            return sorted(x)  # here
        """,
        ValueError,
        "1D",
        [[1.0]],
    ),
    Row(
        "S7.45 int with a base",
        """
        def f(x):
            return int(x, 8)  # here
        """,
        NotImplementedError,
        "base 8",
    ),
    Row(
        "S7.45 min",
        """
        def f(x):
            return min(x, 3.0)  # here
        """,
        NOT_ALLOWED,
        "as a Python `bool` is not allowed",
    ),
    Row(
        "S7.45 sum",
        """
        def f(x):
            return sum(x)  # here
        """,
        NOT_ALLOWED,
        "Iterating over a symbolic `tf.Tensor` is not allowed",
        [1.0],
    ),
]

FUNCTIONS = [
    Row(
        "S8.1 no callable",
        """
        def f(x):
            return tf.cond(x > 0, x, lambda: x)  # here
        """,
        TypeError,
        "callable",
    ),
    Row(
        "S8.1 Python bool",
        """
        def f(x):
            return tf.cond(True, lambda: x, lambda: -x)  # here
        """,
        TypeError,
        "must not be a Python bool",
    ),
    Row(
        "S8.1 pred of rank 1",
        """
        def f(x):
            return tf.cond(x > 0, lambda: 1, lambda: 2)  # here
        """,
        INVALID,
        "If",
        [1.0, 2.0],
        True,
    ),
    Row(
        "S8.2 structures",
        """
        def f(x):
            return tf.cond(x > 0, lambda: x, lambda: (x, x))  # here
        """,
        TypeError,
        "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall",
    ),
    Row(
        "S8.2 dtypes",
        """
        def f(x):
            return tf.cond(x > 0, lambda: x, lambda: 1)  # here
        """,
        TypeError,
        "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall",
    ),
    Row(
        "S8.4 tensor of the other branch",
        """
        def f(x):
            made = []
            def one():
                made.append(x * 2)
                return made[0]
            return tf.cond(x > 0, one, lambda: made[0] + 1)  # here
        """,
        (ValueError, TypeError),  # type: ignore[arg-type]
        "scope",
    ),
    Row(
        "S8.7 Python index",
        """
        def f(x):
            return tf.switch_case(1, [lambda: x, lambda: -x])  # here
        """,
        TypeError,
        "branch_index must be a Tensor",
    ),
    Row(
        "S8.7 float index",
        """
        def f(x):
            return tf.switch_case(x, [lambda: x, lambda: -x])  # here
        """,
        TypeError,
        "int32",
    ),
    Row(
        "S8.7 no branch",
        """
        def f(x):
            return tf.switch_case(tf.cast(x, tf.int32), [])  # here
        """,
        ValueError,
        "at least one",
    ),
    Row(
        "S8.7 structures",
        """
        def f(x):
            return tf.switch_case(tf.cast(x, tf.int32), [lambda: x, lambda: (x, x)])  # here
        """,
        TypeError,
        "branches[0] and branches[1] arguments to tf.switch_case",
    ),
    Row(
        "S8.8 no predicate holds",
        """
        def f(x):
            return tf.case([(x > 5, lambda: x), (x > 9, lambda: -x)])  # here
        """,
        INVALID,
        "None of conditions evaluated as True",
        1.0,
        True,
    ),
    Row(
        "S8.8 two predicates hold",
        """
        def f(x):
            return tf.case([(x > 5, lambda: x), (x > 9, lambda: -x)], exclusive=True)  # here
        """,
        INVALID,
        "more than 1 conditions",
        10.0,
        True,
    ),
    Row(
        "S8.8 Python predicate",
        """
        def f(x):
            return tf.case([(True, lambda: x)])  # here
        """,
        TypeError,
        "tensor",
    ),
    Row(
        "S8.9 no callable",
        """
        def f(x):
            return tf.while_loop(x > 0, lambda x: x, [x])  # here
        """,
        TypeError,
        "callable",
    ),
    Row(
        "S8.9 parallel iterations",
        """
        def f(x):
            return tf.while_loop(lambda x: x > 0, lambda x: x, [x], parallel_iterations=0)  # here
        """,
        TypeError,
        "parallel_iterations",
    ),
    Row(
        "S8.11 structure",
        """
        def f(x):
            return tf.while_loop(lambda x, y: x > 0, lambda x, y: (x,), [x, x])  # here
        """,
        ValueError,
        "structure",
    ),
    Row(
        "S8.12 dtype",
        """
        def f(x):
            return tf.while_loop(lambda x: x > 0, lambda x: (tf.cast(x, tf.float16),), [x])  # here
        """,
        TypeError,
        "enters the loop with type <dtype: 'float32'> but has type <dtype: 'float16'>",
    ),
    Row(
        "S8.12 shape",
        """
        def f(x):
            y = tf.ones([1])
            return tf.while_loop(lambda y: x > 0, lambda y: (tf.concat([y, y], 0),), [y])  # here
        """,
        ValueError,
        "enters the loop with shape (1,), but has shape (2,) after one iteration",
    ),
    Row(
        "S8.14 condition of rank 1",
        """
        def f(x):
            return tf.while_loop(lambda x: x > 0, lambda x: (x - 1,), [x])  # here
        """,
        INVALID,
        "While",
        [1.0, 2.0],
        True,
    ),
    Row(
        "S8.22 scalar",
        """
        def f(x):
            return tf.map_fn(lambda row: row, x)  # here
        """,
        ValueError,
        "Elements in elems must be 1+ dimensional",
    ),
    Row(
        "S8.22 another structure",
        """
        def f(x):
            return tf.map_fn(lambda row: (row, row), x)  # here
        """,
        ValueError,
        "structure",
        [1.0],
    ),
    Row(
        "S8.23 another structure",
        """
        def f(x):
            return tf.scan(lambda a, row: (a, row), x)  # here
        """,
        ValueError,
        "structure",
        [1.0],
    ),
    Row(
        "S8.25 no size",
        """
        def f(x):
            return tf.TensorArray(tf.float32).size()  # here
        """,
        ValueError,
        "size",
    ),
    Row(
        "S8.27 read past the end",
        """
        def f(x):
            a = tf.TensorArray(tf.float32, 2).write(0, x).write(1, x)
            return a.read(tf.cast(x, tf.int32))  # here
        """,
        INVALID,
        "Trying to access element 5 in a list with 2 elements",
        5.0,
        True,
    ),
    Row(
        "S8.27 write past the end",
        """
        def f(x):
            a = tf.TensorArray(tf.float32, 2)
            return a.write(tf.cast(x, tf.int32), x).stack()  # here
        """,
        INVALID,
        "Trying to modify element 5 in a list with 2 elements",
        5.0,
        True,
    ),
    Row(
        "S8.27 an index that is int64",
        """
        def f(x):
            return tf.TensorArray(tf.float32, 2).write(tf.cast(x, tf.int64), x).stack()  # here
        """,
        TypeError,
        "int32",
    ),
    Row(
        "S8.27 element shapes",
        """
        def f(x):
            return tf.TensorArray(tf.float32, 2, element_shape=[3]).write(0, x).stack()  # here
        """,
        ValueError,
        "Inconsistent shapes",
    ),
    Row(
        "S8.27 nothing was written",
        """
        def f(x):
            return tf.TensorArray(tf.float32, tf.cast(x, tf.int32)).stack()  # here
        """,
        INVALID,
        "only contains uninitialized tensors",
        1.0,
        True,
    ),
    Row(
        "S8.29 no gradient",
        """
        def f(x):
            return tf.TensorArray(tf.float32, 2).grad("a")  # here
        """,
        NotImplementedError,
        "use tf.GradientTape",
    ),
]


@pytest.mark.parametrize("row", CONDITIONS + BRANCHES + LOOPS + FUNCTIONS, ids=lambda row: row.name)
def test_an_error_has_its_class_its_phrase_and_the_users_line(row: Row) -> None:
    name = f"<{row.name}>"
    f = tf.function(function_of(row.text, name))
    x = tf.constant(row.value)
    if row.at_run_time:
        f.get_concrete_function(x)
    with pytest.raises(row.error, match=re.escape(row.phrase)) as raised:
        f(x)
    lines = textwrap.dedent(row.text).lstrip("\n").split("\n")
    marked = [i for i, line in enumerate(lines, 1) if "# here" in line]
    for line in marked:
        assert f'File "{name}", line {line}, in f' in str(raised.value)
    if not marked:
        assert re.search(r"line \d", str(raised.value))
    assert tf.executing_eagerly()
    with pytest.raises(row.error) as again:
        f(x)  # No claim is left that a second call would wait for.
    assert type(again.value) is type(raised.value)
