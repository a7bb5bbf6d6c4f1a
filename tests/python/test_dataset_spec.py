"""tf.data.DatasetSpec: the type of datasets, of which there are none yet."""

import pickle
from typing import Any

import graven as tf
import pytest

Spec: Any = tf.data.DatasetSpec
THREE, ANY = tf.TensorSpec([3], tf.int32), tf.TensorSpec([None], tf.int32)


def test_it_is_made_of_a_structure_of_specs_and_a_shape() -> None:
    spec = Spec({"a": THREE}, dataset_shape=[2])
    assert spec.element_spec == {"a": THREE}
    assert repr(spec) == (
        "DatasetSpec({'a': TensorSpec(shape=(3,), dtype=tf.int32, name=None)}, TensorShape([2]))"
    )
    assert isinstance(spec, tf.TypeSpec)
    assert tf.nest.flatten(spec) == [spec]
    (component,) = tf.nest.flatten(spec, expand_composites=True)
    assert (component.shape.as_list(), component.dtype) == ([2], tf.variant)


def test_equal_ones_have_equal_hashes() -> None:
    assert Spec((THREE, [ANY])) == Spec((THREE, [ANY]))
    assert hash(Spec((THREE, [ANY]))) == hash(Spec((THREE, [ANY])))
    assert Spec(THREE) != Spec(ANY) and Spec(THREE) != Spec(THREE, [1]) and Spec(THREE) != THREE
    assert pickle.loads(pickle.dumps(Spec(THREE))) == Spec(THREE)


def test_it_covers_what_leaves_less_open() -> None:
    assert Spec(THREE).is_subtype_of(Spec(ANY)) and not Spec(ANY).is_subtype_of(Spec(THREE))
    assert Spec(THREE, [2]).is_subtype_of(Spec(THREE, [None]))
    assert not Spec((THREE,)).is_subtype_of(Spec([THREE])) and not Spec(THREE).is_subtype_of(THREE)
    four = Spec(tf.TensorSpec([4], tf.int32))
    assert Spec(THREE).most_specific_common_supertype([four]) == Spec(ANY)
    assert Spec(THREE).most_specific_common_supertype([Spec((THREE,))]) is None
    assert Spec(THREE).most_specific_common_supertype([THREE]) is None
    assert Spec(ANY).is_compatible_with(Spec(THREE)) and not Spec(ANY).is_compatible_with(1)


@pytest.mark.parametrize("argument", [1, None, [1], tf.constant([1, 2, 3])])
def test_a_signature_refuses_what_is_no_dataset(argument: Any) -> None:
    f = tf.function(lambda x: x, input_signature=[Spec(THREE)])
    assert f.input_signature == (Spec(THREE),)
    with pytest.raises(TypeError, match=r"Can not cast [\s\S]* to DatasetSpec"):
        f(argument)


def test_without_datasets_nothing_is_of_it() -> None:
    f = tf.function(lambda x: x, input_signature=[Spec(THREE)])
    with pytest.raises(NotImplementedError, match="no datasets yet"):
        f.get_concrete_function()
    with pytest.raises(NotImplementedError, match="no datasets yet"):
        _ = Spec(THREE).value_type
    with pytest.raises(AttributeError, match=r"Graven has no tf\.data\.Dataset"):
        tf.data.Dataset  # type: ignore[attr-defined]  # noqa: B018
