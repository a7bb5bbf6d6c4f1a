"""tf.TensorArray: tensors by their numbers, a mutable list eagerly, a value in graphs."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Sequence
from typing import Any, Final

from graven import _engine, _public, errors
from graven import _functions as ops
from graven._dtypes import as_dtype
from graven._logging import get_logger
from graven._scopes import name_scope
from graven._static_value import get_static_value, static_scalar
from graven._tensor_shape import TensorShape
from graven._type_spec import CompositeTensor, TypeSpec

_NO_SCOPE: Final[Any] = contextlib.nullcontext()
_CLEARED: Final = "cleared"  # read once, and not kept
_IN_FLOW: Final = "in flow"  # to be read from the list of tensors that the array was made of


def _on_list(op: str, *arguments: Any, **attributes: Any) -> Any:
    """Applies an op on lists of tensors, such as "Stack"."""
    return _public.function(f"raw_ops.TensorList{op}")(*arguments, **attributes)


def _open_shape(shape: TensorShape) -> Any:
    """A shape as the ops on lists take it."""
    if shape.rank is None:
        return -1
    sizes = [-1 if size is None else size for size in shape.as_list()]
    return _engine.constant(sizes, "int32", [len(sizes)])


def _static_int(value: Any) -> int | None:
    known = static_scalar(value)
    return None if known is None else int(known)


class TensorArraySpec(TypeSpec):
    """The type of a TensorArray; its one component is the flow, a list of tensors in a variant.

    Args:
      element_shape: The static shape of the elements.
      dtype: Their dtype.
      dynamic_size: Whether a write past the end makes the array longer.
      infer_shape: Whether all elements have one shape.

    Source: tf.TensorArraySpec.
    """

    def __init__(
        self,
        element_shape: Any = None,
        dtype: Any = "float32",
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ) -> None:
        self._element_shape = TensorShape(element_shape)
        self._dtype = as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape

    @staticmethod
    def from_value(value: TensorArray) -> TensorArraySpec:
        """Returns the type of an array.

        Args:
          value: A TensorArray.

        Raises:
          TypeError: It is none.
        """
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but got: {type(value)}.")
        return value._type_spec

    @property
    def value_type(self) -> type:
        """The class of the values of this type."""
        return TensorArray

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_shape, self._dtype, self._dynamic_size, self._infer_shape)

    @property
    def _component_specs(self) -> list[Any]:
        return [_engine.TensorSpec([], "variant")]

    def _to_components(self, value: TensorArray) -> list[Any]:
        return [value.flow]

    def _from_components(self, components: list[Any]) -> TensorArray:
        return TensorArray(
            self._dtype,
            flow=components[0],
            dynamic_size=self._dynamic_size,
            clear_after_read=False,
            infer_shape=self._infer_shape,
            element_shape=self._element_shape,
        )


class _Elements:
    """What the two kinds of arrays share: the dtype of elements and their shape.

    Attributes:
      dtype: The dtype of the elements.
      shape: Their static shape, which follows from writes if it is inferred.
      infer_shape: Whether it is.
      is_dynamic: Whether a write past the end makes the array longer.
    """

    def __init__(self, dtype: Any, shape: Any, infer_shape: bool, is_dynamic: bool) -> None:
        self.dtype = as_dtype(dtype)
        self.shape = TensorShape(shape)
        self.infer_shape = infer_shape
        self.is_dynamic = is_dynamic

    def tensor(self, value: Any) -> Any:
        """A value as a tensor, numbers and strings in the dtype of the elements."""
        return _engine.convert_to_tensor(value, dtype_hint=self.dtype)

    def learn_shape(self, shape: TensorShape) -> None:
        """Takes the shape of an element that was written into account."""
        if self.infer_shape:
            self.shape = self.shape.merge_with(shape)


class _EagerElements(_Elements):
    """A Python list of tensors, which writes change.

    Args:
      kind: The dtype, shape and options.
      size: The number of elements, or None if there is a flow.
      clears: Whether an element is dropped when it is read.
      flow: A list of tensors in a variant, whose elements are read when they are needed.
    """

    def __init__(self, kind: tuple[Any, ...], size: Any, clears: bool, flow: Any) -> None:
        super().__init__(*kind)
        self._clears = clears
        self._flow = flow
        if flow is None:
            self._items: list[Any] = [None] * int(size)
        else:
            self._items = [_IN_FLOW] * int(_on_list("Length", flow))

    @property
    def flow(self) -> Any:
        """The elements as a list of tensors in a variant; those not written, or cleared, unset."""
        shape = _open_shape(self.shape)
        values = [self._value(i) for i in range(len(self._items))]
        written = [i for i, value in enumerate(values) if not (value is None or value is _CLEARED)]
        if values and len(written) == len(values) and self.shape.is_fully_defined():
            return _on_list("FromTensor", ops.stack(values), shape)
        handle = _on_list("Reserve", shape, len(values), element_dtype=self.dtype)
        for i in written:
            handle = _on_list("SetItem", handle, i, values[i])
        return handle

    def _value(self, i: int) -> Any:
        if self._items[i] is _IN_FLOW:
            shape = _open_shape(self.shape)
            self._items[i] = _on_list("GetItem", self._flow, i, shape, element_dtype=self.dtype)
        return self._items[i]

    def _written_or_zeros(self, i: int) -> Any:
        if self._value(i) is _CLEARED:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Could not read index {i} twice: its first read cleared it (perhaps try setting "
                f"clear_after_read=False?)",
            )
        if self._items[i] is None:
            if not self.shape.is_fully_defined():
                raise ValueError(
                    f"Element {i} was never written, and cannot be read as zeros: the shape of "
                    f"the elements, {self.shape}, is not fully known"
                )
            self._items[i] = ops.zeros(self.shape, self.dtype)
        return self._items[i]

    def size(self) -> Any:
        return _engine.constant(len(self._items), "int32")

    def identity(self) -> _EagerElements:
        return self

    def read(self, index: Any) -> Any:
        i = _index(index)
        if i < 0:
            raise errors.OutOfRangeError(
                None, None, f"Reading from negative indices (index {i}) is not allowed."
            )
        if i >= len(self._items):
            raise errors.OutOfRangeError(
                None, None, f"Tried to read from index {i} but array size is: {len(self._items)}"
            )
        value = self._written_or_zeros(i)
        if self._clears:
            self._items[i] = _CLEARED
        return value

    def write(self, index: Any, value: Any) -> _EagerElements:
        i = _index(index)
        if i < 0:
            raise errors.OutOfRangeError(
                None, None, f"Writing to negative indices (index {i}) is not allowed."
            )
        size = len(self._items)
        if i >= size:
            if not self.is_dynamic:
                raise errors.OutOfRangeError(
                    None,
                    None,
                    f"Tried to write to index {i} but array is not resizeable and size is: {size}",
                )
            self._items += [None] * (i + 1 - size)
        value = self.tensor(value)
        self._check_dtype(value)
        if value.shape != self.shape:  # quicker than what follows
            if not self.shape.is_compatible_with(value.shape):
                raise ValueError(
                    f"Incompatible shape for value ({value.shape}), expected ({self.shape})"
                )
            self.learn_shape(value.shape)
        self._items[i] = value
        return self

    def _check_dtype(self, value: Any) -> None:
        if value.dtype != self.dtype:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"TensorArray dtype is {self.dtype.name} but Op is trying to write dtype "
                f"{value.dtype.name}",
            )

    def _all(self) -> list[Any]:
        return [self._written_or_zeros(i) for i in range(len(self._items))]

    def stack(self) -> Any:
        if not self._items and self.shape.is_fully_defined():
            return ops.zeros([0, *self.shape.as_list()], self.dtype)
        return ops.stack(self._all())

    def gather(self, indices: Any) -> Any:
        chosen = _indices(indices)
        size = len(self._items)
        if any(i not in range(-size, size) for i in chosen):
            raise IndexError(f"indices {chosen} of an array of size {size}")
        return ops.stack([self._written_or_zeros(i % size) for i in chosen])

    def concat(self) -> Any:
        items = self._all()
        if any(item.shape.rank == 0 for item in items):
            raise errors.InvalidArgumentError(
                None, None, "Tried to concat scalar elements: they must be vectors at least"
            )
        return ops.concat(items, 0)

    def unstack(self, value: Any) -> _EagerElements:
        items = ops.unstack(self.tensor(value))
        if len(items) > len(self._items) and not self.is_dynamic:
            raise ValueError(
                f"Cannot unstack {len(items)} tensors into a TensorArray of static size "
                f"{len(self._items)}"
            )
        self._items = [None] * len(items)
        return self._write_all(range(len(items)), items)

    def scatter(self, indices: Any, value: Any) -> _EagerElements:
        return self._write_all(_indices(indices), ops.unstack(self.tensor(value)))

    def _write_all(self, indices: Sequence[int], items: list[Any]) -> _EagerElements:
        for i, item in zip(indices, items, strict=False):
            self.write(i, item)
        return self

    def split(self, value: Any, lengths: Any) -> _EagerElements:
        value = self.tensor(value)
        lengths = _engine.convert_to_tensor(lengths)
        if lengths.shape.rank != 1:
            raise errors.InvalidArgumentError(
                None, None, f"Expected lengths to be a vector, received shape: {lengths.shape}"
            )
        if value.shape.rank == 0:
            raise errors.InvalidArgumentError(
                None, None, "Expected value to be at least a vector, but received a scalar"
            )
        all_lengths = _numbers(lengths)
        if sum(all_lengths) != value.shape[0]:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                f"{sum(all_lengths)} and value's shape is: {value.shape}",
            )
        if len(all_lengths) != len(self._items) and not self.is_dynamic:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"TensorArray's size is not equal to the size of lengths ({len(self._items)} vs. "
                f"{len(all_lengths)}), and the TensorArray is not marked as dynamically resizeable",
            )
        self._check_dtype(value)
        # The parts may differ in length even where elements have one shape, as in TensorFlow.
        self._items = list(ops.split(value, all_lengths)) if all_lengths else []
        return self


def _index(index: Any) -> int:
    """The number of an element as Python's lists take it: an integer, or an eager scalar of one."""
    return operator.index(index.numpy() if hasattr(index, "numpy") else index)


