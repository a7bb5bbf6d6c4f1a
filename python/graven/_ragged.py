"""Ragged tensors: rows of different lengths, as flat values and the places where rows are split."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from graven import _engine
from graven import _functions as ops
from graven import _row_splits as row_splits_of
from graven._dtypes import as_dtype
from graven._ragged_operators import RefusedOperators
from graven._scopes import name_scope
from graven._sparse import SparseTensor
from graven._tensor_shape import TensorShape
from graven._type_spec import CompositeTensor, TypeSpec
from graven._unsupported import PublicObject, unsupported
from graven.errors import InvalidArgumentError, OperatorNotAllowedInGraphError


class RaggedTensorSpec(TypeSpec):
    """The type of a RaggedTensor.

    Args:
      shape: The static shape: ragged dimensions, and those outside them, may be None.
      dtype: The dtype of the values.
      ragged_rank: How many dimensions are cut by row splits; rank - 1 by default. At 0 it is the
        type of tensors: rows of a RaggedTensor of ragged_rank 1, whose lengths may differ.
      row_splits_dtype: int64 or int32.

    Raises:
      TypeError: ragged_rank is no int.
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
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)
        self._row_splits_dtype = as_dtype(row_splits_dtype)
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
        if rank is not None and ragged_rank >= rank:
            raise ValueError(
                f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank})."
            )
        self._ragged_rank = ragged_rank

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
        return RaggedTensor if self._ragged_rank > 0 else _engine.Tensor

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self._dtype

    def _serialize(self) -> tuple[Any, ...]:
        return (self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype)

    @property
    def _component_specs(self) -> list[Any]:
        """The specs of the flat values and of the row splits, outer ones first."""
        if self._ragged_rank <= 0:
            return [self._row_spec]
        sizes = _sizes_of(self._shape)
        inner = None if sizes is None else [None, *sizes[self._ragged_rank + 1 :]]
        rows = None if sizes is None or sizes[0] is None else sizes[0] + 1
        splits = [rows] + [None] * (self._ragged_rank - 1)
        return [
            _engine.TensorSpec(inner, self._dtype),
            *(_engine.TensorSpec([n], self._row_splits_dtype) for n in splits),
        ]

    @property
    def _row_spec(self) -> Any:
        """The type of the values, where they are tensors."""
        return _engine.TensorSpec(self._shape, self._dtype)

    def _to_components(self, value: Any) -> list[Any]:
        if self._ragged_rank <= 0:
            return [value]
        return [value.flat_values, *value.nested_row_splits]

    def _from_components(self, components: list[Any]) -> Any:
        values, *all_splits = components
        for splits in reversed(all_splits):
            values = RaggedTensor(values, splits, _private=True)
        if all_splits and self._shape.rank is not None:
            shape = self._shape
            if isinstance(all_splits[0], _engine.EagerTensor) and values.shape.is_compatible_with(
                shape
            ):
                shape = values.shape.merge_with(shape)
            values._static_shape = shape
        return values

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Tells whether a value, or every value of a spec, may be of this type.

        Args:
          spec_or_value: A RaggedTensor, a tensor where ragged_rank is 0, or a spec.
        """
        if self._ragged_rank <= 0 and isinstance(
            spec_or_value, _engine.Tensor | _engine.TensorSpec
        ):
            return bool(self._row_spec.is_compatible_with(spec_or_value))
        return super().is_compatible_with(spec_or_value)

    def _ragged_ranks(self) -> tuple[int, ...]:
        return (max(self._ragged_rank, 0),)

    def _batch(self, batch_size: int | None) -> RaggedTensorSpec:
        shape = TensorShape([batch_size]).concatenate(self._shape)
        return RaggedTensorSpec(shape, self._dtype, self._ragged_rank + 1, self._row_splits_dtype)

    def _unbatch(self) -> RaggedTensorSpec:
        shape, rank = self._shape[1:], self._ragged_rank - 1
        return RaggedTensorSpec(shape, self._dtype, rank, self._row_splits_dtype)

    def _with_shape(self, shape: Any) -> RaggedTensorSpec:
        return RaggedTensorSpec(shape, self._dtype, self._ragged_rank, self._row_splits_dtype)

    def __repr__(self) -> str:
        return (
            f"RaggedTensorSpec({self._shape!r}, {self._dtype!r}, {self._ragged_rank}, "
            f"{self._row_splits_dtype!r})"
        )


class RaggedTensor(RefusedOperators, CompositeTensor, PublicObject):
    """A tensor whose rows differ in length; made by tf.ragged.constant or from_row_splits.

    It goes in and out of Functions and loops, gives its parts and its rows, by number (`x[0]`) and
    in a `for`, and tf.map_fn calls a function for each of them. tf.concat, tf.stack, tf.size and
    tf.rank take it; other ops on it as a whole, and operators, are not there yet.

    Source: tf.RaggedTensor.
    """

    _is_native = True

    def __init__(self, values: Any, row_splits: Any, *, _private: bool = False) -> None:
        if not _private:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods "
                "instead (e.g., RaggedTensor.from_row_splits())"
            )
        self._values = values
        self._row_splits = row_splits
        self._static_shape: TensorShape | None = None
        self._uniform_row_length: Any = None

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Makes one from values, whose row i is values[row_splits[i]:row_splits[i + 1]].

        Args:
          values: A tensor or RaggedTensor of at least one dimension.
          row_splits: A vector of int32 or int64, ascending from 0 to the number of values.
          name: The scope of the nodes.
          validate: Whether row_splits is checked.

        Returns:
          A RaggedTensor of the values' dtype, with one ragged dimension more.

        Raises:
          ValueError: The row splits are no vector of integers, or empty.
          InvalidArgumentError: They do not fit the values; in a Function when it runs.

        Source: tf.RaggedTensor.from_row_splits, as the methods below.
        """
        with name_scope(name or "RaggedFromRowSplits"):
            splits = row_splits_of.partition(row_splits, "row_splits")
            if splits.shape == [0]:
                raise ValueError("row_splits tensor may not be empty.")
            if validate:
                row_splits_of.check_ascending(splits, "from_row_splits")
            return cls._checked(values, splits, "from_row_splits", validate)

    @classmethod
    def _checked(cls, values: Any, splits: Any, source: str, validate: bool) -> RaggedTensor:
        """One of row splits that go up from 0: whether they end at the last value is checked."""
        if not isinstance(values, RaggedTensor):
            values = _engine.convert_to_tensor(values)
        if values.shape.rank == 0:
            raise ValueError(f"values must have at least one dimension, got shape {values.shape}.")
        if validate:
            row_splits_of.check_end(splits, _size(values, splits.dtype), source)
        return cls(values, splits, _private=True)

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Makes one from values and the length of each row.

        Args:
          values: A tensor or RaggedTensor of at least one dimension.
          row_lengths: A vector of int32 or int64, not negative; its sum is the number of values.
          name: The scope of the nodes.
          validate: Whether row_lengths is checked.

        Returns:
          A RaggedTensor of the values' dtype, with one ragged dimension more.

        Raises:
          ValueError: The lengths are no vector of integers.
          InvalidArgumentError: They do not fit the values; in a Function when it runs.
        """
        with name_scope(name or "RaggedFromRowLengths"):
            lengths = row_splits_of.partition(row_lengths, "row_lengths")
            splits = row_splits_of.of_lengths(lengths)
            if validate:
                row_splits_of.check_ascending(splits, "from_row_lengths")
            return cls._checked(values, splits, "from_row_lengths", validate)

    @classmethod
    def from_value_rowids(
        cls,
        values: Any,
        value_rowids: Any,
        nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Makes one from values and the row that each lies in.

        Args:
          values: A tensor or RaggedTensor of at least one dimension.
          value_rowids: A vector of int32 or int64 that does not descend, one for each value.
          nrows: The number of rows; None means up to the last row that has a value.
          name: The scope of the nodes.
          validate: Whether value_rowids is checked.

        Returns:
          A RaggedTensor of the values' dtype, with one ragged dimension more.

        Raises:
          ValueError: The rows are no vector of integers, or known not to fit.
          InvalidArgumentError: They do not fit the values; in a Function when it runs.
        """
        with name_scope(name or "RaggedFromValueRowIds"):
            rows = row_splits_of.partition(value_rowids, "value_rowids")
            if not isinstance(values, RaggedTensor):
                values = _engine.convert_to_tensor(values)
            values.shape[:1].assert_is_compatible_with(rows.shape)
            if nrows is None:
                padded = ops.concat([_engine.constant([-1], rows.dtype), rows], axis=0)
                nrows = padded[-1] + 1
            else:
                nrows = _engine.convert_to_tensor(nrows, rows.dtype)
                known = _known(nrows)
                if known is not None and known < 0:
                    raise ValueError(f"Expected nrows >= 0; got {known}")
                last = None if rows.shape == [0] else _known(rows[-1])
                if validate and known is not None and last is not None and known <= last:
                    raise ValueError(
                        f"Expected nrows >= value_rowids[-1] + 1; got nrows={known}, "
                        f"value_rowids[-1]={last}"
                    )
                if validate:
                    ops.assert_non_negative(nrows, message="Expected nrows >= 0")
                    ops.assert_less(rows, nrows, message="Expected nrows >= value_rowids[-1] + 1")
            if validate:
                row_splits_of.check_row_numbers(rows, "from_value_rowids")
            splits = row_splits_of.of_row_numbers(rows, nrows)
            return cls._checked(values, splits, "from_value_rowids", validate)

    @classmethod
    def from_uniform_row_length(
        cls,
        values: Any,
        uniform_row_length: Any,
        nrows: Any = None,
        validate: bool = True,
        name: str | None = None,
    ) -> RaggedTensor:
        """Makes one whose rows are of one length.

        Args:
          values: A tensor or RaggedTensor of at least one dimension.
          uniform_row_length: A scalar integer, not negative.
          nrows: The number of rows; None means as many as the values fill, 0 for a length of 0.
          validate: Whether the values fill the rows is checked.
          name: The scope of the nodes.

        Returns:
          A RaggedTensor of the values' dtype; its second dimension has the length, if it is known.

        Raises:
          ValueError: The length is negative, or the values are known not to fill the rows.
          InvalidArgumentError: The values do not fill the rows; in a Function when it runs.
        """
        with name_scope(name or "RaggedFromUniformRowLength"):
            if isinstance(uniform_row_length, int) and uniform_row_length < 0:
                raise ValueError(f"uniform_row_length must be >= 0, got {uniform_row_length}.")
            if not isinstance(values, RaggedTensor):
                values = _engine.convert_to_tensor(values)
            narrow = getattr(getattr(uniform_row_length, "dtype", None), "name", "") == "int32"
            dtype = "int32" if narrow else "int64"
            length = _engine.convert_to_tensor(uniform_row_length, dtype)
            if validate:
                ops.assert_non_negative(length, message="uniform_row_length must be >= 0")
            if nrows is None:
                nrows = _size(values, dtype) // ops.maximum(length, 1)
            else:
                nrows = _engine.convert_to_tensor(nrows, dtype)
            each, rows, nvals = (_known(n) for n in (length, nrows, _size(values, dtype)))
            if validate and None not in (each, rows, nvals) and (each or 0) * (rows or 0) != nvals:
                raise ValueError(
                    f"uniform_row_length={each} times nrows={rows} must equal nvals={nvals}"
                )
            splits = row_splits_of.of_uniform_length(length, nrows)
            made = cls._checked(values, splits, "from_uniform_row_length", validate)
            made._uniform_row_length = length
            if each is not None and made.shape.rank is not None:
                made._static_shape = TensorShape([made.shape[0], each, *made.shape[2:]])
            return made

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: Any,
        nested_row_splits: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Makes one of several ragged dimensions.

        Args:
          flat_values: The innermost values, a tensor.
          nested_row_splits: A list of row splits, outer ones first.
          name: The scope of the nodes.
          validate: Whether the row splits are checked.

        Returns:
          A RaggedTensor with a ragged dimension for each item of the list.

        Raises:
          TypeError: nested_row_splits is a single tensor.
          InvalidArgumentError: They do not fit; in a Function when it runs.
        """
        return cls._nested(cls.from_row_splits, flat_values, nested_row_splits, name, validate)

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: Any,
        nested_row_lengths: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Makes one of several ragged dimensions.

        Args:
          flat_values: The innermost values, a tensor.
          nested_row_lengths: A list of row lengths, those of outer rows first.
          name: The scope of the nodes.
          validate: Whether the row lengths are checked.

        Returns:
          A RaggedTensor with a ragged dimension for each item of the list.

        Raises:
          TypeError: nested_row_lengths is a single tensor.
          InvalidArgumentError: They do not fit; in a Function when it runs.
        """
        return cls._nested(cls.from_row_lengths, flat_values, nested_row_lengths, name, validate)

    @staticmethod
    def _nested(
        make: Any, values: Any, levels: Any, name: str | None, validate: bool
    ) -> RaggedTensor:
        if isinstance(levels, _engine.Tensor):
            what = make.__name__.replace("from_", "nested_")
            raise TypeError(f"Argument `{what}` must be a list of Tensors. Received {levels}.")
        with name_scope(name or "RaggedFromNested"):
            for level in reversed(levels):
                values = make(values, level, validate=validate)
            made: RaggedTensor = values
            return made

    @classmethod
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: Any = "int64",
    ) -> RaggedTensor:
        """Makes one of a tensor, whose rows may end early.

        Args:
          tensor: A tensor of more than ragged_rank dimensions.
          lengths: Where rows end: a vector for the second dimension, or a list of vectors, for
            one dimension after the other; of integers.
          padding: The value that fills rows up at their ends; its shape is that of
            tensor[0, ..., 0] behind the ragged dimensions.
          ragged_rank: How many dimensions are cut by row splits.
          name: The scope of the nodes.
          row_splits_dtype: int64 or int32.

        Returns:
          A RaggedTensor of the tensor's rank and dtype.

        Raises:
          ValueError: The tensor has too few dimensions, or both lengths and padding are given.
        """
        with name_scope(name or "RaggedFromTensor"):
            if lengths is not None and padding is not None:
                raise ValueError("Specify argument `lengths` or `padding`, but not both.")
            tensor = _engine.convert_to_tensor(tensor)
            dtype = as_dtype(row_splits_dtype)
            if tensor.shape.rank is not None and tensor.shape.rank <= ragged_rank:
                raise ValueError(
                    "The rank of a RaggedTensor must be greater than ragged_rank "
                    f"({ragged_rank}). Received argument `tensor` with rank {tensor.shape.rank}."
                )
            if isinstance(lengths, list | tuple) and lengths and not isinstance(lengths[0], int):
                cut = cls.from_tensor(tensor, lengths[0], row_splits_dtype=dtype)
                if lengths[1:]:
                    inner = cls.from_tensor(cut.values, lengths[1:], row_splits_dtype=dtype)
                    cut = cls(inner, cut.row_splits, _private=True)
                return cut
            sizes = ops.shape(tensor, out_type=dtype)
            merged = ops.concat([[ops.reduce_prod(sizes[:ragged_rank])], sizes[ragged_rank:]], 0)
            flat = tensor if ragged_rank == 1 else ops.reshape(tensor, merged)
            made = cls._cut_rows(flat, lengths, padding, merged, dtype)
            for axis in range(ragged_rank - 1, 0, -1):
                rows = ops.reduce_prod(sizes[:axis])
                made = cls.from_uniform_row_length(made, _known_or(tensor, axis, sizes), rows)
            return made

    @classmethod
    def _cut_rows(cls, x: Any, lengths: Any, padding: Any, sizes: Any, dtype: Any) -> RaggedTensor:
        """Cuts the second dimension of x, at lengths or before padding, if either is given."""
        rows, columns = sizes[0], sizes[1]
        if padding is not None:
            padding = _engine.convert_to_tensor(padding, x.dtype)
            rank = x.shape.rank if padding.shape.rank is None else padding.shape.rank + 2
            filled = ops.not_equal(x, padding)
            filled = ops.reduce_any(filled, axis=list(range(2, rank)))
            ends = ops.where(filled, ops.range(columns) + 1, _engine.constant(0, dtype))
            lengths = ops.maximum(ops.reduce_max(ends, axis=1), _engine.constant(0, dtype))
        elif lengths is None:
            flat = ops.reshape(x, ops.concat([[rows * columns], sizes[2:]], axis=0))
            num_rows = _known_or(x, 0, sizes)
            return cls.from_uniform_row_length(flat, _known_or(x, 1, sizes), num_rows)
        lengths = ops.cast(row_splits_of.partition(lengths, "lengths"), dtype)
        lengths = ops.maximum(ops.minimum(lengths, columns), _engine.constant(0, dtype))
        values = ops.boolean_mask(x, ops.sequence_mask(lengths, columns))
        return cls.from_row_lengths(values, lengths, validate=False)

    @classmethod
    def from_sparse(
        cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = "int64"
    ) -> RaggedTensor:
        """Makes one of a sparse matrix, in each row of which the first elements are given.

        Args:
          st_input: A SparseTensor of rank 2, whose indices ascend and leave no gap in a row.
          name: The scope of the nodes.
          row_splits_dtype: int64 or int32.

        Returns:
          A RaggedTensor of its values.

        Raises:
          TypeError: It is no SparseTensor.
          ValueError: It has another rank, or a rank that is not known.
          InvalidArgumentError: A row has a gap; in a Function when it runs.
        """
        if not isinstance(st_input, SparseTensor):
            raise TypeError(f"Argument `st_input` must be a SparseTensor, got {st_input!r}.")
        if st_input.shape.rank != 2:
            raise ValueError(f"rank(st_input) must be 2, got shape {st_input.shape}.")
        with name_scope(name or "RaggedFromSparse"):
            rows, columns = st_input.indices[:, 0], st_input.indices[:, 1]
            dtype = as_dtype(row_splits_dtype)
            made = cls.from_value_rowids(
                st_input.values, ops.cast(rows, dtype), ops.cast(st_input.dense_shape[0], dtype)
            )
            first = ops.gather(ops.cast(made.row_splits, "int64"), rows)
            ops.assert_equal(
                ops.range(_size(st_input.values, "int64")) - first,
                columns,
                message="SparseTensor is not right-ragged",
            )
            return made

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
        inner = _sizes_of(self._values.shape)
        return TensorShape(None if inner is None else [rows, None, *inner[1:]])

    @property
    def _type_spec(self) -> RaggedTensorSpec:
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self._row_splits.dtype)

    def _with_static_shape(self, shape: Any) -> RaggedTensor:
        """The same, of which more of the shape is known."""
        made = RaggedTensor(self._values, self._row_splits, _private=True)
        made._static_shape = TensorShape(shape)
        return made

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Returns rows of the same lengths with other values.

        Args:
          new_values: As many as `values`, a tensor or a RaggedTensor.

        Raises:
          ValueError: They have no dimension, or are known to be of another number.
        """
        if not isinstance(new_values, RaggedTensor):
            new_values = _engine.convert_to_tensor(new_values)
        new_values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(new_values.shape[:1])
        return RaggedTensor(new_values, self._row_splits, _private=True)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Returns the same with other innermost values.

        Args:
          new_values: As many as `flat_values`.

        Raises:
          ValueError: They have no dimension, or are known to be of another number.
        """
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

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

    def row_starts(self) -> Any:
        """Returns where each row begins, a vector."""
        return self._row_splits[:-1]

    def row_limits(self) -> Any:
        """Returns where each row ends, a vector."""
        return self._row_splits[1:]

    def value_rowids(self) -> Any:
        """Returns the row that each value lies in, a vector."""
        rows = ops.range(self.nrows())
        return ops.repeat(rows, self.row_lengths())

    def nested_row_lengths(self) -> tuple[Any, ...]:
        """Returns the lengths of rows of all ragged dimensions, those of outer ones first."""
        return tuple(splits[1:] - splits[:-1] for splits in self.nested_row_splits)

    @property
    def uniform_row_length(self) -> Any:
        """The length of all rows, a scalar, where they were made with one; else None."""
        return self._uniform_row_length

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

    def __getitem__(self, key: Any) -> Any:
        """Returns a row, or what further keys select of it.

        Args:
          key: The number of the row, an integer or an integer scalar; negative ones count from the
            end. In a list or tuple, keys behind it are for the row.

        Raises:
          IndexError: There is no such row. In a Function it is a ValueError, or an
            InvalidArgumentError when it runs, as for tensors.
          NotImplementedError: Several rows are asked for.
        """
        keys = tuple(key) if isinstance(key, list | tuple) else (key,)
        number = keys[0] if keys else ...
        if number is None or number is ... or isinstance(number, slice):
            raise unsupported(
                "Graven does not have slices of ragged tensors yet, only single rows: "
                f"got [{', '.join(map(str, keys))}]"
            )
        with name_scope("RaggedGetItem"):
            try:
                start, end = self.row_starts()[number], self.row_limits()[number]
            except InvalidArgumentError:
                raise IndexError(f"Row key {number} out of bounds") from None
            row = _between(self._values, start, end)
            return row[keys[1:]] if keys[1:] else row

    def _row(self, number: Any) -> Any:
        """Returns a row: a tensor, or a RaggedTensor of one dimension less.

        Args:
          number: An integer or an integer scalar, from 0 to the number of rows.
        """
        return _between(self._values, self._row_splits[number], self._row_splits[number + 1])

    def __iter__(self) -> Iterator[Any]:
        """The rows; only where they have values. AutoGraph makes loops over them."""
        if isinstance(self._row_splits, _engine.SymbolicTensor):
            raise OperatorNotAllowedInGraphError(
                "Iterating over a symbolic `tf.RaggedTensor` is not allowed: its number of rows is "
                "not known while a function is traced, and AutoGraph does not convert this place: "
                "a function with autograph=False or do_not_convert, a comprehension, code of a "
                "library. Write a `for` in a function that is converted, or use tf.map_fn. See "
                "docs/errors/symbolic-tensor.md"
            )
        at = self._row_splits.numpy().tolist()
        return (_between(self._values, start, end) for start, end in itertools.pairwise(at))

    def __repr__(self) -> str:
        if isinstance(self._row_splits, _engine.SymbolicTensor):
            return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"
        return f"<tf.RaggedTensor {_text(self._array())}>"


