"""`for` statements.

Over a tensor of tf.range a loop counts, and the range is never made. Over another tensor, or rows
of a ragged one, it counts the rows and slices them. An object may bring its own loop, by a method
`_autograph_for_loop` with the arguments of for_stmt but the first; iterators of datasets are
asked for elements until there is none. Everything else is iterated while the function is traced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from graven import _engine
from graven import _functions as ops
from graven._ragged import RaggedTensor
from graven._static_value import static_scalar
from graven.autograph._loop_options import of_while_loop
from graven.autograph._operators import python_loop, records, returns
from graven.autograph._operators.branches import as_if_staged, if_stmt
from graven.autograph._operators.captured_loop_names import (
    with_captured_names,
    without_captured_names,
)
from graven.autograph._operators.inferred import is_missing
from graven.autograph._operators.lengths import number_of_rows, tensor_length
from graven.autograph._operators.staged_list import StagedList
from graven.autograph._operators.staged_loop import LoopBody, run_staged
from graven.autograph._operators.staged_optional import value_of
from graven.autograph._operators.state import GetState, SetState, State, state_functions
from graven.autograph._operators.values import is_dense, is_eager
from graven.autograph._operators.variables import is_undefined

ITERATE = "<internal iterate>"
HAS_NEXT = "<internal has_next>"


def for_stmt(
    iter_: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    get_state: GetState | None,
    set_state: SetState | None,
    symbol_names: Sequence[str],
    opts: dict[str, Any],
    ncaptured: int = 0,
) -> None:
    """Runs a `for` loop, or stages it if it is over a tensor or a dataset.

    Args:
      iter_: What is iterated.
      extra_test: Returns whether the loop has not been left early; None if nothing does that.
      body: One iteration; takes the element.
      get_state: Returns the values of the names that the loop changes; None where these are cells
        of the body.
      set_state: Binds the names to other values; None likewise.
      symbol_names: The names.
      opts: What set_loop_options says about this loop, and the loop's targets.
      ncaptured: As of while_stmt.

    Raises:
      ValueError: As of while_stmt; or a scalar is iterated.
      TypeError: As of while_stmt; or what is iterated is not iterable.
      NotImplementedError: Whether a Python loop is left early depends on a tensor.
    """
    names = tuple(symbol_names)
    iter_ = value_of(iter_)
    get_state, set_state = state_functions(get_state, set_state, names, body)
    is_tensor = is_dense(iter_) or isinstance(iter_, RaggedTensor)
    if not is_tensor and not isinstance(iter_, StagedList):
        names = names[: len(names) - ncaptured]
        get_state, set_state = without_captured_names(get_state, set_state, ncaptured)
        ncaptured = 0
    loop = _ForLoop(extra_test, body, get_state, set_state, names, opts, ncaptured)
    if is_eager():
        _run_eagerly(iter_, is_tensor, loop)
    elif is_tensor and isinstance(iter_, _engine.SymbolicTensor) and iter_.op.type == "Range":
        _over_range(iter_, loop)
    elif is_tensor:
        _over_rows(iter_, loop)
    elif isinstance(iter_, StagedList):
        _over_list(iter_, loop)
    elif hasattr(type(iter_), "_autograph_for_loop"):
        iter_._autograph_for_loop(extra_test, body, get_state, set_state, names, opts)
    elif hasattr(type(iter_), "get_next_as_optional"):
        _over_iterator(iter_, loop)
    else:
        python_loop.run_for(iter_, extra_test, body)


class _ForLoop:
    """The parts of a loop, as converted code gives them, beside a state of the loop's own."""

    def __init__(
        self,
        extra_test: Callable[[], Any] | None,
        body: Callable[[Any], None],
        get_state: GetState,
        set_state: SetState,
        names: tuple[str, ...],
        opts: dict[str, Any],
        ncaptured: int,
    ) -> None:
        self.extra_test = extra_test
        self.body = body
        self.get_state = get_state
        self.set_state = set_state
        self.names = names
        self.opts = opts
        self.ncaptured = ncaptured
        self.own: Any = None

    def stage(
        self, name: str, start: Any, test: Callable[[Any], Any], body: Callable[[Any], Any]
    ) -> None:
        """Stages the loop with one more loop variable.

        Args:
          name: Its name in messages.
          start: Its value before the loop.
          test: Takes its value; returns whether there is another iteration.
          body: Takes its value; runs an iteration and returns the next value.
        """
        self.own = start

        def get_state() -> State:
            return (self.own, *self.get_state())

        def set_state(values: State) -> None:
            self.own = values[0]
            self.set_state(values[1:])

        def whole_test() -> Any:
            there_is_more = test(self.own)
            if self.extra_test is None:
                return there_is_more
            return records.cond(there_is_more, self.extra_test, lambda: False)

        def whole_body() -> None:
            self.own = body(self.own)

        names = (name, *self.names)
        loop = LoopBody(whole_test, whole_body, get_state, set_state, names, self.body)
        run_staged(with_captured_names(loop, self.ncaptured), self.opts)

    def start_target_at(self, start: Any) -> None:
        """Binds the target, if it is unbound, to a value that it has without an iteration."""
        target = self.opts.get("iterate_names")
        self.set_state(
            tuple(
                start if name == target and is_undefined(value) else value
                for name, value in zip(self.names, self.get_state(), strict=True)
            )
        )


