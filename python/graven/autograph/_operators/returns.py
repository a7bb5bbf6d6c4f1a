"""Staged `return`: which paths of a function are known to return.

Converted code keeps `do_return`, whether the function has returned, and `retval_`, what. If only
one branch of a staged `if` returns, `do_return` becomes a tensor, and `retval_` gets zeros from the
other branch: nothing reads them, because everything that follows is guarded by `if not do_return`.
In that guard's other branch the flag is known to be true. So a guarded `return` at the end of the
function makes the flag true on all paths while tracing, without any tensor. A flag that is still a
tensor at the end of the function means that a path ends without `return`; the error was made where
that path was seen, and waits beside the tensor. (TensorFlow refuses the `if` at once.)
"""

from __future__ import annotations

from typing import Any

from graven import _engine

_MISSING = "_autograph_missing_return"
_NEGATED = "_autograph_negated"


def is_return_value(name: str) -> bool:
    """Tells whether a name of converted code holds what the function returns."""
    return name.startswith("<retval_")


def is_return_flag(name: str) -> bool:
    """Tells whether a name of converted code says if the function has returned."""
    return name.startswith("<do_return")


def is_exit_flag(name: str) -> bool:
    """Tells whether a name of converted code says if a loop is left, by `break` or `return`."""
    return name.startswith("<break_") or is_return_flag(name)


def branch_without_return(branch: str, line: str) -> ValueError:
    """The error of a staged `if`, of which the main or the else branch does not return."""
    return ValueError(
        f"A function that returns a value in one branch of a staged `if` ({line}) must return one "
        f"in all cases: the {branch} branch must also have a return statement."
    )


def note_missing_return(did_return: Any, missing: BaseException | str) -> None:
    """Keeps what is wrong if a function ends with this flag: an error, or a run-time assertion."""
    if isinstance(did_return, _engine.Tensor):
        setattr(did_return, _MISSING, missing)


def missing_return(did_return: Any) -> BaseException | str | None:
    """Returns what note_missing_return kept for a flag."""
    found: BaseException | str | None = getattr(did_return, _MISSING, None)
    return found


def note_negation(result: Any, operand: Any) -> None:
    """Keeps of a tensor that it is `not` of another."""
    setattr(result, _NEGATED, operand)


def negated_operand(result: Any) -> Any:
    """Returns the tensor of which another is `not`; None if that is not known."""
    return getattr(result, _NEGATED, None)


def _known(value: Any, condition: Any, holds: bool) -> Any:
    """A flag in a branch that runs if a condition holds, or if it does not."""
    if value is condition:
        return holds
    if value is getattr(condition, _NEGATED, None):
        return not holds
    return value


def state_in_branch(
    names: tuple[str, ...], values: tuple[Any, ...], condition: Any, holds: bool
) -> tuple[Any, ...]:
    """The state that a branch starts from: flags that its condition decides are Python's bools."""
    return tuple(
        _known(value, condition, holds)
        if isinstance(value, _engine.Tensor) and is_return_flag(name)
        else value
        for name, value in zip(names, values, strict=True)
    )
