"""Local response normalization, and fake quantization.

TensorFlow is the reference.
"""

from typing import Any

import numpy as np

from ops.sample import Sample, Wrong, float32

IMAGE = np.random.default_rng(1).normal(size=(2, 2, 3, 7)).tolist()
MORE = np.random.default_rng(2).normal(size=(2, 2, 3, 7)).tolist()
RADIUS: Any = {"depth_radius": 2, "bias": 1.5, "alpha": 0.3, "beta": 0.75}
PLAIN_ROOT: Any = {"depth_radius": 9, "bias": 2.0, "alpha": 1.0, "beta": 0.5}


def _lrn(x: Any, depth_radius: int, bias: float, alpha: float, beta: float) -> Any:
    last = x.shape[-1]
    near = np.abs(np.subtract.outer(np.arange(last), np.arange(last))) <= depth_radius
    return x * (bias + alpha * (x * x @ near.astype(x.dtype))) ** -beta


def _lrn_grad(dy: Any, x: Any, y: Any, depth_radius: int, **attrs: Any) -> Any:
    last = x.shape[-1]
    near = (np.abs(np.subtract.outer(np.arange(last), np.arange(last))) <= depth_radius).astype(
        x.dtype
    )
    norms = attrs["bias"] + attrs["alpha"] * (x * x @ near)
    sums = (dy * y / norms) @ near
    return dy * norms ** -attrs["beta"] - 2 * attrs["alpha"] * attrs["beta"] * x * sums


def _rows(op: str, inputs: Any, reference: Any, attrs: Any) -> list[Sample]:
    allowed = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 3e-6}
    return [
        Sample(
            op,
            inputs,
            reference,
            (dtype,),
            attrs=attrs,
            tolerance=tolerance,
            beside_tensorflow="float16 and float32 only" if dtype == "bfloat16" else "",
        )
        for dtype, tolerance in allowed.items()
    ]


X = float32([[-9.0, -6.0, -0.51, 0.0], [0.26, 5.99, 7.0, np.nan], [0.1, 1.49, -3.3, 2.2]])
DY = float32([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]])
LOW, HIGH = float32([-3.0, -6.1, 0.0, 0.5]), float32([3.5, 0.2, 0.0, 4.0])
NARROW: Any = {"min": -1.0, "max": 3.3, "num_bits": 4, "narrow_range": True}
SHORT_RANGE: Any = {"num_bits": 4, "narrow_range": True}
ONE_LOW, ONE_HIGH = np.float32(-2.7), np.float32(4.1)
ZERO = np.float32(0.0)

SAMPLES = [
    *_rows("LRN", (IMAGE,), _lrn, RADIUS),
    *_rows("LRN", (IMAGE,), _lrn, PLAIN_ROOT),
    *_rows("LRNGrad", (MORE, IMAGE, _lrn(np.array(IMAGE), **RADIUS).tolist()), _lrn_grad, RADIUS),
    Sample("FakeQuantWithMinMaxArgs", (X,)),
    Sample("FakeQuantWithMinMaxArgs", (X,), attrs=NARROW),
    Sample("FakeQuantWithMinMaxArgsGradient", (DY, X)),
    Sample("FakeQuantWithMinMaxArgsGradient", (DY, X), attrs=NARROW),
    Sample("FakeQuantWithMinMaxVars", (X, ONE_LOW, ONE_HIGH)),
    Sample("FakeQuantWithMinMaxVars", (X, ZERO, ZERO), attrs={"num_bits": 3}),
    # Of one number.
    Sample("FakeQuantWithMinMaxVarsGradient", (0.5, 0.25, ONE_LOW, ONE_HIGH)),
    Sample("FakeQuantWithMinMaxVarsGradient", (DY, X, ONE_LOW, ONE_HIGH), attrs={"num_bits": 4}),
    Sample("FakeQuantWithMinMaxVarsGradient", (DY, X, ZERO, ZERO)),
    Sample("FakeQuantWithMinMaxVarsPerChannel", (X, LOW, HIGH), attrs=SHORT_RANGE),
    Sample("FakeQuantWithMinMaxVarsPerChannelGradient", (DY, X, LOW, HIGH), attrs=SHORT_RANGE),
]

WRONG = [
    Wrong("LRN", (np.ones((2, 3), np.float32),), "must be 4-dimensional"),
    Wrong("FakeQuantWithMinMaxArgs", (X,), "min has to be smaller than max", attrs={"min": 6.0}),
    Wrong(
        "FakeQuantWithMinMaxArgs", (X,), "num_bits must be between 2 and 16", attrs={"num_bits": 1}
    ),
    Wrong("FakeQuantWithMinMaxVars", (X, LOW, HIGH), "must be rank 0 but is rank 1"),
    Wrong(
        "FakeQuantWithMinMaxVarsPerChannel",
        (X, LOW[:3], HIGH),
        "min has incorrect size, expected 4 was 3",
    ),
]
