"""Logical expressions: `not`, `and`, `or`, chains of comparisons, and on request `==` and `!=`."""

import ast

from graven.autograph._conversion.named_expressions import binds_names
from graven.autograph._conversion.nodes import call, load, parameter, parameters, put
from graven.autograph._conversion.scope import Scope

_IDENTITY = (ast.Is, ast.IsNot)
_EQUALITY: dict[type[ast.cmpop], str] = {ast.Eq: "eq", ast.NotEq: "not_eq"}


def convert_unary(scope: Scope, node: ast.UnaryOp) -> ast.expr:
    """Converts `not x`; other operators stay."""
    node.operand = scope.visit(node.operand)
    if node.op.__class__ is ast.Not:
        return scope.unit.call("not_", [node.operand], node)
    return node


def convert_bool(scope: Scope, node: ast.BoolOp) -> ast.expr:
    """Converts `a and b` and `a or b`; of three operands the last two come first."""
    keep = binds_names(scope.unit, node)
    values = node.values = scope.visit_all(node.values)
    if keep:
        return node
    name = "and_" if node.op.__class__ is ast.And else "or_"
    unit = scope.unit
    found = values[-1]
    for value in reversed(values[:-1]):
        found = unit.call(name, [unit.thunk(value, value), unit.thunk(found, found)], node)
    return found


def convert_compare(scope: Scope, node: ast.Compare) -> ast.expr:
    """Converts `a < b < c` to `a < b and b < c`, where b is evaluated once."""
    keep = len(node.ops) > 1 and binds_names(scope.unit, node)
    simple = [isinstance(value, ast.Name | ast.Constant) for value in node.comparators]
    node.left = scope.visit(node.left)
    node.comparators = scope.visit_all(node.comparators)
    if keep:
        return node
    if len(node.ops) == 1:
        if scope.unit.stages_objects and node.ops[0].__class__ in _IDENTITY:
            return _identity(scope, node)
        if "EQUALITY_OPERATORS" in scope.unit.features:
            return _pair(scope, node.left, node.ops[0], node.comparators[0], node)
        return node
    return _chain(scope, node, node.left, 0, simple)


def _identity(scope: Scope, node: ast.Compare) -> ast.expr:
    """Returns `x is None` as a call of an operator; comparisons of two objects stay."""
    right = node.comparators[0]
    if not isinstance(right, ast.Constant) or right.value is not None:
        return node
    found = scope.unit.call("is_none", [node.left], node)
    if node.ops[0].__class__ is ast.IsNot:
        return scope.unit.call("not_", [found], node)
    return found


def _pair(scope: Scope, left: ast.expr, op: ast.cmpop, right: ast.expr, at: ast.AST) -> ast.expr:
    name = _EQUALITY.get(op.__class__)
    if name is not None and "EQUALITY_OPERATORS" in scope.unit.features:
        return scope.unit.call(name, [left, right], at)
    return put(ast.Compare(left, [op], [right]), at)


def _chain(
    scope: Scope, node: ast.Compare, left: ast.expr, index: int, simple: list[bool]
) -> ast.expr:
    """Returns the comparisons from one on. Values that may do something are bound by a lambda."""
    unit = scope.unit
    right = node.comparators[index]
    if index == len(node.ops) - 1:
        return _pair(scope, left, node.ops[index], right, node)
    if simple[index]:
        pair = _pair(scope, left, node.ops[index], right, node)
        rest = _chain(scope, node, right, index + 1, simple)
        return unit.call("and_", [unit.thunk(pair, node), unit.thunk(rest, node)], node)
    names = [unit.helper("left_"), unit.helper("right_")]
    pair = _pair(scope, load(names[0], node), node.ops[index], load(names[1], node), node)
    rest = _chain(scope, node, load(names[1], node), index + 1, simple)
    both = unit.call("and_", [unit.thunk(pair, node), unit.thunk(rest, node)], node)
    binder = unit.thunk(both, node)
    binder.args = parameters(*(parameter(name, node) for name in names))
    return call(binder, [left, right], node)