def _numbers(integers: Any) -> list[int]:
    """The elements of an eager tensor, or what becomes one, as Python's integers."""
    return [int(i) for i in _engine.convert_to_tensor(integers, dtype_hint="int32").numpy().flat]


def _indices(indices: Any) -> list[int]:
    """The same of a vector."""
    vector = _engine.convert_to_tensor(indices, dtype_hint="int32")
    if vector.shape.rank != 1:
        raise TypeError(f"indices must be a vector, not of shape {vector.shape}")
    return _numbers(vector)


class _TracedElements(_Elements):
    """A list of tensors in a variant; a write makes another.

    Args:
      kind: The dtype, shape and options.
      flow: The list.
      known_size: The number of elements, if it is known now and does not change.
    """

    def __init__(self, kind: tuple[Any, ...], flow: Any, known_size: int | None) -> None:
        super().__init__(*kind)
        self.flow = flow
        self._known_size = known_size

    @classmethod
    def reserved(cls, kind: tuple[Any, ...], size: Any) -> _TracedElements:
        """Elements none of which is written."""
        made = cls(kind, None, _static_int(size))
        made.flow = _on_list("Reserve", _open_shape(made.shape), size, element_dtype=made.dtype)
        return made

    def _with_flow(self, flow: Any) -> _TracedElements:
        kind = (self.dtype, self.shape, self.infer_shape, self.is_dynamic)
        return _TracedElements(kind, flow, self._known_size)

    def _check(self, value: Any, shape: TensorShape) -> None:
        """What is written: a dtype that does not fit is an error when it runs."""
        if value.dtype != self.dtype:
            get_logger().error(
                "Error: Input value has dtype %s, but expected dtype %s. This leads to undefined "
                "behavior and will be an error when it runs.", value.dtype.name, self.dtype.name
            )  # fmt: skip
        if not shape.is_compatible_with(self.shape):
            raise ValueError(f"Inconsistent shapes: saw {shape} but expected {self.shape}")
        self.learn_shape(shape)

    def size(self) -> Any:
        return _on_list("Length", self.flow)

    def identity(self) -> _TracedElements:
        return self._with_flow(ops.identity(self.flow))

    def read(self, index: Any) -> Any:
        shape = _open_shape(self.shape)
        return _on_list("GetItem", self.flow, index, shape, element_dtype=self.dtype)

    def write(self, index: Any, value: Any) -> _TracedElements:
        value = self.tensor(value)
        # What is learnt of the shape is known of this array, too: the program may go on with it.
        self._check(value, value.shape)
        written = self._with_flow(None)
        written.flow = _on_list(
            "SetItem", self.flow, index, value, resize_if_index_out_of_bounds=self.is_dynamic
        )
        return written

    def stack(self) -> Any:
        known = None if self.is_dynamic else self._known_size
        return _on_list(
            "Stack",
            self.flow,
            _open_shape(self.shape),
            element_dtype=self.dtype,
            num_elements=-1 if known is None else known,
        )

    def gather(self, indices: Any) -> Any:
        shape = _open_shape(self.shape)
        return _on_list("Gather", self.flow, indices, shape, element_dtype=self.dtype)

    def concat(self) -> Any:
        shape = self.shape
        if shape.rank:
            shape = TensorShape([None, *shape.as_list()[1:]])
        elif shape.rank == 0:
            shape = TensorShape(None)  # refused when it runs
        lengths = _engine.constant([], "int64", [0])
        joined, _ = _on_list(
            "ConcatV2", self.flow, _open_shape(shape), lengths, element_dtype=self.dtype
        )
        return joined

    def unstack(self, value: Any) -> _TracedElements:
        value = self.tensor(value)
        if value.shape.rank == 0:
            raise errors.InvalidArgumentError(
                None, None, "Tensor must be at least a vector, but saw shape: []"
            )
        unstacked = self._with_flow(None)
        unstacked._check(value, value.shape[1:])
        unstacked._known_size = None if value.shape.rank is None else value.shape[0]
        unstacked.flow = _on_list("FromTensor", value, _open_shape(value.shape[1:]))
        return unstacked

    def scatter(self, indices: Any, value: Any) -> _TracedElements:
        value = self.tensor(value)
        self._check(value, value.shape[1:])
        scattered = self._with_flow(None)
        scattered.flow = _on_list("ScatterIntoExistingList", self.flow, value, indices)
        return scattered

    def split(self, value: Any, lengths: Any) -> _TracedElements:
        value = self.tensor(value)
        lengths = ops.cast(_engine.convert_to_tensor(lengths, dtype_hint="int64"), "int64")
        made = self._with_flow(None)
        known = get_static_value(lengths)
        part = TensorShape(None)
        if value.shape.rank:
            is_uniform = known is not None and known.size and bool((known == known.flat[0]).all())
            part = TensorShape([int(known.flat[0]) if is_uniform else None, *value.shape[1:]])
        if part.rank and part[0] is None:
            # Parts of different lengths say nothing of the one shape of the elements.
            if not part.is_compatible_with(made.shape):
                raise ValueError(f"Inconsistent shapes: saw {part} but expected {made.shape}")
            if known is not None:
                made.shape = part  # Not all have the length that the elements were to have.
        else:
            made._check(value, part)
        made._known_size = None if lengths.shape.rank != 1 else lengths.shape[0]
        made.flow = _on_list("Split", value, _open_shape(made.shape), lengths)
        return made


