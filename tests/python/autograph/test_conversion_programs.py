"""Programs mean the same converted as they mean unconverted, where nothing is a tensor.

They are what users write, and worse. PYTEST_DONT_REWRITE: they are compared as they are written.
"""

# mypy: ignore-errors
# ruff: noqa: B007, B012, B023, E731, E741, F821, F841, F842, RUF005, RUF012
# ruff: noqa: N805, SIM108

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from graven.autograph._conversion import convert, to_code_text
from python.autograph.test_conversion_operators import Feature, Options, Plain, Recursive, run


class Record:
    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and vars(self) == vars(other)

    def __repr__(self) -> str:
        return f"Record({vars(self)})"


def collatz(n: int, log: list[int]) -> int:
    while n != 1:
        log.append(n)
        if n % 2:
            n = 3 * n + 1
        else:
            n //= 2
    return n


def nested_loops(n: int, log: list[Any]) -> Any:
    for i in range(n):
        for j in range(n):
            if j == i:
                continue
            if j > 3:
                break
            log.append((i, j))
        else:
            log.append("inner ends")
            continue
        if i == 4:
            break
    else:
        log.append("outer ends")
        return "ended"
    return i, j


def while_else(n: int, log: list[Any]) -> Any:
    while n > 0:
        n -= 1
        if n == 3:
            break
    else:
        log.append("ended")
    return n


def return_in_loops(n: int, log: list[Any]) -> Any:
    for i in range(10):
        while True:
            i += 1
            if i == n:
                return "inner", i
            if i > 5:
                break
        log.append(i)
        if i == n + 4:
            return "outer", i
    return None


def returns_in_branches(n: int, log: list[Any]) -> Any:
    if n > 5:
        return 1
    elif n > 3:
        log.append("middle")
        return
    if n < -5:
        if n < -9:
            return 2
        n = 7
    else:
        n += 1
    return n


def try_statements(n: int, log: list[Any]) -> Any:
    for i in range(4):
        try:
            if n == i:
                return 10 // (n - 2)
            if i == 2:
                continue
            log.append(i)
        except ZeroDivisionError as error:
            log.append(str(error))
            break
        else:
            log.append("else")
        finally:
            log.append("finally")
    return "end", i


