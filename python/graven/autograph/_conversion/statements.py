"""Visits statements: converts their expressions, and notes what they read and bind."""

import ast
from collections.abc import Callable
from typing import Any

from graven.autograph._conversion.asserts import convert_assert
from graven.autograph._conversion.directives import refuse_directive
from graven.autograph._conversion.exits import ExitRemover, LoopParts
from graven.autograph._conversion.expressions import convert_defaults
from graven.autograph._conversion.free_names import free_names
from graven.autograph._conversion.kept_definitions import GuardReads
from graven.autograph._conversion.lists import convert_item_assignment, convert_list_statement
from graven.autograph._conversion.nodes import constant, put, set_flag, store
from graven.autograph._conversion.scope import Scope
from graven.autograph._conversion.steps import (
    Block,
    For,
    If,
    Match,
    Plain,
    Step,
    Try,
    While,
    With,
    twice,
)
from graven.autograph._conversion.variables import (
    bind,
    convert_augmented,
    convert_deletion,
    target,
)


class Statements:
    """Visits the statements of one function.

    Args:
      scope: The function.
      exits: Has removed its exits.
    """

    def __init__(self, scope: Scope, exits: ExitRemover) -> None:
        self._scope = scope
        self._exits = exits

    def block(self, block: list[ast.stmt], bound: int = 0) -> Block:
        """Visits statements, before which some names are bound."""
        scope = self._scope
        steps: list[Step] = []
        certain = scope.certain
        scope.assure(bound)
        for node in block:
            scope.reads = scope.writes = 0
            scope.composites = {}
            step = _VISITORS.get(node.__class__, Statements._other)(self, node)
            steps.append(step)
            if step.__class__ is Plain:
                scope.assure(step.modified)
        scope.certain = certain
        return Block(steps)

    def _plain(self, node: ast.stmt, *statements: ast.stmt, ends: bool = True) -> Step:
        return Plain(self._scope, node, statements, ends)

    def _other(self, node: ast.stmt) -> Step:
        """Keeps a statement, with its expressions converted. Python may have more in time."""
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, name, self._scope.visit(value))
        return self._plain(node, node)

    def _assign(self, node: ast.Assign) -> Step:
        scope = self._scope
        found = convert_list_statement(scope, node) or convert_item_assignment(scope, node)
        if found is not None:
            return self._plain(node, *found)
        node.value = scope.visit(node.value)
        node.targets = [target(scope, each) for each in node.targets]
        return self._plain(node, node)

    def _annotated(self, node: ast.AnnAssign) -> Step:
        """Drops the annotation: Python evaluates none in a function, and allows no nonlocal one."""
        if node.value is None:
            return self._plain(node, put(ast.Pass(), node))
        return self._assign(put(ast.Assign([node.target], node.value), node))

    def _augmented(self, node: ast.AugAssign) -> Step:
        return self._plain(node, *convert_augmented(self._scope, node))

    def _expression(self, node: ast.Expr) -> Step:
        scope = self._scope
        refuse_directive(scope.unit, node.value)
        found = convert_list_statement(scope, node)
        if found is not None:
            return self._plain(node, *found)
        node.value = scope.visit(node.value)
        return self._plain(node, node)

    def _assert(self, node: ast.Assert) -> Step:
        return self._plain(node, convert_assert(self._scope, node))

    def _raise(self, node: ast.Raise) -> Step:
        scope = self._scope
        node.exc = None if node.exc is None else scope.visit(node.exc)
        node.cause = None if node.cause is None else scope.visit(node.cause)
        return self._plain(node, node, ends=False)

    def _delete(self, node: ast.Delete) -> Step:
        return self._plain(node, *convert_deletion(self._scope, node))

    def _import(self, node: ast.Import | ast.ImportFrom) -> Step:
        for alias in node.names:
            bind(self._scope, alias.asname or alias.name.partition(".")[0])
        return self._plain(node, node)

    def _declaration(self, node: ast.Global | ast.Nonlocal) -> Step:
        """Takes a declaration away. It holds for the function, at whose head it is put again."""
        scope = self._scope
        for name in node.names:
            scope.declared[name] = isinstance(node, ast.Global)
            scope.everywhere |= scope.bit(name)
        return self._plain(node)

    def _return(self, node: ast.Return) -> Step:
        """Returns what sets the flag and the value. Where the value raises, the flag is not set."""
        scope, exits = self._scope, self._exits
        assert exits.do_return is not None
        value = constant(None, node) if node.value is None else scope.visit(node.value)
        bind(scope, exits.do_return)
        bind(scope, exits.retval)
        assigned = put(ast.Assign([store(exits.retval, node)], value), node)
        undone: list[ast.stmt] = [set_flag(exits.do_return, False, node), put(ast.Raise(), node)]
        handler = put(ast.ExceptHandler(None, None, undone), node)
        body: list[ast.stmt] = [set_flag(exits.do_return, True, node), assigned]
        return self._plain(node, put(ast.Try(body, [handler], [], []), node))

    def _definition(self, node: ast.FunctionDef) -> Step:
        """Converts an inner function. What it has from around it can be read at any time."""
        scope = self._scope
        free = scope.set_of(free_names(node))
        node.decorator_list = [scope.visit_plainly(each) for each in node.decorator_list]
        convert_defaults(scope, node.args)
        scope.reads |= free | self._annotations(node)
        scope.everywhere |= free
        bind(scope, node.name)
        if scope.unit.has_yields and _is_generator(node):
            self._guard(node, node.body)
        else:
            node = scope.unit.define(scope, node)
        return self._plain(node, node)

    def _annotations(self, node: ast.FunctionDef) -> int:
        found = 0
        nodes = [node.returns] if node.returns is not None else []
        arguments = node.args
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if each.annotation is not None:
                nodes.append(each.annotation)
        for extra in (arguments.vararg, arguments.kwarg):
            if extra is not None and extra.annotation is not None:
                nodes.append(extra.annotation)
        for root in nodes:
            found |= self._names_in(root)
        return found

    def _names_in(self, root: ast.AST) -> int:
        names = {node.id for node in ast.walk(root) if isinstance(node, ast.Name)}
        return self._scope.set_of(names)

    def _kept(self, node: ast.ClassDef | ast.AsyncFunctionDef) -> Step:
        """Keeps a class or a coroutine. Methods are converted when converted code calls them."""
        scope = self._scope
        free = scope.set_of(free_names(node))
        scope.reads |= self._names_in(node)
        scope.everywhere |= free
        bind(scope, node.name)
        self._guard(node, node.body)
        return self._plain(node, node)

    def _guard(self, node: ast.AST, body: list[ast.stmt]) -> None:
        """Lets what a kept definition reads from around it be refused if it has no value."""
        unit = self._scope.unit
        names = free_names(node) & unit.bound
        if names:
            guard = GuardReads(unit, names)
            body[:] = [guard.visit(statement) for statement in body]

    def _if(self, node: ast.If) -> Step:
        scope = self._scope
        test = scope.visit(node.test)
        reads, writes, captured = scope.reads, scope.writes, scope.captured
        body, orelse = self.block(node.body), self.block(node.orelse)
        return If(node, test, body, orelse, reads, writes, captured)

    def _while(self, node: ast.While) -> Step:
        scope = self._scope
        parts = self._exits.loops[node]
        test = scope.visit(node.test)
        self._visit_options(parts)
        reads, captured = scope.reads, scope.captured
        body = self.block(node.body)
        return While(node, test, body, parts.options, reads, captured, scope.captured)

    def _for(self, node: ast.For) -> Step:
        scope = self._scope
        parts = self._exits.loops[node]
        node.iter = scope.visit(node.iter)
        self._visit_options(parts)
        if parts.extra_test is not None:
            parts.extra_test = scope.visit(parts.extra_test)
        bound_before = scope.writes
        scope.writes = 0
        node.target = target(scope, node.target)
        reads, writes, composites = scope.reads, scope.writes, scope.composites
        captured = scope.captured
        body = self.block(node.body, writes)
        if composites:
            body.composites = {**body.composites, **composites}
        body.modified |= writes
        found = For(
            node,
            node.iter,
            parts.extra_test,
            body,
            parts.options,
            reads,
            writes,
            captured,
            scope.captured,
        )
        found.modified |= bound_before
        return found

    def _visit_options(self, parts: LoopParts) -> None:
        for keyword in parts.options:
            keyword.value = self._scope.visit(keyword.value)

    def _with(self, node: ast.With) -> Step:
        scope = self._scope
        for item in node.items:
            item.context_expr = scope.visit_plainly(item.context_expr)
            if item.optional_vars is not None:
                item.optional_vars = target(scope, item.optional_vars)
        header = self._plain(node)
        body = self.block(node.body, header.modified)
        scope.managed |= body.modified
        return With(node, body, header)

    def _try(self, node: ast.Try | ast.TryStar) -> Step:
        scope = self._scope
        reads = 0
        body = self.block(node.body)
        handlers = []
        for handler in node.handlers:
            scope.reads = scope.writes = 0
            if handler.type is not None:
                handler.type = scope.visit(handler.type)
            reads |= scope.reads
            block = self.block(handler.body)
            if handler.name is not None:
                bit = scope.bit(handler.name)
                scope.caught |= bit
                block.gen &= ~twice(bit)
                block.kill |= twice(bit)
                block.modified |= bit
            handlers.append(block)
        return Try(node, body, handlers, self.block(node.orelse), self.block(node.finalbody), reads)

    def _match(self, node: ast.Match) -> Step:
        scope = self._scope
        node.subject = scope.visit(node.subject)
        reads, writes = scope.reads, scope.writes
        heads: list[Step] = []
        bodies = []
        for case in node.cases:
            scope.reads = scope.writes = 0
            self._pattern(case.pattern)
            captured, scope.writes = scope.writes, 0
            if case.guard is not None:
                names = scope.reads
                scope.reads = 0
                case.guard = scope.visit(case.guard)
                scope.reads = names | (scope.reads & ~captured)
            scope.writes |= captured
            heads.append(self._plain(node))
            bodies.append(self.block(case.body))
        last = node.cases[-1]
        exhaustive = last.guard is None and _is_irrefutable(last.pattern)
        found = Match(node, reads, heads, bodies, exhaustive)
        found.modified |= writes
        return found

    def _pattern(self, pattern: ast.pattern) -> None:
        """Notes the names of a pattern, which stays as it is."""
        scope = self._scope
        for node in ast.walk(pattern):
            if isinstance(node, ast.Name):
                scope.reads |= scope.bit(node.id)
            elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name is not None:
                bind(scope, node.name)
            elif isinstance(node, ast.MatchMapping) and node.rest is not None:
                bind(scope, node.rest)


