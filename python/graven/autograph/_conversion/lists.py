"""Lists and items, on request (LISTS): `x[i] = v` of a tensor makes a new one, `[]` a tensor list.

Only a list that is a local variable is one that a statement can give a new value.
"""

import ast

from graven.autograph._conversion.nodes import STORE, assign, constant, put, sequence, store
from graven.autograph._conversion.scope import Scope
from graven.autograph._conversion.variables import target


def convert_list(scope: Scope, node: ast.List) -> ast.expr:
    """Converts a list literal."""
    node.elts = scope.visit_all(node.elts)
    if "LISTS" in scope.unit.features:
        return scope.unit.call("new_list", [node], node)
    return node


def convert_subscript(scope: Scope, node: ast.Subscript) -> ast.expr:
    """Converts a read of an item; a slice stays one."""
    node.value = scope.visit(node.value)
    plain = not _has_slice(node.slice)
    node.slice = scope.visit(node.slice)
    if plain and "LISTS" in scope.unit.features:
        return scope.unit.call("get_item", [node.value, node.slice], node)
    return node


def _has_slice(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return any(isinstance(part, ast.Slice | ast.Starred) for part in node.elts)
    return isinstance(node, ast.Slice)


def convert_item_assignment(scope: Scope, node: ast.Assign) -> list[ast.stmt] | None:
    """Converts `x[i] = v`; None if a statement is none of these, or they stay."""
    if "LISTS" not in scope.unit.features or len(node.targets) != 1:
        return None
    item = node.targets[0]
    if not isinstance(item, ast.Subscript) or _has_slice(item.slice):
        return None
    name = _local_name(scope, item.value)
    if name is None:
        return None
    value = scope.visit(node.value)
    arguments = [scope.visit(item.value), scope.visit(item.slice), value]
    scope.writes |= scope.bit(name)
    return [assign(name, scope.unit.call("set_item", arguments, node), node)]


def convert_list_statement(scope: Scope, node: ast.stmt) -> list[ast.stmt] | None:
    """Converts `l.append(x)`, `l.pop()` and `x = l.pop()`; None for other statements."""
    if "LISTS" not in scope.unit.features:
        return None
    if not isinstance(node, ast.Expr | ast.Assign) or not isinstance(node.value, ast.Call):
        return None
    call = node.value
    if not isinstance(call.func, ast.Attribute) or call.keywords:
        return None
    name = _local_name(scope, call.func.value)
    if name is None or any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    if call.func.attr == "append" and len(call.args) == 1 and isinstance(node, ast.Expr):
        arguments = [scope.visit(call.func.value), scope.visit(call.args[0])]
        scope.writes |= scope.bit(name)
        return [assign(name, scope.unit.call("list_append", arguments, node), node)]
    if call.func.attr == "pop" and len(call.args) < 2:
        if isinstance(node, ast.Assign) and len(node.targets) > 1:
            return None
        return [_pop(scope, node, call, name)]
    return None


def _pop(scope: Scope, node: ast.Expr | ast.Assign, call: ast.Call, name: str) -> ast.stmt:
    assert isinstance(call.func, ast.Attribute)
    value = scope.visit(call.func.value)
    index = scope.visit(call.args[0]) if call.args else constant(None, call)
    scope.writes |= scope.bit(name)
    element: ast.expr
    if isinstance(node, ast.Assign):
        element = target(scope, node.targets[0])
    else:
        popped = scope.unit.names.new("popped_")
        scope.writes |= scope.bit(popped)
        element = store(popped, node)
    pair = sequence([store(name, node), element], node, STORE)
    return put(ast.Assign([pair], scope.unit.call("list_pop", [value, index], node)), node)


def _local_name(scope: Scope, node: ast.expr) -> str | None:
    if isinstance(node, ast.Name) and node.id in scope.local_names:
        return node.id
    return None
