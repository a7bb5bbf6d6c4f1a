"""Functions that are called as they are, because of what they are or where they come from."""

from __future__ import annotations

import enum
import functools
import inspect
import sys
import types
from typing import Any
from weakref import ref

from graven import _engine
from graven.autograph._conversion import converted_frame
from graven.autograph._operators import callers

_MODULES = frozenset(
    {
        "absl.logging",
        "cProfile",
        "collections",
        "copy",
        "graven",
        "inspect",
        "ipdb",
        "keras",
        "linecache",
        "matplotlib",
        "mock",
        "numpy",
        "pandas",
        "pathlib",
        "pdb",
        "PIL",
        "posixpath",
        "pstats",
        "re",
        "tensorflow",
        "tensorflow_datasets.core",
        "tensorflow_probability",
        "tf_keras",
        "threading",
        "urllib",
    }
)

# Callables of these types have no code of Python's, or convert it themselves.
AS_THEY_ARE: frozenset[type] = frozenset(
    {
        _engine.CppFunction,
        _engine.Function,
        _engine.PublicFunction,
        functools._lru_cache_wrapper,
        type(_engine.constant),
        types.ClassMethodDescriptorType,
        types.MethodDescriptorType,
        types.MethodWrapperType,
        types.WrapperDescriptorType,
    }
)


class Plan(enum.Enum):
    """What is done with a function when converted code calls it.

    Attributes:
      AS_IS: It is never converted: it is converted already, or must not be.
      REPLAYED: It is never converted, because `exec` made it of a text; it is run once for each way
        through its conditions on tensors.
      SEES_CALLER: It looks at the frame of its caller, and must find that of the user's code.
      LISTED: It is converted only if the user asks for just this function.
      CONVERT: It is converted.
    """

    AS_IS = 0
    REPLAYED = 1
    LISTED = 2
    CONVERT = 3
    SEES_CALLER = 4


class _Plans:
    """Plans by code object, which many functions may share: closures are made again and again.

    The table is by id, because hashing code objects takes long; a weak reference to each keeps ids
    from being mistaken for those of code that is gone.
    """

    def __init__(self) -> None:
        self.by_id: dict[int, Plan] = {}
        self.failures: dict[int, dict[Any, str]] = {}
        self._references: dict[int, ref[types.CodeType]] = {}

    def put(self, code: types.CodeType, plan: Plan) -> None:
        self._watch(code)
        self.by_id[id(code)] = plan

    def put_failure(self, code: types.CodeType, options: Any, cause: str) -> bool:
        self._watch(code)
        known = self.failures.setdefault(id(code), {})
        is_news = cause not in known.values()
        known[options] = cause
        return is_news

    def _watch(self, code: types.CodeType) -> None:
        key = id(code)
        if key not in self._references:
            self._references[key] = ref(code, functools.partial(self._forget, key))

    def _forget(self, key: int, reference: ref[types.CodeType]) -> None:
        del reference
        self.by_id.pop(key, None)
        self.failures.pop(key, None)
        self._references.pop(key, None)


_plans = _Plans()

# The plan of a function, by the id of its code; None if plan_of was not asked yet. For converted
# calls, which have no time for a function call.
known_plan = _plans.by_id.get


def plan_of(function: types.FunctionType) -> Plan:
    """Decides what is done with a function, and remembers it."""
    code = function.__code__
    plan = known_plan(id(code))
    if plan is None:
        plan = _decided(function)
        _plans.put(code, plan)
    return plan


def keep_as_is(function: Any) -> None:
    """Sees to it that Python functions with this one's code are never converted."""
    code: types.CodeType = function.__code__
    if known_plan(id(code)) is not Plan.AS_IS:
        _plans.put(code, Plan.AS_IS)


def cause_of_failure(function: types.FunctionType, options: Any) -> str | None:
    """What note_failure was told of a function of this code with these options; None if nothing."""
    return _plans.failures.get(id(function.__code__), {}).get(options)


def note_failure(function: types.FunctionType, options: Any, cause: str) -> bool:
    """Notes that a function cannot be converted with these options, and why.

    Returns:
      Whether that cause is news, with whatever options.
    """
    return _plans.put_failure(function.__code__, options, cause)


def _decided(function: types.FunctionType) -> Plan:
    code = function.__code__
    if code in callers.BY_CODE:
        return Plan.SEES_CALLER
    converted = converted_frame(code)
    if converted is not None and converted.is_helper:
        return Plan.AS_IS
    # Where the code lies, and not `__module__`: a wrapper says there what it wraps.
    module = function.__globals__.get("__name__")
    is_in_list = isinstance(module, str) and is_listed(module)
    if code.co_filename == "<string>":
        return Plan.AS_IS if is_in_list else Plan.REPLAYED
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return Plan.LISTED
    return Plan.LISTED if is_in_list else Plan.CONVERT


@functools.cache
def is_listed(module: str) -> bool:
    """Tells whether functions of a module are not converted."""
    parts = module.split(".")
    return any(".".join(parts[:n]) in _MODULES for n in range(1, len(parts) + 1))


def is_of_test_case(instance: Any) -> bool:
    """Tells whether an object, whose method is called, is a unittest.TestCase."""
    unittest = sys.modules.get("unittest")
    test_case = getattr(unittest, "TestCase", None)
    return test_case is not None and isinstance(instance, test_case)


def is_wrapt(value: Any) -> bool:
    """Tells whether an object is a wrapper of the package wrapt, which pretends to be another."""
    return "wrapt" in sys.modules and any(
        kind.__module__.partition(".")[0] == "wrapt" for kind in type(value).__mro__
    )
