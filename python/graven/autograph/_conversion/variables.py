"""Reads of names become `ag__.ld(x)`, which refuses a name that has no value; and targets.

`del x` becomes `x = ag__.Undefined('x')`, so that a branch that deletes and one that does not end
in the same names.
"""

import ast

from graven.autograph._conversion.composites import composite_of
from graven.autograph._conversion.nodes import assign, load, put
from graven.autograph._conversion.scope import Scope


class GeneratedName(ast.Name):
    """A read of a name that the conversion made and always sets."""


def generated(name: str, at: ast.AST) -> GeneratedName:
    """Returns a read of a name that the conversion made."""
    return put(GeneratedName(name, ast.Load()), at)


def read_generated_name(scope: Scope, node: GeneratedName) -> ast.expr:
    """Reads it as it is."""
    scope.reads |= scope.bit(node.id)
    return load(node.id, node)


def read_name(scope: Scope, node: ast.Name) -> ast.expr:
    """Reads a name of the user's.

    One that is global, or was bound before, never holds an Undefined. The code reads it as it is;
    the text, which is to look as TensorFlow's does, by `ld`.
    """
    name = node.id
    bit = scope.bits.get(name) or scope.bit(name)
    scope.reads |= bit
    if not scope.certain & bit and scope.reads_names and scope.unit.may_be_undefined(name):
        return scope.unit.call("ld", [node], node)
    return node


def bind(scope: Scope, name: str) -> None:
    """Notes that a name is bound."""
    scope.writes |= scope.bit(name)


def target(scope: Scope, node: ast.expr) -> ast.expr:
    """Converts what an assignment sets, and notes the names and composites."""
    if isinstance(node, ast.Name):
        scope.writes |= scope.bit(node.id)
    elif isinstance(node, ast.Attribute):
        _note_composite(scope, node)
        node.value = scope.visit(node.value)
    elif isinstance(node, ast.Subscript):
        if not _is_of_changed_list(scope, node):
            _note_composite(scope, node)
        node.value = scope.visit(node.value)
        node.slice = scope.visit(node.slice)
    elif isinstance(node, ast.Tuple | ast.List):
        node.elts = [target(scope, element) for element in node.elts]
    elif isinstance(node, ast.Starred):
        node.value = target(scope, node.value)
    return node


def _is_of_changed_list(scope: Scope, node: ast.Subscript) -> bool:
    """Notes an item of a list that may be a value of the graph: to set it is to change the list."""
    unit = scope.unit
    if not unit.stages_objects or not isinstance(node.value, ast.Name):
        return False
    name = node.value.id
    if name not in scope.local_names or not unit.changes_list(name):
        return False
    scope.writes |= scope.bit(name)
    return True


def _note_composite(scope: Scope, node: ast.expr) -> None:
    composite = composite_of(node)
    if composite is not None:
        scope.composites[composite.text] = composite


def convert_deletion(scope: Scope, node: ast.Delete) -> list[ast.stmt]:
    """Returns what deletes the same, one target after the other."""
    found: list[ast.stmt] = []
    for item in _flat(node.targets):
        if not isinstance(item, ast.Name):
            found.append(put(ast.Delete([target(scope, item)]), node))
        elif item.id in scope.declared:
            scope.reads |= scope.bit(item.id)
            scope.writes |= scope.bit(item.id)
            read = scope.unit.call("ld", [load(item.id, item)], item)
            found += [put(ast.Expr(read), node), put(ast.Delete([item]), node)]
        else:
            bit = scope.bit(item.id)
            scope.reads |= bit
            scope.writes |= bit
            read = scope.unit.call("ld", [load(item.id, item)], item)
            found.append(put(ast.Expr(read), node))
            found.append(assign(item.id, scope.unit.undefined(item.id, item), node))
    return found


def _flat(targets: list[ast.expr]) -> list[ast.expr]:
    found: list[ast.expr] = []
    for item in targets:
        found += _flat(item.elts) if isinstance(item, ast.Tuple | ast.List) else [item]
    return found


def convert_augmented(scope: Scope, node: ast.AugAssign) -> list[ast.stmt]:
    """Reads a name that may lack a value with `ld`, before its value is changed in place."""
    value = scope.visit(node.value)
    node.value = value
    if not isinstance(node.target, ast.Name):
        node.target = target(scope, node.target)  # type: ignore[assignment]
        return [node]
    name = node.target.id
    bit = scope.bit(name)
    scope.reads |= bit
    scope.writes |= bit
    if scope.certain & bit:
        return [node]
    read = scope.unit.call("ld", [load(name, node.target)], node.target)
    return [assign(name, read, node), node]
