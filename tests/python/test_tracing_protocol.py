"""Objects that say themselves of which type they are."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import graven as tf
import pytest

types = tf.types.experimental


class SizeType(types.TraceType):
    """Lists of one size share a trace."""

    def __init__(self, size: int) -> None:
        self.size = size

    def is_subtype_of(self, other: types.TraceType) -> bool:
        return self == other

    def most_specific_common_supertype(self, others: Any) -> types.TraceType | None:
        return self if all(self == other for other in others) else None

    def placeholder_value(self, placeholder_context: Any) -> Any:
        return [0] * self.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SizeType) and self.size == other.size

    def __hash__(self) -> int:
        return hash(self.size)


class Unhashable:
    """Nothing that a cache can tell from others."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: list[int]) -> None:
        self.values = values


class Sized(Unhashable):
    """The same with the protocol."""

    def __tf_tracing_type__(self, context: Any) -> SizeType:
        return SizeType(len(self.values))


def test_the_advice_about_a_value_without_a_type_can_be_followed() -> None:
    @tf.function
    def same(x: Any) -> Any:
        return x

    with pytest.raises(TypeError, match=r"`tf\.types\.experimental\.SupportsTracingProtocol`"):
        same(Unhashable([1]))
    same(Sized([1]))
    same(Sized([2]))
    assert same.experimental_get_tracing_count() == 1
    same(Sized([1, 2]))
    assert same.experimental_get_tracing_count() == 2


def test_an_object_that_has_the_method_supports_the_protocol() -> None:
    assert isinstance(Sized([]), types.SupportsTracingProtocol)
    assert not isinstance(Unhashable([]), types.SupportsTracingProtocol)


class Scaled:
    """A tensor and a number."""

    def __init__(self, tensor: Any, factor: float) -> None:
        self.tensor, self.factor = tensor, factor

    def __tf_tracing_type__(self, context: Any) -> ScaledType:
        return ScaledType(tf.TensorSpec.from_tensor(self.tensor), self.factor)


class ScaledType(types.TraceType):
    """Made of a TensorSpec, which does the work."""

    def __init__(self, spec: tf.TensorSpec, factor: float) -> None:
        self.spec, self.factor = spec, factor

    def is_subtype_of(self, other: types.TraceType) -> bool:
        return (
            isinstance(other, ScaledType)
            and self.factor == other.factor
            and self.spec.is_subtype_of(other.spec)
        )

    def most_specific_common_supertype(self, others: Any) -> types.TraceType | None:
        spec = self.spec.most_specific_common_supertype([other.spec for other in others])
        return ScaledType(spec, self.factor) if spec else None

    def placeholder_value(self, placeholder_context: Any) -> Scaled:
        return Scaled(self.spec.placeholder_value(placeholder_context), self.factor)

    def flatten(self) -> Any:
        return self.spec.flatten()

    def to_tensors(self, value: Scaled) -> Any:
        return self.spec.to_tensors(value.tensor)

    def from_tensors(self, tensors: Any) -> Scaled:
        return Scaled(self.spec.from_tensors(tensors), self.factor)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScaledType) and (self.spec, self.factor) == (
            other.spec,
            other.factor,
        )

    def __hash__(self) -> int:
        return hash((self.spec, self.factor))


def test_a_type_may_be_made_of_a_tensor_spec() -> None:
    f = tf.function(lambda scaled: scaled.tensor * scaled.factor)
    assert f(Scaled(tf.constant([1.0, 2.0]), 3.0)).numpy().tolist() == [3.0, 6.0]
    assert f(Scaled(tf.constant([2.0, 2.0]), 3.0)).numpy().tolist() == [6.0, 6.0]
    assert f.experimental_get_tracing_count() == 1
    f(Scaled(tf.constant([2.0]), 3.0))
    assert f.experimental_get_tracing_count() == 2


def test_a_tensor_spec_takes_values_of_its_type_only() -> None:
    spec = tf.TensorSpec([2], tf.float32)
    assert spec.value_type is tf.Tensor
    assert spec.cast([1.0, 2.0], None).numpy().tolist() == [1.0, 2.0]
    for wrong in ([1.0], tf.constant([1, 2]), "a"):
        with pytest.raises(TypeError, match="Can not cast"):
            spec.to_tensors(wrong)


class _Sized(tf.types.experimental.TraceType):
    """Leaves out placeholder_value, as TensorFlow up to 2.11 allowed."""

    def __init__(self, size: int) -> None:
        self.size = size

    def is_subtype_of(self, other: Any) -> bool:
        return bool(self == other)

    def most_specific_common_supertype(self, others: Any) -> Any:
        return self if all(self == other for other in others) else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Sized) and self.size == other.size

    def __hash__(self) -> int:
        return self.size


class _Box:
    def __init__(self, size: int) -> None:
        self.size = size

    def __tf_tracing_type__(self, context: Any) -> _Sized:
        return _Sized(self.size)


def test_without_a_placeholder_value_the_body_sees_the_argument_that_is_traced() -> None:
    seen: list[_Box] = []

    @tf.function
    def scaled(boxes: list[_Box], x: Any) -> Any:
        if not seen:
            seen.append(boxes[0])
            kept.append(tf.Variable(1.0))  # so that there are two traces
        return x * float(boxes[0].size) * kept[0]

    kept: list[Any] = []
    first = _Box(3)
    x = tf.constant(2.0)
    assert float(scaled([first], x)) == 6.0
    assert seen == [first]
    assert float(scaled([_Box(3)], x)) == 6.0
    traces = scaled.experimental_get_tracing_count()
    assert float(scaled([_Box(4)], x)) == 8.0
    assert scaled.experimental_get_tracing_count() == traces + 1
    concrete = scaled.get_concrete_function([_Box(3)], x)
    assert float(concrete([_Box(3)], x)) == 6.0
    with pytest.raises(TypeError, match="Can not cast"):
        concrete([_Box(4)], x)
    with pytest.raises(NotImplementedError, match="_Sized has no placeholder_value"):
        scaled.get_concrete_function([_Sized(5)], x)


def test_a_trace_does_not_keep_the_argument_that_it_saw() -> None:
    f = tf.function(lambda box, x: x * float(box.size))
    box = _Box(3)
    dies = weakref.ref(box)
    f(box, tf.constant(1.0))
    del box
    gc.collect()
    assert dies() is None
    assert float(f(_Box(3), tf.constant(2.0))) == 6.0


def test_an_argument_without_weak_references_needs_a_placeholder_value() -> None:
    class Slotted:
        __slots__ = ("size",)

        def __tf_tracing_type__(self, context: Any) -> _Sized:
            return _Sized(1)

    with pytest.raises(TypeError, match="weak reference to 'Slotted' object"):
        tf.function(lambda box: 1.0)(Slotted())
