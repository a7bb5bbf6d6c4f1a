"""Shapes as far as they are known: tf.TensorShape.

Source: tf.TensorShape.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import index
from typing import Any, NoReturn, overload

from graven import _engine
from graven._unsupported import unsupported

Size = int | None


def _as_size(value: Any) -> Size:
    if value is None:
        return None
    if isinstance(value, str):
        raise TypeError(f"Dimension value must be integer or None, got value {value!r}")
    inner = getattr(value, "value", value)  # TensorFlow 1's Dimension
    if inner is None:
        return None
    try:
        size = index(inner)
    except TypeError:
        raise TypeError(
            f"Dimension value must be integer or None or have an __index__ method, got value "
            f"{value!r} with type {type(value)!r}"
        ) from None
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


def _merge_sizes(a: Size, b: Size) -> Size:
    if a is not None and b is not None and a != b:
        raise ValueError(f"Dimensions {a} and {b} are not compatible")
    return b if a is None else a


class TensorShape:
    """The sizes of a tensor's dimensions, None where unknown, or of unknown rank.

    Args:
      dims: A list of sizes; None for unknown rank; one size for a vector's shape.

    Raises:
      TypeError: A size is neither an integer nor None.
      ValueError: A size is negative.

    Source: tf.TensorShape.
    """

    __slots__ = ("__weakref__", "_dims")

    _dims: tuple[Size, ...] | None

    def __init__(self, dims: Any) -> None:
        if dims is None:
            self._dims = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif isinstance(dims, (tuple, list)):
            self._dims = tuple(_as_size(size) for size in dims)
        elif isinstance(dims, (str, bytes)):
            raise TypeError(f"A shape is a list of sizes, not {dims!r}")
        else:
            try:
                sizes = iter(dims)
            except TypeError:
                self._dims = (_as_size(dims),)
            else:
                self._dims = tuple(_as_size(size) for size in sizes)

    @property
    def rank(self) -> int | None:
        """The number of dimensions, or None."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        """The number of dimensions, or None."""
        return self.rank

    @property
    def dims(self) -> list[Size] | None:
        """The sizes, or None for unknown rank."""
        return None if self._dims is None else list(self._dims)

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __iter__(self) -> Iterator[Size]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    @overload
    def __getitem__(self, key: int) -> Size: ...
    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...
    def __getitem__(self, key: int | slice) -> Size | TensorShape:
        if self._dims is not None:
            if isinstance(key, slice):
                return TensorShape(self._dims[key])
            return self._dims[key]
        if not isinstance(key, slice):
            return None
        start, stop = key.start or 0, key.stop
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        if stop is None or start < 0 or stop < 0:
            return TensorShape(None)
        return TensorShape([None] * max(stop - start, 0))

    def num_elements(self) -> int | None:
        """Returns the number of elements, or None if the shape is not fully known."""
        if self._dims is None or None in self._dims:
            return None
        count = 1
        for size in self._dims:
            assert size is not None
            count *= size
        return count

    def is_fully_defined(self) -> bool:
        """Tells whether the rank and all sizes are known."""
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self) -> None:
        """Raises a ValueError unless the rank and all sizes are known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def as_list(self) -> list[Size]:
        """Returns the sizes.

        Raises:
          ValueError: The rank is unknown.
        """
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def as_proto(self) -> NoReturn:
        """Refused: protocol buffers come with saved models.

        Raises:
          NotImplementedError: Always.
        """
        raise unsupported("Graven has no TensorShapeProto yet")

    def merge_with(self, other: Any) -> TensorShape:
        """Returns what is known if a tensor has both shapes.

        Args:
          other: What tf.TensorShape takes.

        Raises:
          ValueError: No tensor has both.
        """
        right = as_shape(other)
        if self._dims is None:
            return right
        if right._dims is None:
            return self
        try:
            self.assert_same_rank(right)
            return TensorShape(
                [_merge_sizes(a, b) for a, b in zip(self._dims, right._dims, strict=True)]
            )
        except ValueError:
            raise ValueError(f"Shapes {self} and {right} are not compatible") from None

    def concatenate(self, other: Any) -> TensorShape:
        """Returns the shape with the other's dimensions after its own.

        Args:
          other: What tf.TensorShape takes; of unknown rank, so is the result.
        """
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return TensorShape(self._dims + other._dims)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __concat__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def assert_same_rank(self, other: Any) -> None:
        """Checks the ranks, as far as they are known.

        Args:
          other: What tf.TensorShape takes.

        Raises:
          ValueError: Both are known and differ.
        """
        other = as_shape(other)
        if self.rank is not None and other.rank is not None and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank: int) -> None:
        """Checks the rank, if it is known.

        Args:
          rank: What it must be.

        Raises:
          ValueError: It is known and another.
        """
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int) -> TensorShape:
        """Returns the shape, known to have this rank.

        Args:
          rank: The rank.

        Raises:
          ValueError: It has another.
        """
        try:
            return self.merge_with(unknown_shape(rank))
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Returns the shape, after a check of its rank.

        Args:
          rank: The least that it may be.

        Raises:
          ValueError: It is known and less.
        """
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """Returns the shape, after a check of its rank.

        Args:
          rank: The most that it may be.

        Raises:
          ValueError: It is known and more.
        """
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def is_compatible_with(self, other: Any) -> bool:
        """Tells whether some tensor has both shapes.

        Args:
          other: What tf.TensorShape takes.
        """
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, other._dims, strict=True)
        )

    def assert_is_compatible_with(self, other: Any) -> None:
        """Checks that some tensor has both shapes.

        Args:
          other: What tf.TensorShape takes.

        Raises:
          ValueError: None has.
        """
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """Returns the most special shape that both are compatible with.

        Args:
          other: What tf.TensorShape takes.
        """
        other = as_shape(other)
        if self._dims is None or other._dims is None or self.rank != other.rank:
            return TensorShape(None)
        return TensorShape(
            [a if a == b else None for a, b in zip(self._dims, other._dims, strict=True)]
        )

    def is_subtype_of(self, other: Any) -> bool:
        """Tells whether every tensor of this shape also has the other.

        Args:
          other: A TensorShape; nothing else has subtypes among shapes.
        """
        if not isinstance(other, TensorShape):
            return False
        if other._dims is None:
            return True
        if self._dims is None or len(self._dims) != len(other._dims):
            return False
        return all(b is None or a == b for a, b in zip(self._dims, other._dims, strict=True))

    def most_specific_common_supertype(self, others: Iterable[Any]) -> TensorShape | None:
        """Returns the most special shape that covers this one and the others.

        Args:
          others: TensorShapes; with anything else among them the result is None.
        """
        result = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            result = result.most_specific_compatible_shape(other)
        return result

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> _engine.Tensor:
        if not self.is_fully_defined():
            raise ValueError(f"Cannot convert a partially known TensorShape {self} to a Tensor.")
        sizes = self.as_list()
        fits_int32 = all(size is None or size < 2**31 for size in sizes)
        if dtype is None:
            dtype = "int32" if fits_int32 else "int64"
        elif dtype not in ("int32", "int64"):
            raise TypeError(
                f"Cannot convert TensorShape {self} to dtype {dtype!r}. Allowed dtypes are "
                "tf.int32 and tf.int64."
            )
        elif dtype == "int32" and not fits_int32:
            raise ValueError(
                f"Cannot convert TensorShape {self} to dtype int32; a dimension is too large. Ask "
                "for tf.int64."
            )
        return _engine.constant(sizes, dtype, None, name or "shape_as_tensor")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (TensorShape, list, tuple, int, type(None))):
            return False
        try:
            return self._dims == as_shape(other)._dims
        except (TypeError, ValueError):
            return False

    def __hash__(self) -> int:
        return hash(self._dims)

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self.dims,)

    def __copy__(self) -> TensorShape:
        return self

    def __deepcopy__(self, memo: Any) -> TensorShape:
        return self

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(self._dims)

    def __repr__(self) -> str:
        return f"TensorShape({self.dims})"


def as_shape(shape: Any) -> TensorShape:
    """Returns a TensorShape of what stands for one."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def unknown_shape(rank: int | None = None) -> TensorShape:
    """Returns the shape of which only the rank, or nothing, is known."""
    return TensorShape(None if rank is None else [None] * rank)