def _between(values: Any, start: Any, end: Any) -> Any:
    """The values from a number to another, of a tensor or a RaggedTensor."""
    if not isinstance(values, RaggedTensor):
        return values[start:end]
    splits = values.row_splits[start : end + 1]
    inner = _between(values.values, splits[0], splits[-1])
    return RaggedTensor.from_row_splits(inner, ops.subtract(splits, splits[0]), validate=False)


def _sizes_of(shape: TensorShape) -> list[int | None] | None:
    """The sizes of a static shape, None where unknown; None for an unknown rank."""
    return None if shape.rank is None else shape.as_list()


def _size(values: Any, dtype: Any) -> Any:
    """The number of values, or of rows of a RaggedTensor, of a dtype."""
    if isinstance(values, RaggedTensor):
        return ops.cast(values.nrows(), dtype)
    return ops.cast(ops.shape(values, out_type="int64")[0], dtype)


def _known(number: Any) -> int | None:
    """The value of a scalar, if it is known while a graph is built."""
    return int(number) if isinstance(number, _engine.EagerTensor) else None


def _known_or(tensor: Any, axis: int, sizes: Any) -> Any:
    """The size of an axis: of sizes, which are run-time values, unless it is known."""
    known = None if tensor.shape.rank is None else tensor.shape[axis]
    return sizes[axis] if known is None else _engine.constant(known, sizes.dtype)


def _text(value: Any) -> str:
    """An array, or an element of one, in lines as NumPy makes them, with commas."""
    import numpy as np

    if not isinstance(value, np.ndarray):
        return str(value)
    if value.size == 0:
        return repr(value.tolist())
    return np.array2string(value, separator=", ", formatter={"all": _text})
