"""Assignment expressions bind a name of the function, also from inside of other expressions.

An operand that an operator is to call as a function would bind its own. What holds such operands
stays as it is: it means what Python means, and a tensor as its condition is Python's error.
"""

import ast

from graven.autograph._conversion.scope import Scope, Unit


def binds_names(unit: Unit, *nodes: ast.expr) -> bool:
    """Whether expressions bind names of the function that they are in."""
    return unit.has_named_expressions and any(_has_named_expression(node) for node in nodes)


def _has_named_expression(node: ast.AST) -> bool:
    if isinstance(node, ast.NamedExpr):
        return True
    if isinstance(node, ast.Lambda):
        defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        return any(map(_has_named_expression, defaults))
    return any(map(_has_named_expression, ast.iter_child_nodes(node)))


def convert_named_expression(scope: Scope, node: ast.NamedExpr) -> ast.expr:
    """Converts the value, and notes the name."""
    node.value = scope.visit(node.value)
    scope.writes |= scope.bit(node.target.id)
    return node
