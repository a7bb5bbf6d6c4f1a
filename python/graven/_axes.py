"""Orders of axes, of tensors whose rank is known or found when a traced function runs."""

from __future__ import annotations

import builtins
from typing import Any

from graven import raw_ops as raw
from graven._functions import concat, range, rank, where
from graven._types import Tensor


def swapped_with_last(x: Tensor, axis: int) -> Any:
    """The permutation that swaps an axis of a tensor with its last one; it undoes itself.

    An axis that a tensor of unknown rank turns out not to have makes one that Transpose refuses.
    """
    known = x.shape.rank
    if known is not None:
        order = list(builtins.range(known))
        order[axis], order[-1] = order[-1], order[axis]
        return order
    count = rank(x)
    last, at, places = count - 1, _place(count, axis), range(count)
    return where(raw.Equal(places, at), last, where(raw.Equal(places, last), at, places))


def moved_to_end(x: Tensor, axis: int) -> Any:
    """The permutation that makes an axis of a tensor the last, behind the others in their order."""
    known = x.shape.rank
    if known is not None:
        place = axis % known
        return [i for i in builtins.range(known) if i != place] + [place]
    count = rank(x)
    at = _place(count, axis)
    behind = raw.AddV2(at, 1)
    return concat([range(at), range(behind, raw.Maximum(count, behind)), [at]], 0)


def _place(count: Tensor, axis: int) -> Any:
    """An axis counted from the first one; the rank, which is none, if it is before that."""
    if axis >= 0:
        return axis
    place = raw.AddV2(count, axis)
    return where(raw.Less(place, 0), count, place)
