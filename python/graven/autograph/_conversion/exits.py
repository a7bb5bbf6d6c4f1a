"""Removes `break`, `continue` and `return`: flags, guards around what follows, tests of loops.

    while c:                      break_ = False
        if a: break               while not break_ and c:
        s                             if a: break_ = True
                                      if not break_: s

A `continue` sets `continue_`, which each iteration resets; where a loop has both, a `break` sets
both and guards read `continue_`. A `return` stays in its place for a later step, which makes it set
`do_return` and `retval_`; guards and tests read `do_return`. An `else` of a loop becomes what
follows the loop if it was not left by a `break`. Only the statements of a function are walked here.
"""

import ast
import copy
from dataclasses import dataclass, field

from graven.autograph._conversion.directives import take_loop_options
from graven.autograph._conversion.named_expressions import binds_names
from graven.autograph._conversion.nodes import assign, negation, put, set_flag
from graven.autograph._conversion.returns import ReturnMover
from graven.autograph._conversion.scope import Unit
from graven.autograph._conversion.variables import generated

_RETURN, _BREAK, _CONTINUE = 1, 2, 4
_SIMPLE = (ast.Assign, ast.Expr, ast.AugAssign, ast.FunctionDef, ast.ClassDef)

Statements = list[ast.stmt]


@dataclass(slots=True)
class LoopParts:
    """What a loop has apart from its node: options, and for `for` a test before each iteration."""

    options: list[ast.keyword] = field(default_factory=list)
    extra_test: ast.expr | None = None


@dataclass(slots=True)
class _Loop:
    """The flags of the loop around a statement; None where nothing sets one."""

    break_flag: str | None
    continue_flag: str | None


# A `try` in a `finally` may begin while an exit is under way. Where an exit of its own may be
# cancelled, names keep the flags, and the value to return, from before it. By what they keep.
_Pending = dict[str, str]


@dataclass(slots=True)
class _Final:
    """A `finally` around a statement: what tells that it was left, and the loop around it.

    `ends_returns` says whether what its `try` holds returns.
    """

    flag: str
    loop: _Loop | None
    ends_returns: bool
    pending: _Pending


