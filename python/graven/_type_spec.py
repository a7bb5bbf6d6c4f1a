"""Composite tensors, values made of several tensors, and their types."""

from __future__ import annotations

import abc
import itertools
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from graven import _engine, _nest, _public
from graven._tensor_shape import TensorShape
from graven._trace_types import TraceType
from graven._unsupported import PublicAbstractClass

Spec = TypeVar("Spec", bound="TypeSpec")


class CompositeTensor(metaclass=PublicAbstractClass):
    """A value made of several tensors, such as a RaggedTensor; `_type_spec` is its TypeSpec.

    Source: tf.__internal__.CompositeTensor.
    """

    _is_native = False  # Whether tf.is_tensor counts it among TensorFlow's own.

    @property
    @abc.abstractmethod
    def _type_spec(self) -> TypeSpec: ...

    def __tf_tracing_type__(self, context: Any) -> TypeSpec:
        """Its type for the cache of a Function."""
        del context
        return self._type_spec


class TypeSpec(TraceType, metaclass=PublicAbstractClass):
    """The type of a value that is made of tensors: takes it apart and builds it again.

    A class of a user's own has the five members below; `_serialize` gives the arguments with which
    the class makes an equal spec. Types whose arguments are equal are equal; what is a TraceType or
    a TensorShape among them makes subtypes, everything else has to be the same.

    Source: tf.TypeSpec.
    """

    @property
    @abc.abstractmethod
    def value_type(self) -> Any:
        """The class of the values of this type."""

    @abc.abstractmethod
    def _serialize(self) -> tuple[Any, ...]:
        """The arguments of this spec's class that make an equal one, hashable or lists, dicts."""

    @property
    @abc.abstractmethod
    def _component_specs(self) -> Any:
        """A structure of the specs of the values' parts."""

    @abc.abstractmethod
    def _to_components(self, value: Any) -> Any:
        """The parts of a value, in that structure."""

    @abc.abstractmethod
    def _from_components(self, components: Any) -> Any:
        """The value of such parts."""

    @classmethod
    def _deserialize(cls: type[Spec], serialized: Sequence[Any]) -> Spec:
        return cls(*serialized)

    def _flat_specs(self) -> list[Any]:
        return _nest.flatten(self._component_specs)

    def flatten(self) -> list[Any]:
        """Returns the specs of the tensors that a value is made of."""
        return [spec for part in self._flat_specs() for spec in part.flatten()]

    def to_tensors(self, value: Any) -> list[Any]:
        """Returns the tensors that a value is made of.

        Args:
          value: A value of this type.
        """
        parts = _nest.flatten(self._to_components(value))
        return [
            tensor
            for spec, part in zip(self._flat_specs(), parts, strict=True)
            for tensor in spec.to_tensors(part)
        ]

    def from_tensors(self, tensors: Iterable[Any]) -> Any:
        """Returns a value of this type around tensors.

        Args:
          tensors: As many as `to_tensors` gives, in its order; an iterator keeps what follows.
        """
        left = iter(tensors)
        parts = [
            spec.from_tensors(itertools.islice(left, len(spec.flatten())))
            for spec in self._flat_specs()
        ]
        return self._from_components(_nest.pack_sequence_as(self._component_specs, parts))

    # --- Rows of values, and values of rows: for functions like tf.map_fn. They are the engine's,
    # graven/function/composite_type.h.

    def _ragged_ranks(self) -> tuple[int, ...] | None:
        """For each part of a value how many row splits cut it; None if values have no rows."""
        return None

    def _unbatch(self) -> TypeSpec | None:
        """The type of a row of a value, if there are rows."""
        return None

    def _batch(self, batch_size: int | None) -> TypeSpec | None:
        """The type of a value of that many rows of this type, if there is one.

        Args:
          batch_size: The number; None if it is not known.
        """
        del batch_size
        return None

    def _with_shape(self, shape: Any) -> TypeSpec | None:
        """The type that a TensorShape as the invariant of a loop means for a value, if it does.

        Args:
          shape: The TensorShape.
        """
        del shape
        return None

    def placeholder_value(self, placeholder_context: Any) -> Any:
        """Returns the value around placeholders of its tensors.

        Args:
          placeholder_context: Its `add_placeholder(spec)` adds an input of a TensorSpec's type.
        """
        specs = self.flatten()
        return self.from_tensors([placeholder_context.add_placeholder(s) for s in specs])

    def cast(self, value: Any, cast_context: Any) -> Any:
        """Returns a value of this type, or one that it covers, as it is.

        Args:
          value: Any object.
          cast_context: Nothing is known of it.

        Raises:
          TypeError: It is of another type.
        """
        del cast_context
        if not self.is_compatible_with(value):
            raise TypeError(f"Can not cast {value!r} to type {self!r}")
        return value

    def is_subtype_of(self, other: TraceType) -> bool:
        """Tells whether the other is the same but for what it leaves open.

        Args:
          other: A type of any class.
        """
        if not isinstance(other, TypeSpec) or type(self) is not type(other):
            return False
        return _all_parts(_is_subtype, self._serialize(), other._serialize())

    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> Any:
        """Returns the spec that leaves open what differs, or None.

        Args:
          others: Types; None is returned unless all are of this class.
        """
        arguments: list[Any] = []
        for other in others:
            if not isinstance(other, TypeSpec) or type(self) is not type(other):
                return None
            arguments.append(other._serialize())
        try:
            return self._deserialize(
                _nest.map_structure(_common_supertype, self._serialize(), *arguments)
            )
        except (ValueError, TypeError):  # They differ in what cannot be left open.
            return None

    def most_specific_compatible_type(self, other: TypeSpec) -> Any:
        """Returns the spec that leaves open what differs; the old name.

        Args:
          other: A spec of this class.

        Raises:
          ValueError: There is none.
        """
        common = self.most_specific_common_supertype([other])
        if common is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return common

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Tells whether a value, or every value of a spec, may be of this type.

        Args:
          spec_or_value: A composite tensor, or a spec.
        """
        other = getattr(spec_or_value, "_type_spec", spec_or_value)
        if not isinstance(other, TypeSpec) or type(self) is not type(other):
            return False
        return _all_parts(_is_compatible, self._serialize(), other._serialize())

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TypeSpec)
            and type(self) is type(other)
            and bool(self._serialize() == other._serialize())
        )

    def __hash__(self) -> int:
        leaves = _nest.flatten(self._serialize())
        return hash((type(self), *(str(leaf) for leaf in leaves)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._serialize()

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"


TypeSpec.register(_engine.TensorSpec)


def _all_parts(holds: Any, own: Any, other: Any) -> bool:
    """Whether something holds of the leaves of two structures, which must be the same."""
    try:
        return all(_nest.flatten(_nest.map_structure(holds, own, other)))
    except (ValueError, TypeError):  # Another structure.
        return False


def _is_open(leaf: Any) -> bool:
    """Whether an argument of a spec may leave open what another says."""
    return isinstance(leaf, TraceType) or hasattr(leaf, "most_specific_common_supertype")


def _is_subtype(own: Any, other: Any) -> bool:
    return bool(own.is_subtype_of(other) if _is_open(own) else own == other)


def _is_compatible(own: Any, other: Any) -> bool:
    return bool(
        own.is_compatible_with(other) if hasattr(own, "is_compatible_with") else own == other
    )


def _common_supertype(own: Any, *others: Any) -> Any:
    if _is_open(own):
        common = own.most_specific_common_supertype(others)
        if common is not None:
            return common
    elif all(own == other for other in others):
        return own
    raise ValueError(f"{own!r} and {others!r} have no common supertype")


def ragged_ranks(spec: Any) -> tuple[int, ...] | None:
    """Returns `_ragged_ranks` of a spec, or 0 for a tensor."""
    return (0,) if isinstance(spec, _engine.TensorSpec) else spec._ragged_ranks()


def unbatched(spec: Any) -> Any:
    """Returns the spec of a row."""
    if isinstance(spec, _engine.TensorSpec):
        return _engine.TensorSpec(spec.shape[1:], spec.dtype)
    return spec._unbatch()


def batched(spec: Any, batch_size: int | None) -> Any:
    """Returns the spec of so many rows, if they have one."""
    if isinstance(spec, _engine.TensorSpec):
        return _engine.TensorSpec(TensorShape([batch_size]).concatenate(spec.shape), spec.dtype)
    return spec._batch(batch_size)


def with_modules(specs: str) -> str:
    """A text of specs as a program writes it: `tf.` stands before the names of Graven's classes."""
    public = vars(sys.modules["graven"])

    def with_module(name: re.Match[str]) -> str:
        return f"tf.{name[0]}" if isinstance(public.get(name[0]), type) else name[0]

    # Not what stands behind a dot, as it is of a module already.
    return re.sub(r"(?<![\w.])[A-Za-z_]\w*", with_module, specs)


def rebuild_composite(spec: TypeSpec, tensors: Sequence[Any]) -> Any:
    """Builds a composite from the tensors of a Function's result."""
    return spec.from_tensors(iter(tensors))


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
    """Tells whether a value is one of TensorFlow's: a tensor, a variable, sparse, ragged, slices.

    Args:
      x: Any object.

    Source: tf.is_tensor.
    """
    if isinstance(x, _engine.Tensor | _engine.VariableBase):
        return True
    return getattr(type(x), "_is_native", False) or hasattr(type(x), "_as_graph_element")


def _identity_of_parts(**arguments: Any) -> Any:
    """tf.identity of a composite tensor: of the tensors that it is made of."""
    value = arguments.pop("input")

    def of_part(part: Any) -> Any:
        return _public.function("identity")(input=part, **arguments)

    return _nest.map_structure(of_part, value, expand_composites=True)


_engine.dispatch("identity", CompositeTensor, _identity_of_parts)
