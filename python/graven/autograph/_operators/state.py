"""The names that a statement changes: how operators read and bind them.

The bodies of a statement share its names with the function around it, so the names are cells of the
bodies' closures. Where all of a statement's symbols are such names, converted code gives operators
no functions for the state. Only what stages a statement looks for the cells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CellType
from typing import Any

from graven.autograph._operators.variables import Undefined

State = tuple[Any, ...]
GetState = Callable[[], State]
SetState = Callable[[State], None]


def state_functions(
    get_state: GetState | None,
    set_state: SetState | None,
    symbol_names: Sequence[str],
    *bodies: Callable[..., None],
) -> tuple[GetState, SetState]:
    """Returns what reads and what binds the symbols of a statement.

    Args:
      get_state: Reads them, if converted code has a function for it.
      set_state: Binds them, if converted code has a function for it.
      symbol_names: The symbols.
      bodies: The functions of the statement's bodies.
    """
    if get_state is not None and set_state is not None:
        return get_state, set_state
    cells: dict[str, CellType] = {}
    for body in bodies:
        cells.update(zip(body.__code__.co_freevars, body.__closure__ or (), strict=True))
    # Names that the conversion has made stand in angle brackets.
    variables = [(name, cells[name]) for name in (each.strip("<>") for each in symbol_names)]

    def read() -> State:
        return tuple(_content(name, cell) for name, cell in variables)

    def bind(values: State) -> None:
        for (_, cell), value in zip(variables, values, strict=True):
            cell.cell_contents = value

    return read, bind


def _content(name: str, cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # It is empty: an exception has kept the name from being bound.
        return Undefined(name)
