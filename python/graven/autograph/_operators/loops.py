"""`while` statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graven import _functions as ops
from graven.autograph._loop_options import of_while_loop
from graven.autograph._operators import python_loop, returns
from graven.autograph._operators.branches import as_if_staged
from graven.autograph._operators.captured_loop_names import with_captured_names
from graven.autograph._operators.conditions import (
    as_condition,
    refuse_ragged,
    scalar_condition,
)
from graven.autograph._operators.scratch import in_scratch_graph
from graven.autograph._operators.staged_list import StagedList
from graven.autograph._operators.staged_loop import LoopBody, run_staged
from graven.autograph._operators.state import GetState, SetState, state_functions
from graven.autograph._operators.values import is_dense, is_eager


def while_stmt(
    test: Callable[[], Any],
    body: Callable[[], None],
    get_state: GetState | None,
    set_state: SetState | None,
    symbol_names: Sequence[str],
    opts: dict[str, Any],
    ncaptured: int = 0,
) -> None:
    """Runs a `while` loop, or stages it if its test is a tensor.

    Args:
      test: Evaluates the test.
      body: One iteration.
      get_state: Returns the values of the names that the loop changes; None where these are cells
        of the body.
      set_state: Binds the names to other values; None likewise.
      symbol_names: The names.
      opts: What set_loop_options says about this loop.
      ncaptured: How many of the names, the last ones, are no loop variables but for lambdas from
        before that may read them.

    Raises:
      ValueError: The test is a tensor, but no bool scalar; or a loop variable has no value before
        the loop or after an iteration, or another shape; or a Python loop does not end.
      TypeError: A loop variable has another structure or dtype after an iteration.
      NotImplementedError: The test becomes a tensor later, and not because a tensor may leave the
        loop.
    """
    get_state, set_state = state_functions(get_state, set_state, symbol_names, body)
    if is_eager():
        _run_eagerly(test, body, get_state, set_state, symbol_names, opts)
        return
    # In a graph of its own: where the loop is staged, the test has a graph anyhow.
    first = in_scratch_graph(lambda: as_condition(test()))
    refuse_ragged(first)
    loop = LoopBody(test, body, get_state, set_state, symbol_names)
    if is_dense(first):
        run_staged(with_captured_names(loop, ncaptured), opts)
        return

    def stage_rest(count: int) -> bool:
        return _stage_rest(loop, opts, count, ncaptured)

    python_loop.run_while(first, lambda: as_condition(test()), body, stage_rest)


def _stage_rest(loop: LoopBody, opts: dict[str, Any], count: int, ncaptured: int) -> bool:
    """Stages what follows some iterations of a loop on Python values, if a tensor may leave it.

    Such as `while True` with a `break`, or a `return`, in an `if` on a tensor.

    Args:
      loop: Its parts.
      opts: What set_loop_options says about this loop.
      count: How many iterations have run.
      ncaptured: How many of its names are captured.

    Returns:
      False if its test has become a tensor for another reason.
    """
    state = zip(loop.names, loop.get_state(), strict=True)
    if not any(
        (returns.is_exit_flag(name) and is_dense(value)) or isinstance(value, StagedList)
        for name, value in state
    ):
        return False
    most = of_while_loop(opts).get("maximum_iterations")
    if most is not None:
        opts = {**opts, "maximum_iterations": ops.maximum(ops.subtract(most, count), 0)}
    run_staged(with_captured_names(loop, ncaptured), opts)
    for name, value in zip(loop.names, loop.get_state(), strict=True):
        if returns.is_return_flag(name):
            returns.note_missing_return(
                value, "a loop that was to return has ended without, and nothing returns after it"
            )
    return True


def _run_eagerly(
    test: Callable[[], Any],
    body: Callable[[], None],
    get_state: GetState,
    set_state: SetState,
    symbol_names: Sequence[str],
    opts: dict[str, Any],
) -> None:
    result = test()
    if not is_dense(result):
        python_loop.run_while(result, test, body, lambda count: False)
        return
    left = of_while_loop(opts).get("maximum_iterations")
    while scalar_condition(result, "while loop") and (left is None or left > 0):
        body()
        left = None if left is None else left - 1
        result = test()
    set_state(tuple(map(as_if_staged, symbol_names, get_state())))
