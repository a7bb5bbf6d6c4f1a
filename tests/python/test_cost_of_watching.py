"""What watching costs a trace: its own steps are counted, so that no other load disturbs."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import graven as tf


class Layer:
    def __init__(self) -> None:
        self.w = tf.Variable(1.0)
        self.activation: Any = None
        self.flag = True
        self.inner: Any = None

    def __call__(self, x: Any) -> Any:
        if self.flag:
            x = x * self.w
        if self.activation is not None:
            x = self.activation(x)
        if self.inner is not None:
            x = self.inner(x)
        return x


class Model:
    def __init__(self, layers: int) -> None:
        self.layers = [Layer() for _ in range(layers)]

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


def _calls_of_watching(layers: int) -> int:
    """The calls of Python functions that watching makes while a model is traced."""
    model = Model(layers)
    f = tf.function(lambda x: model(x))
    calls = 0

    def count(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal calls
        calls += event == "call" and "_captures" in frame.f_code.co_filename

    sys.setprofile(count)
    try:
        f(tf.constant(1.0))
    finally:
        sys.setprofile(None)
    return calls


def test_a_layer_costs_a_few_steps() -> None:
    _calls_of_watching(1)  # reads the byte code
    small, large = _calls_of_watching(100), _calls_of_watching(200)
    assert (large - small) / 100 < 60
    assert large < 200 * 100
