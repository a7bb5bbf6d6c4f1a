"""tf.experimental.Optional: a value that may be missing, decided while a program runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graven import _debug_ops, _engine, _nest, _scopes, errors
from graven import _functions as ops
from graven._type_spec import CompositeTensor, TypeSpec, type_spec_from_value

_NO_VALUE = "The given optional does not have a value."


class OptionalSpec(TypeSpec):
    """The type of an Optional.

    Args:
      element_spec: A structure of the specs of the value's parts.

    Source: tf.OptionalSpec.
    """

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """A structure of the specs of the value's parts."""
        return self._element_spec

    @property
    def value_type(self) -> type:
        """The class of the values of this type."""
        return Optional

    @staticmethod
    def from_value(value: Optional) -> OptionalSpec:
        """Returns the type of an Optional.

        Args:
          value: The Optional.
        """
        return value._type_spec

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    @property
    def _component_specs(self) -> list[Any]:
        return [_engine.TensorSpec([], "bool"), *_tensor_specs(self._element_spec)]

    def _to_components(self, value: Optional) -> list[Any]:
        return [value._has_value, *value._tensors]

    def _from_components(self, components: Sequence[Any]) -> Optional:
        has_value, *tensors = components
        return Optional._of(self, has_value, tensors)


class Optional(CompositeTensor):
    """A value, a tensor or a structure of tensors and composite tensors, or none.

    Made by `from_value` and `empty`. A Function's branches may give one or the other, and
    `has_value()` tells which when the program runs. (TensorFlow keeps it in a tensor of dtype
    variant; here it is a bool and the tensors. One that is empty holds none. Where it goes into a
    Function or out of a branch, zeros stand for them; sizes that the spec does not know are 0.)

    Source: tf.experimental.Optional.
    """

    _spec: OptionalSpec
    _has_value: Any
    _value: list[Any] | None  # its tensors; None while it is known to be empty

    def __init__(self) -> None:
        raise TypeError("Use Optional.from_value(value) or Optional.empty(element_spec)")

    @classmethod
    def _of(cls, spec: OptionalSpec, has_value: Any, value: list[Any] | None) -> Optional:
        made = cls.__new__(cls)
        made._spec, made._has_value, made._value = spec, has_value, value
        return made

    @property
    def _tensors(self) -> list[Any]:
        if self._value is not None:
            return self._value
        return [_zeros(spec) for spec in _tensor_specs(self._spec.element_spec)]

    @staticmethod
    def from_value(value: Any) -> Optional:
        """Returns an Optional that has a value.

        Args:
          value: What tf.convert_to_tensor takes, lists among it, a composite tensor, None, or a
            structure of these that is no list.

        Raises:
          TypeError: A part of it is none of these.
        """
        parts = _converted(value)
        spec = OptionalSpec(_nest.map_structure(_spec_of, parts))
        leaves = _nest.flatten(parts, expand_composites=True)
        tensors = [leaf for leaf in leaves if leaf is not None]
        return Optional._of(spec, _engine.constant(True), tensors)

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """Returns an Optional that has no value.

        Args:
          element_spec: A structure of tf.TensorSpec and the like: the type that a value would have.

        Raises:
          TypeError: A part of it is no spec.
        """
        for spec in _nest.flatten(element_spec):
            if spec is not None and not isinstance(spec, TypeSpec):
                raise TypeError(f"element_spec must be a structure of TypeSpecs, not of {spec!r}")
        return Optional._of(OptionalSpec(element_spec), _engine.constant(False), None)

    def has_value(self, name: str | None = None) -> Any:
        """Tells whether there is a value: a scalar tensor of bool.

        Args:
          name: Of the op.
        """
        return ops.identity(self._has_value, name=name)

    def get_value(self, name: str | None = None) -> Any:
        """Returns the value.

        Args:
          name: Of the ops.

        Raises:
          InvalidArgumentError: There is none; in a Function when it runs.
        """
        if _engine.executing_eagerly():
            if not self._has_value:
                raise errors.InvalidArgumentError(None, None, _NO_VALUE)
            tensors = self._tensors
        else:
            with _scopes.control_dependencies([_debug_ops.Assert(self._has_value, [_NO_VALUE])]):
                tensors = [ops.identity(tensor, name=name) for tensor in self._tensors]
        left = iter(tensors)
        specs = _nest.flatten(self.element_spec, expand_composites=True)
        leaves = [None if spec is None else next(left) for spec in specs]
        return _nest.pack_sequence_as(self.element_spec, leaves, expand_composites=True)

    @property
    def element_spec(self) -> Any:
        """A structure of the specs of the value's parts."""
        return self._spec.element_spec

    def __repr__(self) -> str:
        return f"<tf.experimental.Optional element_spec={self.element_spec!r}>"

    @property
    def _type_spec(self) -> OptionalSpec:
        return self._spec


def _converted(part: Any) -> Any:
    if part is None or isinstance(part, CompositeTensor):
        return part
    if _nest.is_nested(part) and not isinstance(part, list):
        return _nest.with_parts(part, [_converted(p) for p in _nest.parts_of(part)])
    try:
        return _engine.convert_to_tensor(part)
    except (TypeError, ValueError) as error:
        raise TypeError(f"Could not build a TypeSpec for {part!r}: {error}") from None


def _spec_of(part: Any) -> Any:
    return None if part is None else type_spec_from_value(part)


def _tensor_specs(spec: Any) -> list[Any]:
    return [s for s in _nest.flatten(spec, expand_composites=True) if s is not None]


def _zeros(spec: Any) -> Any:
    sizes = spec.shape.as_list() if spec.shape.rank is not None else []
    return ops.zeros([size or 0 for size in sizes], spec.dtype)
