"""`if` statements and conditional expressions.

Both branches of a staged `if` start from the state before it. Each gives the values of its names
leaf by leaf: tensors, and what becomes tensors, go through tf.cond; another object passes if both
branches leave the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graven import _engine, _nest
from graven.autograph._operators import records, returns
from graven.autograph._operators.attempts import stages_objects
from graven.autograph._operators.branch_results import (
    BranchResult,
    FormsNeededError,
    Outputs,
    ReturnValueNeededError,
)
from graven.autograph._operators.captured_names import CapturedNames
from graven.autograph._operators.conditions import (
    as_condition,
    refuse_ragged,
    scalar_condition,
)
from graven.autograph._operators.staged_objects import CopiedLists, Kept, form_of
from graven.autograph._operators.staged_optional import (
    StagedOptional,
    known_in_branch,
    state_in_branch,
)
from graven.autograph._operators.state import GetState, SetState, State, state_functions
from graven.autograph._operators.user_line import user_line
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
    cond = as_condition(cond)
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


def _if_known(value: Any) -> Any:
    """The value of an optional, where it is known to be there; other objects as they are."""
    return value.value() if isinstance(value, StagedOptional) and value.is_known else value


def _returned(name: str, value: Any) -> Any:
    """The value of a name at the end of a branch; optionals that are returned must be there."""
    if is_undefined(value) or not returns.is_return_value(name):
        return value
    return _nest.map_structure(_if_known, value)


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
        self._place = f"the `if` in {user_line()}"
        self._lists: CopiedLists | None = None

    def _after(self, branch: str) -> BranchResult:
        """Runs a branch from the state before the `if`; returns the values that it leaves."""
        holds = branch == "main"
        start = returns.state_in_branch(self._names, self._before, self._condition, holds)
        names = self._names[: self._nouts]
        if self._lists is None:
            self._set_state(start)
            self._branches[branch]()
            return BranchResult(branch, names, self._get_state()[: self._nouts])
        start = self._lists.copies(self._names, start)
        self._set_state(state_in_branch(start, self._condition, holds))
        with known_in_branch(self._condition, holds):
            self._branches[branch]()
            values = self._get_state()
            self._lists.end(self._names, values)
            returned = map(_returned, names, values)
            return BranchResult(branch, names, list(returned))

    def run(self) -> None:
        if not stages_objects():
            try:
                values = self._staged({})
            except ReturnValueNeededError as needed:
                values = self._staged(needed.like)
            self._set_state((*values, *self._before[self._end :]))
            return
        self._set_state((*self._with_objects(), *self._before[self._end :]))

    def _with_objects(self) -> list[Any]:
        """Stages the `if`; names may become values of the graph."""
        returned: dict[str, Any] = {}
        forms: dict[str, Any] = {}
        while True:
            self._lists = CopiedLists(self._names, self._before, self._place)
            try:
                values = self._staged(returned, forms)
                break
            except ReturnValueNeededError as needed:
                self._lists.restore()
                returned = needed.like
            except FormsNeededError as needed:
                self._lists.restore()
                forms = {**forms, **needed.forms}
            except BaseException:
                self._lists.restore()
                raise
        lists = self._lists
        for name in self._names[self._nouts :]:
            lists.release(name)
        return [
            lists.result(name, value, 2) for name, value in zip(self._names, values, strict=False)
        ]

    def _form(self, name: str, main: Any, other: Any) -> Any:
        assert self._lists is not None
        if self._lists.is_unchanged(name):
            return None
        if self._lists.is_log(name):
            return Kept(name)
        return form_of(name, self._place, (main, other))

    def _captured(self, state: State) -> State:
        return state[self._nouts : self._end]

    def _staged(self, returned: dict[str, Any], forms: dict[str, Any] | None = None) -> list[Any]:
        outputs = Outputs(returned, forms, None if self._lists is None else self._form)
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
    cond = as_condition(cond)
    if not is_dense(cond):
        refuse_ragged(cond)
        return if_true() if cond else if_false()
    if is_eager():
        return if_true() if cond else if_false()
    try:
        return _staged_value(cond, if_true, if_false, expr_repr, {})
    except FormsNeededError as needed:
        return _staged_value(cond, if_true, if_false, expr_repr, needed.forms)


def _staged_value(
    cond: Any,
    if_true: Callable[[], Any],
    if_false: Callable[[], Any],
    expr_repr: str,
    forms: dict[str, Any],
) -> Any:
    place = f"the conditional expression in {user_line()}"
    outputs = Outputs({}, forms, _form_at(place) if stages_objects() else None)
    names = (expr_repr,)

    def main() -> list[Any]:
        with known_in_branch(cond, True):
            return outputs.of_main(BranchResult("main", names, (_if_known(if_true()),)))

    def orelse() -> list[Any]:
        with known_in_branch(cond, False):
            return outputs.of_else(BranchResult("else", names, (_if_known(if_false()),)))

    (value,) = outputs.packed(records.cond(_engine.convert_to_tensor(cond), main, orelse))
    return value


def _form_at(place: str) -> Callable[[str, Any, Any], Any]:
    return lambda name, main, other: form_of(name, place, (main, other))
