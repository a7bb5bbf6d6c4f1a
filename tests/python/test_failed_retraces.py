"""A trace that a changed value asks for, and that fails: what it has changed is put back."""

from __future__ import annotations

import threading
from typing import Any

import graven as tf
import pytest

ONE = tf.constant(1.0)
mode: Any = "old"
rate: Any = 2.0


class Box:
    k: Any
    other: Any
    values: Any
    named: Any
    made: Any

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


class Slotted:
    __slots__ = ("__weakref__", "k", "mode")

    def __init__(self) -> None:
        self.k: Any = 2.0
        self.mode = "old"


class Settings:
    k: Any = 2.0
    mode = "old"


def test_what_other_threads_have_changed_meanwhile_stays() -> None:
    box = Box(k=2.0, other=1.0)

    def elsewhere() -> None:
        box.other = 7.0

    @tf.function
    def f(x: Any) -> Any:
        if box.k != 2.0:
            thread = threading.Thread(target=elsewhere)
            thread.start()
            thread.join()
            raise ValueError("not traced")
        return x * box.k * box.other

    assert f(ONE) == 2.0
    box.k = 5.0
    assert f(ONE) == 2.0
    assert box.other == 7.0


def test_globals_cells_and_attributes_are_put_back() -> None:
    global mode
    mode = inner = "old"
    box = Box(k=2.0, other="old", made="old")

    @tf.function
    def f(x: Any) -> Any:
        global mode
        nonlocal inner
        if mode == inner == box.other == "old" and box.k != 2.0:
            mode = inner = box.other = "new"
            del box.made
            raise ValueError("not traced")
        return x * box.k

    f(ONE)
    box.k = 5.0
    assert f(ONE) == 2.0
    assert (mode, inner, box.other) == ("old", "old", "old")


@pytest.mark.parametrize("make", [Slotted, lambda: Settings], ids=["slots", "class"])
def test_slots_and_attributes_of_classes_are_put_back(make: Any) -> None:
    owner = make()
    owner.k, owner.mode = 2.0, "old"

    @tf.function
    def f(x: Any) -> Any:
        if owner.mode == "old" and owner.k != 2.0:
            owner.mode = "new"
            raise ValueError("not traced")
        return x * owner.k

    f(ONE)
    owner.k = 5.0
    assert f(ONE) == 2.0
    assert owner.mode == "old"


def test_lists_and_dicts_are_put_back() -> None:
    box = Box(k=2.0, values=[1.0], named={"rate": 2.0, "inner": [1.0]})
    key = "other"

    @tf.function
    def f(x: Any) -> Any:
        total = x * len(box.values) * box.named["rate"]
        for each in box.named["inner"]:
            total = total * each
        if box.k != 2.0:
            box.values.append(7.0)
            box.named["rate"] = 7.0
            box.named[key] = 7.0
            box.named["inner"].append(7.0)
            raise ValueError("not traced")
        return total

    values, named, inner = box.values, box.named, box.named["inner"]
    f(ONE)
    box.k = 5.0
    assert f(ONE) == 2.0
    assert box.values is values and values == [1.0]
    assert box.named is named and named == {"rate": 2.0, "inner": [1.0]}
    assert named["inner"] is inner


def _deletes_items(box: Any) -> None:
    del box.values[0]
    del box.named["rate"]
    del box.named["inner"][-1]


def _pops_items(box: Any) -> None:
    box.values.pop()
    box.named.pop("rate")
    box.named["inner"].pop(0)


def _clears(box: Any) -> None:
    box.values.clear()
    box.named["inner"].remove(2.0)
    box.named.popitem()


def _reorders(box: Any) -> None:
    box.values.sort()
    box.named["inner"].reverse()