_engine.register_shape_class(TensorShape)


class _OpenSize:
    """A size that a trace leaves open, of a tensor; reading it makes the trace serve it alone.

    Args:
      tensor: The tensor.
      axis: The dimension.
    """

    __slots__ = ("_axis", "_tensor")

    def __init__(self, tensor: _engine.Tensor, axis: int) -> None:
        self._tensor = tensor
        self._axis = axis

    def read(self) -> Size:
        """Returns the number."""
        return _engine.read_size(self._tensor, self._axis)

    def is_same(self, other: _OpenSize) -> bool:
        """Tells whether another is the same number, if possible without reading the two.

        Args:
          other: The other one.
        """
        return _engine.is_same_size(self._tensor, self._axis, other._tensor, other._axis)


_Part = Size | _OpenSize


def _read(part: _Part) -> Size:
    return part.read() if isinstance(part, _OpenSize) else part


def _is_same_part(a: _Part, b: _Part) -> bool:
    if isinstance(a, _OpenSize) and isinstance(b, _OpenSize):
        return a.is_same(b)
    if a is None or b is None:
        return a is b
    return _read(a) == _read(b)


class _OpenShape(TensorShape):
    """The shape of a tensor of a trace that leaves some of its sizes open.

    It is what an exact trace would say, and each size counts as read once the program looks at it.
    """

    __slots__ = ("_parts",)

    _parts: tuple[_Part, ...]

    def __init__(self, tensor: _engine.Tensor, sizes: tuple[Any, ...]) -> None:
        self._parts = tuple(
            _OpenSize(tensor, i) if size is ... else size for i, size in enumerate(sizes)
        )

    @property
    def _dims(self) -> tuple[Size, ...]:  # type: ignore[override]
        return tuple(map(_read, self._parts))

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Size]:
        return map(_read, self._parts)

    @overload
    def __getitem__(self, key: int) -> Size: ...
    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...
    def __getitem__(self, key: int | slice) -> Size | TensorShape:
        part = self._parts[key]
        return _of_parts(part) if isinstance(part, tuple) else _read(part)

    def is_fully_defined(self) -> bool:
        """Tells whether all sizes are known."""
        return None not in self._parts

    def concatenate(self, other: Any) -> TensorShape:
        """Returns the shape with the other's dimensions after its own.

        Args:
          other: What tf.TensorShape takes; of unknown rank, so is the result.
        """
        other = as_shape(other)
        parts = parts_of(other)
        return TensorShape(None) if parts is None else _of_parts(self._parts + parts)

    def with_rank(self, rank: int) -> TensorShape:
        """Returns the shape, after a check of its rank.

        Args:
          rank: The rank.

        Raises:
          ValueError: It has another.
        """
        if self.rank != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")
        return self

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, (TensorShape, list, tuple, int, type(None))):
            return False
        try:
            parts = parts_of(as_shape(other))
        except (TypeError, ValueError):
            return False
        if parts is None or len(parts) != len(self._parts):
            return False
        return all(map(_is_same_part, self._parts, parts))

    def __hash__(self) -> int:
        return hash(self._dims)


