"""tf.IndexedSlices: some rows of a tensor, the others zero."""

from __future__ import annotations

from typing import Any

from graven import _engine, _public
from graven import _functions as ops
from graven._dtypes import as_dtype
from graven._tensor_shape import TensorShape
from graven._type_spec import CompositeTensor, TypeSpec
from graven._unsupported import PublicObject


class IndexedSlicesSpec(TypeSpec):
    """The type of IndexedSlices.

    Args:
      shape: The static shape of the whole.
      dtype: The dtype of the values.
      indices_dtype: int64 or int32.
      dense_shape_dtype: The dtype of the dense shape, None without one.
      indices_shape: The static shape of the indices, a vector.

    Source: tf.IndexedSlicesSpec.
    """

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = "float32",
        indices_dtype: Any = "int64",
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)
        self._indices_dtype = as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape([None] if indices_shape is None else indices_shape)

    @property
    def shape(self) -> TensorShape:
        """The static shape of the whole."""
        return self._shape

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self._dtype

    @property
    def value_type(self) -> type:
        """The class of the values of this type."""
        return IndexedSlices

    def _serialize(self) -> tuple[Any, ...]:
        return (
            self._shape,
            self._dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )

    @property
    def _component_specs(self) -> list[Any]:
        rows = self._indices_shape.as_list()
        rank = self._shape.rank
        values = None if rank is None else rows + self._shape.as_list()[1:]
        specs = [
            _engine.TensorSpec(values, self._dtype),
            _engine.TensorSpec(rows, self._indices_dtype),
        ]
        if self._dense_shape_dtype is not None:
            specs.append(_engine.TensorSpec([rank], self._dense_shape_dtype))
        return specs

    def _to_components(self, value: IndexedSlices) -> tuple[Any, ...]:
        dense = [] if self._dense_shape_dtype is None else [value.dense_shape]
        return (value.values, value.indices, *dense)

    def _from_components(self, components: list[Any]) -> IndexedSlices:
        return IndexedSlices(*components)

    def _with_shape(self, shape: Any) -> IndexedSlicesSpec:
        # As tf.while_loop has it, the shape is that of the values.
        return IndexedSlicesSpec(
            TensorShape([None]).concatenate(shape[1:]),
            self._dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            None if shape.rank is None else shape[:1],
        )

    def __repr__(self) -> str:
        return (
            f"IndexedSlicesSpec({self._shape!r}, {self._dtype!r}, {self._indices_dtype!r}, "
            f"{self._dense_shape_dtype!r}, {self._indices_shape!r})"
        )


class IndexedSlices(CompositeTensor, PublicObject):
    """Rows of a larger tensor; rows may repeat, then their values add up.

    Args:
      values: A tensor of shape [n, d1, ..., dk].
      indices: A tensor of shape [n], int32 or int64: which rows they are.
      dense_shape: The shape of the whole, an integer vector, or None.

    Source: tf.IndexedSlices.
    """

    _is_native = True

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Any:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Any:
        """Which rows they are."""
        return self._indices

    @property
    def dense_shape(self) -> Any:
        """The shape of the whole as a tensor, or None."""
        return self._dense_shape

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def name(self) -> str:
        """The name of the values."""
        return str(self._values.name)

    @property
    def op(self) -> Any:
        """The operation that makes the values."""
        return self._values.op

    @property
    def graph(self) -> Any:
        """The graph of the values."""
        return self._values.graph

    @property
    def device(self) -> str:
        """The device of the values."""
        return str(self._values.device)

    @property
    def shape(self) -> TensorShape:
        """The static shape of the whole."""
        if self._dense_shape is None:
            return TensorShape(None)
        if not hasattr(self._dense_shape, "numpy"):
            return TensorShape([None] * self._dense_shape.shape[0])
        return TensorShape([int(size) for size in self._dense_shape.numpy()])

    def _with_values(self, values: Any) -> IndexedSlices:
        """Returns the same rows of another tensor.

        Args:
          values: A tensor with a row for each of the indices.
        """
        return IndexedSlices(values, self._indices, self._dense_shape)

    @property
    def _type_spec(self) -> IndexedSlicesSpec:
        rows = self._indices.shape.merge_with(self._values.shape[:1])
        whole = TensorShape([None]).concatenate(self._values.shape[1:])
        if self._dense_shape is None:
            return IndexedSlicesSpec(whole, self.dtype, self._indices.dtype, None, rows)
        whole = whole.merge_with(self.shape)
        return IndexedSlicesSpec(
            whole, self.dtype, self._indices.dtype, self._dense_shape.dtype, rows
        )

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        """The whole as a dense tensor."""
        if self._dense_shape is None:
            raise ValueError(
                f"Tensor conversion requested for IndexedSlices without dense_shape: {self!r}"
            )
        if dtype is not None and dtype != self.dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype "
                f"{self.dtype.name}"
            )
        return ops.unsorted_segment_sum(
            self._values, self._indices, ops.gather(self._dense_shape, 0), name=name
        )

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self) -> str:
        dense = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{dense})"

    __repr__ = __str__


def dense_result(result: Any) -> Any:
    """Returns a function's result for one row, with a tensor in the place of slices of one.

    Args:
      result: Nested values.

    Raises:
      UnimplementedError: There is another composite of tensors, whose parts have no common shape in
        all rows.
    """
    from graven import errors, nest  # They need this module.

    def dense(leaf: Any) -> Any:
        if isinstance(leaf, IndexedSlices):
            return _engine.convert_to_tensor(leaf)
        if isinstance(leaf, CompositeTensor) and leaf._is_native:
            raise errors.UnimplementedError(
                None, None, f"fn may not return a {type(leaf).__name__}"
            )
        return leaf

    return nest.map_structure(dense, result)


def _dispatch(name: str, parameter: str) -> None:
    """Lets a function of tensors go to the values of slices."""

    def on_slices(**arguments: Any) -> IndexedSlices:
        slices = arguments.pop(parameter)
        return slices._with_values(  # type: ignore[no-any-return]
            _public.function(name)(**{parameter: slices.values}, **arguments)
        )

    _engine.dispatch(name, IndexedSlices, on_slices)


for _name, _parameter in (
    ("cast", "x"),
    ("clip_by_norm", "t"),
    ("clip_by_value", "t"),
    ("identity", "input"),
    ("scalar_mul", "x"),
    ("stop_gradient", "input"),
):
    _dispatch(_name, _parameter)


def _values_of(t_list: Any) -> list[Any]:
    return [t.values if isinstance(t, IndexedSlices) else t for t in t_list]


def _global_norm(t_list: Any, **arguments: Any) -> Any:
    return _public.function("linalg.global_norm")(_values_of(t_list), **arguments)


def _clip_by_global_norm(t_list: Any, **arguments: Any) -> Any:
    clipped, norm = _public.function("clip_by_global_norm")(_values_of(t_list), **arguments)
    pairs = zip(t_list, clipped, strict=True)
    return [t._with_values(c) if isinstance(t, IndexedSlices) else c for t, c in pairs], norm


_engine.dispatch("linalg.global_norm", IndexedSlices, _global_norm)
_engine.dispatch("clip_by_global_norm", IndexedSlices, _clip_by_global_norm)
