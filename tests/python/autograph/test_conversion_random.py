"""Random programs mean the same converted as they mean unconverted."""

from __future__ import annotations

import contextlib
import copy
import linecache
import random
import types
from collections.abc import Callable
from typing import Any

import pytest
from graven.autograph._conversion import convert
from python.autograph.test_conversion_operators import Options, Plain, Staging, run

NAMES = "abcxyz"
MAX_TICKS = 60


class Author:
    """Writes a program.

    Args:
      seed: Chooses the program.
      captures: Whether it has functions, lambdas and contexts that swallow exceptions; what they
        read is known to Python only.
    """

    def __init__(self, seed: int, captures: bool) -> None:
        self._random = random.Random(seed)
        self._captures = captures
        self._lines: list[str] = []
        self._budget = 45
        self._functions = 0
        self._in_lambda = 0

    def program(self) -> str:
        self._emit(0, "def f(a, b, log, tick, d, o, ctx):")
        if self._random.random() < 0.15:
            self._emit(1, "global g")
        for name in NAMES[2:]:
            if self._random.random() < 0.8:
                self._emit(1, f"{name} = {self._random.choice(['1', 'a', 'b', '0'])}")
        self._block(1, False, 0)
        while self._random.random() < 0.7:
            self._statement(1, False, 0)
        if self._random.random() < 0.7:
            self._emit(1, f"return {self._expression(2)}")
        return "\n".join(self._lines) + "\n"

    def _emit(self, depth: int, text: str) -> None:
        self._lines.append("    " * depth + text)

    def _name(self) -> str:
        return self._random.choice(NAMES)

    def _pair(self) -> str:
        """Two names. They differ: Python 3.11 swaps the assignments of `x, x = 1, 2`."""
        return ", ".join(self._random.sample(NAMES, 2))

    def _block(self, depth: int, in_loop: bool, nesting: int) -> None:
        for _ in range(self._random.randint(1, 4)):
            self._statement(depth, in_loop, nesting)

    def _statement(self, depth: int, in_loop: bool, nesting: int, exits: bool = True) -> None:
        pick = self._random.random()
        self._budget -= 1
        if nesting < 4 and self._budget > 0 and pick < 0.5:
            kinds = [self._if, self._if, self._if, self._while, self._for, self._try, self._match]
            kinds += [self._with]
            if self._captures:
                kinds += [self._function]
            self._random.choice(kinds)(depth, in_loop, nesting)
        elif pick < 0.58 and in_loop:
            self._emit(depth, self._random.choice(["break", "continue"]))
        elif pick < 0.62:
            self._emit(depth, f"return {self._expression(2)}")
        elif pick < 0.64:
            self._emit(
                depth, self._random.choice(["return", f"raise ValueError({self._name()!r})"])
            )
        else:
            self._emit(depth, self._simple())

    def _simple(self) -> str:
        name, value = self._name(), self._expression(2)
        kinds = [
            f"{name} = {value}",
            f"{name} = {value}",
            f"{name} = {value}",
            f"{name} {self._random.choice('+-*')}= {self._expression(1)}",
            f"{self._pair()} = {value}, {self._expression(1)}",
            f"log({value})",
            f"log({value})",
            f"o.v = {value}",
            f"d['k'] = {value}",
            f"o.v += {self._expression(1)}",
            f"assert {value}, {name!r}",
            f"{name}: int = {value}",
        ]
        if self._captures:
            kinds += [
                f"del {name}",
                f"del d[{name!r}]",
                f"o.{name} = {value}",
                f"d[{name}] = {value}",
                f"log(o.{name})",
                f"{name} = lambda {self._name()}={self._name()}: {value}",
                f"log({name}())",
                f"log([{self._expression(1)} for {name} in range(3) if {self._expression(1)}])",
                f"{name} = ({self._expression(1)} for {self._name()} in range(2))",
                f"log(list({name}))",
                "g = a",
                f"log(({name} := {value}))",
                f"import math as {name}",
            ]
        return self._random.choice(kinds)

    def _expression(self, depth: int) -> str:
        if depth == 0 or self._random.random() < 0.3:
            return self._random.choice(
                [self._name(), self._name(), str(self._random.randint(0, 3))]
            )
        left, right = self._expression(depth - 1), self._expression(depth - 1)
        third = self._expression(depth - 1)
        kinds = [
            f"({left} {self._random.choice('+-*')} {right})",
            f"({left} < {right})",
            f"({left} == {right})",
            f"({left} < {right} <= {third})",
            f"({left} < log({right}) < {third})",
            f"({left} and {right})",
            f"({left} or {right})",
            f"(not {left})",
            f"({left} if {right} else {third})",
            f"log({left})",
            f"log(*[{left}], **{{'more': {right}}})",
            "o.v",
            "d['k']",
        ]
        if self._captures:
            kinds += [f"({self._name()} := {left})", "len([1, *[2]])"]
        return self._random.choice(kinds)

    def _if(self, depth: int, in_loop: bool, nesting: int) -> None:
        self._emit(depth, f"if {self._expression(2)}:")
        self._block(depth + 1, in_loop, nesting + 1)
        while self._random.random() < 0.25:
            self._emit(depth, f"elif {self._expression(2)}:")
            self._block(depth + 1, in_loop, nesting + 1)
        if self._random.random() < 0.5:
            self._emit(depth, "else:")
            self._block(depth + 1, in_loop, nesting + 1)

    def _while(self, depth: int, in_loop: bool, nesting: int) -> None:
        self._emit(depth, f"while tick() and {self._expression(2)}:")
        self._block(depth + 1, True, nesting + 1)
        self._else(depth, in_loop, nesting)

    def _for(self, depth: int, in_loop: bool, nesting: int) -> None:
        targets = [self._name(), self._name(), self._pair(), "o.v"]
        target = self._random.choice(targets)
        values = [f"range({self._random.randint(0, 3)})", "[1, 0, 2]", self._name()]
        if "," in target:
            values = ["[(1, 2), (0, 3)]"]
        self._emit(depth, f"for {target} in {self._random.choice(values)}:")
        self._emit(depth + 1, "tick()")
        self._block(depth + 1, True, nesting + 1)
        self._else(depth, in_loop, nesting)

    def _else(self, depth: int, in_loop: bool, nesting: int) -> None:
        if self._random.random() < 0.3:
            self._emit(depth, "else:")
            self._block(depth + 1, in_loop, nesting + 1)

    def _try(self, depth: int, in_loop: bool, nesting: int) -> None:
        self._emit(depth, "try:")
        self._block(depth + 1, in_loop, nesting + 1)
        final = self._random.random() < 0.4
        if not final or self._random.random() < 0.5:
            # Converted code reports an unbound name by UnboundLocalError where Python says
            # NameError.
            kinds = ["ValueError", "(TypeError, ZeroDivisionError)", "NameError", "AssertionError"]
            name = f" as {self._name()}" if self._captures and self._random.random() < 0.3 else ""
            self._emit(depth, f"except {self._random.choice(kinds)}{name}:")
            self._block(depth + 1, in_loop, nesting + 1)
            if self._random.random() < 0.3:
                self._emit(depth, "except Exception:")
                self._block(depth + 1, in_loop, nesting + 1)
                if self._random.random() < 0.5:
                    self._emit(depth + 1, "raise")
            self._else(depth, in_loop, nesting)
        if final:
            self._emit(depth, "finally:")
            self._emit(depth + 1, f"{self._name()} = log({self._expression(1)})")
            if self._random.random() < 0.3:
                self._emit(depth + 1, f"if {self._expression(1)}:")
                self._block(depth + 2, in_loop, nesting + 1)
            if self._random.random() < 0.5:
                self._emit(depth + 1, f"if {self._expression(1)}:")
                self._emit(depth + 2, f"{self._name()} = {self._expression(1)}")

    def _with(self, depth: int, in_loop: bool, nesting: int) -> None:
        swallows = self._captures and self._random.random() < 0.5
        name = f" as {self._name()}" if self._random.random() < 0.5 else ""
        self._emit(depth, f"with ctx({swallows}){name}:")
        self._block(depth + 1, in_loop, nesting + 1)

    def _match(self, depth: int, in_loop: bool, nesting: int) -> None:
        self._emit(depth, f"match {self._expression(2)}:")
        name = self._name()
        patterns = ["0", "1 | 2", f"int({name})", f"[{name}, *_]", "True", f"bool() as {name}"]
        for pattern in self._random.sample(patterns, self._random.randint(1, 3)):
            guard = f" if {self._expression(1)}" if self._random.random() < 0.3 else ""
            self._emit(depth + 1, f"case {pattern}{guard}:")
            self._block(depth + 2, in_loop, nesting + 2)
        if self._random.random() < 0.4:
            self._emit(depth + 1, f"case {self._random.choice(['_', self._name()])}:")
            self._block(depth + 2, in_loop, nesting + 2)

    def _function(self, depth: int, in_loop: bool, nesting: int) -> None:
        name = self._name()
        parameter = self._random.choice(["", f"{self._name()}={self._expression(1)}"])
        self._emit(depth, f"def {name}({parameter}):")
        shared = self._name()
        is_generator = self._random.random() < 0.2
        if shared not in parameter:
            # Bound in f, where the compiler wants it for `nonlocal`.
            self._lines.insert(1, f"    if tick is None: {shared} = 0")
            self._emit(depth + 1, f"nonlocal {shared}")
        if is_generator:
            self._emit(depth + 1, f"yield {self._name()}")
        self._block(depth + 1, False, max(nesting + 1, 3))
        self._emit(depth, f"log({name}() if callable({name}) else 0)")


