"""Bad input is refused in words, eagerly and traced: the op, what must hold, what came.

What an op refuses because of its inputs is an InvalidArgumentError eagerly. What inference finds
while a function is traced is a ValueError, a wrong dtype a TypeError; what only the values show is
an InvalidArgumentError when the trace runs (S11.9).
"""

import math
import re
from dataclasses import dataclass
from typing import Any

import graven as tf
import numpy as np
import pytest

INVALID = tf.errors.InvalidArgumentError
EXHAUSTED = tf.errors.ResourceExhaustedError
NAN = float("nan")
F = np.ones([2, 3], np.float32)
IMAGE = np.ones([1, 4, 4, 1], np.float32)
FILTER = np.ones([1, 1, 1, 1], np.float32)


@dataclass(frozen=True)
class Bad:
    """An expression over tf, and what is said about it.

    Attributes:
      eager: The class of the error, and a piece of its message.
      traced: The class while a function is traced; None: the same, when the trace runs or before.
      message: A piece of the message of the trace, if it is another.
    """

    code: str
    eager: tuple[type[Exception], str]
    traced: type[Exception] | None = None
    message: str = ""


def shape(code: str, message: str, traced: str = "") -> Bad:
    """What inference finds."""
    return Bad(code, (INVALID, message), ValueError, traced or message)


def dtype(code: str, message: str, traced: str = "") -> Bad:
    """What the types of the record do not allow."""
    return Bad(code, (INVALID, message), TypeError, traced or message)


def value(code: str, message: str) -> Bad:
    """What only values show."""
    return Bad(code, (INVALID, message))


def python(code: str, error: type[Exception], message: str) -> Bad:
    """What is refused before an op is applied."""
    return Bad(code, (error, message))


def allowed(attr: str, got: str, op: str) -> str:
    return rf"Value for attr '{attr}' of {got} is not in the list of allowed values: .*\[Op:{op}\]"


