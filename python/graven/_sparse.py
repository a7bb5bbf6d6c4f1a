"""Sparse tensors: the places of the elements that are not zero, and their values."""

from __future__ import annotations

from typing import Any, NoReturn

from graven import _engine
from graven import _functions as ops
from graven._dtypes import as_dtype
from graven._scopes import name_scope
from graven._tensor_shape import TensorShape
from graven._type_spec import CompositeTensor, TypeSpec
from graven._unsupported import PublicObject, refused_operator, unsupported


class SparseTensorSpec(TypeSpec):
    """The type of a SparseTensor.

    Args:
      shape: The static shape of the whole.
      dtype: The dtype of the values.

    Source: tf.SparseTensorSpec.
    """

    def __init__(self, shape: Any = None, dtype: Any = "float32") -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self._dtype

    @property
    def rank(self) -> int | None:
        """The number of dimensions."""
        return self._shape.rank

    @property
    def value_type(self) -> type:
        """The class of the values of this type."""
        return SparseTensor

    def _serialize(self) -> tuple[Any, ...]:
        return (self._shape, self._dtype)

    @property
    def _component_specs(self) -> list[Any]:
        return [
            _engine.TensorSpec([None, self.rank], "int64"),
            _engine.TensorSpec([None], self._dtype),
            _engine.TensorSpec([self.rank], "int64"),
        ]

    def _to_components(self, value: SparseTensor) -> list[Any]:
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: list[Any]) -> SparseTensor:
        made = SparseTensor(*components)
        made._static_shape = self._shape
        return made

    def _ragged_ranks(self) -> None:
        raise unsupported(
            "Graven does not cut sparse tensors into rows yet, nor makes them of rows"
        )

    def _with_shape(self, shape: Any) -> SparseTensorSpec:
        # As tf.while_loop has it, the shape is that of dense_shape.
        if shape.rank not in (None, 1):
            raise ValueError(f"The invariant of a SparseTensor is a shape of rank 1, not {shape}.")
        rank = None if shape.rank is None else shape[0]
        return SparseTensorSpec(None if rank is None else [None] * rank, self._dtype)


# What programs do where an op or an operator takes no sparse tensors.
_INSTEAD = "compute with x.values and put the result back by x.with_values"


def _operator(symbol: str) -> Any:
    return refused_operator(symbol, "sparse tensors", _INSTEAD)


class SparseTensor(CompositeTensor, PublicObject):
    """A tensor given by the places and values of some elements; the others are zero.

    It goes in and out of Functions, and gives its parts. Ops on it as a whole are not there yet.
    `==` and hashes are those of the object, as in TensorFlow.

    Args:
      indices: Places, an int64 matrix of shape [n, rank].
      values: What stands there, a vector of n elements.
      dense_shape: The shape of the whole, an int64 vector of length rank.

    Raises:
      ValueError: A rank or a size does not fit.

    Source: tf.sparse.SparseTensor.
    """

    _is_native = True

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self._indices = _engine.convert_to_tensor(indices, "int64")
        self._values = _engine.convert_to_tensor(values)
        self._dense_shape = _engine.convert_to_tensor(dense_shape, "int64")
        self._static_shape: TensorShape | None = None
        parts = {
            "indices": (self._indices.shape, 2),
            "values": (self._values.shape, 1),
            "dense_shape": (self._dense_shape.shape, 1),
        }
        for name, (shape, rank) in parts.items():
            if shape.rank not in (rank, None):
                raise ValueError(f"Shape {shape} of {name} of a SparseTensor must have rank {rank}")
        places = TensorShape(self._indices.shape)
        wanted = self._values.shape.concatenate(self._dense_shape.shape)
        if not places.is_compatible_with(wanted):
            raise ValueError(
                f"Shape {places} of the indices of a SparseTensor must be [values, dimensions], "
                f"which is {wanted}"
            )

    @property
    def indices(self) -> Any:
        """The places, an int64 matrix with one row for each value."""
        return self._indices

    @property
    def values(self) -> Any:
        """What stands at the places, a vector."""
        return self._values

    @property
    def dense_shape(self) -> Any:
        """The shape of the whole, an int64 vector."""
        return self._dense_shape

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape of the whole."""
        if self._static_shape is not None:
            return self._static_shape
        if isinstance(self._dense_shape, _engine.SymbolicTensor):
            return _engine.known_sizes(self._dense_shape)
        sizes = self._dense_shape.numpy().tolist()
        return TensorShape([None if size == -1 else size for size in sizes])

    def get_shape(self) -> TensorShape:
        """Returns the static shape of the whole."""
        return self.shape

    def with_values(self, new_values: Any) -> SparseTensor:
        """Returns a SparseTensor with other values at the same places.

        Args:
          new_values: A vector of as many elements.
        """
        return SparseTensor(self._indices, new_values, self._dense_shape)

    @property
    def _type_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec(self.shape, self.dtype)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> NoReturn:
        """Refuses to be a tensor, as ops ask for that do not take it as it is."""
        raise ValueError(
            f"Attempt to convert a value ({self!r}) with an unsupported type ({type(self)}) to a "
            f"Tensor. Few functions of Graven take sparse tensors yet: {_INSTEAD}. See "
            "docs/errors/not-in-graven.md"
        )

    # Those that TensorFlow's have.
    __mul__ = _operator("*")
    __truediv__ = _operator("/")

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """Makes a SparseTensor of the elements of a tensor that are not zero.

    Args:
      tensor: Any dtype; the zero of strings is the empty one.
      name: A name for the ops.

    Returns:
      A SparseTensor whose places are in row-major order.

    Source: tf.sparse.from_dense.
    """
    with name_scope(name or "dense_to_sparse"):
        dense = _engine.convert_to_tensor(tensor)
        zero = _engine.constant("" if dense.dtype.name == "string" else 0, dense.dtype)
        indices = ops.where(ops.not_equal(dense, zero))
        return SparseTensor(
            indices, ops.gather_nd(dense, indices), ops.shape(dense, out_type="int64")
        )
