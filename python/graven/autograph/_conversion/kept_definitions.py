"""Definitions that stay as they are: classes, generators and coroutines inside of functions.

Only their reads of names of the functions around them become calls of `ld`, as these names may hold
an Undefined where Python has none at all.
"""

import ast

from graven.autograph._conversion.nodes import load
from graven.autograph._conversion.scope import Unit


class GuardReads(ast.NodeTransformer):
    """Makes reads of some names calls of `ld`.

    Args:
      unit: The conversion.
      names: The names.
    """

    def __init__(self, unit: Unit, names: set[str]) -> None:
        self._unit = unit
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Guards a read."""
        if node.id in self._names and isinstance(node.ctx, ast.Load):
            return self._unit.call("ld", [load(node.id, node)], node)
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        """Leaves the pattern, which cannot hold calls."""
        if node.guard is not None:
            node.guard = self.visit(node.guard)
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        """Leaves the annotation, which may be kept as text."""
        node.target = self.visit(node.target)
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Leaves the annotation."""
        return node
