"""Assertions, on request (ASSERT_STATEMENTS): `assert a, b` is `ag__.assert_stmt(a, lambda: b)`."""

import ast

from graven.autograph._conversion.named_expressions import binds_names
from graven.autograph._conversion.nodes import constant, put
from graven.autograph._conversion.scope import Scope


def convert_assert(scope: Scope, node: ast.Assert) -> ast.stmt:
    """Converts an assertion. Without the feature only its expressions are."""
    keep = node.msg is not None and binds_names(scope.unit, node.msg)
    node.test = scope.visit(node.test)
    if node.msg is not None:
        node.msg = scope.visit(node.msg)
    if keep or "ASSERT_STATEMENTS" not in scope.unit.features:
        return node
    message = constant(None, node) if node.msg is None else node.msg
    arguments = [node.test, scope.unit.thunk(message, message)]
    return put(ast.Expr(scope.unit.call("assert_stmt", arguments, node)), node)
