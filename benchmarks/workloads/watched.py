"""Bodies that read 20 values of Python's, which a Function may watch."""

from typing import Any


class Layer:
    """Something with an attribute."""

    def __init__(self, rate: float) -> None:
        self.rate = rate


rate_0 = 0.0
rate_1 = 0.1
rate_2 = 0.2
rate_3 = 0.3
rate_4 = 0.4
rate_5 = 0.5
rate_6 = 0.6
rate_7 = 0.7
rate_8 = 0.8
rate_9 = 0.9
rate_10 = 1.0
rate_11 = 1.1
rate_12 = 1.2
rate_13 = 1.3
rate_14 = 1.4
rate_15 = 1.5
rate_16 = 1.6
rate_17 = 1.7
rate_18 = 1.8
rate_19 = 1.9
layer_0 = Layer(0.0)
layer_1 = Layer(0.1)
layer_2 = Layer(0.2)
layer_3 = Layer(0.3)
layer_4 = Layer(0.4)
layer_5 = Layer(0.5)
layer_6 = Layer(0.6)
layer_7 = Layer(0.7)
layer_8 = Layer(0.8)
layer_9 = Layer(0.9)
layer_10 = Layer(1.0)
layer_11 = Layer(1.1)
layer_12 = Layer(1.2)
layer_13 = Layer(1.3)
layer_14 = Layer(1.4)
layer_15 = Layer(1.5)
layer_16 = Layer(1.6)
layer_17 = Layer(1.7)
layer_18 = Layer(1.8)
layer_19 = Layer(1.9)
changing = 0


def of_globals(x: Any) -> Any:
    """Adds 20 globals."""
    first = rate_0 + rate_1 + rate_2 + rate_3 + rate_4 + rate_5 + rate_6 + rate_7 + rate_8 + rate_9
    second = (
        rate_10
        + rate_11
        + rate_12
        + rate_13
        + rate_14
        + rate_15
        + rate_16
        + rate_17
        + rate_18
        + rate_19
    )
    return x + (first + second)


def of_objects(x: Any) -> Any:
    """Adds an attribute of each of 20 objects."""
    a = layer_0.rate + layer_1.rate + layer_2.rate + layer_3.rate + layer_4.rate
    b = layer_5.rate + layer_6.rate + layer_7.rate + layer_8.rate + layer_9.rate
    c = layer_10.rate + layer_11.rate + layer_12.rate + layer_13.rate + layer_14.rate
    d = layer_15.rate + layer_16.rate + layer_17.rate + layer_18.rate + layer_19.rate
    return x + (a + b + c + d)


def change() -> None:
    """Changes a global that no body reads."""
    global changing
    changing += 1
