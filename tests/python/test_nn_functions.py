"""Functions of neural networks where TensorFlow on a CPU has nothing to be compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graven as tf
import numpy as np
import pytest


def test_a_table_in_a_list_has_a_sparse_gradient() -> None:
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        rows = tf.nn.embedding_lookup([table], [1, 1])
    assert rows.numpy().tolist() == [[3, 4], [3, 4]]
    assert isinstance(tape.gradient(rows, table), tf.IndexedSlices)


def test_several_tables_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="takes one tensor 'params', not 2"):
        tf.nn.embedding_lookup([tf.ones([2, 2]), tf.ones([2, 2])], [0])


def test_dropout_keeps_the_shape_of_its_input_where_the_choice_has_another() -> None:
    @tf.function(input_signature=[tf.TensorSpec([4, 3]), tf.TensorSpec(None, tf.int32)])
    def drop(x: tf.Tensor, sizes: tf.Tensor) -> tf.Tensor:
        y = tf.nn.dropout(x, 0.5, noise_shape=sizes, seed=1)
        assert y.shape == [4, 3]
        return y

    rows = drop(tf.ones([4, 3]), tf.constant([4, 1])).numpy()
    assert np.all(rows == rows[:, :1])
    assert set(rows.ravel()) <= {0.0, 2.0}


def test_a_none_of_a_noise_shape_is_the_size_when_it_runs() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def drop(x: tf.Tensor) -> tf.Tensor:
        return tf.nn.dropout(x, 0.5, noise_shape=[None, 1], seed=1)

    x = tf.ones([4, 3])
    tf.random.set_seed(1)
    eager = tf.nn.dropout(x, 0.5, noise_shape=[4, 1], seed=1).numpy()
    tf.random.set_seed(1)
    assert np.array_equal(drop(x).numpy(), eager)


@pytest.mark.parametrize("pool", [tf.nn.max_pool, tf.nn.avg_pool, tf.nn.max_pool1d])
def test_sequences_with_channels_second_are_pooled_as_others(pool: Callable[..., Any]) -> None:
    x = tf.reshape(tf.range(12.0) * tf.range(6.0, -6.0, -1.0), [1, 2, 6])
    turned = pool(tf.transpose(x, [0, 2, 1]), 3, 2, "SAME", "NWC")
    pooled = pool(x, 3, 2, "SAME", "NCW")
    assert np.array_equal(tf.transpose(turned, [0, 2, 1]).numpy(), pooled.numpy())


@pytest.mark.parametrize("pool", [tf.nn.max_pool, tf.nn.avg_pool, tf.nn.max_pool3d])
def test_volumes_with_channels_second_are_pooled_as_others(pool: Callable[..., Any]) -> None:
    x = tf.reshape(tf.range(48.0) * tf.range(24.0, -24.0, -1.0), [1, 2, 4, 3, 2])
    turned = pool(tf.transpose(x, [0, 2, 3, 4, 1]), 2, [1, 2, 1], "SAME", "NDHWC")
    pooled = pool(x, 2, [1, 2, 1], "SAME", "NCDHW")
    assert np.array_equal(tf.transpose(turned, [0, 4, 1, 2, 3]).numpy(), pooled.numpy())


def test_a_convolution_of_volumes_with_channels_second_is_that_of_others() -> None:
    x = tf.reshape(tf.range(48.0), [1, 2, 4, 3, 2])
    filters = tf.reshape(tf.range(24.0), [2, 2, 1, 2, 3])
    strides = [1, 2, 1]
    turned = tf.nn.conv3d(tf.transpose(x, [0, 2, 3, 4, 1]), filters, strides, "SAME")
    convolved = tf.nn.conv3d(x, filters, strides, "SAME", "NCDHW")
    assert np.array_equal(tf.transpose(turned, [0, 4, 1, 2, 3]).numpy(), convolved.numpy())


def test_the_gradient_of_a_pool_of_volumes_goes_to_all_of_the_largest() -> None:
    """As in TensorFlow, unlike that of a pool of images."""
    x = tf.constant([1.0, 3.0, 3.0, 2.0, 3.0, 0.0, 1.0, 2.0], shape=[1, 2, 2, 2, 1])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool(x, 2, 1, "VALID")
    assert tape.gradient(y, x).numpy().ravel().tolist() == [0, 1, 1, 0, 1, 0, 0, 0]