TABLE = {
    "dtype": [
        dtype("tf.constant([1.0]) + tf.constant([1])",
              r"cannot compute AddV2 as input #1\(zero-based\) was expected to be a float tensor "
              r"but is a int32 tensor",
              "Input 'y' of 'AddV2' Op has type int32 that does not match type float32 of "
              "argument 'x'"),
        dtype("tf.matmul(F, tf.constant([['a']]))", "cannot compute MatMul as input #1.*string",
              "Input 'b' of 'MatMul' Op has type string that does not match type float32"),
        dtype("tf.sqrt(tf.constant([1]))", allowed("T", "int32", "Sqrt")),
        dtype("tf.nn.relu(tf.constant('a'))", allowed("T", "string", "Relu")),
        dtype("tf.reduce_sum(tf.constant('a'))", allowed("T", "string", "Sum")),
        dtype("tf.bitwise.bitwise_and(F, F)", allowed("T", "float", "BitwiseAnd")),
        dtype("tf.gather(F, [1.0])", allowed("Tindices", "float", "GatherV2")),
        dtype("tf.reduce_all(F)", "cannot compute All as input #0.*expected to be a bool",
              "Input 'input' of 'All' Op has type float32 that does not match expected type of "
              "bool"),
        dtype("tf.where(tf.constant([1]), F, F)",
              "cannot compute SelectV2 as input #0.*expected to be a bool tensor but is a int32",
              "Input 'condition' of 'SelectV2' Op has type int32 that does not match"),
        python("tf.cast(F, 'nope')", TypeError, "Cannot convert the argument `type_value`: 'nope'"),
        python("tf.cast(tf.constant('a'), tf.float32)", tf.errors.UnimplementedError,
               "Cast string to float32 is not supported"),
        python("tf.constant(1.5, tf.int32)", TypeError,
               "Cannot convert 1.5 to EagerTensor of dtype int32"),
        python("tf.convert_to_tensor(F, tf.int32)", ValueError,
               "Tensor conversion requested dtype int32 for Tensor with dtype float32"),
        python("tf.random.uniform([2], dtype=tf.int32)", ValueError,
               "Must specify maxval for integer dtype"),
    ],
    "rank": [
        shape("tf.matmul(tf.ones([2]), tf.ones([2]))", r"ndims must be >= 2: 1"),
        shape("tf.nn.conv2d(tf.ones([1, 4, 4]), FILTER, 1, 'SAME')",
              r"\[Conv2D\] input must be 4-dimensional: \[1,4,4\]"),
        shape("tf.nn.max_pool2d(tf.ones([1, 4, 4]), 2, 2, 'SAME')",
              r"\[MaxPool\] the input must be 4-dimensional, got shape \[1,4,4\]"),
        shape("tf.nn.bias_add(F, F)", r"\[BiasAdd\] Biases must be 1D: \[2,3\]"),
        shape("tf.concat([F, tf.ones([2])], 0)", r"\[ConcatV2\] Ranks of all inputs should match"),
        shape("tf.concat([tf.constant(1.0)] * 2, 0)", r"Can't concatenate scalars"),
        shape("F[0, 0, 0]", r"Index out of range using input dim 2; input has only 2 dims"),
        shape("tf.slice(F, [0], [1])", r"\[Slice\] Expected begin and size .* of size 2"),
        shape("tf.pad(F, [[1, 1]])", r"first dimension of paddings must be the rank of inputs"),
        shape("tf.tile(F, [1])", r"Expected multiples argument to be a vector of length 2"),
        shape("tf.fill([[1]], 1.0)", r"\[Fill\] shape must be a vector of integers, got .*\[1,1\]"),
        shape("tf.random.stateless_uniform([2], seed=[1])", r"must have shape \[2\], not \[1\]"),
    ],
    "shape": [
        shape("tf.matmul(F, tf.ones([4, 5]))",
              r"\[MatMul\] Matrix size-incompatible: In\[0\]: \[2,3\], In\[1\]: \[4,5\]",
              r"\[MatMul\] Dimensions must be equal, but are 3 and 4"),
        shape("tf.ones([2]) + tf.ones([3])", r"\[AddV2\] Incompatible shapes: \[2\] vs. \[3\]"),
        shape("tf.broadcast_to(tf.ones([2]), [3])", r"Incompatible shapes: \[2\] vs. \[3\]"),
        shape("tf.reshape(F, [4])", "tensor with 6 values, but the requested shape has 4"),
        shape("tf.reshape(F, [4, -1])", "requested shape requires a multiple of 4"),
        shape("tf.reshape(F, [-1, -1])", "Only one input size may be -1, not both 0 and 1"),
        shape("tf.reshape(F, [-2, 3])", "Size 0 must be non-negative, not -2"),
        shape("tf.concat([F, tf.ones([2, 2])], 0)",
              r"Dimension 1 in both shapes must be equal: shape\[0\] = \[2,3\] vs"),
        shape("tf.stack([tf.ones([2]), tf.ones([3])])",
              r"\[Pack\] Shapes of all inputs must match: values\[0\].shape = \[2\] != "
              r"values\[1\].shape = \[3\]"),
        shape("tf.nn.bias_add(F, tf.ones([2]))", "Must provide as many biases as the last dim"),
        shape("tf.nn.conv2d(tf.ones([1, 4, 4, 2]), tf.ones([1, 1, 3, 1]), 1, 'SAME')",
              "input depth must be evenly divisible by filter depth: 2 vs 3"),
        shape("tf.ensure_shape(F, [3, 3])",
              r"Shape of tensor \[2,3\] is not compatible with expected shape \[3,3\]"),
        shape("tf.split(F, 2, axis=1)", r"Number of ways to split should evenly divide"),
        shape("tf.transpose(F, [0])", "transpose expects a vector of size 2. But input.* size 1"),
        python("tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=[[1.0, 2.0]])",
               ValueError, "`labels.shape` must equal `logits.shape` except for the last dim"),
        python("tf.constant([1, 2], shape=[3])", TypeError, "value of 2 elements and a shape"),
        python("tf.TensorShape([1, 2]).assert_is_compatible_with([2, 2])", ValueError,
               r"Shapes \(1, 2\) and .* are incompatible"),
    ],
    "axis": [
        shape("tf.reduce_sum(F, axis=2)", r"\[Sum\] Invalid reduction dimension: axis 2 is out of "
                                          r"valid range \[-2, 2\)"),
        shape("tf.reduce_sum(F, axis=[0, 0])", "Axes contains duplicate dimension: 0"),
        shape("tf.argmax(F, axis=-3)", r"\[ArgMax\] Expected dimension in the range \[-2, 2\), but "
                                       r"got -3"),
        shape("tf.concat([F, F], 2)", r"Expected concatenating dimensions in the range \[-2, 2\)"),
        python("tf.stack([F, F], 3)", ValueError, r"Argument `axis` = 3 not in range \[-3, 3\)"),
        shape("tf.raw_ops.Pack(values=[F, F], axis=3)", r"\[Pack\] axis = 3 not in \[-3, 3\)"),
        shape("tf.split(F, 2, axis=5)", r"\[Split\] -input rank\(-2\) <= split_dim < input rank"),
        shape("tf.expand_dims(F, 3)", "Tried to expand dim index 3 for tensor with 2 dimensions"),
        shape("tf.squeeze(F, 5)", "Tried to squeeze dim index 5 for tensor with 2 dimensions"),
        shape("tf.squeeze(F, 0)", r"Can not squeeze dim\[0\], expected a dimension of 1, got 2"),
        shape("tf.cumsum(F, axis=2)", r"Expected scan axis in the range \[-2, 2\), but got 2"),
        shape("tf.reverse(F, [2])", r"\[ReverseV2\] axis 2 is out of valid range \[-2, 2\)"),
        shape("tf.gather(F, [0], axis=2)", r"Expected axis in the range \[-2, 2\), but got 2"),
        shape("tf.transpose(F, [0, 5])", "perm dim 5 is out of range of input rank 2"),
        value("tf.transpose(tf.ones([100000, 2]), [0, 0])", "1 is missing from {0,0}"),
        value("tf.transpose(F, [0, 0])", r"\[Transpose\] 1 is missing from \{0,0\}"),
        python("tf.unstack(F, axis=2)", ValueError, r"Argument `axis` = 2 not in range \[-2, 2\)"),
    ],
    "attribute": [
        shape("tf.nn.conv2d(IMAGE, FILTER, 1, 'NOPE')",
              r"\[Conv2D\] padding must be \"SAME\", \"VALID\" or \"EXPLICIT\", got \"NOPE\""),
        shape("tf.nn.conv2d(IMAGE, FILTER, 0, 'SAME')", r"Stride must be > 0, but got 0"),
        shape("tf.nn.max_pool2d(IMAGE, 0, 2, 'SAME')", "ksize must be positive, got 0"),
        shape("tf.raw_ops.Conv2D(input=IMAGE, filter=FILTER, strides=[1], padding='SAME')",
              "strides field must specify 4 dimensions, got 1"),
        python("tf.nn.conv2d(IMAGE, FILTER, [1, 1, 1], 'SAME')", ValueError,
               "strides should be of length 1, 2 or 4"),
        Bad("tf.nn.conv2d(IMAGE, FILTER, 1, 'SAME', data_format='HWCN')",
            (INVALID, 'data_format must be "NHWC" or "NCHW"'), ValueError),
        python("tf.raw_ops.Relu(features=F, nope=1)", TypeError,
               r"Relu\(\) got an unexpected keyword argument 'nope'"),
        python("tf.raw_ops.AddV2(x=F)", TypeError, r"AddV2\(\) missing required argument: 'y'"),
        python("tf.raw_ops.Sum(input=F, axis=0, keep_dims='yes')", TypeError,
               r"\[Sum\] attribute 'keep_dims': Expected bool, not 'yes'"),
        python("tf.raw_ops.Squeeze(input=F, axis=1)", TypeError,
               r"\[Squeeze\] attribute 'axis': Expected a list, not 1"),
        python("tf.pad(F, [[0, 0], [0, 0]], mode='NOPE')", ValueError,
               "Value of argument `mode` expected to be one of"),
    ],
    "list": [
        shape("tf.concat([], 0)", r"\[ConcatV2\] ConcatV2 needs at least one value"),
        shape("tf.raw_ops.Pack(values=[])", r"\[Pack\] Pack needs at least one value"),
        python("tf.add_n([])", ValueError, "Inputs must be an iterable of at least one Tensor"),
        python("tf.constant([[1, 2], [3]])", ValueError,
               "Can't convert non-rectangular Python sequence to Tensor"),
        python("tf.constant([[1], 2])", ValueError,
               "Can't convert non-rectangular Python sequence to Tensor"),
        python("tf.reduce_sum([[1.0], [2.0, 3.0]])", ValueError, "non-rectangular"),
        python("tf.constant([1, 'a'])", ValueError, "Python sequence with mixed types to Tensor"),
        python("tf.constant(None)", ValueError, r"a value \(None\) with an unsupported type"),
    ],
    "size": [
        value("tf.zeros([2**62, 4])", r"\[Fill\] A shape of .* has more elements than an int64"),
        value("tf.fill([2**40, 2**40], 1.0)", r"\[Fill\] .* has more elements than an int64"),
        shape("tf.reshape(F, tf.constant([2**40, 2**40], tf.int64))", "has too many elements"),
        python("tf.zeros([2**45])", EXHAUSTED, r"\[Fill\] Out of memory .*140737488355328 bytes"),
        python("tf.zeros([2**62])", EXHAUSTED, r"\[Fill\] .* is larger than any memory"),
        python("tf.range(0.0, 1e18, 1.0, dtype=tf.float64)", EXHAUSTED, r"\[Range\] Out of memory"),
        python("tf.fill([2**40], 'a')", EXHAUSTED, r"\[Fill\] Out of memory"),
        python("tf.pad(tf.ones([2]), tf.constant([[2**62, 2**62]], tf.int64))", EXHAUSTED,
               r"\[Pad\] .* is larger than any memory"),
        python("tf.tile(tf.ones([2]), tf.constant([2**62], tf.int64))", EXHAUSTED,
               r"\[Tile\] .* is larger than any memory"),
        python("tf.constant(2**63, tf.int64)", ValueError, "out-of-range integer"),
        python("tf.constant([2**64])", ValueError, "out-of-range integer"),
        python("tf.constant(-1, tf.uint64)", ValueError, "out-of-range integer"),
        python("tf.zeros([2**64])", ValueError, "out-of-range integer"),
        shape("tf.zeros([-1])", "Dimension -1 must be >= 0"),
        shape("tf.fill([-1], 1.0)", r"\[Fill\] Dimension -1 must be >= 0"),
        shape("tf.tile(F, [-1, 1])", r"Expected multiples\[0\] >= 0, but got -1"),
        shape("tf.pad(F, [[-1, 1], [0, 0]])", "Paddings must be non-negative: -1 1"),
        shape("tf.one_hot([1], -1)", "depth must be non-negative, got: -1"),
        shape("tf.linspace(0.0, 1.0, -1)", "Requires num >= 0: -1"),
        shape("tf.range(0, 10, 0)", "Requires delta != 0: 0"),
        shape("tf.raw_ops.Unpack(value=F, num=2**30)", "the number of outputs, must lie in"),
        shape("tf.reshape(1.0, [1] * 300)", "a shape of 300 dimensions: there are at most 254"),
    ],
    "index": [
        value("tf.gather(F, [2])", r"\[GatherV2\] indices\[0\] = 2 is not in \[0, 2\)"),
        value("tf.gather(F, tf.cast([NAN], tf.int32))", r"indices\[0\] = -\d+ is not in \[0, 2\)"),
        value("tf.gather_nd(F, [[2, 0]])", r"indices\[0\] = \[2, 0\] does not index into"),
        value("tf.scatter_nd([[5]], [1.0], [2])", r"indices\[0\] = \[5\] does not index into"),
        value("tf.math.unsorted_segment_sum(F, [0, 7], 2)", r"= 7 is out of range \[0, 2\)"),
        value("tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[5], logits=[[1.0, 2.0]])",
              r"label value of 5 which is outside the valid range of \[0, 2\)"),
        shape("tf.range(NAN)", r"\[Range\] .* got nan"),
        shape("tf.range(0.0, float('inf'))", r"\[Range\] .* got inf"),
        shape("F[5]", "slice index 5 of dimension 0 out of bounds"),
        shape("F[::0]", r"strides\[0\] must be non-zero"),
        python("F[NAN]", TypeError, "Only integers, slices .* are valid indices, got nan"),
        python("tf.constant(NAN, tf.int32)", TypeError, "Cannot convert nan to EagerTensor"),
        python("F['a']", TypeError, "Only integers, slices .* are valid indices, got 'a'"),
        python("F[np.array([0, 1])]", TypeError, r"Only integers, .*, got array\(\[0, 1\]\)"),
        value("tf.debugging.check_numerics(tf.constant([NAN]), 'told')",
              "told : Tensor had NaN values"),
        value("tf.math.floordiv(tf.constant([1]), tf.constant([0]))", "Integer division by zero"),
    ],
}  # fmt: skip
ROWS = [
    pytest.param(row, id=f"{group}-{row.code}") for group, rows in TABLE.items() for row in rows
]


