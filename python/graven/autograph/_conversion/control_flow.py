"""`if`, `while` and `for` become calls of operators, with functions for bodies, tests and state.

The symbols of a statement are the names that its bodies bind and that are live before or after it,
and the composites they set of which the parts have a value before it. Names that are not live are
local to the bodies. Some names are shared with the bodies though no symbols of loops: those that a
lambda or a generator has captured, and those bound in a `with`, whose exceptions nobody sees.
Python's meaning needs that, and staging does not. Of those that a lambda above a statement has
captured, or one further down in a loop around it, the operator is told: it may be called after the
statement.
"""

import ast
from collections.abc import Callable, Sequence
from typing import Any

from graven.autograph._conversion.bindings import Bindings
from graven.autograph._conversion.composites import Composite
from graven.autograph._conversion.nodes import (
    NO_PARAMETERS,
    STORE,
    assign,
    call,
    constant,
    definition,
    load,
    parameter,
    parameters,
    put,
    returning,
    sequence,
    store,
)
from graven.autograph._conversion.scope import Scope
from graven.autograph._conversion.steps import (
    ALL,
    Block,
    For,
    If,
    Match,
    Plain,
    Step,
    Try,
    While,
    With,
    read_if_empty,
    twice,
)

Statements = list[ast.stmt]


class Shared:
    """The symbols of a statement.

    Attributes:
      symbols: Names and composites, in the order of the state.
      names: The names that the bodies share.
      outputs: How many of the symbols are live after the statement.
      captured: How many come next that are not, but that a lambda may read.
      fresh: The names that the bodies bind and that have no value before.
      unsure: Names that may have one or not.
    """

    __slots__ = ("captured", "fresh", "names", "outputs", "symbols", "unsure")

    def __init__(
        self,
        symbols: "list[str | Composite]",
        names: int,
        outputs: int,
        captured: int,
        fresh: int,
        unsure: int,
    ) -> None:
        self.symbols = symbols
        self.names = names
        self.outputs = outputs
        self.captured = captured
        self.fresh = fresh
        self.unsure = unsure


