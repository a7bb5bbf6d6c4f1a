"""Errors about the truth and the elements of symbolic tensors name what asked for them."""

from __future__ import annotations

import linecache
import re
import textwrap
from typing import Any, NamedTuple

import graven as tf
import pytest
from python.autograph.test_error_table import NOT_ALLOWED, function_of

TRUTH = "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed"
ELEMENTS = "Iterating over a symbolic `tf.Tensor` is not allowed"
FEATURE = "tf.function(experimental_autograph_options=tf.autograph.experimental.Feature."
ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


class Row(NamedTuple):
    """A program, as the body of f(x), whose line with the mark `# here` is to blame.

    Attributes:
      name: What is wrong.
      text: The body.
      head: How the message begins.
      cause: What it says of the cause.
      write: What it says to write.
      value: The argument.
      instead: The body of a program that does so, without an error.
    """

    name: str
    text: str
    head: str
    cause: str
    write: str
    value: Any = 1.0
    instead: str = "return x"


CAUSES = [
    Row(
        "assert",
        "assert x > 0  # here\nreturn x",
        TRUTH,
        "An `assert` runs while the function is traced",
        FEATURE + "ASSERT_STATEMENTS)",
        instead="tf.debugging.assert_less(0.0, x)\nreturn x",
    ),
    Row(
        "assert of a call",
        "assert tf.reduce_all(x > 0), 'no'  # here\nreturn x",
        TRUTH,
        "An `assert` runs while the function is traced",
        "tf.debugging.assert_less(...)",
    ),
    Row(
        "max",
        "return max(x, 3.0)  # here",
        TRUTH,
        "Python's `max` runs while the function is traced. Write tf.maximum",
        FEATURE + "BUILTIN_FUNCTIONS)",
        instead="return tf.maximum(x, 3.0)",
    ),
    Row(
        "min of a list",
        "return min([x, 3.0])  # here",
        TRUTH,
        "Python's `min` runs",
        FEATURE + "BUILTIN_FUNCTIONS)",
    ),
    Row(
        "sum",
        "return sum(x)  # here",
        ELEMENTS,
        "Python's `sum` runs while the function is traced. Write tf.reduce_sum",
        FEATURE + "BUILTIN_FUNCTIONS)",
        [1.0, 2.0],
    ),
    Row(
        "all of a tensor",
        "return all(x > 0)  # here",
        ELEMENTS,
        "Python's `all` runs while the function is traced. Write tf.reduce_all",
        FEATURE + "BUILTIN_FUNCTIONS)",
        [1.0, 2.0],
    ),
    Row(
        "any of a list",
        "return any([x > 0, x < -5])  # here",
        TRUTH,
        "Python's `any` runs while the function is traced",
        "Write tf.reduce_any, or `x or y`. See",
        instead="return tf.reduce_any([x > 0, x < -5]), x > 0 or x < -5",
    ),
    Row(
        "max by a key",
        "return max(x, 3.0, key=lambda v: -v)  # here",
        TRUTH,
        "Python's `max` runs",
        "tf.reduce_max. See",
    ),
    Row(
        "sorted",
        "return sorted([x, x + 1])  # here",
        TRUTH,
        "Python's `sorted` runs",
        "Write tf.sort(tf.stack(...))",
        instead="return tf.sort(tf.stack([x, x + 1]))",
    ),
    Row(
        "bool",
        "return bool(x)  # here",
        TRUTH,
        "Python's `bool` runs",
        "tf.cast(x, tf.bool)",
        instead="return tf.cast(x, tf.bool)",
    ),
    Row(
        "enumerate",
        "t = 0.0\nfor i, v in enumerate(x):  # here\n    t += v\nreturn t",
        ELEMENTS,
        "Python's `enumerate` runs",
        "Write `for i in tf.range(len(x)):`, and x[i] in the loop",
        [1.0, 2.0],
        "t = 0.0\nfor i in tf.range(len(x)):\n    t += x[i]\nreturn t",
    ),
    Row(
        "zip",
        "for i, v in zip(range(2), x):  # here\n    pass\nreturn x",
        ELEMENTS,
        "Python's `zip` runs",
        "Write `for i in tf.range(len(x)):`",
        [1.0, 2.0],
    ),
    Row(
        "list",
        "return list(x)  # here",
        ELEMENTS,
        "Python's `list` runs",
        "Write tf.unstack(x)",
        [1.0, 2.0],
        "return tf.unstack(x)",
    ),
    Row(
        "rows apart",
        "t = 0.0\nfor a, b in x * 2:  # here\n    t += a * b\nreturn t",
        ELEMENTS,
        "`a, b` takes a tensor apart while the function is traced",
        "Write `for row in x * 2:`, and `a, b = tf.unstack(row, num=2)` in the loop",
        ROWS,
        "t = 0.0\nfor row in x * 2:\n    a, b = tf.unstack(row, num=2)\n    t += a * b\nreturn t",
    ),
    Row(
        "a tensor apart",
        "(a, b), c = tf.abs(x), 1  # here\nreturn a",
        ELEMENTS,
        "`a, b` takes a tensor apart",
        "Write `a, b = tf.unstack(x, num=2)`",
        [1.0, 2.0],
    ),
    Row(
        "a tensor apart, with a rest",
        "a, *b = tf.abs(x)  # here\nreturn a",
        ELEMENTS,
        "`a, *b` takes a tensor apart",
        "Write `a, *b = tf.unstack(tf.abs(x))`",
        [1.0, 2.0],
        "a, *b = tf.unstack(tf.abs(x))\nreturn a",
    ),
    Row(
        "a comprehension",
        "return [v for v in x]  # here",
        ELEMENTS,
        "A comprehension loops and chooses while the function is traced",
        "tf.TensorArray",
        [1.0, 2.0],
    ),
    Row(
        "a condition of a comprehension",
        "return {v: 1 for v in range(3) if x > v}  # here",
        TRUTH,
        "A comprehension loops and chooses",
        "tf.where",
    ),
    Row(
        "a generator expression",
        "return any(v > 0 for v in x)  # here",
        ELEMENTS,
        "A comprehension loops and chooses",
        "tf.map_fn",
        [1.0, 2.0],
    ),
    Row(
        "in",
        "return x in [tf.constant(1.0)]  # here",
        TRUTH,
        "`in` compares while the function is traced",
        "Write tf.reduce_any(tf.equal(x, tf.stack(...)))",
        instead="return tf.reduce_any(tf.equal(x, tf.stack([tf.constant(1.0)])))",
    ),
    Row(
        "a star in a call",
        "return tf.add(*x)  # here",
        ELEMENTS,
        "A `*` takes the elements of a tensor",
        "Write *tf.unstack(x)",
        [1.0, 2.0],
        "return tf.add(*tf.unstack(x))",
    ),
    Row(
        "a star in a list",
        "return [0.0, *x]  # here",
        ELEMENTS,
        "A `*` takes the elements of a tensor",
        "Write *tf.unstack(x)",
        [1.0, 2.0],
    ),
    Row(
        "match",
        "match x:\n    case 3:  # here\n        x = x + 1\nreturn x",
        TRUTH,
        "`match` compares while the function is traced",
        "Write `if` and `elif`",
    ),
    Row(
        "a generator",
        "def g():\n    if x > 0:  # here\n        yield x\nreturn [v for v in g()]",
        TRUTH,
        "AutoGraph does not convert generators, such as g",
        "",
    ),
    Row(
        "an argument",
        "return tf.reduce_sum(x, keepdims=x > 0)  # here",
        TRUTH,
        "What this line calls takes a Python value where it gets a tensor",
        "",
    ),
]


