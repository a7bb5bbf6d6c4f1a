"""Loops on Python values, which run while the function is traced."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from graven import _engine, _logging
from graven.autograph._operators.values import is_dense, is_eager

MAX_ITERATIONS = 100_000_000
ITERATIONS_WITHOUT_WARNING = 50_000


class _Counter:
    """Counts the iterations of a loop, and speaks up when there are very many."""

    def __init__(self) -> None:
        self._count = 0
        self._ops_before: int | None = None
        self._has_warned = False

    def start_iteration(self) -> None:
        """Is called before each iteration.

        Raises:
          ValueError: There were too many.
        """
        self._count += 1
        if self._count <= ITERATIONS_WITHOUT_WARNING:
            return
        if self._count > MAX_ITERATIONS:
            raise ValueError("iteration limit exceeded")
        if self._has_warned or is_eager():
            return
        if self._ops_before is not None:
            self._warn_if_ops_were_made(self._ops_before)
            self._ops_before = None
        elif self._count % ITERATIONS_WITHOUT_WARNING == 1:  # Counting takes time.
            self._ops_before = _num_ops()

    def _warn_if_ops_were_made(self, before: int) -> None:
        if _num_ops() <= before:
            return
        self._has_warned = True
        _logging.warn(
            f"Large unrolled loop detected: after {self._count - 1} iterations the loop still "
            "makes ops. A loop over Python values puts the ops of each iteration into the graph; "
            "one over tensors, such as tf.range(n), puts them there once."
        )


def _num_ops() -> int:
    graph = _engine.current_graph()
    return 0 if graph is None else len(graph.get_operations())


def run_while(first_test: Any, test: Callable[[], Any], body: Callable[[], None]) -> None:
    """Runs a `while` loop whose test is no tensor.

    Args:
      first_test: What the test gave the first time.
      test: Evaluates it again.
      body: One iteration.

    Raises:
      NotImplementedError: The test becomes a tensor.
      ValueError: There are too many iterations.
    """
    counter = _Counter()
    result = first_test
    while True:
        if is_dense(result) and not is_eager():
            raise NotImplementedError(
                f"The condition of while loop started as non-Tensor, then changed to Tensor: "
                f"{result}. This may happen either when variables change type, or when a break or "
                "return statement inside the loop depends on a Tensor. Give the condition a tensor "
                "from the start, such as tf.constant(True). See "
                "https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/"
                "g3doc/reference/limitations.md"
            )
        if not result:
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
        return
    if not _goes_on(extra_test):
        return
    for element in elements:
        counter.start_iteration()
        body(element)
        if not _goes_on(extra_test):
            break


def _goes_on(extra_test: Callable[[], Any]) -> bool:
    result = extra_test()
    if is_dense(result) and not is_eager():
        raise NotImplementedError(
            "break and return statements which depend on a TF condition are not supported in "
            "Python for loops. Did you intend to make it a TensorFlow loop? Iterate over a tensor, "
            "such as tf.range(n). See https://github.com/tensorflow/tensorflow/blob/master/"
            "tensorflow/python/autograph/g3doc/reference/limitations.md"
        )
    return bool(result)
