"""Lists that grow, names that may be None, shapes that change in loops: TensorFlow refuses them.

Each program means in eager TensorFlow what it means in eager Graven. TensorFlow's Function raises;
Graven's gives what Python gives. Where TensorFlow's Function has an answer, Graven's has the same,
though Python would give another.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import graven
import pytest
import tensorflow
from python.autograph import changing_shapes, growing_lists, optional_names

MODULES = (changing_shapes, growing_lists, optional_names)
CASES = [
    pytest.param(module, name, values, id=f"{name}-{values}")
    for module in MODULES
    for name in module.programs(graven)
    for values in module.VECTORS
]


@pytest.fixture(scope="module", autouse=True)
def _quiet() -> Iterator[None]:
    """TensorFlow warns of functions that it cannot convert."""
    logger = tensorflow.get_logger()
    level = logger.level
    logger.setLevel(logging.ERROR)
    yield
    logger.setLevel(level)


@pytest.mark.parametrize(("module", "name", "values"), CASES)
def test_a_program_runs_where_tensorflow_refuses_it(
    module: Any, name: str, values: list[float]
) -> None:
    ours, theirs = module.programs(graven)[name], module.programs(tensorflow)[name]
    expected = theirs(tensorflow.constant(values)).numpy()
    found = graven.function(ours)(graven.constant(values)).numpy()
    assert found.shape == expected.shape
    assert list(found.flat) == pytest.approx(list(expected.flat), rel=1e-5)
    signature = [tensorflow.TensorSpec([None])]
    with pytest.raises(Exception):  # noqa: B017 (of many classes, in code of the user's)
        tensorflow.function(theirs, input_signature=signature)(tensorflow.constant(values))


def only_counted(tf: Any) -> Callable[..., Any]:
    def f(x: Any) -> Any:
        out = []
        for e in x:
            out.append(e)
        return x + len(out)

    return f


def read_before_it_grows(tf: Any) -> Callable[..., Any]:
    def f(x: Any) -> Any:
        out, total = [x], x[0]
        for e in x:
            total = total + tf.reduce_sum(out[-1]) * e
            out.append(x * e)
        return total

    return f


def emptied_in_the_body(tf: Any) -> Callable[..., Any]:
    def f(x: Any) -> Any:
        out, total = [], x[0]
        for e in x:
            out.append(e * 2)
            total = total + out.pop()
        return total, len(out)

    return f


def logged(tf: Any) -> Callable[..., Any]:
    log: list[str] = []

    def f(x: Any) -> Any:
        if x[0] > 0:
            log.append("main")
        else:
            log.append("else")
        for _ in x:
            log.append("loop")
        return tf.constant(len(log))

    return f


def unrolled(tf: Any) -> Callable[..., Any]:
    def f(x: Any) -> Any:
        out = []
        for k in range(4):
            out.append(x * k)
            if k % 2:
                out.append(x)
        return tf.add_n(out), out

    return f


def none_in_both(tf: Any) -> Callable[..., Any]:
    def f(x: Any) -> Any:
        p = None
        if x[0] > 0:  # noqa: SIM108
            y = x
        else:
            y = -x
        return y if p is None else y + p

    return f


def caught(tf: Any) -> Callable[..., Any]:
    def f(x: Any) -> Any:
        out = []
        for e in x:
            out.append(e)
        try:
            return tf.stack(out)
        except ValueError:
            return x * 0

    return f


def chosen(tf: Any) -> Callable[..., Any]:
    def f(x: Any) -> Any:
        a, b = [x[0]], [x[1]]
        (a if x[0] > 0 else b).append(x[2])
        return tf.stack(a)

    return f


RUN_ON_BOTH = [
    only_counted,
    read_before_it_grows,
    emptied_in_the_body,
    logged,
    unrolled,
    none_in_both,
    caught,
    chosen,
]


def numbers(tf: Any, result: Any) -> list[float]:
    return [float(v) for part in tf.nest.flatten(result) for v in tf.reshape(part, [-1])]


@pytest.mark.parametrize("make", RUN_ON_BOTH, ids=lambda make: make.__name__)
@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0], [-1.0, 2.0, 0.5]], ids=str)
def test_a_program_that_runs_on_tensorflow_gives_the_same(make: Any, values: list[float]) -> None:
    found, expected = (
        numbers(tf, tf.function(make(tf))(tf.constant(values))) for tf in (graven, tensorflow)
    )
    assert found == pytest.approx(expected)
