"""Directives: `set_loop_options(...)` at the head of a loop becomes the options of its operator."""

import ast

from graven.autograph._conversion.conversion_error import ConversionError
from graven.autograph._conversion.scope import Unit

_NAME = "set_loop_options"
_MODULE = "graven.autograph"
_PARAMETERS = ("parallel_iterations", "swap_memory", "maximum_iterations", "shape_invariants")


def take_loop_options(unit: Unit, body: list[ast.stmt]) -> list[ast.keyword]:
    """Removes a directive from the body of a loop if it comes first, and returns its arguments.

    Only assignments and expressions count: a `pass` may come before.
    """
    for i, statement in enumerate(body):
        if isinstance(statement, ast.Expr):
            if not is_directive(unit, statement.value):
                return []
            body[i : i + 1] = [] if len(body) > 1 else [ast.copy_location(ast.Pass(), statement)]
            return _arguments(statement.value)
        if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
            return []
    return []


def _arguments(call: ast.expr) -> list[ast.keyword]:
    assert isinstance(call, ast.Call)
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        raise ConversionError(f"{_NAME} takes no starred arguments in converted code")
    named = zip(_PARAMETERS, call.args, strict=False)
    found = [ast.copy_location(ast.keyword(name, value), value) for name, value in named]
    return found + call.keywords


def refuse_directive(unit: Unit, node: ast.expr) -> None:
    """Raises a ConversionError if a statement that does not begin a loop is a directive."""
    if is_directive(unit, node):
        raise ConversionError(f"{_NAME} must be the first statement of a loop body")


def is_directive(unit: Unit, node: ast.expr) -> bool:
    """Whether an expression is a call of a directive.

    No attribute is read for an answer that the name alone gives.
    """
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    if not isinstance(function, ast.Name) and getattr(function, "attr", "") != _NAME:
        return False
    value = _value(unit, function)
    module = getattr(value, "__module__", None)
    return (
        getattr(value, "__name__", None) == _NAME
        and isinstance(module, str)
        and f"{module}.".startswith(f"{_MODULE}.")
    )


def _value(unit: Unit, node: ast.expr) -> object:
    if isinstance(node, ast.Name):
        return unit.resolve(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(_value(unit, node.value), node.attr, None)
    return None
