"""Tensors made no longer than a limit, as gradients are before a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graven import _engine
from graven import raw_ops as raw
from graven._functions import ones_like, reduce_sum, stack, where
from graven._indexed_slices import IndexedSlices
from graven._nn_ops import l2_loss
from graven._scopes import name_scope
from graven._types import Axes, Name, Tensor, TensorLike

constant = _engine.constant
convert_to_tensor = _engine.convert_to_tensor


def _values(t: Any) -> Tensor:
    return t.values if isinstance(t, IndexedSlices) else convert_to_tensor(t)


def _like(t: Any, values: Tensor) -> Any:
    """The values, as slices where t is."""
    return t._with_values(values) if isinstance(t, IndexedSlices) else values


def _checked_list(t_list: Any) -> list[Any]:
    if isinstance(t_list, str) or not isinstance(t_list, Sequence):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    return list(t_list)


def clip_by_norm(
    t: TensorLike | IndexedSlices, clip_norm: TensorLike, axes: Axes = None, name: Name = None
) -> Any:
    """Shortens a tensor to a largest L2 norm; a shorter one stays as it is.

    Args:
      t: Any floating dtype, or IndexedSlices.
      clip_norm: The largest norm, positive; broadcasts to t.
      axes: The axes over which the norm is taken; None means all.
      name: A name for the scope while a function is traced.

    Returns:
      t * clip_norm / max(norm(t), clip_norm), as t was given.

    Source: tf.clip_by_norm.
    """
    with name_scope(name or "clip_by_norm"):
        values = _values(t)
        squares = reduce_sum(values * values, axes, keepdims=True)
        # The gradient of a square root is infinite at 0, so zeros do not go through it.
        is_positive = squares > 0
        norm = where(
            is_positive, raw.Sqrt(where(is_positive, squares, ones_like(squares))), squares
        )
        scaled = values * clip_norm
        if not values.shape.is_compatible_with(scaled.shape):
            raise ValueError(
                f"clip_norm must broadcast to the shape of t, {values.shape}, but gives "
                f"{scaled.shape}"
            )
        return _like(t, scaled / raw.Maximum(norm, convert_to_tensor(clip_norm, norm.dtype)))


def global_norm(t_list: Sequence[Any], name: Name = None) -> Tensor:
    """The L2 norm of all elements of several tensors.

    Args:
      t_list: Tensors of one floating dtype, IndexedSlices or None, which are left out.
      name: A name for the scope while a function is traced.

    Returns:
      A scalar of their dtype.

    Raises:
      TypeError: t_list is not a sequence.

    Source: tf.linalg.global_norm.
    """
    tensors = [_values(t) for t in _checked_list(t_list) if t is not None]
    with name_scope(name or "global_norm"):
        halves = [l2_loss(values) for values in tensors]
        half = reduce_sum(stack(halves))
        return raw.Sqrt(half * constant(2.0, half.dtype))


def clip_by_global_norm(
    t_list: Sequence[Any],
    clip_norm: TensorLike,
    use_norm: TensorLike | None = None,
    name: Name = None,
) -> tuple[list[Any], Tensor]:
    """Shortens several tensors together, so that all their elements have a largest L2 norm.

    Args:
      t_list: Tensors of one floating dtype, IndexedSlices or None, which stay None.
      clip_norm: The largest norm, a positive scalar.
      use_norm: The norm, if it is known: that of global_norm(t_list) otherwise.
      name: A name for the scope while a function is traced.

    Returns:
      The tensors times min(1, clip_norm / norm), all NaN if the norm is not finite; and the norm.

    Raises:
      TypeError: t_list is not a sequence.

    Source: tf.clip_by_global_norm.
    """
    tensors = _checked_list(t_list)
    with name_scope(name or "clip_by_global_norm"):
        norm = global_norm(tensors) if use_norm is None else convert_to_tensor(use_norm)
        one = constant(1.0, norm.dtype)
        limit = convert_to_tensor(clip_norm, norm.dtype)
        finite_scale = limit * raw.Minimum(one / norm, one / limit)
        nan = constant(float("nan"), norm.dtype)
        scale = where(raw.IsFinite(norm), finite_scale, nan)
        clipped = [None if t is None else _like(t, _values(t) * scale) for t in tensors]
        return clipped, norm
