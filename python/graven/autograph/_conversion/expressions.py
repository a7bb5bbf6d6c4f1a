"""Converts expressions: one handler for each kind of node.

A conversion visits each expression once. The visit rewrites it and notes which names it reads.
"""

import ast
from collections.abc import Iterable, Mapping

from graven.autograph._conversion.calls import convert_call
from graven.autograph._conversion.conditional_expressions import convert_conditional
from graven.autograph._conversion.lists import convert_list, convert_subscript
from graven.autograph._conversion.logical_expressions import (
    convert_bool,
    convert_compare,
    convert_unary,
)
from graven.autograph._conversion.named_expressions import convert_named_expression
from graven.autograph._conversion.scope import Handler, Scope
from graven.autograph._conversion.variables import (
    GeneratedName,
    read_generated_name,
    read_name,
    target,
)


def _keep(scope: Scope, node: ast.expr) -> ast.expr:
    return node


def _convert_parts(scope: Scope, node: ast.expr) -> ast.expr:
    """Converts the expressions of which another one is made."""
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.expr):
            setattr(node, name, scope.visit(value))
        elif isinstance(value, list):
            for i, part in enumerate(value):
                if isinstance(part, ast.expr):
                    value[i] = scope.visit(part)
                elif hasattr(part, "value") and isinstance(part.value, ast.expr):
                    part.value = scope.visit(part.value)
    return node


def _convert_attribute(scope: Scope, node: ast.Attribute) -> ast.expr:
    node.value = scope.visit(node.value)
    return node


def _convert_binary(scope: Scope, node: ast.BinOp) -> ast.expr:
    node.left = scope.visit(node.left)
    node.right = scope.visit(node.right)
    return node


def _convert_tuple(scope: Scope, node: ast.Tuple) -> ast.expr:
    node.elts = scope.visit_all(node.elts)
    return node


def _convert_lambda(scope: Scope, node: ast.Lambda) -> ast.expr:
    """Converts a lambda inside of a function. It calls by the scope of that function."""
    convert_defaults(scope, node.args)
    reads, writes, certain = scope.reads, scope.writes, scope.certain
    scope.reads = 0
    parameters = scope.set_of(set(parameter_names(node.args)))
    scope.assure(parameters)
    node.body = scope.visit(node.body)
    free = scope.reads & ~parameters
    scope.captured |= free
    scope.reads, scope.writes, scope.certain = reads | free, writes, certain
    return scope.unit.call("autograph_artifact", [node], node)


def convert_defaults(scope: Scope, arguments: ast.arguments) -> None:
    """Converts the defaults of parameters, which are evaluated where the function is defined."""
    arguments.defaults = scope.visit_all(arguments.defaults)
    arguments.kw_defaults = [
        None if value is None else scope.visit(value) for value in arguments.kw_defaults
    ]


def parameter_names(arguments: ast.arguments) -> Iterable[str]:
    """Yields the names of parameters."""
    for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        yield parameter.arg
    if arguments.vararg is not None:
        yield arguments.vararg.arg
    if arguments.kwarg is not None:
        yield arguments.kwarg.arg


def _convert_comprehension(
    scope: Scope, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
) -> ast.expr:
    """Converts the parts. Only the first iterable belongs to the function around it."""
    first = node.generators[0]
    first.iter = scope.visit(first.iter)
    reads, writes = scope.reads, scope.writes
    scope.reads = scope.writes = 0
    bound = 0
    named = 0
    for generator in node.generators:
        if generator is not first:
            generator.iter = scope.visit(generator.iter)
        before, scope.writes = scope.writes, 0
        generator.target = target(scope, generator.target)
        bound |= scope.writes
        scope.writes = before
        generator.ifs = scope.visit_all(generator.ifs)
    if isinstance(node, ast.DictComp):
        node.key = scope.visit(node.key)
        node.value = scope.visit(node.value)
    else:
        node.elt = scope.visit(node.elt)
    named = scope.writes
    free = scope.reads & ~bound
    if isinstance(node, ast.GeneratorExp):
        scope.captured |= free | named
    scope.reads, scope.writes = reads | free, writes | named
    return node


def _convert_dict(scope: Scope, node: ast.Dict) -> ast.expr:
    node.keys = [None if key is None else scope.visit(key) for key in node.keys]
    node.values = scope.visit_all(node.values)
    return node


class _Handlers(dict[type[ast.AST], Handler]):
    """Gives kinds of expressions that a later Python may have the general handler."""

    def __missing__(self, kind: type[ast.AST]) -> Handler:
        return _convert_parts


HANDLERS: Mapping[type[ast.AST], Handler] = _Handlers(
    {
        GeneratedName: read_generated_name,
        ast.Attribute: _convert_attribute,
        ast.BinOp: _convert_binary,
        ast.BoolOp: convert_bool,
        ast.Call: convert_call,
        ast.Compare: convert_compare,
        ast.Constant: _keep,
        ast.Dict: _convert_dict,
        ast.DictComp: _convert_comprehension,
        ast.GeneratorExp: _convert_comprehension,
        ast.IfExp: convert_conditional,
        ast.Lambda: _convert_lambda,
        ast.List: convert_list,
        ast.ListComp: _convert_comprehension,
        ast.Name: read_name,
        ast.NamedExpr: convert_named_expression,
        ast.SetComp: _convert_comprehension,
        ast.Subscript: convert_subscript,
        ast.Tuple: _convert_tuple,
        ast.UnaryOp: convert_unary,
    }
)
