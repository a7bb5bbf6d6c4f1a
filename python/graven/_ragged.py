"""Ragged tensors: rows of different lengths, as flat values and the places where rows are split."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from graven import _engine
from graven import _functions as ops
from graven._dtypes import as_dtype
from graven._tensor_shape import TensorShape
from graven._trace_types import CompositeTensor, ShapedSpec, sizes_of
from graven._unsupported import unsupported


class RaggedTensorSpec(ShapedSpec):
    """The type of a RaggedTensor.

    Args:
      shape: The static shape: ragged dimensions, and those outside them, may be None.
      dtype: The dtype of the values.
      ragged_rank: How many dimensions are cut by row splits; rank - 1 by default.
      row_splits_dtype: int64 or int32.

    Raises:
      ValueError: The rank is unknown and ragged_rank not given, or ragged_rank does not fit.

    Source: tf.RaggedTensorSpec.
    """

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = "float32",
        ragged_rank: int | None = None,
        row_splits_dtype: Any = "int64",
    ) -> None:
        super().__init__(shape, dtype)
        self._row_splits_dtype = as_dtype(row_splits_dtype)
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if ragged_rank < 1 or (rank is not None and ragged_rank >= rank):
            raise ValueError(
                f"Argument `ragged_rank` ({ragged_rank}) must be at least 1 and less than rank "
                f"({rank})."
            )
        self._ragged_rank = int(ragged_rank)

    @property
    def ragged_rank(self) -> int:
        """How many dimensions are cut by row splits."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> Any:
        """The dtype of the row splits."""
        return self._row_splits_dtype

    @property
    def value_type(self) -> type:
        """The class of the values of this type."""
        return RaggedTensor

    def _parts(self) -> tuple[Any, ...]:
        return (self._dtype, self._ragged_rank, self._row_splits_dtype)

    def _with_shape(self, shape: Any) -> RaggedTensorSpec:
        return RaggedTensorSpec(shape, self._dtype, self._ragged_rank, self._row_splits_dtype)

    def flatten(self) -> list[Any]:
        """Returns the specs of the flat values and of the row splits, outer ones first."""
        sizes = sizes_of(self._shape)
        inner = None if sizes is None else [None, *sizes[self._ragged_rank + 1 :]]
        rows = None if sizes is None or sizes[0] is None else sizes[0] + 1
        splits = [rows] + [None] * (self._ragged_rank - 1)
        return [
            _engine.TensorSpec(inner, self._dtype),
            *(_engine.TensorSpec([n], self._row_splits_dtype) for n in splits),
        ]

    def to_tensors(self, value: Any) -> list[Any]:
        """Returns the flat values and the row splits, outer ones first.

        Args:
          value: A RaggedTensor.
        """
        return [value.flat_values, *value.nested_row_splits]

    def from_tensors(self, tensors: Sequence[Any]) -> RaggedTensor:
        """Returns a RaggedTensor around its parts.

        Args:
          tensors: The flat values and the row splits, outer ones first.
        """
        values: Any = tensors[0]
        for splits in reversed(tensors[1:]):
            values = RaggedTensor(values, splits, _private=True)
        made: RaggedTensor = values
        made._static_shape = self._shape
        return made

    def __repr__(self) -> str:
        return (
            f"RaggedTensorSpec({self._shape}, {self._dtype!r}, {self._ragged_rank}, "
            f"{self._row_splits_dtype!r})"
        )