def body(text: str, name: str) -> Any:
    return function_of("def f(x):\n" + textwrap.indent(text, "    "), name)


@pytest.mark.parametrize("row", CAUSES, ids=[row.name for row in CAUSES])
def test_an_error_names_its_cause(row: Row) -> None:
    f = body(row.text, f"<cause: {row.name}>")
    line = 2 + row.text[: row.text.index("# here")].count("\n")
    with pytest.raises(NOT_ALLOWED, match=re.escape(row.head)) as raised:
        tf.function(f)(tf.constant(row.value))
    text = str(raised.value)
    assert f'File "<cause: {row.name}>", line {line}, in ' in text
    assert row.cause in text and row.write in text
    assert "does not convert this place" not in text
    assert text.rstrip().endswith("See docs/errors/symbolic-tensor.md")
    tf.function(body(row.instead, f"<instead: {row.name}>"))(tf.constant(row.value))


@pytest.mark.parametrize(
    ("text", "value"),
    [("assert x > 0\nreturn x", 1.0), ("return max(x, 3.0)", 3.0), ("return sum([x, x])", 2.0)],
)
def test_the_features_that_errors_name_do_that(text: str, value: float) -> None:
    feature = tf.autograph.experimental.Feature
    options = (feature.ASSERT_STATEMENTS, feature.BUILTIN_FUNCTIONS)
    f = tf.function(body(text, f"<feature: {text}>"), experimental_autograph_options=options)
    assert float(f(tf.constant(1.0))) == value


