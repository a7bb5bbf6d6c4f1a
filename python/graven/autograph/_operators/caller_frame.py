"""Builtins that look at the frame of their caller, called for converted code.

Converted code calls them through converted_call, and may do so from a helper, such as the body of a
loop. The frame that they mean is that of the function, which is found by its FunctionScope.
"""

from __future__ import annotations

import builtins
import sys
from types import FrameType
from typing import Any

from graven.autograph._conversion import converted_frame
from graven.autograph._operators.scopes import FunctionScope
from graven.autograph._operators.variables import is_undefined


def _frames(scope: FunctionScope) -> list[FrameType]:
    """The frames that know the scope, the function's own first and the innermost last."""
    found: list[FrameType] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        names = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
        if scope.name in names and frame.f_locals.get(scope.name) is scope:
            found.append(frame)
        frame = frame.f_back
    found.reverse()
    return found


def _locals(scope: FunctionScope) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for frame in _frames(scope):
        converted = converted_frame(frame.f_code)
        made = frozenset() if converted is None else converted.made_names
        for name, value in frame.f_locals.items():
            if name not in made and not is_undefined(value):
                found[name] = value
    return found


def locals_(scope: FunctionScope) -> dict[str, Any]:
    """Calls locals()."""
    return _locals(scope)


def globals_(scope: FunctionScope) -> dict[str, Any]:
    """Calls globals()."""
    return _frames(scope)[-1].f_globals


def eval_(scope: FunctionScope, source: Any, *scopes: Any, **named: Any) -> Any:
    """Calls eval(source, globals, locals)."""
    if scopes or named:
        return builtins.eval(source, *scopes, **named)
    return builtins.eval(source, globals_(scope), _locals(scope))


def exec_(scope: FunctionScope, source: Any, *scopes: Any, **named: Any) -> None:
    """Calls exec(source, globals, locals)."""
    if scopes or named:
        builtins.exec(source, *scopes, **named)
    else:
        builtins.exec(source, globals_(scope), _locals(scope))


def super_(scope: FunctionScope, *args: Any) -> Any:
    """Calls super(type, object).

    Raises:
      RuntimeError: There are no arguments, and the function is no method.
    """
    if args:
        return super(*args)
    frames = _frames(scope)
    outermost = frames[0]
    if not outermost.f_code.co_argcount:
        raise RuntimeError("super(): no arguments")
    first = outermost.f_locals[outermost.f_code.co_varnames[0]]
    for frame in frames:
        if "__class__" in frame.f_locals:
            return super(frame.f_locals["__class__"], first)
    raise RuntimeError("super(): __class__ cell not found")


def dir_(scope: FunctionScope, *args: Any) -> list[str]:
    """Calls dir(object)."""
    return dir(*args) if args else sorted(_locals(scope))


def vars_(scope: FunctionScope, *args: Any) -> Any:
    """Calls vars(object)."""
    return vars(*args) if args else _locals(scope)


BY_BUILTIN: dict[Any, Any] = {
    eval: eval_,
    exec: exec_,
    super: super_,
    globals: globals_,
    locals: locals_,
    dir: dir_,
    vars: vars_,
}