def evaluate(code: str) -> Any:
    """The expression with F a tensor."""
    return eval(code, {**globals(), "F": tf.constant(F)})


@pytest.mark.parametrize("row", ROWS)
def test_bad_input_is_refused_eagerly(row: Bad) -> None:
    error, message = row.eager
    with pytest.raises(error, match=message) as raised:
        evaluate(row.code)
    assert "Graph execution error" not in str(raised.value)


@pytest.mark.parametrize("row", ROWS)
def test_bad_input_is_refused_in_a_trace(row: Bad) -> None:
    @tf.function
    def f() -> Any:
        return evaluate(row.code)

    error, message = row.eager
    with pytest.raises(row.traced or error) as raised:
        f()
    assert re.search(row.message or message, str(raised.value)), str(raised.value)
    # It is known while tracing: no OpError, and there is no trace that could be called.
    if row.traced:
        assert not isinstance(raised.value, tf.errors.OpError)
        assert f.experimental_get_tracing_count() == 0


@pytest.mark.parametrize("row", [row for rows in TABLE.values() for row in rows if row.traced])
def test_the_same_op_goes_on_after_it_refused(row: Bad) -> None:
    for _ in range(2):
        with pytest.raises(row.eager[0]):
            evaluate(row.code)
    assert float(tf.reduce_sum(tf.constant(F))) == 6.0


