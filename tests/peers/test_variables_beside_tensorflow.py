"""Gradients of variables that are given to functions as they are, beside TensorFlow's.

What reads a variable has to tell the tapes, or its gradient is None without a word.
"""

# tf is either system here.
# mypy: disable-error-code="untyped-decorator,misc,no-untyped-call"

import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import numpy as np
import pytest
import tensorflow


def functions(tf: Any) -> dict[str, Callable[[Any], Any]]:
    """Functions of a variable of shape [2, 2] by name."""
    return {
        "stack": lambda v: tf.stack([v, v]),
        "concat": lambda v: tf.concat([v, v], 0),
        "add_n": lambda v: tf.add_n([v, v]),
        "while": lambda v: tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * 2.0), (0, v))[
            1
        ],
        "cond": lambda v: tf.cond(tf.constant(True), lambda: v, lambda: v * 2.0),
        "cond2": lambda v: tf.cond(tf.constant(True), lambda: v.read_value(), lambda: v * 2.0),
        "switch": lambda v: tf.switch_case(tf.constant(0), [lambda: v, lambda: v * 2.0]),
        "case": lambda v: tf.case([(tf.constant(True), lambda: v)], default=lambda: v * 2.0),
        "einsum": lambda v: tf.einsum("ij,jk->ik", v, v),
        "tensordot": lambda v: tf.tensordot(v, v, 1),
        "matmul": lambda v: tf.matmul(v, v, transpose_b=True),
        "inv": lambda v: tf.linalg.inv(v),
        "norm": lambda v: tf.norm(v),
        "moments": lambda v: tf.nn.moments(v, [0])[1],
        "softmax": lambda v: tf.nn.softmax(v) * tf.constant([[1.0, 2.0], [3.0, 4.0]]),
        "softmax_cross_entropy": lambda v: tf.nn.softmax_cross_entropy_with_logits(
            labels=tf.nn.softmax(v), logits=v
        ),
        "where": lambda v: tf.where(v > 2.0, v, 0.0),
        "clip": lambda v: tf.clip_by_value(v, 2.0, 3.0),
        "clip_by_norm": lambda v: tf.clip_by_norm(v, 1.0),
        "clip_by_global_norm": lambda v: tf.clip_by_global_norm([v, v], 1.0)[0][0],
        "global_norm": lambda v: tf.linalg.global_norm([v, v]),
        "gather": lambda v: tf.convert_to_tensor(tf.gather(v, [0, 1], axis=1)),
        "lookup": lambda v: tf.nn.embedding_lookup(v, [0, 1]),
        "gather_nd": lambda v: tf.gather_nd(v, [[0, 1]]),
        "pad": lambda v: tf.pad(v, [[1, 1], [0, 0]]),
        "tile": lambda v: tf.tile(v, [2, 1]),
        "unstack": lambda v: tf.unstack(v)[0],
        "split": lambda v: tf.split(v, 2)[0],
        "transpose": lambda v: tf.transpose(v),
        "reshape": lambda v: tf.reshape(v, [-1]),
        "slice": lambda v: v[:1] * 2.0,
        "identity": lambda v: tf.identity(v),
        "convert": lambda v: tf.convert_to_tensor(v),
        "cast": lambda v: tf.cast(v, tf.float64),
        "reduce": lambda v: tf.reduce_logsumexp(v, 0),
        "cumsum": lambda v: tf.cumsum(v),
        "sort": lambda v: tf.sort(v),
        "topk": lambda v: tf.math.top_k(v, 1)[0],
        "scatter": lambda v: tf.scatter_nd([[0]], v[:1], [3, 2]),
        "tensor_scatter_nd_update": lambda v: tf.tensor_scatter_nd_update(v, [[0]], [[1.0, 1.0]]),
        "scan": lambda v: tf.scan(lambda a, b: a * b, v),
        "scan_init": lambda v: tf.scan(lambda a, b: a * b, tf.ones([2, 2, 2]), initializer=v),
        "foldr": lambda v: tf.foldr(lambda a, b: a * b, v),
        "foldl_init": lambda v: tf.foldl(lambda a, b: a * b, tf.ones([2, 2, 2]), initializer=v),
        "tensor_array": lambda v: tf.TensorArray(tf.float32, 2).write(0, v).write(1, v).stack(),
        "ta_unstack": lambda v: tf.TensorArray(tf.float32, 2).unstack(v).read(0),
        "function_argument": lambda v: tf.function(lambda x: x * 2.0)(v),
        "function_capture": lambda v: tf.function(lambda: v * 2.0)(),
        "function_list": lambda v: tf.function(lambda pair: pair[0] * pair[1])([v, v]),
        "custom": lambda v: tf.custom_gradient(lambda x: (x * 2.0, lambda d: d * 2.0))(v),
        "ragged": lambda v: tf.RaggedTensor.from_row_splits(v, [0, 1, 2]).flat_values * 2.0,
        "stack_beside_a_tensor": lambda v: tf.stack([v, tf.ones([2, 2])])[0],
        "meshgrid": lambda v: tf.meshgrid(v, v)[0],
        "conv2d": lambda v: tf.nn.conv2d(
            tf.ones([1, 2, 2, 1]), tf.reshape(v, [2, 2, 1, 1]), 1, "SAME"
        ),
        "batch_normalization": lambda v: tf.nn.batch_normalization(v, v, v, v, v, 0.1),
        "l2_loss": lambda v: tf.nn.l2_loss(v),
        "l2_normalize": lambda v: tf.nn.l2_normalize(v),
        "dropout": lambda v: tf.nn.dropout(v, 0.0),
        "bias": lambda v: tf.nn.bias_add(tf.ones([2, 2]), v[0]),
        "boolean_mask": lambda v: tf.boolean_mask(v, [True, False]),
        "dynamic_partition": lambda v: tf.dynamic_partition(v, [0, 1], 2)[0],
        "dynamic_stitch": lambda v: tf.dynamic_stitch([[0], [1]], [v[:1], v[1:]]),
        "segment_sum": lambda v: tf.math.segment_sum(v, [0, 0]),
        "unsorted_segment_sum": lambda v: tf.math.unsorted_segment_sum(v, [0, 1], 2),
        "onehot": lambda v: tf.one_hot([0], 2) * v,
        "fill": lambda v: tf.fill([2], v[0, 0]),
        "broadcast_to": lambda v: tf.broadcast_to(v, [2, 2, 2]),
        "multiply_no_nan": lambda v: tf.math.multiply_no_nan(v, v),
        "polyval": lambda v: tf.math.polyval([v, v], 2.0),
        "fft": lambda v: tf.abs(tf.signal.rfft(v)),
        "band": lambda v: tf.linalg.band_part(v, 0, -1),
        "diag": lambda v: tf.linalg.diag_part(v),
        "seqmask": lambda v: tf.sequence_mask([1, 2], 2, dtype=tf.float32) * v,
        "print": lambda v: (tf.print("", v, output_stream="file:///dev/null"), v * 1.0)[1],
        "ensure": lambda v: tf.ensure_shape(v, [2, 2]),
        "stop_gradient": lambda v: v + tf.stop_gradient(v),
        "check_numerics": lambda v: tf.debugging.check_numerics(v, ""),
        "roll": lambda v: tf.roll(v, 1, 0),
        "reverse": lambda v: tf.reverse(v, [0]),
        "vmap_cap": lambda v: tf.vectorized_map(lambda r: tf.reduce_sum(r * v), tf.ones([2, 2, 2])),
        "map_tuple": lambda v: tf.map_fn(
            lambda t: t[0] * t[1], (v, v), fn_output_signature=tf.float32
        ),
        "optional": lambda v: tf.experimental.Optional.from_value(v * 1.0).get_value(),
        "vectorized_map": lambda v: tf.vectorized_map(lambda r: r * 2.0, v),
        "map_fn": lambda v: tf.map_fn(lambda r: r * 2.0, v),
        "foldl": lambda v: tf.foldl(lambda a, r: a + r * 2.0, v),
        "map_of_rows_gathered": lambda v: tf.vectorized_map(
            lambda i: tf.gather(v, i), tf.constant([0, 1, 1])
        ),
    }


def gradient(tf: Any, name: str, traced: bool) -> Any:
    variable = tf.Variable([[1.0, 2.0], [3.0, 5.0]])
    function = functions(tf)[name]

    def run() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(function(variable))
        found = tape.gradient(loss, variable)
        return None if found is None else tf.convert_to_tensor(found)

    found = (tf.function(run) if traced else run)()
    return None if found is None else found.numpy()


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
@pytest.mark.parametrize("name", functions(graven))
def test_a_variable_has_the_gradient_that_it_has_in_tensorflow(name: str, traced: bool) -> None:
    ours, theirs = gradient(graven, name, traced), gradient(tensorflow, name, traced)
    assert (ours is None) == (theirs is None)
    if ours is not None:
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-6)
