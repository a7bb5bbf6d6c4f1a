"""Types that Python code defines for the cache: the tracing protocol and composites."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from graven import _engine


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

    def placeholder_value(self, placeholder_context: Any) -> Any:
        """Returns the value that the body sees while it is traced.

        A class may leave it out, which TensorFlow refuses: the body then sees the argument of the
        call that is traced.

        Args:
          placeholder_context: Its `add_placeholder(spec)` adds an input of a TensorSpec's type.

        Raises:
          NotImplementedError: The class leaves it out.
        """
        del placeholder_context
        raise NotImplementedError(f"{type(self).__name__} has no placeholder_value")

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

        Where there is no `placeholder_value`: itself, if its tracing type is a subtype of this.

        Args:
          value: Any object.
          cast_context: Nothing is known of it.

        Raises:
          AssertionError: It is another value.
        """
        del cast_context
        if _has_placeholder(self):
            is_of_this = value == self.placeholder_value(PlaceholderContext(""))
        else:
            typed = getattr(value, "__tf_tracing_type__", None)
            is_of_this = typed is not None and typed(TracingContext()).is_subtype_of(self)
        if is_of_this:
            return value
        raise AssertionError(f"Can not cast {value!r} to type {self!r}")


def _has_placeholder(trace_type: TraceType) -> bool:
    """Whether the class of a type defines placeholder_value; the engine asks, too."""
    return type(trace_type).placeholder_value is not TraceType.placeholder_value


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
