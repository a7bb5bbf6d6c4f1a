"""TensorShape and DType."""

import copy
import pickle

import graven as tf
import numpy as np
import pytest
from graven import TensorShape


def test_shapes_print_as_tensorflow_prints_them() -> None:
    assert str(TensorShape([1, None])) == "(1, None)"
    assert repr(TensorShape([3])) == "TensorShape([3])"
    assert str(TensorShape([3])) == "(3,)"
    assert str(TensorShape(None)) == "<unknown>"
    assert repr(TensorShape(None)) == "TensorShape(None)"


def test_shapes_equal_lists_and_tuples() -> None:
    assert TensorShape([2, 3]) == [2, 3] == TensorShape((2, 3))
    assert TensorShape([2, 3]) != [2, 4]
    assert TensorShape([]) == [] and TensorShape(None) != []


def test_merging_keeps_what_is_known_and_refuses_contradictions() -> None:
    assert TensorShape([None, 3]).merge_with([2, None]).as_list() == [2, 3]
    assert TensorShape(None).merge_with([2]).as_list() == [2]
    with pytest.raises(ValueError, match=r"Shapes \(2,\) and \(3,\) are not compatible"):
        TensorShape([2]).merge_with([3])


def test_slices_of_shapes_are_shapes() -> None:
    shape = TensorShape([2, None, 4])
    assert shape[0] == 2 and shape[1] is None and shape[-2:].as_list() == [None, 4]
    assert shape[:1].concatenate([7]).as_list() == [2, 7]
    assert TensorShape(None)[1:].rank is None


def test_what_is_not_known_is_told() -> None:
    assert TensorShape([2, 3]).num_elements() == 6
    assert TensorShape([2, None]).num_elements() is None
    assert not TensorShape([2, None]).is_fully_defined()
    with pytest.raises(ValueError, match=r"as_list\(\) is not defined on an unknown TensorShape"):
        TensorShape(None).as_list()
    with pytest.raises(ValueError, match="must have rank 3"):
        TensorShape([2]).with_rank(3)


def test_the_lattice_of_shapes() -> None:
    assert TensorShape([2]).is_subtype_of(TensorShape([None]))
    assert not TensorShape([None]).is_subtype_of(TensorShape([2]))
    common = TensorShape([2, 3]).most_specific_common_supertype([TensorShape([2, 4])])
    assert common is not None and common.as_list() == [2, None]


@pytest.mark.parametrize("size", [-2, "3", 1.5])
def test_bad_sizes_are_refused(size: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        TensorShape([size])


def test_shapes_can_be_copied_and_hashed() -> None:
    shape = TensorShape([2, None])
    assert pickle.loads(pickle.dumps(shape)) == shape == copy.deepcopy(shape)
    assert hash(shape) == hash(TensorShape([2, None]))


def test_dtypes_are_found_by_all_their_names() -> None:
    for number in (tf.float32, "float32", "float", np.float32, np.dtype("float32"), 1, float):
        assert tf.as_dtype(number) is tf.float32
    for text in (tf.string, "string", np.str_, object, np.dtype("U3"), np.object_):
        assert tf.as_dtype(text) is tf.string
    for other in ("nonsense", str, int, complex, "f4"):
        with pytest.raises(TypeError, match="Cannot convert the argument `type_value`"):
            tf.as_dtype(other)


def test_what_dtypes_know_of_themselves() -> None:
    assert tf.float32 == np.float32 and tf.float32 != tf.float64 and tf.int32 == "int32"
    assert tf.uint8.limits == (0, 255) and tf.int8.min == -128
    assert tf.float16.max == np.finfo(np.float16).max
    assert tf.complex64.real_dtype is tf.float32
    assert [t.size for t in (tf.bool, tf.int16, tf.float64, tf.complex128)] == [1, 2, 8, 16]
    assert (str(tf.int32), repr(tf.int32)) == ("<dtype: 'int32'>", "tf.int32")
    assert pickle.loads(pickle.dumps(tf.bfloat16)) is tf.bfloat16
