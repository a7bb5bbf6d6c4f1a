"""Loops on tensors: one tf.while_loop, whose body is traced once, unless shapes change in it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from graven import _engine
from graven import _functions as ops
from graven._debug_ops import Assert
from graven.autograph._loop_options import of_while_loop, shape_invariants
from graven.autograph._operators import records, returns
from graven.autograph._operators.attempts import stages_objects
from graven.autograph._operators.conditions import as_condition, scalar_condition
from graven.autograph._operators.inferred import (
    is_missing,
    placeholder,
    reads_name,
    values_after_one_iteration,
)
from graven.autograph._operators.loop_shapes import LoopShapes
from graven.autograph._operators.loop_state import LoopSymbol
from graven.autograph._operators.staged_list import StagedList
from graven.autograph._operators.staged_objects import CopiedLists, Kept, form_of
from graven.autograph._operators.staged_optional import StagedOptional, StagedOptionalSpec
from graven.autograph._operators.state import GetState, SetState, State
from graven.autograph._operators.user_line import user_line
from graven.autograph._operators.values import is_dense
from graven.autograph._operators.variables import is_undefined


def _copied(value: Any) -> Any:
    """A value that a body may change in place."""
    if isinstance(value, StagedList):
        return value.copy()
    return list(value) if type(value) is list else value


class LoopBody:
    """The parts of a loop, as converted code gives them.

    Args:
      test: Returns whether there is another iteration.
      body: One iteration.
      get_state: Returns the values of the names that the loop changes.
      set_state: Binds the names to other values.
      names: The names. Those in angle brackets are the loop's own.
      code: The user's part of an iteration; None if `body` is that.
    """

    def __init__(
        self,
        test: Callable[[], Any],
        body: Callable[[], None],
        get_state: GetState,
        set_state: SetState,
        names: Sequence[str],
        code: Callable[..., None] | None = None,
    ) -> None:
        self.code = body if code is None else code
        self.test = test
        self.body = body
        self.get_state = get_state
        self.set_state = set_state
        self.names = tuple(names)


def run_staged(loop: LoopBody, opts: dict[str, Any], check_shapes: bool = True) -> None:
    """Stages a loop.

    Args:
      loop: Its parts.
      opts: What set_loop_options gave.
      check_shapes: Whether shapes of loop variables must be as before after an iteration.

    Raises:
      ValueError: The test is no bool scalar, a loop variable has no value before the loop or after
        an iteration, or another shape.
      TypeError: A loop variable has another structure or dtype after an iteration.
    """
    if not stages_objects():
        _StagedLoop(loop, opts, check_shapes, None).run()
        return
    shapes = LoopShapes()
    shapes.settle(lambda: _StagedLoop(loop, opts, check_shapes, shapes).run())


class _StagedLoop:
    def __init__(
        self, loop: LoopBody, opts: dict[str, Any], check_shapes: bool, shapes: LoopShapes | None
    ) -> None:
        self._loop = loop
        self._opts = opts
        self._check_shapes = check_shapes
        self._shapes = shapes
        self._before = loop.get_state()
        self._inferred: list[str] = []  # names that have a value only if the loop iterates
        self._returns_always = False
        self._line = user_line()
        self._place = f"the loop in {self._line}"
        self._lists: CopiedLists | None = None
        if stages_objects():
            self._lists = CopiedLists(loop.names, self._before, self._place)
        self._start = self._before  # with values of the graph where names have forms
        self._symbols = self._made_symbols()

    def _made_symbols(self) -> list[LoopSymbol]:
        names, invariants = self._loop.names, shape_invariants(self._opts)
        symbols = [
            LoopSymbol(name, value, invariants, shapes=self._shapes)
            for name, value in zip(names, self._before, strict=True)
        ]
        if not any(map(is_missing, self._before)) and not self._lists:
            return symbols
        lists = self._lists

        def one_iteration() -> State:
            tensors = iter([tensor for symbol in symbols for tensor in symbol.placeholders()])
            state = tuple(symbol.packed(tensors) for symbol in symbols)
            if lists:
                state = lists.copies(names, state)
            self._loop.set_state(state)
            self._loop.body()
            state = self._loop.get_state()
            if lists:
                lists.end(names, state)
            return state

        try:
            after = values_after_one_iteration(one_iteration, names, self._before)
            if lists is not None:
                self._give_forms(symbols, lists, after)
        finally:
            if lists:
                lists.restore()
            self._loop.set_state(self._before)
        for i, symbol in enumerate(symbols):
            if symbol.has_form:
                continue
            # What stays unbound does so behind the loop, too: then a read of it is the error.
            if is_missing(symbol.value) and not is_undefined(after[i]):
                self._inferred.append(symbol.name)
                value = placeholder(symbol.name, symbol.value, after[i])
                symbols[i] = LoopSymbol(
                    symbol.name, value, invariants, after[i], shapes=self._shapes
                )
        return symbols

    def _give_forms(
        self, symbols: list[LoopSymbol], lists: CopiedLists, after: Sequence[Any]
    ) -> None:
        """Makes values of the graph of names that need it, as one iteration shows.

        Args:
          symbols: The loop variables; updated.
          lists: What the iteration did to lists.
          after: What the names are bound to after it.
        """
        lists.restore()
        invariants = shape_invariants(self._opts)
        start = list(self._before)
        for i, (name, before) in enumerate(zip(self._loop.names, self._before, strict=True)):
            if lists.is_unchanged(name) or lists.is_log(name):
                kept = Kept(name, before)
                symbols[i] = LoopSymbol(name, kept, invariants, form=kept)
                continue
            if is_undefined(before) and isinstance(after[i], StagedList | StagedOptional):
                self._inferred.append(name)
                form = self._opened(after[i].spec)
                start[i] = form.empty()
                symbols[i] = LoopSymbol(name, start[i], invariants, form=form, shapes=self._shapes)
                continue
            # A name that is None at first only has no value before the loop.
            if before is None and not isinstance(after[i], StagedOptional):
                continue
            form = form_of(name, self._place, (before, after[i]))
            if form is None and isinstance(before, StagedList | StagedOptional):
                form = before.spec
            if form is not None:
                form = self._opened(form)
                start[i] = form.convert(before)
                if isinstance(start[i], StagedList):
                    start[i] = start[i].copy()
                symbols[i] = LoopSymbol(name, start[i], invariants, form=form, shapes=self._shapes)
        self._start = tuple(start)

    def _opened(self, form: Any) -> Any:
        """A form with the shapes that values have in the loop."""
        if self._shapes is None or not isinstance(form, StagedOptionalSpec):
            return form
        return form.opened(self._shapes)

    # --- The functions of tf.while_loop. The first loop variable says whether there was an
    # iteration, if that must be known.

    @contextlib.contextmanager
    def _lists_out_of_scope(self) -> Iterator[None]:
        """In the `with` statement bodies work on copies of lists; the results are theirs."""
        lists = self._lists
        if not lists:
            yield
            return
        lists.put_out_of_scope([symbol.name for symbol in self._symbols if not symbol.is_kept])
        try:
            yield
        except BaseException:
            lists.restore()
            raise
        self._loop.set_state(
            tuple(
                value if symbol.is_kept else lists.result(symbol.name, value, 1)
                for symbol, value in zip(self._symbols, self._loop.get_state(), strict=True)
            )
        )

    def _bind(self, variables: Sequence[Any]) -> None:
        tensors = iter(variables[self._num_flags :])
        self._loop.set_state(tuple(symbol.packed(tensors) for symbol in self._symbols))

    @property
    def _num_flags(self) -> int:
        return 1 if self._asserted else 0

    @property
    def _asserted(self) -> list[str]:
        """The names that are read after the loop and have a value there only if it iterates."""
        unread = self._opts.get("rarely_read", ())
        return [
            name
            for name in self._inferred
            if name not in unread and not returns.is_return_value(name)
        ]

    def _test(self, *variables: Any) -> Any:
        self._bind(variables)
        result = as_condition(self._loop.test())
        if not is_dense(result):
            return _engine.convert_to_tensor(bool(result))
        return scalar_condition(result, "while loop")

    def _body(self, *variables: Any) -> list[Any]:
        self._bind(variables)
        self._loop.body()
        results: list[Any] = [True] * self._num_flags
        for symbol, value in zip(self._symbols, self._loop.get_state(), strict=True):
            if returns.is_return_flag(symbol.name):
                self._returns_always = value is True
            results += symbol.after_iteration(value, self._check_shapes)
        if self._shapes is not None:
            self._shapes.end_iteration()
        return [_engine.convert_to_tensor(value) if value is True else value for value in results]

    def run(self) -> None:
        with self._lists_out_of_scope():
            if self._is_read_while_none():
                self._run_first_apart()
            else:
                self._run()

    def _is_read_while_none(self) -> bool:
        """Whether the first iteration may see that a variable is None, which later ones do not."""
        return any(
            symbol_before is None and name in self._inferred and reads_name(self._loop.code, name)
            for name, symbol_before in zip(self._loop.names, self._before, strict=True)
        )

    def _run_first_apart(self) -> None:
        """Stages the first iteration by itself, and the loop over the others after it."""
        loop, symbols, opts = self._loop, self._symbols, dict(self._opts)
        iterates = self._first_test(opts)

        def first() -> list[Any]:
            loop.set_state(tuple(map(_copied, self._start)))
            loop.body()
            after = zip(symbols, loop.get_state(), strict=True)
            return [t for symbol, value in after for t in symbol.after_iteration(value, True)]

        def no_iteration() -> list[Any]:
            return [tensor for symbol in symbols for tensor in symbol.tensors()]

        try:
            tensors = iter(records.cond(iterates, first, no_iteration))
        except BaseException:
            loop.set_state(self._before)
            raise
        state = tuple(symbol.packed(tensors) for symbol in symbols)
        opts["shape_invariants"] = [
            (now, shape)
            for variable, shape in shape_invariants(opts)
            for now, before in zip(state, self._before, strict=True)
            if before is variable
        ]
        loop.set_state(state)
        try:
            run_staged(loop, opts, self._check_shapes)
        except BaseException:
            loop.set_state(self._before)
            raise
        self._note_returns()
        for name in self._asserted:
            Assert(iterates, [f"loop must iterate at least once to initialize {name}"])

    def _first_test(self, opts: dict[str, Any]) -> Any:
        """Whether there is a first iteration; takes it off the maximum in the options."""
        self._loop.set_state(tuple(map(_copied, self._start)))
        result = as_condition(self._loop.test())
        if not is_dense(result):
            result = bool(result)
        iterates = scalar_condition(_engine.convert_to_tensor(result), "while loop")
        most = of_while_loop(opts).get("maximum_iterations")
        if most is None:
            return iterates
        opts["maximum_iterations"] = ops.maximum(ops.subtract(most, 1), 0)
        return ops.logical_and(iterates, ops.greater(most, 0))

    def _run(self) -> None:
        before = [_engine.convert_to_tensor(False)] * self._num_flags
        shapes: list[Any] = [flag.shape for flag in before]
        for symbol in self._symbols:
            before += symbol.tensors()
            shapes += symbol.shapes()
        named: dict[str, Any] = {}
        if any(symbol.varies for symbol in self._symbols):
            named["shape_invariants"] = shapes
        try:
            after = records.while_loop(
                self._test, self._body, before, **named, **of_while_loop(self._opts)
            )
        except BaseException:
            self._loop.set_state(self._before)
            raise
        self._bind(list(after))
        self._note_returns()
        for name in self._asserted:
            Assert(after[0], [f"loop must iterate at least once to initialize {name}"])

    def _note_returns(self) -> None:
        """Keeps what is wrong if the function ends without another `return` after the loop."""
        for symbol, before, after in zip(
            self._symbols, self._before, self._loop.get_state(), strict=True
        ):
            if before is not False or not returns.is_return_flag(symbol.name):
                continue
            returns.note_missing_return(
                after,
                "loop must iterate at least once to initialize the function return value"
                if self._returns_always
                else NotImplementedError(
                    f"The loop in {self._line} returns on some of its paths, and the function "
                    "does not return after it: a return statement cannot be placed inside this "
                    "TensorFlow loop, unless another one follows the loop."
                ),
            )
