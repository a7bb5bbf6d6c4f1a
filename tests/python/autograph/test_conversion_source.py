"""Converted functions keep their files, lines, names, cells and defaults."""

from __future__ import annotations

import ast
import functools
import gc
import inspect
import linecache
import sys
import time
import traceback
import types
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from graven.autograph._conversion import (
    ConversionError,
    convert,
    converted_frame,
)
from python.autograph.test_conversion_operators import Options, Plain, code_text, converted

F = TypeVar("F", bound=Callable[..., Any])


def from_text(text: str, name: str) -> dict[str, Any]:
    """Runs a program whose source Python can find."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, name, "exec"), namespace)
    return namespace


# lambdas


def both(*functions: Callable[..., Any]) -> list[Any]:
    return [converted(f)(5) for f in functions]


def test_lambdas_on_one_line_are_told_apart() -> None:
    # fmt: off
    assert both(lambda x: x + 1, lambda x: x * 2, lambda x: (lambda y: y - x)(1)) == [6, 10, -4]
    inner, outer = (lambda x: lambda y: x - y)(3), lambda x: (lambda y: y)(x)
    assert both(inner, outer) == [-2, 5]
    é = "é"; f, g = lambda x: (é, (x)), (lambda x: [é, x])  # noqa: E702
    # fmt: on
    assert both(f, g) == [("é", 5), ["é", 5]]


def test_a_lambda_may_take_several_lines() -> None:
    f = (  # noqa: E731
        lambda x,
        y=3: (
            x
            # a comment with ) and lambda
            + y
        )
    )  # fmt: skip
    g = functools.partial(
        lambda x, **more: {
            "x": x,
            **more,
        },
        a=1,
    )
    assert converted(f)(1) == 4
    assert converted(g.func)(1, a=2) == {"x": 1, "a": 2}


@pytest.mark.parametrize(
    "text",
    [
        "f = lambda: None",
        "f = lambda: (1)",
        "f = (lambda: ((1)))",
        "f = [lambda: 0, (lambda: (1, 2))][1]",
        "f = (lambda\n : (1) if (2) else (3))",
        "f = {'lambda': lambda: 'lambda'}['lambda']",
        "f = (lambda: f'{1:{2}}')",
        "f = (lambda a=(lambda: 1): a())",
        "f = (lambda: [i for i in (1, 2)])",
        "(f := lambda: 3)",
        "x = 1; f = lambda: x; g = lambda: -x",
    ],
)
def test_the_source_of_a_lambda_is_found(text: str) -> None:
    f = from_text(text, "<lambdas>")["f"]
    assert converted(f)() == f()


def test_each_of_many_lambdas_on_a_line_is_found_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    items = ", ".join(f"lambda x: x * {i}" for i in range(200))
    lambdas = from_text(f"fs = [{items}]", "<many lambdas>")["fs"]
    parse, parsed = ast.parse, []

    def counted(text: Any, *arguments: Any, **options: Any) -> Any:
        parsed.append(text)
        return parse(text, *arguments, **options)

    for i in (0, 1, 150, 199):
        parsed.clear()
        monkeypatch.setattr(ast, "parse", counted)
        made = converted(lambdas[i])
        monkeypatch.undo()
        assert made(2) == 2 * i and len(parsed) < 5


def test_the_names_of_a_lambda_are_those_of_the_lambda() -> None:
    f = lambda x: x and x + 1  # noqa: E731
    assert converted(f).__qualname__ == f.__qualname__
    assert converted(f).__code__.co_name == "<lambda>"


# functions


class Base:
    def method(self, x: int) -> Any:
        return "base", x


class Methods(Base):
    __hidden = 3

    def method(self, x: int) -> Any:
        if x > 0:
            return super().method(x)
        return super(Methods, self).method(-x)  # noqa: UP008

    def private(self, __x: int = 1) -> Any:
        self.__value = __x
        while self.__value < self.__hidden:
            self.__value += 1
        return self.__value, self.__also()

    def __also(self) -> str:
        return type(self).__name__

    @staticmethod
    def static(x: int) -> int:
        return x if x > 0 else -x

    @classmethod
    def of_class(cls, x: int) -> Any:
        return cls, x

    def nested(self) -> Any:
        def inner() -> Any:
            return self.__hidden

        return inner


def test_methods_are_converted() -> None:
    m = Methods()
    assert converted(Methods.method)(m, 1) == ("base", 1)
    assert converted(Methods.method)(m, -2) == ("base", 2)
    assert converted(Methods.static)(-2) == 2
    assert converted(Methods.of_class.__func__)(Methods, 1) == (Methods, 1)  # type: ignore[attr-defined]


def test_private_names_are_those_of_the_class() -> None:
    m = Methods()
    assert converted(Methods.private)(m) == (3, "Methods")
    assert converted(Methods._Methods__also)(m) == "Methods"  # type: ignore[attr-defined]
    assert converted(m.nested())() == 3
    assert converted(Methods.nested)(m)() == 3


def log_calls(f: F) -> F:
    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    return wrapper  # type: ignore[return-value]


@log_calls
@functools.lru_cache(
    maxsize=3,
)
@log_calls
def decorated(x: int) -> int:
    return x + 1


def test_decorated_functions_are_converted() -> None:
    wrapper = converted(decorated)
    assert wrapper(1) == 2 and wrapper.__name__ == "decorated"
    assert wrapper.__wrapped__ is decorated.__wrapped__
    innermost: Any = inspect.unwrap(decorated)
    assert converted(innermost)(1) == 2


def annotated(a: int, b: list[int] | None = None, *c: int, d: str = "d", **e: Any) -> str:
    """Says what it does."""
    return f"{a}{b}{c}{d}{e}"


def test_a_converted_function_looks_like_the_function() -> None:
    f = converted(annotated)
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__annotations__"):
        assert getattr(f, name) == getattr(annotated, name)
    assert inspect.signature(f) == inspect.signature(annotated)
    assert f(1, e2=3) == annotated(1, e2=3)
    assert f.__defaults__ is annotated.__defaults__
    assert f.__code__.co_filename == annotated.__code__.co_filename
    assert f.__globals__ is globals()
    assert f.is_artifact


def test_cells_are_shared() -> None:
    count = 0

    def f() -> int:
        nonlocal count
        if count < 10:
            count += 1
        return count

    g = converted(f)
    assert (g(), count, f(), g(), count) == (1, 1, 2, 3, 3)
    count = 20
    assert g() == 20


def test_a_cell_may_be_empty_at_the_conversion() -> None:
    def f() -> int:
        return later

    g = converted(f)
    later = 3
    assert g() == 3


def test_inner_functions_keep_their_qualified_names() -> None:
    def f(n: int) -> Any:
        def inner() -> Any:
            if n:

                class Local:
                    def method(self) -> None: ...

            return Local, lambda: n

        return inner

    inner, expected = converted(f)(1), f(1)
    local, function = inner()
    assert inner.__qualname__ == expected.__qualname__
    assert local.__qualname__ == expected()[0].__qualname__
    assert local.method.__qualname__ == expected()[0].method.__qualname__
    assert function.__qualname__ == expected()[1].__qualname__


def test_future_annotations_stay_strings() -> None:
    def f() -> Any:
        def g(x: Undefinable) -> None: ...  # type: ignore[name-defined]  # noqa: F821

        return g

    assert converted(f)().__annotations__ == {"x": "Undefinable", "return": "None"}


def test_a_function_with_lines_at_the_margin_is_found() -> None:
    text = '''
class A:
    def f(self):
        x = """