@pytest.mark.parametrize(
    "change", [_deletes_items, _pops_items, _clears, _reorders], ids=lambda f: f.__name__
)
def test_what_was_deleted_or_reordered_is_put_back(change: Any) -> None:
    box = Box(k=2.0, values=[3.0, 1.0], named={"inner": [1.0, 2.0], "rate": 2.0})

    @tf.function
    def f(x: Any) -> Any:
        total = x * len(box.values) * box.named["rate"] * box.values[0]
        for each in box.named["inner"]:
            total = total * each
        if box.k != 2.0:
            change(box)
            raise ValueError("not traced")
        return total

    values, inner = box.values, box.named["inner"]
    f(ONE)
    box.k = 5.0
    assert f(ONE) == 24.0
    assert box.values is values and values == [3.0, 1.0]
    assert box.named == {"inner": [1.0, 2.0], "rate": 2.0}
    assert box.named["inner"] is inner


def test_deleted_names_are_put_back() -> None:
    global rate
    rate = 2.0
    box = Box(k=2.0, other=3.0)
    shift = 5.0

    @tf.function
    def f(x: Any) -> Any:
        global rate
        nonlocal shift
        total = x * rate * box.other + shift
        if box.k != 2.0:
            del rate, box.other, shift
            raise ValueError("not traced")
        return total

    f(ONE)
    box.k = 5.0
    assert f(ONE) == 11.0
    assert (rate, box.other, shift) == (2.0, 3.0, 5.0)


@pytest.mark.parametrize(("number", "left"), [(4096, 1.0), (4097, 7.0)])
def test_containers_of_more_than_4096_items_are_not_put_back(number: int, left: float) -> None:
    box = Box(k=2.0, values=[1.0] * number, named={i: 1.0 for i in range(number)})
    values, named = box.values, box.named

    @tf.function
    def f(x: Any) -> Any:
        total = x * box.values[0] * box.named[0]
        if box.k != 2.0:
            box.values[1] = box.named[1] = 7.0
            raise ValueError("not traced")
        return total

    f(ONE)
    box.k = 5.0
    assert f(ONE) == 1.0
    assert values[1] == named[1] == left


def test_a_list_that_another_thread_has_changed_too_stays() -> None:
    box = Box(k=2.0, values=[1.0])

    def elsewhere() -> None:
        box.values.append(3.0)

    @tf.function
    def f(x: Any) -> Any:
        if box.k != 2.0:
            thread = threading.Thread(target=elsewhere)
            thread.start()
            thread.join()
            raise ValueError("not traced")
        return x * len(box.values)

    f(ONE)
    box.k = 5.0
    assert f(ONE) == 1.0
    assert box.values == [1.0, 3.0]


def test_values_of_functions_within_are_watched_after_a_failure() -> None:
    global rate
    rate = 2.0

    @tf.function
    def inner(x: Any) -> Any:
        return x * rate

    @tf.function
    def f(x: Any) -> Any:
        return inner(x)

    assert f(ONE) == 2.0
    rate = "no number"
    assert f(ONE) == 2.0, "as TensorFlow: the old trace"
    rate = 5.0
    assert f(ONE) == 5.0
    rate = 2.0
    assert f(ONE) == 2.0


def test_what_a_function_within_has_changed_is_put_back() -> None:
    box = Box(k=2.0, other="old")

    @tf.function
    def inner(x: Any) -> Any:
        if box.other == "old" and box.k != 2.0:
            box.other = "new"
        return x * box.k

    @tf.function
    def f(x: Any) -> Any:
        y = inner(x)
        if box.k != 2.0:
            raise ValueError("not traced")
        return y

    f(ONE)
    box.k = 5.0
    assert f(ONE) == 2.0
    assert box.other == "old"


def test_what_a_function_has_changed_that_only_the_new_trace_calls_is_put_back() -> None:
    box = Box(made=False, k=1.0, other=2.0, values=[3.0])

    @tf.function
    def inner(x: Any) -> Any:
        y = x * box.k * box.other * box.values[0]
        box.other = box.k
        box.values[0] = box.k
        return y

    @tf.function
    def outer(x: Any) -> Any:
        if box.made:
            inner(x)
            raise ValueError("after the function within")
        return x

    assert float(inner(ONE)) == 6.0
    assert float(outer(ONE)) == 1.0
    box.other, box.values[0] = 5.0, 6.0
    box.made, box.k = True, 4.0
    assert float(outer(ONE)) == 1.0
    assert (box.other, box.values) == (5.0, [6.0])