def test_a_function_that_is_not_converted_is_named() -> None:
    h = function_of("def f(x):\n    return -x if x > 0 else x\n", "<unconverted>")
    h.__code__ = h.__code__.replace(co_name="h")
    f = body("return h(x)", "<caller>")
    f.__globals__["h"] = tf.autograph.experimental.do_not_convert(h)
    with pytest.raises(
        NOT_ALLOWED, match=r"AutoGraph does not convert h: .*do_not_convert"
    ) as raised:
        tf.function(f)(tf.constant(1.0))
    assert 'File "<unconverted>", line 2, in h  **' in str(raised.value)


def test_a_function_without_conversion_says_so() -> None:
    f = tf.function(body("return -x if x > 0 else x", "<unconverted>"), autograph=False)
    with pytest.raises(NOT_ALLOWED, match="a function with autograph=False"):
        f(tf.constant(1.0))


MISPLACED = """t = 0.0
for v in x:
    t += v
    tf.autograph.experimental.set_loop_options(parallel_iterations=1)
return t
"""
MISPLACED_CAUSE = (
    "f runs without conversion, because AutoGraph could not transform it: set_loop_options must be "
    "the first statement of a loop body. See docs/errors/symbolic-tensor.md"
)


def test_an_error_repeats_why_a_conversion_failed() -> None:
    f = body(MISPLACED, "<misplaced>")
    for _ in range(2):  # The second time it is known.
        with pytest.raises(NOT_ALLOWED, match=re.escape(ELEMENTS)) as raised:
            tf.function(f)(tf.constant([1.0]))
        assert MISPLACED_CAUSE in str(raised.value)
    caller = body("return h(x)", "<caller>")
    caller.__globals__["h"] = f
    with pytest.raises(NOT_ALLOWED, match=re.escape(ELEMENTS)) as raised:
        tf.function(caller)(tf.constant([1.0]))
    assert MISPLACED_CAUSE in str(raised.value)
    assert 'File "<misplaced>", line 3, in f  **' in str(raised.value)


def test_a_failed_conversion_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    f = body(MISPLACED.replace("for v in x", "for v in range(2)"), "<once>")
    caller = body("return h(x) + h(x)", "<calls>")
    caller.__globals__["h"] = f
    for g in (f, caller, f, caller):
        tf.function(g)(tf.constant(1.0))
    assert [m for m in caplog.messages if "could not transform" in m] == [
        f"AutoGraph could not transform {f!r} and will run it as-is. If it has conditions on "
        "tensors, it runs once for each way through them. Cause: set_loop_options must be the "
        "first statement of a loop body. To silence this warning, decorate the function with "
        "@tf.autograph.experimental.do_not_convert"
    ]


def test_a_refused_condition_repeats_why_a_conversion_failed() -> None:
    f = body(MISPLACED.replace("for v in x", "while x > t").replace("+= v", "+= 1"), "<refused>")
    with pytest.raises(NOT_ALLOWED, match=re.escape(TRUTH)) as raised:
        tf.function(f)(tf.constant(1.0))
    text = str(raised.value)
    assert MISPLACED_CAUSE in text and "must be written with tf.while_loop" in text
    assert 'File "<refused>", line 3, in f' in text


def test_an_error_of_converted_code_does_not_blame_its_caller() -> None:
    f = body(MISPLACED.replace("for v in x:", "for v in range(2):\n    h(x)"), "<caller>")
    f.__globals__["h"] = tf.function(body("assert x > 0\nreturn x", "<assert>"))
    with pytest.raises(NOT_ALLOWED, match="An `assert` runs") as raised:
        tf.function(f)(tf.constant(1.0))
    assert "runs without conversion" not in str(raised.value)


def test_an_error_says_that_a_function_is_replayed() -> None:
    f = body("for v in x:\n    pass\nreturn x", "<replayed>")
    with pytest.raises(NOT_ALLOWED, match='because autograph="replay" asks for that'):
        tf.function(f, autograph="replay")(tf.constant([1.0]))
    names: dict[str, Any] = {}
    exec("def f(x):\n    for v in x:\n        pass\n", names)
    with pytest.raises(NOT_ALLOWED, match="because its source is not kept: it is part of a text"):
        tf.function(names["f"])(tf.constant([1.0]))


def test_an_error_whose_source_has_changed_is_told_as_it_was() -> None:
    name = "<changed>"
    f = body("change()\nassert x > 0\nreturn x", name)

    def change() -> None:
        linecache.cache[name] = (4, None, ["if ("], name)

    f.__globals__["change"] = change
    with pytest.raises(NOT_ALLOWED, match="AutoGraph does not convert this place"):
        tf.function(f)(tf.constant(1.0))
