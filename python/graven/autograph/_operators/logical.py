"""`and`, `or`, `not`, `==` and `!=`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graven import _engine
from graven import _functions as ops
from graven.autograph._operators import records, returns
from graven.autograph._operators.conditions import as_condition
from graven.autograph._operators.staged_optional import known_in_branch, note_conjunction
from graven.autograph._operators.values import is_dense, is_eager


def _is_staged(value: Any) -> bool:
    return is_dense(value) and not is_eager()


def and_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    """Evaluates `a and b`; the right operand is staged if the left one is a tensor.

    Args:
      a: The left operand.
      b: The right operand.

    Raises:
      TypeError: The left operand is a tensor, and the right one of another type.
    """
    left = as_condition(a())
    if _is_staged(left):
        tensor = _engine.convert_to_tensor(left)
        with known_in_branch(left, True):
            result = records.cond(tensor, lambda: as_condition(b()), lambda: tensor)
        note_conjunction(result, left)
        return result
    return left and b()


def or_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    """Evaluates `a or b`; the right operand is staged if the left one is a tensor.

    Args:
      a: The left operand.
      b: The right operand.

    Raises:
      TypeError: The left operand is a tensor, and the right one of another type.
    """
    left = as_condition(a())
    if _is_staged(left):
        tensor = _engine.convert_to_tensor(left)
        with known_in_branch(left, False):
            return records.cond(tensor, lambda: tensor, lambda: as_condition(b()))
    return left or b()


def not_(a: Any) -> Any:
    """Evaluates `not a`.

    Args:
      a: The operand.

    Raises:
      TypeError: It is a tensor that is no bool.
    """
    a = as_condition(a)
    if is_dense(a):
        result = ops.logical_not(a)
        if not is_eager():
            returns.note_negation(result, a)
        return result
    return not a


def eq(a: Any, b: Any) -> Any:
    """Evaluates `a == b`, element by element if either is a tensor."""
    if is_dense(a) or is_dense(b):
        return ops.equal(a, b)
    return a == b


def not_eq(a: Any, b: Any) -> Any:
    """Evaluates `a != b`, element by element if either is a tensor."""
    if is_dense(a) or is_dense(b):
        return ops.not_equal(a, b)
    return a != b
