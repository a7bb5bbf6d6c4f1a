"""Types that Python code defines for the cache: the tracing protocol and composites."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from graven import _engine
from graven._dtypes import as_dtype
from graven._tensor_shape import TensorShape
from graven._unsupported import PublicAbstractClass


class TraceType(abc.ABC):
    """The type of an argument for the cache of a Function; a partial order.

    A class takes part by a method `__tf_tracing_type__(self, context)` that returns an instance of
    a subclass of this.

    Source: tf.types.experimental.TraceType.
    """

    @abc.abstractmethod
    def is_subtype_of(self, other: TraceType) -> bool:
        """Tells whether every value of this type may be given where another is expected.

        Args:
          other: The type that is expected, of any class.
        """

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        """Returns the most specific type that covers this one and the others, or None.

        Args:
          others: Types of any class.
        """

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context: Any) -> Any:
        """Returns the value that the body sees while it is traced.

        Args:
          placeholder_context: Its `add_placeholder(spec)` adds an input of a TensorSpec's type.
        """

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool: ...

    @abc.abstractmethod
    def __hash__(self) -> int: ...

    def to_tensors(self, value: Any) -> Sequence[Any]:
        """Returns the tensors that are fed for a value, none by default.

        Args:
          value: A value of this type.
        """
        return []

    def flatten(self) -> Sequence[TraceType]:
        """Returns the types of the tensors that are fed."""
        return []

    def from_tensors(self, tensors: Any) -> Any:
        """Returns the value of this type that is made of tensors: the placeholder by default.

        Args:
          tensors: As many as `to_tensors` gives, in its order.
        """
        del tensors
        return self.placeholder_value(PlaceholderContext(""))

    def cast(self, value: Any, cast_context: Any) -> Any:
        """Returns the value as one of this type: itself by default, if it is the placeholder.

        Args:
          value: Any object.
          cast_context: Nothing is known of it.

        Raises:
          AssertionError: It is another value.
        """
        del cast_context
        if value == self.placeholder_value(PlaceholderContext("")):
            return value
        raise AssertionError(f"Can not cast {value!r} to type {self!r}")


class _TensorSpecMethods:
    """What the type TensorSpec gets from Python: what composites of tensors build upon."""

    @property
    def value_type(self: Any) -> type:
        """The class of the values: tf.Tensor."""
        return _engine.Tensor

    def flatten(self: Any) -> Sequence[Any]:
        """Returns the types of the tensors that are fed: itself."""
        return [self]

    def to_tensors(self: Any, value: Any) -> Sequence[Any]:
        """Returns the tensors that are fed for a value.

        Args:
          value: A tensor of this type.

        Raises:
          TypeError: It is of another type.
        """
        return [self.cast(value, None)]

    def from_tensors(self: Any, tensors: Any) -> Any:
        """Returns the next of some tensors.

        Args:
          tensors: An iterator over tensors, or a sequence of one.
        """
        return next(iter(tensors))

    def placeholder_value(self: Any, placeholder_context: Any) -> Any:
        """Returns a new input of this type of the graph that is being traced.

        Args:
          placeholder_context: Its `add_placeholder(spec)` adds one.
        """
        return placeholder_context.add_placeholder(self)

    def cast(self: Any, value: Any, cast_context: Any) -> Any:
        """Returns a value as a tensor of this type.

        Args:
          value: A tensor, or what makes one of the spec's dtype.
          cast_context: Nothing is known of it.

        Raises:
          TypeError: It is a tensor of another type, or makes none of this.
        """
        del cast_context
        try:
            tensor = _engine.convert_to_tensor(value, self.dtype)
        except (ValueError, TypeError) as error:
            raise TypeError(f"Can not cast {value!r} to type {self!r}") from error
        if not self.is_compatible_with(tensor):
            raise TypeError(f"Can not cast {value!r} to type {self!r}")
        return tensor


for _name, _member in vars(_TensorSpecMethods).items():
    if not _name.startswith("__"):
        setattr(_engine.TensorSpec, _name, _member)
TraceType.register(_engine.TraceTypeView)


class TracingContext:
    """What `__tf_tracing_type__` is given; it numbers objects within one call."""

    def __init__(self) -> None:
        self._aliases: dict[Any, int] = {}

    def alias_global_id(self, global_id: Any) -> int:
        """Returns 0, 1, 2, ... by first appearance within the arguments of this call."""
        return self._aliases.setdefault(global_id, len(self._aliases))


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """What an object has that says itself of which type it is for the cache of a Function.

    A class need not derive from it: the method is enough.

    Source: tf.types.experimental.SupportsTracingProtocol.
    """

    def __tf_tracing_type__(self, context: TracingContext) -> TraceType:
        """Returns the type of this object; equal types share a trace.

        Args:
          context: Its `alias_global_id(id)` numbers objects within one call.
        """


class PlaceholderContext:
    """What `placeholder_value` is given: the naming scope, which is the parameter's name."""

    def __init__(self, naming_scope: str) -> None:
        self.naming_scope = naming_scope

    def add_placeholder(self, spec: Any) -> Any:
        """Adds an input of a TensorSpec's type to the graph being traced."""
        return _engine.add_placeholder(spec, self.naming_scope)


