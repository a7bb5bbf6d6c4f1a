"""Activations, biases, softmax, losses and normalisation."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ops.sample import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    REAL,
    REAL_FLOATS,
    Sample,
    Wrong,
    float32,
    int32,
    numpy_dtype,
)

Array = NDArray[Any]

INF, NAN = math.inf, math.nan
ALL = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 3.25, 5.5, 7.0, -7.0, 20.5, -20.5, INF, -INF, NAN]
FINITE = [x for x in ALL if math.isfinite(x)]
NUMBERS = [0, 1, 2, 5, 6, 7, 100]
DY = [2.0, -1.5, 0.5, 3.0, -4.0, 1.0, -2.5, 6.0, 0.25, 1.5, -3.0, 2.0]
SCALE, ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
LOGITS = [[0.5, -1.0, 3.0, 2.0], [-4.0, 0.25, 0.0, 7.0], [1.0, 1.0, 1.0, 1.0]]
LABELS = [[0.5, 0.25, 0.25, 0.0], [0.0, 0.0, 1.0, 0.0], [0.125, 0.125, 0.5, 0.25]]


SMOOTH = [[0.3, -1.2, 2.5, 7.5], [-4.0, 1.1, 5.5, -0.4]]
SMOOTH_DY = [[1.0, -2.0, 0.5, 3.0], [0.25, 1.5, -1.0, 2.0]]


def _activation(op: str, f: Callable[[Array], Any], dtypes: Any = FLOATS, ulp: float = 0) -> Sample:
    return Sample(op, (ALL,), f, dtypes, ulp=ulp, is_elementwise=True, smooth_at=(SMOOTH,))


def _grad(op: str, f: Callable[..., Any], ulp: float = 0, dtypes: Any = FLOATS) -> Sample:
    return Sample(op, (DY, FINITE), f, dtypes, ulp=ulp, smooth_at=(SMOOTH_DY, SMOOTH))


def _leaky(x: Array, alpha: float = 0.2) -> Array:
    return np.where(x > 0, x, x * np.float64(float32(alpha)))


def _leaky_grad(dy: Array, x: Array, alpha: float = 0.2) -> Array:
    return np.where(x > 0, dy, dy * np.float64(float32(alpha)))


def _bias_add(x: Array, bias: Array, data_format: str = "NHWC") -> Array:
    if data_format == "NCHW":
        return x + bias.reshape(-1, *[1] * (x.ndim - 2))
    return x + bias


def _bias_add_grad(dy: Array, data_format: str = "NHWC") -> Array:
    channels = 1 if data_format == "NCHW" else dy.ndim - 1
    return np.asarray(dy.sum(tuple(i for i in range(dy.ndim) if i != channels)))


def _log_softmax(x: Array) -> Array:
    shifted = x - x.max(-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)))


def _softmax(x: Array) -> Array:
    exponentials = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(-1, keepdims=True))


def _rows(op: str, inputs: tuple[Any, ...], reference: Callable[..., Any]) -> list[Sample]:
    """Results that are differences: exact in proportion to the largest of them."""
    allowed = {"float64": 1e-15, "float32": 5e-7, "float16": 1e-3, "bfloat16": 8e-3}
    return [
        Sample(
            op,
            inputs,
            reference,
            (dtype,),
            tolerance=allowed[dtype],
            smooth_at=inputs if dtype == "float64" else None,
        )
        for dtype in FLOATS
    ]


def _cross_entropy(x: Array, labels: Array) -> tuple[Array, Array]:
    return -(labels * _log_softmax(x)).sum(-1), _softmax(x) - labels


def _sparse_cross_entropy(x: Array, labels: Array) -> tuple[Array, Array]:
    return _cross_entropy(x, np.eye(x.shape[1])[labels])


def _in_top_k(predictions: Array, targets: Array, k: Array) -> Array:
    def is_in(row: Array, target: int) -> bool:
        if not 0 <= target < len(row) or not np.isfinite(row).all():
            return False
        return bool((row > row[target]).sum() < k)

    return np.array([is_in(row, target) for row, target in zip(predictions, targets, strict=True)])


def _moved(x: Array, data_format: str) -> Array:
    return np.moveaxis(x, 1, -1) if data_format == "NCHW" else x


def _batch_norm(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    epsilon: float = 1e-4,
    exponential_avg_factor: float = 1.0,
    data_format: str = "NHWC",
    is_training: bool = True,
) -> tuple[Array, ...]:
    images = _moved(x, data_format)
    axes = tuple(range(images.ndim - 1))
    out_mean, out_variance = mean, variance
    if is_training:
        count, factor = images[..., 0].size, exponential_avg_factor
        old_mean, old_variance = (mean, variance) if factor != 1 else (0.0, 0.0)
        mean, variance = images.mean(axes), images.var(axes)
        out_mean = (1 - factor) * old_mean + factor * mean
        out_variance = (1 - factor) * old_variance + factor * variance * count / (count - 1)
    y = (images - mean) / np.sqrt(variance + epsilon) * scale + offset
    y = np.moveaxis(y, -1, 1) if data_format == "NCHW" else y
    return y, out_mean, out_variance, mean, variance, np.zeros(0)


def _batch_norm_grad(
    dy: Array,
    x: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    _: Array,
    epsilon: float = 1e-4,
    data_format: str = "NHWC",
    is_training: bool = True,
) -> tuple[Array, ...]:
    dy, x = _moved(dy, data_format), _moved(x, data_format)
    axes = tuple(range(x.ndim - 1))
    inverse = 1 / np.sqrt(variance + epsilon)
    normal = (x - mean) * inverse
    dx = dy
    if is_training:
        dx = dy - dy.mean(axes) - normal * (dy * normal).mean(axes)
    dx = scale * inverse * dx
    dx = np.moveaxis(dx, -1, 1) if data_format == "NCHW" else dx
    return dx, (dy * normal).sum(axes), dy.sum(axes), np.zeros(()), np.zeros(())


def _batch_norms() -> list[Sample]:
    generator = np.random.default_rng(1)
    none = np.zeros(0, np.float32)
    scale, offset, mean = generator.uniform(-1, 1, (3, 3)).astype(np.float32)
    variance = generator.uniform(0.5, 2, 3).astype(np.float32)
    rows = []
    for data_format, shape in (("NHWC", (2, 4, 5, 3)), ("NCHW", (2, 3, 4, 5))):
        x, dy = generator.uniform(-1, 1, (2, *shape)).astype(np.float32)
        for attrs in ({}, {"is_training": False}, {"exponential_avg_factor": 0.25}):
            given = (mean, variance) if attrs else (none, none)
            rows.append(
                Sample(
                    "FusedBatchNormV3",
                    (x, scale, offset, *given),
                    _batch_norm,
                    attrs={"epsilon": 0.01, "data_format": data_format, **attrs},
                    tolerance=1e-6,
                )
            )
        for short, allowed in (("float16", 2e-3), ("bfloat16", 1e-2)):
            narrow, narrow_dy = x.astype(numpy_dtype(short)), dy.astype(numpy_dtype(short))
            shared: dict[str, Any] = {"epsilon": 0.01, "data_format": data_format}
            beside = "the outputs that it reserves are shaped otherwise, for bfloat16 by the CPU"
            rows += [
                Sample(
                    "FusedBatchNormV3",
                    (narrow, scale, offset, none, none),
                    _batch_norm,
                    attrs=shared,
                    tolerance=allowed,
                    beside_tensorflow=beside,
                ),
                Sample(
                    "FusedBatchNormGradV3",
                    (narrow_dy, narrow, scale, mean, variance, none),
                    _batch_norm_grad,
                    attrs={**shared, "is_training": True},
                    tolerance=allowed,
                    beside_tensorflow=beside,
                ),
            ]
        for training in (True, False):
            rows.append(
                Sample(
                    "FusedBatchNormGradV3",
                    (dy, x, scale, mean, variance, none),
                    _batch_norm_grad,
                    tolerance=2e-6,
                    attrs={"epsilon": 0.01, "data_format": data_format, "is_training": training},
                )
            )
    return rows


SAMPLES = [
    _activation("Relu", lambda x: np.maximum(x, 0)),
    Sample("Relu", (NUMBERS,), lambda x: np.maximum(x, 0), INTEGERS, is_elementwise=True),
    _grad("ReluGrad", lambda dy, x: np.where(x > 0, dy, 0)),
    Sample("ReluGrad", (NUMBERS, NUMBERS), lambda dy, x: np.where(x > 0, dy, 0), INTEGERS),
    _activation("Relu6", lambda x: np.minimum(np.maximum(x, 0), 6)),
    Sample("Relu6", (NUMBERS,), lambda x: np.clip(x, 0, 6), INTEGERS, is_elementwise=True),
    _grad("Relu6Grad", lambda dy, x: np.where((x > 0) & (x < 6), dy, 0)),
    Sample("Relu6Grad", (NUMBERS, NUMBERS), lambda dy, x: np.where((x > 0) & (x < 6), dy, 0), REAL),
    _activation("LeakyRelu", _leaky, ulp=0.5),
    Sample("LeakyRelu", (FINITE,), _leaky, FLOATS, {"alpha": 1.5}, ulp=0.5),
    _grad("LeakyReluGrad", _leaky_grad, ulp=0.5),
    _activation("Elu", lambda x: np.where(x < 0, np.expm1(x), x), ulp=3),
    _grad("EluGrad", lambda dy, y: np.where(y < 0, dy * (y + 1), dy), ulp=1),
    _activation("Selu", lambda x: SCALE * np.where(x < 0, ALPHA * np.expm1(x), x), ulp=4),
    _grad("SeluGrad", lambda dy, y: dy * np.where(y < 0, y + SCALE * ALPHA, SCALE), ulp=2),
    Sample(
        "Softplus",
        (FINITE,),
        lambda x: np.logaddexp(x, 0),
        FLOATS,
        ulp=4,
        is_elementwise=True,
        smooth_at=(SMOOTH,),
    ),
    _grad("SoftplusGrad", lambda dy, x: dy / (1 + np.exp(-x)), ulp=4),
    Sample(
        "Softsign",
        (FINITE,),
        lambda x: x / (1 + np.abs(x)),
        FLOATS,
        ulp=1,
        is_elementwise=True,
        smooth_at=(SMOOTH,),
    ),
    _grad("SoftsignGrad", lambda dy, x: dy / (1 + np.abs(x)) ** 2, ulp=2),
    *[
        Sample(
            "BiasAdd",
            (LOGITS, [1.0, 2.0, 0.5, -3.0]),
            _bias_add,
            dtypes,
            smooth_at=(SMOOTH, [1.0, 2.0, 0.5, -3.0]),
        )
        for dtypes in (FLOATS, COMPLEX)
    ],
    Sample(
        "BiasAdd",
        ([[[1, 2], [3, 4], [5, 6]]], [10, 20, 30]),
        _bias_add,
        REAL + COMPLEX,
        {"data_format": "NCHW"},
        smooth_at=([SMOOTH], [1.0, 2.0]),
    ),
    Sample(
        "BiasAddV1",
        ([[1, 2], [3, 4]], [10, 20]),
        _bias_add,
        REAL + COMPLEX,
        smooth_at=(SMOOTH, [1.0, 2.0, 0.5, -3.0]),
    ),
    *[
        Sample(
            "BiasAddGrad",
            ([[[1, 2], [3, 4], [5, 6]]],),
            _bias_add_grad,
            REAL + COMPLEX,
            {"data_format": data_format},
            smooth_at=([SMOOTH],),
        )
        for data_format in ("NHWC", "NCHW")
    ],
    Sample("Softmax", (LOGITS,), _softmax, FLOATS, ulp=4, smooth_at=(LOGITS,)),
    Sample("Softmax", ([1000.0, 1000.0, -INF],), _softmax, FLOATS),
    Sample("Softmax", ([[LOGITS]],), _softmax, REAL_FLOATS, ulp=4),
    *_rows("LogSoftmax", (LOGITS,), _log_softmax),
    *_rows("SoftmaxCrossEntropyWithLogits", (LOGITS, LABELS), _cross_entropy),
    *_rows("SoftmaxCrossEntropyWithLogits", (LOGITS, LABELS[1:2]), _cross_entropy),
    *[
        row
        for integer in (np.int32, np.int64)
        for row in _rows(
            "SparseSoftmaxCrossEntropyWithLogits",
            (LOGITS, np.array([2, 0, 3], integer)),
            _sparse_cross_entropy,
        )
    ],
    Sample("L2Loss", (LOGITS,), lambda x: (x**2).sum() / 2, FLOATS, ulp=1, smooth_at=(LOGITS,)),
    Sample(
        "InTopKV2",
        (
            float32([*LOGITS, [1, INF, 2, 3], [1, 2, 3, 4]]),
            int32([3, 2, 1, 0, 9]),
            np.array(2, np.int32),
        ),
        _in_top_k,
    ),
    Sample("InTopKV2", (float32(LOGITS), np.array([3, 2, 1]), np.array(2)), _in_top_k),
    *_batch_norms(),
]

WRONG = [
    Wrong("ReluGrad", (np.ones(2), np.ones(1)), "Inputs must have the same shape"),
    Wrong(
        "BiasAdd",
        (np.ones((2, 3)), np.ones(2)),
        "Must provide as many biases as the last dimension of the input tensor: [2] vs. [2,3]",
    ),
    Wrong("BiasAdd", (np.ones(3), np.ones(3)), "Input tensor must be at least 2D: [3]"),
    Wrong("BiasAdd", (np.ones((2, 3)), np.ones((1, 3))), "Biases must be 1D: [1,3]"),
    Wrong("BiasAdd", (np.ones((2, 3)), np.ones(3)), 'got "HWC"', attrs={"data_format": "HWC"}),
    Wrong("Softmax", (float32(1),), "logits must have >= 1 dimension"),
    Wrong(
        "SoftmaxCrossEntropyWithLogits",
        (np.ones((2, 3)), np.ones((2, 4))),
        "logits and labels must be broadcastable: logits_size=[2,3] labels_size=[2,4]",
    ),
    Wrong(
        "SparseSoftmaxCrossEntropyWithLogits",
        (np.ones((2, 3)), int32([1, 5])),
        "Received a label value of 5 which is outside the valid range of [0, 3).  Label values: "
        "1 5",
    ),
    Wrong(
        "SparseSoftmaxCrossEntropyWithLogits",
        (np.ones((2, 3)), int32([1])),
        "logits and labels must have the same first dimension, got logits shape [2,3] and labels "
        "shape [1]",
    ),
    Wrong(
        "SparseSoftmaxCrossEntropyWithLogits",
        (np.ones((2, 0)), int32([1, 1])),
        "Must have at least one class, but got logits shape [2,0]",
    ),
    Wrong("SparseSoftmaxCrossEntropyWithLogits", (np.ones(3), int32([1])), "logits must be 2-D"),
    Wrong(
        "InTopKV2",
        (np.ones((2, 3), np.float32), int32([1]), np.array(2, np.int32)),
        "First dimension of predictions 2 must match length of targets 1",
    ),
    Wrong(
        "FusedBatchNormV3",
        (np.ones((2, 2), np.float32), *[np.ones(2, np.float32)] * 4),
        "input must be 4-dimensional[2,2]",
    ),
]
