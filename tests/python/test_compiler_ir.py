"""experimental_get_compiler_ir: the graph of a call as text."""

from typing import Any

import graven as tf
import pytest

VECTOR = tf.TensorSpec([3])


def total(a: Any, b: Any) -> Any:
    return tf.reduce_sum(tf.exp(a) * b)


def test_stages_are_the_traced_graph_and_what_runs() -> None:
    ir = tf.function(total, jit_compile=True).experimental_get_compiler_ir(VECTOR, VECTOR)
    traced, runs = ir(), ir("optimized_hlo")
    assert ir(stage="hlo") == ir("stablehlo") == traced
    assert traced.startswith("graph total(") and "%mul: float32[3] = Mul(%Exp, b)" in traced
    assert "Fusion(a, b" in runs and "step 0: [Exp Mul Sum]" in runs
    assert ir("hlo_serialized") == traced.encode()
    assert ir("optimized_hlo_serialized") == runs.encode()
    assert ir(device_name="/cpu:0") == ir(platform_name="CPU") == traced


def test_values_find_the_trace_of_calls() -> None:
    f = tf.function(total, jit_compile=True)
    ones = tf.ones([3])
    f(ones, ones)
    assert f.experimental_get_compiler_ir(ones, b=ones)().startswith("graph total(")
    assert f.experimental_get_tracing_count() == 1
    with pytest.raises(ValueError, match="must all be TensorSpecs, or none"):
        f.experimental_get_compiler_ir(ones, VECTOR)
    with pytest.raises(ValueError, match="needs a known shape"):
        f.experimental_get_compiler_ir(VECTOR, tf.TensorSpec([None]))
    with pytest.raises(ValueError, match=r"stage must be one of hlo, .*, not 'llvm'"):
        f.experimental_get_compiler_ir(ones, ones)("llvm")
    with pytest.raises(ValueError, match="not both"):
        f.experimental_get_compiler_ir(ones, ones)(device_name="/cpu:0", platform_name="CPU")