def _of_parts(parts: tuple[_Part, ...]) -> TensorShape:
    if not any(isinstance(part, _OpenSize) for part in parts):
        return TensorShape(parts)
    made = _OpenShape.__new__(_OpenShape)
    made._parts = parts
    return made


def parts_of(shape: TensorShape) -> tuple[_Part, ...] | None:
    """Returns the sizes, those that a trace leaves open unread; None for unknown rank."""
    return shape._parts if isinstance(shape, _OpenShape) else shape._dims


def conforms(shape: TensorShape, invariant: TensorShape) -> bool:
    """Tells whether a shape is at least as specific as another; reads open sizes only if it must.

    Args:
      shape: The shape.
      invariant: The other one.
    """
    wanted, sizes = parts_of(invariant), parts_of(shape)
    if wanted is None:
        return True
    if sizes is None or len(sizes) != len(wanted):
        return False
    return all(b is None or _is_same_part(a, b) for a, b in zip(sizes, wanted, strict=True))


_engine.register_open_shape_class(_OpenShape)


def broadcast_static_shape(shape_x: TensorShape, shape_y: TensorShape) -> TensorShape:
    """The shape of what tensors of two shapes make together, as far as it is known.

    Args:
      shape_x: The shape of one, or what TensorShape makes one of.
      shape_y: The shape of the other.

    Returns:
      The broadcast shape. A size that is unknown counts as one that fits.

    Raises:
      ValueError: Two sizes differ and neither is 1.

    Source: tf.broadcast_static_shape.
    """
    x, y = as_shape(shape_x), as_shape(shape_y)
    if x.rank is None or y.rank is None:
        return unknown_shape()
    rank = max(x.rank, y.rank)
    sizes: list[Size] = []
    for a, b in zip([1] * (rank - x.rank) + list(x), [1] * (rank - y.rank) + list(y), strict=True):
        known = [size for size in (a, b) if size not in (None, 1)]
        if len(known) == 2 and a != b:
            raise ValueError(f"Incompatible shapes for broadcasting: {x} and {y}")
        if known:
            sizes.append(known[0])
        else:
            sizes.append(None if a is None or b is None else 1)
    return TensorShape(sizes)
