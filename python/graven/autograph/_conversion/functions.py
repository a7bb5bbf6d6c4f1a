"""Bodies of functions: within a `FunctionScope`, which knows the options and the returned value."""

import ast

from graven.autograph._conversion.control_flow import Emitter
from graven.autograph._conversion.exits import ExitRemover
from graven.autograph._conversion.expressions import HANDLERS, parameter_names
from graven.autograph._conversion.free_names import bound_names
from graven.autograph._conversion.nodes import (
    assign,
    attribute,
    call,
    constant,
    load,
    put,
    returning,
    set_flag,
    store,
)
from graven.autograph._conversion.scope import Scope, Unit
from graven.autograph._conversion.statements import Statements
from graven.autograph._conversion.steps import ALL, Block, Plain
from graven.autograph._conversion.variables import bind, generated, read_generated_name

_FRAME_READERS = frozenset(("dir", "eval", "exec", "locals", "vars"))  # They read any name.


def convert_outermost(unit: Unit, node: ast.FunctionDef, name: str, options: ast.expr) -> ast.stmt:
    """Converts the function of a conversion, in place. Decorators and defaults go.

    So do annotations, as the function gets those that it has; a text shows them.
    """
    unit.define = define_inner
    title = node.name
    node.name = name
    node.decorator_list = []
    node.__dict__["type_params"] = []
    drop_defaults(node.args)
    if not unit.is_text:
        node.returns = None
        _drop_annotations(node.args)
    scope = Scope(unit, HANDLERS, unit.names.new("fscope"))
    _convert_body(scope, node, title, options)
    return node


def define_inner(outer: Scope, node: ast.FunctionDef) -> ast.FunctionDef:
    """Converts a function inside of another one, in place, and marks it."""
    unit = outer.unit
    scope = Scope(unit, HANDLERS, unit.names.new("fscope"))
    _convert_body(scope, node, node.name, unit.inner_options(unit, node))
    node.decorator_list.append(unit.operator("autograph_artifact", node))
    return node


def convert_lambda(unit: Unit, node: ast.Lambda, options: ast.expr) -> ast.Lambda:
    """Converts a lambda that is not in another function. No name in it can lack a value."""
    drop_defaults(node.args)
    scope = Scope(unit, HANDLERS, unit.helper("lscope"))
    scope.reads_names = False
    value = scope.visit(node.body)
    inner = unit.thunk(value, value)
    inner.args = ast.arguments(
        [], [put(ast.arg(scope.fscope, None), value)], None, [], [], None, []
    )
    arguments = [inner, constant(scope.fscope, value), options]
    node.body = unit.call("with_function_scope", arguments, value)
    return node


def drop_defaults(arguments: ast.arguments) -> None:
    """Leaves None for each default; conversion gives the function those that it has."""
    none = ast.Constant(None, None)
    for i, default in enumerate(arguments.defaults):
        arguments.defaults[i] = put(none, default)
    for i, value in enumerate(arguments.kw_defaults):
        if value is not None:
            arguments.kw_defaults[i] = put(none, value)


def _drop_annotations(arguments: ast.arguments) -> None:
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        each.annotation = None
    for extra in (arguments.vararg, arguments.kwarg):
        if extra is not None:
            extra.annotation = None


def _convert_body(scope: Scope, node: ast.FunctionDef, title: str, options: ast.expr) -> None:
    unit, body = scope.unit, node.body
    head: list[ast.stmt] = []
    first = body[0].value if isinstance(body[0], ast.Expr) else None
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        head, body = body[:1], body[1:]
    parameters = set(parameter_names(node.args))
    if "LISTS" in unit.features or unit.stages_objects:
        scope.local_names = frozenset(bound_names(body) | parameters)
    exits = ExitRemover(unit)
    statements = exits.remove(body)
    bound = scope.set_of(parameters)
    block = Statements(scope, exits).block(statements, bound)
    if not _FRAME_READERS.isdisjoint(scope.bits):
        scope.captured = ALL
    if exits.do_return is not None:
        block = _returning(scope, exits, block, node)
    emitted = Emitter(scope).body(block, bound) or [put(ast.Pass(), node)]
    scoped = call(
        unit.operator("FunctionScope", node),
        [constant(title, node), constant(scope.fscope, node), options],
        node,
    )
    item = ast.withitem(scoped, store(scope.fscope, node))
    node.body = [*head, *_declarations(scope, node), put(ast.With([item], emitted), node)]
    if exits.dropped:
        # What nothing reaches still makes its names local.
        for name in sorted(bound_names(exits.dropped) - parameters - set(scope.declared)):
            node.body.append(assign(name, constant(None, node), node))


def _returning(scope: Scope, exits: ExitRemover, block: Block, at: ast.AST) -> Block:
    """Adds the first values of the flag and of the returned value, and the only return.

    They stand at the `def`, which has run: for coverage and debuggers no line of the user's runs
    that does not run in Python.
    """
    assert exits.do_return is not None
    scope.reads = scope.writes = 0
    scope.composites = {}
    bind(scope, exits.do_return)
    bind(scope, exits.retval)
    undefined = scope.unit.call("UndefinedReturnValue", [], at)
    initial = [set_flag(exits.do_return, False, at), assign(exits.retval, undefined, at)]
    head = Plain(scope, at, initial)
    scope.reads = scope.writes = 0
    names = [
        read_generated_name(scope, generated(exits.retval, at)),
        read_generated_name(scope, generated(exits.do_return, at)),
    ]
    method = attribute(load(scope.fscope, at), "ret", at)
    tail = Plain(scope, at, [returning(call(method, names, at), at)])
    return Block([head, *block.steps, tail])


def _declarations(scope: Scope, at: ast.AST) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for name, is_global in scope.declared.items():
        kind = ast.Global if is_global else ast.Nonlocal
        found.append(put(kind([name]), at))
    return found