class Context:
    def __init__(self, swallows: bool) -> None:
        self._swallows = swallows

    def __enter__(self) -> int:
        return 2

    def __exit__(self, *error: object) -> bool:
        return self._swallows and error[0] is not None and error[0] is not TimeoutError


def define(text: str, name: str) -> types.FunctionType:
    """Returns the function of a program, whose source Python can find."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec"), namespace)
    function: types.FunctionType = namespace["f"]
    return function


def outcome(f: Callable[..., Any], module: dict[str, Any], inputs: tuple[Any, Any]) -> Any:
    """What a run returns or raises, and all that it leaves behind."""
    logged: list[str] = []
    ticks = 0

    def log(value: Any, more: Any = None) -> Any:
        tick()
        if isinstance(value, types.GeneratorType):
            value = list(value)
        logged.append(kind(value) + kind(more))
        return value

    def tick() -> bool:
        nonlocal ticks
        ticks += 1
        if ticks > MAX_TICKS:
            raise TimeoutError
        return True

    d, o = {"k": 1}, types.SimpleNamespace(v=1)
    module.pop("g", None)
    result = run(f, (*copy.deepcopy(inputs), log, tick, d, o, Context))
    rest = {k: kind(v) for k, v in d.items() if isinstance(k, str)}
    return (
        kind(result),
        logged,
        rest,
        {k: kind(v) for k, v in vars(o).items()},
        kind(module.get("g")),
    )


def kind(value: Any) -> str:
    """What is compared of a value: addresses are left out, and classes of names without values."""
    if isinstance(value, tuple | list):
        return "(" + ", ".join(map(kind, value)) + ")"
    if isinstance(value, NameError):
        return "NameError"
    if isinstance(value, int | str | float | BaseException | type(None)):
        text = repr(value)
        return text.partition(" object at ")[0].replace("UnboundLocalError", "NameError")
    return type(value).__name__


def check(seed: int, captures: bool, operators: Plain) -> None:
    text = Author(seed, captures).program()
    try:
        with contextlib.suppress(DeprecationWarning):
            f = define(text, f"<program {seed}>")
    except SyntaxError:
        return
    converted = convert(f, Options(), operators)
    for inputs in ((0, 1), (2, 0), (1, [1, 2]), (3, "k")):
        expected = outcome(f, f.__globals__, inputs)
        found = outcome(converted, f.__globals__, inputs)
        assert found == expected, f"seed {seed}, inputs {inputs}:\n{text}"


@pytest.mark.parametrize("block", range(10))
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_a_converted_program_does_what_the_program_does(block: int) -> None:
    for seed in range(block * 30, block * 30 + 30):
        check(seed, True, Plain())


@pytest.mark.parametrize("block", range(10))
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_what_is_not_in_the_state_is_not_needed(block: int) -> None:
    for seed in range(block * 30, block * 30 + 30):
        check(seed, False, Staging())
