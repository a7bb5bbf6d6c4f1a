"""What Python's objects are and hold, found without running code of the user's."""

from __future__ import annotations

import functools
import sys
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from graven import _engine

IN_DICT, IN_OBJECT, IN_CELL, OF_FUNCTION = range(4)  # as WatchedPlace::Kind
MISSING = object()
PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))


def contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def captures_of(function: FunctionType) -> list[Any]:
    """What is in the cells of a function, or MISSING, and its defaults."""
    captured = [contents(cell) for cell in function.__closure__ or ()]
    return [*captured, *(function.__defaults__ or ())]


def item_of(value: Any, key: Any) -> Any:
    if is_a(value, dict):
        return dict.get(value, key, MISSING)
    if not is_a(value, list | tuple) or not is_a(key, int):
        return MISSING
    if not -len(value) <= key < len(value):
        return MISSING
    if is_a(value, list):
        return list.__getitem__(value, key)
    return tuple.__getitem__(value, key)


def function_of(callee: Any) -> tuple[FunctionType | None, Any]:
    """The Python function that a call runs, and its first argument."""
    if is_a(callee, FunctionType):
        return callee, MISSING
    if is_a(callee, MethodType):
        inner = callee.__func__
        return (inner, callee.__self__) if is_a(inner, FunctionType) else (None, None)
    if is_opaque(callee) or is_a(callee, ModuleType):
        return None, None
    if is_a(callee, type):
        init, is_there, _ = _engine.raw_attribute(callee, "__init__")
        if is_there and is_a(init, FunctionType):
            return init, None
        return None, None
    call, is_there, _ = _engine.raw_attribute(type(callee), "__call__")
    return (call, callee) if is_there and is_a(call, FunctionType) else (None, None)


def code_of(callee: Any) -> CodeType | None:
    function, _ = function_of(callee)
    return None if function is None else function.__code__


_UNARY = frozenset(
    {
        "iter",
        "next",
        "len",
        "bool",
        "contains",
        "getitem",
        "enter",
        "exit",
        "index",
        "int",
        "float",
        "neg",
        "pos",
        "abs",
        "invert",
        "array",
        "tf_tensor",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
    }
)
_BINARY = frozenset(
    {
        "add",
        "sub",
        "mul",
        "matmul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "and",
        "or",
        "xor",
        "lshift",
        "rshift",
    }
)
_OPERATORS = frozenset(
    [f"__{name}__" for name in _UNARY | _BINARY] + [f"__r{name}__" for name in _BINARY]
)


def operators_of(kind: type) -> set[str]:
    """The operators that a class of the user's defines in Python, by name."""
    found: set[str] = set()
    for base in kind.__mro__[:-1]:
        found |= _OPERATORS & base.__dict__.keys()
    return found


def python_method(value: Any, name: str) -> FunctionType | None:
    """A method of the class of a value, if it is a Python function that is not a library's."""
    found, is_there, _ = _engine.raw_attribute(type(value), name)
    is_function = is_there and is_a(found, FunctionType)
    return found if is_function and is_users(found) else None


def is_a(value: Any, kinds: Any) -> bool:
    """Like isinstance, which may run code of the user's."""
    return issubclass(type(value), kinds)


def is_opaque(value: Any) -> bool:
    """Whether nothing is read within a value: plain data, tensors, objects of Graven's."""
    return is_opaque_kind(type(value))


def is_opaque_kind(kind: type) -> bool:
    return issubclass(kind, PLAIN) or is_foreign_name(kind.__module__, OURS)


RANDOM = frozenset({"numpy.random"})
OURS = frozenset({"graven", "numpy", "tensorflow", "keras"})


@functools.cache
def is_foreign_name(module: Any, of: frozenset[str]) -> bool:
    if not is_a(module, str):
        return False
    return module.partition(".")[0] in of or any(module.startswith(name + ".") for name in of)


_LIBRARIES = OURS | frozenset(sys.stdlib_module_names) - {"__main__"}


def is_foreign_module(value: Any) -> bool:
    """Whether a value is a module whose contents are not the user's."""
    if not is_a(value, ModuleType):
        return False
    return is_foreign_name(value.__name__, _LIBRARIES)


def is_of_ours(function: FunctionType) -> bool:
    return is_foreign_name(function.__globals__.get("__name__"), OURS)


def is_users(function: FunctionType) -> bool:
    module = function.__globals__.get("__name__")
    return not is_a(module, str) or not is_library(module)


@functools.cache
def is_library(module: str) -> bool:
    """Whether the functions of a module, by its name, are not the user's."""
    from graven.autograph._operators.allow_list import is_listed

    return is_foreign_name(module, _LIBRARIES) or is_listed(module)
