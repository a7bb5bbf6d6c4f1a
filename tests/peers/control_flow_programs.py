"""Random programs of ordinary control flow over tensors, as hypothesis strategies.

A program is the text of a function of float32 scalars x and y, an int32 scalar n, a vector t, a
matrix m whose rows are as long as t, and a Python bool p. It knows the names tf, w (a Variable) and
Box (a class of attributes). Each of its names keeps one dtype, and all but three one shape; its
floats stay small. So no program is refused for that, and none overflows. Some have vectors z and zq
that change their sizes, zr that changes its rank, a list ys that grows, and a name e that is None
on some paths.

Conditions compare floats with numbers that sums of eighths do not come near: two systems that
differ in the last bit take the same branches.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from hypothesis import strategies as st

FLOATS = ("a", "b", "c", "o.f", "o.box.g", "d['k']", "xs[0]", "xs[1]")
INTS = ("i", "j", "o.i")
BOOLS = ("h", "l")
VECTORS = ("v", "u")
START = (
    "o = Box(f=y - 0.5, i=n + 1, box=Box(g=x * 0.25))",
    "d = {'k': x - y}",
    "a, b, c = x, y * 0.5, 0.75",
    "i, j = n, 1",
    "h, l = x > 0.037, False",
    "v, u = t, t - x",
    "z, zq, zr = t * 0.5, t * 0.25, y * 0.5",
    "xs = [x + y, y]",
    "ys = [y - x]",
    "e = None",
)
END = (
    "return [a, b, c, o.f, o.box.g, d['k'], *xs, a if e is None else e], [i, j, o.i], [h, l], "
    "[v, u, tf.reduce_sum(z), tf.reduce_sum(zq), tf.reduce_sum(zr)], tf.stack(ys)"
)
MAX_NESTING = 3


class Author:
    """Writes one program, whose choices are drawn.

    Args:
      draw: Hypothesis's function, which draws from a strategy.
    """

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self._draw = draw
        self._lines: list[str] = []
        self._loops = 0
        self._functions: list[str] = []
        self._floats = [*FLOATS, "x", "y"]  # those that can be read where the author writes
        self._locals: tuple[str, ...] = ()  # the floats of the inner function that is written
        self._budget = 16
        self._grows = False  # whether lists and shapes grow; staged, TensorFlow refuses both
        self._may_be_none = False  # whether e gets values; staged, TensorFlow refuses None
        self._may_be_unbound = False  # whether names are read that may have no value

    def program(self) -> str:
        self._emit(0, "def f(x, y, n, t, m, p):")
        for line in START:
            self._emit(1, line)
        self._grows = self._number(0, 3) == 3
        self._may_be_none = self._number(0, 5) == 5
        self._may_be_unbound = self._number(0, 7) == 7
        for _ in range(self._number(0, 2)):
            self._function()
        for _ in range(self._number(1, 5)):
            self._statement(1, 0, False)
        self._emit(1, END)
        return "\n".join(self._lines) + "\n"

    def _emit(self, depth: int, line: str) -> None:
        self._lines.append("    " * depth + line)

    def _number(self, least: int, most: int) -> int:
        return int(self._draw(st.integers(least, most)))

    def _one_of(self, choices: Sequence[Any]) -> Any:
        return self._draw(st.sampled_from(choices))

    @contextmanager
    def _readable(self, *names: str) -> Iterator[None]:
        """Floats that can be read meanwhile."""
        before = self._floats
        self._floats = [*before, *names]
        yield
        self._floats = before

    # --- Expressions

    def _eighths(self) -> str:
        return str(self._number(-12, 12) / 8)

    def _float_name(self) -> str:
        return str(self._one_of(self._floats))

    def _float(self, depth: int = 1) -> str:
        kinds = ["name", "name", "constant"]
        if depth > 0:
            kinds += ["sum", "half", "tanh", "choice", "element", "variable", "builtin"]
            kinds += ["call"] if self._functions else []
            kinds += ["item"] * (self._grows and not self._locals)
            kinds += ["there"] * (self._may_be_none and not self._locals)
        kind = self._one_of(kinds)
        if kind == "name":
            return self._float_name()
        if kind == "constant":
            return self._eighths()
        if kind == "variable":
            return "w * 0.5"
        if kind == "element":
            name = "t" if self._locals else self._one_of([*VECTORS, "t"])
            return f"{name}[{self._one_of([0, -1])}]"
        if kind == "item":
            return f"ys[{self._one_of([0, -1])}]"
        if kind == "there":
            return f"({self._float(0)} if e is None else e)"
        if kind == "half":
            return f"{self._float(0)} * 0.5"
        if kind == "tanh":
            return f"tf.tanh({self._float(0)} * {self._float(0)})"
        if kind == "builtin":
            return f"{self._one_of(['abs', 'tf.stop_gradient', 'tf.sin'])}({self._float_name()})"
        if kind == "choice":
            return f"({self._float(0)} if {self._condition(0)} else {self._float(0)})"
        if kind == "call":
            return f"{self._one_of(self._functions)}({self._float(0)}, {self._int(0)})"
        return f"({self._float(depth - 1)} {self._one_of('+-')} {self._float(0)})"

    def _int_name(self) -> str:
        return "s" if self._locals else str(self._one_of([*INTS, "n"]))

    def _int(self, depth: int = 1) -> str:
        kinds = ["name", "name", "constant"] + (["sum", "product", "choice"] if depth > 0 else [])
        kinds += ["length"] * (self._grows and depth > 0 and not self._locals)
        kind = self._one_of(kinds)
        if kind == "length":
            return "len(ys)"
        if kind == "name":
            return self._int_name()
        if kind == "constant":
            return str(self._number(0, 4))
        if kind == "product":
            operator = self._one_of(["%", "//"])
            return f"{self._int(0)} * {self._number(2, 3)} {operator} {self._number(2, 7)}"
        if kind == "choice":
            return f"({self._int(0)} if {self._condition(0)} else {self._int(0)})"
        return f"({self._int(0)} {self._one_of('+-')} {self._int(0)})"

    def _vector(self) -> str:
        name, kind = self._one_of(VECTORS), self._number(0, 3)
        if kind == 0:
            return f"{name} * 0.5 + {self._float(0)}"
        if kind == 1:
            return f"tf.tanh({name} * {self._one_of(VECTORS)})"
        if kind == 2:
            return f"tf.where({name} > {self._number(-1, 1)}.037, {name}, {self._one_of(VECTORS)})"
        return f"{name} - m[{self._number(0, 1)}]"

    def _condition(self, depth: int = 1) -> str:
        kinds = ["float", "float", "int", "int", "chain", "python", "flag", "flag"]
        kinds += ["none"] * (self._may_be_none and not self._locals)
        kind = self._one_of(kinds + (["and", "or", "not"] if depth > 0 else []))
        if kind == "none":
            return f"e is {self._one_of(['', 'not '])}None"
        if kind == "float":
            return f"{self._float_name()} {self._one_of('<>')} {self._number(-2, 2)}.037"
        if kind == "int":
            operator = self._one_of(["<", ">=", "==", "!="])
            return f"{self._int_name()} {operator} {self._int(0)}"
        if kind == "chain":
            return f"-1.037 < {self._float_name()} < {self._number(0, 1)}.537"
        if kind == "python":
            return str(self._one_of(["p", "not p"]))
        if kind == "flag":
            return "p" if self._locals else str(self._one_of(BOOLS))
        if kind == "not":
            return f"not {self._condition(0)}"
        return f"({self._condition(0)} {kind} {self._condition(0)})"

    # --- Statements

    def _assignment(self) -> str:
        if self._locals:
            return f"{self._one_of(self._locals)} = {self._float()}"
        kinds = ["float", "float", "float", "int", "vector", "add", "pair", "flag", "variable"]
        kinds += ["append", "append", "several", "popped", "item"] * self._grows
        kinds += ["longer", "longer", "size", "rank"] * self._grows
        kinds += ["optional", "optional"] * self._may_be_none
        kinds += ["new", "new"] * self._may_be_unbound
        kind = self._one_of(kinds)
        if kind == "float":
            return f"{self._one_of(FLOATS)} = {self._float()}"
        if kind == "int":
            return f"{self._one_of(INTS)} = {self._int()}"
        if kind == "vector":
            return f"{self._one_of(VECTORS)} = {self._vector()}"
        if kind == "add":
            return f"{self._one_of(FLOATS)} {self._one_of('+-')}= {self._float(0)}"
        if kind == "pair":
            return f"a, b = {self._float(0)}, {self._float(0)}"
        if kind == "flag":
            return f"{self._one_of(BOOLS)} = {self._condition()}"
        if kind == "append":
            return f"ys.append({self._float(0)} + x)"
        # What takes an element away follows one that adds one: all staged changes show in the end.
        added = f"ys.append({self._float(0)} + x)"
        if kind == "several":
            return f"ys {self._one_of(['+=', '= ys +'])} [{self._float(0)} + x, y * 0.5]"
        if kind == "popped":
            return f"{added}; ys.append({self._float(0)} - y); b = ys.pop({self._one_of(['', 0])})"
        if kind == "item":
            return f"{added}; ys[-1] = ys[-1] * 0.5 + ys[0]"
        if kind == "optional":
            value = self._one_of([f"{self._float(0)} + x", "None", "x if e is None else e * 0.5"])
            return f"e = {value}"
        if kind == "longer":
            return f"z = tf.concat([z, [{self._float(0)}]], 0)"
        if kind == "size":
            return str(self._one_of([f"zq = z * {self._float(0)}", "z = z[1:]", "zq = zq + 1.0"]))
        if kind == "rank":
            values = ["tf.expand_dims(zr, 0)", f"zr * {self._float(0)}", "tf.reduce_sum(zr)"]
            return f"zr = {self._one_of(values)}"
        if kind == "new":
            name = f"e{self._number(0, 1)}"
            text = f"{name} = {self._float(0)} + x"
            self._floats = [*self._floats, name]
            return text
        return f"w.{self._one_of(['assign', 'assign_add'])}({self._float(0)} * 0.5)"

    def _block(self, depth: int, level: int, in_loop: bool) -> None:
        for _ in range(self._number(1, 3)):
            self._statement(depth, level, in_loop)

    def _statement(self, depth: int, level: int, in_loop: bool) -> None:
        self._budget -= 1
        kinds = ["assignment", "assignment", "assignment"]
        if level < MAX_NESTING and self._budget > 0:
            kinds += ["if", "if", "for", "for", "while", "exit", "protected"]
        kind = self._one_of(kinds)
        if kind == "assignment":
            self._emit(depth, self._assignment())
        elif kind == "if":
            self._if(depth, level, in_loop)
        elif kind == "exit":
            self._emit(depth, f"if {self._condition()}:")
            exits = ["break", "continue"] if in_loop else []
            self._emit(depth + 1, self._one_of([*exits, self._return()]))
        elif kind == "protected":
            self._protected(depth, level, in_loop)
        else:
            self._loop(depth, level, kind == "for")

    def _return(self) -> str:
        return f"return {self._float(0)} * 1.0 + x" if self._locals else END

    def _if(self, depth: int, level: int, in_loop: bool) -> None:
        self._emit(depth, f"if {self._condition()}:")
        self._block(depth + 1, level + 1, in_loop)
        if self._number(0, 3) == 0:
            self._emit(depth, f"elif {self._condition()}:")
            self._block(depth + 1, level + 1, in_loop)
        if self._number(0, 1) == 0:
            self._emit(depth, "else:")
            self._block(depth + 1, level + 1, in_loop)

    def _protected(self, depth: int, level: int, in_loop: bool) -> None:
        self._emit(depth, self._one_of(["try:", "with tf.name_scope('s'):"]))
        is_try = self._lines[-1].endswith("try:")
        self._block(depth + 1, level + 1, in_loop)
        if is_try:
            self._emit(depth, "finally:")
            self._emit(depth + 1, self._assignment())

    def _loop(self, depth: int, level: int, is_for: bool) -> None:
        self._loops += 1
        name, read = f"k{self._loops}", list[str]()
        if is_for:
            elements, use = self._one_of(
                [
                    ("tf.range({})", "tf.cast({}, tf.float32)"),
                    ("tf.range(n)", "tf.cast({}, tf.float32)"),
                    ("range(n)", "tf.cast({}, tf.float32)"),
                    ("range({})", "{} * 0.5"),
                    ("t", "{}"),
                    ("m", "{}[0]"),
                    ("zip(xs, xs[::-1])", "{}[1]"),
                    ("[x, y]", "{}"),
                ]
            )
            self._emit(depth, f"for {name} in {elements.format(self._number(0, 3))}:")
            read = [use.format(name)]
        elif self._number(0, 7) == 0:
            self._emit(depth, f"{name} = {self._one_of(['0', 'n - 2'])}")
            self._emit(depth, "while True:")
            self._emit(depth + 1, f"{name} += 1")
            self._emit(depth + 1, f"if {name} > {self._number(0, 3)} or {self._condition()}:")
            self._emit(depth + 2, "break")
        else:
            self._emit(depth, f"{name} = {self._one_of(['0', 'n - 2', 'tf.constant(0)'])}")
            condition = f" and {self._condition()}" if self._number(0, 2) == 0 else ""
            self._emit(depth, f"while {name} < {self._number(0, 3)}{condition}:")
            self._emit(depth + 1, f"{name} += 1")
        with self._readable(*read):
            self._block(depth + 1, level + 1, True)
        if read and self._may_be_unbound:
            self._floats = [*self._floats, *read]
        if self._number(0, 11) == 0:
            self._emit(depth, "else:")
            self._block(depth + 1, level + 1, False)

    def _function(self) -> None:
        """An inner function. One that is a Function reads no name that changes after its trace."""
        name = f"g{len(self._functions)}"
        is_function = self._number(0, 3) == 0
        if is_function:
            self._emit(1, "@tf.function")
        self._emit(1, f"def {name}(q, s):")
        self._emit(2, "r = q - 0.25")
        before = self._floats
        self._locals = ("q", "r")
        self._floats = ["q", "r", "x", "y"] if is_function else [*before, "q", "r", "q", "r"]
        self._block(2, 1, False)
        self._emit(2, "return q * 0.5 + r")
        self._locals, self._floats = (), before
        self._functions.append(name)


@functools.cache
def programs() -> st.SearchStrategy[str]:
    @st.composite
    def program(draw: Callable[[Any], Any]) -> str:
        return Author(draw).program()

    return program()


@functools.cache
def arguments(length: int) -> st.SearchStrategy[tuple[Any, ...]]:
    """The arguments x, y, n, t and m, as numbers and lists of that length."""
    eighths = st.integers(-12, 12).map(lambda i: i / 8)
    vectors = st.lists(eighths, min_size=length, max_size=length)
    return st.tuples(eighths, eighths, st.integers(0, 3), vectors, st.tuples(vectors, vectors))