def reraises(n: int, log: list[Any]) -> Any:
    try:
        log.append(1 // n)
    except ZeroDivisionError:
        if n == 0:
            log.append("again")
            raise
    return n


def cancelled_return(n: int, log: list[Any]) -> Any:
    for i in range(3):
        try:
            try:
                return n
            finally:
                if n:
                    raise ValueError
        except ValueError:
            log.append(i)
    return "through"


def error_groups(n: int, log: list[Any]) -> Any:
    try:
        if n:
            raise ExceptionGroup("both", [ValueError("v"), TypeError("t")])
    except* ValueError as group:
        log.append([str(e) for e in group.exceptions])
    except* TypeError:
        log.append("type")
    return n


def swallowed(n: int, log: list[Any]) -> Any:
    x = None
    for i in range(3):
        with contextlib.suppress(ZeroDivisionError):
            x = 6 // (n - i)
        log.append(x)
    with contextlib.suppress(ZeroDivisionError):
        return 1 // n
    return "swallowed", x


def names_unbound(n: int, log: list[Any]) -> Any:
    if n > 1:
        x = n
    log.append("before")
    return x


def deleted(n: int, log: list[Any]) -> Any:
    x = y = n
    if n > 1:
        del x
    for i in range(2):
        if n == i:
            del y
    log.append("deleted")
    return x + y


class Private:
    def private_names_unbound(n: int, log: list[Any]) -> Any:
        if n % 2:
            __v = log.append(n)
        for __i in range(n):
            __v = __i
        __t = n
        if n == 4:
            del __t
        return __v, __t, __i


private_names_unbound = Private.private_names_unbound


def deletes_twice(n: int, log: list[Any]) -> Any:
    x = n
    del x
    if n:
        log.append(n)
        del x
    return n


def composites(n: int, log: list[Any]) -> Any:
    r, d, l = Record(a=1), {"k": 1}, [1, 2, 3]
    i = 1
    if n > 1:
        r.a = n
        d["k"] += n
        l[i] = n
        r.b = Record()
        r.b.c = n
    else:
        del d["k"]
        l[-1] = 7
    while len(d) < n:
        d[len(d)] = r.a
        r.a += 1
        i += 1
        l[0] = i
    for r.target in range(n):
        l[1:2] = [r.target]
    return r, d, l


def closures(n: int, log: list[Any]) -> Any:
    total = 0
    functions = []

    def add(k: int = n) -> int:
        nonlocal total
        if k > 1:
            total += k
        return total

    for i in range(n):
        add()
        functions.append(lambda: i * 10 + total)
        if i == 2:
            total = 100
    log.extend(f() for f in functions)
    return total, add(3), total


def lambda_sees_branch(n: int, log: list[Any]) -> Any:
    x = 1
    f = lambda: x
    if n > 1:
        x = 2
    y = f()
    while n > 0:
        n -= 1
        x += n
    return y, f()


def generators(n: int, log: list[Any]) -> Any:
    def numbers(limit: int) -> Iterator[int]:
        for i in range(limit):
            if i == 3:
                return
            yield i + offset

    offset = 1
    lazy = (x + offset for x in range(n))
    if n > 1:
        offset = 10
    return list(numbers(n)), list(lazy)


def local_classes(n: int, log: list[Any]) -> Any:
    base = n

    class Local:
        kind = "small" if n < 3 else "large"
        if n > 3:
            size = base
        else:
            size = -1
        values = [i for i in range(2)]

        def double(self) -> Any:
            return self.size * 2 + base

        def __private(self) -> Any:
            return "private"

        def reads_private(self) -> Any:
            return self.__private()

    if n > 2:
        base = 100
    local = Local()
    return local.kind, local.double(), local.reads_private(), Local.__qualname__


def matches(n: int, log: list[Any]) -> Any:
    subject = [0, (1, 2), {"k": n, "rest": 1}, Record(x=n), "text", [1, 2, 3]][n % 6]
    match subject:
        case 0:
            found = "zero"
        case (a, b) if a < b:
            found = a, b
        case {"k": k, **rest}:
            found = k, rest
        case Record(x=value):
            found = value
        case str() as text:
            return text
        case [first, *others]:
            for first in others:
                if first == 2:
                    break
            found = first, others
    return found


def walrus(n: int, log: list[Any]) -> Any:
    if (m := n * 2) > 4 and (k := m + 1):
        log.append(k)
    while (n := n - 1) > 0:
        if n == 2:
            continue
        log.append(n)
    values = [last := v for v in range(3)]
    total = (a := 1) + (b := a + m) if m else (c := 5)
    return m, n, last, total, sum(z := values), z


def walrus_in_defaults(n: int, log: list[Any]) -> Any:
    found = (n and (lambda *, k=(q := 5): k)()) or (lambda j=(r := 3): j)()
    log.append(found)
    return found, (q if n else r)


def chained(n: int, log: list[Any]) -> Any:
    def at(x: Any) -> Any:
        log.append(x)
        return x

    return (
        0 < at(n) < at(5) <= at(n + 3),
        at(1) < n < 3 != at(4),
        1 <= n in [1, 2],
        not n,
        (n and at(2)) or at(3),
        at(1) if n else at(2),
    )


def calls(n: int, log: list[Any]) -> Any:
    def f(a: int, /, b: int = 2, *args: int, c: int = 3, **kwargs: int) -> Any:
        return a, b, args, c, kwargs

    extra, named = (n, n + 1), {"d": 4}
    return (
        f(1),
        f(*extra),
        f(n, *extra, 5, *[6], c=n, **named),
        max(extra, key=lambda x: -x),
        f"{f(n)[0]:>{n + 2}} {n!r}",
        "{}".format(*extra),
    )


def twice_named(n: int, log: list[Any]) -> Any:
    return dict(a=1, **{"a": n})


def shadowed_builtins(n: int, log: list[Any]) -> Any:
    def f(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    tuple = dict = None
    print = log.append
    print("mine")
    return f(*[n], k=1), f(1, *[2], 3), tuple


def imports(n: int, log: list[Any]) -> Any:
    if n > 1:
        import math as numbers
    else:
        import cmath as numbers
    return numbers.sqrt(n), numbers.__name__


def annotated(n: int, log: list[Any]) -> Any:
    x: int = n
    y: list[undefined_name]
    while n > 0:
        x: float = x + n
        n -= 1
    return x


def unpacking(n: int, log: list[Any]) -> Any:
    a, (b, *c) = n, (1, 2, 3)
    for a, (b, c) in [(1, (2, 3)), (n, (5, 6))]:
        a, b = b, a
    [d, e] = (a, b)
    for _ in range(n):
        (log, f) = (log + [a], b)
    return a, b, c, d, e, log


def asserts(n: int, log: list[Any]) -> Any:
    assert n < 3, log.append("only when it fails")
    assert n
    return n


def error_names(n: int, log: list[Any]) -> Any:
    e = "before"
    for i in range(2):
        try:
            if i:
                raise ValueError(i)
        except ValueError as e:
            log.append(repr(e))
            if n > 1:
                e = 3
    return e


def dead_code(n: int, log: list[Any]) -> Any:
    if n > 1:
        return log
        len = 1
    return len(log)


module_count = 0


def globals_are_written(n: int, log: list[Any]) -> Any:
    global module_count
    module_count = 0
    for i in range(n):
        if i % 2:
            module_count += i
    return module_count


def deletes_global(n: int, log: list[Any]) -> Any:
    if n > 1:
        global temporary
        temporary = n
        del temporary
    return "temporary" in globals()


def documented(n: int, log: list[Any]) -> Any:
    """A docstring."""


def reads_frames(n: int, log: list[Any]) -> Any:
    x = 1
    if n > 1:
        x = 2
    return eval("x", {}, {"x": x})


def long_elif(n: int, log: list[Any]) -> Any:
    if n == 0:
        x = "zero"
    elif n == 1:
        x = "one"
    elif n == 2:
        return "two"
    elif n == 3:
        raise ValueError(n)
    else:
        x = "many"
        if n == 5:
            pass
    return x


def with_targets(n: int, log: list[Any]) -> Any:
    r = Record()
    for i in range(2):
        with contextlib.nullcontext(n) as r.x, contextlib.nullcontext((1, 2)) as (a, b):
            if n > 1:
                break
            log.append(r.x)
    return r, a, b, i


def decorated_inside(n: int, log: list[Any]) -> Any:
    def twice(f: Callable[..., int]) -> Callable[..., int]:
        def wrapped(*args: int) -> int:
            log.append(f.__name__)
            return f(*args) * 2

        return wrapped

    @twice
    def inner(x: int, y: int = n) -> int:
        if x > 1:
            return x
        return y

    return inner(n), inner(0)


def recursion(n: int, log: list[Any]) -> Any:
    def factorial(k: int) -> int:
        return 1 if k <= 1 else k * factorial(k - 1)

    return factorial(n)


def exits_of_finally(n: int, log: list[Any]) -> Any:
    for i in range(6):
        try:
            if i == n:
                return "pending"
            if i == n + 1:
                break
            log.append(10 // (i - 1))
        finally:
            log.append(i)
            if n == 2:
                continue
            if n == 3:
                break
            if n == 4 and i == 1:
                return "final"
    else:
        log.append("else")
    try:
        return 1 // n
    finally:
        if n == 0:
            return "no error"


def leaves_finally(n: int, log: list[Any]) -> Any:
    for i in range(3):
        try:
            log.append(i)
        finally:
            for j in range(3):
                if j == n:
                    break
    return j


def loops_in_finally(n: int, log: list[Any]) -> Any:
    try:
        if n % 2:
            return "pending"
        10 // (n - 2)
    finally:
        for i in range(3):
            try:
                log.append(i)
                if n in (4, 5) and i == 1:
                    return "from within"
            finally:
                if n in (3, 5, 6):
                    continue
                if n in (0, 1):
                    break
        log.append("looped")
    return "ended"


def continues_in_finally(n: int, log: list[Any]) -> Any:
    try:
        return "pending"
    finally:
        while n > 0:
            n -= 1
            try:
                log.append(n)
            finally:
                continue
    return "ended"


def cancels_an_exit_in_finally(n: int, log: list[Any]) -> Any:
    """What an inner `finally` cancels is its own exit, not the one under way around it."""
    for i in range(3):
        try:
            if n == 1:
                break
            if n == 2:
                continue
            log.append("no exit")
        finally:
            try:
                try:
                    if n % 2 == i:
                        continue
                    if n == 3:
                        break
                finally:
                    raise KeyError(i)
            except KeyError:
                log.append(i)
        log.append("end")
    return i


def raises_in_finally(n: int, log: list[Any]) -> Any:
    try:
        if n % 2:
            return "pending"
    finally:
        try:
            try:
                log.append(n)
                return "cancelled"
            finally:
                if n > 1:
                    raise KeyError
        except KeyError:
            log.append("caught")
    return "ended"


FUNCTIONS = [
    value
    for value in list(globals().values())
    if callable(value) and getattr(value, "__module__", "") == __name__
    and getattr(value, "__code__", None) and value.__code__.co_varnames[:2] == ("n", "log")
]  # fmt: skip


@pytest.mark.parametrize("operators", [Plain(), Recursive()], ids=["plain", "recursive"])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_converted_function_does_what_the_function_does(
    f: Callable[..., Any], operators: Plain
) -> None:
    converted = convert(f, Options(), operators)
    for n in range(-10, 8):
        if f is collatz and n < 1:
            continue
        expected_log: list[Any] = []
        log: list[Any] = []
        expected, found = run(f, (n, expected_log)), run(converted, (n, log))
        assert (found, log) == (expected, expected_log), f"{n}:\n{to_code_text(f, Options())}"


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_all_features_leave_the_meaning_of_python_values(f: Callable[..., Any]) -> None:
    converted = convert(f, Options(optional_features=(Feature.ALL,)), Plain())
    for n in range(1, 6):
        expected_log: list[Any] = []
        log: list[Any] = []
        expected, found = run(f, (n, expected_log)), run(converted, (n, log))
        assert found[0] == expected[0] and (found, log) == (expected, expected_log)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_text_of_a_converted_function_compiles(f: Callable[..., Any]) -> None:
    text = to_code_text(f, Options())
    compile(text, "<text>", "exec")
    first = inspect.getsource(f).partition("\n")[0].partition("  #")[0].strip()
    assert text.startswith(first.replace("def ", "def tf__") + "\n")
