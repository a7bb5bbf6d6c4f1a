"""Functions that Python's cycle collector must find: what their traces hold leads back to them.

The engine held the classes of containers, users' TraceTypes and literals by references that the
collector does not see: a cycle through one of them kept the Function, its traces and all that its
closure holds for ever.
"""

import collections
import gc
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs
import graven as tf
import pytest

X = tf.constant([1.0, 2.0])


def dies(build: Callable[[], Any]) -> bool:
    """Whether the Function that is built, and used, goes when nobody knows it any more."""
    reference = weakref.ref(build())
    gc.collect()
    return reference() is None


def function_of(container: type, make: Callable[[type], Any]) -> Any:
    """A Function that its argument's class holds."""
    f = tf.function(lambda value: (container, X + 1.0)[1])
    container.f = f  # type: ignore[attr-defined]
    f(make(container))
    f(make(container))
    return f


def test_a_function_dies_with_the_named_tuple_class_of_its_argument() -> None:
    def build() -> Any:
        class Point(collections.namedtuple("Point", "x y")):
            pass

        return function_of(Point, lambda c: c(X, 2))

    assert dies(build)


def test_a_function_dies_with_the_attrs_class_of_its_argument() -> None:
    def build() -> Any:
        @attrs.define
        class Pair:
            x: Any

        return function_of(Pair, lambda c: c(X))

    assert dies(build)


def test_a_function_dies_with_the_mapping_class_of_its_argument() -> None:
    def build() -> Any:
        class Bag(Mapping[str, Any]):
            def __init__(self, items: Any) -> None:
                self.items_ = dict(items)

            def __getitem__(self, key: str) -> Any:
                return self.items_[key]

            def __iter__(self) -> Iterator[str]:
                return iter(self.items_)

            def __len__(self) -> int:
                return len(self.items_)

        return function_of(Bag, lambda c: c([("a", X)]))

    assert dies(build)


def test_a_function_dies_with_the_class_of_its_result() -> None:
    def build() -> Any:
        class Point(collections.namedtuple("Point", "x y")):
            pass

        f = tf.function(lambda x: Point(x, x))
        Point.f = f  # type: ignore[attr-defined]
        assert type(f(X)) is Point
        return f

    assert dies(build)


def test_a_function_dies_with_a_dict_key_that_holds_it() -> None:
    def build() -> Any:
        class Key:
            def __init__(self, rank: int) -> None:
                self.rank = rank

            def __lt__(self, other: Any) -> bool:
                return bool(self.rank < other.rank)

        keys = [Key(1), Key(2)]
        f = tf.function(lambda d: d[keys[0]] + d[keys[1]])
        keys[0].f = f  # type: ignore[attr-defined]
        f({keys[0]: X, keys[1]: X})
        return f

    assert dies(build)


def test_a_function_dies_with_a_literal_that_holds_it() -> None:
    def build() -> Any:
        class Name(str):
            f: Any

        name = Name("a")
        f = tf.function(lambda n: X + float(len(n)))
        name.f = f
        f(name)
        return f

    assert dies(build)