text
"""
        if x:
# a comment
            return (
x
)
        return 0
        y = """
dead
"""
def g(): pass
'''
    f = from_text(text, "<margin>")["A"].f
    assert converted(f)(None) == "\ntext\n"


def test_tabs_and_one_line_bodies_are_found() -> None:
    program = from_text("if 1:\n\tdef f(x): return x + 1\n\tdef g(x):\n\t\treturn x\n", "<tabs>")
    assert converted(program["f"])(1) == 2 and converted(program["g"])(1) == 1


def test_a_function_without_source_is_refused() -> None:
    namespace: dict[str, Any] = {}
    exec(compile("def f(): return 1", "<nowhere>", "exec"), namespace)
    with pytest.raises(ConversionError, match="source code"):
        converted(namespace["f"])


# The text when it was loaded, and after an edit.
EDITS = [
    ("def f(): return 1", "def g(): return 2"),
    ("def f(x): return x + 10", "def f(x): return x + 20"),
    ("def f(x): return x + 10", "def f(x): return x - 10"),
    ("def f(x): return x + 1", "def f(x): return x + True"),
    ("def f(x): return (x, (1, 2))", "def f(x): return (x, (2, 1))"),
    ("def f(x): return abs(x)", "def f(x): return len(x)"),
    ("def f(x): return x < 10", "def f(x): return x > 10"),
    ("def f(x): return x", "def f(x, y): return x"),
    ("def f(x): return x", "def f(*x): return x"),
    ("def f(x):\n    y = 1\n    return x", "def f(x):\n    return x"),
    ("def f(x): return 1\ndef g(x): return 2", "def g(x): return 2\ndef f(x): return 1"),
    (
        "def f(x):\n    def g(): return x\n    return g",
        "def f(x):\n    def g(): return 1\n    return g",
    ),
    ("f = lambda x: x + 10", "f = lambda x: x + 20"),
]


@pytest.mark.parametrize(("before", "after"), EDITS)
def test_a_function_whose_source_has_changed_is_refused(before: str, after: str) -> None:
    f = from_text(before + "\n", "<changed>")["f"]
    lines = [f"{line}\n" for line in after.split("\n")]
    linecache.cache["<changed>"] = (len(after), None, lines, "<changed>")
    with pytest.raises(
        ConversionError, match=r"line 1 of <changed> is not that of .* changed after"
    ):
        converted(f)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x): return os.getcwd() and x",  # The compiler knows that the name is a module's.
        "def f(x):\n    class A:\n        y = x\n    return A().y",
        "@(lambda f: f)\ndef f(x, y=(lambda: 3)): return x",
        "class A:\n    def f(x): return [x.__class__, __class__]\nf = A.f",
        "def f(x):\n    nonlocal_ = x\n    def g():\n        nonlocal nonlocal_\n        return x\n"
        "    return g()",
        "def outer(y):\n    def f(x):\n        nonlocal y\n        y += x\n        return y\n"
        "    return f\nf = outer(1)",
        "def f(x):\n    'Says it.'\n    assert x, -1\n    return x if x in {1, 5, 7} else -0.0",
    ],
)
def test_code_is_that_of_its_source(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    matching = sys.modules["graven.autograph._conversion.matching"]
    monkeypatch.setattr(matching, "_may_have_become", lambda *_: False)
    f = from_text(f"import os\n{text}\n", "<as it is>")["f"]
    assert converted(f).__code__.co_filename == "<as it is>"


class Rewriter(ast.NodeTransformer):
    """Checks values, as pytest and packages that check types do."""

    def visit_Assert(self, node: ast.Assert) -> Any:
        kept = ast.Assign([ast.Name("@one", ast.Store())], ast.Constant(1))
        raised = ast.If(node.test, [kept], [ast.Raise(ast.Name("AssertionError", ast.Load()))])
        return [ast.copy_location(raised, node)]

    def visit_Return(self, node: ast.Return) -> ast.Return:
        assert node.value is not None
        node.value = ast.Call(ast.Name("check", ast.Load()), [node.value], [])
        return node


def test_code_of_a_changed_tree_is_that_of_its_source() -> None:
    text = "def f(x):\n    y = x + 2\n    assert x != -1 + 1, 'no'\n    return y * x\n"
    name = "<rewritten>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    tree = ast.fix_missing_locations(Rewriter().visit(ast.parse(text)))
    program: dict[str, Any] = {"check": lambda value: value}
    exec(compile(tree, name, "exec"), program)
    assert converted(program["f"])(3) == 15
    changed = text.replace("+ 2", "+ 3")
    linecache.cache[name] = (len(text), None, changed.splitlines(True), name)
    with pytest.raises(ConversionError, match="is not that of f"):
        converted(types.FunctionType(program["f"].__code__.replace(), program))


def test_a_function_may_have_been_named_anew() -> None:
    f = from_text("def f(x): return x + 1\n", "<named>")["f"]
    g = types.FunctionType(f.__code__.replace(co_name="other", co_qualname="A.other"), {})
    assert converted(g)(1) == 2


def without_columns(code: types.CodeType) -> types.CodeType:
    """What `python -X no_debug_ranges` makes: lines only."""
    table, last = bytearray(), code.co_firstlineno
    for start, end, line in code.co_lines():
        line, units = line or last, (end - start) // 2
        while units:
            size = min(units, 8)
            delta = line - last
            assert -32 < delta < 32
            table += bytes([0x80 | 13 << 3 | size - 1, 2 * delta if delta >= 0 else -2 * delta + 1])
            last, units = line, units - size
    constants = [
        without_columns(value) if isinstance(value, types.CodeType) else value
        for value in code.co_consts
    ]
    return code.replace(co_linetable=bytes(table), co_consts=tuple(constants))


def test_lambdas_are_found_without_columns() -> None:
    text = (
        "f = [lambda x: x * 2, lambda x: x * 3, lambda x: y * x, lambda x, y: x,\n"
        "     lambda: (lambda x:\n x + 4)][:5]\ny = 7\n"
    )
    linecache.cache["<lines>"] = (len(text), None, text.splitlines(True), "<lines>")
    program: dict[str, Any] = {}
    exec(without_columns(compile(text, "<lines>", "exec")), program)
    double, triple, seven, first, make = program["f"]
    assert {column for *_, column, _ in double.__code__.co_positions()} == {None}
    assert [converted(f)(5) for f in (double, triple, seven)] == [10, 15, 35]
    assert converted(first)(1, 2) == 1 and converted(make)()(1) == 5 and converted(make())(2) == 6


def test_a_conversion_error_is_no_value_error() -> None:
    assert not issubclass(ConversionError, ValueError)


def test_names_of_the_users_are_not_taken() -> None:
    def f(ag__: Any, fscope: Any, get_state: Any, do_return: Any) -> Any:
        break_ = vars_ = 1
        for itr in range(3):
            if itr == 2:
                break
            if itr:
                get_state += itr
                vars_ += 1
        return ag__, fscope, get_state, do_return, break_, vars_, itr

    assert converted(f)(1, 2, 3, 4) == f(1, 2, 3, 4)
    assert "ag___1.for_stmt" in code_text(f)


# lines


def fails(x: int) -> Any:
    total = 0
    for i in range(3):
        if i == x:
            total += 1 // (i - x)
        elif x > 5 and i:
            while True:
                total = x.missing  # type: ignore[attr-defined]
    both = x < 0 and len(5)  # type: ignore[arg-type]
    return both or [undefined  # type: ignore[name-defined]  # noqa: F821
                    for _ in "a"]  # fmt: skip


def user_lines(f: Callable[..., Any], x: int) -> list[tuple[str, int]]:
    """The frames of this file in a traceback: their functions and lines, without repetitions."""
    found: list[tuple[str, int]] = []
    try:
        f(x)
    except Exception as error:
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.filename == __file__ and frame.name != "user_lines":
                found.append((frame.name, frame.lineno or 0))
    return found


@pytest.mark.parametrize("x", [1, 6, -1, 3])
def test_tracebacks_end_at_the_line_of_the_user(x: int) -> None:
    expected, found = user_lines(fails, x), user_lines(converted(fails), x)
    assert found[-1] == expected[-1]
    assert {name for name, _ in found} == {name for name, _ in expected}


def test_frames_of_converted_code_are_known() -> None:
    f = converted(fails)
    found = []
    try:
        f(6)
    except AttributeError as error:
        for entry, _ in traceback.walk_tb(error.__traceback__):
            frame = converted_frame(entry.f_code)
            if frame is not None:
                found.append((frame.function, frame.is_helper))
    assert found[0] == ("fails", False)
    assert set(found[1:]) == {("fails", True)}
    assert converted_frame(fails.__code__) is None


def test_the_same_lines_run_converted() -> None:
    def lines(f: Callable[..., Any], late: int) -> set[int]:
        ran: set[int] = set()

        def trace(frame: types.FrameType, event: str, argument: object) -> Any:
            if frame.f_code.co_filename == __file__:
                if event == "line":
                    ran.add(frame.f_lineno)
                return trace
            return None

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            f(late)
        finally:
            sys.settrace(before)
        return ran

    def program(late: int) -> Any:
        total = 0
        if not late:
            return late
        for i in range(5):
            if i == 2:
                continue
            elif i > 3:
                break
            total += i
        else:
            total = -1
        while total > 2:
            total -= 1
        try:
            total.missing  # type: ignore[attr-defined]  # noqa: B018
        except AttributeError:
            total += 1
        return total

    first = program.__code__.co_firstlineno
    for late in (0, 1):
        ran, expected = lines(converted(program), late), lines(program, late)
        # The conversion's own statements stand at the `def`.
        assert {line for line in ran if first < line < first + 23} == expected - {first}


# the cache


def test_code_is_converted_once_for_each_options() -> None:
    def make(n: int) -> Any:
        def f() -> int:
            return n

        return f

    first, second = converted(make(1)), converted(make(2))
    assert first.__code__ is second.__code__ and (first(), second()) == (1, 2)
    other = convert(make(3), Options(recursive=False), Plain())
    assert other.__code__ is not first.__code__


def test_equal_code_of_two_files_is_converted_twice() -> None:
    f, g = (from_text("def f(): return 1\n", name)["f"] for name in ("<one>", "<two>"))
    assert f.__code__ == g.__code__
    assert converted(f).__code__.co_filename == "<one>"
    assert converted(g).__code__.co_filename == "<two>"


def test_nothing_is_kept_of_a_function_that_is_gone() -> None:
    f = from_text("def f(x):\n    if x:\n        x = 1\n    return x\n", "<gone>")["f"]
    g = converted(f)
    new = weakref.ref(g.__code__)
    old = weakref.ref(f.__code__)
    key = id(g.__code__)
    del f, g
    gc.collect()
    assert old() is None and new() is None
    frames = sys.modules["graven.autograph._conversion.frames"].__dict__["_FRAMES"]
    assert key not in frames


def test_frames_of_an_inner_function_are_known_as_long_as_it_lives() -> None:
    text = "def f():\n    def inner(x):\n        if x:\n            return x\n    return inner\n"
    f = from_text(text, "<outer>").pop("f")
    inner = converted(f)()
    del f
    gc.collect()
    frame = converted_frame(inner.__code__)
    assert frame is not None and (frame.function, frame.is_helper) == ("inner", False)
    parts = [code for code in inner.__code__.co_consts if isinstance(code, types.CodeType)]
    assert any(frame and frame.is_helper for frame in map(converted_frame, parts))


def test_the_text_of_a_function_is_made_in_time_that_grows_with_its_length() -> None:
    def seconds(parts: int) -> float:
        part = "    if x > {0}:\n        y{0} = x\n    else:\n        y{0} = z[{0}] = -x\n"
        body = "".join(part.format(i) for i in range(parts))
        f = from_text(f"def f(x, z):\n{body}    return y0\n", f"<{parts} parts>")["f"]
        times = []
        for _ in range(5):
            start = time.process_time()
            code_text(f)
            times.append(time.process_time() - start)
        return min(times)

    assert seconds(400) < 20 * seconds(50)
