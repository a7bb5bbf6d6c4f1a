"""Objects that say themselves of which type they are."""

from __future__ import annotations

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