class Emitter:
    """Makes the statements of a converted function of the steps of the user's.

    Args:
      scope: The function, after all its statements were visited.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._unit = scope.unit
        self._declared = scope.set_of(set(scope.declared))
        self._unsafe = scope.caught | self._declared
        self._locals = 0
        self._captured = 0  # names that a lambda in a loop around reads, perhaps one further down

    def body(self, block: Block, parameters: int) -> Statements:
        """Returns the statements of the function. Its parameters have values at its start."""
        bound = parameters | self._declared
        self._locals = block.modified & ~bound
        return self._block(block, 0, 0, Bindings(bound, bound))

    def _block(self, block: Block, live: int, caught: int, bindings: Bindings) -> Statements:
        """Returns statements.

        Args:
          block: Their steps.
          live: The names live after them.
          caught: The names live where an exception leads.
          bindings: The names with a value; updated.
        """
        after = []
        for step in reversed(block.steps):
            after.append(live)
            live = step.gen | (live & ~step.kill)
        found: Statements = []
        for step in block.steps:
            live = after.pop()
            if isinstance(step, Plain):
                found += step.statements
                bindings.bind(step.modified)
            else:
                emit = _EMITTERS[step.__class__]
                found += emit(self, step, live, caught, bindings)
        return found

    def _if(self, step: If, live: int, caught: int, bindings: Bindings) -> Statements:
        bindings.bind(step.writes)
        modified = step.body.modified | step.orelse.modified
        scope = self._scope
        after = live | caught
        passed = live & ~(step.body.kill & step.orelse.kill)
        before = step.reads | step.body.gen | step.orelse.gen | passed | caught
        bound = (bindings.must << 1) | (step.body.kill & step.orelse.kill)
        local = read_if_empty(after) & ~(bound >> 1) & ~scope.everywhere
        outputs = modified & (after | scope.everywhere) & ~local
        inputs = modified & (before | scope.captured) & ~outputs
        hidden = modified & scope.managed
        captured = inputs & (step.captured | self._captured) & bindings.may
        shared = self._shared(step, modified, before, outputs, inputs, hidden, bindings, captured)
        body_name = self._unit.helper("if_body")
        inside = bindings.inside(modified, outputs | inputs | hidden)
        at = step.node
        found, state = self._state(shared, at)
        body = self._block(step.body, live, caught, inside.copy())
        found.append(self._function(body_name, step.body.modified & shared.names, body, at))
        orelse: ast.expr = constant(None, at)
        if step.orelse.steps or self._unit.is_text:
            orelse_name = self._unit.helper("else_body")
            orelse = load(orelse_name, at)
            body = self._block(step.orelse, live, caught, inside)
            found.append(self._function(orelse_name, step.orelse.modified & shared.names, body, at))
        found += self._initial(shared, at)
        arguments = [
            step.test,
            load(body_name, at),
            orelse,
            *state,
            self._symbol_names(shared, at),
            constant(shared.outputs, at),
            *self._count_of_captured(shared, at),
        ]
        found.append(self._operator_call("if_stmt", arguments, at))
        return found

    def _while(self, step: While, live: int, caught: int, bindings: Bindings) -> Statements:
        head = step.gen | live | caught
        unread = self._rarely_read(step, head, live | caught, bindings)
        shared, state, found, inside = self._loop(step, step.body, head, bindings)
        at = step.node
        body_name, test_name = self._unit.helper("loop_body"), self._unit.helper("loop_test")
        body = self._loop_body(step, head, caught, inside)
        found.append(self._function(body_name, shared.names, body, at))
        test = [returning(step.test, step.test)]
        found.append(definition(test_name, NO_PARAMETERS, test, at))  # type: ignore[arg-type]
        found += self._initial(shared, at)
        arguments = [
            *self._loads((test_name, body_name), at),
            *state,
            self._symbol_names(shared, at),
            self._options(step.options, unread, at),
            *self._count_of_captured(shared, at),
        ]
        found.append(self._operator_call("while_stmt", arguments, at))
        return found

    def _for(self, step: For, live: int, caught: int, bindings: Bindings) -> Statements:
        bindings.bind(step.modified & ~step.body.modified)
        head = step.gen | live | caught
        unread = self._rarely_read(step, head, live | caught, bindings)
        shared, state, found, inside = self._loop(step, step.body, head, bindings)
        node = step.node
        body_name, element = self._unit.helper("loop_body"), self._unit.names.new("itr")
        inside.bind(step.writes)
        first = put(ast.Assign([node.target], load(element, node.target)), node.target)
        body = [first, *self._loop_body(step, head, caught, inside)]
        found.append(self._function(body_name, shared.names, body, node, element))
        test: ast.expr = constant(None, node)
        if step.extra_test is not None:
            test_name = self._unit.helper("extra_test")
            test = load(test_name, node)
            statement = returning(step.extra_test, node)
            found.append(definition(test_name, NO_PARAMETERS, [statement], node))
        found += self._initial(shared, node)
        target = _text(node.target)
        arguments = [
            step.iterable,
            test,
            load(body_name, node),
            *state,
            self._symbol_names(shared, node),
            self._options(step.options, [("iterate_names", target), *unread], node),
            *self._count_of_captured(shared, node),
        ]
        found.append(self._operator_call("for_stmt", arguments, node))
        return found

    def _with(self, step: With, live: int, caught: int, bindings: Bindings) -> Statements:
        """Keeps a `with`. After it, what its body binds may be missing: it may swallow errors."""
        bindings.bind(step.header.modified)
        found = self._kept_initial(step, live | caught, bindings)
        must = bindings.must
        step.node.body = self._kept_block(step.body, live, caught, bindings, step.node)
        bindings.must = must
        return [*found, step.node]

    def _try(self, step: Try, live: int, caught: int, bindings: Bindings) -> Statements:
        """Keeps a `try`. From any place in its body its handlers may be next."""
        node = step.node
        after = step.final.gen | (live & ~step.final.kill)
        outside = caught | step.final.gen
        handled = outside | twice(step.reads)
        for block in step.handlers:
            handled |= block.gen | (after & ~block.kill)
        found = self._kept_initial(step, after | handled, bindings)
        start = bindings.copy()
        orelse_live = step.orelse.gen | (after & ~step.orelse.kill)
        node.body = self._kept_block(step.body, orelse_live, handled, bindings, node)
        node.orelse = self._block(step.orelse, after, outside, bindings)
        must = ALL if (step.body.kill | step.orelse.kill) < 0 else bindings.must
        start.may |= step.body.modified
        for handler, block in zip(node.handlers, step.handlers, strict=True):
            inside = start.copy()
            name = 0 if handler.name is None else self._scope.bit(handler.name)
            inside.bind(name)
            handler.body = self._kept_block(block, after, outside, inside, handler)
            must &= ALL if block.kill < 0 else inside.must & ~name
            start.must &= ~name
            bindings.may |= block.modified
        final = Bindings(start.must, bindings.may | start.may)
        node.finalbody = self._block(step.final, live, caught, final)
        bindings.must = (must & (bindings.must | step.modified)) | final.must
        bindings.may |= step.modified
        return [*found, node, *self._unbound_by_handlers(node, live, bindings)]

    def _unbound_by_handlers(
        self, node: ast.Try | ast.TryStar, live: int, bindings: Bindings
    ) -> Statements:
        """Returns what gives values to names of exceptions that are read: Python unbinds them."""
        names = {handler.name for handler in node.handlers if handler.name is not None}
        lost = self._scope.set_of(names) & live & self._locals & ~bindings.must
        bindings.bind(lost)
        return [
            assign(name, self._unit.read_safely(load(name, node), name, node), node)
            for name in self._scope.names_in(lost)
        ]

    def _match(self, step: Match, live: int, caught: int, bindings: Bindings) -> Statements:
        """Keeps a `match`. The patterns of cases that are not taken may have bound names."""
        found = self._kept_initial(step, live | caught, bindings)
        must, may = (ALL if step.is_exhaustive else bindings.must), bindings.may
        for case, head, block in zip(step.node.cases, step.heads, step.bodies, strict=True):
            may |= head.modified
            inside = Bindings(bindings.must | head.modified, may)
            case.body = self._kept_block(block, live, caught, inside, case.pattern)
            must &= ALL if block.kill < 0 else inside.must
        bindings.must |= must & step.modified
        bindings.may |= step.modified
        return [*found, step.node]

    def _kept_initial(self, step: Step, read: int, bindings: Bindings) -> Statements:
        """Returns what gives values to names that a statement may leave unbound, and that are read.

        If a helper read one, Python would take it for a free name, of which the error is another.
        """
        scope = self._scope
        fresh = step.modified & self._locals & ~bindings.may
        fresh &= read | scope.everywhere | scope.captured
        bindings.bind(fresh)
        return self._undefined(fresh, step.node)

    def _kept_block(
        self, block: Block, live: int, caught: int, bindings: Bindings, at: ast.AST
    ) -> Statements:
        found = self._block(block, live, caught, bindings)
        return found or [put(ast.Pass(), at)]

    def _count_of_captured(self, shared: Shared, at: ast.AST) -> list[ast.expr]:
        if not shared.captured or self._unit.is_text:
            return []
        return [constant(shared.captured, at)]

    def _loop_body(self, step: For | While, head: int, caught: int, inside: Bindings) -> Statements:
        before = self._captured
        self._captured |= step.captured_by_end
        body = self._block(step.body, head, caught, inside)
        self._captured = before
        return body

    def _rarely_read(
        self, step: For | While, head: int, after: int, bindings: Bindings
    ) -> list[tuple[str, tuple[str, ...]]]:
        """Returns what tells a loop which of its variables need no value if it does not iterate.

        They have none before the loop, and are read after it only where a `for` there, of which
        they are the target, has no element.

        Args:
          step: The loop.
          head: The names live before each iteration.
          after: The names live after the loop.
          bindings: The names with a value before it.
        """
        scope = self._scope
        read_after = (after & ~read_if_empty(after)) | scope.everywhere | scope.captured
        names = step.body.modified & head & ~bindings.must & ~read_after
        if not names or self._unit.is_text:
            return []
        return [("rarely_read", tuple(scope.names_in(names)))]

    def _loop(
        self, step: For | While, body: Block, head: int, bindings: Bindings
    ) -> tuple[Shared, list[ast.expr], Statements, Bindings]:
        """Returns what `for` and `while` have in common."""
        scope, modified = self._scope, body.modified
        bound = (bindings.must << 1) | body.kill
        local = read_if_empty(head) & ~(bound >> 1) & ~scope.everywhere
        symbols = modified & (head | scope.everywhere) & ~local
        hidden = modified & (scope.captured | scope.managed)
        captured = modified & (step.captured | self._captured) & bindings.may & ~symbols
        if self._unit.is_text:
            captured = 0
        shared = self._shared(step, modified, head, symbols, captured, hidden, bindings, captured)
        found, state = self._state(shared, step.node)
        return shared, state, found, bindings.inside(modified, symbols | hidden)

    def _shared(
        self,
        step: Step,
        modified: int,
        before: int,
        outputs: int,
        inputs: int,
        hidden: int,
        bindings: Bindings,
        captured: int = 0,
    ) -> Shared:
        """Returns the symbols of a statement: outputs and composites, then what is input only.

        Of the inputs those come first that a lambda has captured.

        A composite whose parts change in the statement is not the same place before and after it.
        """
        scope = self._scope
        unsure = (bindings.may & ~bindings.must) | self._unsafe
        # Names that bodies only read are given an Undefined too, for the error that it makes.
        fresh = (modified | (step.gen & self._locals)) & ~bindings.may
        bindings.bind(fresh)
        bindings.may |= modified
        found: list[str | Composite] = [*scope.names_in(outputs)]
        for composite in step.composites.values():
            parts = scope.set_of(composite.names)
            if not parts & ~before and not parts & modified:
                found.append(composite)
        found.sort(key=_source)
        count = len(found)
        of_lambdas = scope.names_in(captured)
        found += [*of_lambdas, *scope.names_in(inputs & ~captured)]
        names = outputs | inputs | hidden
        return Shared(found, names, count, len(of_lambdas), fresh, unsure)

    def _initial(self, shared: Shared, at: ast.AST) -> Statements:
        """Returns what gives names without a value one that says so."""
        return self._undefined(shared.fresh, at)

    def _undefined(self, names: int, at: ast.AST) -> Statements:
        return [
            assign(name, self._unit.undefined(name, at), at) for name in self._scope.names_in(names)
        ]

    def _state(self, shared: Shared, at: ast.AST) -> tuple[Statements, list[ast.expr]]:
        """Returns the functions that read and write the symbols, and what operators are given.

        If all symbols are names that bodies have as cells, operators find those. A text has the
        functions always, as TensorFlow's does.
        """
        scope, unit = self._scope, self._unit
        if not unit.is_text and all(map(self._is_cell, shared.symbols)):
            return [], [constant(None, at), constant(None, at)]
        names = [unit.state_function(name) for name in ("get_state", "set_state")]
        values: list[ast.expr] = []
        targets: list[ast.expr] = []
        for symbol in shared.symbols:
            if isinstance(symbol, Composite):
                values.append(unit.read_safely(symbol.node(at), symbol.text, at))
                targets.append(symbol.node(at, STORE))
            else:
                value: ast.expr = load(symbol, at)
                if scope.bits[symbol] & shared.unsure:
                    value = unit.read_safely(value, symbol, at)
                values.append(value)
                targets.append(store(symbol, at))
        getter = definition(names[0], NO_PARAMETERS, [returning(sequence(values, at), at)], at)
        state = unit.names.new("vars_") if "vars_" in scope.bits else "vars_"
        body: Statements = [put(ast.Pass(), at)]
        if targets:
            pair = sequence(targets, at, STORE)
            symbols = [symbol for symbol in shared.symbols if isinstance(symbol, str)]
            body = [
                *self._declarations(symbols, at),
                put(ast.Assign([pair], load(state, at)), at),
            ]
        setter = definition(names[1], parameters(parameter(state, at)), body, at)
        return [getter, setter], self._loads(tuple(names), at)

    def _is_cell(self, symbol: str | Composite) -> bool:
        """Whether a symbol is a name that bodies have as a cell of the same name.

        Global names are none, and private names of a class have another one.
        """
        return (
            isinstance(symbol, str)
            and not self._scope.declared.get(symbol)
            and not symbol.startswith("__")
        )

    def _function(
        self, name: str, shared: int, body: Statements, at: ast.AST, element: str | None = None
    ) -> ast.stmt:
        """Returns the function of a body, which binds some names that it shares."""
        arguments = NO_PARAMETERS if element is None else parameters(parameter(element, at))
        head = self._declarations(self._scope.names_in(shared), at)
        return definition(name, arguments, [*head, *body] or [put(ast.Pass(), at)], at)

    def _declarations(self, names: list[str], at: ast.AST) -> Statements:
        """Returns what makes names of the function those of a function inside of it."""
        declared = self._scope.declared
        if not declared:
            return [put(ast.Nonlocal(names), at)] if names else []
        module = [name for name in names if declared.get(name)]
        outer = [name for name in names if not declared.get(name)]
        found: Statements = []
        if module:
            found.append(put(ast.Global(module), at))
        if outer:
            found.append(put(ast.Nonlocal(outer), at))
        return found

    def _loads(self, names: tuple[str, ...], at: ast.AST) -> list[ast.expr]:
        return [load(name, at) for name in names]

    def _symbol_names(self, shared: Shared, at: ast.AST) -> ast.expr:
        return sequence([constant(self._symbol_text(each), at) for each in shared.symbols], at)

    def _symbol_text(self, symbol: str | Composite) -> str:
        return self._unit.symbol(symbol) if isinstance(symbol, str) else _source(symbol)

    def _options(
        self,
        options: list[ast.keyword],
        more: Sequence[tuple[str, str | tuple[str, ...]]],
        at: ast.AST,
    ) -> ast.expr:
        keys: list[ast.expr | None] = []
        values: list[ast.expr] = []
        for keyword in options:
            keys.append(None if keyword.arg is None else constant(keyword.arg, at))
            values.append(keyword.value)
        for key, value in more:
            keys.append(constant(key, at))
            values.append(constant(value, at))
        return put(ast.Dict(keys, values), at)

    def _operator_call(self, name: str, arguments: list[ast.expr], at: ast.AST) -> ast.stmt:
        return put(ast.Expr(call(self._unit.operator(name, at), arguments, at)), at)


def _source(symbol: str | Composite) -> str:
    return symbol if isinstance(symbol, str) else symbol.text


def _text(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ast.unparse(node)


_Emit = Callable[[Emitter, Any, int, int, Bindings], Statements]

_EMITTERS: dict[type[Step], _Emit] = {
    For: Emitter._for,
    If: Emitter._if,
    Match: Emitter._match,
    Try: Emitter._try,
    While: Emitter._while,
    With: Emitter._with,
}
