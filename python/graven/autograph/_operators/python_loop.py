"""Loops on Python values, which run while the function is traced."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from graven import _engine, _logging
from graven.autograph._operators.user_line import user_place
from graven.autograph._operators.values import is_dense, is_eager

MAX_ITERATIONS = 100_000_000
ITERATIONS_WITHOUT_WARNING = 50_000
OPS_WITHOUT_WARNING = 1000


class _Counter:
    """Counts the iterations of a loop, and speaks up when they fill the graph."""

    def __init__(self) -> None:
        self.count = 0
        self._first_node = _engine.num_nodes()
        self._start = time.perf_counter()
        self._starts = (0, 0, 0)  # how many nodes there were before the last iterations
        self._has_warned = False

    def start_iteration(self) -> None:
        """Is called before each iteration.

        Raises:
          ValueError: There were too many.
        """
        self.count += 1
        self._starts = (*self._starts[1:], _engine.num_nodes())
        if self.count <= ITERATIONS_WITHOUT_WARNING:
            return
        if self.count > MAX_ITERATIONS:
            raise ValueError("iteration limit exceeded")
        if self._has_warned or self._starts[2] == self._starts[1]:
            return
        self._has_warned = True
        _logging.warn(
            f"Large unrolled loop detected: after {self.count - 1} iterations the loop still "
            "makes ops. A loop over Python values puts the ops of each iteration into the graph; "
            "one over tensors, such as tf.range(n), puts them there once."
        )

    def end(self) -> None:
        """Is called when the loop has ended."""
        count = _engine.num_nodes() - self._first_node
        if count <= OPS_WITHOUT_WARNING or self.count < 3 or not self._repeats():
            return
        place = user_place()
        milliseconds = (time.perf_counter() - self._start) * 1000
        _logging.warn_once(
            f"The loop in {place} repeats itself in the graph: its {self.count} iterations over "
            f"Python values put {count} ops there, which took {milliseconds:.0f} milliseconds. A "
            "loop over a tensor, such as tf.range(n), puts them there once.",
            matter=f"unrolled loop in {place}",
        )

    def _repeats(self) -> bool:
        """Whether the iterations before the last one made the same ops."""
        first, second, end = self._starts
        length = end - second
        graph = _engine.current_graph()
        if graph is None or length == 0 or second - first != length:
            return False
        # Those of the last iteration come behind.
        after = _engine.num_nodes() - end
        kinds = [op.type for op in graph.get_operations()[-(2 * length + after) :]][: 2 * length]
        return kinds[:length] == kinds[length:]


def run_while(
    first_test: Any,
    test: Callable[[], Any],
    body: Callable[[], None],
    stage_rest: Callable[[int], bool],
) -> None:
    """Runs a `while` loop whose test is no tensor.

    Args:
      first_test: What the test gave the first time.
      test: Evaluates it again.
      body: One iteration.
      stage_rest: Is called when the test is a tensor, with the number of iterations that have run;
        tells whether it has staged those that follow.

    Raises:
      NotImplementedError: The test becomes a tensor.
      ValueError: There are too many iterations.
    """
    counter = _Counter()
    result = first_test
    while True:
        if is_dense(result) and not is_eager():
            if stage_rest(counter.count):
                counter.end()
                return
            raise NotImplementedError(
                f"The condition of while loop started as non-Tensor, then changed to Tensor: "
                f"{result}. This may happen either when variables change type, or when a break or "
                "return statement inside the loop depends on a Tensor. Give the condition a tensor "
                "from the start, such as tf.constant(True). See docs/errors/python-loops.md"
            )
        if not result:
            counter.end()
            return
        counter.start_iteration()
        body()
        result = test()


def run_for(
    elements: Iterable[Any], extra_test: Callable[[], Any] | None, body: Callable[[Any], None]
) -> None:
    """Runs a `for` loop over a Python iterable.

    Args:
      elements: What is iterated.
      extra_test: Returns False when the loop is left early; None if nothing does that.
      body: One iteration; takes the element.

    Raises:
      NotImplementedError: Whether the loop is left depends on a tensor.
      ValueError: There are too many iterations.
    """
    counter = _Counter()
    if extra_test is None:
        for element in elements:
            counter.start_iteration()
            body(element)
        counter.end()
        return
    if not _goes_on(extra_test):
        return
    for element in elements:
        counter.start_iteration()
        body(element)
        if not _goes_on(extra_test):
            break
    counter.end()


def _goes_on(extra_test: Callable[[], Any]) -> bool:
    result = extra_test()
    if is_dense(result) and not is_eager():
        raise NotImplementedError(
            "break and return statements which depend on a TF condition are not supported in "
            "Python for loops. Did you intend to make it a TensorFlow loop? Iterate over a tensor, "
            "such as tf.range(n). See docs/errors/python-loops.md"
        )
    return bool(result)
