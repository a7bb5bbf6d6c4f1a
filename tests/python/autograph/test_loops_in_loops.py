"""The target of a `for` that stands in another loop, and is read after the `for`."""

# ruff: noqa: B007
# mypy: ignore-errors

import graven as tf
import pytest


def in_a_while(n, m):
    last = tf.constant(-1)
    i = tf.constant(0)
    while i < n:
        for j in tf.range(tf.maximum(m - i, 0)):
            i += 0
        last += 2 * j
        i += 1
    return last


def in_a_for(n, m):
    last = tf.constant(-1)
    for i in tf.range(n):
        for j in tf.range(tf.maximum(m - i, 0)):
            last += 0
        last += 2 * j
    return last


def in_a_while_in_a_for(n, m):
    last = tf.constant(-1)
    for k in tf.range(2):
        i = tf.constant(0)
        while i < n:
            for j in tf.range(tf.maximum(m - i, 0)):
                i += 0
            last += 2 * j
            i += 1
    return last


def in_a_branch(n, m):
    last = tf.constant(-1)
    for i in tf.range(n):
        if m > 0:
            for j in tf.range(tf.maximum(m - i, 0)):
                last += 0
        else:
            j = i
        last += 2 * j
    return last


@pytest.mark.parametrize("n, m", [(0, 3), (1, 3), (2, 3), (3, 2), (4, 1)])
@pytest.mark.parametrize("f", [in_a_while, in_a_for, in_a_while_in_a_for, in_a_branch])
def test_it_is_the_last_that_there_was_or_not_read_at_all(f, n, m):
    """Iterations whose `for` is empty see the target of an earlier one, as in Python."""
    operands = tf.constant(n), tf.constant(m)
    assert int(tf.function(f)(*operands)) == int(f(*operands))


def test_a_later_for_that_is_empty_leaves_it_as_it_was():
    @tf.function
    def f(n, m):
        for i in tf.range(n):
            for j in tf.range(3):
                i += 0
            i += j
        for j in tf.range(m):
            n += 0
        return j

    assert int(f(tf.constant(0), tf.constant(2))) == 1
    assert int(f(tf.constant(2), tf.constant(5))) == 4
    assert int(f(tf.constant(2), tf.constant(0))) == 2
    # Unbound in Python. As in TensorFlow the target of an empty range is where that starts.
    assert int(f(tf.constant(0), tf.constant(0))) == 0


def test_a_name_that_is_read_after_the_loop_needs_an_iteration():
    @tf.function
    def f(n):
        for i in tf.range(n):
            for j in tf.range(3):
                i += 0
        return j

    assert int(f(tf.constant(1))) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least once to initialize j"):
        f(tf.constant(0))
