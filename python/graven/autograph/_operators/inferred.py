"""Loop variables that have no value before the loop: their types are found by one iteration.

A variable that is unbound, or None, before a staged loop gets zeros, if the first iteration gives
it a tensor, a number or a structure of them without reading it. A hidden flag, and an assertion
after the loop, see to it that nobody gets the zeros.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

from graven import _engine, _nest
from graven.autograph._operators import returns
from graven.autograph._operators.placeholders import zeros_like_type
from graven.autograph._operators.scratch import in_scratch_graph
from graven.autograph._operators.values import type_name
from graven.autograph._operators.variables import is_undefined

_LEGAL = "Tensor, int, float, bool, or a list, tuple or dict of them"


def is_missing(value: Any) -> bool:
    """Tells whether a name has no value before a loop."""
    return value is None or is_undefined(value)


def values_after_one_iteration(
    one_iteration: Callable[[], tuple[Any, ...]], names: Sequence[str], before: Sequence[Any]
) -> tuple[Any, ...]:
    """Returns what the names are bound to after one iteration, for looks at types.

    Args:
      one_iteration: Runs an iteration; returns the values of the names.
      names: The names.
      before: Their values before the loop.

    Raises:
      ValueError: The iteration fails, as it does if it reads what it has not set.
    """
    try:
        return in_scratch_graph(one_iteration)
    except (UnboundLocalError, TypeError, AttributeError) as error:
        missing = [(n, v) for n, v in zip(names, before, strict=True) if is_missing(v)]
        if not missing:
            raise
        raise _not_inferred(*missing[0], f"it could not be inferred: {error}") from error


def _not_inferred(name: str, before: Any, note: str) -> ValueError:
    if returns.is_return_value(name):
        return ValueError(f"the return value from a TensorFlow loop may only be a {_LEGAL}; {note}")
    if before is None:
        return ValueError(f"'{name}' is not allowed to be None before the loop; {note}")
    return ValueError(f"'{name}' must be defined before the loop; {note}")


def reads_name(function: Callable[..., Any], name: str) -> bool:
    """Tells whether converted code may read a name of the function around it.

    Args:
      function: A part of converted code, such as the body of a loop.
      name: The name; one that is no identifier, such as `a.b`, counts as read.
    """
    return not name.isidentifier() or _code_reads(function.__code__, name)


def _code_reads(code: CodeType, name: str) -> bool:
    if name not in code.co_freevars and name not in code.co_cellvars and name not in code.co_names:
        return False
    # A body inside that binds the name is one of a statement, which reads what its names hold.
    return any(
        one.opname.startswith("LOAD") and one.argval == name for one in dis.get_instructions(code)
    ) or any(
        isinstance(part, CodeType) and (name in part.co_freevars or _code_reads(part, name))
        for part in code.co_consts
    )


def placeholder(name: str, before: Any, after: Any) -> Any:
    """Returns zeros of the type of a value.

    Args:
      name: The name that has no value before the loop.
      before: None or Undefined.
      after: Its value after one iteration.

    Raises:
      ValueError: There are no zeros of this type.
    """
    if before is None and after is None:
        raise _not_inferred(name, before, "it is None after one iteration, too.")
    if isinstance(after, _engine.VariableBase):
        after = _engine.convert_to_tensor(after)
    leaves = [_zeros(leaf) for leaf in _nest.flatten(after)]
    for leaf, zeros in zip(_nest.flatten(after), leaves, strict=True):
        if zeros is None:
            raise _not_inferred(
                name,
                before,
                f"its value after one iteration, {leaf!r} of type {type_name(leaf)}, is none "
                f"that zeros can stand for: only a {_LEGAL} is.",
            )
    return _nest.pack_sequence_as(after, leaves)


def _zeros(leaf: Any) -> Any:
    if isinstance(leaf, bool | int | float):
        return _engine.convert_to_tensor(type(leaf)(0))
    return zeros_like_type(leaf)
