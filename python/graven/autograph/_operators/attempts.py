"""Two attempts to trace a function: first as TensorFlow does; if that fails, as Python means it.

The first attempt is all that a program needs that runs on TensorFlow: a list that staged code
appends to is Python's, and changes while the function is traced; a name must not be None on one
path; a loop variable keeps its shape. Where this is an error, a tensor of a staged body would leave
it in a list, None would meet a tensor, or an iteration leaves another shape, the nodes are dropped,
and the function is traced again. Then lists and names that may be None are values of the graph, and
a loop is traced until its shapes stay (`loop_shapes`). What such a value cannot do, such as leave
the function, is the first attempt's error.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from graven import _engine, _nest, errors
from graven import _functions as ops
from graven.autograph._operators.staged_list import StagedList
from graven.autograph._operators.staged_optional import StagedOptional
from graven.autograph._status import Attempt, state


@contextlib.contextmanager
def _attempting(attempt: Attempt | None) -> Iterator[None]:
    """Sets the attempt of the thread as long as a `with` statement runs."""
    before = state.attempt
    state.attempt = attempt
    try:
        yield
    finally:
        state.attempt = before


def stages_objects() -> bool:
    """Tells whether lists and None become values of the graph, and loops change shapes."""
    attempt = state.attempt
    return attempt is not None and attempt.stages_objects


def note_list_call(args: tuple[Any, ...]) -> None:
    """Notes a call of a method of a list: in a staged body it may leave a tensor there.

    Args:
      args: The arguments.
    """
    attempt = state.attempt
    if attempt is None or attempt.changes_lists or attempt.stages_objects:
        return
    if _engine.current_graph() is attempt.graph:
        return
    attempt.changes_lists = any(isinstance(x, _engine.SymbolicTensor) for x in _nest.flatten(args))


def with_more_it_may_do(error: Exception) -> Exception:
    """Notes of an error that a second attempt may do without it; returns it.

    Args:
      error: The error, to be raised.
    """
    if state.attempt is not None and not state.attempt.stages_objects:
        state.attempt.errors.append(error)
    return error


def call(run: Callable[[], Any]) -> Any:
    """Traces a function, twice if that helps.

    Args:
      run: Calls the function.

    Returns:
      What it returns.
    """
    if _engine.executing_eagerly():
        with _attempting(None):
            return run()
    first = Attempt(_engine.current_graph())
    failure: Exception | None = None
    replay = _engine.start_replay()
    try:
        try:
            with _attempting(first):
                result = run()
                _refuse_leaks(first, result)
                return result
        except Exception as error:
            if not _may_help(first, error):
                raise
            failure = error
        replay.drop_run()
        replay.start_run()
        return _second(run, failure)
    finally:
        replay.finish()
        failure = None  # Its traceback holds this frame.


def call_body(run: Callable[[], Any]) -> Any:
    """Traces a function of the user's that an op takes: twice, unless what is around it would be.

    Args:
      run: Calls the function.

    Returns:
      What it returns.
    """
    return call(run) if state.attempt is None else run()


def _second(run: Callable[[], Any], failure: Exception) -> Any:
    try:
        with _attempting(Attempt(_engine.current_graph(), stages_objects=True)):
            result = run()
    except errors.InaccessibleTensorError:
        failure.add_note(
            "The function was traced again, where this may be allowed, but that used a tensor of "
            "the trace before, or of a body, which an object of Python's has kept."
        )
        raise failure from None
    for leaf in _nest.flatten(result):
        if isinstance(leaf, StagedList):
            failure.add_note(
                f"Return tf.stack({leaf.spec.name}) in the place of {leaf.spec.name}: the number "
                "of its elements is known only when the function runs."
            )
            raise failure
        if isinstance(leaf, StagedOptional):
            failure.add_note(
                f"A function cannot return a tensor or None. Inside of it {leaf.spec.name} may be "
                "compared with `is None`."
            )
            raise failure
    return result


def _may_help(attempt: Attempt, error: BaseException | None) -> bool:
    # With a tensor of a body in a list, any error may come of what the list is in Python.
    if attempt.changes_lists:
        return True
    while error is not None:
        if any(error is noted for noted in attempt.errors):
            return True
        error = error.__cause__
    return False


def _refuse_leaks(attempt: Attempt, result: Any) -> None:
    """Raises for a tensor of a staged body that a function returns, as its graph would."""
    if not attempt.changes_lists:
        return
    graph = _engine.current_graph()
    for leaf in _nest.flatten(result):
        if isinstance(leaf, _engine.SymbolicTensor) and leaf.graph is not graph:
            ops.identity(leaf)
