"""Names that lambdas from before a staged loop read, of which the loop changes the values.

A lambda that is called after the loop must see what the last iteration left. Nothing says that it
is called at all: so a name that cannot be a loop variable is no error, and keeps its value from
before.
"""

from __future__ import annotations

from typing import Any

from graven.autograph._operators.attempts import stages_objects
from graven.autograph._operators.inferred import is_missing
from graven.autograph._operators.loop_shapes import LoopShapes
from graven.autograph._operators.loop_state import LoopSymbol
from graven.autograph._operators.scratch import in_scratch_graph
from graven.autograph._operators.staged_loop import LoopBody
from graven.autograph._operators.state import GetState, SetState, State


def with_captured_names(loop: LoopBody, ncaptured: int) -> LoopBody:
    """Returns a loop whose names are those that can be loop variables.

    Args:
      loop: A loop whose last names are captured.
      ncaptured: How many these are.
    """
    if not ncaptured:
        return loop
    before = loop.get_state()
    first = len(before) - ncaptured
    kept = [*range(first), *_consistent(loop, before, first)]

    def get_state() -> State:
        state = loop.get_state()
        return tuple(state[i] for i in kept)

    def set_state(values: State) -> None:
        state = list(before)
        for i, value in zip(kept, values, strict=True):
            state[i] = value
        loop.set_state(tuple(state))

    names = [loop.names[i] for i in kept]
    return LoopBody(loop.test, loop.body, get_state, set_state, names, loop.code)


def without_captured_names(
    get_state: GetState, set_state: SetState, ncaptured: int
) -> tuple[GetState, SetState]:
    """Returns what reads and what binds all names but the last, which are captured."""
    if not ncaptured:
        return get_state, set_state
    return (
        lambda: get_state()[:-ncaptured],
        lambda values: set_state((*values, *get_state()[-ncaptured:])),
    )


def _consistent(loop: LoopBody, before: State, first: int) -> list[int]:
    """Returns which of the names from one on are of one type before and after an iteration."""

    shapes = LoopShapes() if stages_objects() else None

    def one_iteration() -> list[int]:
        symbols = {
            i: LoopSymbol(loop.names[i], before[i], (), shapes=shapes)
            for i in range(first, len(before))
            if not is_missing(before[i])
        }
        loop.body()
        after = loop.get_state()
        return [i for i, symbol in symbols.items() if _conforms(symbol, after[i])]

    try:
        return in_scratch_graph(one_iteration)
    except Exception:  # The loop itself raises it again, at its line.
        return []
    finally:
        loop.set_state(before)


def _conforms(symbol: LoopSymbol, value: Any) -> bool:
    try:
        symbol.after_iteration(value, True)
    except (TypeError, ValueError):
        return False
    return True
