"""Discrete Fourier transforms."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ops.sample import COMPLEX, Sample, Wrong, int32

Array = NDArray[Any]

VECTOR = [1 + 2j, -3j, 0.5, 2 - 1j, -1.5 + 0.25j, 4, 1j]  # of a prime length
MATRIX = [VECTOR[:4], VECTOR[1:5], VECTOR[3:]]
VOLUME = [MATRIX, [row[::-1] for row in MATRIX]]
REALS = [[1, -2, 3, 0.5, 4], [0.25, -4, 2, 1, -1]]
PRECISIONS = (("float32", "complex64"), ("float64", "complex128"))
SMOOTH: Any = [[0.5 + 1j, -2j, 1], [3 - 0.25j, -1 - 1j, 2]]


def _over(f: Any, axes: int) -> Any:
    return lambda x: f(x, axes=range(-axes, 0))


def _real(axes: int) -> Any:
    return lambda x, n, Tcomplex: np.fft.rfftn(x, n, range(-axes, 0))  # noqa: N803


def _real_inverse(axes: int) -> Any:
    return lambda x, n, Treal: np.fft.irfftn(x, n, range(-axes, 0))  # noqa: N803


SAMPLES = [
    *[
        Sample(
            op + suffix, (x,), _over(f, axes), COMPLEX, tolerance=1e-6, smooth_at=(smooth,)
        )
        for op, f in (("FFT", np.fft.fftn), ("IFFT", np.fft.ifftn))
        for suffix, axes, x, smooth in (
            ("", 1, VECTOR, SMOOTH),
            ("2D", 2, MATRIX, SMOOTH),
            ("3D", 3, VOLUME, [SMOOTH]),
        )
    ],
    *[
        Sample(op, ([k + 1j for k in range(n)],), _over(f, 1), COMPLEX, tolerance=1e-6)
        for op, f in (("FFT", np.fft.fftn), ("IFFT", np.fft.ifftn))
        for n in (1, 2, 30, 37, 128)
    ],
    *[Sample(op, ([[], []],), lambda x: x, COMPLEX) for op in ("FFT", "IFFT")],
    *[
        Sample(
            "RFFT" + suffix, (x, int32(n)), _real(len(n)), (real,), attrs={"Tcomplex": whole},
            tolerance=1e-6, smooth_at=(x, int32(n)) if real == "float64" else None,
        )
        for real, whole in PRECISIONS
        for suffix, x, n in (
            ("", REALS, [5]), ("", REALS, [4]), ("", REALS, [1]), ("2D", REALS, [2, 4]),
            ("2D", REALS, [1, 5]), ("3D", [REALS, REALS, REALS], [2, 2, 3]),
        )
    ],
    *[
        Sample(
            "IRFFT" + suffix, (x, int32(n)), _real_inverse(len(n)), (whole,), attrs={"Treal": real},
            tolerance=1e-6, smooth_at=(x, int32(n)) if real == "float64" else None,
        )
        for real, whole in PRECISIONS
        for suffix, x, n in (
            ("", MATRIX, [6]), ("", MATRIX, [5]), ("", MATRIX, [2]), ("2D", MATRIX, [3, 6]),
            ("2D", MATRIX, [2, 7]), ("3D", VOLUME, [2, 3, 6]),
        )
    ],
    Sample(
        "RFFT", (REALS, int32([0])), lambda x, n, Tcomplex: np.zeros((2, 0)),  # noqa: N803
        attrs={"Tcomplex": "complex64"}, beside_tensorflow="TensorFlow aborts",
    ),
]  # fmt: skip
WRONG = [
    Wrong("FFT", (np.complex64(1),), "Input must have rank of at least 1 but got: []"),
    Wrong("FFT3D", (np.ones((2, 2), np.complex64),), "Input must have rank of at least 3"),
    Wrong("RFFT", (np.array(REALS, np.float32), int32([2, 3])), "fft_length must have shape [1]"),
    Wrong(
        "RFFT", (np.array(REALS, np.float32), int32([-1])), "fft_length[0] must >= 0, but got: -1"
    ),
    Wrong(
        "RFFT", (np.array(REALS, np.float32), int32([6])),
        "Input dimension 1 must have length of at least 6 but got: 5",
    ),
    Wrong("RFFT", (np.array(REALS, np.float64), int32([5])), "Wrong types for forward real FFT"),
    Wrong(
        "IRFFT", (np.array(MATRIX, np.complex128), int32([5])), "Wrong types for backward real FFT"
    ),
    Wrong(
        "IRFFT2D", (np.array(MATRIX, np.complex64), int32([4, 5])),
        "Input dimension 0 must have length of at least 4 but got: 3",
    ),
]  # fmt: skip