def _run_eagerly(iter_: Any, is_tensor: bool, loop: _ForLoop) -> None:
    if not is_tensor:
        python_loop.run_for(iter_, loop.extra_test, loop.body)
        return
    tensor_length(iter_)  # Says what is wrong with a scalar.
    elements = _engine.convert_to_tensor(iter_) if is_dense(iter_) else iter_
    limited = islice(elements, of_while_loop(loop.opts).get("maximum_iterations"))
    python_loop.run_for(limited, loop.extra_test, loop.body)
    loop.set_state(tuple(map(as_if_staged, loop.names, loop.get_state())))


def _over_range(iter_: Any, loop: _ForLoop) -> None:
    start, limit, delta = iter_.op.inputs
    loop.start_target_at(start)
    step = static_scalar(delta)
    positive = None if step is None else float(step) >= 0

    def test(i: Any) -> Any:
        if positive is not None:
            return ops.less(i, limit) if positive else ops.greater(i, limit)
        return ops.logical_or(
            ops.logical_and(ops.greater_equal(delta, 0), ops.less(i, limit)),
            ops.logical_and(ops.less(delta, 0), ops.greater(i, limit)),
        )

    def body(i: Any) -> Any:
        loop.body(i)
        return ops.add(i, delta)

    loop.stage(ITERATE, start, test, body)


def _over_rows(iter_: Any, loop: _ForLoop) -> None:
    rows = _engine.convert_to_tensor(iter_) if is_dense(iter_) else iter_
    length = number_of_rows(rows)

    def body(i: Any) -> Any:
        loop.body(rows._row(i) if isinstance(rows, RaggedTensor) else rows[i])
        return ops.add(i, 1)

    loop.stage(ITERATE, ops.zeros([], length.dtype), lambda i: ops.less(i, length), body)


def _over_list(iter_: StagedList, loop: _ForLoop) -> None:
    """Runs over the elements that a list in the graph has before the loop."""
    elements = iter_.copy()
    length = elements.size()

    def body(i: Any) -> Any:
        loop.body(elements.element(i))
        return ops.add(i, 1)

    start = ops.zeros([], length.dtype)
    loop.stage(ITERATE, start, lambda i: ops.less(i, length), body)


def _over_iterator(iter_: Any, loop: _ForLoop) -> None:
    refuse_missing_variables(loop.names, loop.get_state())

    def body(has_next: Any) -> Any:
        del has_next
        element = iter_.get_next_as_optional()
        there_is_one = element.has_value()
        if_stmt(
            there_is_one,
            lambda: loop.body(element.get_value()),
            lambda: None,
            loop.get_state,
            loop.set_state,
            loop.names,
            len(loop.names),
        )
        return there_is_one

    loop.stage(HAS_NEXT, _engine.convert_to_tensor(True), lambda has_next: has_next, body)


def refuse_missing_variables(names: Sequence[str], values: Sequence[Any]) -> None:
    """Raises for loop variables without a value before a loop that infers nothing.

    Raises:
      NotImplementedError: The function returns in the loop.
      ValueError: A name is unbound, or None.
    """
    for name, value in zip(names, values, strict=True):
        if not is_missing(value):
            continue
        if returns.is_return_value(name):
            raise NotImplementedError(
                "a return statement cannot be placed inside this TensorFlow loop: it is over an "
                "iterator or a dataset."
            )
        if value is None:
            raise ValueError(f"'{name}' is not allowed to be None before the loop.")
        raise ValueError(f"'{name}' must be defined before the loop.")
