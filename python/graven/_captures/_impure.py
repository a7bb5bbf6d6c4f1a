"""Functions that give another value at each call: random numbers, clocks, new names."""

from __future__ import annotations

import sys
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
)
from typing import Any

_CALLABLES = (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
)
_CLOCK = "tf.timestamp()"
_CLOCKS = frozenset(
    {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"}
)
_NORMAL = frozenset({"normal", "randn", "standard_normal", "gauss", "normalvariate"})
_ORDER = frozenset({"shuffle", "permutation", "permuted", "sample", "choice", "choices"})


def replacement(callee: Any) -> str | None:
    """What a traced function calls in the place of an impure one; None for all others."""
    if not isinstance(callee, _CALLABLES):
        return None
    name = callee.__name__
    module = getattr(callee, "__module__", None)
    if module == "time" and name in _CLOCKS:
        return _CLOCK
    if isinstance(callee, ClassMethodDescriptorType):
        is_clock = callee.__objclass__.__module__ == "datetime" and name in (
            "now",
            "utcnow",
            "today",
        )
        return _CLOCK if is_clock else None
    if (module == "uuid" and name in ("uuid1", "uuid4")) or module == "secrets":
        return "an argument"
    if name == "urandom" and module in ("posix", "nt", "os"):
        return "tf.random.uniform"
    return _of_random(name) if _is_random(callee) else None


def _is_random(callee: Any) -> bool:
    owner = getattr(callee, "__self__", None)
    kind = callee.__objclass__ if isinstance(callee, MethodDescriptorType) else type(owner)
    if (kind.__module__ or "").startswith("numpy.random"):
        return True
    random = sys.modules.get("_random")
    return random is not None and issubclass(kind, random.Random)


def _of_random(name: str) -> str | None:
    if name in ("seed", "getstate", "setstate", "get_state", "set_state"):
        return None
    if name in _NORMAL:
        return "tf.random.normal"
    return "tf.random.shuffle" if name in _ORDER else "tf.random.uniform"
