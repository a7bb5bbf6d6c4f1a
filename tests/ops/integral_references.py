"""References of Bessel functions, integrals and incomplete functions that NumPy lacks.

Power series whose terms cancel are added up in decimal numbers of 90 digits; what has none is in
long double. Sources: Abramowitz and Stegun, Handbook of Mathematical Functions, 5.1.10, 5.1.51,
6.5.29, 6.5.31, 7.1.5, 7.3.11, 7.3.13, 9.1.10 to 9.1.13, 9.6.24, 9.7.1, 26.5.8, 27.7.2.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np

from ops.special_functions import PI, SMALL, Real, each, lgamma

decimal.getcontext().prec = 90
DECIMAL_PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534"
)
DECIMAL_EULER = Decimal(
    "0.57721566490153286060651209008240243104215933593992359880576723488486772677766467093694706329"
)


def _by_series(series: Callable[[Decimal], Decimal], limit: float = np.nan) -> Any:
    """A function of arrays of one that takes Decimals; limit is what it is at infinity."""

    def f(x: Any) -> Any:
        if not np.isfinite(x):
            return Real(limit) * np.sign(x)
        value = series(Decimal(float(x)))
        is_huge = not value.is_nan() and value > Decimal("1e4900")
        return Real(np.inf) if is_huge else Real(str(value))

    return each(f)


def _terms(first: Decimal, ratio: Callable[[int], Decimal]) -> Iterator[Decimal]:
    """Terms by their ratios, until they are too small to matter."""
    term, n = first, 0
    while n < 20 or abs(term) > Decimal("1e-60"):
        yield term
        n += 1
        term *= ratio(n)


def _some(first: Decimal, ratio: Callable[[int], Decimal]) -> Iterator[Decimal]:
    """The terms of an asymptotic series, while they fall."""
    term = first
    for n in range(1, 60):
        yield term
        following = term * ratio(n)
        if abs(following) >= abs(term) or following == 0:
            return
        term = following


# --- Bessel functions.


def _bessel_terms(order: int, x: Decimal) -> Iterator[Decimal]:
    half = x / 2
    return _terms(half if order else Decimal(1), lambda k: -half * half / (k * (k + order)))


def _j(order: int, x: Decimal) -> Decimal:
    return sum(_bessel_terms(order, x), Decimal(0))


def _harmonic(n: int) -> Decimal:
    return sum((1 / Decimal(k) for k in range(1, n + 1)), Decimal(0))


def _y(order: int, x: Decimal) -> Decimal:
    if x <= 0:
        return Decimal("-Infinity")
    total = 2 * ((x / 2).ln() + DECIMAL_EULER) * _j(order, x) - order / (x / 2)
    for k, term in enumerate(_bessel_terms(order, x)):
        total -= term * (_harmonic(k) + _harmonic(k + order))
    return total / DECIMAL_PI


def _ie(order: int, x: Any) -> Any:
    """exp(-|x|) I(x)."""
    size, sign = abs(x), (-1) ** order if x < 0 else 1
    if not np.isfinite(x):
        return np.copysign(Real(0), sign) if np.isinf(x) else x
    if size > 50:
        term = total = 1 / np.sqrt(2 * PI * size)
        for k in range(1, 30):
            term *= -Real(4 * order * order - (2 * k - 1) ** 2) / (8 * k * size)
            total += term
        return sign * total
    half = size / 2
    term = total = half**order
    k = 0
    while term > SMALL / 4 * total:
        k += 1
        term *= half * half / (k * (k + order))
        total += term
    return sign * total * np.exp(-size)


def _i(order: int, x: Any) -> Any:
    if np.isinf(x):
        return x if order else abs(x)
    return _ie(order, x) * np.exp(abs(x))


def _ke(order: int, x: Any) -> Any:
    """exp(x) K(x), the integral of exp(-x (cosh(t) - 1)) cosh(order t), by the trapezoid rule."""
    if not x > 0:
        return x if np.isnan(x) else Real(np.inf)
    step = np.minimum(Real(0.1), Real(0.4) / np.sqrt(x))
    t = step * np.arange(1, 2000, dtype=Real)
    with np.errstate(all="ignore"):
        values = np.exp(-2 * x * np.sinh(t / 2) ** 2) * (np.cosh(t) if order else 1)
    return step * (Real(0.5) + np.sum(np.where(np.isfinite(values), values, 0)))


def _k(order: int, x: Any) -> Any:
    return _ke(order, x) * np.exp(-x) if x > 0 else _ke(order, x)


bessel_j0, bessel_j1 = [_by_series(partial(_j, n)) for n in (0, 1)]
bessel_y0, bessel_y1 = [_by_series(partial(_y, n)) for n in (0, 1)]
bessel_i0, bessel_i1 = [each(partial(_i, n)) for n in (0, 1)]
bessel_i0e, bessel_i1e = [each(partial(_ie, n)) for n in (0, 1)]
bessel_k0, bessel_k1 = [each(partial(_k, n)) for n in (0, 1)]
bessel_k0e, bessel_k1e = [each(partial(_ke, n)) for n in (0, 1)]


# --- Integrals.


def _dawson(x: Decimal) -> Decimal:
    if abs(x) > 10:
        return sum(_some(1 / (2 * x), lambda k: (2 * k - 1) / (2 * x * x)), Decimal(0))
    power = total = x
    for k in range(1, 500):
        power *= x * x / k
        total += power / (2 * k + 1)
    return (-x * x).exp() * total


def _expint(x: Decimal) -> Decimal:
    if x <= 0:
        return Decimal("-Infinity") if x == 0 else Decimal("NaN")
    if x > 800:
        return Decimal("Infinity")
    if x > 100:
        return sum(_some(x.exp() / x, lambda k: k / x), Decimal(0))
    powers = enumerate(_terms(Decimal(1), lambda k: x / k))
    return DECIMAL_EULER + x.ln() + sum((term / k for k, term in powers if k), Decimal(0))


def _cosine(x: Decimal) -> Decimal:
    """Of any number, by its series; reduced to one turn."""
    x = x % (2 * DECIMAL_PI)
    return sum(_terms(Decimal(1), lambda k: -x * x / (2 * k * (2 * k - 1))), Decimal(0))


def _fresnel(x: Decimal, is_sine: bool) -> Decimal:
    if abs(x) > Decimal("1e15"):
        return Decimal("0.5").copy_sign(x)
    angle = DECIMAL_PI / 2 * x * x
    if abs(x) > 6:
        square = DECIMAL_PI * x * x
        first = 1 / (DECIMAL_PI * abs(x))
        f = sum(_some(first, lambda k: -(4 * k - 1) * (4 * k - 3) / square**2), Decimal(0))
        g = sum(_some(first / square, lambda k: -(4 * k + 1) * (4 * k - 1) / square**2), Decimal(0))
        cosine, sine = _cosine(angle), _cosine(angle - DECIMAL_PI / 2)
        rest = -f * cosine - g * sine if is_sine else f * sine - g * cosine
        return (Decimal("0.5") + rest).copy_sign(x)
    power, total, n = x, Decimal(0), 0
    while n < 400:
        if n % 2 == is_sine:
            total += power / (2 * n + 1) * (-1) ** (n // 2)
        n += 1
        power *= angle / n
    return total


def _spence(x: Decimal) -> Decimal:
    if x < 0:
        return Decimal("NaN")
    if x > 2:
        return -_spence(1 / x) - x.ln() ** 2 / 2
    if x < Decimal("0.5"):
        product = x.ln() * (1 - x).ln() if x else Decimal(0)
        return DECIMAL_PI**2 / 6 - product - _spence(1 - x)
    # The dilogarithm of z = 1 - x, or of z / (z - 1) where z is below 0.
    z = 1 - x
    if z < 0:
        return -_dilogarithm(z / (z - 1)) - (1 - z).ln() ** 2 / 2
    return _dilogarithm(z)


def _dilogarithm(z: Decimal) -> Decimal:
    total, power = Decimal(0), Decimal(1)
    for k in range(1, 200):
        power *= z
        total += power / (k * k)
    return total


dawson, expint, spence = _by_series(_dawson, 0), _by_series(_expint), _by_series(_spence)
fresnel_cos = _by_series(lambda x: _fresnel(x, False), 0.5)
fresnel_sin = _by_series(lambda x: _fresnel(x, True), 0.5)


# --- Incomplete gamma and beta functions.


def _log_density(a: Any, x: Any) -> Any:
    return a * np.log(x) - x - Real(lgamma(a))


def _share_below(a: Any, x: Any) -> Any:
    term = total = 1 / a
    n = a
    while term > SMALL / 4 * total:
        n += 1
        term *= x / n
        total += term
    return total * np.exp(_log_density(a, x))


def _share_above(a: Any, x: Any) -> Any:
    tail = Real(0)
    for n in range(4000, 0, -1):
        tail = n * (n - a) / (x + 2 * n + 1 - a - tail)
    return np.exp(_log_density(a, x)) / (x + 1 - a - tail)


def _igamma(a: Any, x: Any) -> Any:
    if not (a > 0 and x >= 0):
        return Real(0) if x == 0 else Real(np.nan)
    if x == 0 or np.isinf(x):
        return Real(x != 0)
    return _share_below(a, x) if x < a + 1 else 1 - _share_above(a, x)


def _igammac(a: Any, x: Any) -> Any:
    if not (a > 0 and x >= 0):
        return Real(np.nan)
    if x == 0 or np.isinf(x):
        return Real(x == 0)
    return 1 - _share_below(a, x) if x < a + 1 else _share_above(a, x)


def _betainc(a: Any, b: Any, x: Any) -> Any:
    if not (a > 0 and b > 0 and 0 <= x <= 1):
        return Real(np.nan)
    if x > (a + 1) / (a + b + 2):
        return 1 - _betainc(b, a, 1 - x)
    if x == 0:
        return x
    tail = Real(0)
    for n in range(400, 0, -1):
        m = n // 2
        if n % 2:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        tail = d / (1 + tail)
    log_beta = Real(lgamma(a)) + Real(lgamma(b)) - Real(lgamma(a + b))
    return np.exp(a * np.log(x) + b * np.log1p(-x) - log_beta) / a / (1 + tail)


igamma, igammac, betainc = each(_igamma), each(_igammac), each(_betainc)