class HeldType(tf.types.experimental.TraceType):
    """A user's type, which holds what it is given."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def is_subtype_of(self, other: Any) -> bool:
        return bool(self == other)

    def most_specific_common_supertype(self, others: Any) -> Any:
        return self if all(self == other for other in others) else None

    def placeholder_value(self, placeholder_context: Any) -> Any:
        return self.value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HeldType) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class Held:
    f: Any

    def __tf_tracing_type__(self, context: Any) -> HeldType:
        return HeldType(self)


def test_a_function_dies_with_a_trace_type_that_holds_it() -> None:
    def build() -> Any:
        held = Held()
        held.f = tf.function(lambda h, x: x + 1.0)
        for _ in range(2):
            held.f(held, X)
        assert held.f.experimental_get_tracing_count() == 1
        return held.f

    assert dies(build)


def test_a_function_dies_with_a_type_of_its_input_signature() -> None:
    def build() -> Any:
        held = Held()
        held.f = tf.function(lambda h, x: x + 1.0, [HeldType(held), tf.TensorSpec([2])])
        held.f(held, X)
        return held.f

    assert dies(build)


def test_a_function_dies_with_what_the_gradient_of_its_body_holds() -> None:
    def build() -> Any:
        functions: list[Any] = []

        @tf.custom_gradient
        def square(x: Any) -> Any:
            return x * x, lambda dy: (functions, dy * 2.0 * x)[1]

        f = tf.function(lambda x: square(x))
        functions.append(f)
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = f(X)
        tape.gradient(y, X)
        return f

    assert dies(build)


def test_a_custom_gradient_made_by_another_lives_and_dies_with_the_function() -> None:
    # It was gone before the second order asked for it.
    def second_order(f: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(X)
            with tf.GradientTape() as inner:
                inner.watch(X)
                y = f(X)
            dx = inner.gradient(y, X)
        return outer.gradient(dx, X)

    def build() -> Any:
        functions: list[Any] = []

        @tf.custom_gradient
        def square(x: Any) -> Any:
            def gradient(dy: Any) -> Any:
                @tf.custom_gradient
                def twice(u: Any) -> Any:
                    return 2.0 * u, lambda d: (functions, d * 100.0 * u)[1]

                return dy * twice(x)

            return x * x, gradient

        f = tf.function(lambda x: square(x))
        # A trace that asks for the gradients first does not own what they leave.
        assert tf.function(lambda: second_order(f))().numpy().tolist() == [100.0, 200.0]
        gc.collect()
        assert second_order(f).numpy().tolist() == [100.0, 200.0]
        functions.append(f)
        return f

    assert dies(build)


def test_a_concrete_function_keeps_what_it_needs_when_the_function_is_gone() -> None:
    def build() -> tuple[Any, type]:
        class Point(collections.namedtuple("Point", "x y")):
            pass

        f = tf.function(lambda p: Point(p.x + p.y, p.x))
        Point.f = f  # type: ignore[attr-defined]
        return f.get_concrete_function(Point(X, X)), Point

    concrete, point = build()
    del point.f  # type: ignore[attr-defined]
    gc.collect()
    assert concrete(point(X, X)).x.numpy().tolist() == [2.0, 4.0]
    reference = weakref.ref(point)
    del point
    gc.collect()
    assert reference() is not None
    assert "Point" in concrete.pretty_printed_signature()


def test_two_functions_may_share_a_trace_type_and_one_may_die() -> None:
    held = Held()
    spec = HeldType(held)
    f = tf.function(lambda h, x: x + 1.0, [spec, tf.TensorSpec([2])])
    g = tf.function(lambda h, x: x + 2.0, [spec, tf.TensorSpec([2])])
    f(held, X)
    g(held, X)
    del f
    gc.collect()
    assert g(held, X).numpy().tolist() == [3.0, 4.0]
    assert g.experimental_get_tracing_count() == 1


def test_traces_that_fail_leave_nothing_behind() -> None:
    class Token:
        pass

    tokens: list[weakref.ref[Any]] = []

    @tf.function
    def f(held: Any, x: Any) -> Any:
        raise KeyError("no")

    for _ in range(100):
        held = Held()
        held.token = Token()  # type: ignore[attr-defined]
        tokens.append(weakref.ref(held.token))  # type: ignore[attr-defined]
        with pytest.raises(KeyError):
            f(held, X)
    del held
    gc.collect()
    assert not any(token() for token in tokens)


@pytest.mark.parametrize("persistent", [True, False])
def test_a_tape_dies_with_a_gradient_that_holds_it(persistent: bool) -> None:
    class Token:
        pass

    def build() -> weakref.ref[Any]:
        token = Token()
        tapes: list[Any] = []

        @tf.custom_gradient
        def square(x: Any) -> Any:
            return x * x, lambda dy: (token, tapes, dy * 2.0 * x)[2]

        with tf.GradientTape(persistent=persistent) as tape:
            tapes.append(tape)
            tape.watch(X)
            y = square(X)
        if persistent:
            assert tape.gradient(y, X).numpy().tolist() == [2.0, 4.0]
        return weakref.ref(token)

    reference = build()
    gc.collect()
    assert reference() is None


def test_nested_tapes_keep_the_gradient_that_both_recorded() -> None:
    with tf.GradientTape() as outer:
        outer.watch(X)
        with tf.GradientTape() as inner:
            inner.watch(X)
            y = tf.custom_gradient(lambda x: (x * x, lambda dy: dy * 3.0 * x))(X)
        dx = inner.gradient(y, X)
        del inner
        gc.collect()
    assert outer.gradient([dx, y], X).numpy().tolist() == [3.0 + 3.0, 3.0 + 6.0]


def test_classes_that_went_leave_nothing_behind() -> None:
    # Each class whose instance was an argument left a weak reference and its callback.
    def use_classes() -> int:
        f = tf.function(lambda thing: X + 1.0)
        for _ in range(50):
            f(type("Thing", (), {})())
        del f
        gc.collect()
        return sum(isinstance(o, weakref.ref) for o in gc.get_objects())

    before = use_classes()
    assert use_classes() <= before + 5


@pytest.mark.parametrize("times", [1, 100])
def test_a_tensor_dies_with_its_attributes_when_they_lead_back_to_it(times: int) -> None:
    def build() -> Any:
        tensors = [tf.constant([float(i)]) for i in range(times)]
        for x in tensors:
            vars(x)["others"] = tensors
        return tensors[-1]

    assert dies(build)


def test_a_tensor_of_which_nothing_was_set_is_not_looked_at_by_the_collector() -> None:
    x = tf.constant([1.0])
    assert not gc.is_tracked(x)
    setattr(x, "note", "kept")  # noqa: B010 (no attribute that checkers know)
    assert gc.is_tracked(x)


def train_step() -> None:
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = {"loss": tf.reduce_sum(X * X), "kept": [X + 1.0]}
    tape.gradient(y["loss"], [X, {"again": X}])
    tf.nest.pack_sequence_as(y, tf.nest.flatten(y))
    tf.nest.map_structure(tf.identity, y)


@pytest.mark.parametrize("step", [train_step, tf.function(train_step)], ids=["eager", "traced"])
def test_gradients_leave_nothing_to_the_collector(step: Callable[[], None]) -> None:
    # Else their memory is not there again for the next step, which takes new pages of the system.
    for _ in range(3):
        step()
    gc.collect()
    gc.disable()
    try:
        for _ in range(10):
            step()
        assert gc.collect() == 0
    finally:
        gc.enable()
