"""The inputs of the workloads: the same numbers on every system."""

import itertools
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]

MLP_SIZES = (784, 512, 512, 10)
MLP_BATCH = 128
CNN_BATCH = 64
CNN_POOLED = 7 * 7 * 64
CLASSES = 10
INTEGER_STEPS = 40
LSTM_STEPS, LSTM_BATCH, LSTM_INPUT, LSTM_STATE = 100, 16, 64, 128
BLOCK_BATCH, BLOCK_LENGTH, BLOCK_WIDTH, BLOCK_HEADS, BLOCK_HIDDEN = 8, 128, 256, 8, 1024
LENGTHS = range(1, 301)
LENGTHS_WIDTH = 64
EPSILON = 1e-5

# Adam and SGD as every system writes them.
ADAM_RATE, ADAM_BETA_1, ADAM_BETA_2, ADAM_EPSILON = 1e-4, 0.9, 0.999, 1e-7
SGD_RATE = 0.01


def normal(seed: int, *shape: int, scale: float = 1.0) -> Floats:
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def uniform(seed: int, *shape: int) -> Floats:
    return np.random.default_rng(seed).random(shape, dtype=np.float32)


def labels(seed: int, count: int) -> NDArray[np.int32]:
    return np.random.default_rng(seed).integers(0, CLASSES, count).astype(np.int32)


def twenty() -> list[Floats]:
    return [normal(seed, 4) for seed in range(20)]


def integers() -> NDArray[np.int32]:
    return np.random.default_rng(0).integers(-(2**31), 2**31, 16).astype(np.int32)


def divisors() -> NDArray[np.int32]:
    return np.full(16, 3, np.int32)


def fused() -> list[Floats]:
    return [normal(seed, 1 << 24) for seed in range(3)]


def softmax() -> Floats:
    return normal(0, 4096, 1000)


def softmax_of_short_rows() -> Floats:
    return normal(0, 10_000, 100)


def layer_norm() -> tuple[Floats, Floats, Floats]:
    return normal(0, 512, 768), 1.0 + normal(1, 768, scale=0.1), normal(2, 768, scale=0.1)


def matmul() -> tuple[Floats, Floats, Floats]:
    return normal(0, 1024, 1024), normal(1, 1024, 1024), normal(2, 1024)


def mlp() -> tuple[Floats, NDArray[np.int32], list[Floats]]:
    """Images, labels, and weight and bias of each layer in turn."""
    parameters = []
    for layer, (rows, columns) in enumerate(itertools.pairwise(MLP_SIZES)):
        parameters.append(normal(layer, rows, columns, scale=(2.0 / rows) ** 0.5))
        parameters.append(np.zeros(columns, np.float32))
    return uniform(10, MLP_BATCH, MLP_SIZES[0]), labels(11, MLP_BATCH), parameters


def cnn() -> tuple[Floats, NDArray[np.int32], list[Floats]]:
    """Images in NHWC, labels, filters in HWIO with biases, weight and bias of the dense layer."""
    parameters = [
        normal(0, 3, 3, 1, 32, scale=(2.0 / 9) ** 0.5),
        np.zeros(32, np.float32),
        normal(1, 3, 3, 32, 64, scale=(2.0 / 288) ** 0.5),
        np.zeros(64, np.float32),
        normal(2, CNN_POOLED, CLASSES, scale=(1.0 / CNN_POOLED) ** 0.5),
        np.zeros(CLASSES, np.float32),
    ]
    return uniform(10, CNN_BATCH, 28, 28, 1), labels(11, CNN_BATCH), parameters


def lstm() -> tuple[Floats, Floats, Floats, Floats]:
    """Input [batch, step, feature], weights of input and state, bias; gates i, f, g, o in turn."""
    return (
        normal(0, LSTM_BATCH, LSTM_STEPS, LSTM_INPUT),
        normal(1, LSTM_INPUT, 4 * LSTM_STATE, scale=LSTM_INPUT**-0.5),
        normal(2, LSTM_STATE, 4 * LSTM_STATE, scale=LSTM_STATE**-0.5),
        normal(3, 4 * LSTM_STATE, scale=0.1),
    )


LOOP_LENGTH = np.array(10_000, np.int32)
MILLION = np.array(1_000_000, np.int32)
ONE_ELEMENT = np.array([0.5], np.float32)
COLLATZ_START = np.array(77_031, np.int32)
COLLATZ_STARTS = np.array(11_000, np.int32)  # those below it take 942 000 steps together
BEAM_LETTERS, BEAM_WIDTH, BEAM_STEPS = 64, 8, 32
ROWS, ROW_WIDTH = 10_000, 16
IFS = 50


def beam_search() -> Floats:
    """The logarithms of the chances of a letter after two others."""
    logits = normal(0, BEAM_LETTERS, BEAM_LETTERS, BEAM_LETTERS)
    sums: Floats = np.log(np.exp(logits).sum(axis=2, keepdims=True))
    return logits - sums


def rows() -> Floats:
    return normal(0, ROWS, ROW_WIDTH)


def jacobian() -> tuple[Floats, list[Floats]]:
    """One image, and weight and bias of each layer in turn."""
    images, _, parameters = mlp()
    return images[:1], parameters


def hvp() -> tuple[Floats, NDArray[np.int32], list[Floats], list[Floats]]:
    """The MLP's images, labels and parameters, and how these change."""
    images, numbers, parameters = mlp()
    tangents = [normal(20 + i, *value.shape) for i, value in enumerate(parameters)]
    return images, numbers, parameters, tangents


def transformer() -> tuple[Floats, dict[str, Floats]]:
    """Input [batch, position, width] and the parameters of a block that normalises first."""
    width, hidden = BLOCK_WIDTH, BLOCK_HIDDEN
    parameters: dict[str, Any] = {
        "scale_1": 1.0 + normal(1, width, scale=0.1),
        "shift_1": normal(2, width, scale=0.1),
        "qkv": normal(3, width, 3 * width, scale=width**-0.5),
        "project": normal(4, width, width, scale=width**-0.5),
        "scale_2": 1.0 + normal(5, width, scale=0.1),
        "shift_2": normal(6, width, scale=0.1),
        "up": normal(7, width, hidden, scale=width**-0.5),
        "up_bias": normal(8, hidden, scale=0.1),
        "down": normal(9, hidden, width, scale=hidden**-0.5),
        "down_bias": normal(10, width, scale=0.1),
    }
    return normal(0, BLOCK_BATCH, BLOCK_LENGTH, width), parameters


def lengths() -> tuple[list[Floats], Floats]:
    width = LENGTHS_WIDTH
    return [normal(n, n, width) for n in LENGTHS], normal(0, width, width, scale=width**-0.5)


def moments(results: Iterable[NDArray[Any]]) -> list[float]:
    """Numbers that tell results apart: mean and mean of squares of each."""
    values = []
    for result in results:
        array = result.astype(np.float64)
        values += [float(array.mean()), float((array * array).mean())]
    return values


def of_eager_calls() -> dict[str, NDArray[Any]]:
    """The operands of small eager calls: images as [batch, height, width, channels]."""
    return {
        "x": normal(0, 4, 4),
        "y": normal(1, 4, 4),
        "mask": normal(2, 4, 4) > 0,
        "image": normal(3, 1, 4, 4, 1),
        "filters": normal(4, 3, 3, 1, 1),
        "indices": np.array([2, 0, 3, 1], np.int32),
    }
