"""Programs of the kinds that TensorFlow's guides show for control flow print the same in both.

The guides are "Better performance with tf.function" and "Introduction to graphs and functions".
What Python prints while it traces is compared too, and so is the order of all that is printed.
"""

# tf is either system here, and so are its decorators.
# mypy: disable-error-code="untyped-decorator,misc"
# ruff: noqa: SIM108, SIM113 (statements are what is tested)

import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import numpy as np
import pytest
import tensorflow

Program = Callable[[Any], Any]
PROGRAMS: list[Program] = []


def program(f: Program) -> Program:
    """Lists a program, which is given tf, prints, and may return more to compare."""
    PROGRAMS.append(f)
    return f


@program
def fizzbuzz(tf: Any) -> None:
    @tf.function
    def count(n: Any) -> None:
        for i in tf.range(1, n + 1):
            print("tracing the loop")
            if i % 15 == 0:
                print("tracing fizzbuzz")
                tf.print("fizzbuzz")
            elif i % 3 == 0:
                print("tracing fizz")
                tf.print("fizz")
            elif i % 5 == 0:
                print("tracing buzz")
                tf.print("buzz")
            else:
                print("tracing a number")
                tf.print(i)

    count(tf.constant(5))
    count(tf.constant(20))


@program
def fizzbuzz_with_python_numbers_is_traced_for_each(tf: Any) -> None:
    @tf.function
    def count(n: Any) -> None:
        for i in range(1, n + 1):
            if i % 3 and i % 5:
                tf.print(i)
            else:
                tf.print("fizz" * (i % 3 == 0) + "buzz" * (i % 5 == 0))
        print("traced", n)

    count(5)
    count(3)
    count(5)


@program
def fizzbuzz_counts_in_a_variable(tf: Any) -> Any:
    counter = tf.Variable(0)

    @tf.function
    def step(most: Any) -> Any:
        while counter < most:
            counter.assign_add(1)
            if counter % 3 == 0 and counter % 5 == 0:
                tf.print("fizzbuzz", counter)
        return counter.read_value()

    return [step(tf.constant(16)), step(tf.constant(31))]


@program
def dynamic_rnn(tf: Any) -> Any:
    class Cell:
        def __init__(self) -> None:
            self.w = tf.constant(np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(3, 4))
            self.u = tf.constant(np.linspace(1.0, -1.0, 16, dtype=np.float32).reshape(4, 4))

        def __call__(self, x: Any, state: Any) -> Any:
            state = tf.tanh(x @ self.w + state @ self.u)
            return state, state

    cell = Cell()

    @tf.function
    def rnn(inputs: Any, lengths: Any) -> Any:
        print("traced for", inputs.shape)
        steps = tf.transpose(inputs, [1, 0, 2])
        most = tf.shape(steps)[0]
        outputs = tf.TensorArray(tf.float32, size=most)
        state = tf.zeros([tf.shape(inputs)[0], 4])
        for i in tf.range(most):
            output, new_state = cell(steps[i], state)
            is_over = (i >= lengths)[:, tf.newaxis]
            state = tf.where(is_over, state, new_state)
            outputs = outputs.write(i, tf.where(is_over, 0.0, output))
        return tf.transpose(outputs.stack(), [1, 0, 2]), state

    x = tf.constant(np.linspace(-2.0, 2.0, 30, dtype=np.float32).reshape(2, 5, 3))
    with tf.GradientTape() as tape:
        tape.watch(x)
        outputs, state = rnn(x, tf.constant([2, 5]))
        loss = tf.reduce_sum(outputs) + tf.reduce_sum(state * state)
    return [outputs, state, tape.gradient(loss, x)]


@program
def collatz(tf: Any) -> Any:
    @tf.function
    def steps(n: Any) -> Any:
        print("traced")
        count = 0
        while n > 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            count += 1
            tf.print(count, n)
        return count

    return [steps(tf.constant(n)) for n in (1, 6, 7)]


@program
def tanh_until_it_is_small(tf: Any) -> Any:
    @tf.function
    def f(x: Any) -> Any:
        while tf.reduce_sum(x) > 1:
            tf.print(tf.math.round(x * 100.0))
            x = tf.tanh(x)
        return x

    return f(tf.constant([0.9, 0.4, 0.25, 0.5, 0.75]))


@program
def simple_relu(tf: Any) -> Any:
    def relu(x: Any) -> Any:
        if tf.greater(x, 0):
            return x
        return 0

    f = tf.function(relu)
    print("of 1:", f(tf.constant(1)).numpy(), "of -1:", f(tf.constant(-1)).numpy())
    # TensorFlow gives the names of `nonlocal` in no fixed order.
    code = tf.autograph.to_code(relu)
    print("\n".join(line for line in code.splitlines() if "nonlocal" not in line))


@program
def power_of_a_python_number_is_unrolled(tf: Any) -> Any:
    @tf.function
    def power(x: Any, n: Any) -> Any:
        print("traced with", type(n).__name__)
        result = tf.ones_like(x)
        for _ in range(n):
            result *= x
        return result

    x = tf.constant(3.0)
    types = []
    for n in (4, tf.constant(4)):
        graph = power.get_concrete_function(x, n).graph
        types.append(sorted({op.type for op in graph.get_operations()} & {"Mul", "StatelessWhile"}))
    return [power(x, 4), power(x, tf.constant(4)), types]


@program
def training_loop_with_an_early_stop(tf: Any) -> Any:
    w = tf.Variable(5.0)

    @tf.function
    def train(most: Any) -> Any:
        last = float("inf")
        steps = 0
        for _ in tf.range(most):
            with tf.GradientTape() as tape:
                loss = (w - 2.0) ** 2
            if tf.abs(last - loss) < 1e-3:
                tf.print("stopped after", steps)
                break
            w.assign_sub(0.25 * tape.gradient(loss, w))
            last = loss
            steps += 1
        return last

    return [train(tf.constant(3)), train(tf.constant(100)), w.read_value()]


def printed_and_returned(f: Program, tf: Any, capfd: Any) -> tuple[str, str, Any]:
    """What a program prints, in Python and in graphs, and what it returns."""
    returned = f(tf)
    out, err = capfd.readouterr()
    return (
        out,
        "".join(line for line in err.splitlines(True) if "cpu_feature" not in line),
        returned,
    )


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program_of_the_guides_prints_the_same(f: Program, capfd: Any) -> None:
    theirs = printed_and_returned(f, tensorflow, capfd)
    ours = printed_and_returned(f, graven, capfd)
    assert ours[:2] == theirs[:2]
    assert any(theirs[:2]) or theirs[2] is not None
    compared = zip(
        tensorflow.nest.flatten(ours[2]), tensorflow.nest.flatten(theirs[2]), strict=True
    )
    for one, two in compared:
        if isinstance(two, tensorflow.Tensor):
            np.testing.assert_allclose(one.numpy(), two.numpy(), rtol=1e-5, atol=1e-6)
        else:
            assert one == two
