"""What inference says of each row, in one dtype, when dimensions, or ranks, are not known."""

from collections.abc import Callable
from typing import Any

import graven as tf
import pytest

from ops.running import op_of, prepare, run
from ops.sample import Case, as_arrays, as_tensors, one_of_each_row
from ops.test_ops import assert_same_bits


def as_known(tensor: Any) -> Any:
    return tf.TensorSpec(tensor.shape, tensor.dtype)


def without_sizes(tensor: Any) -> Any:
    return tf.TensorSpec([None] * len(tensor.shape), tensor.dtype)


def without_rank(tensor: Any) -> Any:
    return tf.TensorSpec(None, tensor.dtype)


@pytest.mark.parametrize("spec_of", [as_known, without_sizes, without_rank])
@pytest.mark.parametrize("case", one_of_each_row(), ids=str)
def test_inference_foresees_the_shapes_and_the_values_stay(
    case: Case, spec_of: Callable[[Any], Any]
) -> None:
    application = prepare(
        case.sample.setup, op_of(case.sample, case.attrs), as_tensors(tf, case.arrays())
    )
    specs = [
        [spec_of(item) for item in argument] if isinstance(argument, list) else spec_of(argument)
        for argument in application.arguments
    ]
    concrete = tf.function(application.call).get_concrete_function(*specs)
    results: list[Any] = []
    for _ in range(case.sample.calls):
        outputs = concrete(*application.arguments)
        parts = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        if outputs is not None:
            assert len(parts) == len(concrete.outputs)
            for part, inferred in zip(parts, concrete.outputs, strict=True):
                assert inferred.dtype == part.dtype
                assert inferred.shape.is_compatible_with(part.shape), (inferred.shape, part.shape)
        results += as_arrays(outputs)
    results += as_arrays(application.after())
    assert_same_bits(results, run("eager", case))