class ExitRemover:
    """Removes the exits of one function.

    Attributes:
      do_return: The flag of its returns, None if it has none.
      retval: The variable of its returned value.
      loops: The parts of each loop.
      dropped: Statements that nothing reaches.
    """

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._mover = ReturnMover()
        self.do_return: str | None = None
        self.retval = ""
        self.loops: dict[ast.stmt, LoopParts] = {}
        self.dropped: Statements = []
        self._finals: list[_Final] = []

    def remove(self, body: Statements) -> Statements:
        """Returns the statements of a function without exits other than `return`."""
        return self._block(body, None)[0]

    def _block(self, block: Statements, loop: _Loop | None) -> tuple[Statements, int]:
        """Returns statements, and which exits they may take."""
        found: Statements = []
        for i, node in enumerate(block):
            if isinstance(node, _SIMPLE):
                found.append(node)
                continue
            rest = block[i + 1 :]
            if isinstance(node, ast.If) and rest and self._mover.move(node, rest, bool(loop)):
                rest = []
            new, exits = self._statement(node, loop)
            found += new
            if isinstance(node, ast.Return | ast.Break | ast.Continue):
                self.dropped += rest
                return found, exits
            if not rest and isinstance(node, ast.If):
                return found, exits
            if exits and rest:
                following, more = self._block(rest, loop)
                found.append(self._guarded(exits, loop, following, node))
                return found, exits | more
            if exits:
                return found, exits
        return found, 0

    def _statement(self, node: ast.stmt, loop: _Loop | None) -> tuple[Statements, int]:
        if isinstance(node, ast.If):
            node.body, exits = self._block(node.body, loop)
            node.orelse, more = self._block(node.orelse, loop)
            return [node], exits | more
        if isinstance(node, ast.Return):
            if self.do_return is None:
                self.do_return = self._unit.names.new("do_return")
                self.retval = self._unit.names.new("retval_")
            return [node, *(set_flag(final.flag, True, node) for final in self._finals)], _RETURN
        if isinstance(node, ast.Break | ast.Continue):
            assert loop is not None
            return self._leave(node, loop)
        if isinstance(node, ast.For | ast.While):
            return self._loop(node, loop)
        if isinstance(node, ast.With):
            node.body, exits = self._block(node.body, loop)
            return [node], exits
        if isinstance(node, ast.Try | ast.TryStar):
            return self._try(node, loop)
        if isinstance(node, ast.Match):
            exits = 0
            for case in node.cases:
                case.body, more = self._block(case.body, loop)
                exits |= more
            return [node], exits
        return [node], 0

    def _leave(self, node: ast.Break | ast.Continue, loop: _Loop) -> tuple[Statements, int]:
        found: Statements = []
        if isinstance(node, ast.Break):
            assert loop.break_flag is not None
            found.append(set_flag(loop.break_flag, True, node))
        if loop.continue_flag is not None:
            found.append(set_flag(loop.continue_flag, True, node))
        left = [final for final in self._finals if final.loop is loop]
        for final in left:
            found.append(set_flag(final.flag, True, node))
            if isinstance(node, ast.Continue) and loop.break_flag is not None:
                found.append(set_flag(loop.break_flag, False, node))
        for final in left:
            if final.ends_returns:
                outside = [each.flag for each in self._finals if each.loop is not loop]
                found += [set_flag(flag, False, node) for flag in outside]
                found += self._cancel_return(final.pending, node)
                break
        return found, _BREAK if isinstance(node, ast.Break) else _CONTINUE

    def _cancel_return(self, pending: _Pending, at: ast.AST) -> Statements:
        """Returns what undoes a return, but not one from before."""
        assert self.do_return is not None
        if self.do_return not in pending:
            return [set_flag(self.do_return, False, at)]
        names = (self.do_return, self.retval)
        return [assign(name, generated(pending[name], at), at) for name in names]

    def _pending(self, loop: _Loop | None) -> _Pending:
        """Gives names for what keeps the exits that may be under way before a `try`."""
        names = self._unit.names
        pending = {}
        if self._finals and self.do_return is not None:
            pending = {name: names.new("pending_") for name in (self.do_return, self.retval)}
        if loop is not None and any(final.loop is loop for final in self._finals):
            for flag in (loop.break_flag, loop.continue_flag):
                if flag is not None:
                    pending[flag] = names.new("pending_")
        return pending

    def _keep(self, pending: _Pending, exits: int, at: ast.AST) -> Statements:
        """Returns what keeps the exits that are under way before a `try` that has some kinds."""
        of_return = (self.do_return, self.retval)
        return [
            assign(kept, generated(name, at), at)
            for name, kept in pending.items()
            if exits & (_RETURN if name in of_return else _BREAK | _CONTINUE)
        ]

    def _flags(self, exits: int, loop: _Loop | None) -> list[str]:
        """The flags of which one is set after any of some exits.

        Within a `finally` the flags of an exit from before it may be set, so its own is read.
        """
        final = self._finals[-1] if self._finals else None
        flags = []
        if exits & _RETURN:
            assert self.do_return is not None
            flags.append(self.do_return if final is None else final.flag)
        if exits & (_BREAK | _CONTINUE):
            assert loop is not None
            flag = loop.continue_flag or loop.break_flag
            if final is not None and final.loop is loop:
                flag = final.flag
            assert flag is not None
            if flag not in flags:
                flags.append(flag)
        return flags

    def _guarded(self, exits: int, loop: _Loop | None, block: Statements, at: ast.stmt) -> ast.stmt:
        """Returns an `if` around statements that exits skip.

        It stands where the exits are: that line has run, the statements may not.
        """
        test = _none_set(self._flags(exits, loop), at)
        return put(ast.If(test, block or [put(ast.Pass(), at)], []), at)

    def _loop(self, node: ast.For | ast.While, outer: _Loop | None) -> tuple[Statements, int]:
        names = self._unit.names
        parts = self.loops[node] = LoopParts(take_loop_options(self._unit, node.body))
        kinds = _exits_of(node.body)
        loop = _Loop(
            names.new("break_") if kinds & _BREAK else None,
            names.new("continue_") if kinds & _CONTINUE else None,
        )
        node.body, exits = self._block(node.body, loop)
        flags = self._flags(exits & _RETURN, None)
        found: Statements = []
        if loop.break_flag is not None:
            flags.append(loop.break_flag)
            found.append(set_flag(loop.break_flag, False, node))
        if loop.continue_flag is not None:
            node.body.insert(0, set_flag(loop.continue_flag, False, node.body[0]))
        if isinstance(node, ast.While):
            self._set_test(node, flags, found)
        elif flags:
            parts.extra_test = _none_set(flags, node)
        found.append(node)
        exits &= _RETURN
        orelse, node.orelse = node.orelse, []
        if orelse:
            following, more = self._block(orelse, outer)
            if flags:
                test = _none_set(flags, node)
                following = [put(ast.If(test, following, []), node)]
            found += following
            exits |= more
        return found, exits

    def _set_test(self, node: ast.While, flags: list[str], before: Statements) -> None:
        """Makes a loop test its flags. A test that binds names is evaluated by its statements."""
        if binds_names(self._unit, node.test):
            name = self._unit.names.new("test_")
            again: ast.stmt = assign(name, copy.deepcopy(node.test), node.test)
            before.append(assign(name, node.test, node.test))
            if flags:
                again = put(ast.If(_none_set(flags, node.test), [again], []), node.test)
            node.body.append(again)
            node.test = generated(name, node.test)
        if flags:
            tests = [*_negations(flags, node.test), node.test]
            node.test = put(ast.BoolOp(ast.And(), tests), node.test)

    def _try(self, node: ast.Try | ast.TryStar, loop: _Loop | None) -> tuple[Statements, int]:
        nested = any(isinstance(s, ast.With) for b in node.body for s in ast.walk(b))
        pending = self._pending(loop)
        node.body, exits = self._block(node.body, loop)
        found = exits
        for handler in node.handlers:
            handler.body, more = self._block(handler.body, loop)
            if exits and nested:
                # What raises when a `with` is left has cancelled an exit that was under way.
                handler.body[:0] = self._reset(exits, loop, pending, handler)
            found |= more
        if node.orelse:
            node.orelse, more = self._block(node.orelse, loop)
            found |= more
            if exits:
                node.orelse = [self._guarded(exits, loop, node.orelse, node)]
        before = self._keep(pending, found, node)
        if not node.finalbody:
            return [*before, node], found
        final = _Final(self._unit.names.new("left_"), loop, bool(found & _RETURN), pending)
        self._finals.append(final)
        node.finalbody, more = self._block(node.finalbody, loop)
        self._finals.pop()
        if found:
            node.finalbody = [self._undone_by_errors(node.finalbody, found, loop, pending)]
        if more:
            return [*before, *self._swallowing(node, final.flag)], found | more
        return [*before, node], found

    def _swallowing(self, node: ast.Try | ast.TryStar, flag: str) -> Statements:
        """Returns a `try` whose exceptions end where its `finally` is left by an exit."""
        again = put(ast.If(_none_set([flag], node), [put(ast.Raise(), node)], []), node)
        handler = put(ast.ExceptHandler(None, None, [again]), node)
        return [set_flag(flag, False, node), put(ast.Try([node], [handler], [], []), node)]

    def _undone_by_errors(
        self, block: Statements, exits: int, loop: _Loop | None, pending: _Pending
    ) -> ast.stmt:
        """Returns statements whose exceptions cancel exits that are under way."""
        at = block[0]
        undone = [*self._reset(exits, loop, pending, at), put(ast.Raise(), at)]
        return put(ast.Try(block, [put(ast.ExceptHandler(None, None, undone), at)], [], []), at)

    def _reset(self, exits: int, loop: _Loop | None, pending: _Pending, at: ast.AST) -> Statements:
        """Returns what cancels exits."""
        found: Statements = []
        if exits & (_BREAK | _CONTINUE) and loop is not None:
            for flag in (loop.continue_flag, loop.break_flag):
                if flag in pending:
                    found.append(assign(flag, generated(pending[flag], at), at))
                elif flag is not None:
                    found.append(set_flag(flag, False, at))
        for final in self._finals:
            if exits & _RETURN or final.loop is loop:
                found.append(set_flag(final.flag, False, at))
        return found + self._cancel_return(pending, at) if exits & _RETURN else found


def _negations(flags: list[str], at: ast.AST) -> list[ast.expr]:
    return [negation(generated(flag, at), at) for flag in flags]


def _none_set(flags: list[str], at: ast.AST) -> ast.expr:
    """Returns the test that none of some flags is set."""
    tests = _negations(flags, at)
    return tests[0] if len(tests) == 1 else put(ast.BoolOp(ast.And(), tests), at)


def _exits_of(block: Statements) -> int:
    """The exits of the loop that holds some statements."""
    found = 0
    for node in block:
        if isinstance(node, ast.Break):
            found |= _BREAK
        elif isinstance(node, ast.Continue):
            found |= _CONTINUE
        elif isinstance(node, ast.For | ast.While):
            found |= _exits_of(node.orelse)
        elif isinstance(node, ast.If):
            found |= _exits_of(node.body) | _exits_of(node.orelse)
        elif isinstance(node, ast.With):
            found |= _exits_of(node.body)
        elif isinstance(node, ast.Try | ast.TryStar):
            found |= _exits_of(node.body) | _exits_of(node.orelse) | _exits_of(node.finalbody)
            for handler in node.handlers:
                found |= _exits_of(handler.body)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                found |= _exits_of(case.body)
    return found
