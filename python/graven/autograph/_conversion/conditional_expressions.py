"""Conditional expressions become `ag__.if_exp(c, lambda: a, lambda: b, '<c>')`."""

import ast

from graven.autograph._conversion.named_expressions import binds_names
from graven.autograph._conversion.nodes import constant
from graven.autograph._conversion.scope import Scope


def convert_conditional(scope: Scope, node: ast.IfExp) -> ast.expr:
    """Converts a conditional expression."""
    keep = binds_names(scope.unit, node.body, node.orelse)
    text = "" if keep else _source(node.test)
    node.test = scope.visit(node.test)
    node.body = scope.visit(node.body)
    node.orelse = scope.visit(node.orelse)
    if keep:
        return node
    unit = scope.unit
    branches: list[ast.expr] = [
        node.test,
        unit.thunk(node.body, node.body),
        unit.thunk(node.orelse, node.orelse),
        constant(text, node),
    ]
    return unit.call("if_exp", branches, node)


def _source(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ast.unparse(node)