class TensorArray(CompositeTensor):
    """Tensors of one dtype by their numbers, of which one is written or read at a time.

    Eagerly it is a list that writes change. In a tf.function it is a value: a write gives a new
    array, which the program must use in place of the old one; loops carry it as a loop variable,
    and gradients flow from reads to writes.

    Args:
      dtype: The dtype of the elements.
      size: How many there are, an integer or a scalar tensor.
      dynamic_size: Whether a write past the end makes the array longer.
      clear_after_read: Eagerly, whether an element may be read only once; True by default.
      tensor_array_name: Accepted; changes nothing.
      handle: None, as in TensorFlow 2: lists have none.
      flow: The flow of another array, a list of tensors in a variant, in place of a size.
      infer_shape: Whether all elements have one shape, that of the first to be written.
      element_shape: What is known of the elements' shape.
      colocate_with_first_write_call: Accepted; changes nothing.
      name: The scope of the nodes.

    Raises:
      ValueError: There is neither a size nor a flow, or there is a handle.

    Source: tf.TensorArray.
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        del tensor_array_name, colocate_with_first_write_call
        if handle is not None:
            raise ValueError("A TensorArray is not made of a handle: give flow instead")
        if (size is None) == (flow is None):
            raise ValueError("A TensorArray needs a size, or a flow in its place")
        kind = (dtype, element_shape, bool(infer_shape), bool(dynamic_size))
        with name_scope(name or "TensorArrayV2"):
            self._elements: _EagerElements | _TracedElements
            if flow is not None and not hasattr(flow, "numpy"):
                self._elements = _TracedElements(kind, flow, None)
            elif _engine.executing_eagerly():
                clears = clear_after_read is None or clear_after_read
                self._elements = _EagerElements(kind, size, clears, flow)
            elif flow is not None:
                self._elements = _TracedElements(kind, flow, None)
            else:
                self._elements = _TracedElements.reserved(kind, size)

    def _scope(self, name: str) -> Any:
        """A scope for the nodes; eagerly there are none to be named."""
        return name_scope(name) if isinstance(self._elements, _TracedElements) else _NO_SCOPE

    def _of(self, elements: Any) -> TensorArray:
        """The array of these elements: this very one, if a write changed it."""
        if elements is self._elements:
            return self
        made = TensorArray.__new__(TensorArray)
        made._elements = elements
        return made

    @property
    def flow(self) -> Any:
        """The elements as a list of tensors in a variant."""
        return self._elements.flow

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self._elements.dtype

    @property
    def handle(self) -> None:
        """None."""
        return

    @property
    def element_shape(self) -> TensorShape:
        """What is known of the elements' shape."""
        return self._elements.shape

    @property
    def dynamic_size(self) -> bool:
        """Whether a write past the end makes the array longer."""
        return self._elements.is_dynamic

    @property
    def _type_spec(self) -> TensorArraySpec:
        own = self._elements
        return TensorArraySpec(own.shape, own.dtype, own.is_dynamic, own.infer_shape)

    def identity(self) -> TensorArray:
        """Returns an array of the same elements."""
        return self._of(self._elements.identity())

    def grad(self, source: Any, flow: Any = None, name: str | None = None) -> Any:
        """Returns nothing: it is not supported, as in TensorFlow 2. Tapes differentiate.

        Args:
          source: Accepted; changes nothing.
          flow: Accepted; changes nothing.
          name: Accepted; changes nothing.

        Raises:
          NotImplementedError: Always.
        """
        del source, flow, name
        raise NotImplementedError("TensorArray.grad is not supported: use tf.GradientTape")

    def read(self, index: Any, name: str | None = None) -> Any:
        """Returns an element; zeros, if it was not written and the shape is known.

        Args:
          index: An int32 scalar.
          name: The scope of the nodes.

        Raises:
          InvalidArgumentError: In a Function, the index is out of range, when it runs; eagerly,
            the element was read before and clear_after_read is on.
          OutOfRangeError: Eagerly, the index is out of range.
          ValueError: Eagerly, it was not written, and the shape is not known.
        """
        with self._scope(name or "TensorArrayV2Read"):
            return self._elements.read(index)

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Returns the array with another element, which is to be used from then on.

        Args:
          index: An int32 scalar.
          value: A tensor of the elements' dtype.
          name: The scope of the nodes.

        Raises:
          ValueError: The shape is not that of the other elements.
          InvalidArgumentError: The dtype differs, or, in a Function, the index is out of range.
          OutOfRangeError: Eagerly, the index is out of range.
        """
        with self._scope(name or "TensorArrayV2Write"):
            return self._of(self._elements.write(index, value))

    def stack(self, name: str | None = None) -> Any:
        """Returns all elements along a new first axis.

        Args:
          name: The scope of the nodes.

        Raises:
          InvalidArgumentError: The shape of the elements is not known, or there are several.
        """
        with self._scope(name or "TensorArrayV2Stack"):
            return self._elements.stack()

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """Returns some elements along a new first axis.

        Args:
          indices: A vector of int32; they may repeat.
          name: The scope of the nodes.

        Raises:
          InvalidArgumentError: In a Function, an index is out of range.
          IndexError: Eagerly, an index is out of range.
        """
        with self._scope(name or "TensorArrayV2Gather"):
            return self._elements.gather(indices)

    def concat(self, name: str | None = None) -> Any:
        """Returns all elements one after another along their first axis.

        Args:
          name: The scope of the nodes.

        Raises:
          InvalidArgumentError: The elements are scalars, or differ in other axes.
        """
        with self._scope(name or "TensorArrayV2Concat"):
            return self._elements.concat()

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Returns the array of the slices of a tensor along its first axis.

        Args:
          value: A tensor of rank 1 at least.
          name: The scope of the nodes.

        Raises:
          ValueError: The slices do not have the shape of the elements; eagerly, there are more
            than the size.
        """
        with self._scope(name or "TensorArrayUnstack"):
            return self._of(self._elements.unstack(value))

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Returns the array with the slices of a tensor as some of its elements.

        Args:
          indices: A vector of int32, as long as the first axis of the value.
          value: A tensor of rank 1 at least.
          name: The scope of the nodes.

        Raises:
          ValueError: The slices do not have the shape of the elements.
          InvalidArgumentError: In a Function, an index is negative.
          OutOfRangeError: Eagerly, an index is out of range.
        """
        with self._scope(name or "TensorArrayScatter"):
            return self._of(self._elements.scatter(indices, value))

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Returns the array of the parts of a tensor along its first axis.

        Args:
          value: A tensor of rank 1 at least.
          lengths: A vector of integers, whose sum is the length of the value.
          name: The scope of the nodes.

        Raises:
          InvalidArgumentError: The lengths do not fit.
        """
        with self._scope(name or "TensorArraySplit"):
            return self._of(self._elements.split(value, lengths))

    def size(self, name: str | None = None) -> Any:
        """Returns the number of elements, an int32 scalar.

        Args:
          name: The scope of the nodes.
        """
        with self._scope(name or "TensorArrayV2Size"):
            return self._elements.size()

    def close(self, name: str | None = None) -> None:
        """Does nothing, as in TensorFlow 2.

        Args:
          name: Accepted; changes nothing.
        """
        del name
