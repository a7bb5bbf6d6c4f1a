"""What the conversion emits, and what it refuses."""

from __future__ import annotations

import contextlib
import copy
import re
import types
from typing import Any

import pytest
from graven.autograph._conversion import ConversionError
from python.autograph.test_conversion_operators import (
    Feature,
    Options,
    Plain,
    Staging,
    code_text,
    converted,
)

_CHANGED: Any = None

# what is emitted


def list_operations(items: list[Any], n: int) -> Any:
    made = []
    made.append(n)
    last = items.pop()
    items.pop(0)
    items[0] = n
    items[1:2] = [5]
    return made, last, items[0], items[0:2], items


def test_lists_are_operators_calls_on_request() -> None:
    options = Options(optional_features=(Feature.LISTS,))
    text = code_text(list_operations, options)
    for fragment in (
        "made = ag__.new_list([])",
        "made = ag__.list_append(ag__.ld(made), ag__.ld(n))",
        "items, last = ag__.list_pop(ag__.ld(items), None)",
        "items = ag__.set_item(ag__.ld(items), 0, ag__.ld(n))",
        "ag__.get_item(ag__.ld(items), 0)",
        "optional_features=(ag__.Feature.LISTS,)",
    ):
        assert fragment in text
    items = [1, 2, 3, 4]
    expected = list_operations(copy.copy(items), 9)
    assert converted(list_operations, options, Plain())(items, 9) == expected


def symbols(f: Any) -> list[str]:
    """The arguments of `if_stmt` that name symbols."""
    text = code_text(f)
    return re.findall(r"ag__.if_stmt.*set_state\w*(.*)", text)


def test_outputs_come_before_what_is_input_only() -> None:
    def f(c: Any, b: Any, z: Any) -> Any:
        if c:
            b = b + 1
            z = b
        return z

    assert symbols(f) == [", ('z', 'b'), 1)"]


def test_a_name_that_is_not_live_is_no_symbol() -> None:
    def f(c: Any) -> Any:
        if c:
            scratch = 1
            y = scratch
        else:
            y = 2
        return y

    assert symbols(f) == [", ('y',), 1)"]


def functions_inside(f: Any) -> set[str]:
    """The names of the functions that the conversion has made inside of one."""
    found = set()
    codes = [converted(f).__code__]
    while codes:
        code = codes.pop()
        inner = [value for value in code.co_consts if isinstance(value, types.CodeType)]
        found |= {each.co_name for each in inner}
        codes += inner
    return found


def test_the_state_is_read_from_cells_where_it_is_in_names() -> None:
    def names(c: Any, x: Any) -> Any:
        if c:
            x = x + 1
        while x < 3:
            x += 1
        for i in range(2):
            x += i
        return x

    def item(c: Any, x: Any) -> Any:
        if c:
            x["k"] = 1
        return x

    def variable_of_the_module(c: Any) -> Any:
        global _CHANGED
        if c:
            _CHANGED = c
        return _CHANGED

    state = {"get_state", "set_state"}
    assert not state & functions_inside(names)
    assert state <= functions_inside(item)
    assert state <= functions_inside(variable_of_the_module)
    for operators in (Plain(), Staging()):
        assert converted(names, operators=operators)(True, 0) == names(True, 0) == 4
        assert converted(item, operators=operators)(True, {}) == {"k": 1}
        assert converted(variable_of_the_module, operators=operators)(5) == 5


class Private:
    """A name of the class's own is mangled where it is compiled."""

    def method(self, c: Any) -> Any:
        __x = 1
        if c:
            __x = 2
        return __x


@pytest.mark.parametrize("operators", [Plain(), Staging()], ids=["plain", "staging"])
def test_private_names_are_state(operators: Plain) -> None:
    method = converted(Private.method, operators=operators)
    assert (method(None, True), method(None, False)) == (2, 1)