@pytest.mark.parametrize(
    "call",
    [
        lambda n: tf.linspace(0.0, 1.0, n),
        lambda n: tf.one_hot([1], n),
        lambda n: tf.repeat([1, 2], n),
        lambda n: tf.scatter_nd([[1]], [1.0], [n]),
        lambda n: tf.one_hot([1], np.int64(n)),
    ],
)
def test_a_size_that_int32_does_not_hold_is_refused(call: Any) -> None:
    # They wrapped, as they do in TensorFlow: linspace of 2**32 + 3 numbers gave 3.
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"does not hold .*4294967299"):
        call(2**32 + 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"does not hold .*4294967299"):
        tf.function(call)(2**32 + 3)


WIDE = 2**32 + 4


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.signal.dct(tf.ones([1, 3]), n=WIDE),
        lambda: tf.signal.rfft(tf.ones([1, 3]), [WIDE]),
        lambda: tf.signal.rfft(tf.ones([1, 3]), tf.constant([WIDE], tf.int64)),
        lambda: tf.signal.irfft(tf.ones([1, 3], tf.complex64), tf.constant([WIDE], tf.int64)),
        lambda: tf.signal.stft(tf.ones([8]), 4, 2, fft_length=WIDE),
        lambda: tf.signal.linear_to_mel_weight_matrix(3, WIDE, 8000),
        lambda: tf.nn.softmax_cross_entropy_with_logits(
            tf.zeros([WIDE, 1, 0]), tf.zeros([WIDE, 1, 0])
        ),
        lambda: tf.nn.conv2d(tf.zeros([WIDE, 1, 0, 4, 1]), tf.ones([1, 1, 1, 1]), 1, "SAME"),
        lambda: tf.signal.fftshift(tf.range(4), axes=tf.constant([WIDE], tf.int64)),
        lambda: tf.nn.conv1d_transpose(
            tf.ones([1, 4, 1]), tf.ones([2, 1, 1]), tf.constant([1, WIDE, 1], tf.int64), 2
        ),
        lambda: tf.image.crop_to_bounding_box(
            tf.ones([4, 4, 3]), tf.constant(WIDE, tf.int64), 0, 2, 2
        ),
        lambda: tf.math.bincount([1, 2], minlength=WIDE),
        lambda: tf.math.bincount([1, 2], maxlength=-WIDE),
        lambda: tf.math.bincount([1, 2], minlength=1e300),
    ],
)
def test_a_size_is_not_cut_to_int32(call: Any) -> None:
    # The first gave 4 elements.
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32, which does not hold"):
        call()
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match="does not hold"):
        tf.function(call, autograph=False)()