def _is_irrefutable(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and (
        pattern.pattern is None or _is_irrefutable(pattern.pattern)
    )


def _is_generator(node: ast.FunctionDef) -> bool:
    """Whether a function has a `yield` of its own."""
    return any(_has_yield(statement) for statement in node.body)


def _has_yield(node: ast.AST) -> bool:
    if isinstance(node, ast.Yield | ast.YieldFrom):
        return True
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
        return False
    return any(map(_has_yield, ast.iter_child_nodes(node)))


_VISITORS: dict[type[ast.AST], Callable[[Statements, Any], Step]] = {
    ast.AnnAssign: Statements._annotated,
    ast.Assert: Statements._assert,
    ast.Assign: Statements._assign,
    ast.AsyncFunctionDef: Statements._kept,
    ast.AugAssign: Statements._augmented,
    ast.ClassDef: Statements._kept,
    ast.Delete: Statements._delete,
    ast.Expr: Statements._expression,
    ast.For: Statements._for,
    ast.FunctionDef: Statements._definition,
    ast.Global: Statements._declaration,
    ast.If: Statements._if,
    ast.Import: Statements._import,
    ast.ImportFrom: Statements._import,
    ast.Match: Statements._match,
    ast.Nonlocal: Statements._declaration,
    ast.Raise: Statements._raise,
    ast.Return: Statements._return,
    ast.Try: Statements._try,
    ast.TryStar: Statements._try,
    ast.While: Statements._while,
    ast.With: Statements._with,
}
