"""References of functions that NumPy lacks, in long double, from their definitions.

Sources: Abramowitz and Stegun, Handbook of Mathematical Functions, 6.1.40 and 6.3.18 (Stirling's
series), 7.1.6 and 7.1.14 (the error function), 23.2.9 (Euler and Maclaurin's sum).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Real = np.longdouble
PI = Real("3.14159265358979323846264338327950288")
EULER = Real("0.57721566490153286060651209008240243")
SMALL = np.finfo(Real).eps

# Bernoulli's numbers B2, B4, ...
BERNOULLI = [
    Real(a) / Real(b)
    for a, b in [
        (1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510),
        (43867, 798), (-174611, 330), (854513, 138), (-236364091, 2730),
    ]
]  # fmt: skip


def each(f: Any) -> Any:
    """A function of numbers as one of arrays, in long double."""

    def of_arrays(*arrays: Any) -> Array:
        parts = np.broadcast_arrays(*[np.asarray(a).astype(Real) for a in arrays])
        with np.errstate(all="ignore"):
            flat = [f(*values) for values in zip(*[part.ravel() for part in parts], strict=True)]
        return np.array(flat, Real).reshape(parts[0].shape)

    return of_arrays


def _exp_of_minus_square(x: Any) -> Any:
    """exp(-x^2), whose argument would lose its last digits in one product."""
    if abs(x) > 120:
        return Real(0)
    high = Real(np.float32(x))
    return np.exp(-high * high) * np.exp(-(x - high) * (x + high))


def _erf_series(x: Any) -> Any:
    term = total = x
    n = 0
    while abs(term) > SMALL / 4 * abs(total):
        n += 1
        term = term * 2 * x * x / (2 * n + 1)
        total += term
    return 2 / np.sqrt(PI) * _exp_of_minus_square(x) * total


def _erfc_fraction(x: Any) -> Any:
    """The continued fraction of the tail, for x of 2 and more, from its 200th term back."""
    tail = x
    for n in range(200, 0, -1):
        tail = x + Real(n) / 2 / tail
    return _exp_of_minus_square(x) / np.sqrt(PI) / tail


def _erf(x: Any) -> Any:
    if not np.isfinite(x):
        return np.sign(x)
    return _erf_series(x) if abs(x) < 2 else np.sign(x) * (1 - _erfc_fraction(abs(x)))


def _erfc(x: Any) -> Any:
    if not np.isfinite(x):
        return 1 - np.sign(x)
    return _erfc_fraction(x) if x >= 2 else 1 - _erf(x)


def _newton(x: Any, step_at: Any) -> Any:
    for _ in range(60):
        step = step_at(x)
        x -= step
        if abs(step) <= 2 * SMALL * abs(x):
            break
    return x


def _slope(x: Any) -> Any:
    """The derivative of erf."""
    return 2 / np.sqrt(PI) * _exp_of_minus_square(x)


def _inverse_of_erfc(tail: Any) -> Any:
    """The x of 0 and more with erfc(x) = tail, by the logarithm of the tail."""
    start = np.sqrt(-np.log(tail * (2 - tail)))
    return _newton(start, lambda x: (np.log(tail) - np.log(_erfc(x))) * _erfc(x) / _slope(x))


def _inverse_of_erf(y: Any) -> Any:
    return _newton(y, lambda x: (_erf(x) - y) / _slope(x)) if y else y


def _erfinv(y: Any) -> Any:
    if not abs(y) < 1:
        return y * Real(np.inf) if abs(y) == 1 else Real(np.nan)
    return _inverse_of_erf(y) if abs(y) < 0.5 else np.copysign(_inverse_of_erfc(1 - abs(y)), y)


def _ndtri(p: Any) -> Any:
    if not 0 < p < 1:
        return Real(np.inf) * (2 * p - 1) if p in (0, 1) else Real(np.nan)
    root = np.sqrt(Real(2))
    if 0.25 < p < 0.75:
        return root * _inverse_of_erf(2 * p - 1)
    return -root * _inverse_of_erfc(2 * p) if p < 0.5 else root * _inverse_of_erfc(2 * (1 - p))


def _lgamma_of_1_and(e: Any) -> Any:
    """The Taylor series around 1."""
    return -EULER * e + sum(_zeta(Real(k), Real(1)) * (-e) ** k / k for k in range(2, 24))


def _lgamma(x: Any) -> Any:
    if np.isinf(x):
        return Real(np.inf)
    if x <= 0:
        if x == np.floor(x):
            return Real(np.inf)
        return np.log(PI / abs(np.sin(PI * (x - np.round(x))))) - _lgamma(1 - x)
    for zero in (1, 2):
        if abs(x - zero) < 0.125:  # Stirling's terms would cancel.
            return _lgamma_of_1_and(x - zero) + (np.log1p(x - zero) if zero == 2 else 0)
    shift = Real(1)
    while x < 40:
        shift *= x
        x = x + 1
    series = sum(
        b / (2 * k * (2 * k - 1) * x ** (2 * k - 1)) for k, b in enumerate(BERNOULLI[:8], 1)
    )
    return (x - Real(0.5)) * np.log(x) - x + np.log(2 * PI) / 2 + series - np.log(shift)


def _digamma(x: Any) -> Any:
    if x == np.inf:
        return x
    if x <= 0:
        if x == np.floor(x):
            return Real(np.nan)
        return _digamma(1 - x) - PI / np.tan(PI * (x - np.round(x)))
    below = Real(0)
    while x < 40:
        below += 1 / x
        x = x + 1
    series = sum(b / (2 * k * x ** (2 * k)) for k, b in enumerate(BERNOULLI[:8], 1))
    return np.log(x) - 1 / (2 * x) - series - below


def _zeta(x: Any, q: Any) -> Any:
    if x == 1:
        return Real(np.inf)
    if not (x > 1 and q > 0):
        return Real(np.nan)
    terms = 40
    total = sum((q + n) ** -x for n in range(terms))
    end = q + terms
    total += end ** (1 - x) / (x - 1) + end**-x / 2
    factor, power = x, end ** (-x - 1)
    for k, b in enumerate(BERNOULLI, 1):
        factor = factor / (2 * k) / (2 * k - 1) if k > 1 else x / 2
        total += b * factor * power
        factor = factor * (x + 2 * k - 1) * (x + 2 * k)
        power = power / end / end
    return total


def _polygamma(a: Any, x: Any) -> Any:
    if a == 0:
        return _digamma(x)
    if a < 0 or a != np.floor(a):
        return Real(np.nan)
    factorial = Real(1)
    for k in range(2, int(a) + 1):
        factorial *= k
    return (-1) ** (int(a) + 1) * factorial * _zeta(a + 1, x)


erf, erfc, erfinv, ndtri = each(_erf), each(_erfc), each(_erfinv), each(_ndtri)
lgamma, digamma = each(_lgamma), each(_digamma)
zeta, polygamma = each(_zeta), each(_polygamma)