@pytest.mark.parametrize("number", [2.5, math.nan, math.inf])
def test_what_is_no_integer_is_no_number_of_bins(number: float) -> None:
    with pytest.raises(TypeError, match=r"Cannot convert .* to EagerTensor of dtype int32"):
        tf.math.bincount([1, 2], minlength=number)


def test_rows_that_int32_does_not_count_are_sorted() -> None:
    assert tf.sort(tf.zeros([0, WIDE])).shape == [0, WIDE]
    traced = tf.function(tf.sort).get_concrete_function(tf.TensorSpec([2 * WIDE]))
    assert traced.structured_outputs.shape == [2 * WIDE]


@pytest.mark.parametrize(
    ("frames", "step", "message"),
    [(2**20, 2**19, "does not hold 549756338176"), (2**60, 2**30, "beyond 64 bits")],
)
def test_a_signal_too_long_for_its_sizes_is_not_traced(
    frames: int, step: int, message: str
) -> None:
    # The static shape was [524288].
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=message):
        tf.function(lambda x: tf.signal.overlap_and_add(x, step)).get_concrete_function(
            tf.TensorSpec([frames, frames])
        )


def test_a_dilation_that_int32_does_not_hold_is_named() -> None:
    with pytest.raises(ValueError, match=r"`dilation_rate` must fit into int32.*1099511627776"):
        tf.nn.pool(tf.ones([1, 4, 4, 1]), [2, 2], "MAX", dilations=[2**40, 1], padding="VALID")


def test_a_keyword_that_a_signature_has_removed_is_named() -> None:
    f = tf.function(lambda x, **more: x, input_signature=[tf.TensorSpec([], tf.int32)])
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'other'"):
        f(1, other=2)


def test_a_signature_needs_defaults_of_keyword_only_parameters() -> None:
    def f(x: Any, *, y: Any) -> Any:
        return x + y

    for length in (1, 2):
        with pytest.raises(TypeError, match="keyword-only parameter `y` must have a default value"):
            tf.function(f, input_signature=[tf.TensorSpec([], tf.int32)] * length)
