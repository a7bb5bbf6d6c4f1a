"""Reads of names without a value: the error is of the class that Python gives it.

That is UnboundLocalError in the function that the name is of, and NameError in functions inside.
"""

# ruff: noqa: B018, F821, F841, SIM105
# mypy: ignore-errors

import contextlib

import graven as tf
import pytest


def in_a_branch(no):
    if no:
        x = 1
    return x


def of_an_exception(no):
    try:
        raise ValueError
    except ValueError as x:
        pass
    if not no:
        return x


def of_an_exception_in_a_loop(no):
    x = 0
    for i in range(2):
        if i:
            x += 1
        try:
            raise ValueError
        except ValueError as x:
            pass


def of_an_exception_caught(no):
    x = 0
    try:
        raise ValueError
    except ValueError as x:
        pass
    try:
        if not no:
            return x
    except UnboundLocalError:
        return 1


def in_a_try(no):
    try:
        x = int("one")
    except ValueError:
        pass
    for _ in range(2):
        y = x


def in_a_try_that_is_added_to(no):
    try:
        x = int("one")
    except ValueError:
        pass
    if not no:
        x += 1


def in_a_try_read_by_its_handler(no):
    try:
        x = int("one")
    except ValueError:
        if not no:
            return x


def in_a_try_deleted(no):
    try:
        x = int("one")
    except ValueError:
        pass
    if not no:
        del x


def in_a_with(no):
    with contextlib.suppress(ValueError):
        x = int("one")
    while not no:
        return x


def in_a_case(no):
    match no:
        case [x]:
            pass
    return 2 if no else x


def in_a_case_and_an_operand(no):
    match no:
        case [x]:
            pass
    return not no and x


def read_by_an_inner_function(no):
    def inner():
        if not no:
            return x

    if no:
        x = 1
    return inner()


def changed_by_an_inner_function(no):
    def inner():
        nonlocal x
        x += 1

    if no:
        x = 1
    inner()


def deleted_by_an_inner_function(no):
    def inner():
        nonlocal x
        del x

    if no:
        x = 1
    inner()


def read_by_a_lambda(no):
    if no:
        x = 1
    return (lambda: 2 if no else x)()


def read_by_a_comprehension(no):
    if no:
        x = 1
    return [x for _ in range(2)]


def read_by_a_generator(no):
    if no:
        x = 1

    def inner():
        yield x

    return list(inner())


def read_by_a_class(no):
    if no:
        x = 1

    class Inner:
        y = x

    return Inner.y


def of_an_inner_function(no):
    def inner():
        if no:
            x = 1
        for _ in range(2):
            x
        return x

    return inner()


PROGRAMS = [f for f in [*globals().values()] if getattr(f, "__module__", None) == __name__]


@pytest.mark.parametrize("f", PROGRAMS)
def test_the_class_is_pythons(f):
    try:
        expected = f(False)
    except NameError as error:
        with pytest.raises(NameError) as caught:
            tf.function(f)(False)
        assert type(caught.value) is type(error)
    else:
        assert tf.function(f)(False).numpy() == expected
