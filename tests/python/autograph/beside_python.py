"""Holds what a traced program gives against what Python gives for the same program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graven as tf
import pytest


def check_values(f: Callable[..., Any], values: list[float]) -> None:
    """Compares results, for a vector of known and of unknown length."""
    x = tf.constant(values)
    expected = f(x).numpy()
    for g in (tf.function(f), tf.function(f, input_signature=[tf.TensorSpec([None])])):
        found = g(x).numpy()
        assert found.shape == expected.shape
        assert list(found.flat) == pytest.approx(list(expected.flat))


def check_gradients(f: Callable[..., Any], values: list[float], unconnected: str = "none") -> None:
    """Compares first and second gradients; `unconnected` is what stands for none."""
    x = tf.constant(values)
    gradients = []
    for function in (f, tf.function(f)):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.tanh(function(x) * 0.25)
            first = tape.gradient(y, x, unconnected_gradients=unconnected)
        second = outer.gradient(first, x, unconnected_gradients=unconnected)
        gradients.append([*first.numpy(), *second.numpy()])
    assert gradients[1] == pytest.approx(gradients[0], rel=1e-5, abs=1e-6)
