"""Makes nodes of the syntax tree. Each stands where a node of the user's code stood.

The attributes of a node live in its `__dict__`. Setting that at once costs less than half of what
calling the class with keywords does, and a conversion makes thousands of nodes.
"""

import ast
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)

LOAD = ast.Load()
STORE = ast.Store()
NOT = ast.Not()


def load(name: str, at: ast.AST) -> ast.Name:
    """Returns a read of a name."""
    node = ast.Name.__new__(ast.Name)
    here = at.__dict__
    node.__dict__ = {
        "id": name,
        "ctx": LOAD,
        "lineno": here["lineno"],
        "col_offset": here["col_offset"],
        "end_lineno": here["end_lineno"],
        "end_col_offset": here["end_col_offset"],
    }
    return node


def store(name: str, at: ast.AST) -> ast.Name:
    """Returns a name as the target of an assignment."""
    node = load(name, at)
    node.ctx = STORE
    return node


def call(
    function: ast.expr,
    arguments: list[ast.expr],
    at: ast.AST,
    keywords: list[ast.keyword] | None = None,
) -> ast.Call:
    """Returns a call."""
    node = ast.Call.__new__(ast.Call)
    here = at.__dict__
    node.__dict__ = {
        "func": function,
        "args": arguments,
        "keywords": [] if keywords is None else keywords,
        "lineno": here["lineno"],
        "col_offset": here["col_offset"],
        "end_lineno": here["end_lineno"],
        "end_col_offset": here["end_col_offset"],
    }
    return node


def constant(value: str | int | bool | tuple[str, ...] | None, at: ast.AST) -> ast.Constant:
    """Returns a literal."""
    node = ast.Constant.__new__(ast.Constant)
    here = at.__dict__
    node.__dict__ = {
        "value": value,
        "kind": None,
        "lineno": here["lineno"],
        "col_offset": here["col_offset"],
        "end_lineno": here["end_lineno"],
        "end_col_offset": here["end_col_offset"],
    }
    return node


def sequence(elements: list[ast.expr], at: ast.AST, ctx: ast.expr_context = LOAD) -> ast.Tuple:
    """Returns a tuple."""
    return put(ast.Tuple(elements, ctx), at)


def attribute(value: ast.expr, name: str, at: ast.AST) -> ast.Attribute:
    """Returns `value.name`. It ends on its first line: Python counts a method as on its last."""
    node = put(ast.Attribute(value, name, LOAD), at)
    node.end_lineno = node.lineno
    node.end_col_offset = node.col_offset
    return node


def put(node: Node, at: ast.AST) -> Node:
    """Gives a new node the place of another one, and returns it."""
    there, here = node.__dict__, at.__dict__
    there["lineno"] = here["lineno"]
    there["col_offset"] = here["col_offset"]
    there["end_lineno"] = here["end_lineno"]
    there["end_col_offset"] = here["end_col_offset"]
    return node


def assign(name: str, value: ast.expr, at: ast.AST) -> ast.Assign:
    """Returns the statement `name = value`."""
    return put(ast.Assign([store(name, at)], value), at)


def set_flag(name: str, value: bool, at: ast.AST) -> ast.Assign:
    """Returns the statement `name = True` or `name = False`."""
    return assign(name, constant(value, at), at)


def negation(value: ast.expr, at: ast.AST) -> ast.UnaryOp:
    """Returns `not value`."""
    return put(ast.UnaryOp(NOT, value), at)


NO_PARAMETERS = ast.arguments([], [], None, [], [], None, [])


def parameters(*names: ast.arg) -> ast.arguments:
    """Returns the parameters of a helper: these, by position."""
    return ast.arguments([], list(names), None, [], [], None, [])


def parameter(name: str, at: ast.AST) -> ast.arg:
    """Returns a parameter."""
    return put(ast.arg(name, None), at)


def definition(
    name: str, arguments: ast.arguments, body: list[ast.stmt], at: ast.AST
) -> ast.FunctionDef:
    """Returns a `def` without decorators."""
    node = ast.FunctionDef(name, arguments, body, [], None)
    node.__dict__["type_params"] = []  # Needed from Python 3.12 on.
    return put(node, at)


def returning(value: ast.expr, at: ast.AST) -> ast.Return:
    """Returns the statement `return value`."""
    return put(ast.Return(value), at)
