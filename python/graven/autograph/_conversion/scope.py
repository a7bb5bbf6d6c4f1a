"""What a conversion knows: of the code that it converts, and of each function inside of that.

Sets of names are ints, one bit for each name of a function: a union costs less than 50 ns, and the
analyses are unions. A name has a bit from its first use on, whether it is local, free or global.
"""

import ast
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from graven.autograph._conversion.composites import Composite
from graven.autograph._conversion.names import Names
from graven.autograph._conversion.nodes import attribute, call, constant, load, put

Handler = Callable[["Scope", Any], ast.expr]

LIST_METHODS = ("append", "pop", "extend", "insert", "clear", "reverse")  # that change a list


class Unit:
    """One conversion, of a function with all functions inside of it.

    Args:
      names: Gives new names.
      features: The names of the optional features that are on.
      bound: The names that are local or free in some function.
      resolve: Finds the value of a name that is global or free in the outermost function.
      text: The source, for quick answers to what does not occur.
      thunk_marker: The name of the parameter that marks lambdas which the conversion makes, so that
        their code can be told from that of the user's; None in a text.

    Attributes:
      is_text: Whether a text is made, which is to look as TensorFlow's does.
      stages_objects: Whether lists and None may become values of the graph.
    """

    def __init__(
        self,
        names: Names,
        features: frozenset[str],
        bound: frozenset[str],
        resolve: Callable[[str], object],
        text: str,
        thunk_marker: str | None,
    ) -> None:
        self.names = names
        self.features = features
        self.bound = bound
        self.resolve = resolve
        self.has_named_expressions = ":=" in text
        self.has_yields = "yield" in text
        self.after_as = re.findall(r"\bas\s+(\w+)", text) if "except" in text else []
        self.has_deletions = re.search(r"\bdel\b", text) is not None
        self._text = text
        self.operators = names.new("ag__")
        self.helpers: set[str] = set() if thunk_marker is None else {thunk_marker}
        self.state_functions: set[str] = set()
        self.is_text = thunk_marker is None
        self.stages_objects = False
        self.define: Callable[[Scope, ast.FunctionDef], ast.FunctionDef] = _cannot_define
        self.inner_options: Callable[[Unit, ast.AST], ast.expr] = _cannot_tell
        marker = None if thunk_marker is None else ast.arg(thunk_marker, None, lineno=1)
        if marker is not None:
            marker.__dict__.update(col_offset=0, end_lineno=1, end_col_offset=0)
        self._no_parameters = ast.arguments([], [], marker, [], [], None, [])
        self._operator_nodes: dict[tuple[str, int], ast.Attribute] = {}

    def changes_list(self, name: str) -> bool:
        """Whether a method that changes lists seems to be called of a name."""
        return any(f"{name}.{method}(" in self._text for method in LIST_METHODS)

    def may_be_undefined(self, name: str) -> bool:
        """Whether a name may hold an Undefined, or is to look so."""
        return self.is_text or name in self.bound

    def operator(self, name: str, at: ast.AST) -> ast.Attribute:
        """Returns `ag__.<name>`, one node for each line: a tree may hold a node twice."""
        key = (name, at.__dict__["lineno"])
        node = self._operator_nodes.get(key)
        if node is None:
            module = load(self.operators, at)
            node = self._operator_nodes[key] = attribute(module, name, at)
        return node

    def call(self, name: str, arguments: list[ast.expr], at: ast.AST) -> ast.Call:
        """Returns a call of an operator."""
        return call(self.operator(name, at), arguments, at)

    def thunk(self, value: ast.expr, at: ast.AST) -> ast.Lambda:
        """Returns `lambda: value`, for an operator to call."""
        return put(ast.Lambda(self._no_parameters, value), at)

    def helper(self, name: str) -> str:
        """Returns a name for a function that the conversion defines."""
        found = self.names.new(name)
        self.helpers.add(found)
        return found

    def state_function(self, name: str) -> str:
        """Returns a name for a function that only reads or writes names."""
        found = self.names.new(name)
        self.state_functions.add(found)
        return found

    def symbol(self, name: str) -> str:
        """Returns what operators are told of a name: of one that the conversion made `<name>`.

        So no name of the user's is taken for one of them. Texts are for readers and say the name.
        """
        return f"<{name}>" if name in self.names.made and not self.is_text else name

    def undefined(self, name: str, at: ast.AST) -> ast.expr:
        """Returns the value of a name that has none."""
        return self.call("Undefined", [constant(name, at)], at)

    def read_safely(self, node: ast.expr, text: str, at: ast.AST) -> ast.expr:
        """Returns a read that gives an Undefined instead of an error."""
        return self.call("ldu", [self.thunk(node, at), constant(text, at)], at)


