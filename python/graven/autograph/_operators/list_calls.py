"""Functions that take a list, or None or a value, of the graph as an argument."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from graven import _functions as ops
from graven import _public
from graven.autograph._operators.staged_list import StagedList
from graven.autograph._operators.staged_optional import StagedOptional, value_of


def has_objects(args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> bool:
    """Tells whether one of the arguments is a list, or None or a value, of the graph."""
    values = args if not kwargs else (*args, *kwargs.values())
    return any(isinstance(value, StagedList | StagedOptional) for value in values)


def plain(
    args: tuple[Any, ...], kwargs: dict[str, Any] | None
) -> tuple[tuple[Any, ...], dict[str, Any] | None]:
    """Returns arguments for an op, which takes the values of optionals, and rows for a list."""
    named = kwargs and {name: _plain(value) for name, value in kwargs.items()}
    return tuple(map(_plain, args)), named


def _plain(value: Any) -> Any:
    return value.stacked() if isinstance(value, StagedList) else value_of(value)


def overload(f: Any) -> Callable[..., Any] | None:
    """Returns what to call in the place of a function of lists; None for itself."""
    try:
        found = _OF_BUILTINS.get(f)
    except TypeError:  # It has no hash.
        return None
    if found is None:
        found = next((own for name, own in _OF_OPS.items() if f is _public.function(name)), None)
    return found


def _stack(values: Any, axis: Any = 0, name: str | None = None) -> Any:
    if not isinstance(values, StagedList):
        return ops.stack(values, axis, name=name)
    rows = values.stacked()
    if isinstance(axis, int) and axis == 0:
        return ops.identity(rows, name=name)
    rank = rows.shape.rank
    if rank is None or not isinstance(axis, int):
        raise ValueError(f"tf.stack of '{values.spec.name}': its elements have no known rank")
    if not -rank <= axis < rank:
        raise ValueError(f"axis = {axis} not in [{-rank}, {rank})")
    order = list(range(1, rank))
    order.insert(axis % rank, 0)
    return ops.transpose(rows, order, name=name)


def _concat(values: Any, axis: Any, name: str | None = None) -> Any:
    if not isinstance(values, StagedList):
        return ops.concat(values, axis, name=name)
    if isinstance(axis, int) and axis == 0:
        return ops.identity(values.concatenated(), name=name)
    rows = values.stacked()
    rank = None if rows.shape.rank is None else rows.shape.rank - 1
    if rank is None or not isinstance(axis, int):
        raise ValueError(f"tf.concat of '{values.spec.name}': its elements have no known rank")
    if not -rank <= axis < rank:
        raise ValueError(f"axis = {axis} not in [{-rank}, {rank})")
    axis %= rank
    # The rows' own axis comes before the one along which they follow each other.
    order = [*range(1, axis + 1), 0, *range(axis + 1, rank + 1)]
    sizes = ops.shape(rows)
    size = sizes[0] * sizes[axis + 1]
    shape = ops.concat([sizes[1 : axis + 1], [size], sizes[axis + 2 :]], 0)
    return ops.reshape(ops.transpose(rows, order), shape, name=name)


def _add_n(inputs: Any, name: str | None = None) -> Any:
    if not isinstance(inputs, StagedList):
        return _public.function("add_n")(inputs, name=name)
    return ops.reduce_sum(inputs.stacked(), 0, name=name)


def _list(iterable: Any = ()) -> Any:
    return iterable.copy() if isinstance(iterable, StagedList) else builtins.list(iterable)


def _reversed(sequence: Any) -> Any:
    if not isinstance(sequence, StagedList):
        return builtins.reversed(sequence)
    found = sequence.copy()
    found.reverse()
    return found


def _sum(iterable: Any, /, start: Any = 0) -> Any:
    if not isinstance(iterable, StagedList):
        return builtins.sum(iterable, start)
    total = ops.reduce_sum(iterable.stacked(), 0)
    return total if type(start) is int and start == 0 else total + start


def _isinstance(value: Any, kinds: Any) -> bool:
    if isinstance(value, StagedList):
        return issubclass(list, kinds)
    return isinstance(value_of(value), kinds)


_OF_BUILTINS: dict[Any, Callable[..., Any]] = {
    isinstance: _isinstance,
    list: _list,
    reversed: _reversed,
    sum: _sum,
}
_OF_OPS: dict[str, Callable[..., Any]] = {"stack": _stack, "concat": _concat, "add_n": _add_n}
