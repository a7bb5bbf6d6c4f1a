"""Rows of which one input is known when the graph runs, and the others when it is traced.

An op infers and checks by the values of some inputs. What cannot be known while it is traced it
must look at when it runs, also where all shapes and all values but one are known before.
"""

import builtins
from typing import Any

import graven as tf
import numpy as np
import pytest

from ops.running import op_of, prepare, run
from ops.sample import Application, Case, Wrong, all_rows, as_arrays, as_tensors, one_of_each_row
from ops.setups import tensors_only
from ops.test_ops import assert_same_bits


def numbers_of(arguments: list[Any]) -> list[int]:
    """Positions of the arguments that may be sizes, axes, places and their like."""
    return [
        i
        for i, argument in enumerate(arguments)
        if isinstance(argument, tf.Tensor)
        and argument.dtype in (tf.int32, tf.int64)
        and len(argument.shape) <= 1
    ]


def traced_but_for(application: Application, number: int) -> Any:
    """The call as a function of one argument."""
    before, after = application.arguments[:number], application.arguments[number + 1 :]
    return tf.function(lambda value: tensors_only(application.call(*before, value, *after)))


@pytest.mark.parametrize("case", one_of_each_row(), ids=str)
def test_the_values_stay(case: Case) -> None:
    def prepared() -> Application:
        inputs = as_tensors(tf, case.arrays())
        return prepare(case.sample.setup, op_of(case.sample, case.attrs), inputs)

    for number in numbers_of(prepared().arguments):
        application = prepared()
        f = traced_but_for(application, number)
        results: list[Any] = []
        for _ in range(case.sample.calls):
            results += as_arrays(f(application.arguments[number]))
        results += as_arrays(application.after())
        assert_same_bits(results, run("eager", case))


@pytest.mark.parametrize("row", all_rows()[1], ids=str)
def test_what_an_op_refuses_is_named(row: Wrong) -> None:
    error = getattr(tf.errors, row.error, None) or getattr(builtins, row.error)
    inputs = as_tensors(
        tf, [value if isinstance(value, list) else np.array(value) for value in row.inputs]
    )
    application = prepare(row.setup, op_of(row, row.attrs), inputs)
    for number in numbers_of(application.arguments):
        with pytest.raises((error, ValueError, TypeError)) as raised:
            traced_but_for(application, number)(application.arguments[number])
        messages = {row.message, row.message_in_graph or row.message}
        assert any(message in str(raised.value) for message in messages)
