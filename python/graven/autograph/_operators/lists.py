"""List literals, `append`, `pop` and items, with Feature.LISTS.

Lists stay Python's, unless staged code makes them longer (`attempts`). Items of tensors are set in
a copy; those of tensor arrays are written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graven import _engine
from graven import _functions as ops
from graven.autograph._operators import attempts
from graven.autograph._operators.values import is_dense, is_tensor_array


def new_list(iterable: Iterable[Any] = ()) -> list[Any]:
    """Returns a list of the elements."""
    return list(iterable)


def list_append(list_: Any, x: Any) -> Any:
    """Appends to a list, or to what else has `append`.

    Args:
      list_: The list.
      x: The element.

    Returns:
      The list; of a tensor array a longer one.
    """
    if is_tensor_array(list_):
        return list_.write(list_.size(), x)
    attempts.note_list_call((x,))
    list_.append(x)
    return list_


def list_pop(list_: Any, i: Any = None) -> tuple[Any, Any]:
    """Takes an element from a list.

    Args:
      list_: The list.
      i: Which; None is the last.

    Returns:
      The list, and the element.
    """
    return list_, list_.pop() if i is None else list_.pop(i)


def get_item(target: Any, i: Any) -> Any:
    """Returns `target[i]`.

    Args:
      target: A list, a tensor, or another object with items.
      i: Which.
    """
    return target.read(i) if is_tensor_array(target) else target[i]


def set_item(target: Any, i: Any, x: Any) -> Any:
    """Sets `target[i] = x`.

    Args:
      target: A list, a tensor, or another object with items.
      i: Which. Of a tensor: the number of a row, from the end if it is negative.
      x: The value.

    Returns:
      The target; of a tensor or a tensor array an updated copy.

    Raises:
      TypeError: What is set in a tensor is no row.
    """
    if is_tensor_array(target):
        return target.write(i, x)
    if not isinstance(target, _engine.Tensor):
        attempts.note_list_call((x,))
        target[i] = x
        return target
    if not is_dense(i) and not hasattr(i, "__index__"):
        raise TypeError(f"Only a row of a tensor can be set, by its number, not by {i!r}.")
    row = _engine.convert_to_tensor(i)
    if row.shape.rank != 0 or not row.dtype.is_integer:
        raise TypeError(f"Only a row of a tensor can be set, by its number, not by {i!r}.")
    length = ops.cast(ops.shape(target)[0], row.dtype)
    row = ops.where(ops.less(row, 0), ops.add(row, length), row)
    value = _engine.convert_to_tensor(x, dtype=target.dtype)
    value = ops.broadcast_to(value, ops.shape(target)[1:])
    return ops.tensor_scatter_nd_update(target, ops.reshape(row, [1, 1]), value[None])
