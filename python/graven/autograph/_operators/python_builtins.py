"""Python's builtins on tensors and datasets, as converted code calls them.

Functions that are given to them are converted before.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from typing import Any

from graven import _engine
from graven import _functions as ops
from graven._debug_ops import Assert, print_
from graven._dtypes import bool_, float32, int32, string
from graven._ragged import RaggedTensor
from graven._scopes import control_dependencies
from graven.autograph._operators import records
from graven.autograph._operators.lengths import tensor_length
from graven.autograph._operators.staged_list import StagedList
from graven.autograph._operators.values import is_dense, is_tensor_array


def _is_dataset(value: Any) -> bool:
    kind = type(value)
    return hasattr(kind, "element_spec") and hasattr(kind, "reduce")


def abs_(x: Any) -> Any:
    """Calls abs(x)."""
    if _is_dataset(x):
        return x.map(ops.abs)
    return ops.abs(x) if is_dense(x) else builtins.abs(x)


def float_(x: Any = 0) -> Any:
    """Calls float(x); a string tensor is parsed."""
    if not is_dense(x):
        return builtins.float(x)
    return records.to_number(x, float32) if x.dtype == string else ops.cast(x, float32)


def int_(x: Any = 0, *base: Any, **named: Any) -> Any:
    """Calls int(x, base); a string tensor is parsed.

    Raises:
      NotImplementedError: A tensor is to be parsed in another base than ten.
    """
    if not is_dense(x):
        return builtins.int(x, *base, **named)
    (asked,) = base or (named.get("base", 10),)
    if asked not in (10, ""):
        raise NotImplementedError(f"int of a tensor: base {asked} is not supported, only base 10")
    return records.to_number(x, int32) if x.dtype == string else ops.cast(x, int32)


def len_(s: Any) -> Any:
    """Calls len(s)."""
    if is_dense(s) or isinstance(s, RaggedTensor):
        return tensor_length(s)
    if is_tensor_array(s) or isinstance(s, StagedList):
        return s.size()
    return _dataset_length(s) if _is_dataset(s) else builtins.len(s)


def _dataset_length(dataset: Any) -> Any:
    count = dataset.cardinality()
    text = "len requires dataset with definitive cardinality, got"
    with control_dependencies([Assert(ops.greater_equal(count, 0), [text, count])]):
        return ops.identity(count)


def print_objects(*objects: Any, **options: Any) -> None:
    """Calls print(...); one of tensors prints when the function runs."""
    if not builtins.any(map(is_dense, objects)) or options.get("file") is not None:
        builtins.print(*objects, **options)
        return
    named = {name: options[name] for name in ("sep", "end") if options.get(name) is not None}
    print_(*objects, output_stream=sys.stdout, **named)


def range_(start_or_stop: Any, *more: Any) -> Any:
    """Calls range(...)."""
    bounds = (start_or_stop, *more)
    if not builtins.any(map(is_dense, bounds)):
        return builtins.range(*bounds)
    if builtins.len(bounds) == 3:
        return ops.range(*bounds)
    start, stop = (0, *bounds)[-2:]
    # Python's is empty if it ends before it starts; tf.range refuses that.
    return ops.range(start, ops.maximum(start, stop))


def enumerate_(iterable: Any, start: Any = 0) -> Any:
    """Calls enumerate(iterable, start)."""
    return iterable.enumerate(start) if _is_dataset(iterable) else enumerate(iterable, start)


def zip_(*iterables: Any, strict: bool = False) -> Any:
    """Calls zip(...)."""
    if iterables and all(map(_is_dataset, iterables)):
        return type(iterables[0]).zip(iterables)
    return zip(*iterables, strict=strict)


def map_(function: Callable[..., Any], *iterables: Any) -> Any:
    """Calls map(function, ...)."""
    if iterables and all(map(_is_dataset, iterables)):
        elements = iterables[0] if len(iterables) == 1 else type(iterables[0]).zip(iterables)
        return elements.map(function)
    return map(function, *iterables)


def filter_(function: Callable[..., Any] | None, iterable: Any) -> Any:
    """Calls filter(function, iterable)."""
    if _is_dataset(iterable) and function is not None:
        return iterable.filter(function)
    return filter(function, iterable)


def _of_bools(dataset: Any, name: str) -> Any:
    spec = dataset.element_spec
    if getattr(spec, "dtype", None) != bool_ or spec.shape.rank != 0:
        raise ValueError(f"{name} of a dataset requires elements that are bool scalars, not {spec}")
    return dataset


def any_(iterable: Any) -> Any:
    """Calls any(iterable).

    Raises:
      ValueError: It is a dataset whose elements are no bool scalars.
    """
    if not _is_dataset(iterable):
        return any(iterable)
    return _of_bools(iterable, "any").reduce(_engine.constant(False), ops.logical_or)


def all_(iterable: Any) -> Any:
    """Calls all(iterable).

    Raises:
      ValueError: It is a dataset whose elements are no bool scalars.
    """
    if not _is_dataset(iterable):
        return all(iterable)
    return _of_bools(iterable, "all").reduce(_engine.constant(True), ops.logical_and)


def sorted_(iterable: Any, *, key: Any = None, reverse: Any = False) -> Any:
    """Calls sorted(iterable, key=key, reverse=reverse).

    Raises:
      ValueError: It is a tensor that is no vector.
    """
    if not is_dense(iterable):
        return sorted(iterable, key=key, reverse=reverse)
    keys = _engine.convert_to_tensor(iterable)
    if keys.shape.rank not in (None, 1):
        raise ValueError(f"sorted of a tensor only supports 1D tensors, not {keys.shape}")
    direction = "DESCENDING" if reverse else "ASCENDING"
    if key is None:
        return ops.sort(keys, direction=direction)
    order = ops.argsort(records.vectorized_map(key, keys), direction=direction, stable=True)
    return ops.gather(keys, order)


BY_BUILTIN: dict[Any, Callable[..., Any]] = {
    abs: abs_,
    float: float_,
    int: int_,
    len: len_,
    print: print_objects,
    range: range_,
    enumerate: enumerate_,
    zip: zip_,
    map: map_,
    filter: filter_,
    any: any_,
    all: all_,
    sorted: sorted_,
}
