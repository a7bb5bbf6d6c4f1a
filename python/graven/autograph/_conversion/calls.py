"""Calls become `ag__.converted_call(f, args, kwargs, fscope)`, which converts the callee."""

import ast
import builtins

from graven.autograph._conversion.nodes import LOAD, call, constant, load, put, sequence
from graven.autograph._conversion.scope import LIST_METHODS, Scope

_DEBUGGERS = ("pdb", "ipdb")
_ADD = ast.Add()


def convert_call(scope: Scope, node: ast.Call) -> ast.expr:
    """Converts the parts of a call, and the call if an operator is to make it."""
    keep = not scope.converts_calls or _stays(scope, node.func)
    changed = _changed_list(scope, node.func) if scope.unit.stages_objects else None
    node.func = scope.visit(node.func)
    node.args = scope.visit_all(node.args)
    for keyword in node.keywords:
        keyword.value = scope.visit(keyword.value)
    unit = scope.unit
    if changed is not None:
        scope.writes |= scope.bit(changed)
    if keep:
        return node
    arguments = [
        node.func,
        _positional(scope, node),
        _by_keyword(scope, node) if node.keywords else constant(None, node),
        load(scope.fscope, node),
    ]
    name = "call_with_lists" if unit.stages_objects else "converted_call"
    return unit.call(name, arguments, node)


def _changed_list(scope: Scope, function: ast.expr) -> str | None:
    """Returns the local name whose list a call may change, such as that of `out.append(x)`."""
    if (
        isinstance(function, ast.Attribute)
        and function.attr in LIST_METHODS
        and isinstance(function.value, ast.Name)
        and function.value.id in scope.local_names
    ):
        return function.value.id
    return None


def _stays(scope: Scope, function: ast.expr) -> bool:
    """Whether a call is one of print, which is staged on request only, or of a debugger."""
    if isinstance(function, ast.Name):
        if function.id == "print":
            return "BUILTIN_FUNCTIONS" not in scope.unit.features
        return function.id == "breakpoint"
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "set_trace"
        and isinstance(function.value, ast.Name)
        and function.value.id in _DEBUGGERS
    )


def _positional(scope: Scope, node: ast.Call) -> ast.expr:
    """Returns the positional arguments: `(a,) + tuple(b) + (c,)`."""
    if not any(isinstance(argument, ast.Starred) for argument in node.args):
        return sequence(node.args, node)
    if _is_shadowed(scope, "tuple"):
        return sequence(node.args, node)  # (a, *b, c)
    parts: list[ast.expr] = []
    plain: list[ast.expr] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            if plain:
                parts.append(sequence(plain, node))
                plain = []
            parts.append(call(load("tuple", argument), [argument.value], argument))
        else:
            plain.append(argument)
    if plain:
        parts.append(sequence(plain, node))
    found = parts[0]
    for part in parts[1:]:
        found = put(ast.BinOp(found, _ADD, part), node)
    return found


def _by_keyword(scope: Scope, node: ast.Call) -> ast.expr:
    """Returns the keyword arguments: `dict(k=c, **d)`, which refuses a key that comes twice."""
    function: ast.expr
    if _is_shadowed(scope, "dict"):
        name = "kwargs"
        parameters = ast.arguments([], [], None, [], [], put(ast.arg(name, None), node), [])
        function = put(ast.Lambda(parameters, put(ast.Name(name, LOAD), node)), node)
    else:
        function = load("dict", node)
    return call(function, [], node, node.keywords)


def _is_shadowed(scope: Scope, name: str) -> bool:
    """Whether the user's code has another value for the name of a builtin."""
    return name in scope.unit.bound or scope.unit.resolve(name) is not getattr(builtins, name)
