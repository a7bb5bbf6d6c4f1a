"""tf.IndexedSlices: some rows of a tensor, the others zero."""

from __future__ import annotations

from typing import Any


class IndexedSlices:
    """Rows of a larger tensor; rows may repeat, then their values add up.

    Args:
      values: A tensor of shape [n, d1, ..., dk].
      indices: A tensor of shape [n], int32 or int64: which rows they are.
      dense_shape: The shape of the whole, an integer vector, or None.

    Source: tf.IndexedSlices.
    """

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
    def shape(self) -> Any:
        """The static shape of the whole."""
        from graven import TensorShape

        if self._dense_shape is None:
            return TensorShape(None)
        if not hasattr(self._dense_shape, "numpy"):
            return TensorShape([None] * self._dense_shape.shape[0])
        return TensorShape([int(size) for size in self._dense_shape.numpy()])

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        """The whole as a dense tensor."""
        import graven

        if self._dense_shape is None:
            raise ValueError(
                f"Tensor conversion requested for IndexedSlices without dense_shape: {self!r}"
            )
        if dtype is not None and dtype != self.dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype "
                f"{self.dtype.name}"
            )
        return graven.math.unsorted_segment_sum(
            self._values, self._indices, graven.gather(self._dense_shape, 0), name=name
        )

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self) -> str:
        dense = "" if self._dense_shape is None else f", dense_shape={self._dense_shape}"
        return f"IndexedSlices(indices={self._indices}, values={self._values}{dense})"

    __repr__ = __str__
