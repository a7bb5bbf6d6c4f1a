"""A Python list as a value of the graph: what a list becomes that staged code makes longer.

Elements are tensors, or structures of tensors, all of one type: then there is one list of tensors
for each leaf. The number of elements is known when the function runs, not before. So what Python
asks for while the function is traced, such as the truth of the list, is refused; converted code
asks by operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from graven import _engine, _nest, _public, errors
from graven import _functions as ops
from graven._tensor_array import _on_list, _open_shape
from graven._tensor_shape import TensorShape
from graven._type_spec import CompositeTensor
from graven.autograph._operators.staged_spec import StagedSpec
from graven.autograph._operators.values import dense_leaf, is_dense, type_name


class StagedListSpec(StagedSpec):
    """The type of a StagedList; its components are lists of tensors, one for each leaf.

    Args:
      element: The structure of the elements, with a TensorSpec for each leaf.
      name: The name that the user gave the list, for messages.
      place: The statement that made it a value of the graph, for messages.
    """

    @property
    def value_type(self) -> type:
        """The class of the values of this type."""
        return StagedList

    @property
    def _component_specs(self) -> list[Any]:
        return [_engine.TensorSpec([], "variant")] * len(self.leaves)

    def _to_components(self, value: StagedList) -> list[Any]:
        return value.handles()

    def _from_components(self, components: list[Any]) -> StagedList:
        return StagedList(self, components)

    def empty(self) -> StagedList:
        """Returns a list without elements."""
        make = _public.function("raw_ops.EmptyTensorList")
        handles = [
            make(_open_shape(leaf.shape), -1, element_dtype=leaf.dtype) for leaf in self.leaves
        ]
        return StagedList(self, handles)

    def convert(self, value: Any) -> StagedList:
        """Returns a list of this type: a Python list becomes one.

        Args:
          value: A StagedList, or a list or tuple.

        Raises:
          TypeError: It is something else, or an element is of another type.
          ValueError: An element has another shape.
        """
        if isinstance(value, StagedList):
            if value.spec != self:
                self.check_covers(value.spec)
                return StagedList(self, value.handles())
            return value
        if not isinstance(value, list):
            raise TypeError(
                f"'{self.name}' is {value!r} of type {type_name(value)}, and elsewhere a list "
                f"that {self.place} changes."
            )
        made = self.empty()
        for element in value:
            made.append(element)
        return made

    def check_covers(self, other: StagedListSpec) -> None:
        """Raises a TypeError or ValueError unless elements of another list may be of this one."""
        self.flat_element(other.element)

    def flat_element(self, value: Any) -> list[Any]:
        """Returns the leaves of an element, as tensors unless they are specs.

        Raises:
          TypeError: It has another structure or dtype.
          ValueError: It has another shape.
        """
        try:
            _nest.assert_same_structure(self.element, value)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{self._rule()} structure:\n\n{error}") from None
        found = []
        for spec, leaf in zip(self.leaves, _nest.flatten(value), strict=True):
            tensor = leaf
            if not isinstance(leaf, _engine.TensorSpec):
                tensor = dense_leaf(leaf, spec.dtype)
            if tensor is None:
                raise TypeError(f"{self._rule()} type: {leaf!r} of type {type_name(leaf)} came.")
            if tensor.dtype != spec.dtype:
                raise TypeError(
                    f"{self._rule()} dtype: {spec.dtype.name} and {tensor.dtype.name} came."
                )
            if not spec.shape.is_compatible_with(tensor.shape):
                raise ValueError(f"{self._rule()} shape: {spec.shape} and {tensor.shape} came.")
            found.append(tensor)
        return found

    def _rule(self) -> str:
        return rule_of(self.name, self.place)


def rule_of(name: str, place: str) -> str:
    """The start of a message: what must hold of a list."""
    return (
        f"'{name}' is a list that {place} changes, a statement on tensors. The elements of such a "
        "list must have one"
    )


def spec_of_elements(name: str, place: str, elements: Sequence[Any]) -> StagedListSpec:
    """Returns the type of a list of some elements.

    Args:
      name: The name of the list.
      place: The statement that changes it.
      elements: The elements; specs of them also.

    Raises:
      TypeError: They have several structures or dtypes, or are no tensors.
      ValueError: They have several shapes.
    """
    rule = rule_of(name, place)
    first = elements[0]
    for other in elements[1:]:
        try:
            _nest.assert_same_structure(first, other)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{rule} structure:\n\n{error}") from None
    flat = [_nest.flatten(element) for element in elements]
    specs = [_spec_of_leaves(rule, leaves) for leaves in zip(*flat, strict=True)]
    return StagedListSpec(_nest.pack_sequence_as(first, specs), name, place)


def _spec_of_leaves(rule: str, leaves: Sequence[Any]) -> Any:
    typed = [x for x in leaves if isinstance(x, _engine.TensorSpec) or is_dense(x)]
    dtype = typed[0].dtype if typed else None
    found: Any = None
    for leaf in leaves:
        tensor = leaf if isinstance(leaf, _engine.TensorSpec) else dense_leaf(leaf, dtype)
        if tensor is None:
            raise TypeError(f"{rule} type, tensors: {leaf!r} of type {type_name(leaf)} came.")
        spec = _engine.TensorSpec(tensor.shape, tensor.dtype)
        if found is None:
            found = spec
            continue
        if spec.dtype != found.dtype:
            raise TypeError(f"{rule} dtype: {found.dtype.name} and {spec.dtype.name} came.")
        if not found.shape.is_compatible_with(spec.shape):
            raise ValueError(f"{rule} shape: {found.shape} and {spec.shape} came.")
        found = found.most_specific_common_supertype([spec])
    return found


class StagedList(CompositeTensor):
    """A list in a graph. Its methods change it in place, as Python's do.

    Args:
      spec: Its type.
      handles: The lists of tensors.
    """

    def __init__(self, spec: StagedListSpec, handles: Sequence[Any]) -> None:
        self.spec = spec
        self._handles = list(handles)
        self._superseded = False

    @property
    def _type_spec(self) -> StagedListSpec:
        return self.spec

    @property
    def is_superseded(self) -> bool:
        """Whether every use is an error: a staged statement has changed the list."""
        return self._superseded

    def handles(self) -> list[Any]:
        """The lists of tensors, one for each leaf of an element.

        Raises:
          InaccessibleTensorError: A staged statement has changed the list under another name.
        """
        if self._superseded:
            raise superseded_error(self.spec.name, self.spec.place)
        return self._handles

    def supersede(self) -> None:
        """Makes every later use an error: a staged statement has changed the list."""
        self._superseded = True

    def reinstate(self, handles: Sequence[Any]) -> None:
        """Undoes supersede.

        Args:
          handles: The lists of tensors.
        """
        self._handles = list(handles)
        self._superseded = False

    # --- Methods of lists.

    def append(self, element: Any) -> None:
        """Adds an element at the end."""
        tensors = self.spec.flat_element(element)
        self._handles = [
            _on_list("PushBack", handle, tensor)
            for handle, tensor in zip(self.handles(), tensors, strict=True)
        ]

    def extend(self, elements: Any) -> None:
        """Adds elements at the end: those of a list, or the rows of a tensor."""
        if isinstance(elements, StagedList) or is_dense(elements):
            if not isinstance(elements, StagedList):
                elements = _of_rows(self.spec, [_engine.convert_to_tensor(elements)])
            self.spec.check_covers(elements.spec)
            pairs = zip(self.rows(), elements.rows(), strict=True)
            self._take_rows([ops.concat([one, two], 0) for one, two in pairs])
            return
        for element in list(elements):
            self.append(element)

    def pop(self, index: Any = -1) -> Any:
        """Takes the last element, or another one."""
        if isinstance(index, int) and index == -1:
            pairs = [
                _on_list("PopBack", handle, _open_shape(leaf.shape), element_dtype=leaf.dtype)
                for handle, leaf in zip(self.handles(), self.spec.leaves, strict=True)
            ]
            self._handles = [handle for handle, _ in pairs]
            return self._packed([element for _, element in pairs])
        element = self[index]
        i = self._index(index)
        self._take_rows([ops.concat([rows[:i], rows[i + 1 :]], 0) for rows in self.rows()])
        return element

    def insert(self, index: Any, element: Any) -> None:
        """Adds an element before another one."""
        i = self._index(index)
        pairs = zip(self.rows(), self.spec.flat_element(element), strict=True)
        self._take_rows([ops.concat([rows[:i], new[None], rows[i:]], 0) for rows, new in pairs])

    def clear(self) -> None:
        """Takes all elements."""
        self.handles()
        self._handles = self.spec.empty().handles()

    def reverse(self) -> None:
        """Puts the last element first."""
        self._take_rows([ops.reverse(rows, [0]) for rows in self.rows()])

    def copy(self) -> StagedList:
        """Returns a list of the same elements."""
        return StagedList(self.spec, self.handles())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return _of_rows(self.spec, [rows[index] for rows in self.rows()])
        return self.element(self._index(index))

    def __setitem__(self, index: Any, element: Any) -> None:
        if isinstance(index, slice):
            raise TypeError(f"A slice of '{self.spec.name}' cannot be set: {self._why()}.")
        i = self._index(index)
        self._handles = [
            _on_list("SetItem", handle, i, tensor)
            for handle, tensor in zip(self.handles(), self.spec.flat_element(element), strict=True)
        ]

    def __add__(self, other: Any) -> StagedList:
        made = self.copy()
        made.extend(other)
        return made

    def __radd__(self, other: Any) -> StagedList:
        made = self.spec.convert(list(other))
        made.extend(self)
        return made

    def __iadd__(self, other: Any) -> StagedList:
        self.extend(other)
        return self

    # --- What operators ask for.

    def size(self) -> Any:
        """Returns the number of elements, an int32 scalar."""
        return _on_list("Length", self.handles()[0])

    def element(self, i: Any) -> Any:
        """Returns an element by its number from the start, an int32 scalar."""
        return self._packed(
            [
                _on_list("GetItem", handle, i, _open_shape(leaf.shape), element_dtype=leaf.dtype)
                for handle, leaf in zip(self.handles(), self.spec.leaves, strict=True)
            ]
        )

    def rows(self) -> list[Any]:
        """Returns the elements along a new first axis, one tensor for each leaf."""
        return [
            _on_list("Stack", handle, _open_shape(leaf.shape), element_dtype=leaf.dtype)
            for handle, leaf in zip(self.handles(), self.spec.leaves, strict=True)
        ]

    def stacked(self) -> Any:
        """Returns the elements along a new first axis.

        Raises:
          TypeError: They are no tensors but structures.
        """
        self._check_tensors()
        return self.rows()[0]

    def concatenated(self) -> Any:
        """Returns the elements one after the other along their first axis.

        Raises:
          TypeError: They are no tensors but structures.
          ValueError: They are scalars.
        """
        self._check_tensors()
        (leaf,) = self.spec.leaves
        if leaf.shape.rank == 0:
            raise ValueError(f"The elements of '{self.spec.name}' are scalars: use tf.stack")
        shape = leaf.shape
        if shape.rank:
            shape = TensorShape([None, *shape.as_list()[1:]])
        lengths = _engine.constant([], "int64", [0])
        found, _ = _on_list(
            "ConcatV2", self.handles()[0], _open_shape(shape), lengths, element_dtype=leaf.dtype
        )
        return found

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        """The elements along a new first axis, where an op takes a list so."""
        del name
        return _engine.convert_to_tensor(self.stacked(), dtype)

    def _check_tensors(self) -> None:
        if _nest.is_nested(self.spec.element):
            raise TypeError(
                f"The elements of '{self.spec.name}' are structures, {self.spec.element}: keep "
                "a list for each part to stack them."
            )

    def _take_rows(self, rows: Sequence[Any]) -> None:
        self._handles = _of_rows(self.spec, rows).handles()

    def _packed(self, tensors: Sequence[Any]) -> Any:
        return _nest.pack_sequence_as(self.spec.element, tensors)

    def _index(self, index: Any) -> Any:
        """The number of an element from the start, an int32 scalar."""
        if isinstance(index, int) and index >= 0:
            return _engine.constant(index, "int32")
        i = ops.cast(_engine.convert_to_tensor(index), "int32")
        if i.shape.rank not in (None, 0):
            raise TypeError(f"'{self.spec.name}' has elements by number, not by {index!r}.")
        return ops.where(ops.less(i, 0), ops.add(i, self.size()), i)

    # --- What Python asks for, while the function is traced.

    def _why(self) -> str:
        return (
            f"{self.spec.place} changes the list, a statement on tensors, and so the number of "
            "its elements is known only when the function runs"
        )

    def __iter__(self) -> NoReturn:
        raise TypeError(
            f"Python cannot iterate over '{self.spec.name}': {self._why()}. A `for` statement of "
            "converted code can, and tf.stack makes a tensor of the list."
        )

    def __len__(self) -> NoReturn:
        raise TypeError(
            f"Python does not know the length of '{self.spec.name}': {self._why()}. A call of "
            "len(...) in converted code gives a tensor."
        )

    def __bool__(self) -> NoReturn:
        raise TypeError(f"Python does not know if '{self.spec.name}' is empty: {self._why()}.")

    def __contains__(self, value: Any) -> NoReturn:
        raise TypeError(f"Python does not know what is in '{self.spec.name}': {self._why()}.")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"'{self.spec.name}' has no {name} here: {self._why()}.")

    def __repr__(self) -> str:
        return f"<list '{self.spec.name}' of {self.spec.element}, changed by {self.spec.place}>"


def _of_rows(spec: StagedListSpec, rows: Sequence[Any]) -> StagedList:
    pairs = zip(rows, spec.leaves, strict=True)
    handles = [_on_list("FromTensor", row, _open_shape(leaf.shape)) for row, leaf in pairs]
    return StagedList(spec, handles)


def superseded_error(name: str, place: str) -> errors.InaccessibleTensorError:
    """The error of a list that is used under another name than the one a statement changed."""
    return errors.InaccessibleTensorError(
        f"The list '{name}' is out of scope here: {place} changes it, a statement on tensors. Its "
        f"elements are known under the name '{name}' only, not by other names or objects that "
        "hold the list."
    )


class Superseded:
    """Stands in a Python list for the elements that the list would have.

    Args:
      name: The name of the list.
      place: The statement that changes it.
    """

    def __init__(self, name: str, place: str) -> None:
        self._error = superseded_error(name, place)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> NoReturn:
        """Raises the error of a list that is used under another name."""
        raise self._error

    def __repr__(self) -> str:
        return "<an element that is out of scope>"
