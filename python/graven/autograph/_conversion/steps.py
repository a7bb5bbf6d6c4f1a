"""Statements whose expressions are converted, with what they read and bind.

Liveness needs no control-flow graph: `break`, `continue` and `return` are gone, so what remains is
nested. Of each statement, `gen` holds the names that it may read before it binds them, and `kill`
those that it binds on every path that ends. With `live` the names live after it, `gen | (live &
~kill)` are live before it. A statement that never ends, such as `raise`, kills all.

Each name has two bits in `gen`, `kill` and `live`. The second one takes it that a `for` has an
element, and so binds its target: where only the first is set, the name is read if some `for` has
none. Such a name is no symbol where its value could be missing.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from graven.autograph._conversion.composites import Composite
from graven.autograph._conversion.scope import Scope

ALL = -1


def twice(names: int) -> int:
    """Returns names with both of their bits."""
    return names | names << 1


def read_if_empty(live: int) -> int:
    """Returns the names that are live only where a `for` has no element."""
    return live & ~(live >> 1)


_NO_COMPOSITES: dict[str, Composite] = {}


class Step:
    """A statement.

    Attributes:
      node: The statement of the user's, for its place.
      gen: The names it may read before it binds them, in two bits.
      kill: The names it binds on every path that ends, in two bits.
      modified: The names it may bind.
      composites: The composites it may set, by their source.
    """

    def __init__(
        self,
        node: ast.AST,
        gen: int,
        kill: int,
        modified: int,
        composites: dict[str, Composite] | None = None,
    ) -> None:
        self.node = node
        self.gen = gen
        self.kill = kill
        self.modified = modified
        self.composites = composites or _NO_COMPOSITES


class Block:
    """Statements that run one after the other, with the same attributes as one."""

    def __init__(self, steps: list[Step]) -> None:
        gen = kill = modified = 0
        composites: dict[str, Composite] = {}
        for step in reversed(steps):
            gen = step.gen | (gen & ~step.kill)
            kill |= step.kill
            modified |= step.modified
            if step.composites:
                composites.update(step.composites)
        self.steps = steps
        self.gen = gen
        self.kill = kill
        self.modified = modified
        self.composites = composites


def joined(*parts: "Step | Block") -> dict[str, Composite]:
    """Returns the composites of several parts."""
    found: dict[str, Composite] = {}
    for part in parts:
        found.update(part.composites)
    return found


class Plain(Step):
    """A statement without statements inside of it, as what it becomes."""

    def __init__(
        self, scope: Scope, node: ast.AST, statements: Sequence[ast.stmt], ends: bool = True
    ) -> None:
        kill = twice(scope.writes) if ends else ALL
        super().__init__(node, twice(scope.reads), kill, scope.writes, scope.composites)
        self.statements = statements


@dataclass(eq=False)
class If(Step):
    """An `if`."""

    node: ast.AST
    test: ast.expr
    body: Block
    orelse: Block
    reads: int
    writes: int
    captured: int  # names that lambdas and generators above it read

    def __post_init__(self) -> None:
        body, orelse = self.body, self.orelse
        writes = twice(self.writes)
        self.gen = twice(self.reads) | ((body.gen | orelse.gen) & ~writes)
        self.kill = writes | (body.kill & orelse.kill)
        self.modified = self.writes | body.modified | orelse.modified
        self.composites = joined(body, orelse)


@dataclass(eq=False)
class While(Step):
    """A `while`."""

    node: ast.AST
    test: ast.expr
    body: Block
    options: list[ast.keyword]
    reads: int
    captured: int  # names that lambdas and generators above it read
    captured_by_end: int  # and those in it

    def __post_init__(self) -> None:
        self.gen = twice(self.reads) | self.body.gen
        self.kill = 0
        self.modified = self.body.modified
        self.composites = self.body.composites


@dataclass(eq=False)
class For(Step):
    """A `for`. The target is bound by its body."""

    node: ast.For
    iterable: ast.expr
    extra_test: ast.expr | None
    body: Block
    options: list[ast.keyword]
    reads: int
    writes: int
    captured: int  # as of While
    captured_by_end: int

    def __post_init__(self) -> None:
        self.gen = twice(self.reads) | (self.body.gen & ~twice(self.writes))
        self.kill = self.writes << 1
        self.modified = self.writes | self.body.modified
        self.composites = self.body.composites


@dataclass(eq=False)
class With(Step):
    """A `with`."""

    node: ast.With
    body: Block
    header: Step

    def __post_init__(self) -> None:
        header, body = self.header, self.body
        self.gen = header.gen | (body.gen & ~header.kill)
        self.kill = header.kill | body.kill
        self.modified = header.modified | body.modified
        self.composites = joined(header, body)


@dataclass(eq=False)
class Try(Step):
    """A `try`. An exception may come from anywhere in its body."""

    node: ast.Try | ast.TryStar
    body: Block
    handlers: list[Block]
    orelse: Block
    final: Block
    reads: int

    def __post_init__(self) -> None:
        body, orelse, final = self.body, self.orelse, self.final
        self.gen = twice(self.reads) | body.gen | (orelse.gen & ~body.kill) | final.gen
        self.kill = body.kill | orelse.kill
        self.modified = body.modified | orelse.modified | final.modified
        for handler in self.handlers:
            self.gen |= handler.gen
            self.kill &= handler.kill
            self.modified |= handler.modified
        self.kill |= final.kill
        self.composites = joined(body, orelse, final, *self.handlers)


@dataclass(eq=False)
class Match(Step):
    """A `match`. The head of a case binds what its pattern captures."""

    node: ast.Match
    reads: int
    heads: list[Step]
    bodies: list[Block]
    is_exhaustive: bool

    def __post_init__(self) -> None:
        gen, kill, modified = twice(self.reads), ALL if self.is_exhaustive else 0, 0
        for head, body in zip(self.heads, self.bodies, strict=True):
            gen |= head.gen | (body.gen & ~head.kill)
            kill &= head.kill | body.kill
            modified |= head.modified | body.modified
        self.gen, self.kill, self.modified = gen, kill, modified
        self.composites = joined(*self.heads, *self.bodies)
