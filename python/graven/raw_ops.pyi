"""Every op under its OpDef name: tf.raw_ops.AddV2(x=..., y=...).

Source: tf.raw_ops.
"""
# Printed by tools/stubs.py.

from collections.abc import Sequence
from typing import NamedTuple

from graven import _dtypes
from graven._engine import Operation, Tensor
from graven._types import DTypeLike, Name, ShapeLike, TensorLike

def Abs(x: TensorLike, name: Name = None) -> Tensor:
    """The magnitude of real numbers. The smallest integer of a dtype stays what it is."""

def Acos(x: TensorLike, name: Name = None) -> Tensor:
    """The angle in [0, pi] whose cosine is x; NaN outside [-1, 1]."""

def Acosh(x: TensorLike, name: Name = None) -> Tensor:
    """The inverse hyperbolic cosine; NaN for x below 1."""

def Add(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x + y, element by element. Integers wrap around, strings are joined."""

def AddN(inputs: Sequence[TensorLike], name: Name = None) -> Tensor:
    """The sum of tensors of one shape and dtype, added in order."""

def AddV2(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x + y, element by element. Integers wrap around."""

def All(input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: Name = None) -> Tensor:
    """Whether all elements along the given axes are true."""

def Angle(input: TensorLike, Tout: DTypeLike = _dtypes.float32, name: Name = None) -> Tensor:
    """The angle in the complex plane, in [-pi, pi]."""

def Any(input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: Name = None) -> Tensor:
    """Whether some element along the given axes is true."""

def ApproximateEqual(
    x: TensorLike, y: TensorLike, tolerance: float = 1e-05, name: Name = None
) -> Tensor:
    """Is |x - y| < tolerance?"""

def ArgMax(
    input: TensorLike,
    dimension: TensorLike,
    output_type: DTypeLike = _dtypes.int64,
    name: Name = None,
) -> Tensor:
    """The index of the first largest element along an axis, or of the first NaN."""

def ArgMin(
    input: TensorLike,
    dimension: TensorLike,
    output_type: DTypeLike = _dtypes.int64,
    name: Name = None,
) -> Tensor:
    """The index of the first smallest element along an axis, or of the first NaN."""

def Asin(x: TensorLike, name: Name = None) -> Tensor:
    """The angle in [-pi/2, pi/2] whose sine is x; NaN outside [-1, 1]."""

def Asinh(x: TensorLike, name: Name = None) -> Tensor:
    """The inverse hyperbolic sine."""

def Assert(
    condition: TensorLike, data: Sequence[TensorLike], summarize: int = 3, name: Name = None
) -> Operation | None:
    """Fails, with the data in its message, unless the condition holds."""

def AssignAddVariableOp(
    resource: TensorLike, value: TensorLike, name: Name = None
) -> Operation | None:
    """Adds the value, which has the variable's shape, to the variable."""

def AssignSubVariableOp(
    resource: TensorLike, value: TensorLike, name: Name = None
) -> Operation | None:
    """Subtracts the value, which has the variable's shape, from the variable."""

def AssignVariableOp(
    resource: TensorLike, value: TensorLike, validate_shape: bool = False, name: Name = None
) -> Operation | None:
    """Makes the value the variable's."""

def Atan(x: TensorLike, name: Name = None) -> Tensor:
    """The angle in [-pi/2, pi/2] whose tangent is x."""

def Atan2(y: TensorLike, x: TensorLike, name: Name = None) -> Tensor:
    """The angle of the point (x, y) in [-pi, pi]."""

def Atanh(x: TensorLike, name: Name = None) -> Tensor:
    """The inverse hyperbolic tangent; NaN outside [-1, 1]."""

def AvgPool(
    value: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str = "NHWC",
    name: Name = None,
) -> Tensor:
    """The mean of each window. Padding is not counted."""

def AvgPoolGrad(
    orig_input_shape: TensorLike,
    grad: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str = "NHWC",
    name: Name = None,
) -> Tensor:
    """The gradient of AvgPool for images of the given shape."""

def BatchMatMul(
    x: TensorLike,
    y: TensorLike,
    adj_x: bool = False,
    adj_y: bool = False,
    grad_x: bool = False,
    grad_y: bool = False,
    name: Name = None,
) -> Tensor:
    """The products of matrices in batches of one shape, each of them conjugated and transposed
    on request."""

def BatchMatMulV2(
    x: TensorLike,
    y: TensorLike,
    adj_x: bool = False,
    adj_y: bool = False,
    grad_x: bool = False,
    grad_y: bool = False,
    name: Name = None,
) -> Tensor:
    """The products of matrices in batches that broadcast, each of them conjugated and transposed
    on request."""

def BiasAdd(
    value: TensorLike, bias: TensorLike, data_format: str = "NHWC", name: Name = None
) -> Tensor:
    """The value plus a vector along its channels: the last axis, or with data_format NCHW the
    second."""

def BiasAddGrad(out_backprop: TensorLike, data_format: str = "NHWC", name: Name = None) -> Tensor:
    """The sum over all axes but that of the channels: the gradient of a bias."""

def BiasAddV1(value: TensorLike, bias: TensorLike, name: Name = None) -> Tensor:
    """The value plus a vector along its last axis."""

def Bitcast(input: TensorLike, type: DTypeLike, name: Name = None) -> Tensor:
    """The bytes of the input as elements of another dtype."""

def BitwiseAnd(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """The bits that are set in both."""

def BitwiseOr(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """The bits that are set in one of them or both."""

def BitwiseXor(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """The bits that are set in one of them only."""

class _BroadcastGradientArgsOutputs(NamedTuple):
    r0: Tensor
    r1: Tensor

def BroadcastGradientArgs(
    s0: TensorLike, s1: TensorLike, name: Name = None
) -> _BroadcastGradientArgsOutputs:
    """The axes over which gradients of inputs of shapes s0 and s1, which were broadcast
    together, must be summed."""

def BroadcastTo(input: TensorLike, shape: TensorLike, name: Name = None) -> Tensor:
    """The input repeated along axes of size 1, and along new leading axes."""

def Cast(x: TensorLike, DstT: DTypeLike, Truncate: bool = False, name: Name = None) -> Tensor:
    """The elements of x as another dtype."""

def Ceil(x: TensorLike, name: Name = None) -> Tensor:
    """The smallest integer that is not below x."""

def CheckNumerics(tensor: TensorLike, message: str, name: Name = None) -> Tensor:
    """The tensor itself; fails if it holds NaN or infinities."""

def CheckNumericsV2(tensor: TensorLike, message: str, name: Name = None) -> Tensor:
    """The tensor itself; fails if it holds NaN or infinities, and tells their signs."""

def ClipByValue(
    t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: Name = None
) -> Tensor:
    """t, but not below clip_value_min and not above clip_value_max."""

def Complex(
    real: TensorLike, imag: TensorLike, Tout: DTypeLike = _dtypes.complex64, name: Name = None
) -> Tensor:
    """The complex numbers of these real and imaginary parts."""

def ComplexAbs(x: TensorLike, Tout: DTypeLike = _dtypes.float32, name: Name = None) -> Tensor:
    """The magnitude of complex numbers."""

def ConcatV2(values: Sequence[TensorLike], axis: TensorLike, name: Name = None) -> Tensor:
    """The values one after another along an axis."""

def Conj(input: TensorLike, name: Name = None) -> Tensor:
    """The complex conjugate."""

def ConjugateTranspose(x: TensorLike, perm: TensorLike, name: Name = None) -> Tensor:
    """The complex conjugate of the tensor with its axes in another order."""

def Const(value: TensorLike, dtype: DTypeLike, name: Name = None) -> Tensor:
    """A constant tensor."""

def Conv2D(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Sequence[int] = [],
    data_format: str = "NHWC",
    dilations: Sequence[int] = [1, 1, 1, 1],
    name: Name = None,
) -> Tensor:
    """The convolution of images with filters [height, width, in channels, out channels]."""

def Conv2DBackpropFilter(
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Sequence[int] = [],
    data_format: str = "NHWC",
    dilations: Sequence[int] = [1, 1, 1, 1],
    name: Name = None,
) -> Tensor:
    """The gradient of Conv2D with respect to its filter, of the given sizes."""

def Conv2DBackpropInput(
    input_sizes: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Sequence[int] = [],
    data_format: str = "NHWC",
    dilations: Sequence[int] = [1, 1, 1, 1],
    name: Name = None,
) -> Tensor:
    """The gradient of Conv2D with respect to its images, of the given sizes: a transposed
    convolution."""

def Cos(x: TensorLike, name: Name = None) -> Tensor:
    """The cosine of x in radians."""

def Cosh(x: TensorLike, name: Name = None) -> Tensor:
    """The hyperbolic cosine."""

def Cumprod(
    x: TensorLike,
    axis: TensorLike,
    exclusive: bool = False,
    reverse: bool = False,
    name: Name = None,
) -> Tensor:
    """The products of the elements up to each place along an axis."""

def Cumsum(
    x: TensorLike,
    axis: TensorLike,
    exclusive: bool = False,
    reverse: bool = False,
    name: Name = None,
) -> Tensor:
    """The sums of the elements up to each place along an axis."""

def CumulativeLogsumexp(
    x: TensorLike,
    axis: TensorLike,
    exclusive: bool = False,
    reverse: bool = False,
    name: Name = None,
) -> Tensor:
    """The logarithms of the sums of the exponentials up to each place along an axis."""

def DepthwiseConv2dNative(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = [],
    data_format: str = "NHWC",
    dilations: Sequence[int] = [1, 1, 1, 1],
    name: Name = None,
) -> Tensor:
    """The convolution of each channel by itself with filters [height, width, in channels,
    multiplier]."""

def DepthwiseConv2dNativeBackpropFilter(
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = [],
    data_format: str = "NHWC",
    dilations: Sequence[int] = [1, 1, 1, 1],
    name: Name = None,
) -> Tensor:
    """The gradient of DepthwiseConv2dNative with respect to its filter, of the given sizes."""

def DepthwiseConv2dNativeBackpropInput(
    input_sizes: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = [],
    data_format: str = "NHWC",
    dilations: Sequence[int] = [1, 1, 1, 1],
    name: Name = None,
) -> Tensor:
    """The gradient of DepthwiseConv2dNative with respect to its images, of the given sizes."""

def DestroyResourceOp(
    resource: TensorLike, ignore_lookup_error: bool = True, name: Name = None
) -> Operation | None:
    """Takes the variable's value away."""

def Digamma(x: TensorLike, name: Name = None) -> Tensor:
    """The derivative of lgamma; NaN at 0, -1, -2, ..."""

def Div(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x / y, element by element; quotients of integers are truncated towards 0."""

def DivNoNan(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x / y, but 0 where y is 0."""

def Elu(features: TensorLike, name: Name = None) -> Tensor:
    """The features where they are at least 0, else exp(features) - 1."""

def EluGrad(gradients: TensorLike, outputs: TensorLike, name: Name = None) -> Tensor:
    """The gradients, times outputs + 1 where the outputs of Elu are negative."""

def EnsureShape(input: TensorLike, shape: ShapeLike, name: Name = None) -> Tensor:
    """The input itself, whose shape is checked, when tracing as far as it is known then."""

def Equal(
    x: TensorLike, y: TensorLike, incompatible_shape_error: bool = True, name: Name = None
) -> Tensor:
    """Is x equal to y?"""

def Erf(x: TensorLike, name: Name = None) -> Tensor:
    """The error function: 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""

def Erfc(x: TensorLike, name: Name = None) -> Tensor:
    """1 - erf(x), exact for large x too."""

def Erfinv(x: TensorLike, name: Name = None) -> Tensor:
    """The x with erf(x) = y, for y in [-1, 1]."""

def EuclideanNorm(
    input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: Name = None
) -> Tensor:
    """The square root of the sum of squared magnitudes along the given axes. Integers wrap
    around, and the root is rounded towards zero."""

def Exp(x: TensorLike, name: Name = None) -> Tensor:
    """e to the power of x, element by element."""

def ExpandDims(input: TensorLike, axis: TensorLike, name: Name = None) -> Tensor:
    """The tensor with a new axis of size 1 before the given one; -1 is behind the last."""

def Expm1(x: TensorLike, name: Name = None) -> Tensor:
    """exp(x) - 1, exact for small x too."""

def Fill(dims: TensorLike, value: TensorLike, name: Name = None) -> Tensor:
    """A tensor of the given shape, all of whose elements are one value."""

def Floor(x: TensorLike, name: Name = None) -> Tensor:
    """The largest integer that is not above x."""

def FloorDiv(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x / y rounded down to an integer."""

def FloorMod(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """The remainder of x / y with the sign of y."""

class _FusedBatchNormGradV3Outputs(NamedTuple):
    x_backprop: Tensor
    scale_backprop: Tensor
    offset_backprop: Tensor
    reserve_space_4: Tensor
    reserve_space_5: Tensor

def FusedBatchNormGradV3(
    y_backprop: TensorLike,
    x: TensorLike,
    scale: TensorLike,
    reserve_space_1: TensorLike,
    reserve_space_2: TensorLike,
    reserve_space_3: TensorLike,
    epsilon: float = 0.0001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: Name = None,
) -> _FusedBatchNormGradV3Outputs:
    """The gradients of FusedBatchNormV3 with respect to x, scale and offset. reserve_space_1 and
    2 are mean and variance."""

class _FusedBatchNormV3Outputs(NamedTuple):
    y: Tensor
    batch_mean: Tensor
    batch_variance: Tensor
    reserve_space_1: Tensor
    reserve_space_2: Tensor
    reserve_space_3: Tensor

def FusedBatchNormV3(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    epsilon: float = 0.0001,
    exponential_avg_factor: float = 1.0,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: Name = None,
) -> _FusedBatchNormV3Outputs:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset for each channel."""

def Gather(
    params: TensorLike, indices: TensorLike, validate_indices: bool = True, name: Name = None
) -> Tensor:
    """The rows of params that the indices name."""

def GatherNd(
    params: TensorLike, indices: TensorLike, bad_indices_policy: str = "", name: Name = None
) -> Tensor:
    """The slices of params that vectors of indices, along the last axis, name."""

def GatherV2(
    params: TensorLike,
    indices: TensorLike,
    axis: TensorLike,
    batch_dims: int = 0,
    name: Name = None,
) -> Tensor:
    """The slices of params along an axis that the indices name."""

def Greater(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Is x > y? False if one is NaN."""

def GreaterEqual(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Is x >= y? False if one is NaN."""

def Identity(input: TensorLike, name: Name = None) -> Tensor:
    """The input itself."""

def IdentityN(input: Sequence[TensorLike], name: Name = None) -> list[Tensor]:
    """All inputs themselves, of any dtypes and shapes."""

def Imag(input: TensorLike, Tout: DTypeLike = _dtypes.float32, name: Name = None) -> Tensor:
    """The imaginary part."""

def InTopKV2(
    predictions: TensorLike, targets: TensorLike, k: TensorLike, name: Name = None
) -> Tensor:
    """Whether the target of each row is among the k largest predictions. Targets that equal the
    k-th are; false if a prediction is not finite or the target is no column."""

def Inv(x: TensorLike, name: Name = None) -> Tensor:
    """1 / x, element by element: the old name of Reciprocal."""

def InvGrad(y: TensorLike, dy: TensorLike, name: Name = None) -> Tensor:
    """The gradient of y = 1 / x: the old name of ReciprocalGrad."""

def Invert(x: TensorLike, name: Name = None) -> Tensor:
    """The bits that are not set in x."""

def InvertPermutation(x: TensorLike, name: Name = None) -> Tensor:
    """The permutation y with y[x[i]] = i."""

def IsFinite(x: TensorLike, name: Name = None) -> Tensor:
    """Is x neither infinite nor NaN?"""

def IsInf(x: TensorLike, name: Name = None) -> Tensor:
    """Is x infinite?"""

def IsNan(x: TensorLike, name: Name = None) -> Tensor:
    """Is x not a number?"""

def L2Loss(t: TensorLike, name: Name = None) -> Tensor:
    """Half the sum of the squares of all elements."""

def LeakyRelu(features: TensorLike, alpha: float = 0.2, name: Name = None) -> Tensor:
    """The features where they are above 0, else alpha times the features."""

def LeakyReluGrad(
    gradients: TensorLike, features: TensorLike, alpha: float = 0.2, name: Name = None
) -> Tensor:
    """The gradients where features are above 0, else alpha times the gradients."""

def LeftShift(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x shifted by y bits, at least none and at most all but one."""

def Less(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Is x < y? False if one is NaN."""

def LessEqual(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Is x <= y? False if one is NaN."""

def Lgamma(x: TensorLike, name: Name = None) -> Tensor:
    """log |gamma(x)|, infinite at 0, -1, -2, ..."""

def LinSpace(start: TensorLike, stop: TensorLike, num: TensorLike, name: Name = None) -> Tensor:
    """num evenly spaced numbers, of which the first is start and the last is stop."""

def Log(x: TensorLike, name: Name = None) -> Tensor:
    """The natural logarithm: -inf for 0, NaN for negative x."""

def Log1p(x: TensorLike, name: Name = None) -> Tensor:
    """log(1 + x), exact for small x too."""

def LogSoftmax(logits: TensorLike, name: Name = None) -> Tensor:
    """logits - log(sum(exp(logits))) over the last axis."""

def LogicalAnd(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Are both true?"""

def LogicalNot(x: TensorLike, name: Name = None) -> Tensor:
    """Is x false?"""

def LogicalOr(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Is one of them true?"""

def MatMul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    grad_a: bool = False,
    grad_b: bool = False,
    name: Name = None,
) -> Tensor:
    """The product of two matrices, each transposed on request."""

def Max(input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: Name = None) -> Tensor:
    """The largest element along the given axes; NaN if one is NaN."""

def MaxPool(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = [],
    data_format: str = "NHWC",
    name: Name = None,
) -> Tensor:
    """The largest element of each window. Padding takes no part."""

def MaxPoolGrad(
    orig_input: TensorLike,
    orig_output: TensorLike,
    grad: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = [],
    data_format: str = "NHWC",
    name: Name = None,
) -> Tensor:
    """The gradient of MaxPool: what comes in for a window goes to the first of its largest
    elements."""

def MaxPoolGradGrad(
    orig_input: TensorLike,
    orig_output: TensorLike,
    grad: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str = "NHWC",
    name: Name = None,
) -> Tensor:
    """The gradient of MaxPoolGrad with respect to grad: the elements of grad where the images
    have the first largest of each window."""

def Maximum(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """The larger of x and y; NaN if one of them is."""

def Mean(input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: Name = None) -> Tensor:
    """The mean of the elements along the given axes: their sum divided by their number. Integers
    are added in 64 bits, and the mean is rounded towards zero."""

def Min(input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: Name = None) -> Tensor:
    """The smallest element along the given axes; NaN if one is NaN."""

def Minimum(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """The smaller of x and y; NaN if one of them is."""

def MirrorPad(input: TensorLike, paddings: TensorLike, mode: str, name: Name = None) -> Tensor:
    """The input with its own elements, mirrored, before and after along each axis."""

def MirrorPadGrad(input: TensorLike, paddings: TensorLike, mode: str, name: Name = None) -> Tensor:
    """The elements that MirrorPad mirrored, added to those that they came from."""

def Mod(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """The remainder of x / y with the sign of x."""

def Mul(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x * y, element by element. Integers wrap around."""

def MulNoNan(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x * y, but 0 where y is 0, even if x is infinite or NaN."""

def Ndtri(x: TensorLike, name: Name = None) -> Tensor:
    """The quantile of the standard normal distribution, for x in [0, 1]."""

def Neg(x: TensorLike, name: Name = None) -> Tensor:
    """-x, element by element. Integers wrap around."""

def NextAfter(x1: TensorLike, x2: TensorLike, name: Name = None) -> Tensor:
    """The float next to x1 in the direction of x2."""

def NoOp(name: Name = None) -> Operation | None:
    """Does nothing: a place for control dependencies to meet."""

def NonDeterministicInts(
    shape: TensorLike, dtype: DTypeLike = _dtypes.int64, name: Name = None
) -> Tensor:
    """Integers that nobody can foresee."""

def NotEqual(
    x: TensorLike, y: TensorLike, incompatible_shape_error: bool = True, name: Name = None
) -> Tensor:
    """Is x unlike y?"""

def OneHot(
    indices: TensorLike,
    depth: TensorLike,
    on_value: TensorLike,
    off_value: TensorLike,
    axis: int = -1,
    name: Name = None,
) -> Tensor:
    """on_value where a place along the new axis equals the index, else off_value."""

def OnesLike(x: TensorLike, name: Name = None) -> Tensor:
    """Ones (true) of the dtype and shape of x."""

def Pack(values: Sequence[TensorLike], axis: int = 0, name: Name = None) -> Tensor:
    """The values one beside another along a new axis."""

def Pad(input: TensorLike, paddings: TensorLike, name: Name = None) -> Tensor:
    """The input with zeros before and after along each axis."""

def PadV2(
    input: TensorLike, paddings: TensorLike, constant_values: TensorLike, name: Name = None
) -> Tensor:
    """The input with a given value before and after along each axis."""

def PartitionedCall(
    args: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    f: object,
    config: str = "",
    config_proto: str = "",
    executor_type: str = "",
    name: Name = None,
) -> list[Tensor]:
    """Calls a function without effects."""

def Placeholder(dtype: DTypeLike, shape: ShapeLike = ..., name: Name = None) -> Tensor:
    """A value that is fed when the graph runs."""

def Polygamma(a: TensorLike, x: TensorLike, name: Name = None) -> Tensor:
    """The derivative of order a of digamma, for whole a of 0 or more."""

def PopulationCount(x: TensorLike, name: Name = None) -> Tensor:
    """How many bits of x are set."""

def Pow(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x to the power of y, element by element. Integers wrap around."""

def PreventGradient(input: TensorLike, message: str = "", name: Name = None) -> Tensor:
    """The input itself, of which asking for a gradient is a LookupError."""

def PrintV2(
    input: TensorLike, output_stream: str = "stderr", end: str = "\n", name: Name = None
) -> Operation | None:
    """Writes a string to a stream."""

def Prod(input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: Name = None) -> Tensor:
    """The product of the elements along the given axes."""

def RandomShuffle(value: TensorLike, seed: int = 0, seed2: int = 0, name: Name = None) -> Tensor:
    """The rows of a tensor in random order."""

def RandomStandardNormal(
    shape: TensorLike, dtype: DTypeLike, seed: int = 0, seed2: int = 0, name: Name = None
) -> Tensor:
    """Random normal numbers of mean 0 and deviation 1."""

def RandomUniform(
    shape: TensorLike, dtype: DTypeLike, seed: int = 0, seed2: int = 0, name: Name = None
) -> Tensor:
    """Random floats in [0, 1)."""

def RandomUniformInt(
    shape: TensorLike,
    minval: TensorLike,
    maxval: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    name: Name = None,
) -> Tensor:
    """Random integers in [minval, maxval)."""

def Range(start: TensorLike, limit: TensorLike, delta: TensorLike, name: Name = None) -> Tensor:
    """The numbers start, start + delta, start + 2 * delta, ... before limit."""

def Rank(input: TensorLike, name: Name = None) -> Tensor:
    """The number of dimensions of the input."""

def ReadVariableOp(resource: TensorLike, dtype: DTypeLike, name: Name = None) -> Tensor:
    """The value of the variable, a snapshot."""

def Real(input: TensorLike, Tout: DTypeLike = _dtypes.float32, name: Name = None) -> Tensor:
    """The real part."""

def RealDiv(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x / y, element by element."""

def Reciprocal(x: TensorLike, name: Name = None) -> Tensor:
    """1 / x, element by element."""

def ReciprocalGrad(y: TensorLike, dy: TensorLike, name: Name = None) -> Tensor:
    """The gradient of y = 1 / x: -dy conj(y)^2."""

def Relu(features: TensorLike, name: Name = None) -> Tensor:
    """max(features, 0), element by element. NaN stays NaN."""

def Relu6(features: TensorLike, name: Name = None) -> Tensor:
    """min(max(features, 0), 6), element by element. NaN stays NaN."""

def Relu6Grad(gradients: TensorLike, features: TensorLike, name: Name = None) -> Tensor:
    """The gradients where features are between 0 and 6, else 0. Features may be the inputs or
    the outputs of Relu6."""

def ReluGrad(gradients: TensorLike, features: TensorLike, name: Name = None) -> Tensor:
    """The gradients where features are above 0, else 0. Features may be the inputs or the
    outputs of Relu."""

def Reshape(tensor: TensorLike, shape: TensorLike, name: Name = None) -> Tensor:
    """The elements of a tensor, in order, under another shape."""

def ResourceGather(
    resource: TensorLike,
    indices: TensorLike,
    dtype: DTypeLike,
    batch_dims: int = 0,
    validate_indices: bool = True,
    name: Name = None,
) -> Tensor:
    """Rows of the variable's value, by their indices."""

def ResourceGatherNd(
    resource: TensorLike, indices: TensorLike, dtype: DTypeLike, name: Name = None
) -> Tensor:
    """Slices of the variable's value, each named by a vector of indices."""

def ResourceScatterAdd(
    resource: TensorLike, indices: TensorLike, updates: TensorLike, name: Name = None
) -> Operation | None:
    """Adds updates to rows of a variable; where an index repeats, in order."""

def ResourceScatterDiv(
    resource: TensorLike, indices: TensorLike, updates: TensorLike, name: Name = None
) -> Operation | None:
    """Divides rows by updates of a variable; where an index repeats, in order."""

def ResourceScatterMax(
    resource: TensorLike, indices: TensorLike, updates: TensorLike, name: Name = None
) -> Operation | None:
    """Replaces elements of rows by updates that are larger of a variable; where an index
    repeats, in order."""

def ResourceScatterMin(
    resource: TensorLike, indices: TensorLike, updates: TensorLike, name: Name = None
) -> Operation | None:
    """Replaces elements of rows by updates that are smaller of a variable; where an index
    repeats, in order."""

def ResourceScatterMul(
    resource: TensorLike, indices: TensorLike, updates: TensorLike, name: Name = None
) -> Operation | None:
    """Multiplies rows with updates of a variable; where an index repeats, in order."""

def ResourceScatterNdAdd(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    bad_indices_policy: str = "",
    name: Name = None,
) -> Operation | None:
    """Adds updates to slices of a variable, each named by a vector of indices."""

def ResourceScatterNdMax(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    bad_indices_policy: str = "",
    name: Name = None,
) -> Operation | None:
    """Replaces elements of slices by updates that are larger of a variable, each named by a
    vector of indices."""

def ResourceScatterNdMin(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    bad_indices_policy: str = "",
    name: Name = None,
) -> Operation | None:
    """Replaces elements of slices by updates that are smaller of a variable, each named by a
    vector of indices."""

def ResourceScatterNdSub(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    bad_indices_policy: str = "",
    name: Name = None,
) -> Operation | None:
    """Subtracts updates from slices of a variable, each named by a vector of indices."""

def ResourceScatterNdUpdate(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    bad_indices_policy: str = "",
    name: Name = None,
) -> Operation | None:
    """Replaces slices by updates of a variable, each named by a vector of indices."""

def ResourceScatterSub(
    resource: TensorLike, indices: TensorLike, updates: TensorLike, name: Name = None
) -> Operation | None:
    """Subtracts updates from rows of a variable; where an index repeats, in order."""

def ResourceScatterUpdate(
    resource: TensorLike, indices: TensorLike, updates: TensorLike, name: Name = None
) -> Operation | None:
    """Replaces rows by updates of a variable; where an index repeats, in order."""

def ReverseV2(tensor: TensorLike, axis: TensorLike, name: Name = None) -> Tensor:
    """The tensor in reverse order along the given axes."""

def RightShift(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x shifted by y bits, at least none and at most all but one; copies of the sign come in."""

def Rint(x: TensorLike, name: Name = None) -> Tensor:
    """The nearest integer, halves to the even one."""

def RngReadAndSkip(
    resource: TensorLike, alg: TensorLike, delta: TensorLike, name: Name = None
) -> Tensor:
    """The state of a generator, which is moved on by delta elements."""

def RngSkip(
    resource: TensorLike, algorithm: TensorLike, delta: TensorLike, name: Name = None
) -> Operation | None:
    """Moves a generator on by delta elements."""

def Roll(input: TensorLike, shift: TensorLike, axis: TensorLike, name: Name = None) -> Tensor:
    """The input moved by shift elements along each axis, the end back in front."""

def Round(x: TensorLike, name: Name = None) -> Tensor:
    """The nearest integer, halves to the even one. Integers stay what they are."""

def Rsqrt(x: TensorLike, name: Name = None) -> Tensor:
    """1 / sqrt(x), element by element."""

def RsqrtGrad(y: TensorLike, dy: TensorLike, name: Name = None) -> Tensor:
    """The gradient of y = rsqrt(x): dy conj(y)^3 / -2."""

def ScatterNd(
    indices: TensorLike,
    updates: TensorLike,
    shape: TensorLike,
    bad_indices_policy: str = "",
    name: Name = None,
) -> Tensor:
    """Zeros of the given shape, with each update added to the slice that its vector of indices
    names."""

def Select(condition: TensorLike, x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x where the condition holds, y elsewhere; a vector of conditions chooses rows."""

def SelectV2(condition: TensorLike, t: TensorLike, e: TensorLike, name: Name = None) -> Tensor:
    """t where the condition holds, e elsewhere. All three broadcast."""

def Selu(features: TensorLike, name: Name = None) -> Tensor:
    """scale * features where they are at least 0, else scale * alpha * (exp(features) - 1), with
    scale 1.0507 and alpha 1.6733."""

def SeluGrad(gradients: TensorLike, outputs: TensorLike, name: Name = None) -> Tensor:
    """The gradients times scale, or times outputs + scale * alpha where the outputs of Selu are
    negative."""

def Shape(input: TensorLike, out_type: DTypeLike = _dtypes.int32, name: Name = None) -> Tensor:
    """The shape of the input, as a vector."""

def ShapeN(
    input: Sequence[TensorLike], out_type: DTypeLike = _dtypes.int32, name: Name = None
) -> list[Tensor]:
    """The shapes of the inputs, each as a vector."""

def Sigmoid(x: TensorLike, name: Name = None) -> Tensor:
    """1 / (1 + exp(-x)), element by element."""

def SigmoidGrad(y: TensorLike, dy: TensorLike, name: Name = None) -> Tensor:
    """The gradient of y = sigmoid(x): dy y (1 - y)."""

def Sign(x: TensorLike, name: Name = None) -> Tensor:
    """-1, 0 or 1, with the sign of x; for complex x it is x / |x|, or 0. NaN stays NaN."""

def Sin(x: TensorLike, name: Name = None) -> Tensor:
    """The sine of x in radians."""

def Sinh(x: TensorLike, name: Name = None) -> Tensor:
    """The hyperbolic sine."""

def Size(input: TensorLike, out_type: DTypeLike = _dtypes.int32, name: Name = None) -> Tensor:
    """The number of elements of the input."""

def Slice(input: TensorLike, begin: TensorLike, size: TensorLike, name: Name = None) -> Tensor:
    """The box of elements that starts at begin and has the given size."""

def Softmax(logits: TensorLike, name: Name = None) -> Tensor:
    """exp(logits) / sum(exp(logits)) over the last axis."""

class _SoftmaxCrossEntropyWithLogitsOutputs(NamedTuple):
    loss: Tensor
    backprop: Tensor

def SoftmaxCrossEntropyWithLogits(
    features: TensorLike, labels: TensorLike, name: Name = None
) -> _SoftmaxCrossEntropyWithLogitsOutputs:
    """For each row the cross entropy of its labels, a distribution, and the softmax of its
    features; and softmax - labels, the gradient."""

def Softplus(features: TensorLike, name: Name = None) -> Tensor:
    """log(exp(features) + 1), element by element."""

def SoftplusGrad(gradients: TensorLike, features: TensorLike, name: Name = None) -> Tensor:
    """gradients / (1 + exp(-features))."""

def Softsign(features: TensorLike, name: Name = None) -> Tensor:
    """features / (1 + |features|), element by element."""

def SoftsignGrad(gradients: TensorLike, features: TensorLike, name: Name = None) -> Tensor:
    """gradients / (1 + |features|)^2."""

class _SparseSoftmaxCrossEntropyWithLogitsOutputs(NamedTuple):
    loss: Tensor
    backprop: Tensor

def SparseSoftmaxCrossEntropyWithLogits(
    features: TensorLike, labels: TensorLike, name: Name = None
) -> _SparseSoftmaxCrossEntropyWithLogitsOutputs:
    """For each row minus the logarithm of its label's element in the softmax of the features;
    and the gradient. Labels are class numbers."""

def Split(axis: TensorLike, value: TensorLike, num_split: int, name: Name = None) -> list[Tensor]:
    """A tensor cut along an axis into parts of one size."""

def SplitV(
    value: TensorLike, size_splits: TensorLike, axis: TensorLike, num_split: int, name: Name = None
) -> list[Tensor]:
    """A tensor cut along an axis into parts of given sizes."""

def Sqrt(x: TensorLike, name: Name = None) -> Tensor:
    """The square root; NaN for negative x. Of complex x the root with a real part of at least 0."""

def SqrtGrad(y: TensorLike, dy: TensorLike, name: Name = None) -> Tensor:
    """The gradient of y = sqrt(x): dy / 2 / conj(y)."""

def Square(x: TensorLike, name: Name = None) -> Tensor:
    """x * x, element by element. Integers wrap around."""

def SquaredDifference(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """conj(x - y) * (x - y), element by element."""

def Squeeze(input: TensorLike, axis: Sequence[int] = [], name: Name = None) -> Tensor:
    """The tensor without axes of size 1: all of them, or those in axis."""

def StatefulPartitionedCall(
    args: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    f: object,
    config: str = "",
    config_proto: str = "",
    executor_type: str = "",
    name: Name = None,
) -> list[Tensor]:
    """Calls a function; its effects are those of its body."""

def StatefulStandardNormalV2(
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: Name = None,
) -> Tensor:
    """Random normal numbers of mean 0 and deviation 1 from a generator."""

def StatefulTruncatedNormal(
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: Name = None,
) -> Tensor:
    """Random normal numbers that lie within 2, from a generator."""

def StatefulUniform(
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: Name = None,
) -> Tensor:
    """Random floats in [0, 1) from a generator."""

def StatefulUniformFullInt(
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike = _dtypes.uint64,
    name: Name = None,
) -> Tensor:
    """Random integers of the full range of their dtype, from a generator."""

def StatefulUniformInt(
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    minval: TensorLike,
    maxval: TensorLike,
    name: Name = None,
) -> Tensor:
    """Random integers in [minval, maxval) from a generator."""

def StatelessRandomGetAlg(name: Name = None) -> Tensor:
    """The number of the algorithm that this device uses: 1, Philox."""

class _StatelessRandomGetKeyCounterOutputs(NamedTuple):
    key: Tensor
    counter: Tensor

def StatelessRandomGetKeyCounter(
    seed: TensorLike, name: Name = None
) -> _StatelessRandomGetKeyCounterOutputs:
    """The key and counter at which the numbers of a seed start."""

class _StatelessRandomGetKeyCounterAlgOutputs(NamedTuple):
    key: Tensor
    counter: Tensor
    alg: Tensor

def StatelessRandomGetKeyCounterAlg(
    seed: TensorLike, name: Name = None
) -> _StatelessRandomGetKeyCounterAlgOutputs:
    """The key and counter at which the numbers of a seed start, and the algorithm."""

def StatelessRandomNormal(
    shape: TensorLike, seed: TensorLike, dtype: DTypeLike = _dtypes.float32, name: Name = None
) -> Tensor:
    """Random normal numbers of mean 0 and deviation 1."""

def StatelessRandomNormalV2(
    shape: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: Name = None,
) -> Tensor:
    """Random normal numbers of mean 0 and deviation 1."""

def StatelessRandomUniform(
    shape: TensorLike, seed: TensorLike, dtype: DTypeLike = _dtypes.float32, name: Name = None
) -> Tensor:
    """Random floats in [0, 1)."""

def StatelessRandomUniformFullInt(
    shape: TensorLike, seed: TensorLike, dtype: DTypeLike = _dtypes.uint64, name: Name = None
) -> Tensor:
    """Random integers of the full range of their dtype."""

def StatelessRandomUniformFullIntV2(
    shape: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    dtype: DTypeLike = _dtypes.uint64,
    name: Name = None,
) -> Tensor:
    """Random integers of the full range of their dtype."""

def StatelessRandomUniformInt(
    shape: TensorLike, seed: TensorLike, minval: TensorLike, maxval: TensorLike, name: Name = None
) -> Tensor:
    """Random integers in [minval, maxval)."""

def StatelessRandomUniformIntV2(
    shape: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    minval: TensorLike,
    maxval: TensorLike,
    name: Name = None,
) -> Tensor:
    """Random integers in [minval, maxval)."""

def StatelessRandomUniformV2(
    shape: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: Name = None,
) -> Tensor:
    """Random floats in [0, 1)."""

def StatelessTruncatedNormal(
    shape: TensorLike, seed: TensorLike, dtype: DTypeLike = _dtypes.float32, name: Name = None
) -> Tensor:
    """Random normal numbers of mean 0 and deviation 1 that lie within 2."""

def StatelessTruncatedNormalV2(
    shape: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: Name = None,
) -> Tensor:
    """Random normal numbers of mean 0 and deviation 1 that lie within 2."""

def StopGradient(input: TensorLike, name: Name = None) -> Tensor:
    """The input itself, through which no gradient flows."""

def StridedSlice(
    input: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    name: Name = None,
) -> Tensor:
    """The elements from begin on, before end, at every stride-th place of each axis."""

def StridedSliceGrad(
    shape: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike,
    dy: TensorLike,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    name: Name = None,
) -> Tensor:
    """Zeros of the given shape, with dy where StridedSlice would have read."""

def StringFormat(
    inputs: Sequence[TensorLike],
    template: str = "%s",
    placeholder: str = "%s",
    summarize: int = 3,
    name: Name = None,
) -> Tensor:
    """The template, with summaries of the inputs in place of its placeholders."""

def StringJoin(inputs: Sequence[TensorLike], separator: str = "", name: Name = None) -> Tensor:
    """Strings one behind the other, element by element; scalars go with all elements."""

def Sub(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x - y, element by element. Integers wrap around."""

def Sum(input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: Name = None) -> Tensor:
    """The sum of the elements along the given axes."""

def Tan(x: TensorLike, name: Name = None) -> Tensor:
    """The tangent of x in radians."""

def Tanh(x: TensorLike, name: Name = None) -> Tensor:
    """The hyperbolic tangent."""

def TanhGrad(y: TensorLike, dy: TensorLike, name: Name = None) -> Tensor:
    """The gradient of y = tanh(x): dy (1 - y^2)."""

def TensorScatterAdd(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str = "",
    name: Name = None,
) -> Tensor:
    """The tensor, with updates added to the slices that indices name."""

def TensorScatterMax(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str = "",
    name: Name = None,
) -> Tensor:
    """The tensor, with the greater of updates and slices that indices name."""

def TensorScatterMin(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str = "",
    name: Name = None,
) -> Tensor:
    """The tensor, with the lesser of updates and slices that indices name."""

def TensorScatterSub(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str = "",
    name: Name = None,
) -> Tensor:
    """The tensor, with updates subtracted from the slices that indices name."""

def TensorScatterUpdate(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str = "",
    name: Name = None,
) -> Tensor:
    """The tensor, with updates in place of the slices that indices name."""

def TensorStridedSliceUpdate(
    input: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike,
    value: TensorLike,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    name: Name = None,
) -> Tensor:
    """The input, with value where StridedSlice would have read."""

def Tile(input: TensorLike, multiples: TensorLike, name: Name = None) -> Tensor:
    """The input repeated, as often as multiples says for each axis."""

class _TopKV2Outputs(NamedTuple):
    values: Tensor
    indices: Tensor

def TopKV2(
    input: TensorLike,
    k: TensorLike,
    sorted: bool = True,
    index_type: DTypeLike = _dtypes.int32,
    name: Name = None,
) -> _TopKV2Outputs:
    """The k largest elements of each row and their places, the largest first."""

def Transpose(x: TensorLike, perm: TensorLike, name: Name = None) -> Tensor:
    """The tensor with its axes in another order: axis i of y is axis perm[i] of x."""

def TruncateDiv(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x / y, truncated towards 0."""

def TruncateMod(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """The remainder of x / y with the sign of x."""

def TruncatedNormal(
    shape: TensorLike, dtype: DTypeLike, seed: int = 0, seed2: int = 0, name: Name = None
) -> Tensor:
    """Random normal numbers of mean 0 and deviation 1 that lie within 2."""

def Unpack(value: TensorLike, num: int, axis: int = 0, name: Name = None) -> list[Tensor]:
    """The slices of a tensor along an axis, each without that axis."""

def UnsortedSegmentSum(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: Name = None
) -> Tensor:
    """output[i] is the sum of the rows of data whose segment id is i."""

def VarHandleOp(
    dtype: DTypeLike,
    shape: ShapeLike,
    container: str = "",
    shared_name: str = "",
    debug_name: str = "",
    allowed_devices: Sequence[str] = [],
    name: Name = None,
) -> Tensor:
    """A handle of a new variable, which holds no value yet."""

def VarIsInitializedOp(resource: TensorLike, name: Name = None) -> Tensor:
    """Does the variable hold a value?"""

def VariableShape(
    input: TensorLike, out_type: DTypeLike = _dtypes.int32, name: Name = None
) -> Tensor:
    """The shape of the variable's value, as a vector."""

def Where(condition: TensorLike, name: Name = None) -> Tensor:
    """The places of the elements that are not zero (true), one row of indices each."""

def Xdivy(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x / y, but 0 where x is 0."""

def Xlog1py(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x * log1p(y), but 0 where x is 0."""

def Xlogy(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x * log(y), but 0 where x is 0."""

def ZerosLike(x: TensorLike, name: Name = None) -> Tensor:
    """Zeros (false, empty strings) of the dtype and shape of x."""

def Zeta(x: TensorLike, q: TensorLike, name: Name = None) -> Tensor:
    """The Hurwitz zeta function: the sum of (q + n)^-x over n = 0, 1, 2, ..."""