def _cannot_define(scope: "Scope", node: ast.FunctionDef) -> ast.FunctionDef:
    raise NotImplementedError


def _cannot_tell(unit: Unit, at: ast.AST) -> ast.expr:
    raise NotImplementedError


class Scope:
    """A function that is converted, as far as its statements were visited.

    Attributes:
      reads: The names read since the caller set it to 0.
      writes: The names bound since then, by targets and by assignment expressions.
      composites: The composites set since then, by their source.
      captured: Names that code reads later which runs when it likes: in lambdas and generators.
      managed: Names bound in bodies of `with`, which may be left by an exception that nobody sees.
      everywhere: Names that inner functions, other functions and the module can read at any time.
      caught: Names of exceptions, which `except` unbinds at its end.
      declared: The names declared `global` (True) or `nonlocal` (False).
      certain: Names that surely have a value where the visit is; they are read as they are.
      unbound: Names that an `except` may unbind, of exceptions and some others.
      reads_names: Whether reads of names become calls of `ld`.
      converts_calls: Whether calls become calls of `converted_call`.
    """

    def __init__(self, unit: Unit, handlers: Mapping[type[ast.AST], Handler], fscope: str) -> None:
        self.unit = unit
        self.handlers = handlers
        self.fscope = fscope
        self.bits: dict[str, int] = {}
        self.names: list[str] = []
        self.reads = 0
        self.writes = 0
        self.composites: dict[str, Composite] = {}
        self.captured = 0
        self.managed = 0
        self.everywhere = 0
        self.caught = 0
        self.declared: dict[str, bool] = {}
        self.certain = 0
        self.unbound = self.set_of(unit.after_as)
        self.reads_names = True
        self.converts_calls = True
        self.local_names: frozenset[str] = frozenset()

    def bit(self, name: str) -> int:
        """Returns the set of one name."""
        bit = self.bits.get(name)
        if bit is None:
            bit = self.bits[name] = 1 << 2 * len(self.names)
            self.names.append(name)
        return bit

    def set_of(self, names: Collection[str]) -> int:
        """Returns the set of some names."""
        found = 0
        for name in names:
            found |= self.bit(name)
        return found

    def names_in(self, bits: int) -> list[str]:
        """Returns the names of a set, in the order of their text."""
        found = []
        while bits:
            low = bits & -bits
            found.append(self.names[low.bit_length() // 2])
            bits ^= low
        found.sort()
        return found

    def assure(self, names: int) -> None:
        """Notes that names have a value from here on, to the end of the block.

        A text has every read in the form that TensorFlow gives it. Where the code has a `del` or an
        assignment expression, which may be in an operand that is not evaluated, nothing is sure.
        Nor are names of exceptions, which an `except` unbinds.
        """
        unit = self.unit
        if not (unit.is_text or unit.has_deletions or unit.has_named_expressions):
            self.certain |= names & ~self.unbound

    def visit(self, node: ast.expr) -> ast.expr:
        """Converts an expression, and notes what it reads and binds."""
        return self.handlers[node.__class__](self, node)

    def visit_all(self, nodes: list[ast.expr]) -> list[ast.expr]:
        """Converts expressions."""
        handlers = self.handlers
        return [handlers[node.__class__](self, node) for node in nodes]

    def visit_plainly(self, node: ast.expr) -> ast.expr:
        """Converts an expression but for its calls."""
        before = self.converts_calls
        self.converts_calls = False
        found = self.visit(node)
        self.converts_calls = before
        return found