class RaggedTensor(CompositeTensor):
    """A tensor whose rows differ in length; made by tf.ragged.constant or from_row_splits.

    It goes in and out of Functions, and gives its parts. Ops on it as a whole are not there yet.

    Source: tf.RaggedTensor.
    """

    def __init__(self, values: Any, row_splits: Any, *, _private: bool = False) -> None:
        if not _private:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods "
                "instead (e.g., RaggedTensor.from_row_splits())"
            )
        self._values = values
        self._row_splits = row_splits
        self._static_shape: TensorShape | None = None

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Makes one from values, whose row i is values[row_splits[i]:row_splits[i + 1]].

        Args:
          values: A tensor or RaggedTensor of at least one dimension.
          row_splits: An integer vector, ascending from 0 to the number of values.
          name: Accepted; no op is made.
          validate: Whether row_splits is checked, where its value is known.

        Returns:
          A RaggedTensor of the values' dtype, with one ragged dimension more.

        Raises:
          ValueError: The row splits are no vector, or do not fit the values.
        """
        del name
        splits = _engine.convert_to_tensor(row_splits)
        if splits.dtype.name not in ("int32", "int64"):
            raise ValueError(f"row_splits must be int32 or int64, not {splits.dtype.name}.")
        if splits.shape.rank not in (1, None):
            raise ValueError(f"Shape {splits.shape} of row_splits must have rank 1.")
        if not isinstance(values, RaggedTensor):
            values = _engine.convert_to_tensor(values)
        if validate and hasattr(splits, "numpy") and not isinstance(splits, _engine.SymbolicTensor):
            numbers = splits.numpy().tolist()
            size = values.shape[0]
            if not numbers or numbers[0] != 0 or numbers != sorted(numbers):
                raise ValueError(f"row_splits must ascend from 0, got {numbers}.")
            if size is not None and numbers[-1] != size:
                raise ValueError(f"row_splits must end at the {size} values, got {numbers}.")
        return cls(values, splits, _private=True)

    @property
    def values(self) -> Any:
        """The rows one after the other: a tensor, or a RaggedTensor of one dimension less."""
        return self._values

    @property
    def flat_values(self) -> Any:
        """The innermost values, a tensor."""
        values = self._values
        while isinstance(values, RaggedTensor):
            values = values._values
        return values

    @property
    def row_splits(self) -> Any:
        """Where the rows are split, an integer vector."""
        return self._row_splits

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The row splits of all ragged dimensions, outer ones first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return (self._row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        """How many dimensions are cut by row splits."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self.flat_values.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape: ragged dimensions are None."""
        if self._static_shape is not None:
            return self._static_shape
        splits = self._row_splits.shape
        rows = None if splits.rank is None or splits[0] is None else splits[0] - 1
        inner = sizes_of(self._values.shape)
        return TensorShape(None if inner is None else [rows, None, *inner[1:]])

    @property
    def _type_spec(self) -> RaggedTensorSpec:
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self._row_splits.dtype)

    def __tf_tracing_type__(self, context: Any) -> RaggedTensorSpec:
        """Its type for the cache of a Function."""
        del context
        return self._type_spec

    def nrows(self, out_type: Any = None) -> Any:
        """Returns the number of rows, a scalar.

        Args:
          out_type: Its dtype; None means that of the row splits.
        """
        return ops.shape(self._row_splits, out_type=out_type or self._row_splits.dtype)[0] - 1

    def row_lengths(self, axis: int = 1) -> Any:
        """Returns the length of each row, a vector.

        Args:
          axis: Refused unless 1, the outermost ragged dimension.

        Raises:
          NotImplementedError: Another axis is asked for.
        """
        if axis != 1:
            raise unsupported("Graven has row_lengths of ragged tensors for axis=1 only")
        return self._row_splits[1:] - self._row_splits[:-1]

    def to_list(self) -> list[Any]:
        """Returns nested Python lists; eagerly only."""
        if isinstance(self._row_splits, _engine.SymbolicTensor):
            raise ValueError("RaggedTensor.to_list is only supported in eager mode.")
        values = self._values
        rows = values.to_list() if isinstance(values, RaggedTensor) else values.numpy().tolist()
        at = self._row_splits.numpy().tolist()
        return [rows[a:b] for a, b in itertools.pairwise(at)]

    def _array(self) -> Any:
        """The rows as an array: of arrays, unless all rows are of one length."""
        import numpy as np

        values = self._values._array() if isinstance(self._values, RaggedTensor) else None
        values = self._values.numpy() if values is None else values
        at = self._row_splits.numpy().tolist()
        rows = [values[a:b] for a, b in itertools.pairwise(at)]
        if len({len(row) for row in rows}) == 1:
            return np.stack(rows)
        array = np.empty(len(rows), object)
        for i, row in enumerate(rows):
            array[i] = row
        return array

    def __repr__(self) -> str:
        if isinstance(self._row_splits, _engine.SymbolicTensor):
            return f"tf.RaggedTensor(values={self._values!r}, row_splits={self._row_splits!r})"
        return f"<tf.RaggedTensor {_text(self._array())}>"


def _text(value: Any) -> str:
    """An array, or an element of one, in lines as NumPy makes them, with commas."""
    import numpy as np

    if not isinstance(value, np.ndarray):
        return str(value)
    if value.size == 0:
        return repr(value.tolist())
    return np.array2string(value, separator=", ", formatter={"all": _text})


def _depth(value: Any) -> int:
    """The depth of nested lists, at least what their empty ones need."""
    if not isinstance(value, list | tuple):
        return 0
    return 1 + max((_depth(item) for item in value), default=0)


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """Makes a RaggedTensor of nested lists.

    Args:
      pylist: Nested lists or tuples, whose leaves are all at one depth.
      dtype: The dtype of the values; found from the leaves by default.
      ragged_rank: How many dimensions are cut by row splits; all but the last by default.
      inner_shape: Refused unless None.
      name: Accepted; no op is made.
      row_splits_dtype: int64 or int32.

    Returns:
      A RaggedTensor; a tensor where there is nothing to split, as in a plain list.

    Raises:
      ValueError: The leaves are at different depths.

    Source: tf.ragged.constant.
    """
    del name
    if inner_shape is not None:
        raise unsupported("tf.ragged.constant does not take inner_shape in Graven yet")
    depth = _depth(pylist)
    if ragged_rank is None:
        ragged_rank = max(depth - 1, 0)
    elif ragged_rank >= max(depth, 1):
        raise ValueError(f"pylist has depth {depth}, too little for ragged_rank {ragged_rank}.")
    if ragged_rank == 0:
        return _engine.convert_to_tensor(pylist, dtype)
    level: list[Any] = list(pylist)
    all_splits: list[Any] = []
    for _ in range(ragged_rank):
        splits = [0]
        below: list[Any] = []
        for row in level:
            if not isinstance(row, list | tuple):
                raise ValueError(f"all scalar values must have the same nesting depth: {pylist}")
            below += row
            splits.append(len(below))
        all_splits.append(_engine.convert_to_tensor(splits, as_dtype(row_splits_dtype)))
        level = below
    if dtype is None and not level:
        dtype = "float32"
    values: Any = _engine.convert_to_tensor(level, None if dtype is None else as_dtype(dtype))
    for tensor in reversed(all_splits):
        values = RaggedTensor(values, tensor, _private=True)
    return values
