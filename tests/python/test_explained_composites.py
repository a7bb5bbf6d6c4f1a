"""explain() where arguments are composite tensors, or have TraceTypes of the program's."""

import gc
from collections.abc import Callable
from typing import Any

import graven as tf
import pytest


def function(*arguments: Any, **options: Any) -> Any:
    """tf.function, whose overloads mypy cannot choose among by a dict of options."""
    return tf.function(*arguments, **options)


def traces_of(f: Any) -> Any:
    """What is told of the traces of a Function."""
    (told,) = f.explain().to_dict()["functions"]
    return told["traces"]


def second_why(*calls: tuple[Any, Any]) -> Any:
    """Why the second of two calls made a trace."""
    f = tf.function(lambda x, y=0: (x, y))
    for call in calls:
        f.get_concrete_function(*call)
    return traces_of(f)[1]["why"]


class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    kept: tf.Tensor


def masked(n: int) -> Masked:
    return Masked(tf.ones([n]), tf.ones([n], tf.bool))


COMPOSITES: list[tuple[Callable[[int], Any], str, str]] = [
    (
        lambda n: tf.RaggedTensor.from_row_splits(tf.ones([2]), [0, *[2] * n]),
        "RaggedTensorSpec(TensorShape([{}, None]), tf.float32, 1, tf.int64)",
        "tf.RaggedTensorSpec(tf.TensorShape([None, None]), tf.float32, 1, tf.int64)",
    ),
    (
        lambda n: tf.SparseTensor([[0, 1]], [1.0], [n, 2]),
        "SparseTensorSpec(TensorShape([{}, 2]), tf.float32)",
        "tf.SparseTensorSpec(tf.TensorShape([None, 2]), tf.float32)",
    ),
    (
        lambda n: tf.experimental.Optional.from_value(tf.ones([n])),
        "OptionalSpec(float32[{}],)",
        "tf.OptionalSpec(tf.TensorSpec(shape=(None,), dtype=tf.float32, name=None),)",
    ),
    (
        masked,
        "Masked.Spec(values=float32[{0}], kept=bool[{0}])",
        "Masked.Spec(values=tf.TensorSpec(shape=(None,), dtype=tf.float32, name=None), "
        "kept=tf.TensorSpec(shape=(None,), dtype=tf.bool, name=None))",
    ),
]
KINDS = ["ragged", "sparse", "optional", "extension"]


@pytest.mark.parametrize("make, text, spec", COMPOSITES, ids=KINDS)
def test_composites_are_told_by_their_specs(
    make: Callable[[int], Any], text: str, spec: str
) -> None:
    why = second_why((make(1), make(1)), (make(1), make(3)))
    assert why["cause"] == "differs"
    assert (why["path"], why["now"], why["before"]) == ("y", text.format(3), text.format(1))
    assert "input_signature=[" in why["advice"] and spec in why["advice"]
    assert "identity" not in why["advice"]


@pytest.mark.parametrize("make", [c[0] for c in COMPOSITES], ids=KINDS)
def test_the_advised_spec_of_composites_serves_them_all(make: Callable[[int], Any]) -> None:
    f = function(lambda x: x, reduce_retracing=False)
    for n in (1, 2):
        f(make(n))
    advice = traces_of(f)[1]["why"]["advice"]
    signature = advice[advice.index("[") : advice.rindex("]") + 1]
    scope = {"tf": tf, "Masked": Masked}
    g = function(lambda x: x, input_signature=eval(signature, scope))
    for n in range(1, 6):
        g(make(n))
    assert g.experimental_get_tracing_count() == 1


def test_a_trace_type_of_the_program_is_named_by_class_and_not_called_an_object() -> None:
    class Type(tf.types.experimental.TraceType):
        def is_subtype_of(self, other: Any) -> bool:
            return self is other

        def most_specific_common_supertype(self, others: Any) -> Any:
            return None

        def placeholder_value(self, placeholder_context: Any) -> Any:
            return 0

        def __eq__(self, other: object) -> bool:
            return self is other

        def __hash__(self) -> int:
            return 0

    class Value:
        def __tf_tracing_type__(self, context: Any) -> Any:
            return Type()

    why = second_why((Value(), 0), (Value(), 0))
    assert why["now"].startswith("a value with a TraceType of class ")
    assert "is_subtype_of" in why["advice"]
    assert "identity" not in why["advice"]


def test_attributes_of_a_composite_argument_are_no_watched_values() -> None:
    @tf.function
    def f(m: Masked) -> Any:
        return m.values * 2.0

    f(masked(2))
    gc.collect()
    (trace,) = traces_of(f)
    assert trace["captures"] == []