class CompositeTensor(metaclass=PublicAbstractClass):
    """A value made of several tensors, such as a RaggedTensor; `_type_spec` is its TypeSpec."""

    @property
    @abc.abstractmethod
    def _type_spec(self) -> TypeSpec: ...


class TypeSpec(TraceType):
    """The type of a composite tensor: takes it apart into tensors and builds it again."""

    @abc.abstractmethod
    def from_tensors(self, tensors: Sequence[Any]) -> Any:
        """Returns a value of this type around tensors.

        Args:
          tensors: As many as `to_tensors` gives, in its order.
        """

    def placeholder_value(self, placeholder_context: Any) -> Any:
        """Returns the value around placeholders of its tensors.

        Args:
          placeholder_context: Its `add_placeholder(spec)` adds an input of a TensorSpec's type.
        """
        specs = self.flatten()
        return self.from_tensors([placeholder_context.add_placeholder(s) for s in specs])


class ShapedSpec(TypeSpec):
    """A TypeSpec of a static shape and parts that must be equal, such as the dtype."""

    def __init__(self, shape: Any, dtype: Any) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)

    @abc.abstractmethod
    def _parts(self) -> tuple[Any, ...]:
        """What is equal in this type and its subtypes and supertypes."""

    @abc.abstractmethod
    def _with_shape(self, shape: Any) -> Any:
        """The same type with another static shape."""

    @property
    @abc.abstractmethod
    def value_type(self) -> type:
        """The class of the values of this type."""

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self._dtype

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ShapedSpec)
            and type(self) is type(other)
            and self._parts() == other._parts()
            and sizes_of(self._shape) == sizes_of(other._shape)
        )

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._dtype.name))

    def is_subtype_of(self, other: TraceType) -> bool:
        """Tells whether the other is the same but for dimensions that it leaves open.

        Args:
          other: A type of any class.
        """
        if not isinstance(other, ShapedSpec) or type(self) is not type(other):
            return False
        if self._parts() != other._parts():
            return False
        wide, own = sizes_of(other._shape), sizes_of(self._shape)
        if wide is None:
            return True
        return (
            own is not None
            and len(own) == len(wide)
            and all(w is None or w == o for w, o in zip(wide, own, strict=True))
        )

    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        """Returns the spec whose dimensions are open where those of the specs differ.

        Args:
          others: Types; None is returned unless all are of this class and have the same parts.
        """
        sizes = sizes_of(self._shape)
        for other in others:
            if not isinstance(other, ShapedSpec) or type(self) is not type(other):
                return None
            if self._parts() != other._parts():
                return None
            theirs = sizes_of(other._shape)
            if sizes is None or theirs is None or len(sizes) != len(theirs):
                sizes = None
            else:
                sizes = [a if a == b else None for a, b in zip(sizes, theirs, strict=True)]
        common: TraceType = self._with_shape(sizes)
        return common

    def is_compatible_with(self, value: Any) -> bool:
        """Tells whether a value, or every value of a spec, may be of this type.

        Args:
          value: A composite tensor, or a spec.
        """
        spec = value._type_spec if isinstance(value, CompositeTensor) else value
        return (
            isinstance(spec, ShapedSpec)
            and type(self) is type(spec)
            and self._parts() == spec._parts()
            and self._shape.is_compatible_with(spec._shape)
        )


def sizes_of(shape: TensorShape) -> list[int | None] | None:
    """Returns the sizes of a static shape, None where unknown; None for an unknown rank."""
    return None if shape.rank is None else shape.as_list()


class Rebuild:
    """Builds an object with the nest protocol from components, and metadata as the last."""

    def __init__(self, value_class: Any, metadata: Any) -> None:
        del metadata
        self._class = value_class

    def __call__(self, *parts: Any) -> Any:
        return self._class.__tf_unflatten__(parts[-1], parts[:-1])


class RebuildWith:
    """The same from components alone, with the metadata of a trace's result."""

    def __init__(self, value_class: Any, metadata: Any) -> None:
        self._class, self._metadata = value_class, metadata

    def __call__(self, *parts: Any) -> Any:
        return self._class.__tf_unflatten__(self._metadata, parts)


def rebuild_composite(spec: TypeSpec, tensors: Sequence[Any]) -> Any:
    """Builds a composite from the tensors of a Function's result."""
    return spec.from_tensors(tensors)


def type_spec_from_value(value: Any) -> Any:
    """Returns the type of a value: of a tensor, a variable, an array, a number or a composite.

    Args:
      value: What tf.convert_to_tensor takes, or a composite tensor.

    Returns:
      A TensorSpec, or the composite's own TypeSpec.

    Raises:
      TypeError: The value has no such type.

    Source: tf.type_spec_from_value.
    """
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if isinstance(value, _engine.VariableBase):
        return _engine.type_of(value)
    if not isinstance(value, _engine.Tensor):
        try:
            value = _engine.convert_to_tensor(value)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"Could not build a TypeSpec for {value!r} of unsupported type {type(value)}."
            ) from error
    return _engine.TensorSpec(value.shape, value.dtype)


def is_tensor(x: Any) -> bool:
    """Tells whether a value is one of TensorFlow's: a tensor, a variable, or made of tensors.

    Args:
      x: Any object.

    Source: tf.is_tensor.
    """
    kinds = (_engine.Tensor, _engine.VariableBase, CompositeTensor)
    return isinstance(x, kinds) or hasattr(type(x), "_as_graph_element")
