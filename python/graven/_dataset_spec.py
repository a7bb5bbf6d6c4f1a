"""The type of datasets. There are no datasets yet."""

from __future__ import annotations

from typing import Any

from graven import _engine
from graven._tensor_shape import TensorShape
from graven._type_spec import TypeSpec
from graven._unsupported import unsupported


class DatasetSpec(TypeSpec):
    """The type of a tf.data.Dataset.

    Graven has no datasets yet: this type is made and compared, and an input_signature may name it,
    but no value is of it. So a Function with such a signature refuses every call, and has no
    concrete function.

    Args:
      element_spec: A structure of the specs of an element's parts.
      dataset_shape: The shape of an array of datasets; () of a single one.

    Raises:
      TypeError: dataset_shape is no shape.

    Source: tf.data.DatasetSpec.
    """

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        self._element_spec = element_spec
        self._dataset_shape = TensorShape(dataset_shape)

    @property
    def element_spec(self) -> Any:
        """A structure of the specs of an element's parts."""
        return self._element_spec

    @property
    def value_type(self) -> Any:
        """The class of the values of this type.

        Raises:
          NotImplementedError: There is none yet.
        """
        raise _no_datasets()

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec, self._dataset_shape)

    @property
    def _component_specs(self) -> Any:
        return _engine.TensorSpec(self._dataset_shape, "variant")

    def _to_components(self, value: Any) -> Any:
        raise TypeError(f"{value!r} of type {type(value).__name__} is no tf.data.Dataset")

    def _from_components(self, components: Any) -> Any:
        raise _no_datasets()


def _no_datasets() -> NotImplementedError:
    return unsupported("Graven has no datasets yet, only their type")