class CountingReads(Plain):
    """Counts the reads by `ld`."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0

    def ld(self, value: Any) -> Any:
        self.reads += 1
        return super().ld(value)


def test_only_names_that_may_lack_a_value_are_read_by_an_operator() -> None:
    def certain(x: Any) -> Any:
        y = x + x
        for i in range(2):
            y += i * (lambda z: z + y)(x)
        return y

    def uncertain(x: Any) -> Any:
        if x:
            y = x
        return y

    operators = CountingReads()
    assert converted(certain, operators=operators)(1) == certain(1)
    assert operators.reads == 0
    assert converted(uncertain, operators=operators)(1) == 1
    assert operators.reads == 1
    with pytest.raises(UnboundLocalError, match="y"):
        converted(uncertain, operators=operators)(0)


def test_a_deleted_name_and_one_of_an_operand_that_did_not_run_lack_a_value() -> None:
    def deleted(c: Any) -> Any:
        x = 1
        if c:
            del x
        return x

    def not_bound(c: Any) -> Any:
        c and (x := 1)
        return x

    for f in (deleted, not_bound):
        assert converted(f)(f is not_bound) == 1
        with pytest.raises(UnboundLocalError, match="x"):
            converted(f)(f is deleted)


def test_a_name_that_an_exception_handler_reads_is_live() -> None:
    def f(c: Any) -> Any:
        y = 0
        try:
            if c:
                y = 1
            y = c.attribute
        except AttributeError:
            return y

    assert ", ('y',), 1)" in symbols(f)[0]


def test_what_a_with_binds_in_a_loop_is_no_loop_variable() -> None:
    def f(c: Any) -> Any:
        while c > 0:
            with contextlib.nullcontext(3) as tape:
                loss = tape
            c = c - loss - tape
        return c

    assert "('c',), {})" in code_text(f)


def test_a_composite_is_no_symbol_if_its_parts_change_in_the_statement() -> None:
    def f(c: Any, x: Any, i: Any) -> Any:
        if c:
            x[i] = 1
            x[0] = 2
            i = 2
        return x, i

    assert symbols(f) == [", ('i', 'x[0]'), 2)"]


def test_statements_after_an_elif_move_into_its_else() -> None:
    def f(x: Any) -> Any:
        if x > 5:
            return 1
        elif x > 0:
            return 2
        y = 3
        return y

    assert symbols(f) == [", ('do_return', 'retval_'), 2)"] * 2


def test_a_branch_that_returns_sometimes_takes_the_statements_after_it() -> None:
    def f(x: Any) -> Any:
        y = 0
        if x > 0:
            if x > 5:
                return 1
            y = 2
        return y

    assert "not_(do_return)" not in code_text(f)


# what is refused


def test_a_generator_is_refused() -> None:
    def f(x: Any) -> Any:
        yield x

    with pytest.raises(ConversionError, match="generators are not supported"):
        converted(f)


def test_a_coroutine_is_refused() -> None:
    async def f(x: Any) -> Any:
        return x

    with pytest.raises(ConversionError, match="coroutines are not supported"):
        converted(f)


def set_loop_options(**options: Any) -> None:
    pass


set_loop_options.__module__ = "graven.autograph.experimental"
alias = set_loop_options


def test_loop_options_are_those_of_the_operator() -> None:
    def f(n: Any) -> Any:
        i = 0
        while i < n:
            alias(maximum_iterations=2)
            i += 1
        for i in range(n):
            pass
            set_loop_options(shape_invariants=[(i, n)])
        return i

    text = code_text(f)
    assert "('i',), {'maximum_iterations': 2})" in text
    invariants = "[(ag__.ld(i), ag__.ld(n))]"
    assert f"{{'shape_invariants': {invariants}, 'iterate_names': 'i'}})" in text
    assert "set_loop_options" not in text


def test_loop_options_elsewhere_are_refused() -> None:
    def f(n: Any) -> Any:
        set_loop_options(maximum_iterations=2)
        return n

    with pytest.raises(ConversionError, match="first statement of a loop"):
        converted(f)
