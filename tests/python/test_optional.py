"""tf.experimental.Optional."""

from typing import Any

import graven as tf
import pytest

Optional = tf.experimental.Optional


def test_a_value_comes_back() -> None:
    value = {"a": 1, "b": (2.0, "x"), "r": tf.ragged.constant([[1], [2, 3]]), "n": None}
    optional = Optional.from_value(value)
    assert bool(optional.has_value())
    assert Optional.from_value({"a": [1.0, 2.0]}).element_spec["a"].shape == [2]  # no structure
    back = optional.get_value()
    assert int(back["a"]) == 1 and back["b"][1].numpy() == b"x" and back["n"] is None
    assert back["r"].to_list() == [[1], [2, 3]]
    assert optional.element_spec["b"][0] == tf.TensorSpec([], tf.float32)
    assert repr(Optional.from_value(1.0)) == (
        "<tf.experimental.Optional element_spec=TensorSpec(shape=(), dtype=tf.float32, name=None)>"
    )


def test_without_a_value() -> None:
    empty = Optional.empty({"a": tf.TensorSpec([None]), "r": tf.RaggedTensorSpec([None, None])})
    assert not bool(empty.has_value())
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        empty.get_value()
    get = tf.function(lambda optional: optional.get_value()["a"] * 2.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        get(empty)
    assert empty.element_spec["a"] == tf.TensorSpec([None])


def test_branches_give_one_or_the_other() -> None:
    @tf.function
    def halved(x: Any) -> Any:
        if x[0] > 0.0:
            optional = Optional.from_value(x / 2.0)
        else:
            optional = Optional.empty(tf.TensorSpec([2]))
        if optional.has_value():
            return optional.get_value()
        return x

    assert halved(tf.constant([2.0, 4.0])).numpy().tolist() == [1.0, 2.0]
    assert halved(tf.constant([-2.0, 4.0])).numpy().tolist() == [-2.0, 4.0]
    assert halved.experimental_get_tracing_count() == 1


def test_optionals_are_typed_by_what_they_may_hold() -> None:
    f = tf.function(lambda optional: optional.has_value(), reduce_retracing=False)
    counts = []
    for optional in (
        Optional.from_value(1),
        Optional.from_value(2),
        Optional.empty(tf.TensorSpec([], tf.int32)),
        Optional.from_value(1.5),
    ):
        f(optional)
        counts.append(f.experimental_get_tracing_count())
    assert counts == [1, 1, 1, 2]
    spec = tf.OptionalSpec(tf.TensorSpec([None]))
    assert spec == tf.OptionalSpec(tf.TensorSpec([None])) and spec.value_type is Optional
    assert spec.is_compatible_with(Optional.from_value(tf.constant([1.0])))
    assert not spec.is_compatible_with(Optional.from_value(tf.constant([1])))
    assert tf.OptionalSpec.from_value(
        Optional.from_value(tf.constant([1.0]))
    ).element_spec.shape == [1]
    result = tf.function(lambda o: Optional.from_value(o.get_value() + 1.0))
    assert result(Optional.from_value(tf.constant([1.0]))).get_value().numpy().tolist() == [2.0]


def test_gradients_go_through() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = Optional.from_value(x * x).get_value()
    assert float(tape.gradient(y, x)) == 6.0


def test_what_is_no_value() -> None:
    with pytest.raises(TypeError, match="from_value"):
        Optional()
    with pytest.raises(TypeError, match="Could not build a TypeSpec for <object"):
        Optional.from_value(object())
    with pytest.raises(TypeError, match="structure of TypeSpecs, not of 3"):
        Optional.empty(3)


def test_an_optional_of_unknown_size_grows_in_a_loop() -> None:
    @tf.function
    def grown(optional: Any) -> Any:
        def twice(i: Any, o: Any) -> Any:
            value = o.get_value() if o.has_value() else tf.constant([1.0])
            return i + 1, Optional.from_value(tf.concat([value, value], 0))

        return tf.while_loop(lambda i, o: i < 2, twice, (0, optional))[1].get_value()

    assert grown(Optional.empty(tf.TensorSpec([None]))).numpy().tolist() == [1.0] * 4

    @tf.function
    def opened(x: Any) -> Any:
        return tf.while_loop(
            lambda i, o: i < 2,
            lambda i, o: (i + 1, Optional.from_value(tf.concat([o.get_value(), o.get_value()], 0))),
            (0, Optional.from_value(x)),
            shape_invariants=(tf.TensorShape([]), tf.OptionalSpec(tf.TensorSpec([None]))),
        )[1].get_value()

    assert opened(tf.constant([3.0])).numpy().tolist() == [3.0] * 4


def test_an_empty_one_takes_no_memory_of_a_value() -> None:
    def in_use() -> int:
        return int(tf.config.experimental.get_memory_info("CPU:0")["current"])

    spec = tf.TensorSpec([1000, 1000])
    before = in_use()
    held = [Optional.empty({"a": spec, "b": (spec, spec)}) for _ in range(10)]
    assert in_use() - before < 100_000
    assert not any(bool(empty.has_value()) for empty in held)
    # Zeros stand for the tensors only while a Function runs.
    f = tf.function(lambda optional: optional.has_value())
    assert not bool(f(held[0])) and in_use() - before < 100_000
    assert bool(
        f(Optional.from_value({"a": tf.ones([1000, 1000]), "b": (tf.ones([1000, 1000]),) * 2}))
    )
    assert f.experimental_get_tracing_count() == 1
