"""Tensors as Python sees them: making, printing, operators, refusals."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import graven as tf
import numpy as np
import pytest


def test_import_does_not_import_numpy() -> None:
    code = "import graven, sys; graven.constant([1.0]) + 1; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_tracing_does_not_import_numpy(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        "import graven as tf\n"
        "@tf.function\n"
        "def f(x):\n"
        "    rows = tf.TensorArray(tf.float32, 4)\n"
        "    for i in tf.range(4):\n"
        "        if x > 2.0:\n"
        "            x -= 1.0\n"
        "        rows = rows.write(i, x)\n"
        "    while x < 7.0:\n"
        "        x *= 2.0\n"
        "    return tf.reduce_sum(rows.stack()) + x\n"
        "f(tf.constant(3.0))\n"
        "assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, program], check=True)


@pytest.mark.parametrize(
    ("value", "text", "representation"),
    [
        (2, "tf.Tensor(2, shape=(), dtype=int32)", "<tf.Tensor: shape=(), dtype=int32, numpy=2>"),
        (
            2.2,
            "tf.Tensor(2.2, shape=(), dtype=float32)",
            "<tf.Tensor: shape=(), dtype=float32, numpy=2.200000047683716>",
        ),
        (
            "a",
            "tf.Tensor(b'a', shape=(), dtype=string)",
            "<tf.Tensor: shape=(), dtype=string, numpy=b'a'>",
        ),
        (
            [[1, 2], [3, 4]],
            "tf.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)",
            "<tf.Tensor: shape=(2, 2), dtype=int32, numpy=\narray([[1, 2],\n       [3, 4]], "
            "dtype=int32)>",
        ),
        (
            [],
            "tf.Tensor([], shape=(0,), dtype=float32)",
            "<tf.Tensor: shape=(0,), dtype=float32, numpy=array([], dtype=float32)>",
        ),
    ],
)
def test_printing_is_that_of_tensorflow(value: Any, text: str, representation: str) -> None:
    x = tf.constant(value)
    assert str(x) == text
    assert repr(x) == representation


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, tf.int32),
        (2**31, tf.int64),
        (1.0, tf.float32),
        (1j, tf.complex128),
        (True, tf.bool),
        ("a", tf.string),
        (b"a", tf.string),
        ([1, 2.5], tf.float32),
        ([1, True], tf.int32),
        ([1, 2**40], tf.int64),
        ([[], []], tf.float32),
        (np.float64(1), tf.float64),
        ([np.float64(1)], tf.float64),
        (np.int64(1), tf.int64),
        (np.zeros(2, np.float16), tf.float16),
        (range(3), tf.int32),
    ],
)
def test_python_values_get_tensorflows_dtypes(value: Any, dtype: tf.DType) -> None:
    assert tf.constant(value).dtype is dtype


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        ([[1, 2], [3]], ValueError, "Can't convert non-rectangular Python sequence to Tensor."),
        ([True, 1], ValueError, "Can't convert Python sequence with mixed types to Tensor."),
        ([1, "a"], ValueError, "Can't convert Python sequence with mixed types to Tensor."),
        (2**63, ValueError, "out-of-range integer"),
        (None, ValueError, "unsupported type (<class 'NoneType'>) to a Tensor."),
        ({}, ValueError, "unsupported type (<class 'dict'>) to a Tensor."),
    ],
)
def test_values_that_are_no_tensors_are_refused(value: Any, error: Any, text: str) -> None:
    with pytest.raises(error) as raised:
        tf.constant(value)
    assert text in str(raised.value)


@pytest.mark.parametrize(
    ("value", "dtype"), [(1.5, tf.int32), ("a", tf.int32), (1, tf.string), (1j, tf.float32)]
)
def test_values_of_another_kind_than_the_dtype_are_refused(value: Any, dtype: tf.DType) -> None:
    with pytest.raises(TypeError, match="Cannot convert"):
        tf.constant(value, dtype)


def test_python_numbers_take_the_dtype_of_the_tensor() -> None:
    x = tf.constant([1.0, 2.0])
    for result in (x + 1, 1 + x, x * 2, 3 - x, x / 2, x**2, x + np.array([1, 2])):
        assert result.dtype is tf.float32


def test_tensors_of_two_dtypes_are_not_promoted() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        tf.constant([1]) + tf.constant([1.0])
    assert "expected to be a int32 tensor but is a float tensor" in str(raised.value)


def test_numpy_arrays_on_the_left_leave_operators_to_tensors() -> None:
    assert isinstance(np.array([1.0, 2.0]) + tf.constant([1.0, 2.0]), tf.Tensor)
    assert isinstance(np.float64(1) * tf.constant([1.0, 2.0]), tf.Tensor)


def test_integers_divide_as_floats() -> None:
    assert (tf.constant(3) / 2).dtype is tf.float64
    assert (tf.constant(3, tf.int16) / 2).dtype is tf.float32


def test_equality_with_none_is_no_tensor() -> None:
    x = tf.constant([1])
    assert (x == None) is False  # noqa: E711
    assert (x != None) is True  # noqa: E711


def test_shapes_that_do_not_broadcast_are_unequal() -> None:
    x = tf.constant([1, 2])
    assert (x == [1, 2, 3]).numpy().item() is False
    assert (x != [1, 2, 3]).numpy()


def test_a_tensor_is_unhashable_but_its_reference_is() -> None:
    x, y = tf.constant(1), tf.constant(1)
    with pytest.raises(TypeError, match=r"Instead, use tensor\.ref\(\) as the key"):
        hash(x)
    assert x.ref() == x.ref() and hash(x.ref()) == hash(x.ref())
    assert x.ref() != y.ref()
    assert x.ref().deref() is x


def test_an_integer_of_numpy_is_an_index_and_a_bool_array_a_mask() -> None:
    x = tf.constant([[1, 2], [3, 4], [5, 6]])
    for index in (np.array(1), np.int64(1), np.uint8(1)):
        assert x[index].numpy().tolist() == [3, 4]
        assert x[index, np.array(0)].numpy() == 3
    assert x[np.array([True, False, True])].numpy().tolist() == [[1, 2], [5, 6]]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int64", "uint64"])
def test_a_place_in_a_slice_may_be_a_tensor_of_any_integers(dtype: str) -> None:
    def parts(x: Any, i: Any) -> Any:
        return x[i], x[i, 0], x[i:], x[:i], x[0:i, 1], x[::i]

    x, i = tf.constant([[1, 2], [3, 4], [5, 6]]), tf.constant(2, dtype)
    expected = [part.tolist() for part in parts(x.numpy(), 2)]
    assert [part.numpy().tolist() for part in parts(x, i)] == expected
    assert [part.numpy().tolist() for part in tf.function(parts)(x, i)] == expected


def test_what_numpy_gives_may_be_written_without_changing_the_tensor() -> None:
    x = tf.constant([1.0, 2.0])
    array = x.numpy()
    array[0] = 5
    assert x.numpy().tolist() == [1, 2]
    assert not np.asarray(x).flags.writeable


def test_a_tensor_is_a_snapshot_of_an_array() -> None:
    array = np.array([1.0, 2.0])
    x = tf.constant(array)
    array[0] = 5
    assert x.numpy().tolist() == [1, 2]


def at_an_odd_address(array: Any) -> Any:
    memory = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    memory[...] = array
    return memory


LAYOUTS = {
    "rows backwards": lambda array: array[:, ::-1],
    "every second": lambda array: np.repeat(array, 2, axis=-1)[::2, ::2],
    "axes in another order": lambda array: np.asfortranarray(array)[::2],
    "one row, repeated": lambda array: np.broadcast_to(array[0], (3, 4)),
    "at an odd address": at_an_odd_address,
}
NUMPY_TYPES = [
    *["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"],
    *[">i4", ">f8", "S3", "U3", "O"],
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", NUMPY_TYPES)
def test_arrays_of_any_layout_are_read(name: str, layout: str) -> None:
    numbers = np.arange(12).reshape(3, 4)
    plain = numbers % 2 == 1 if name == "?" else numbers.astype(str if name == "O" else name)
    if name == "O" and layout == "at an odd address":
        return  # Objects lie at even addresses.
    array = LAYOUTS[layout](plain.astype(name))
    wanted = array.tolist() if name[0] not in "UO" else np.char.encode(array.astype(str)).tolist()
    assert tf.constant(array).numpy().tolist() == wanted
    assert tf.convert_to_tensor(array).shape == array.shape


def test_bfloat16_goes_to_numpy_and_back() -> None:
    x = tf.constant([1.0, 2.5], tf.bfloat16)
    assert tf.constant(x.numpy()).dtype is tf.bfloat16
    assert str(x) == "tf.Tensor([1 2.5], shape=(2,), dtype=bfloat16)"


def test_strings_go_to_numpy_and_back() -> None:
    x = tf.constant([["a", "é"], [b"\xff", ""]])
    assert x.numpy().tolist() == [[b"a", b"\xc3\xa9"], [b"\xff", b""]]
    assert tf.constant(x.numpy()).numpy().tolist() == x.numpy().tolist()
    assert tf.constant(np.array(["x", "yz"])).numpy().tolist() == [b"x", b"yz"]


def test_tensors_can_be_pickled() -> None:
    for x in (tf.constant([1, 2]), tf.constant(1.5), tf.constant("a"), tf.constant(1, tf.bfloat16)):
        y = pickle.loads(pickle.dumps(x))
        assert y.dtype is x.dtype and y.shape == x.shape and str(y) == str(x)


def test_scalars_are_python_numbers_where_python_wants_them() -> None:
    x = tf.constant(3)
    assert int(x) == 3 and float(x) == 3.0 and [0, 1, 2, 3][x] == 3 and hex(x) == "0x3"
    assert f"{tf.constant(2.0):.2f}" == "2.00"
    with pytest.raises(TypeError):
        int(tf.constant([1, 2]))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(tf.constant([1, 2]))


def test_an_eager_tensor_has_no_graph() -> None:
    for name in ("name", "graph", "op"):
        with pytest.raises(AttributeError, match="undefined when eager execution is enabled"):
            getattr(tf.constant(1), name)


def test_set_shape_checks_what_is_known() -> None:
    x = tf.constant([1, 2])
    x.set_shape([None])
    with pytest.raises(ValueError, match="is not compatible with supplied shape"):
        x.set_shape([3])


def test_divide_no_nan_makes_floats_of_integers() -> None:
    quotients = tf.math.divide_no_nan(tf.constant([7, 5]), tf.constant([2, 0]))
    assert quotients.dtype == tf.float64
    assert quotients.numpy().tolist() == [3.5, 0.0]
    assert tf.math.divide_no_nan(3, tf.constant([2.0])).numpy().tolist() == [1.5]


def test_a_list_that_holds_tensors_is_packed_but_no_constant() -> None:
    x = tf.constant(1)
    for items in ([x, 2], [[2, 3], [4, x]], [tf.Variable(1)]):
        assert tf.convert_to_tensor(items).dtype == tf.int32
        with pytest.raises(ValueError, match=r"not lists that hold tensors: tf\.stack"):
            tf.constant(items)
        with pytest.raises(TypeError, match=r"not lists that hold tensors: tf\.stack"):
            tf.function(lambda items=items: tf.constant(items))()


def test_a_bool_is_a_number_of_any_dtype_while_a_function_is_traced() -> None:
    with pytest.raises(TypeError, match="Cannot convert True to EagerTensor of dtype uint8"):
        tf.constant(True, tf.uint8)
    assert tf.function(lambda: tf.constant(True, tf.uint8))().numpy() == 1


def test_arrays_with_any_steps_are_read_in_order() -> None:
    numbers = np.arange(2 * 3 * 4, dtype=np.int32).reshape(2, 3, 4)
    fields = np.zeros(3, [("small", np.int8), ("wide", np.int32)])  # not aligned
    fields["wide"] = [1, 2, 3]
    arrays = [numbers[::-1], numbers[:, ::2], numbers.T, numbers.transpose(1, 0, 2), numbers[0, 0]]
    for array in [
        *arrays,
        numbers[:, :, 1:1],
        np.broadcast_to(numbers[0], (5, 3, 4)),
        fields["wide"],
    ]:
        np.testing.assert_array_equal(tf.constant(array).numpy(), array)
        np.testing.assert_array_equal(tf.constant(array > 2).numpy(), array > 2)


def test_lists_of_one_type_and_of_several() -> None:
    assert tf.constant([True, False]).dtype == tf.bool
    assert tf.constant([1, 2**40]).numpy().tolist() == [1, 2**40]
    assert tf.constant([1, 2.5]).numpy().tolist() == [1, 2.5]
    assert tf.constant(["a", b"b"]).numpy().tolist() == [b"a", b"b"]
    assert tf.constant([1, 2], tf.float64).dtype == tf.float64
    with pytest.raises(ValueError, match="mixed types"):
        tf.constant([True, 1.5, "a"])
