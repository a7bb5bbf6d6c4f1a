"""`if` statements and conditional expressions.

Both branches of a staged `if` start from the state before it. Each gives the values of its names
leaf by leaf: tensors, and what becomes tensors, go through tf.cond; another object passes if both
branches leave the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graven import _engine
from graven.autograph._operators import records, returns
from graven.autograph._operators.branch_results import (
    BranchResult,
    Outputs,
    ReturnValueNeededError,
)
from graven.autograph._operators.captured_names import CapturedNames
from graven.autograph._operators.conditions import refuse_ragged, scalar_condition
from graven.autograph._operators.state import GetState, SetState, State, state_functions
from graven.autograph._operators.values import is_dense, is_eager, python_numbers_to_tensors
from graven.autograph._operators.variables import is_undefined


def if_stmt(
    cond: Any,
    body: Callable[[], None],
    orelse: Callable[[], None] | None,
    get_state: GetState | None,
    set_state: SetState | None,
    symbol_names: Sequence[str],
    nouts: int,
    ncaptured: int = 0,
) -> None:
    """Runs an `if` statement, or stages it if its condition is a tensor.

    Args:
      cond: The condition.
      body: The main branch.
      orelse: The else branch; None where it is empty.
      get_state: Returns the values of the names that the branches change; None where these are
        cells of the branches.
      set_state: Binds the names to other values; None likewise.
      symbol_names: The names; those that are used afterwards come first.
      nouts: How many are used afterwards.
      ncaptured: How many come next that a lambda from before may read: of these are outputs on
        which the branches agree.

    Raises:
      ValueError: The condition is a tensor, but no bool scalar; or a name is unbound or None at
        the end of a branch.
      TypeError: A name has values of different types in the branches.
    """
    orelse = orelse or _no_statements
    if not is_dense(cond):
        refuse_ragged(cond)
        body() if cond else orelse()
        return
    condition = scalar_condition(cond, "if statement")
    get_state, set_state = state_functions(get_state, set_state, symbol_names, body, orelse)
    if is_eager():
        body() if condition else orelse()
        values = get_state()
        set_state(tuple(map(as_if_staged, symbol_names, values)))
        return
    names = tuple(symbol_names)
    _Staged(condition, body, orelse, get_state, set_state, names, nouts, ncaptured).run()


def _no_statements() -> None:
    pass


def as_if_staged(name: str, value: Any) -> Any:
    """Returns what a name is bound to after a statement that would have been staged."""
    if is_undefined(value) or returns.is_return_flag(name):
        return value
    return python_numbers_to_tensors(value)


class _Staged:
    """One staged `if`."""

    def __init__(
        self,
        condition: Any,
        body: Callable[[], None],
        orelse: Callable[[], None],
        get_state: GetState,
        set_state: SetState,
        names: tuple[str, ...],
        nouts: int,
        ncaptured: int,
    ) -> None:
        self._condition = condition
        self._branches = {"main": body, "else": orelse}
        self._get_state = get_state
        self._set_state = set_state
        self._names = names
        self._nouts = nouts
        self._end = nouts + ncaptured
        self._before = get_state()

    def _after(self, branch: str) -> BranchResult:
        """Runs a branch from the state before the `if`; returns the values that it leaves."""
        holds = branch == "main"
        start = returns.state_in_branch(self._names, self._before, self._condition, holds)
        self._set_state(start)
        self._branches[branch]()
        names, values = self._names[: self._nouts], self._get_state()[: self._nouts]
        return BranchResult(branch, names, values)

    def run(self) -> None:
        try:
            values = self._staged({})
        except ReturnValueNeededError as needed:
            values = self._staged(needed.like)
        self._set_state((*values, *self._before[self._end :]))

    def _captured(self, state: State) -> State:
        return state[self._nouts : self._end]

    def _staged(self, returned: dict[str, Any]) -> list[Any]:
        outputs = Outputs(returned)
        captured = CapturedNames(self._captured(self._names), self._captured(self._before))

        def main() -> list[Any]:
            tensors = outputs.of_main(self._after("main"))
            return tensors + captured.of_main(self._captured(self._get_state()))

        def orelse() -> list[Any]:
            tensors = outputs.of_else(self._after("else"))
            return tensors + captured.of_else(self._captured(self._get_state()))

        try:
            flat = records.cond(self._condition, main, orelse)
        except BaseException:
            self._set_state(self._before)
            raise
        return [*outputs.packed(flat), *captured.packed(flat)]


def if_exp(
    cond: Any, if_true: Callable[[], Any], if_false: Callable[[], Any], expr_repr: str
) -> Any:
    """Evaluates a conditional expression, or stages it if its condition is a tensor.

    Args:
      cond: The condition.
      if_true: The value if it holds.
      if_false: The value if not.
      expr_repr: The text of the condition.

    Raises:
      ValueError: A staged value is None.
      TypeError: The staged values are of different types.
    """
    if not is_dense(cond):
        refuse_ragged(cond)
        return if_true() if cond else if_false()
    if is_eager():
        return if_true() if cond else if_false()
    outputs = Outputs({})
    names = (expr_repr,)
    flat = records.cond(
        _engine.convert_to_tensor(cond),
        lambda: outputs.of_main(BranchResult("main", names, (if_true(),))),
        lambda: outputs.of_else(BranchResult("else", names, (if_false(),))),
    )
    (value,) = outputs.packed(flat)
    return value
