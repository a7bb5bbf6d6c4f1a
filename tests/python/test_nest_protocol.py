"""Objects that take themselves apart: __tf_flatten__ and __tf_unflatten__ (S3.36)."""

import gc
import weakref
from typing import Any

import graven as tf
import pytest


class Pair:
    """Two tensors, or structures of them, and a label."""

    def __init__(self, a: Any, b: Any, label: Any = "p") -> None:
        self.a, self.b, self.label = a, b, label

    def __tf_flatten__(self) -> Any:
        return (self.label,), (self.a, self.b)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Any) -> Any:
        return cls(*components, *metadata)


ONE, TWO = tf.constant(1.0), tf.constant(2.0)


def traces_after(*arguments: Any) -> list[int]:
    f, counts = tf.function(lambda x: tf.constant(0)), []
    for argument in arguments:
        f(argument)
        counts.append(f.experimental_get_tracing_count())
    return counts


def test_the_type_is_that_of_the_components_and_the_metadata_by_value() -> None:
    calls = [
        Pair(ONE, TWO),
        Pair(TWO, ONE),
        Pair(ONE, TWO, "q"),
        Pair(tf.constant(1), TWO),
        Pair([ONE], TWO),
        Pair(TWO, TWO, "q"),
    ]
    assert traces_after(*calls) == [1, 1, 2, 3, 4, 4]


def test_classes_of_one_name_are_different_types() -> None:
    other = type("Pair", (Pair,), {})
    assert traces_after(Pair(ONE, TWO), other(ONE, TWO), Pair(ONE, TWO)) == [1, 2, 2]


def test_the_body_gets_an_object_of_the_class_and_may_return_one() -> None:
    seen = []

    @tf.function
    def f(p: Any) -> Any:
        seen.append((type(p), p.label, tf.is_tensor(p.a), type(p.b)))
        return [Pair(p.b[0] * 2.0, {"k": p.a}, p.label + "!")]

    for value in (3.0, 5.0):
        (result,) = f(Pair(ONE, [tf.constant(value)], "x"))
        assert type(result) is Pair
        assert (result.a.numpy(), result.b["k"].numpy(), result.label) == (2 * value, 1.0, "x!")
    assert seen == [(Pair, "x", True, list)]


def test_a_concrete_function_takes_the_object_or_its_tensors() -> None:
    concrete = tf.function(lambda p: p.a - p.b).get_concrete_function(Pair(ONE, TWO))
    assert concrete(Pair(TWO, ONE)).numpy() == 1.0
    assert concrete(TWO, ONE).numpy() == 1.0
    with pytest.raises(TypeError, match="Can not cast"):
        concrete(Pair(TWO, ONE, "q"))
    (argument,), _ = concrete.structured_input_signature
    assert argument.label == "p"
    assert argument.b == tf.TensorSpec([], tf.float32, name="p_1")


def test_gradients_go_through_the_components() -> None:
    f = tf.function(lambda p: Pair(p.a * p.b, p.a))
    with tf.GradientTape() as tape:
        tape.watch([ONE, TWO])
        y = f(Pair(ONE, TWO)).a
    assert [g.numpy() for g in tape.gradient(y, [ONE, TWO])] == [2.0, 1.0]


def test_metadata_that_has_no_type_is_refused() -> None:
    with pytest.raises(TypeError, match="Could not generate a generic TraceType"):
        tf.function(lambda p: p.a)(Pair(ONE, TWO, {1}))


def test_an_object_that_does_not_keep_the_protocol_is_refused() -> None:
    class Wrong:
        def __tf_flatten__(self) -> Any:
            return 3

    with pytest.raises(TypeError, match=r"Wrong must return \(metadata, components\)"):
        tf.function(lambda p: ONE)(Wrong())


def test_a_function_dies_with_the_class_of_such_an_argument() -> None:
    def build() -> Any:
        class Local(Pair):
            f: Any

        f = tf.function(lambda p: (Local, Local(p.a, p.b))[1])
        Local.f = f
        f(Local(ONE, TWO))
        return weakref.ref(f)

    reference = build()
    gc.collect()
    assert reference() is None


def test_plain_structures_are_the_same_where_composites_are_expanded() -> None:
    tf.nest.assert_same_structure([ONE, (TWO,)], [TWO, (ONE,)], expand_composites=True)
    with pytest.raises(TypeError, match="same sequence type"):
        tf.nest.assert_same_structure([ONE], (ONE,), expand_composites=True)
